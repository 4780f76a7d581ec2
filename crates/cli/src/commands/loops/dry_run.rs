//! `loopwright start --dry-run`: what would be started, and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use home::Settings;
use kernel::{LoopSpec, Stage, StorySpec, StoryStart};

use crate::commands::jail;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::words::counted;

/// The columns of a story's id; a longer one moves its own title only.
const ID_COLUMNS_MAX: usize = 24;

pub(super) fn show(
    spec: &LoopSpec,
    remarks: &[String],
    output: &mut Output,
) -> Result<Exit, Failure> {
    for remark in remarks {
        output.talk(&format!("note: {remark}\n"));
    }
    let settings: Option<Settings> = serde_json::from_str(&spec.settings).ok();
    output.data(&page(spec, settings.as_ref()))?;
    output.talk("nothing was started; the same without `--dry-run` starts it\n");
    let order: Vec<&str> = run_order(spec)
        .iter()
        .map(|story| story.id.as_str())
        .collect();
    output.result(|| serde_json::json!({ "spec": views::public_form(serde_json::json!(spec)), "remarks": remarks, "runOrder": order }))?;
    Ok(Exit::Done)
}

fn page(spec: &LoopSpec, settings: Option<&Settings>) -> String {
    let order = run_order(spec);
    let n_stories = counted(order.len(), "story", "stories");
    let mut out = format!("a loop would do {n_stories}, in this order:\n");
    let numbers = order.len().to_string().len();
    let ids = order.iter().map(|story| story.id.as_str().chars().count());
    let ids = ids.max().unwrap_or(0).min(ID_COLUMNS_MAX);
    // Writing to a String cannot fail.
    for (number, story) in (1..).zip(order) {
        let implementor = spec.implementor_for(story, 1);
        let by = if *implementor == spec.implementor {
            String::new()
        } else {
            format!("  (by {implementor})")
        };
        let id = story.id.as_str();
        let _ = writeln!(out, "  {number:>numbers$}. {id:<ids$}  {}{by}", story.title);
    }
    let from = &spec.base.as_str()[..12];
    // Every loop has an id of its own, and this one will never be.
    let branch = spec.branch.replace(&spec.loop_id, "ID");
    let _ = writeln!(out, "from {from}, onto a new branch {branch}");
    let _ = writeln!(
        out,
        "flow {}, {}; at most {} at each story",
        spec.flow.word(),
        cast(spec),
        counted(spec.attempts_max() as usize, "attempt", "attempts")
    );
    for check in settings
        .map(|settings| &settings.checks[..])
        .unwrap_or_default()
    {
        let _ = writeln!(out, "{}: {}", check.name, check.command);
    }
    let _ = writeln!(out, "limits: {}", limits(spec, settings));
    let kind = settings
        .and_then(|settings| settings.jail())
        .map_or("host", |jail| jail.kind.word());
    let _ = writeln!(out, "agents and checks {}", jail::words(kind));
    out
}

/// Who does what, as far as the flow has work for them.
fn cast(spec: &LoopSpec) -> String {
    let has = |stages: &[Stage]| stages.iter().any(|stage| spec.flow.has(*stage));
    let parts = [
        ("implementor", &spec.implementor, true),
        (
            "reviewer",
            &spec.reviewer,
            has(&[Stage::WriteTests, Stage::Review]),
        ),
        ("prover", &spec.prover, has(&[Stage::Prove])),
        ("judge", &spec.judge, has(&[Stage::Judge])),
    ];
    let parts = parts.into_iter().filter(|(.., is_there)| *is_there);
    let parts: Vec<String> = parts
        .map(|(role, agent, _)| format!("{role} {agent}"))
        .collect();
    parts.join(", ")
}

fn limits(spec: &LoopSpec, settings: Option<&Settings>) -> String {
    let mut limits = Vec::new();
    if let Some(max) = spec.max_iterations {
        limits.push(counted(max as usize, "story", "stories"));
    }
    if let Some(budget) = spec.budget {
        limits.push(format!("{} minutes of runs", budget.total_ms / 60_000));
    }
    let allowance = spec.allowance.as_ref();
    if let Some(tokens) = allowance.and_then(|allowance| allowance.tokens) {
        limits.push(format!("{tokens} tokens"));
    }
    if let Some(micro) = allowance.and_then(|allowance| allowance.micro_usd) {
        limits.push(format!(
            "${}.{:02}",
            micro / 1_000_000,
            micro / 10_000 % 100
        ));
    }
    if let Some(settings) = settings {
        let secs = settings.check_timeout_secs;
        limits.push(format!("{secs} s for each check command"));
    }
    limits.join(", ")
}

/// The open stories as they would run if each passed: what is ready, lowest rank first.
fn run_order(spec: &LoopSpec) -> Vec<&Arc<StorySpec>> {
    let is_open = |story: &&Arc<StorySpec>| story.start == StoryStart::Open;
    let is_passed = |story: &&Arc<StorySpec>| story.start == StoryStart::Passed;
    let mut done: BTreeSet<&str> = spec
        .stories
        .iter()
        .filter(is_passed)
        .map(|story| story.id.as_str())
        .collect();
    let mut left: Vec<&Arc<StorySpec>> = spec.stories.iter().filter(is_open).collect();
    let mut order = Vec::new();
    loop {
        let is_ready = |story: &Arc<StorySpec>| {
            let mut needs = story.depends_on.iter();
            needs.all(|needed| done.contains(needed.as_str()))
        };
        let next = (0..left.len())
            .filter(|index| is_ready(left[*index]))
            .min_by_key(|index| left[*index].rank);
        let Some(next) = next else {
            // What can never be ready comes last: somebody should see it.
            order.append(&mut left);
            return order;
        };
        let story = left.remove(next);
        done.insert(story.id.as_str());
        order.push(story);
    }
}
