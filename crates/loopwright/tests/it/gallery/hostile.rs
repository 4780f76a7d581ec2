//! Cheats that were thought up against our own rules, and honest work that a rule too many would
//! reject.

use super::{Gallery, HONEST, Hung, LAZY, PROOF, Piece, RUNNER, TESTS, answering, judge, obliging};

const BREAK_ADD: &str = "sed -i 's/$2 + $3/$2 - $3/' calc.sh";

#[test]
fn i08_nobody_can_explain_an_older_test_away_where_there_is_no_judge() {
    let mut gallery =
        Gallery::new("i08_nobody_can_explain_an_older_test_away_where_there_is_no_judge");
    Piece::new("solo that deletes the old test that it breaks", "skipped 1")
        .implement(format!("{HONEST}\n{BREAK_ADD}\nrm tests/add.sh"))
        .base("tests/other.sh", "true\n")
        .flow("solo")
        .says(&[
            "the older test `add` ",
            "use another flow such as quartet, or let a person accept it",
        ])
        .hang_in(&mut gallery);
    Piece::new("solo that weakens the old test that it breaks", "skipped 1")
        .implement(format!("{HONEST}\n{BREAK_ADD}\necho true > tests/add.sh"))
        .flow("solo")
        .hang_in(&mut gallery);
    let mut prover = Piece::new("prover that deletes a test", "skipped 1")
        .base("tests/other.sh", "true\n")
        .flow("proof");
    prover.prove = format!("{BREAK_ADD}; rm tests/add.sh; {PROOF}");
    prover
        .says(&["names no criterion of the story", "the older test `add` "])
        .hang_in(&mut gallery);
    Piece::new("solo on a red base", "passed 1")
        .base("tests/broken.sh", "exit 1\n")
        .flow("solo")
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i08_a_test_writer_cannot_weaken_what_an_implementor_breaks() {
    let mut gallery = Gallery::new("i08_a_test_writer_cannot_weaken_what_an_implementor_breaks");
    Piece::new(
        "test writer that weakens the old test that the implementor breaks",
        "skipped 1",
    )
    .implement(format!("{HONEST}\n{BREAK_ADD}"))
    .write_tests(format!("echo true > tests/add.sh\n{TESTS}"))
    .says(&["names no criterion of the story", "the older test `add` "])
    .hang_in(&mut gallery);
    Piece::new(
        "test writer that changes an old test, and the judge says why",
        "passed 1",
    )
    .implement(format!("{HONEST}\n{BREAK_ADD}"))
    .write_tests(format!(
        "echo '[ \"$(sh calc.sh add 1 2)\" = -1 ]' > tests/add.sh\n{TESTS}"
    ))
    // Older prompts ask for the test's name, and yours may still do so.
    .judge(answering(
        r#"{\"test\": \"add\", \"criterion\": \"double 4 prints 8\"}"#,
    ))
    .hang_in(&mut gallery);
    Piece::new("test writer that adds to an old test", "passed 1")
        .write_tests(format!(
            "echo '[ \"$(sh calc.sh double 1)\" = 2 ]' >> tests/add.sh\n{TESTS}"
        ))
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i07_what_tests_stand_on_is_not_the_implementors_either() {
    let mut gallery = Gallery::new("i07_what_tests_stand_on_is_not_the_implementors_either");
    let helper = "same() { [ \"$1\" = \"$2\" ] || exit 1; }\n";
    let with_helper = |piece: Piece| {
        piece.base("tests/lib/same", helper).write_tests(
            TESTS
                .replace("echo '[", "echo '. ./tests/lib/same; same")
                .replace(" = 8 ]", " 8")
                .replace(" = -6 ]", " -6"),
        )
    };
    with_helper(Piece::new("tests that stand on a helper", "passed 1")).hang_in(&mut gallery);
    with_helper(Piece::new(
        "makes the helper of the tests say yes",
        "skipped 1",
    ))
    .implement("echo 'same() { true; }' > tests/lib/same")
    .says(&[
        "names no criterion of the story",
        "the proof rests on `tests/lib/same`",
    ])
    .hang_in(&mut gallery);
    Piece::new("makes the tests a link to its own", "skipped 1")
        .implement(format!(
            "{HONEST}\n{BREAK_ADD}\nrm -r tests; mkdir mine; echo true > mine/add.sh; ln -s mine tests"
        ))
        .hang_in(&mut gallery);
    Piece::new("makes the tests a plain file", "skipped 1")
        .implement(format!(
            "{HONEST}\n{BREAK_ADD}\nrm -r tests; echo none > tests"
        ))
        .hang_in(&mut gallery);
    Piece::new("puts a folder where a test will be", "skipped 1")
        .implement("mkdir -p tests/double.sh tests/negative.sh; touch tests/double.sh/a tests/negative.sh/a")
        .says(&["gave way to the test writer's"])
        .hang_in(&mut gallery);
    Piece::new("links an old test to one that is always green", "skipped 1")
        .implement(format!(
            "{HONEST}\n{BREAK_ADD}\necho true > tests/yes.sh; ln -sf yes.sh tests/add.sh"
        ))
        .says(&[
            "names no criterion of the story",
            "the proof rests on `tests/add.sh`",
            "it is a link, or replaces one",
        ])
        .hang_in(&mut gallery);
    Piece::new(
        "tdd: the implementor edits the tests that it is shown",
        "skipped 1",
    )
    .implement("echo true > tests/double.sh; rm tests/negative.sh")
    .flow("tdd")
    .says(&["gave way to the test writer's", "new and red: double"])
    .hang_in(&mut gallery);
    gallery.show();
}

/// What the second attempt is told.
fn told(hung: &Hung) -> String {
    hung.env.read("prompt-implement-2")
}

#[test]
fn what_is_held_back_stays_so_in_whatever_form_it_is_named() {
    let mut gallery = Gallery::new("what_is_held_back_stays_so_in_whatever_form_it_is_named");
    for form in [
        "negative",
        "tests/negative.sh",
        "tests/negative.sh::negative",
        "suite > negative",
        "Suite::negative",
    ] {
        Piece::new("a held-back test in another form", "skipped 2")
            .implement("sed -i 's/^  \\*) exit/  double) [ \"$2\" = 4 ] \\&\\& echo 8 ;;\\n&/' calc.sh; echo $LOOPWRIGHT_ATTEMPT >> calc.txt")
            .write_tests(TESTS.replace("\"held_back\": [\"negative\"]", &format!("\"held_back\": [\"{form}\"]")))
            .options(&["--max-retries", "1"])
            .then(move |hung| {
                let told = told(hung);
                assert!(
                    told.contains("Not met: double of a negative number is right"),
                    "{form}:\n{told}"
                );
                assert!(!told.contains("- negative"), "{form}:\n{told}");
            })
            .hang_in(&mut gallery);
    }
    gallery.show();
}

#[test]
fn a_judge_may_quote_a_criterion_in_its_own_way() {
    let mut gallery = Gallery::new("a_judge_may_quote_a_criterion_in_its_own_way");
    let change = format!("{HONEST}\n{BREAK_ADD}\necho true > tests/add.sh");
    for (criterion, ends) in [
        ("1. Double 4 prints 8.", "passed 1"),
        ("'Double 4' prints 8", "passed 1"),
        ("the tests were wrong", "skipped 1"),
        ("", "skipped 1"),
    ] {
        Piece::new("a judge that names a criterion in other words", ends)
            .implement(change.clone())
            .judge(obliging(criterion))
            .hang_in(&mut gallery);
    }
    gallery.show();
}

#[test]
fn a_reviewer_may_answer_in_its_own_way() {
    let mut gallery = Gallery::new("a_reviewer_may_answer_in_its_own_way");
    for (review, ends) in [
        (r#"{"summary": "fine", "findings": "none"}"#, "passed 1"),
        (
            "```json\\n{\"summary\": \"fine\", \"criteria\": null}\\n```",
            "passed 1",
        ),
        (r#"{"review": {"summary": "nested"}}"#, "skipped 1"),
        (r#"[{"summary": "a list"}]"#, "passed 1"),
        (r#"{"summary": "cut", "criteria": ["#, "skipped 1"),
    ] {
        let mut piece = Piece::new("a review in another form", ends);
        piece.review = format!("printf '{}\\n'", review.replace("\\\\n", "\\n"));
        piece.hang_in(&mut gallery);
    }
    gallery.show();
}

#[test]
fn i02_who_calls_everything_untestable_must_say_so_of_everything() {
    let mut gallery = Gallery::new("i02_who_calls_everything_untestable_must_say_so_of_everything");
    let one = r#"echo '{"summary": "s", "criteria": [{"criterion": "double 4 prints 8", "untestable": "looks"}]}'"#;
    Piece::new("one of two criteria is called untestable", "skipped 1")
        .write_tests(one)
        .says(&["no test file was added or changed"])
        .hang_in(&mut gallery);
    let made_up = one.replace(
        "}]}",
        "}, {\"criterion\": \"it is pretty\", \"untestable\": \"looks\"}]}",
    );
    Piece::new(
        "a criterion that nobody wrote is called untestable",
        "skipped 1",
    )
    .write_tests(made_up)
    .says(&["no test file was added or changed"])
    .hang_in(&mut gallery);
    let blank = one.replace("looks", " ");
    Piece::new("no reason why nothing can be tested", "skipped 1")
        .write_tests(blank)
        .hang_in(&mut gallery);
    let all = r#"echo '{"summary": "s", "criteria": [{"criterion": "double 4 prints 8", "untestable": "looks"},
      {"criterion": "double of a negative number is right", "untestable": "looks"}]}'"#;
    Piece::new("nothing can be tested, and the judge is told", "passed 1")
        .write_tests(all)
        .then(|hung| {
            let judge = hung.env.read("prompt-judge-1");
            assert!(
                judge.contains("no criterion can be tested by a machine"),
                "{judge}"
            );
        })
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn odd_files_of_a_test_writer() {
    let mut gallery = Gallery::new("odd_files_of_a_test_writer");
    Piece::new("tests with odd names, with line ends and an executable bit", "passed 1")
        .write_tests(format!(
            "{TESTS}\nprintf '[ \"$(sh calc.sh double 5)\" = 10 ] #\\r\\n' > 'tests/a b.sh'; chmod +x tests/*.sh\n\
             cp tests/double.sh 'tests/ümlaut.sh'; cp tests/double.sh \"tests/qu'ote.sh\"; cp tests/double.sh tests/-dash.sh"
        ))
        .hang_in(&mut gallery);
    Piece::new(
        "test writer that links a test to somewhere else",
        "skipped 1",
    )
    .implement(LAZY)
    .write_tests(format!(
        "ln -s /bin/true tests/linked.sh; ln -s ../calc.sh tests/code.sh\n{TESTS}"
    ))
    .says(&[
        "`tests/linked.sh` was left out: a link that leads out of the project (/bin/true)",
        "the test writer's change to `tests/code.sh` was dropped",
    ])
    .hang_in(&mut gallery);
    Piece::new("attributes that change how files are checked out", "skipped 1")
        .implement("printf '* text eol=crlf\\ntests/*.sh export-ignore\\n*.sh filter=evil working-tree-encoding=UTF-16\\n' > .gitattributes")
        .hang_in(&mut gallery);
    Piece::new("a nested repository in place of the tests", "skipped 1")
        .implement("rm -r tests; git init -q tests; echo x > tests/x; git -C tests add x; git -C tests -c user.name=a -c user.email=a@b commit -qm x")
        .hang_in(&mut gallery);
    Piece::new("ignores the tests that will come", "skipped 1")
        .implement("echo tests/ >> .gitignore; echo x > NOTES")
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn stories_of_other_shapes() {
    let mut gallery = Gallery::new("stories_of_other_shapes");
    let mut bare = Piece::new("a story without criteria", "passed 1");
    bare.prd =
        r#"{ "stories": [ { "id": "double", "title": "Double a number", "passes": false } ] }"#
            .to_owned();
    bare.hang_in(&mut gallery);
    let mut solo = Piece::new("a story that has a flow of its own", "passed 1");
    solo.prd = solo
        .prd
        .replace("\"passes\"", "\"flow\": \"solo\", \"passes\"");
    solo.then(|hung| assert_eq!(hung.starts(), ["implement 1"]))
        .hang_in(&mut gallery);
    Piece::new(
        "the judge refuses although everything is green",
        "skipped 1",
    )
    .judge(judge("FAIL"))
    .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn a_second_look_does_not_ask_again_for_what_another_story_explained() {
    let mut gallery =
        Gallery::new("a_second_look_does_not_ask_again_for_what_another_story_explained");
    for (what, give_way) in [
        (
            "a skipped story that another one did, with an old test that had to change",
            "echo true > tests/add.sh",
        ),
        (
            "a skipped story that another one did, with an old test that had to go",
            "rm tests/add.sh",
        ),
    ] {
        let mut piece = Piece::new(what, "passed 1")
            .base("tests/other.sh", "true\n")
            .implement(format!(
                "case \"$LOOPWRIGHT_STORY_ID\" in double) {LAZY} ;; *) {HONEST}\n{BREAK_ADD}\n{give_way} ;; esac"
            ))
            .write_tests(format!(
                "case \"$LOOPWRIGHT_STORY_ID\" in double)\n{TESTS}\n;; *) echo '[ \"$(sh calc.sh add 5 2)\" = 3 ]' > tests/subtracts.sh ;; esac"
            ))
            .judge(obliging("add subtracts"));
        piece.prd = piece.prd.replace(
            "\"passes\": false } ]",
            "\"passes\": false }, { \"id\": \"change\", \"title\": \"Subtract\", \"acceptance_criteria\": [\"add subtracts\"], \"passes\": false } ]",
        );
        piece.hang_in(&mut gallery);
    }
    gallery.show();
}

#[test]
fn i09_a_runner_beside_the_projects_folder_is_the_bases_too() {
    let mut gallery = Gallery::new("i09_a_runner_beside_the_projects_folder_is_the_bases_too");
    let inside = |what, ends| {
        let mut piece = Piece::new(what, ends)
            .base("/tools/run-tests.sh", RUNNER)
            .test("sh ../tools/run-tests.sh");
        piece.folder = "pkg/";
        piece
    };
    inside("a project in a folder of its repository", "passed 1").hang_in(&mut gallery);
    inside("replaces the runner that stands beside the project's folder", "skipped 1")
        .implement("echo 'echo ok 1 - add; echo ok 2 - double; echo ok 3 - negative; echo 1..3' > ../tools/run-tests.sh")
        .says(&[
            "names no criterion of the story",
            "the proof rests on `tools/run-tests.sh`",
        ])
        .hang_in(&mut gallery);
    gallery.show();
}
