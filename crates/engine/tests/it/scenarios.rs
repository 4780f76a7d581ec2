//! Every scenario of `scenarios/` ends as it says.

use crate::play::{Ending, Play, branch_name};
use crate::scenario::{Scenario, all};
use crate::several;

/// Plays a scenario once, calmly.
pub(crate) fn calm(scenario: &Scenario) -> (Ending, Vec<String>) {
    let play = Play::new(scenario, Vec::new());
    let points = play.out();
    play.assert_one_start_each();
    (play.ending(), points)
}

fn stories(ending: &Ending, wanted: &str) -> Vec<String> {
    let of_status = |story: &&String| story.split(' ').nth(1) == Some(wanted);
    let ids = ending.stories.iter().filter(of_status);
    ids.map(|story| story.split(' ').next().unwrap_or_default().to_owned())
        .collect()
}

/// What a scenario's ending is not as expected.
fn complaints(scenario: &Scenario) -> Vec<String> {
    let play = Play::new(scenario, Vec::new());
    play.out();
    play.assert_one_start_each();
    let ending = play.ending();
    let expect = &scenario.expect;
    let mut complaints = several::complaints(&play, expect);
    let mut compare = |what: &str, found: String, wanted: String| {
        if found != wanted {
            complaints.push(format!("{what} is {found}, expected {wanted}"));
        }
    };
    let branch = format!("refs/heads/{}", branch_name());
    let (landed, published) = (ending.refs.get(&branch), ending.published.values().next());
    // The operator is shown everything that landed, up to what is not confirmed.
    let state = kernel::State::replay(&play.records()).expect("it replays");
    let shown = if state.has_landed() && state.has_unconfirmed() {
        Some(state.confirmed().to_string())
    } else {
        landed.filter(|_| state.has_landed()).cloned()
    };
    compare(
        "the operator's branch",
        format!("{published:?}"),
        format!("{:?}", shown.as_ref()),
    );
    if let Some(status) = &expect.status {
        compare("status", ending.status.clone(), status.clone());
    }
    for (word, wanted) in [
        ("passed", expect.passed.as_ref()),
        ("skipped", Some(&expect.skipped)),
        ("blocked", Some(&expect.blocked)),
    ] {
        let Some(wanted) = wanted else { continue };
        compare(
            word,
            format!("{:?}", stories(&ending, word)),
            format!("{wanted:?}"),
        );
    }
    if let Some(asked) = expect.asked {
        compare("asked", ending.asked.to_string(), asked.to_string());
    }
    for run in expect.runs.iter().filter(|run| !ending.runs.contains(run)) {
        complaints.push(format!("{run} was not started"));
    }
    for run in expect
        .not_runs
        .iter()
        .filter(|run| ending.runs.contains(run))
    {
        complaints.push(format!("{run} was started"));
    }
    if !complaints.is_empty() {
        complaints.push(play.marks.all().join(" | "));
        complaints.push(format!("{ending:#?}"));
    }
    complaints
}

#[test]
fn scenarios_end_as_they_say() {
    let all = all();
    assert!(all.len() >= 30, "the scenarios are there: {}", all.len());
    let mut wrong = Vec::new();
    for scenario in &all {
        let complaints = std::panic::catch_unwind(|| complaints(scenario))
            .unwrap_or_else(|_| vec!["the play broke off".to_owned()]);
        if !complaints.is_empty() {
            wrong.push(format!("== {}\n{}", scenario.name, complaints.join("\n")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}
