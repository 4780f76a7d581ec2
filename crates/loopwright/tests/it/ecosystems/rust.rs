//! A Rust crate without a `.gitignore`: unit, integration and documentation tests, the checks that
//! detection proposes.

use std::path::Path;

use super::{Project, Story};
use crate::sample::thrifty_sample;

const LIB: &str = r"//! Sums.

/// Adds all up.
///
/// ```
/// assert_eq!(tally::sum(&[1, 2]), 3);
/// ```
#[must_use]
pub fn sum(values: &[i64]) -> i64 {
    values.iter().sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_zero() {
        assert_eq!(super::sum(&[]), 0);
    }
}
";

const OLD_TEST: &str = "#[test]\nfn three_values() {\n    assert_eq!(tally::sum(&[1, 2, 3]), 6);\n}\n\n\
                        #[test]\nfn a_negative_value() {\n    assert_eq!(tally::sum(&[1, -3]), -2);\n}\n";

const MANIFEST: &str = "[package]\nname = \"tally\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lints.clippy]\npedantic = \"warn\"\n\n[profile.dev]\ndebug = false\n";

const LOCK: &str = "version = 4\n\n[[package]]\nname = \"tally\"\nversion = \"0.1.0\"\n";

/// It builds in its own checkout, whose `target/` must not become part of anything.
const MEAN: &str = r"cat > mean <<'CODE'
/// The mean, rounded down.
#[must_use]
pub fn mean_of(values: &[i64]) -> Option<i64> {
    let n_values = i64::try_from(values.len()).ok()?;
    sum(values).checked_div(n_values)
}

CODE
sed '/^#.cfg/,$d' src/lib.rs > head
sed -n '/^#.cfg/,$p' src/lib.rs > tail
cat head mean tail > src/lib.rs
rm head mean tail
cargo build -q";

/// The first time it guesses a name; the second time it was told what there is.
const MEAN_TESTS: &str = r"name=mean; [ $ROUND = 1 ] || name=mean_of
cat > tests/mean.rs <<CODE
#[test]
fn the_mean_of_three() {
    assert_eq!(tally::$name(&[1, 2, 6]), Some(3));
}

#[test]
fn the_mean_of_none() {
    assert_eq!(tally::$name(&[]), None);
}
CODE";

const SATURATE: &str = "sed -i 's/values.iter().sum()/values.iter().fold(0, |all, value| i64::saturating_add(all, *value))/' src/lib.rs";

const SATURATE_TESTS: &str = r"cat > tests/bounds.rs <<'CODE'
#[test]
fn a_sum_stops_at_the_bound() {
    assert_eq!(tally::sum(&[i64::MAX, 1]), i64::MAX);
}
CODE";

const ABSOLUTE_TESTS: &str = r"cat > tests/absolute.rs <<'CODE'
#[test]
fn signs_do_not_count() {
    assert_eq!(tally::sum(&[-1, -1, 2]), 4);
}
CODE";

const ABSOLUTE: &str = "sed -i 's/|all, value| i64::saturating_add(all, \\*value)/|all, value| i64::saturating_add(all, value.abs())/' src/lib.rs\n";

const EMPTY: &str = "sed -i 's/^    values.iter/    if values.is_empty() {\\n        return 1;\\n    }\\n&/' src/lib.rs\n";

const EMPTY_TESTS: &str = r"cat > tests/empty.rs <<'CODE'
#[test]
fn nothing_is_one() {
    assert_eq!(tally::sum(&[]), 1);
}
CODE";

#[test]
fn a_rust_crate() {
    let files = [
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/lib.rs", LIB),
        ("tests/sum.rs", OLD_TEST),
    ];
    let story = |id, criterion, implement: &str, write_tests: &str, tests| Story {
        id,
        criterion,
        implement: implement.to_owned(),
        write_tests: write_tests.to_owned(),
        tests,
    };
    // The attribute is put together, since our own tests may not have it.
    let attribute = format!("#[{} = \"later\"]", "ignore");
    let ignoring = format!("{ABSOLUTE}sed -i 's/^fn a_negative/{attribute}\\n&/' tests/sum.rs");
    let inside =
        format!("{EMPTY}sed -i 's/^    fn nothing_is_zero/    {attribute}\\n&/' src/lib.rs");
    let project = Project::new("rust", &files, "");
    // Many operators have one build folder for everything; what is measured must not be built
    // there.
    let shared = project.env.path("shared").display().to_string();
    project.env.write(
        ".cargo/config.toml",
        format!("[build]\ntarget-dir = \"{shared}\"\n"),
    );
    let mean = story(
        "mean",
        "there is a mean",
        MEAN,
        MEAN_TESTS,
        &["the_mean_of_three", "the_mean_of_none"],
    );
    let bounds = story(
        "bounds",
        "a sum stops at the bound",
        SATURATE,
        SATURATE_TESTS,
        &["a_sum_stops_at_the_bound"],
    );
    // It builds on the bounds.
    let absolute = story(
        "absolute",
        "signs do not count",
        &ignoring,
        ABSOLUTE_TESTS,
        &["signs_do_not_count"],
    );
    let empty = story(
        "empty",
        "nothing is one",
        &inside,
        EMPTY_TESTS,
        &["nothing_is_one"],
    );
    let more = [vec![bounds, absolute], vec![empty]];
    let more = thrifty_sample("rust", &more, |stories| stories.len() == 1).concat();
    let stories = [vec![mean], more].concat();
    let is_played = |id: &str| stories.iter().any(|story| story.id == id);
    let played = project.play(&stories);
    let mean = played.story("mean");
    mean.passed(&["the_mean_of_none", "the_mean_of_three"], true, 6);
    mean.says(&["(on the base they do not build, a weak red)"]);
    let told = played.prompt("mean", "write-tests", 2);
    assert!(
        told.contains("pub fn mean_of(values: &[i64]) -> Option<i64>"),
        "names are told:\n{told}"
    );
    assert!(!told.contains("checked_div"), "and bodies are not:\n{told}");
    let mut files = vec!["Cargo.lock", "Cargo.toml", "prd.json", "src/lib.rs"];
    if is_played("bounds") {
        played
            .story("bounds")
            .passed(&["a_sum_stops_at_the_bound"], false, 8);
        played
            .story("absolute")
            .obliged(&["a_negative_value"])
            .refused(&[
                "the implementor changed the existing test file `tests/sum.rs`",
                "a_negative_value",
            ]);
        files.push("tests/bounds.rs");
        assert_eq!(played.landed(), ["mean", "bounds"]);
    } else {
        assert_eq!(played.landed(), ["mean"]);
    }
    if is_played("empty") {
        played
            .story("empty")
            .obliged(&["tests::nothing_is_zero"])
            .refused(&["is red in its old form", "no longer runs"]);
    }
    files.extend(["tests/mean.rs", "tests/sum.rs"]);
    assert_eq!(played.files(), files);
    let built =
        std::fs::read_dir(Path::new(&shared).join("debug/deps")).expect("the agent built there");
    let names = built
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let measured: Vec<String> = names.filter(|name| name.starts_with("sum-")).collect();
    assert_eq!(measured, [""; 0], "the test programs were built elsewhere");
    assert!(!played.file("tests/sum.rs").contains("ignore"));
}
