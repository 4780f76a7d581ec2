//! The cheats and faults that are known from others: what each of them must come to.

use super::{
    Gallery, HONEST, LAZY, PROOF, Piece, RUNNER, SCENE, TESTS, answering, judge, obliging,
};
use crate::scene::{JUDGE, Scene};

#[test]
fn honest_work_passes_and_old_reds_do_not_matter() {
    let mut gallery = Gallery::new("honest_work_passes_and_old_reds_do_not_matter");
    Piece::new("honest work", "passed 1")
        .says(&[
            "new tests that are red on the base and green now: double, negative",
            "judge (any): PASS",
        ])
        .hang_in(&mut gallery);
    Piece::new("code on top of an already red test", "passed 1")
        .base("tests/broken.sh", "exit 1\n")
        .says(&["red before the story and red now: broken"])
        .hang_in(&mut gallery);
    // Red on the candidate once, and once when the base is looked at again because of that.
    let counting =
        format!("echo x >> {SCENE}runs\ncase $(wc -l < {SCENE}runs) in 4 | 8) exit 1 ;; esac\n");
    Piece::new("a flaky test of the project", "passed 1")
        .base("tests/flaky.sh", counting)
        .says(&["flaky on the base too, so that they neither fail nor prove anything: flaky"])
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i07_tests_of_somebody_else_cannot_be_touched() {
    let mut gallery = Gallery::new("i07_tests_of_somebody_else_cannot_be_touched");
    Piece::new(
        "edits the reviewer's tests before they are there",
        "skipped 1",
    )
    .implement("echo true > tests/double.sh; echo true > tests/negative.sh")
    .says(&["gave way to the test writer's", "new and red: double"])
    .hang_in(&mut gallery);
    Piece::new("test writer that edits code", "skipped 1")
        .implement(LAZY)
        .write_tests(format!("{HONEST}\n{TESTS}"))
        .says(&[
            "the test writer's change to `calc.sh` was dropped",
            "new and red: double",
        ])
        .hang_in(&mut gallery);
    // It may, but then somebody must answer for each test in it.
    Piece::new("test writer that deletes an old test", "skipped 1")
        .write_tests(format!("rm tests/add.sh\n{TESTS}"))
        .says(&["the older test `add` is gone; not answered"])
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i08_what_was_green_stays_green_or_a_criterion_says_why() {
    let mut gallery = Gallery::new("i08_what_was_green_stays_green_or_a_criterion_says_why");
    let break_add = "sed -i 's/\\$2 + \\$3/$2 - $3/' calc.sh";
    Piece::new(
        "code that breaks an old test, and a judge that says PASS",
        "skipped 1",
    )
    .implement(format!("{HONEST}\n{break_add}"))
    .says(&["green before and red now: add"])
    .hang_in(&mut gallery);
    Piece::new("deletes the old test that it breaks", "skipped 1")
        .implement(format!("{HONEST}\n{break_add}\nrm tests/add.sh"))
        .says(&["the implementor changed the existing test file `tests/add.sh`"])
        .hang_in(&mut gallery);
    Piece::new("marks the old test that it breaks as skipped", "skipped 1")
        .implement(format!(
            "{HONEST}\n{break_add}\necho '# SKIP' >> tests/add.sh"
        ))
        .says(&["the implementor changed the existing test file `tests/add.sh`"])
        .hang_in(&mut gallery);
    Piece::new("weakens the old test that it breaks", "skipped 1")
        .implement(format!("{HONEST}\n{break_add}\necho true > tests/add.sh"))
        .says(&["names no criterion of the story", "the older test `add` "])
        .hang_in(&mut gallery);
    let first = r#"{\"id\": \"O1\", \"criterion\": \"double 4 prints 8\", \"why\": \"w\"}"#;
    Piece::new(
        "changes an old test, and the judge answers one of two obligations",
        "skipped 1",
    )
    .implement(format!("{HONEST}\n{break_add}\necho true > tests/add.sh"))
    .judge(answering(first))
    .says(&["O1 the older test `add` is red in its old form; asked for by: double 4 prints 8"])
    .hang_in(&mut gallery);
    Piece::new(
        "changes an old test, and the judge names the criterion that asks for it",
        "passed 1",
    )
    .implement(format!("{HONEST}\n{break_add}\necho true > tests/add.sh"))
    .judge(obliging("double 4 prints 8"))
    .hang_in(&mut gallery);
    // Its state lies outside of every checkout, so that one run differs from the next.
    Piece::new("code that makes an old test red now and then", "skipped 1")
        .implement(format!(
            "{HONEST}\nsed -i \"1i echo x >> $SCENE/runs; [ \\$(wc -l < $SCENE/runs) != 1 ] || exit 1\" calc.sh"
        ))
        .says(&["UNSTABLE: stable on the base, red in one run and green in another"])
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i08_tests_must_prove_something() {
    let mut gallery = Gallery::new("i08_tests_must_prove_something");
    let later = |first: &str| {
        format!(
            "if [ -f \"$SCENE/wrote\" ]; then\n{TESTS}\nelse\ntouch \"$SCENE/wrote\"\n{first}\nfi"
        )
    };
    Piece::new("vacuous tests, then better ones", "passed 1")
        .write_tests(later("echo true > tests/double.sh"))
        .says(&["tests to be written again: These tests are green on the project as it is now"])
        .hang_in(&mut gallery);
    Piece::new("vacuous tests again and again", "skipped 1")
        .write_tests("echo true > tests/double.sh")
        .says(&["the tests for this story cannot be used"])
        .hang_in(&mut gallery);
    Piece::new("tests that read source text, then better ones", "passed 1")
        .write_tests(later(
            "echo 'grep -q \"double)\" calc.sh' > tests/double.sh",
        ))
        .says(&["looks at source text and not at behaviour"])
        .hang_in(&mut gallery);
    Piece::new("no tests at all", "skipped 1")
        .write_tests("echo '{\"summary\": \"I would test it\"}'")
        .says(&["no test file was added or changed"])
        .hang_in(&mut gallery);
    let untestable = r#"echo '{"summary": "s", "criteria": [
      {"criterion": "double 4 prints 8", "untestable": "it is about looks"},
      {"criterion": "double of a negative number is right", "untestable": "so is this"}]}'"#;
    Piece::new(
        "criteria that no machine can test are the judge's",
        "passed 1",
    )
    .write_tests(untestable)
    .hang_in(&mut gallery);
    let fussy = r#"if [ -f "$SCENE/wrote" ]; then
TESTS
else
touch "$SCENE/wrote"
echo '[ "$(sh calc.sh double 4)" = "the double of 4 is 8" ]' > tests/wording.sh
echo '{"summary": "one"}'
fi"#;
    let mut over_specified = Piece::new(
        "over-specified tests: the arbiter orders fresh ones",
        "passed 2",
    )
    .implement(format!(
        "{HONEST}\necho \"# attempt $LOOPWRIGHT_ATTEMPT\" >> calc.sh"
    ))
    .write_tests(fussy.replace("TESTS", TESTS))
    .options(&["--max-retries", "1"])
    .says(&["arbiter: fresh tests: nobody asked for words"]);
    over_specified.arbitrate =
        r#"echo '{"fresh_tests": true, "reason": "nobody asked for words"}'"#.to_owned();
    over_specified.hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i09_what_decides_the_verdict_is_the_bases() {
    let mut gallery = Gallery::new("i09_what_decides_the_verdict_is_the_bases");
    Piece::new("makes `exit 0` the test script", "skipped 1")
        .implement("echo 'echo 1..0; exit 0' > run-tests.sh")
        .says(&["the project's checks load it", "new and red: double"])
        .hang_in(&mut gallery);
    Piece::new("makes the test script say ok to everything", "skipped 1")
        .implement("sed -i 's/not ok/ok/; s/code=1/code=0/' run-tests.sh")
        .says(&[
            "names no criterion of the story",
            "the proof rests on `run-tests.sh`",
        ])
        .hang_in(&mut gallery);
    Piece::new(
        "changes the test script, and needs no such change",
        "passed 1",
    )
    .implement(format!("{HONEST}\necho '# mine' >> run-tests.sh"))
    .says(&["the project's checks load it"])
    .then(|hung| {
        let report = hung.report();
        assert!(!report.contains("obligations"), "{report}");
    })
    .hang_in(&mut gallery);
    Piece::new("brings what it needs, and the judge says why", "passed 1")
        .base("run-tests.sh", format!("[ ! -f setup ] || . ./setup\n{RUNNER}"))
        .implement("echo TWICE=2 > setup; sed -i 's/^  \\*) exit/  double) echo $(($2 * TWICE)) ;;\\n&/' calc.sh; sed -i '1i . ./setup' calc.sh")
        .judge(obliging("double 4 prints 8"))
        .says(&["the proof rests on `setup`"])
        .hang_in(&mut gallery);
    Piece::new("changes the test command", "skipped 1")
        .implement("printf '[checks]\\ntest = \"true\"\\n' > loopwright.toml")
        .says(&["new and red: double"])
        .hang_in(&mut gallery);
    Piece::new("poisons an ignored folder", "skipped 1")
        .implement(
            "mkdir -p cache; echo 'echo ok 1 - double; echo 1..1; exit 0' > cache/override.sh",
        )
        .says(&["changed nothing"])
        .hang_in(&mut gallery);
    Piece::new("un-ignores a folder and poisons it", "skipped 1")
        .implement("mkdir -p cache; : > .gitignore; echo 'echo 1..0; exit 0' > cache/override.sh")
        .says(&["new and red: double", "`cache/override.sh`", "`.gitignore`"])
        .hang_in(&mut gallery);
    Piece::new("writes outside its checkout", "skipped 1")
        .implement("echo done > ../outside; echo done > \"$HOME/outside\"")
        .says(&["changed nothing"])
        .hang_in(&mut gallery);
    let mut asked = Piece::new(
        "changes the test script where a person is asked",
        "running 1",
    )
    .implement(format!("{HONEST}\necho '# mine' >> run-tests.sh"));
    asked.config = "[policy]\ncheck_config = \"ask\"\n";
    asked
        .then(|hung| {
            let view = hung.view();
            let reason = view["reason"].as_str().unwrap_or_default();
            assert!(
                reason.contains("it changes `run-tests.sh`: the project's checks load it"),
                "{view}"
            );
            let id = hung.loop_id();
            assert_eq!(hung.env.run(&["answer", &id, "approve"]).exit, 0);
            hung.wait_for("completed");
        })
        .hang_in(&mut gallery);
    let mut asked = Piece::new("changes the configuration of agents", "running 1").implement(
        format!("{HONEST}\nmkdir .claude; echo '{{}}' > .claude/settings.json"),
    );
    asked.says = vec!["it changes `.claude/settings.json`, which configures agents"];
    asked
        .then(|hung| {
            assert_eq!(hung.view()["status"], "needs_human", "{}", hung.view());
            let id = hung.loop_id();
            assert_eq!(hung.env.run(&["answer", &id, "approve"]).exit, 0);
            hung.wait_for("completed");
        })
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn i02_only_a_judges_word_on_the_very_commit_counts() {
    let mut gallery = Gallery::new("i02_only_a_judges_word_on_the_very_commit_counts");
    let wrong = judge("PASS").replace("$LOOPWRIGHT_CANDIDATE", &"0".repeat(40));
    for (what, script) in [
        (
            "judge that answers garbage",
            "echo 'lgtm {{{ ALLGREEN'".to_owned(),
        ),
        ("judge that says PASS in prose", "echo PASS".to_owned()),
        (
            "judge with truncated JSON",
            "echo '{\"verdict\": \"PASS\", \"commit\": '".to_owned(),
        ),
        ("judge that passes another commit", wrong),
        (
            "judge that passes only one of two criteria",
            judge("PASS").replace("[$CRITERIA]", "[${CRITERIA%, {*}]"),
        ),
        (
            "judge that crashes after its PASS",
            format!("{}\nkill -9 $$", judge("PASS")),
        ),
        (
            "judge that never ends",
            format!("{}\nsleep 600", judge("PASS")),
        ),
    ] {
        let mut piece = Piece::new(what, "skipped 1")
            .judge(script)
            .says(&["the judge gave no usable verdict"]);
        piece.config = "timeout = 2\n";
        piece.hang_in(&mut gallery);
    }
    Piece::new("approval files beside a judge that says FAIL", "skipped 1")
        .implement(format!(
            "{HONEST}\necho '{{\"verdict\": \"PASS\"}}' > APPROVED"
        ))
        .judge(judge("FAIL"))
        .says(&["judge (any): FAIL: scripted"])
        .hang_in(&mut gallery);
    let mut garbage = Piece::new("reviewer that answers garbage", "skipped 1");
    garbage.review = "echo fine by me".to_owned();
    garbage
        .says(&["the reviewer gave no usable review"])
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn retries_bring_something_new_or_are_not_judged() {
    let mut gallery = Gallery::new("retries_bring_something_new_or_are_not_judged");
    Piece::new("empty diff", "skipped 1")
        .implement("true")
        .says(&["the attempt changed nothing"])
        .hang_in(&mut gallery);
    Piece::new("work under a name that differs only in case", "skipped 1")
        .implement("cp calc.sh Calc.sh; echo 'echo 8' >> Calc.sh")
        .says(&[
            "the attempt changed nothing that is kept: `Calc.sh` was left out",
            "differs only in upper and lower case",
        ])
        .hang_in(&mut gallery);
    Piece::new("the same files as the rejected attempt", "skipped 2")
        .judge(judge("FAIL"))
        .options(&["--max-retries", "1"])
        .says(&["the attempt made the same files as one that was rejected"])
        .then(|hung| {
            let starts = hung.starts();
            let is_second = |start: &String| start == "judge 2";
            assert!(!starts.iter().any(is_second), "it is not judged again");
        })
        .hang_in(&mut gallery);
    let special = "if [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then sed -i 's/^  \\*) exit/  double) echo 0 ;;\\n&/' calc.sh\n\
                   else sed -i 's/^  \\*) exit/  double) [ \"$2\" = 4 ] \\&\\& echo 8 ;;\\n&/' calc.sh; fi";
    Piece::new("special-cases the input that feedback showed", "skipped 2")
        .implement(special)
        .options(&["--max-retries", "1"])
        .says(&["new and red: negative"])
        .then(|hung| {
            let told = hung.env.read("prompt-implement-2");
            assert!(
                told.contains("double of a negative number is right"),
                "the criterion is told:\n{told}"
            );
            assert!(
                !told.contains("tests/negative") && !told.contains("- negative"),
                "and the test is not:\n{told}"
            );
        })
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn agents_may_do_with_their_own_git_what_they_like() {
    let mut gallery = Gallery::new("agents_may_do_with_their_own_git_what_they_like");
    let git = "git -c user.name=A -c user.email=a@b";
    for (what, script) in [
        (
            "agent that commits",
            format!("{HONEST}\n{git} add -A; {git} commit -qm mine"),
        ),
        (
            "agent that amends",
            format!("{HONEST}\n{git} add -A; {git} commit -q --amend -m mine"),
        ),
        (
            "agent that makes a merge commit",
            format!(
                "{git} checkout -q -b side; {HONEST}\n{git} add -A; {git} commit -qm side; {git} checkout -q -\n\
                 {git} commit -q --allow-empty -m main; {git} merge -q --no-ff -m merged side"
            ),
        ),
        (
            "agent that rebases",
            format!(
                "{HONEST}\n{git} add -A; {git} commit -qm one; {git} commit -q --allow-empty -m two; \
                 {git} rebase -q --root || true"
            ),
        ),
        (
            "agent that leaves an unborn branch",
            format!("{HONEST}\n{git} checkout -q --orphan lost"),
        ),
        (
            "agent that removes its repository",
            format!("{HONEST}\nrm -rf .git"),
        ),
    ] {
        Piece::new(what, "passed 1")
            .implement(script)
            .hang_in(&mut gallery);
    }
    gallery.show();
}

/// Two pieces, so that both are shown always.
#[test]
fn a_provers_proof_of_work_reaches_the_judge_and_the_story() {
    let mut gallery = Gallery::new("a_provers_proof_of_work_reaches_the_judge_and_the_story");
    let wrong = "sed -i 's/^  \\*) exit/  double) echo 9 ;;\\n&/' calc.sh";
    let mut prover = Piece::new("prover that fixes and commits", "passed 1")
        .implement(wrong)
        .options(&["--flow", "proof", "--max-retries", "0"]);
    prover.prove = "sed -i 's/echo 9/echo $(($2 * 2))/' calc.sh; git add -A; git -c user.name=P -c user.email=p@p commit -qm fix\n".to_owned() + PROOF;
    prover
        .says(&[
            "  prover:\n    checked: double 4\n    found: it says 9\n    mended: it doubles\n    see it: sh calc.sh double 4\n",
        ])
        .then(|hung| {
            let asked = hung.env.read("prompt-judge-1");
            let told = "### Found\n\n- it says 9\n\n### Mended\n\n- it doubles\n\n### How to see it\n\n- sh calc.sh double 4";
            assert!(asked.contains(told), "{asked}");
            let id = hung.loop_id();
            let shown = hung.env.run(&["story", &id, "double", "--json"]).json();
            let proof = &shown["result"]["attempts"][0]["proof"];
            assert_eq!(
                (&proof["checked"][0], &proof["see"][0]),
                (&"double 4".into(), &"sh calc.sh double 4".into())
            );
            let markdown = hung.env.run(&["story", &id, "double", "--markdown"]).stdout;
            assert!(
                markdown.contains("Proof of work:\n\n- checked: double 4\n- found: it says 9\n"),
                "{markdown}"
            );
            let landed = hung.git(&["show", &format!("agent-loop/{}:calc.sh", hung.loop_id())]);
            assert!(landed.contains("$2 * 2"), "{landed}");
        })
        .hang_in(&mut gallery);
    let mut silent = Piece::new("prover that shows no proof of work", "passed 1").options(&[
        "--flow",
        "proof",
        "--max-retries",
        "0",
    ]);
    silent.prove = "echo looks good".to_owned();
    silent
        .implement(HONEST)
        .then(|hung| {
            let asked = hung.env.read("prompt-judge-1");
            let told = "the prover showed no proof of work: there is no JSON object in the answer";
            assert!(asked.contains(told), "{asked}");
        })
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn other_flows_go_end_to_end() {
    let mut gallery = Gallery::new("other_flows_go_end_to_end");
    Piece::new("tests first: the implementor sees them", "passed 1")
        .implement(format!("[ -f tests/double.sh ] || exit 1\n{HONEST}"))
        .options(&["--flow", "tdd", "--max-retries", "0"])
        .then(|hung| {
            assert_eq!(
                hung.starts(),
                ["write-tests 1", "implement 1", "review 1", "judge 1"]
            );
        })
        .hang_in(&mut gallery);
    Piece::new("solo: the facts are the judge", "passed 1")
        .options(&["--flow", "solo", "--max-retries", "0"])
        .then(|hung| {
            assert_eq!(hung.starts(), ["implement 1"]);
            let branch = format!("agent-loop/{}", hung.loop_id());
            let message = hung.git(&["log", "-1", "--format=%B", &branch]);
            assert!(message.contains("Verified: checks-only"), "{message}");
        })
        .hang_in(&mut gallery);
    Piece::new("solo that breaks an old test", "skipped 1")
        .implement(format!("{HONEST}\nsed -i 's/$2 + $3/$2 - $3/' calc.sh"))
        .options(&["--flow", "solo", "--max-retries", "0"])
        .hang_in(&mut gallery);
    gallery.show();
}

#[test]
fn an_agents_question_waits_for_a_person_and_the_answer_is_told() {
    let piece = Piece::new("agent that asks a question", "running 1").implement(format!(
        "grep -q blue \"$SCENE/prompt-implement-1\" || {{ echo '{{\"question\": \"Which colour?\"}}'; exit 0; }}\n{HONEST}"
    ));
    let hung = piece.show();
    let view = hung.view();
    assert_eq!(
        (&view["status"], &view["reason"]),
        (&"needs_human".into(), &"Which colour?".into()),
        "{view}"
    );
    let id = hung.loop_id();
    assert_eq!(hung.env.run(&["answer", &id, "blue"]).exit, 0);
    hung.wait_for("completed");
    assert_eq!(hung.attempts(), 1);
}

#[test]
fn i08_where_nobody_judges_checks_that_say_nothing_are_a_no() {
    // Red before and red now, and known by its exit code alone: nobody could tell whether it is the
    // story's fault.
    let scene = Scene::new(&["one"]);
    scene.configure("[loop]\nmax_retries = 0\n\n[checks]\ntest = \"exit 1\"\n");
    scene.start(&["--foreground", "--flow", "solo"]);
    let view = scene.status();
    assert_eq!(view["stories"][0]["status"], "skipped", "{view}");
    // One command that says yes is a yes.
    let scene = Scene::new(&["one"]);
    scene.configure("[checks]\ntest = \"exit 1\"\nlint = \"test -f one.txt || test -f README\"\n");
    scene.start(&["--foreground", "--flow", "solo"]);
    assert_eq!(
        scene.status()["stories"][0]["status"],
        "passed",
        "{}",
        scene.status()
    );
}

#[test]
fn i08_where_nobody_judges_and_nothing_is_checked_no_loop_starts() {
    for checks in ["[checks]\ndetect = false\n", "[checks]\nsetup = \"true\"\n"] {
        let scene = Scene::new(&["one"]);
        scene.configure(checks);
        let answer = scene.start(&["--flow", "solo"]);
        assert_eq!(answer.exit, 2, "{}", answer.whole());
        assert!(
            answer.stderr.contains("nobody would judge"),
            "{}",
            answer.whole()
        );
    }
}

#[test]
fn i08_where_nobody_judges_a_candidate_does_not_bring_its_own_check() {
    let scene = Scene::with_agents(
        &["one"],
        "cat > /dev/null\nrm README\necho 'exit 0' > bin/all\n",
        "",
    );
    scene.env.write("project/bin/all", "test -f README\n");
    scene.git(&["add", "bin/all"]);
    scene.git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "a check",
    ]);
    scene.configure("[checks]\ntest = \"sh bin/all\"\n");
    scene.start(&["--flow", "solo"]);
    let view = scene.wait_for(&["needs_human", "completed"]);
    let landed = view["stories"][0]["status"] == "passed";
    assert!(!landed, "{view}");
}

#[test]
fn i08_where_nobody_judges_a_check_that_turned_red_is_told() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nrm README\n", "");
    scene.configure(
        "[loop]\nmax_retries = 0\n\n[checks]\ntest = \"test -f README || { echo it is gone; exit 1; }\"\n",
    );
    scene.start(&["--foreground", "--flow", "solo"]);
    let view = scene.status();
    let why = view["stories"][0]["detail"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        view["stories"][0]["status"] == "skipped" && !why.contains("was red before"),
        "{view}"
    );
}

#[test]
fn i08_a_candidate_that_configures_its_own_judges_asks_a_person() {
    let scene = Scene::with_agents(
        &["one"],
        "cat > /dev/null\necho '[loop]' > loopwright.toml\n",
        JUDGE,
    );
    // The configuration is read at the start, and the project's own is not tracked here: the
    // candidate brings one.
    assert_eq!(scene.start(&[]).exit, 0);
    let view = scene.wait_for(&["needs_human", "completed"]);
    assert!(
        view["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("loopwright.toml")),
        "{view}"
    );
    let said = scene
        .env
        .run(&["status", view["loopId"].as_str().expect("a loop")])
        .stdout;
    assert!(
        said.contains("answer  approve, reject, cancel\n        loopwright answer"),
        "{said}"
    );
}
