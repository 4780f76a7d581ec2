//! A loop's status in the words that `status`, `list` and `--json` use.

use kernel::{
    Attempt, EndReason, Question, RunState, Stage, State, Step, StoryProgress, StoryStatus, Wait,
    Wish, needs_person,
};
use serde::Serialize;

use crate::form::{moment, moment_or_null};
use crate::landing_events::queue_place;
use crate::public::usd;

/// One loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopView {
    /// Its id.
    pub loop_id: String,
    /// `running`, `waiting`, `needs_human`, `paused`, `completed`, `cancelled` or `failed`.
    pub status: &'static str,
    /// Why, in a sentence; may be empty.
    pub reason: String,
    /// The operator's project.
    pub project: String,
    /// The PRD file.
    pub prd_path: String,
    /// The branch that accepted work lands on.
    pub branch: String,
    /// Whether anything landed: until then there is no such branch.
    pub landed: bool,
    /// Its tip.
    pub head_sha: String,
    /// The way that stories go.
    pub flow: &'static str,
    /// The stories in file order.
    pub stories: Vec<StoryView>,
    /// When a wait will be over, in milliseconds since 1970.
    #[serde(
        rename = "waitingUntil",
        serialize_with = "moment_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub waiting_until_ms: Option<i64>,
    /// What can be answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Every question that a person can answer now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionView>,
    /// Every run that waits for a time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitView>,
    /// Why the operator's repository does not have the head of the branch, if it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpublished: Option<String>,
    /// The stories that landed and are not confirmed, or stand on such a commit, oldest first. Nobody is
    /// shown them until they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<String>,
    /// Why no build is reused any more, where one was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_off: Option<String>,
    /// Whether a person moved or removed the branch, so that it is not published unless they ask.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub branch_taken: bool,
    /// What is wrong with the PRD file, if anything: states that are not written in it. Only who can
    /// look at the file knows it, so that a view of the journal alone has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prd_fault: Option<String>,
    /// The time that all runs together have taken.
    pub spent_ms: i64,
    /// What is left of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<i64>,
    /// How much of the budget is used, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_used_percent: Option<u64>,
    /// Tokens that agents used, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What that cost in dollars, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The same by role and agent, with their runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<UsedBy>,
    /// The jail that agents and checks run in: `bwrap`, `podman`, `docker`, or `host` for none.
    pub isolation: String,
    /// When it was started, in milliseconds since 1970.
    #[serde(rename = "startedAt", serialize_with = "moment")]
    pub started_at_ms: i64,
    /// When the last thing happened, in milliseconds since 1970.
    #[serde(rename = "lastAt", serialize_with = "moment")]
    pub last_at_ms: i64,
}

/// What one agent used in one role.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedBy {
    /// The role.
    pub role: &'static str,
    /// The agent.
    pub agent: String,
    /// Its runs that are over.
    pub runs: u32,
    /// Their tokens, as far as they told.
    pub tokens: Option<u64>,
    /// What they cost in dollars, as far as they told.
    pub cost_usd: Option<f64>,
}

/// A question that a person can answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionView {
    /// The story that it is about.
    pub story_id: String,
    /// The stage whose run asks; none where a candidate must be approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
    /// What is asked.
    pub text: String,
    /// What can be answered.
    pub choices: Vec<String>,
    /// Whether any other words may be the answer too.
    pub free: bool,
}

/// A run that waits for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitView {
    /// The story.
    pub story_id: String,
    /// The stage.
    pub stage: &'static str,
    /// The agent; checks have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Until when, in milliseconds since 1970.
    #[serde(rename = "until", serialize_with = "moment")]
    pub until_ms: i64,
    /// What it waits for to pass.
    pub cause: String,
}

/// One story.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryView {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `pending`, `running`, `passed`, `skipped` or `blocked`.
    pub status: &'static str,
    /// What it is doing, or why it ended so; may be empty.
    pub detail: String,
    /// What it is held up by: `asks` for a person, `waits` for a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halted: Option<&'static str>,
    /// Its place among those that land, starting at 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_place: Option<usize>,
    /// Attempts in which somebody worked; that a person accepts a candidate is none.
    pub attempts: u32,
    /// The accepted commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// From its first attempt to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Tokens that its agents used, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What that cost in dollars, as far as they told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What an end leaves of a story that landed and was not confirmed.
pub(crate) const LEFT_UNCONFIRMED: &str = "landed, not confirmed, not published";

/// Makes the view.
pub fn loop_view(state: &State) -> LoopView {
    let (status, reason) = status_of(state);
    let spec = state.spec();
    // A loop that is cancelled owes nothing but its end.
    let is_over = state.ended().is_some() || state.cancel_reason().is_some();
    let questions: Vec<QuestionView> = state.questions().iter().map(question_view).collect();
    LoopView {
        loop_id: spec.loop_id.clone(),
        status,
        reason,
        project: spec.project.clone(),
        prd_path: spec.prd_path.clone(),
        branch: spec.branch.clone(),
        landed: state.has_landed(),
        head_sha: state.confirmed().to_string(),
        flow: spec.flow.word(),
        stories: state
            .stories()
            .iter()
            .map(|story| story_view(state, story, is_over))
            .collect(),
        waiting_until_ms: state.waits_until_ms().filter(|_| !is_over),
        choices: questions
            .first()
            .map(|first| first.choices.clone())
            .unwrap_or_default(),
        questions,
        waits: if is_over {
            Vec::new()
        } else {
            state.waits().iter().map(wait_view).collect()
        },
        unpublished: state.unpublished().map(str::to_owned),
        unconfirmed: state
            .unconfirmed()
            .into_iter()
            .map(|(story, _)| story.to_string())
            .collect(),
        warm_off: state.warm_off().map(str::to_owned),
        branch_taken: state.is_branch_taken(),
        prd_fault: None,
        spent_ms: state.spent_ms(),
        left_ms: state.left_ms(),
        budget_used_percent: state.budget_used_percent(),
        tokens: state.spent().known_tokens(),
        cost_usd: usd(state.spent()),
        used_by: state
            .spent_by()
            .map(|(role, agent, spent)| UsedBy {
                role: role.word(),
                agent: agent.to_string(),
                runs: spent.runs,
                tokens: spent.known_tokens(),
                cost_usd: usd(spent),
            })
            .collect(),
        isolation: jail_of(&spec.settings),
        started_at_ms: state.started_at_ms(),
        last_at_ms: state.last_at_ms(),
    }
}

fn question_view(question: &Question) -> QuestionView {
    QuestionView {
        story_id: question.story.to_string(),
        stage: question.stage.map(Stage::word),
        text: question.text.clone(),
        choices: question
            .choices
            .iter()
            .map(|choice| choice.word().to_owned())
            .collect(),
        free: question.free,
    }
}

fn wait_view(wait: &Wait) -> WaitView {
    WaitView {
        story_id: wait.run.story.to_string(),
        stage: wait.run.stage.word(),
        agent: wait.agent.as_ref().map(ToString::to_string),
        until_ms: wait.until_ms,
        cause: wait.fault.why.clone(),
    }
}

fn status_of(state: &State) -> (&'static str, String) {
    match state.ended() {
        Some(EndReason::Completed) => return ("completed", String::new()),
        Some(EndReason::MaxIterationsReached) => {
            return ("completed", "max_iterations_reached".to_owned());
        }
        Some(EndReason::BudgetExhausted) => return ("failed", "budget_exhausted".to_owned()),
        Some(EndReason::Cancelled { why }) => return ("cancelled", why.clone()),
        Some(EndReason::Failed { why }) => return ("failed", why.clone()),
        None => {}
    }
    if let Some(why) = state.cancel_reason() {
        return ("running", format!("it is being cancelled: {why}"));
    }
    if let Some(question) = state.questions().first()
        && needs_person(state)
    {
        return ("needs_human", question.text.clone());
    }
    if state.is_with_person() && state.attempts().next().is_none() {
        let why = "a person does what is left: `loopwright take ID STORY --done` hands it in";
        return ("needs_human", why.to_owned());
    }
    match (state.is_paused(), state.waits_until_ms().is_some()) {
        (true, _) => ("paused", String::new()),
        (false, true) => {
            let waits = state.waits();
            let why = waits.first().map(|wait| wait.fault.why.clone());
            ("waiting", why.unwrap_or_default())
        }
        (false, false) => ("running", String::new()),
    }
}

/// What a person wants of a story that has not begun, or not begun again.
fn wished(story: &StoryProgress) -> String {
    match &story.wish {
        Some(Wish::Accept(acceptance)) => {
            let by = &acceptance.by;
            format!("accepted by {by}; lands when its turn comes")
        }
        Some(Wish::HandIn(work)) => {
            let by = &work.by;
            format!("handed in by {by}; is checked when its turn comes")
        }
        Some(Wish::Skip { reason }) => reason.clone(),
        Some(Wish::Take { .. }) | None => String::new(),
    }
}

/// What an attempt is doing, seen beside the others.
pub(crate) fn doing(state: &State, story: &StoryProgress, attempt: &Attempt) -> String {
    if let Some(words) = landed(state, attempt) {
        return words.to_owned();
    }
    let doing = attempt.doing();
    let mut words = match queue_place(state, &story.spec.id) {
        Some(place) if attempt.is_queued() && place > 1 => format!("queued {place}"),
        // Its checks and its judge on top of what landed meanwhile.
        Some(_) if attempt.judged.is_some() && !attempt.is_queued() => format!("landing: {doing}"),
        _ => doing,
    };
    if is_kept_waiting(state, attempt) {
        words.push_str(", waits for a free place");
    }
    if was_sent_back(story, attempt) {
        words.push_str(", sent back before");
    }
    words
}

/// What is done for a story that is on the loop's branch and that nobody is shown yet.
fn landed(state: &State, attempt: &Attempt) -> Option<&'static str> {
    match attempt.step {
        Step::Confirm { .. } => Some("landed, confirming"),
        Step::Retract { .. } => Some("landed, not confirmed, being taken back"),
        Step::Announce { .. } if attempt.has_landed() && state.has_unconfirmed() => {
            Some("landed, waits for an earlier confirmation")
        }
        _ => None,
    }
}

/// Whether this attempt follows one that did not fit onto what had landed.
pub fn was_sent_back(story: &StoryProgress, attempt: &Attempt) -> bool {
    let former = story.former;
    former.is_some_and(|former| former + 1 == attempt.number)
}

/// Whether all that it owes are runs that wait until others have ended.
fn is_kept_waiting(state: &State, attempt: &Attempt) -> bool {
    let mut open = attempt
        .lanes()
        .iter()
        .filter(|lane| lane.is_open())
        .peekable();
    open.peek().is_some()
        && open.all(|lane| lane.run.state == RunState::Owed)
        && !state.running().is_empty()
        && !state.is_paused()
}

/// What a story is held up by.
fn halted(state: &State, story: &StoryProgress) -> Option<&'static str> {
    let id = &story.spec.id;
    if state.questions().iter().any(|one| one.story == *id) {
        return Some("asks");
    }
    let waits = state.waits();
    let mut waits = waits.iter();
    waits.any(|wait| wait.run.story == *id).then_some("waits")
}

fn story_view(state: &State, story: &StoryProgress, ended: bool) -> StoryView {
    let (status, detail, commit) = match &story.status {
        StoryStatus::Pending => ("pending", wished(story), None),
        StoryStatus::Active(attempt) if ended && attempt.has_landed() => (
            "pending",
            format!("attempt {}: {LEFT_UNCONFIRMED}", attempt.number),
            None,
        ),
        StoryStatus::Active(attempt) if ended => (
            "pending",
            format!("attempt {} was not finished", attempt.number),
            None,
        ),
        StoryStatus::Active(attempt) => (
            "running",
            format!(
                "attempt {}, {}",
                attempt.number,
                doing(state, story, attempt)
            ),
            None,
        ),
        StoryStatus::Passed(commit) => ("passed", String::new(), commit.as_ref()),
        StoryStatus::Skipped { reason, .. } => ("skipped", reason.clone(), None),
        StoryStatus::Blocked { on } => ("blocked", format!("waits for {on}"), None),
        StoryStatus::SetAside => (
            "skipped",
            "was set aside in the PRD, or held by somebody else, when the loop began".to_owned(),
            None,
        ),
        StoryStatus::Taken { by, .. } => ("taken", format!("{by} does it"), None),
    };
    StoryView {
        id: story.spec.id.to_string(),
        title: story.spec.title.clone(),
        status,
        detail,
        halted: halted(state, story).filter(|_| !ended),
        queue_place: queue_place(state, &story.spec.id).filter(|_| !ended),
        attempts: story.n_worked(),
        commit_sha: commit.map(ToString::to_string),
        tokens: story.spent.known_tokens(),
        cost_usd: usd(story.spent),
        duration_ms: story
            .began_at_ms
            .zip(story.ended_at_ms)
            // A clock that was set back gives no negative time.
            .map(|(began, ended)| (ended - began).max(0)),
    }
}

/// The kind of jail that a loop's settings name. Loops that were started before there were jails have
/// none.
fn jail_of(settings: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Settings {
        sandbox: Option<Sandbox>,
    }
    #[derive(serde::Deserialize)]
    struct Sandbox {
        kind: String,
    }
    let settings: Option<Settings> = serde_json::from_str(settings).ok();
    let sandbox = settings.and_then(|settings| settings.sandbox);
    sandbox.map_or_else(|| "host".to_owned(), |sandbox| sandbox.kind)
}
