//! Everything that can go wrong at the other end of a real agent CLI, one by one, in a loop: what
//! it is taken for, that it costs no attempt, and that the loop completes once the trouble is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use kernel::RunOutcome;
use serde_json::json;
use testkit::{Fault, ModelServer, Step};

use crate::real_agents::{Stage, mind};
use crate::sample::{sample, sample_of};
use crate::scene::wait_until;

/// What the first run must have ended with.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Expected {
    /// The loop waits, for this reason.
    Wait(&'static str),
    /// A person is asked, with this in the question.
    Ask(&'static str),
    /// It is tried again at once.
    Again,
}

/// Nothing comes from the model any more.
const SILENCE: Expected = Expected::Wait("cannot be reached");

/// Its name, what the model's side does, and what must come of it.
pub(crate) type Case = (&'static str, Step, Expected);

fn cases() -> Vec<Case> {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let trouble = Expected::Wait("in trouble");
    vec![
        (
            "429",
            Step::fault(Fault::RateLimit),
            Expected::Wait("too many requests"),
        ),
        (
            "429 with a time",
            Step::fault(Fault::RateLimit).with_header("retry-after", "2"),
            Expected::Wait("too many requests"),
        ),
        ("500", Step::fault(Fault::ServerError), trouble),
        ("overloaded", Step::fault(Fault::Overloaded), trouble),
        (
            "overloaded in the stream",
            Step::stream_fault(Fault::Overloaded),
            trouble,
        ),
        (
            "usage limit that is over already",
            Step::fault(Fault::UsageLimit {
                resets_at_secs: now,
            }),
            Expected::Wait("allowance"),
        ),
        (
            "quota",
            Step::fault(Fault::Quota),
            Expected::Ask("nothing left to spend"),
        ),
        (
            "context overflow",
            Step::fault(Fault::ContextOverflow),
            Expected::Again,
        ),
        ("dropped stream", Step::cut(), SILENCE),
        ("hang", Step::hang(), SILENCE),
    ]
}

#[expect(
    clippy::print_stdout,
    reason = "the matrix is a table that people read"
)]
fn play(stage: &Stage, kind: &str, (name, step, expected): &Case) {
    let is_good = Arc::new(AtomicBool::new(false));
    let (seen, step) = (Arc::clone(&is_good), step.clone());
    let server = ModelServer::answering(0, move |request| {
        if seen.load(Ordering::SeqCst) {
            mind(request)
        } else {
            step.clone()
        }
    });
    // Only silence is ended by the watchdog. Everything else is told by the CLI, which is slow to start
    // on a busy machine.
    let idle = if *expected == SILENCE {
        "idle = 5\n"
    } else {
        "idle = 120\n"
    };
    stage.solo(&(stage.agent(kind, &server.url()) + idle));
    let began = Instant::now();
    assert_eq!(stage.start(&[]).exit, 0);
    let is_end = |outcome: &RunOutcome| !matches!(outcome, RunOutcome::Checked { .. });
    let first = wait_until("the first end", || {
        stage.outcomes().into_iter().find(is_end)
    });
    let took = began.elapsed();
    is_good.store(true, Ordering::SeqCst);
    match (&first, *expected) {
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
        (RunOutcome::Interrupted { .. }, Expected::Again) => {}
        _ => panic!("{kind}, {name}: {first:?}"),
    }
    stage.wait_until_status("completed");
    let story = &stage.view()["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{kind}, {name}: {story}"
    );
    println!(
        "{kind:7} {name:34} {:5.1} s, whole loop {:5.1} s: {first:?}",
        took.as_secs_f32(),
        began.elapsed().as_secs_f32()
    );
    wait_until("no process", || {
        crate::scene::processes_with(&stage.home().join("loops"))
            .is_empty()
            .then_some(())
    });
}

/// Cases that CI plays with each CLI.
const PLAYED: usize = 3;

fn matrix(kind: &str) {
    // Most of it is waiting, so two go at once.
    let cases = sample_of(&format!("trouble with {kind}"), PLAYED, &cases());
    let play_all = |cases: &[Case]| {
        for case in cases {
            play(&Stage::new(), kind, case);
        }
    };
    let (some, others) = cases.split_at(cases.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| play_all(some));
        play_all(others);
    });
}

#[test]
fn trouble_with_a_cli_costs_no_attempt() {
    for cli in sample("trouble with a CLI", &["codex", "claude", "pi"]) {
        matrix(cli);
    }
}

/// What goes wrong means the same in a jail: the CLI says it through the proxy.
#[test]
fn trouble_in_a_jail_is_taken_for_the_same() {
    for cli in sample("trouble in a jail", &["codex", "claude", "pi"]) {
        for case in sample(&format!("trouble with {cli} in a jail"), &cases()) {
            play(&Stage::jailed("bwrap"), cli, &case);
        }
    }
}
