//! What `real_matrix` tries with codex, claude and pi, for opencode and gemini. They take seconds
//! of a processor for every start, so one loop meets one trouble after the other here, and passes
//! in the end. What takes minutes is for the soak (`LOOPWRIGHT_SOAK=1`).
//!
//! opencode asks five times more by itself and no setting keeps it from that, but it heeds how long
//! a server tells it to wait; gemini is told in its settings to ask once.

use std::time::{Instant, SystemTime};

use kernel::{Event, RunOutcome, Stage as Part};
use serde_json::{Value, json};
use testkit::{Fault, ModelServer, Step};

use crate::real_agents::{Stage, mind, n_ended};
use crate::real_answers::outlast;
use crate::real_matrix::{Case, Expected};
use crate::sample::{is_soak, sample, thrifty_sample};
use crate::scene::{processes_with, wait_until};

const TROUBLE: Expected = Expected::Wait("in trouble");
const NETWORK: Expected = Expected::Wait("cannot be reached");
const LIMIT: Expected = Expected::Wait("too many requests");
const LOG_IN: Expected = Expected::Ask("is not logged in");
const BILLING: Expected = Expected::Ask("nothing left to spend");

/// A failure after which opencode asks again at once.
fn hasty(fault: Fault) -> Step {
    Step::fault(fault).with_header("retry-after-ms", "50")
}

fn now_secs() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs()
}

/// One loop through all of these troubles; none costs the attempt.
fn meet(kind: &str, limits: &str, cases: Vec<Case>) {
    let stage = Stage::new();
    let (home, steps) = (
        stage.home(),
        cases
            .iter()
            .map(|(_, step, _)| step.clone())
            .collect::<Vec<_>>(),
    );
    let server = ModelServer::answering(0, move |request| {
        steps
            .get(n_ended(&home, Part::Implement))
            .cloned()
            .unwrap_or_else(|| mind(request))
    });
    stage.solo(&(stage.agent(kind, &server.url()) + limits));
    let mut began = Instant::now();
    assert_eq!(stage.start(&[]).exit, 0);
    for (index, (name, _, expected)) in cases.into_iter().enumerate() {
        wait_until(name, || {
            (n_ended(&stage.home(), Part::Implement) > index).then_some(())
        });
        tell(&stage, kind, name, index, began.elapsed().as_secs_f32());
        see(&stage, kind, name, &ends(&stage)[index], expected);
        began = Instant::now();
    }
    stage.wait_until_status("completed");
    let story = &stage.view()["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{kind}: {story}"
    );
    wait_until("no process", || {
        processes_with(&stage.home().join("loops"))
            .is_empty()
            .then_some(())
    });
}

/// How the implementor's runs ended.
fn ends(stage: &Stage) -> Vec<RunOutcome> {
    let journal = journal::Journal::open(&stage.home()).expect("a journal");
    let records = home::load(&journal, &stage.loop_id())
        .expect("a loop")
        .records;
    let ends = records.into_iter().filter_map(|record| match record.event {
        Event::RunEnded { run, outcome, .. } if run.stage == Part::Implement => Some(outcome),
        _ => None,
    });
    ends.collect()
}

fn see(stage: &Stage, kind: &str, name: &str, end: &RunOutcome, expected: Expected) {
    match (end, expected) {
        (RunOutcome::Infrastructure { why, .. }, Expected::Wait(words)) if why.contains(words) => {}
        (RunOutcome::NeedsHuman { question, .. }, Expected::Ask(words))
            if question.contains(words) =>
        {
            stage.wait_until_status("needs_human");
            assert_eq!(
                stage.env.run(&["answer", &stage.loop_id(), "retry"]).exit,
                0
            );
        }
        (RunOutcome::Interrupted { why, .. }, Expected::Again) if why.contains("outgrew") => {}
        _ => panic!("{kind}, {name}: {end:?}"),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the matrix is a table that people read"
)]
fn tell(stage: &Stage, kind: &str, name: &str, index: usize, secs: f32) {
    let run = format!("runs/0001-1-implement-{}/exit.json", index + 1);
    let text = std::fs::read_to_string(stage.home().join("loops").join(stage.loop_id()).join(run));
    let exit: Value = serde_json::from_str(&text.expect("a run")).expect("an end");
    println!(
        "{kind:8} {name:34} {secs:5.1} s, exit code {}: {:?}",
        exit["exit_code"],
        ends(stage)[index]
    );
}

fn opencode_meets_trouble() {
    let cases = [
        ("401", Step::fault(Fault::Unauthorized), LOG_IN),
        ("429", hasty(Fault::RateLimit), LIMIT),
        ("quota", hasty(Fault::Quota), BILLING),
        (
            "429 with a time",
            Step::fault(Fault::RateLimit).with_header("retry-after", "2"),
            LIMIT,
        ),
        ("500", hasty(Fault::ServerError), TROUBLE),
        ("overloaded", hasty(Fault::Overloaded), TROUBLE),
        (
            "usage limit that is over already",
            hasty(Fault::UsageLimit {
                resets_at_secs: now_secs(),
            }),
            Expected::Wait("allowance"),
        ),
    ];
    meet("opencode", "", sample("trouble with opencode", &cases));
    if is_soak() {
        opencode_hangs_and_goes_round();
    }
}

/// A request that stays too long keeps it busy until its time is over, which takes minutes.
fn opencode_hangs_and_goes_round() {
    meet(
        "opencode",
        "timeout = 60\nidle = 30\n",
        vec![
            (
                "context overflow",
                Step::fault(Fault::ContextOverflow),
                Expected::Again,
            ),
            ("hang", Step::hang(), NETWORK),
            ("dropped stream", Step::cut(), NETWORK),
            (
                "overloaded in the stream",
                Step::stream_fault(Fault::Overloaded),
                TROUBLE,
            ),
        ],
    );
    // It tells of a tool when it has ended: in silence nobody knows whom it waits for, so the
    // server is blamed. Its own limit for tools is far below ours.
    outlast("opencode", "timeout = 60\n");
}

fn gemini_meets_trouble() {
    let cases = [
        (
            "context overflow",
            Step::fault(Fault::ContextOverflow),
            Expected::Again,
        ),
        ("429", Step::fault(Fault::RateLimit), LIMIT),
        ("500", Step::fault(Fault::ServerError), TROUBLE),
        ("401", Step::fault(Fault::Unauthorized), LOG_IN),
        (
            "429 with a time",
            Step::fault(Fault::RateLimit).with_header("retry-after", "2"),
            LIMIT,
        ),
        ("quota", Step::fault(Fault::Quota), BILLING),
        ("overloaded", Step::fault(Fault::Overloaded), TROUBLE),
        ("dropped stream", Step::cut(), NETWORK),
    ];
    meet("gemini", "", sample("trouble with gemini", &cases));
    if is_soak() {
        gemini_hangs();
    }
}

/// Waits that take minutes.
fn gemini_hangs() {
    let limit = Step::fault(Fault::UsageLimit {
        resets_at_secs: now_secs() + 90,
    });
    meet(
        "gemini",
        "idle = 15\n",
        vec![
            ("hang", Step::hang(), NETWORK),
            // It does not tell what the stream said, only that it ended.
            (
                "overloaded in the stream",
                Step::stream_fault(Fault::Overloaded),
                NETWORK,
            ),
            ("usage limit", limit, Expected::Wait("allowance")),
        ],
    );
    outlast("gemini", "timeout = 40\n");
    outlast("gemini", "idle = 25\n");
}

#[test]
fn opencode_or_gemini_meets_trouble() {
    let all: [(&str, fn()); 2] = [
        ("opencode", opencode_meets_trouble),
        ("gemini", gemini_meets_trouble),
    ];
    let is_cheap = |(kind, _): &(&str, fn())| *kind == "gemini";
    for (_, meet) in thrifty_sample("other CLIs in trouble", &all, is_cheap) {
        meet();
    }
}
