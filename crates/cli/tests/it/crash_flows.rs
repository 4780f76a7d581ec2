//! The power fails in every flow, and each ends as if it had not.
//!
//! One set of scripted agents plays all flows: tests that prove nothing at first, tests that ask
//! for too much, a judge that says no, a story that is skipped and passes when it is looked at
//! again. What an agent does follows from its story, attempt and prompt alone. CI cuts the power
//! often in a few plays, the soak (`LOOPWRIGHT_SOAK=1`) once at every single moment;
//! `LOOPWRIGHT_CRASH_SEED` chooses the moments.

use kernel::Event;
use testkit::{Random, number};

use crate::crash::{Ending, ending, play_out, prepared_with, records};
use crate::scene::{Scene, TAP_RUNNER};
use crate::support::TestEnv;

/// `lazy` is never done by its own implementor, and `helper` does it on the way.
const IMPLEMENT: &str = r#"case "$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT-$FLOW" in
  lazy-*-solo) ;;
  lazy-1-*) echo later > NOTES ;;
  lazy-*) ;;
  vague-1-solo) echo 'exit 1' > cmd/add.sh ;;
  helper-*) echo 'echo $(($1 * 2))' | tee cmd/helper.sh > cmd/lazy.sh ;;
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
const PROVE: &str = r#"echo proven > "proof-$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT""#;
const ARBITRATE: &str = r#"case "$LOOPWRIGHT_STORY_ID" in fussy) fresh=true ;; *) fresh=false ;; esac
echo "{\"fresh_tests\": $fresh, \"reason\": \"nobody asked for words\"}"
"#;
const JUDGE: &str = r#"case "$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT" in vague-1|lazy-[12]) verdict=FAIL ;; *) verdict=PASS ;; esac
echo "{\"verdict\": \"$verdict\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\"}"
"#;

/// Everything that must be the same, with what the journal alone knows.
#[derive(Debug, PartialEq)]
struct FlowEnding {
    public: Ending,
    deeds: Vec<String>,
    runs: Vec<String>,
}

/// A project with agents for every stage of every flow.
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
        ("prove", PROVE),
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
         [roles.prover]\nagent = \"any\"\n[checks]\ntest = \"sh run-tests.sh\"\n"
    );
    scene.env.write("project/loopwright.toml", config);
    scene
}

fn play(
    flow: &str,
    stories: &[&str],
    fails: impl Fn(usize, engine::Moment) -> bool + Clone + 'static,
) -> (FlowEnding, usize) {
    let scene = flow_scene(flow, stories);
    let loop_id = prepared_with(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA", &["--flow", flow]);
    let n_moments = play_out(&scene, &loop_id, fails);
    let records = records(&scene, &loop_id);
    let deed = |event: &Event| match event {
        Event::TestsMade { .. }
        | Event::TestsRefused { .. }
        | Event::CandidateMade { .. }
        | Event::NothingNew { .. }
        | Event::RecheckPlanned { .. } => Some(format!("{event:?}")),
        _ => None,
    };
    // Which of two lanes is recorded first is chance.
    let mut runs: Vec<String> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::RunStarted { run } => Some(format!(
                "{} {} {}-{}",
                run.story,
                run.attempt,
                run.stage.word(),
                run.try_number
            )),
            _ => None,
        })
        .collect();
    runs.sort();
    let deeds = records
        .iter()
        .filter_map(|record| deed(&record.event))
        .collect();
    (
        FlowEnding {
            public: ending(&scene, &loop_id),
            deeds,
            runs,
        },
        n_moments,
    )
}

fn holds_in(flow: &'static str, stories: &'static [&'static str], summary: &str, rounds: &[&str]) {
    let (calm, n_moments) = play(flow, stories, |_, _| false);
    let last = calm.public.events.last().cloned().unwrap_or_default();
    assert!(last.contains(summary), "{flow}: {:#?}", calm.public.events);
    for run in rounds {
        assert!(
            calm.runs.iter().any(|seen| seen == run),
            "{flow}: {run} is among {:#?}",
            calm.runs
        );
    }
    if std::env::var_os("LOOPWRIGHT_SOAK").is_some() {
        for moment in 1..=n_moments {
            let (crashed, _) = play(flow, stories, move |count, _| count == moment);
            assert_eq!(
                crashed, calm,
                "{flow}: the power failed at moment {moment} of {n_moments}"
            );
        }
        return;
    }
    // A moment that was cut off comes again in the next life, so the count runs on and hits others
    // each time.
    let seed = number("LOOPWRIGHT_CRASH_SEED", 5);
    let mut random = Random::new(seed);
    let (every, offset) = (3 + random.below(3), random.below(3));
    let (crashed, _) = play(flow, stories, move |count, _| count % every == offset);
    let when =
        format!("{flow}: the power failed at every {every}th moment from {offset}, seed {seed}");
    assert_eq!(crashed.deeds, calm.deeds, "{when}");
    assert_eq!(crashed.runs, calm.runs, "{when}");
    assert_eq!(crashed.public, calm.public, "{when}");
}

const ALL: &[&str] = &["vague", "fussy", "lazy", "helper"];
const WITH_WRITER: &[&str] = &[
    "vague 1 write-tests-2",
    "vague 2 judge-1",
    "fussy 2 arbitrate-1",
    "fussy 2 write-tests-1",
    "lazy 2 implement-1",
    "lazy 3 judge-1",
];

#[test]
fn i04_quartet_survives_crashes() {
    holds_in("quartet", ALL, "4 passed, 0 skipped", WITH_WRITER);
}

#[test]
fn i04_tdd_survives_crashes() {
    holds_in("tdd", ALL, "4 passed, 0 skipped", WITH_WRITER);
}

#[test]
fn i04_proof_survives_crashes() {
    holds_in(
        "proof",
        &["lazy", "vague"],
        "2 passed, 0 skipped",
        &["vague 2 prove-1", "lazy 3 judge-1"],
    );
}

#[test]
fn i04_solo_survives_crashes() {
    holds_in(
        "solo",
        &["vague", "lazy"],
        "1 passed, 1 skipped",
        &["vague 2 check-1", "lazy 2 implement-1"],
    );
}
