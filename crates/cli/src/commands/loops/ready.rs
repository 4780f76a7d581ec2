//! Whether a loop that is wanted would get far: the preflight of `start`, and whether there is
//! anything to do at all.

use std::collections::BTreeSet;
use std::path::Path;

use home::{Home, Settings};
use kernel::{LoopSpec, Stage, StorySpec, StoryStart};
use serde_json::json;

use super::start_request::{Preflight, StartRequest};
use crate::commands::finding::{Finding, failure_of};
use crate::commands::preflight;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::words::counted;

/// Refuses a loop that would not get far, before anything is recorded or paid. What is merely worth
/// knowing is said.
///
/// Without a spec, which could not be made, only the configuration is looked at: whoever could not
/// make it says why.
pub(super) fn look(
    home: &Home,
    request: &StartRequest,
    spec: Option<&LoopSpec>,
    output: &mut Output,
) -> Result<(), Failure> {
    // Where there is no project or no PRD, that is what is wrong.
    let is_there = request.project.is_dir() && request.prd.exists();
    if request.preflight == Preflight::Skip || !is_there {
        return Ok(());
    }
    let Ok(config) = config::read(&request.project, &request.flags) else {
        return Ok(());
    };
    let mut findings = preflight::of_configuration(&config);
    if let Some(spec) = spec {
        let settings: Option<Settings> = serde_json::from_str(&spec.settings).ok();
        let checks = settings.map(|settings| settings.checks).unwrap_or_default();
        findings.extend(preflight::of_machine(home));
        findings.extend(preflight::of_loop(&preflight::Needs {
            config: &config,
            project: Path::new(&spec.project),
            checks: &checks,
            agents: Some(&taking_part(spec)),
        }));
    }
    if let Some(failure) = failure_of(&findings) {
        let all: Vec<_> = findings.iter().map(Finding::json).collect();
        output.result(|| json!({ "findings": all }))?;
        return Err(failure.hint("`--no-preflight` starts it all the same"));
    }
    for warning in findings.iter().filter(|finding| finding.is_warning()) {
        output.talk(&format!(
            "warning: {}: {}\n",
            warning.subject, warning.found
        ));
    }
    Ok(())
}

/// The agents that may be asked to do something in this loop.
fn taking_part(spec: &LoopSpec) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = spec.ladder.iter().map(ToString::to_string).collect();
    let open = spec.stories.iter().filter(|story| is_open(story));
    for story in open {
        let flow = spec.flow_of(story);
        for (stage, agent) in [
            (Stage::Implement, &spec.implementor),
            (Stage::WriteTests, &spec.reviewer),
            (Stage::Review, &spec.reviewer),
            (Stage::Prove, &spec.prover),
            (Stage::Judge, &spec.judge),
        ] {
            if flow.has(stage) {
                names.insert(agent.to_string());
            }
        }
        let assigned = &story.assigned;
        let own = [
            &story.tool,
            &assigned.implementor,
            &assigned.reviewer,
            &assigned.judge,
        ];
        names.extend(own.into_iter().flatten().map(ToString::to_string));
    }
    names
}

fn is_open(story: &StorySpec) -> bool {
    story.start == StoryStart::Open
}

/// Says that a PRD has nothing left to do, where it has not; a loop for it would be empty.
pub(super) fn nothing_to_do(spec: &LoopSpec, output: &mut Output) -> Result<Option<Exit>, Failure> {
    if spec.stories.iter().any(|story| is_open(story)) {
        return Ok(None);
    }
    let set_aside = spec.stories.iter();
    let set_aside: Vec<&str> = set_aside
        .filter(|story| story.start == StoryStart::SetAside)
        .map(|story| story.id.as_str())
        .collect();
    let n_passed = spec.stories.len() - set_aside.len();
    let passed = counted(n_passed, "story has passed", "stories have passed");
    output.result(|| json!({ "loopId": null, "passed": n_passed, "setAside": set_aside }))?;
    let prd = &spec.prd_path;
    if set_aside.is_empty() {
        output.data(&format!(
            "nothing to do: in {prd} {passed}; no loop was started\n"
        ))?;
        return Ok(Some(Exit::Done));
    }
    let failure = Failure {
        exit: Exit::Unfinished,
        message: format!(
            "nothing to do: in {prd} {passed}, and {} set aside: {}; no loop was started",
            counted(set_aside.len(), "story is", "stories are"),
            set_aside.join(", ")
        ),
        hints: vec![format!("open one again in {prd}: take its `skipped` away")],
    };
    output.say(&failure);
    output.bad_news(failure);
    Ok(Some(Exit::Unfinished))
}
