//! Plain Make projects: one in C whose tests speak TAP, and one of shell scripts that is known by
//! its exit code alone.

use super::{Project, Story};
use crate::sample::sample;

const MAKEFILE: &str = "CC ?= cc\nTESTS := $(patsubst tests/%.c,build/%,$(wildcard tests/*.c))\n\n\
    test: $(TESTS)\n\t@n=0; code=0; for t in $(TESTS); do n=$$((n + 1)); \\\n\
    \tif ./$$t; then echo \"ok $$n - $$(basename $$t)\"; else echo \"not ok $$n - $$(basename $$t)\"; code=1; fi; \\\n\
    \tdone; echo \"1..$$n\"; exit $$code\n\n\
    build/%: tests/%.c calc.c calc.h\n\t@mkdir -p build\n\t$(CC) -Wall -I. -o $@ $< calc.c\n\n.PHONY: test\n";

const CALC: &str = "#include \"calc.h\"\n\nint add(int a, int b) { return a + b; }\n";

const HEADER: &str = "int add(int a, int b);\n";

const OLD_TEST: &str =
    "#include \"calc.h\"\n\nint main(void) { return add(2, 2) == 4 && add(2, 3) == 5 ? 0 : 1; }\n";

const MULTIPLY: &str = "echo 'int multiply(int a, int b);' >> calc.h\n\
    printf '\\nint multiply(int a, int b) { return a * b; }\\n' >> calc.c\nmake test";

const MULTIPLY_TESTS: &str = "printf '#include \"calc.h\"\\n\\nint main(void) { return multiply(3, 4) == 12 ? 0 : 1; }\\n' > tests/multiply.c";

const FORGED: &str = "printf 'test:\\n\\t@echo ok 1 - add; echo ok 2 - multiply; echo ok 3 - zero; echo 1..3\\n' > Makefile";

const ZERO_TESTS: &str = "printf '#include \"calc.h\"\\n\\nint main(void) { return add(0, 0) == 1 ? 0 : 1; }\\n' > tests/zero.c";

fn story(
    id: &'static str,
    criterion: &'static str,
    implement: &str,
    write_tests: &str,
    tests: &'static [&'static str],
) -> Story {
    let (implement, write_tests) = (implement.to_owned(), write_tests.to_owned());
    Story {
        id,
        criterion,
        implement,
        write_tests,
        tests,
    }
}

#[test]
fn a_make_project_in_c() {
    let files = [
        ("Makefile", MAKEFILE),
        ("calc.c", CALC),
        ("calc.h", HEADER),
        ("tests/add.c", OLD_TEST),
        (".gitignore", "build/\n"),
    ];
    let break_add = "sed -i 's/a + b/a * b/' calc.c";
    let cheats = [
        story(
            "forged",
            "nothing and nothing is one",
            FORGED,
            ZERO_TESTS,
            &["zero"],
        ),
        story(
            "broken",
            "zero and zero is one",
            break_add,
            ZERO_TESTS,
            &["zero"],
        ),
    ];
    let honest = story(
        "multiply",
        "it multiplies",
        MULTIPLY,
        MULTIPLY_TESTS,
        &["multiply"],
    );
    let stories = [vec![honest], sample("make", &cheats)].concat();
    let played = Project::new("make", &files, "").play(&stories);
    played.story("multiply").passed(&["multiply"], true, 1);
    for cheat in &stories[1..] {
        let report = played.story(cheat.id);
        match cheat.id {
            // Green with its own Makefile, red with the base's.
            "forged" => report.obliged(&["Makefile"]).refused(&[]),
            _ => report.refused(&["green before and red now: add"]),
        };
    }
    assert_eq!(played.landed(), ["multiply"]);
    assert!(played.file("calc.c").contains("multiply"));
    let files = [
        ".gitignore",
        "Makefile",
        "calc.c",
        "calc.h",
        "prd.json",
        "tests/add.c",
        "tests/multiply.c",
    ];
    assert_eq!(played.files(), files);
}

#[test]
fn a_make_project_known_by_its_exit_code() {
    let files = [
        (
            "Makefile",
            "test:\n\t@for t in tests/*.sh; do sh $$t || exit 1; done\n\n.PHONY: test\n",
        ),
        ("greet.sh", "echo \"hello $1\"\n"),
        (
            "tests/greets.sh",
            "[ \"$(sh greet.sh you)\" = 'hello you' ]\n",
        ),
    ];
    let polite = "sed -i '1i [ \"$1\" ] || { echo hello world; exit; }' greet.sh";
    let polite_test = "echo '[ \"$(sh greet.sh)\" = \"hello world\" ]' > tests/nobody.sh";
    let loud_test = "echo '[ \"$(sh greet.sh you | cut -c1)\" = H ]' > tests/loud.sh";
    let played = Project::new("make (exit)", &files, "").play(&[
        story("nobody", "nobody is the world", polite, polite_test, &[]),
        story(
            "loud",
            "it is loud",
            "sed -i 's/echo \"hello/echo \"Hello/' greet.sh",
            loud_test,
            &[],
        ),
    ]);
    let nobody = played.story("nobody");
    nobody.passed(&["test"], false, 1);
    assert_eq!(nobody.evidence()["facts"]["byExitCode"], true);
    played.story("loud").refused(&["red as a whole: test"]);
    assert_eq!(played.landed(), ["nobody"]);
}

/// Nobody has to look for a log to learn why a loop cannot even begin.
#[test]
fn a_setup_that_fails_on_the_base_is_told_in_the_story() {
    let files = [("Makefile", "test:\n\t@true\n"), ("tests/a.sh", "true\n")];
    let checks = "setup = \"echo no compiler for you; exit 3\"\ntest = \"make test\"";
    let played = Project::new("make (setup)", &files, checks).play(&[story(
        "any",
        "it is there",
        "echo x > x",
        "echo false > tests/b.sh",
        &[],
    )]);
    played
        .story("any")
        .says(&["`setup` ended with exit code 3", "no compiler for you"]);
}

/// A red test is run again; no run may find what another one left, in its folder, its home or its
/// folder for temporary files.
#[test]
fn i08_every_run_of_the_checks_begins_anew() {
    const ALL: &str = "n=0; code=0\nfor t in tests/*.sh; do n=$((n + 1)); name=$(basename $t .sh)\n\
        if sh $t; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; code=1; fi\ndone\n\
        echo \"1..$n\"; exit $code\n";
    const ANEW: &str = "for f in .seen \"$HOME/.seen\" \"$TMPDIR/.seen\"; do\n\
        [ -e \"$f\" ] && exit 1\n: > \"$f\"\ndone\ntrue\n";
    let files = [
        ("run-tests.sh", ALL),
        ("add.sh", "echo $(($1 + $2))\n"),
        ("tests/add.sh", "[ \"$(sh add.sh 2 3)\" = 5 ]\n"),
        ("tests/anew.sh", ANEW),
        (".gitignore", ".seen\n"),
    ];
    let broken = story(
        "broken",
        "two and two is four",
        "sed -i 's/+/*/' add.sh",
        "echo '[ \"$(sh add.sh 0 7)\" = 0 ]' > tests/zero.sh",
        &["zero"],
    );
    let played = Project::new("anew", &files, "test = \"sh run-tests.sh\"").play(&[broken]);
    let story = played.story("broken");
    let facts = &story.evidence()["facts"];
    let names: Vec<&str> = facts["broken"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|test| test["name"].as_str())
        .collect();
    assert_eq!(names, ["add"], "{}", story.text);
    assert_eq!(story.evidence()["reruns"], 2, "{}", story.text);
    for other in ["unstable", "flaky", "knownRed"] {
        assert_eq!(
            facts[other],
            serde_json::json!([]),
            "{other}: {}",
            story.text
        );
    }
}
