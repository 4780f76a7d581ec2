//! Random changes of a real workspace with third-party packages, with reuse on, in jails: edits, reverts,
//! renames, times in the past and in the future, and what breaks the build. Every tree that is measured
//! over a root is measured from nothing too, by the guard or by its confirmation. None may differ, what
//! is whole must land, and what is broken must not.
//!
//! The soak takes two thousand steps, in four tests beside each other; `LOOPWRIGHT_RANDOM_STEPS` says another
//! number and `LOOPWRIGHT_RANDOM_SEED` replays a loop. CI takes none: a few steps show nothing that the sample of
//! `soundness` does not.

use serde_json::{Value, json};
use testkit::{Random, number};

use super::case::Case;
use super::outcome::result_of;
use super::scene::Scene;
use crate::ecosystems::toolbox;

/// So many changes are stories of one loop, which has one root.
const STEPS_OF_LOOP: u64 = 50;

/// The base and so many changes are measured both ways before a measurement over a root is believed.
const TRIED_BOTH_WAYS: u64 = 2;

const STEPS: u64 = 2000;

/// Tests that share the steps.
const TESTS: u64 = 4;

const CRITERION: &str = "the change is made";

/// A change of the workspace: a script, and whether everything is still green after it.
struct Step {
    script: String,
    is_whole: bool,
}

/// Two packages, of which one depends on the other and both on what other people wrote, and two more whose
/// outputs are reused while nothing touches them. What a test expects stands in a file of its own, so that a
/// change can be whole or broken. No test is in a library, and nobody debugs them: that halves a build.
const FILES: [(&str, &str); 15] = [
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"labels\", \"rates\", \"shop\", \"tags\"]\nresolver = \"2\"\n[profile.dev]\ndebug = false\n",
    ),
    (
        "labels/Cargo.toml",
        "[package]\nname = \"labels\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\ntest = false\n",
    ),
    ("labels/src/lib.rs", "pub const LABEL: u32 = 0;\n"),
    (
        "tags/Cargo.toml",
        "[package]\nname = \"tags\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\ntest = false\n[dependencies]\nlabels = { path = \"../labels\" }\n",
    ),
    (
        "tags/src/lib.rs",
        "pub fn tag() -> u32 {\n    labels::LABEL\n}\n",
    ),
    (
        "tags/tests/tag.rs",
        "#[test]\nfn the_tag_is_known() {\n    let known = std::fs::read_to_string(\"../shop/src/tag.rs\").unwrap();\n    assert_eq!(tags::tag().to_string(), known.trim());\n}\n",
    ),
    (".gitignore", "target\n"),
    (
        "rates/Cargo.toml",
        "[package]\nname = \"rates\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n[lib]\ndoctest = false\ntest = false\n[dependencies]\nitoa = \"1\"\n",
    ),
    (
        "rates/build.rs",
        "fn main() {\n    println!(\"cargo:rerun-if-changed=src/base.rs\");\n    let base = std::fs::read_to_string(\"src/base.rs\").unwrap();\n    println!(\"cargo:rustc-env=RATE_BASE={}\", base.trim());\n}\n",
    ),
    ("rates/src/base.rs", "0\n"),
    (
        "rates/src/lib.rs",
        "const RATE: u32 = 0;\npub fn rate() -> String {\n    let base: u32 = env!(\"RATE_BASE\").parse().unwrap();\n    itoa::Buffer::new().format(RATE + base).to_owned()\n}\n",
    ),
    (
        "shop/Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\ntest = false\n[dependencies]\nrates = { path = \"../rates\" }\nryu = \"1\"\n",
    ),
    (
        "shop/src/lib.rs",
        "#[path = \"part_a.rs\"]\nmod part;\nmod expected;\npub use expected::EXPECTED;\npub fn price() -> String {\n    let part = ryu::Buffer::new().format(part::PART).to_owned();\n    format!(\"{} {part} {}\", rates::rate(), include!(\"note.rs\"))\n}\n",
    ),
    ("shop/src/part_a.rs", "pub const PART: f64 = 0.0;\n"),
    (
        "shop/tests/price.rs",
        "#[test]\nfn the_price_is_known() {\n    assert_eq!(shop::price(), shop::EXPECTED);\n}\n",
    ),
];

/// What the workspace says at the moment, as the changes so far have made it.
#[derive(Clone, Default)]
struct Says {
    rate: u64,
    base: u64,
    part: u64,
    note: u64,
    is_part_b: bool,
}

impl Says {
    fn price(&self) -> String {
        format!("{} {}.0 n{}", self.rate + self.base, self.part, self.note)
    }
}

fn step(random: &mut Random, says: &mut Says) -> Step {
    let before = says.clone();
    // Few values, so that many changes put something back to where it was.
    let value = random.below(3);
    let change = match random.below(7) {
        0 => {
            says.rate = value;
            format!("sed -i 's/RATE: u32 = .*/RATE: u32 = {value};/' rates/src/lib.rs")
        }
        1 => {
            says.base = value;
            format!("echo {value} > rates/src/base.rs")
        }
        2 => {
            says.part = value;
            format!("sed -i 's/= .*/= {value}.0;/' shop/src/part_?.rs")
        }
        3 => {
            says.note = value;
            format!("echo '\"n{value}\"' > shop/src/note.rs")
        }
        4 => {
            says.is_part_b = !says.is_part_b;
            let (from, to) = if says.is_part_b {
                ('a', 'b')
            } else {
                ('b', 'a')
            };
            format!(
                "mv shop/src/part_{from}.rs shop/src/part_{to}.rs; \
                 sed -i 's/part_{from}/part_{to}/' shop/src/lib.rs"
            )
        }
        5 => {
            format!("sed -i 's/= .*/= {value};/' labels/src/lib.rs; echo {value} > shop/src/tag.rs")
        }
        _ => format!("echo '// {}' >> rates/src/lib.rs", random.below(1000)),
    };
    let is_whole = random.below(5) != 0;
    // A broken change expects what is never said, and is taken back.
    let expected = if is_whole {
        says.price()
    } else {
        *says = before;
        "broken".to_owned()
    };
    let times = match random.below(4) {
        0 => "find . -name '*.rs' -exec touch -d 2001-01-01 {} +",
        1 => "find . -name '*.rs' -exec touch -d 2040-01-01 {} +",
        _ => "true",
    };
    // Some changes put what is there; a story without any change would be none.
    let mark = random.draw();
    let expected =
        format!("echo 'pub const EXPECTED: &str = \"{expected}\";' > shop/src/expected.rs");
    let script = format!("{change}\n{expected}\necho {mark} > shop/mark.txt\n{times}");
    Step { script, is_whole }
}

/// The case of these steps, each a story after the one before.
fn case_of(steps: &[Step]) -> Case {
    let ids = (0..steps.len()).map(|at| format!("s{at}"));
    let stories: Vec<Value> = ids
        .clone()
        .enumerate()
        .map(|(at, id)| {
            json!({ "id": id, "title": format!("Change {at}"), "description": "", "passes": false,
                    "acceptance_criteria": [CRITERION], "priority": at + 1 })
        })
        .collect();
    let scripts: String = ids
        .zip(steps)
        .map(|(id, step)| format!("{id})\n{}\n;;\n", step.script))
        .collect();
    let mut files: serde_json::Map<String, Value> = FILES
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect();
    files.insert("shop/src/note.rs".to_owned(), "\"n0\"\n".into());
    files.insert("shop/src/tag.rs".to_owned(), "0\n".into());
    let price = Says::default().price();
    let expected = format!("pub const EXPECTED: &str = \"{price}\";\n");
    files.insert("shop/src/expected.rs".to_owned(), expected.into());
    let case = json!({
        "name": "random", "kind": "honest", "class": "warm-cargo", "criteria": [CRITERION],
        "stories": stories, "files": files, "pre": "cargo generate-lockfile --quiet",
        "implement": format!("case $LOOPWRIGHT_STORY_ID in\n{scripts}esac\n"),
        "checks": { "setup": "cargo fetch --locked", "test": "cargo test --offline" },
        "flow": "solo", "timeout": 60 * 60, "truth": "true",
    });
    serde_json::from_value(case).expect("a case")
}

fn play(seed: u64, n_steps: u64) {
    let mut random = Random::new(seed);
    let mut says = Says::default();
    let steps: Vec<Step> = (0..n_steps).map(|_| step(&mut random, &mut says)).collect();
    let case = case_of(&steps);
    let runners = toolbox::verdict_runners();
    let scene = Scene::jailed(&case, &runners);
    let answer = scene.start().expect("an end");
    let replay = format!("LOOPWRIGHT_RANDOM_SEED={seed}");
    let result =
        result_of(&answer.stdout).unwrap_or_else(|| panic!("{replay}: {}", answer.whole()));
    let of_loop = match &result["loops"][0] {
        Value::Null => &result,
        first => first,
    };
    for (at, step) in steps.iter().enumerate() {
        let story = &of_loop["stories"][at];
        let has_landed = story["status"] == "passed";
        assert_eq!(
            has_landed, step.is_whole,
            "{replay}: {story}\n{}",
            step.script
        );
    }
    assert_eq!(scene.difference(), None, "{replay}");
    let built = scene.built();
    let is_warm = built.iter().any(|built| built.starts_with("warm: "));
    let is_believed = n_steps > TRIED_BOTH_WAYS;
    assert!(is_warm || !is_believed, "{replay}: {built:?}");
}

/// The loops whose seeds are of one test.
fn play_quarter(quarter: u64) {
    let n_steps = number("LOOPWRIGHT_RANDOM_STEPS", STEPS);
    let first = number("LOOPWRIGHT_RANDOM_SEED", 1);
    let n_loops = n_steps.div_ceil(STEPS_OF_LOOP).max(1);
    let seeds = (first..first + n_loops).filter(|seed| seed % TESTS == quarter);
    for seed in seeds {
        play(seed, n_steps.min(STEPS_OF_LOOP));
    }
}

macro_rules! quarters {
    ($($name:ident: $quarter:literal;)+) => {
        $(#[test]
        fn $name() {
            play_quarter($quarter);
        })+
    };
}

quarters! {
    random_changes_are_measured_over_a_root_as_from_nothing_0: 0;
    random_changes_are_measured_over_a_root_as_from_nothing_1: 1;
    random_changes_are_measured_over_a_root_as_from_nothing_2: 2;
    random_changes_are_measured_over_a_root_as_from_nothing_3: 3;
}
