//! Answers of real agent CLIs that are no answers, tools that are forbidden to them, and runs that
//! take too long.

use std::path::Path;

use journal::Journal;
use kernel::{Event, RunOutcome, Stage as Part};
use serde_json::json;
use testkit::{ModelServer, Request, Step};

use crate::real_agents::{QUICK, RIGHT, Stage, answer, mind, n_ended};
use crate::sample::{is_soak, sample, sample_of};
use crate::scene::{processes_with, wait_until};

/// What a model says instead of what it was asked for; claude's own tool for answers takes the last
/// of them.
fn misfit(request: &Request, number: usize) -> Step {
    match number {
        0 => Step::text("All criteria are met, I looked at everything. PASS"),
        1 => Step::text(json!({"verdict": "PASS", "reason": "no commit is named"}).to_string()),
        _ => answer(
            request,
            &json!({"verdict": "PASS", "commit": "c0ffee", "reason": "another commit",
            "summary": 7, "criteria": 7, "findings": 7, "guidance": [], "obliged": []}),
        ),
    }
}

/// Plays all roles well, but a stage's first answers do not fit.
fn misfitting(
    home: &Path,
    stage: Part,
    n_misfits: usize,
) -> impl Fn(&Request) -> Step + Send + Sync + use<> {
    let home = home.to_owned();
    move |request| {
        let text = request.text();
        let is_implementor =
            text.contains("You are the implementor.") && request.n_tool_results() == 0;
        let is_meant = text.contains(&format!(
            "You are the {}.",
            if stage == Part::Judge {
                "judge"
            } else {
                "reviewer"
            }
        ));
        match n_ended(&home, stage) {
            number if is_meant && number < n_misfits => misfit(request, number),
            // Once rejected, the same files would not be judged again.
            _ if is_implementor
                && (stage != Part::Judge || n_ended(&home, Part::Implement) > 0) =>
            {
                Step::shell(RIGHT)
            }
            _ => mind(request),
        }
    }
}

#[test]
fn a_judge_that_gives_no_verdict_twice_said_no() {
    for kind in sample("no verdict", &QUICK) {
        let stage = Stage::new();
        let server = ModelServer::answering(0, misfitting(&stage.home(), Part::Judge, 3));
        stage.judged(kind, &stage.agent(kind, &server.url()));
        let started = stage.start(&["--foreground", "--json"]);
        let view = stage.view();
        assert_eq!(
            view["status"],
            "completed",
            "{kind}: {view}\n{}",
            started.whole()
        );
        // Twice no verdict is a no; once more is asked again and costs nothing.
        assert_eq!(view["stories"][0]["attempts"], 2, "{kind}: {view}");
        let of_judge = |outcome: &RunOutcome| {
            matches!(
                outcome,
                RunOutcome::BadAnswer { .. } | RunOutcome::Failed { .. } | RunOutcome::Judged(_)
            )
        };
        let ends: Vec<RunOutcome> = stage.outcomes().into_iter().filter(of_judge).collect();
        assert_eq!(ends.len(), 4, "{kind}: {ends:?}");
        assert!(
            matches!(&ends[3], RunOutcome::Judged(verdict) if verdict.pass),
            "{kind}: {ends:?}"
        );
        assert!(
            !ends[..3]
                .iter()
                .any(|end| matches!(end, RunOutcome::Judged(_))),
            "{kind}: {ends:?}"
        );
        let report = stage.env.run(&["story", &stage.loop_id(), "double"]).stdout;
        assert!(
            report.contains("the judge gave no usable verdict"),
            "{kind}: {report}"
        );
        stage.assert_nothing_left();
    }
}

#[test]
fn a_reviewer_that_gives_no_review_is_asked_again() {
    for kind in sample("no review", &QUICK) {
        let stage = Stage::new();
        let server = ModelServer::answering(0, misfitting(&stage.home(), Part::Review, 1));
        stage.cast(kind, kind, kind, &[stage.agent(kind, &server.url())], "");
        let started = stage.start(&["--foreground", "--json"]);
        let view = stage.view();
        assert_eq!(
            view["status"],
            "completed",
            "{kind}: {view}\n{}",
            started.whole()
        );
        assert_eq!(view["stories"][0]["attempts"], 1, "{kind}: {view}");
        assert_eq!(
            n_ended(&stage.home(), Part::Review),
            2,
            "{kind}: {:?}",
            stage.outcomes()
        );
    }
}

/// A rule in claude's own settings forbids a tool even where nothing needs to be allowed: it says
/// so and finishes well. Neither of the others can be forbidden anything: codex heeds no sandbox
/// beside the flag by which we run it, and pi has no permissions at all.
#[test]
fn a_tool_that_is_forbidden_to_claude_asks_a_person() {
    let stage = Stage::new();
    let server = ModelServer::answering(0, mind);
    stage.env.write(
        "claude.json",
        json!({"permissions": {"deny": ["Bash(sed:*)"]}}).to_string(),
    );
    let files = format!(
        "files = {{ \"settings.json\" = \"{}\" }}\n",
        stage.env.path("claude.json").display()
    );
    stage.solo(&(stage.agent("claude", &server.url()) + &files));
    assert_eq!(stage.start(&[]).exit, 0);
    let view = stage.wait_for("needs_human");
    let reason = view["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("forbidden") && reason.contains("Bash"),
        "{view}"
    );
    stage.env.write("claude.json", "{}");
    assert_eq!(
        stage.env.run(&["answer", &stage.loop_id(), "retry"]).exit,
        0
    );
    let view = stage.wait_for("completed");
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{view}"
    );
}

fn is_late(end: &RunOutcome) -> bool {
    matches!(end, RunOutcome::Failed { why } if why.contains("ran out of time"))
}

/// Whether a run of the one loop that is there cost an attempt, because its time was over.
fn has_run_out_of_time(home: &Path) -> bool {
    let journal = Journal::open(home).expect("a journal");
    let loops = journal.loops().expect("a journal");
    let Some(first) = loops.first() else {
        return false;
    };
    let records = home::load(&journal, &first.loop_id)
        .expect("a loop")
        .records;
    records
        .iter()
        .any(|record| matches!(&record.event, Event::RunEnded { outcome, .. } if is_late(outcome)))
}

/// A tool that never ends is the agent's own doing: the attempt failed, whichever limit it was, and
/// the next one passes.
pub(crate) fn outlast(kind: &str, limit: &str) {
    let stage = Stage::new();
    let tool = "python3 -c 'import time; open(\"sleeping\", \"w\"); time.sleep(250)'";
    let home = stage.home();
    let server = ModelServer::answering(0, move |request| {
        // A run that was too slow to begin, on a busy machine, is tried again and is not meant.
        if has_run_out_of_time(&home) {
            mind(request)
        } else {
            Step::shell(tool)
        }
    });
    stage.solo(&(stage.agent(kind, &server.url()) + limit));
    assert_eq!(stage.start(&[]).exit, 0);
    let view = stage.wait_for("completed");
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(2)),
        "{kind}, {limit}: {view}"
    );
    let ends = stage.outcomes();
    assert_eq!(
        ends.iter().filter(|end| is_late(end)).count(),
        1,
        "{kind}, {limit}: {ends:?}"
    );
    wait_until("no process", || {
        processes_with(&stage.home().join("loops"))
            .is_empty()
            .then_some(())
    });
}

#[test]
fn a_tool_that_never_ends_costs_the_attempt() {
    // The soak plays all of them at once, beside others: a run that does end needs more time then.
    // Silence stays short, since codex asks its model again after ten seconds of a tool.
    let timeout = if is_soak() {
        "timeout = 40\n"
    } else {
        "timeout = 12\n"
    };
    let each = |kind| [(kind, timeout), (kind, "idle = 8\n")];
    let cases = QUICK.map(each).concat();
    // Most of it is waiting, so all go at once.
    std::thread::scope(|scope| {
        for (kind, limit) in sample_of("a tool that never ends", 2, &cases) {
            scope.spawn(move || outlast(kind, limit));
        }
    });
}
