//! One set of scripted agents that can play every flow: tests that prove nothing at first, tests
//! that ask for too much, a judge that says no. What an agent does follows from its story, attempt
//! and prompt alone.

use crate::scene::{Scene, TAP_RUNNER};
use crate::support::TestEnv;

/// `vague` is not done before its tests prove something and the judge has said no once; `fussy` not
/// before an arbiter has ordered other tests.
const IMPLEMENT: &str = r#"case "$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT-$FLOW" in
  vague-1-solo) echo 'exit 1' > cmd/add.sh ;;
  *) echo "echo \$((\$1 * 2)) # $LOOPWRIGHT_ATTEMPT" > "cmd/$LOOPWRIGHT_STORY_ID.sh" ;;
esac
"#;

/// Whether tests are asked for again stands in the prompt; a change that is no test is there to be
/// dropped.
const WRITE_TESTS: &str = r#"id=$LOOPWRIGHT_STORY_ID
real='[ "$(sh cmd/ID.sh 4)" = 8 ]'
echo tampered > cmd/add.sh
case "$id" in
  vague) if grep -q 'green on the project as it is now' "$PROMPT"; then test=$real; else test=true; fi ;;
  fussy) if grep -q 'nobody asked' "$PROMPT"; then test=$real; id=fussy-again; else test='[ "$(sh cmd/ID.sh 4)" = eight ]'; fi ;;
  *) test=$real ;;
esac
echo "$test" | sed "s/ID/$LOOPWRIGHT_STORY_ID/" > "tests/$id.sh"
echo "{\"summary\": \"one\", \"criteria\": [{\"criterion\": \"it doubles\", \"tests\": [\"$id\"]}]}"
"#;

const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;
const ARBITRATE: &str = r#"case "$LOOPWRIGHT_STORY_ID" in fussy) fresh=true ;; *) fresh=false ;; esac
echo "{\"fresh_tests\": $fresh, \"reason\": \"nobody asked for words\"}"
"#;
const JUDGE: &str = concat!(
    testkit::criteria_of_prompt!(r#""$PROMPT""#),
    r#"case "$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT" in vague-1) verdict=FAIL ;; *) verdict=PASS ;; esac
echo "{\"verdict\": \"$verdict\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA]}"
"#
);

/// A project with agents for every stage of the flows that have a test writer.
pub(crate) fn flow_scene(flow: &str, stories: &[&str]) -> Scene {
    let scene = Scene {
        env: TestEnv::new(),
    };
    let story = |id: &&str| {
        format!(
            r#"{{ "id": "{id}", "title": "Story {id}", "acceptance_criteria": ["it doubles"], "passes": false }}"#
        )
    };
    let stories: Vec<String> = stories.iter().map(story).collect();
    let files = [
        (
            "prd.json",
            format!("{{ \"stories\": [\n{}\n] }}\n", stories.join(",\n")),
        ),
        ("run-tests.sh", TAP_RUNNER.to_owned()),
        ("cmd/add.sh", "echo $(($1 + $2))\n".to_owned()),
        (
            "tests/add.sh",
            "[ \"$(sh cmd/add.sh 1 2)\" = 3 ]\n".to_owned(),
        ),
    ];
    for (path, text) in &files {
        scene.env.write(&format!("project/{path}"), text);
    }
    testkit::init(&scene.project(), &files.each_ref().map(|(path, _)| *path));
    for (stage, body) in [
        ("implement", IMPLEMENT),
        ("write-tests", WRITE_TESTS),
        ("review", REVIEW),
        ("arbitrate", ARBITRATE),
        ("judge", JUDGE),
    ] {
        scene.env.write(&format!("agents/{stage}.sh"), body);
    }
    let folder = scene.env.path("").display().to_string();
    scene.env.write(
        "agents/any.sh",
        "echo \"$LOOPWRIGHT_RUN_ID\" >> \"$SCENE/starts\"\nPROMPT=\"$SCENE/prompt-$LOOPWRIGHT_STAGE\"\n\
         cat > \"$PROMPT\"\n. \"$SCENE/agents/$LOOPWRIGHT_STAGE.sh\"\n",
    );
    let config = format!(
        "[agents.any]\ncommand = [\"sh\", \"{folder}agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\", FLOW = \"{flow}\" }}\n\
         [roles.implementor]\nagent = \"any\"\n[roles.judge]\nagent = \"any\"\n[roles.reviewer]\nagent = \"any\"\n\
         [checks]\ntest = \"sh run-tests.sh\"\n"
    );
    scene.env.write("project/loopwright.toml", config);
    scene
}
