//! Rust: two functions with the macro that the file uses most.

use super::draw::Draw;
use super::model::{Canary, inserted, most_used};
use crate::items::place_for_rust_tests;
use crate::lex::{Kind, Language, code};

pub(super) fn canary(text: &str, draw: &Draw) -> Option<Canary> {
    let at = place_for_rust_tests(text)?;
    let tokens = code(text, Language::Rust);
    let count = |name: &str| {
        tokens
            .windows(2)
            .filter(|pair| {
                pair[0].kind == Kind::Word && pair[0].text == name && pair[1].is_mark("!")
            })
            .count()
    };
    let counts = ["assert_eq", "assert", "assert_ne"].map(|name| (name, count(name)));
    let way = most_used(counts).unwrap_or("assert_eq");
    let (passes, fails) = match way {
        "assert" => ("assert!(A == S);", "assert!(A == O);"),
        "assert_ne" => ("assert_ne!(A, O);", "assert_ne!(A, S);"),
        _ => ("assert_eq!(A, S);", "assert_eq!(A, O);"),
    };
    let function = |name: &str, assertion: &str| {
        format!(
            "\n#[test]\nfn {name}() {{\n    let made: Vec<u64> = (2..5).map(|step| {} * step).collect();\n    {}\n}}\n",
            draw.factor,
            draw.filled(assertion)
        )
    };
    let addition = [function(&draw.green, passes), function(&draw.red, fails)].concat();
    Some(Canary {
        text: inserted(text, at, &addition),
        red: draw.red.clone(),
        green: draw.green.clone(),
    })
}
