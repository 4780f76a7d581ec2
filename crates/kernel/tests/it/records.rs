//! Records of older versions, as their JSON stands in people's journals: they are read, and lead
//! where they led.

use kernel::{
    Event, FaultCause, Flow, InterruptCause, LoopSpec, OnQuestion, Rewrite, RunOutcome, Stage,
    Stamped, State,
};

use crate::support::{Played, asked, checked, limit, spec, story, worked, written};

/// A loop that stands before the end of a run.
fn before(flow: Flow, stages: &[(Stage, RunOutcome)], stage: Stage) -> Played {
    let mut loop_spec = spec(vec![story("a", 0, &[])]);
    loop_spec.flow = flow;
    let mut played = Played::start(loop_spec);
    for (stage, outcome) in stages {
        played.end_stage(*stage, outcome.clone());
    }
    played.start_stage(None, stage);
    played
}

fn read(event: &str) -> Event {
    serde_json::from_str(event).unwrap_or_else(|why| panic!("{why}: {event}"))
}

/// The end of the run that is under way, with an outcome as old journals spell it.
fn ended(stage: &str, outcome: &str) -> Event {
    read(&format!(
        r#"{{"type": "run-ended", "outcome": {outcome},
            "run": {{"story": "a", "attempt": 1, "stage": "{stage}", "try_number": 1}}}}"#
    ))
}

fn to_check(flow: Flow) -> Played {
    let mut stages = vec![
        (Stage::Baseline, checked(true)),
        (Stage::Implement, worked()),
        (Stage::WriteTests, written()),
    ];
    match flow {
        Flow::Quartet => {}
        Flow::Tdd => stages.swap(1, 2),
        Flow::Proof | Flow::Solo | Flow::Judged | Flow::Legacy => {
            stages.truncate(2);
        }
    }
    if flow == Flow::Legacy {
        stages.remove(0);
    }
    before(flow, &stages, Stage::Check)
}

#[test]
fn a_decision_that_was_stored_with_the_facts_stands() {
    let rejected = "plan a attempt 2 with claude";
    let rewrite = "start a attempt 1 write-tests try 2";
    for (gate, flow, expected) in [
        ("green", Flow::Quartet, "start a attempt 1 review try 1"),
        ("green", Flow::Solo, "integrate a"),
        ("green", Flow::Judged, "start a attempt 1 judge try 1"),
        ("red", Flow::Quartet, rejected),
        ("red", Flow::Tdd, rejected),
        ("red", Flow::Solo, rejected),
        ("surface-mismatch", Flow::Quartet, rewrite),
        ("surface-mismatch", Flow::Tdd, rejected),
        ("surface-mismatch", Flow::Judged, rejected),
        ("nothing-proven", Flow::Quartet, rewrite),
        ("nothing-proven", Flow::Tdd, rewrite),
        ("nothing-proven", Flow::Solo, rejected),
    ] {
        let mut played = to_check(flow);
        // The stored word stands, whatever else the facts say.
        let outcome = format!(
            r#"{{"outcome": "checked", "passed": true, "report": "", "facts":
                {{"gate": "{gate}", "failing": [], "obliged": [], "feedback": "old words",
                  "for_writer": "mend them", "evidence": "{{}}"}}}}"#
        );
        played.record(ended("check", &outcome));
        assert_eq!(played.owed_words(), [expected], "{gate} in {flow:?}");
        let story = &played.state.stories()[0];
        if expected == rejected {
            assert_eq!(story.feedback, ["old words"], "{gate} in {flow:?}");
        }
        let mended = Rewrite::Repair("mend them".to_owned());
        let better = Rewrite::Better("mend them".to_owned());
        let ordered = match (expected == rewrite, gate) {
            (false, _) => None,
            (true, "surface-mismatch") => Some(mended),
            (true, _) => Some(better),
        };
        assert_eq!(story.rewrite, ordered, "{gate} in {flow:?}");
    }
}

#[test]
fn a_stored_green_with_older_tests_in_the_way_is_refused_where_nobody_judges() {
    let outcome = r#"{"outcome": "checked", "passed": true, "report": "",
        "facts": {"gate": "green", "failing": [], "obliged": ["old"]}}"#;
    let mut played = to_check(Flow::Solo);
    played.record(ended("check", outcome));
    assert_eq!(played.owed_words(), ["plan a attempt 2 with claude"]);
}

#[test]
fn checks_that_were_recorded_without_facts_lead_where_they_led() {
    for (passed, expected) in [
        (true, "start a attempt 1 judge try 1"),
        (false, "plan a attempt 2 with claude"),
    ] {
        let mut played = to_check(Flow::Legacy);
        let outcome = format!(r#"{{"outcome": "checked", "passed": {passed}, "report": "r"}}"#);
        played.record(ended("check", &outcome));
        assert_eq!(played.owed_words(), [expected], "{passed}");
    }
}

#[test]
fn an_interruption_without_a_cause_begins_the_next_try_at_once() {
    let event = ended("implement", r#"{"outcome": "interrupted", "why": "lost"}"#);
    assert!(matches!(
        &event,
        Event::RunEnded {
            outcome: RunOutcome::Interrupted {
                cause: InterruptCause::Unknown,
                ..
            },
            usage: None,
            ..
        }
    ));
    let mut played = before(Flow::Legacy, &[], Stage::Implement);
    played.record(event);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
}

#[test]
fn a_fault_without_a_cause_is_waited_for_and_no_other_agent_takes_over() {
    let event = ended(
        "implement",
        r#"{"outcome": "infrastructure", "why": "limit", "until_ms": null}"#,
    );
    assert!(matches!(
        &event,
        Event::RunEnded {
            outcome: RunOutcome::Infrastructure {
                elsewhere: false,
                cause: FaultCause::Unknown,
                ..
            },
            ..
        }
    ));
    let mut played = before(Flow::Legacy, &[], Stage::Implement);
    played.record(event);
    assert_eq!(played.owed_words(), ["wait until 60000"]);
}

#[test]
fn an_answer_without_a_story_goes_to_the_one_that_asks() {
    let event = read(r#"{"type": "answered", "choice": "retry"}"#);
    let mut played = before(Flow::Legacy, &[], Stage::Implement);
    played.end_stage(Stage::Implement, asked("log in?"));
    played.record(event);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 2"]);
}

#[test]
fn a_session_that_goes_on_is_resumed_and_keeps_its_name_in_the_journal() {
    let event = read(
        r#"{"type": "run-ended", "outcome": {"outcome": "interrupted", "why": "lost"},
            "run": {"story": "a", "attempt": 1, "stage": "implement", "try_number": 1},
            "usage": {"session": "s", "input_tokens": 10, "goes_on": true}}"#,
    );
    let text = serde_json::to_string(&event).expect("JSON");
    assert!(text.contains(r#""goes_on":true"#), "{text}");
    let mut played = before(Flow::Legacy, &[], Stage::Implement);
    played.record(event);
    let resume = played.resume(Stage::Implement).expect("a session");
    assert_eq!((resume.session.as_str(), resume.checkout_try), ("s", 1));
    assert_eq!(resume.used.input_tokens, Some(10));
}

#[test]
fn a_plan_without_flow_and_cast_is_that_of_the_first_loops() {
    let event = read(&format!(
        r#"{{"type": "story-planned", "story": "a", "attempt": 1, "implementor": "claude",
            "base": "{}"}}"#,
        "a".repeat(40)
    ));
    let mut played = Played::start(spec(vec![story("a", 0, &[])]));
    played.record(Event::LoopPrepared);
    played.record(event);
    assert_eq!(played.owed_words(), ["start a attempt 1 implement try 1"]);
    let agents = [Stage::Implement, Stage::Judge].map(|stage| played.agent(stage));
    assert_eq!(agents, [Some("claude"), Some("judge")]);
}

#[test]
fn a_start_of_the_first_version_is_read() {
    let text = format!(
        r#"{{"at_ms": 5, "event": {{"type": "loop-started", "spec": {{
            "loop_id": "L", "project": "p", "prd_path": "prd.json", "base": "{}",
            "branch": "agent-loop/L", "implementor": "codex", "judge": "judge", "ladder": [],
            "max_retries": 1, "max_iterations": null, "retry_wait_ms": 60000, "settings": "{{}}",
            "stories": [{{"id": "a", "title": "A", "description": "", "criteria": ["c"], "rank": 0,
                "depends_on": [], "tool": null, "start": "open"}}]}}}}}}"#,
        "a".repeat(40)
    );
    let first: Stamped = serde_json::from_str(&text).expect("read");
    let state = State::begin(&first).expect("a state");
    let expected = LoopSpec {
        project: "p".to_owned(),
        ladder: Vec::new(),
        max_retries: 1,
        reviewer: "".into(),
        prover: "".into(),
        settings: "{}".into(),
        stories: state.spec().stories.clone(),
        // It stops at a question, as it did when it was started.
        together: state.spec().together.clone(),
        ..spec(Vec::new())
    };
    assert_eq!(*state.spec(), expected);
    assert_eq!(state.spec().together.on_question, OnQuestion::Stop);
    assert_eq!(state.stories()[0].spec.id, "a");
    assert_eq!(state.started_at_ms(), 5);
}

/// What is the same as before is written as before, so that an older program reads it too.
#[test]
fn what_says_nothing_new_is_written_as_before() {
    for (event, expected) in [
        (
            read(r#"{"type": "answered", "choice": "retry"}"#),
            r#"{"type":"answered","choice":"retry"}"#,
        ),
        (
            ended("implement", r#"{"outcome": "interrupted", "why": "lost"}"#),
            r#"{"type":"run-ended","run":{"story":"a","attempt":1,"stage":"implement","try_number":1},"outcome":{"outcome":"interrupted","why":"lost"}}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&event).expect("JSON"), expected);
    }
    let text = serde_json::to_string(&limit(Some(5))).expect("JSON");
    assert_eq!(
        text,
        r#"{"outcome":"infrastructure","why":"limit","until_ms":5,"elsewhere":true,"cause":"usage-limit"}"#
    );
}
