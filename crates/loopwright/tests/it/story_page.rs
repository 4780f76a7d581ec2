//! The page of one story: what failed comes first.

use crate::flow_scene::flow_scene;

/// The stories `red` and `slow` never pass: by their own test, and by the judge.
fn pages(story: &str, arguments: &[&str]) -> String {
    let scene = flow_scene("quartet", &[story]);
    scene.env.write(
        "agents/implement.sh",
        r#"case "$LOOPWRIGHT_STORY_ID" in
  red) echo "echo $LOOPWRIGHT_ATTEMPT" > cmd/red.sh; echo 'exit 1' > cmd/add.sh ;;
  *) echo "echo \$((\$1 * 2)) # $LOOPWRIGHT_ATTEMPT" > "cmd/$LOOPWRIGHT_STORY_ID.sh" ;;
esac
"#,
    );
    scene.env.write(
        "agents/review.sh",
        r#"echo '{"summary": "seen", "criteria": [], "findings": ["the name is odd"]}'"#,
    );
    scene.env.write(
        "agents/judge.sh",
        r#"echo "{\"verdict\": \"FAIL\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"it is slow\", \"criteria\": [{\"criterion\": \"it doubles\", \"pass\": false, \"evidence\": \"after a minute\"}], \"guidance\": [\"do not sleep\"]}""#,
    );
    let ended = scene.start(&["--foreground", "--json", "--max-retries", "1"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let id = ended.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let page = scene.env.run(&[&["story", &id, story], arguments].concat());
    assert_eq!(page.exit, 0, "{}", page.whole());
    page.stdout.replace(&id, "LOOP")
}

#[test]
fn a_story_whose_tests_are_red_begins_with_them() {
    insta::assert_snapshot!(pages("red", &[]), @r"
    failed: green before and not any more: `add`; the story's own tests are red: `red`

    red: Story red
    skipped (flow quartet), NEEDS HUMAN REVIEW

    criteria that failed
      NOT MET it doubles
              tests: red

    attempt 1: rejected: green before and not any more: `add`; the story's own tests are red: `red`
    attempt 2: rejected: green before and not any more: `add`; the story's own tests are red: `red`
      These were green before the change and are not any more: add
      - add
      These new tests are not green: red
      - red

    cost: unknown for 4 runs

    `loopwright story LOOP red --all` shows what went well too
    ");
}

#[test]
fn a_story_that_the_judge_rejected_begins_with_the_criterion() {
    insta::assert_snapshot!(pages("slow", &[]), @r"
    failed: not met: it doubles (after a minute)

    slow: Story slow
    skipped (flow quartet), NEEDS HUMAN REVIEW

    criteria that failed
      NOT MET it doubles
              tests: slow
              judge: after a minute

    attempt 1: rejected: not met: it doubles (after a minute)
    attempt 2: rejected: not met: it doubles (after a minute)
      reviewer: seen
        - the name is odd
      judge: FAIL: it is slow
        do: do not sleep

    cost: unknown for 7 runs

    `loopwright story LOOP slow --all` shows what went well too
    ");
}

#[test]
fn everything_is_shown_on_demand_and_for_a_pull_request() {
    let all = pages("slow", &["--all"]);
    for expected in [
        "failed: not met: it doubles (after a minute)\n\nslow: Story slow\n",
        "new tests that are red on the base and green now: slow",
        "reviewer: seen\n    - the name is odd",
        "cost: unknown for 7 runs",
    ] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    let markdown = pages("slow", &["--markdown"]);
    for expected in [
        "Failed: not met: it doubles (after a minute)\n",
        "Reviewer: seen\n\n- the name is odd\n",
        "Cost: unknown for 7 runs.\n",
    ] {
        assert!(markdown.contains(expected), "{expected}: {markdown}");
    }
}

/// Both stories are made at the same time on the same commit, so that the one that lands second is put
/// onto the other.
#[test]
fn a_restacked_story_shows_what_proved_it_and_what_was_measured_where_it_landed() {
    let scene = flow_scene("quartet", &["one", "two"]);
    scene.env.write(
        "agents/implement.sh",
        r#"touch "$SCENE/met-$LOOPWRIGHT_STORY_ID"
while [ ! -e "$SCENE/met-one" ] || [ ! -e "$SCENE/met-two" ]; do sleep 0.05; done
echo "echo \$((\$1 * 2))" > "cmd/$LOOPWRIGHT_STORY_ID.sh"
"#,
    );
    // The prompts of two stories at once must not be mixed up.
    scene.env.write(
        "agents/any.sh",
        "PROMPT=\"$SCENE/prompt-$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_STAGE\"\ncat > \"$PROMPT\"\n. \"$SCENE/agents/$LOOPWRIGHT_STAGE.sh\"\n",
    );
    let ended = scene.start(&["--foreground", "--json", "--parallel", "2"]);
    assert_eq!(ended.exit, 0, "{}", ended.whole());
    let id = ended.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let report = |story: &str| scene.env.run(&["story", &id, story, "--json"]).json();
    let is_late = |story: &&str| report(story)["result"]["attempts"][0]["restacked"].is_object();
    let late = ["one", "two"]
        .into_iter()
        .find(is_late)
        .expect("one of them");
    let value = report(late)["result"].take();
    let attempt = &value["attempts"][0];
    let short = |value: &serde_json::Value| value.as_str().expect("a commit")[..12].to_owned();
    let made = short(&attempt["judgedSha"]);
    let landed = short(&attempt["restacked"]["commitSha"]);
    let page = scene.env.run(&["story", &id, late]).stdout;
    for expected in [
        format!("commit {landed}, judged as {made}\n"),
        format!("  checks of {made} on {}:\n", short(&attempt["baseSha"])),
        format!("new tests that are red on the base and green now: {late}\n"),
        format!(
            "  landing checks of {landed} on {}:\n",
            short(&attempt["restacked"]["baseSha"])
        ),
        format!("PASS of {made}: "),
    ] {
        assert!(page.contains(&expected), "{expected}: {page}");
    }
}
