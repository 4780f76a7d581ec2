//! `loopwright start`

use std::path::{Path, PathBuf};

use home::{Home, Settings};
use journal::Journal;
use kernel::{Commit, FirstStory, LoopSpec, OnQuestion, Rejudge, StoryStart, TimeBudget, Together};
use prd::Prd;

use super::allowance::{allowance, tell_of_stories};
use super::casting::{Casting, cast, check_flow};
use super::graph_claims::Others;
use super::lookup::open;
use super::loop_settings::{Places, settings, text};
use super::promised;
use super::publishing::{loop_of_branch, make_branch_again};
use super::start_request::{StartMode, StartRequest};
use super::stories::{assign, stories};
use super::{
    dry_run, found_checks, graph_claims, keys, look, passed, ready, same_prd, serve, watching,
};
use crate::args::StartArgs;
use crate::commands::preflight;
use crate::config::{self, Config};
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{NextAction, Output};
use crate::words::counted;

/// A loop that could be started, and what a person should know before.
struct Plan {
    spec: LoopSpec,
    remarks: Vec<String>,
    others: Others,
}

pub(super) fn run(
    home: &Home,
    arguments: &StartArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("start");
    carry_out(home, &StartRequest::typed(arguments)?, output)
}

/// Starts what is wanted.
pub(super) fn carry_out(
    home: &Home,
    request: &StartRequest,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut interrupt = Interrupt::watch_if(request.mode == StartMode::Foreground)?;
    same_prd::refuse_at_once(home, request, output)?;
    let planned = plan(home, request, output);
    if planned.is_err() {
        ready::look(home, request, None, output)?;
    }
    let Some(Plan {
        spec,
        mut remarks,
        others,
    }) = planned?
    else {
        return Ok(Exit::BadInput);
    };
    let journal = open(home)?;
    // Once more before the claims, which would only say that somebody has the tasks.
    same_prd::refuse_at_once(home, request, output)?;
    others.refuse_if_nothing_is_left(&spec)?;
    if let Some(exit) = ready::nothing_to_do(&spec, output)? {
        return Ok(exit);
    }
    ready::look(home, request, Some(&spec), output)?;
    if request.mode == StartMode::Dry {
        return dry_run::show(&spec, &remarks, output);
    }
    let (loop_id, branch, base) = (spec.loop_id.clone(), spec.branch.clone(), spec.base.clone());
    let open_stories = spec
        .stories
        .iter()
        .filter(|story| story.start == StoryStart::Open)
        .count();
    Interrupt::before_a_loop(interrupt.as_mut())?;
    keys::keep(home, &spec)?;
    remarks.extend(record(home, request, &journal, spec, others, output)?);
    for remark in remarks {
        output.talk(&format!("note: {remark}\n"));
    }
    output.data(&format!(
        "loop {loop_id}: {} to do, from {}, onto a new branch {branch}\n",
        counted(open_stories, "story", "stories"),
        &base.as_str()[..12]
    ))?;
    name_verbs(&loop_id, output);
    if let Some(interrupt) = &interrupt {
        output.talk(&format!(
            "Ctrl-C leaves the loop running; `loopwright cancel {loop_id}` ends it\n"
        ));
        serve::worker_for_new_loop(home)?;
        return watching::follow(home, &loop_id, interrupt, output);
    }
    serve::worker_for_new_loop(home)?;
    output.talk(&format!(
        "it goes on without this terminal; `loopwright watch {loop_id}` follows it\n"
    ));
    look::result_of(home, &journal, &loop_id, output)?;
    Ok(Exit::Done)
}

/// Records a loop with its claims; says what is left out because somebody took it meanwhile.
fn record(
    home: &Home,
    request: &StartRequest,
    journal: &Journal,
    spec: LoopSpec,
    others: Others,
    output: &mut Output,
) -> Result<Vec<String>, Failure> {
    let (loops, loop_id) = (request.other_loops(), spec.loop_id.clone());
    let recorded = graph_claims::record_with_claims(home, spec, others, loops, |spec| {
        if request.again {
            same_prd::record(journal, spec)
        } else {
            same_prd::record_only_one(home, journal, spec, output)
        }
    });
    if recorded.is_err() {
        keys::forget_if_unknown(home, journal, &loop_id);
    }
    recorded
}

/// What a person may want to do with a loop that has begun.
fn name_verbs(loop_id: &str, output: &mut Output) {
    for (verb, why) in [
        ("watch", "follow it"),
        ("status", "see where it stands"),
        ("cancel", "end it"),
    ] {
        output.next(NextAction::new(format!("loopwright {verb} {loop_id}"), why));
    }
}

/// Works out what would be started; nothing when the PRD is not fit, which has been said.
fn plan(home: &Home, request: &StartRequest, output: &mut Output) -> Result<Option<Plan>, Failure> {
    let project = absolute(&request.project)?;
    let prd_path = absolute(&request.prd)?;
    let config = config::read(&project, &request.flags)?;
    let Some((prd, mut remarks)) = read_prd(&prd_path, &config, output)? else {
        return Ok(None);
    };
    let whole = promised::whole(&prd);
    let view = look_at_base(home, &project, request, &mut remarks)?;
    if view.dirty {
        remarks.push("the work tree has changes that are not committed; they are left alone, and the loop starts without them".to_owned());
    }
    remarks.extend(whole_base(&view)?);
    let base = found_checks::Base {
        repository: &view.root,
        commit: &view.head,
        subdir: &view.subdir,
    };
    let places = Places {
        view: &view,
        base,
        project: &project,
        prd_path: &prd_path,
    };
    let mut settings = settings(&config, &whole, &places, &mut remarks)?;
    settings.write_progress = request.write_progress || config.of_loop.write_progress;
    settings.flags = request.kept_flags();
    settings.config_mark = Some(config::mark(&project)?);
    let casting = cast(&config, &settings, &mut remarks)?;
    check_flow(casting.flow, &settings)?;
    let mut spec = spec(
        &config,
        &settings,
        casting,
        &prd,
        &project,
        &prd_path,
        view.head.as_str(),
    )?;
    remarks.extend(shared_network(&spec.together, &settings));
    assign(&request.assignments, &settings, &mut spec.stories)?;
    tell_of_stories(spec.allowance.as_ref(), &spec.stories, &settings)?;
    let others = graph_claims::leave_out(home, &mut spec, request.other_loops(), &mut remarks)?;
    spec.first = first(request, &spec)?;
    let named = whole.branch.as_deref();
    let ground = passed::Ground {
        root: &view.root,
        base: &view.head,
        named_branch: named,
    };
    passed::settle(
        home,
        request,
        &ground,
        &mut spec.stories,
        &mut remarks,
        output,
    )?;
    promised::know_tools(&spec.stories, &settings)?;
    promised::fit_models(&mut spec, &settings, &mut remarks);
    remarks.extend(promised::story_commands(&spec.stories, &settings));
    if let Some(loop_id) = &request.loop_id {
        spec.loop_id.clone_from(loop_id);
    }
    spec.branch = promised::branch(named, &view.root, &spec.loop_id, &mut remarks)?;
    Ok(Some(Plan {
        spec,
        remarks,
        others,
    }))
}

/// Every file of the base must be there as people see it, or checks would run on empty folders and
/// pointers: what to say about it.
fn whole_base(view: &workspace::ProjectView) -> Result<Vec<String>, Failure> {
    workspace::check_content(&view.root, &view.head).map_err(|error| {
        let failure = Failure::environment("cannot start from this commit", &error);
        match error.remedy() {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        }
    })
}

/// The project at the commit that the loop would start from. The branch of an earlier loop that
/// somebody removed is made again; a dry run only looks at the commit that it would have.
fn look_at_base(
    home: &Home,
    project: &Path,
    request: &StartRequest,
    remarks: &mut Vec<String>,
) -> Result<workspace::ProjectView, Failure> {
    let fault = |error| {
        Failure::environment(
            &format!("cannot start from `{}`", project.display()),
            &error,
        )
    };
    let base = request.base.as_deref();
    let error = match (workspace::look_at_project(project, base), base) {
        (Ok(view), _) => return Ok(view),
        (Err(error), None) => return Err(fault(error)),
        (Err(error), Some(_)) => error,
    };
    let (Ok(there), Some(base)) = (workspace::look_at_project(project, None), base) else {
        return Err(fault(error));
    };
    let root = std::fs::canonicalize(&there.root).unwrap_or(there.root);
    let Some(state) = loop_of_branch(&open(home)?, &root, base)? else {
        return Err(fault(error));
    };
    let (loop_id, head) = (&state.spec().loop_id, state.confirmed().as_str());
    if request.mode == StartMode::Dry {
        remarks.push(format!(
            "the branch {base} is gone; `start` makes it again at {} and starts there",
            &head[..12]
        ));
        return workspace::look_at_project(project, Some(head)).map_err(|error| {
            fault(error).hint(format!(
                "loop {loop_id} has that commit; `loopwright resume {loop_id}` makes its branch again"
            ))
        });
    }
    if make_branch_again(home, &state, &root).is_err() {
        return Err(fault(error));
    }
    workspace::look_at_project(project, Some(base)).map_err(fault)
}

/// The story to begin with, which must be there and open.
fn first(request: &StartRequest, spec: &LoopSpec) -> Result<Option<FirstStory>, Failure> {
    let Some(first) = &request.first else {
        return Ok(None);
    };
    match spec.stories.iter().find(|story| story.id == first.id) {
        Some(story) if story.start == StoryStart::Open => Ok(Some(first.clone())),
        Some(_) => Err(Failure::bad_input(format!(
            "story `{}` is not open in the PRD, or somebody else works on it",
            first.id
        ))),
        None => Err(Failure::bad_input(format!(
            "the PRD has no story `{}`",
            first.id
        ))),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(path).map_err(|error| {
        let mut failure =
            Failure::environment(&format!("cannot find `{}`", path.display()), &error);
        failure.exit = Exit::BadInput;
        failure
    })
}

/// The PRD, and what a person should know of how it was read.
pub(super) fn read_prd(
    path: &Path,
    config: &Config,
    output: &mut Output,
) -> Result<Option<(Prd, Vec<String>)>, Failure> {
    let source = crate::args::PrdSource {
        file: path.to_owned(),
        tools: config.agents.keys().cloned().collect(),
    };
    let Some(input) = crate::commands::prd::read_sound(&source, output)? else {
        return Ok(None);
    };
    let mut remarks = promised::passed_over(&input.reading);
    remarks.extend(crate::commands::prd::report::read_only(&input.reading));
    Ok(input.reading.prd.map(|prd| (prd, remarks)))
}

fn spec(
    config: &Config,
    settings: &Settings,
    casting: Casting,
    prd: &Prd,
    project: &Path,
    prd_path: &Path,
    base: &str,
) -> Result<LoopSpec, Failure> {
    let loop_id = ulid::Ulid::generate().to_string();
    check_agents(config, settings)?;
    let allowance = allowance(config, settings, &casting)?;
    let stories = stories(prd)?;
    for story in &stories {
        check_flow(story.flow.unwrap_or(casting.flow), settings)?;
    }
    Ok(LoopSpec {
        branch: String::new(),
        project: text(project)?,
        prd_path: text(prd_path)?,
        base: Commit::new(base).map_err(|error| Failure::bad_input(error.to_string()))?,
        stories,
        flow: casting.flow,
        implementor: casting.implementor.into(),
        reviewer: casting.reviewer.into(),
        prover: casting.prover.into(),
        judge: casting.judge.into(),
        judge_is_chosen: casting.judge_is_chosen,
        families: casting
            .families
            .into_iter()
            .map(|(agent, family)| (agent.into(), family))
            .collect(),
        first: None,
        together: together(config),
        failover: failover(config, settings)?,
        ladder: ladder(config, settings)
            .into_iter()
            .map(kernel::AgentName::from)
            .collect(),
        max_retries: config.of_loop.max_retries.unwrap_or(2),
        max_iterations: config.of_loop.max_iterations,
        budget: budget(config, settings)?,
        allowance,
        retry_wait_ms: i64::try_from(config.retry.wait.unwrap_or(60))
            .unwrap_or(60)
            .saturating_mul(1000),
        settings: serde_json::to_string(settings)
            .map_err(|error| Failure::environment("cannot write the settings", &error))?
            .into(),
        loop_id,
    })
}

/// The retry ladder; where nobody says anything and both are there, two families take turns.
fn ladder(config: &Config, settings: &Settings) -> Vec<String> {
    let usual = ["codex", "claude", "codex"].map(str::to_owned);
    let is_usual = config.roles.implementor.agent.is_none()
        && usual
            .iter()
            .all(|agent| settings.agents.contains_key(agent));
    match (config.retry.ladder.is_empty(), is_usual) {
        (true, true) => usual.to_vec(),
        _ => config.retry.ladder.clone(),
    }
}

/// Whether agents at their limits are stood in for, which takes somebody who could.
fn failover(config: &Config, settings: &Settings) -> Result<bool, Failure> {
    let wanted = config.policy.on_limit.as_deref() == Some("failover");
    if wanted && ladder(config, settings).is_empty() {
        return Err(Failure::bad_input(
            "[policy] on_limit = \"failover\", and there is nobody to stand in",
        )
        .hint("name the agents that may: [retry] ladder = [\"codex\", \"claude\"]"));
    }
    Ok(wanted)
}

/// What the loop does with several stories.
pub(super) fn together(config: &Config) -> Together {
    let policy = &config.policy;
    let on_question = policy.on_question.as_deref().and_then(OnQuestion::named);
    let rejudge = policy.rejudge.as_deref().and_then(Rejudge::named);
    let agents = config.agents.iter();
    let limited = agents.filter_map(|(name, agent)| Some((name.clone().into(), agent.at_once?)));
    Together {
        parallel: config.of_loop.parallel.unwrap_or(1),
        on_question: on_question.unwrap_or_default(),
        rejudge: rejudge.unwrap_or_default(),
        checks_at_once: config.checks.at_once.unwrap_or(1),
        agents_at_once: limited.collect(),
    }
}

/// What runs at the same time share where nothing keeps them apart.
fn shared_network(together: &Together, settings: &Settings) -> Option<String> {
    let is_several = together.parallel > 1 || together.checks_at_once > 1;
    let shares = settings.jail().is_none() && is_several;
    shares.then(|| {
        "runs at the same time share this machine's network: a server on a fixed port can make another \
         run's checks red or green; use the ports from $PORT_BASE on, or a sandbox \
         (`loopwright explain running`)"
            .to_owned()
    })
}

/// Every agent that is named must be there.
fn check_agents(config: &Config, settings: &Settings) -> Result<(), Failure> {
    let known = settings.agents.keys().cloned().collect();
    match preflight::unknown_agents(config, &known).into_iter().next() {
        Some(unknown) => Err(Failure::bad_input(unknown.message).hint(unknown.hint)),
        None => Ok(()),
    }
}

/// One falling balance of time.
fn budget(config: &Config, settings: &Settings) -> Result<Option<TimeBudget>, Failure> {
    let Some(hours) = config.budget.hours else {
        return Ok(None);
    };
    let total_ms = milliseconds(hours * 3600.0);
    let cap = |secs: u64| {
        i64::try_from(secs)
            .unwrap_or(i64::MAX / 1000)
            .saturating_mul(1000)
    };
    let of_role = |role: &str| {
        cap(settings
            .agents
            .keys()
            .map(|agent| settings.timeout_secs(role, agent))
            .max()
            .unwrap_or_default())
    };
    let (implement_cap_ms, judge_cap_ms) = (of_role("implementor"), of_role("judge"));
    let (review_cap_ms, prove_cap_ms) = (of_role("reviewer"), of_role("prover"));
    let check_cap_ms = cap(settings.check_timeout_secs);
    let longest_ms = implement_cap_ms
        .max(judge_cap_ms)
        .max(check_cap_ms)
        .max(review_cap_ms)
        .max(prove_cap_ms);
    if longest_ms > total_ms {
        let longest = longest_ms / 1000;
        return Err(Failure::bad_input(format!(
            "[budget] hours = {hours} is less than one run may take ({longest} s), so none could start"
        ))
        .hint("raise the budget, or lower `timeout` of [agents.NAME] and [checks]"));
    }
    Ok(Some(TimeBudget {
        total_ms,
        implement_cap_ms,
        check_cap_ms,
        judge_cap_ms,
        review_cap_ms,
        prove_cap_ms,
    }))
}

#[expect(clippy::cast_possible_truncation, reason = "bounded right before")]
fn milliseconds(secs: f64) -> i64 {
    (secs.clamp(0.0, 1e9) * 1000.0) as i64
}
