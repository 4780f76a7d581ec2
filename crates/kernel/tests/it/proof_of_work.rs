//! What provers and judges say reaches those who come after them, whole.

use kernel::{CriterionVerdict, Event, Flow, Proof, RunOutcome, Stage};

use crate::support::{Played, bad_answer, checked, green, spec, story, strings, worked};

fn proof() -> Proof {
    Proof {
        checked: strings(&["it works with nothing"]),
        found: strings(&["it fell over"]),
        mended: strings(&["nothing is taken for none"]),
        see: strings(&["sh run.sh"]),
    }
}

fn proving() -> Played {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = Flow::Proof;
    let mut played = Played::start(loop_spec);
    played.record(Event::LoopPrepared);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played
}

#[test]
fn the_judge_is_told_the_provers_proof_of_work() {
    let mut played = proving();
    played.end_stage(
        Stage::Prove,
        RunOutcome::Worked {
            learned: Vec::new(),
            proof: Some(Box::new(proof())),
        },
    );
    // What the prover left becomes a candidate of its own, and the proof goes with it.
    played.end_stage(Stage::Check, green());
    let order = played.run_order(Stage::Judge);
    assert_eq!(order.told.proof.as_deref(), Some(&proof()));
}

#[test]
fn a_prover_of_an_older_journal_shows_nothing() {
    let mut played = proving();
    played.end_stage(Stage::Prove, worked());
    played.end_stage(Stage::Check, green());
    assert_eq!(played.run_order(Stage::Judge).told.proof, None);
}

#[test]
fn a_prover_that_shows_nothing_is_asked_once_more_and_rejects_nobody() {
    let mut played = proving();
    played.end_stage(Stage::Prove, bad_answer("prose"));
    played.end_stage(Stage::Prove, bad_answer("prose"));
    played.end_stage(Stage::Check, green());
    let told = played.run_order(Stage::Judge).told;
    assert_eq!(told.proof, None);
    assert_eq!(told.notes, ["the prover showed no proof of work: prose"]);
}

#[test]
fn the_last_judgment_reaches_the_next_implementor_whole() {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = Flow::Judged;
    let mut played = Played::start(loop_spec);
    played.record(Event::LoopPrepared);
    played.end_stage(Stage::Baseline, checked(true));
    played.end_stage(Stage::Implement, worked());
    played.end_stage(Stage::Check, green());
    let mut verdict = played.verdict(false);
    verdict.reason = "half of it".to_owned();
    let said = |criterion: &str, pass: bool, evidence: &str| CriterionVerdict {
        criterion: criterion.to_owned(),
        pass,
        evidence: evidence.to_owned(),
    };
    verdict.criteria = vec![
        said("it adds", true, "add 1 2 is 3"),
        said("it subtracts", false, "no such word"),
    ];
    verdict.guidance = strings(&["add the word"]);
    played.end_stage(Stage::Judge, RunOutcome::Judged(verdict));
    assert_eq!(
        played.run_order(Stage::Implement).told.feedback,
        [
            "half of it\nnot met: it subtracts (no such word)\nmet: it adds (add 1 2 is 3)\ndo: add the word"
        ]
    );
}
