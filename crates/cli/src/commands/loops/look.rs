//! `loopwright status ID` and `events`: reading views, changing nothing.

use std::path::Path;

use home::{DiskUse, ENTRIES_MAX, Ended, Home, WarmTrust, disk_use, progress};
use journal::Journal;
use kernel::{State, decide};
use serde_json::{Value, json};
use views::{LoopView, PublicEvent, QuestionView, WaitView, iso, loop_view, public_events};

use super::answer_words;
use super::lookup::{find, find_or_newest, load, open};
use super::marks;
use super::overview::{self, Which};
use super::publishing::{self, LostBranch};
use super::story_table::story_table;
use super::walls::refusals_of;
use crate::commands::jail;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::table::{Paper, Tint, painted};
use crate::words::{room, visible};
use crate::worker_trouble::{Trouble, as_json, trouble};
use crate::wrapping::wrapped;

pub(super) fn status(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("status");
    let home = home()?;
    let journal = open(&home)?;
    let Some(id) = id else {
        return overview::show(&home, &journal, Which::Recent, output);
    };
    let loop_id = find(&journal, id)?;
    see_to_worker(&home, &load(&journal, &loop_id)?.state, output)?;
    result_of(&home, &journal, &loop_id, output)?;
    Ok(Exit::Done)
}

/// Says where no worker is alive for a loop, and starts one if the loop is owed anything: nobody else
/// might.
fn see_to_worker(home: &Home, state: &State, output: &mut Output) -> Result<(), Failure> {
    let is_owed = !decide(state).is_empty();
    if home::is_worker_there(home) || (state.ended().is_some() && !is_owed) {
        return Ok(());
    }
    if !is_owed {
        output.talk("note: no worker is at work, and the loop needs none now\n");
    } else if home::is_waking_off() {
        output.talk("note: no worker is at work; `loopwright serve` goes on with the loop\n");
    } else {
        super::serve::ensure_worker(home)?;
        output.talk("note: no worker was at work; one was started\n");
    }
    Ok(())
}

/// What is kept of the project's builds for all its loops, and why nothing is reused where that is so.
fn warm_line(kept: DiskUse, trust: &WarmTrust) -> String {
    match (&trust.off, kept.bytes) {
        (Some(why), _) => format!("builds  nothing is reused any more: {why}\n"),
        (None, 0) => String::new(),
        (None, _) => format!(
            "builds  {} are kept for all loops of the project\n",
            room(kept)
        ),
    }
}

/// Shows one loop, and says by the exit code how it stands.
pub(super) fn result_of(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let loaded = load(journal, loop_id)?;
    publishing::see_to(home, journal, &loaded)?;
    let (view, ended) = (seen(home, &loaded.state), progress(&loaded.state));
    let fault = fault_of(home, loop_id);
    let disk = disk_use(&home.loop_folder(loop_id), ENTRIES_MAX);
    let lost = publishing::lost_branch(home, &loaded.state);
    output.data(&text(home, &view, lost.as_ref(), output.paper()))?;
    if !ended.is_empty() {
        let line = |ended: &Ended| ended.line_at(&home::local(ended.at_ms));
        let lines: Vec<String> = ended.iter().map(line).collect();
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        output.data(&format!("progress\n{lines}"))?;
    }
    let trees = disk_use(&home.trees(loop_id), ENTRIES_MAX);
    let of_trees = match trees.bytes {
        0 => String::new(),
        _ => format!(", of that {} for trees that its runs share", room(trees)),
    };
    output.data(&format!("disk    {}{of_trees}\n", room(disk)))?;
    let roots = home.roots(Path::new(&loaded.state.spec().project));
    let (kept, trust) = (disk_use(&roots, ENTRIES_MAX), WarmTrust::read(&roots));
    output.data(&warm_line(kept, &trust))?;
    if let Some(fault) = &fault {
        output.data(&format!("fault   {fault}\n"))?;
    }
    if loaded.state.ended().is_none()
        && let Some(Trouble { what, remedy }) = trouble(home)
    {
        output.data(&format!("worker  {what}; {remedy}\n"))?;
    }
    // Whoever has to do something reads the last lines first.
    output.data(&questions(&view, output.paper()))?;
    output.result(|| {
        let mut value = with_disk(json!(view), disk);
        value["treesBytes"] = trees.bytes.into();
        value["keptBuildsBytes"] = kept.bytes.into();
        if let Some(why) = &trust.off {
            value["warmOff"] = why.clone().into();
        }
        value["progress"] = ended.iter().map(progress_json).collect();
        if let Some(fault) = &fault {
            value["fault"] = fault.clone().into();
        }
        if let Some(LostBranch { what, .. }) = &lost {
            value["branchFault"] = what.clone().into();
        }
        if loaded.state.ended().is_none() {
            value["worker"] = as_json(home);
        }
        value
    })?;
    for action in next_actions(&view, lost.as_ref()) {
        output.next(action);
    }
    Ok(exit_of(&view))
}

/// A loop as it stands on this machine: whatever it does next needs room on the disk.
pub(super) fn seen(home: &Home, state: &State) -> LoopView {
    let mut view = loop_view(state);
    if matches!(view.status, "running" | "waiting") && !sandbox::has_room(home.root()) {
        view.status = "waiting";
        view.reason = format!(
            "the disk with {} is full; free some room there, and the loop goes on by itself",
            home.root().display()
        );
    } else if matches!(view.status, "running" | "waiting")
        && let Some(Trouble { what, remedy }) = trouble(home)
    {
        view.status = "waiting";
        view.reason = format!("{what}; {remedy}");
    }
    view.prd_fault = marks::fault(state);
    let prd = Path::new(&view.prd_path);
    if state.ended().is_none() && !prd.exists() {
        let gone = "it is gone; the loop goes on with the stories as it read them, and their states cannot be written down; put it back, or cancel the loop";
        view.prd_fault = Some(gone.to_owned());
    }
    view
}

fn progress_json(ended: &Ended) -> Value {
    json!({ "storyId": ended.story, "at": iso(ended.at_ms), "status": ended.how, "attempt": ended.attempt,
            "commitSha": ended.commit, "reason": ended.reason })
}

fn with_disk(mut view: Value, disk: DiskUse) -> Value {
    view["diskBytes"] = disk.bytes.into();
    view
}

/// What the worker could not do for this loop just now; it tries again at every turn.
fn fault_of(home: &Home, loop_id: &str) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(home.loop_folder(loop_id).join(name)).ok();
    let faults: Vec<String> = ["fault", "progress-fault"]
        .into_iter()
        .filter_map(read)
        .collect();
    Some(faults.join("; ")).filter(|fault| !fault.is_empty())
}

/// How a loop stands, as an exit code.
pub(super) fn exit_of(view: &LoopView) -> Exit {
    let all_well =
        view.stories.iter().all(|story| story.status == "passed") && view.unpublished.is_none();
    match view.status {
        "needs_human" => Exit::NeedsHuman,
        "completed" if !all_well => Exit::Unfinished,
        "cancelled" => Exit::Unfinished,
        "failed" => Exit::Environment,
        _ => Exit::Done,
    }
}

/// From here on a budget is nearly used up.
const BUDGET_WARNING_PERCENT: u64 = 80;

fn text(home: &Home, view: &LoopView, lost: Option<&LostBranch>, paper: Paper) -> String {
    let mut out = heading(home, view, lost, paper);
    out.push_str(&story_table(&view.stories).draw(paper));
    out.extend(view.waits.iter().map(wait_line));
    out.push_str(&used(view));
    let isolation = if is_over(view) {
        jail::past_words(&view.isolation)
    } else {
        jail::words(&view.isolation)
    };
    out.push_str(&format!("agents  {isolation}\n"));
    out
}

fn heading(home: &Home, view: &LoopView, lost: Option<&LostBranch>, paper: Paper) -> String {
    // What it asks is said below.
    let asks = view.status == "needs_human" && !view.questions.is_empty();
    let reason = if view.reason.is_empty() || asks {
        String::new()
    } else {
        format!(": {}", aligned(&view.reason))
    };
    let until = view.waiting_until_ms.filter(|_| view.status == "waiting");
    let until = until
        .map(|until_ms| format!(" until {}", home::local(until_ms)))
        .unwrap_or_default();
    let mut out = format!(
        "loop {}  {}{until}{reason}\nproject {}\nbranch  {}\n",
        view.loop_id,
        painted(view.status, Tint::of(view.status), paper),
        view.project,
        branch(view)
    );
    if let Some(LostBranch { what, remedy, .. }) = lost {
        out.push_str(&format!("        {what}; {remedy}\n"));
    }
    if let Some(fault) = &view.prd_fault {
        out.push_str(&format!("prd     {}: {fault}\n", view.prd_path));
    }
    if !view.unconfirmed.is_empty() && !is_over(view) {
        let stories = view.unconfirmed.join(", ");
        out.push_str(&format!(
            "        landed, published when confirmed: {stories}\n"
        ));
    }
    if let Some(why) = &view.warm_off {
        out.push_str(&format!(
            "builds  none is reused any more: {}\n",
            aligned(why)
        ));
    }
    if let Some(why) = &view.unpublished {
        out.push_str(&format!("        not in your repository: {why}\n"));
        out.push_str(&format!("        {}\n", how_to_publish(home, view)));
    }
    out
}

/// What a person can do about work that is not published.
fn how_to_publish(home: &Home, view: &LoopView) -> String {
    let (id, branch) = (&view.loop_id, &view.branch);
    if is_over(view) && !view.unconfirmed.is_empty() {
        return format!("`loopwright resume {id}` confirms and publishes it");
    }
    if !view.branch_taken {
        return "it is published by itself as soon as that is possible".to_owned();
    }
    format!(
        "the branch is yours now; `git fetch {} {branch}:NAME` gets the accepted commits under \
         another name, and once the branch is gone, `loopwright resume {id}` makes it again",
        home.repository(id).display()
    )
}

/// The loop's branch, which exists from the first story that lands.
fn branch(view: &LoopView) -> String {
    let (name, head) = (&view.branch, &view.head_sha[..12]);
    match (view.landed, is_over(view)) {
        (true, _) => format!("{name} at {head}"),
        (false, false) => format!("none yet; the first story that lands makes {name}, from {head}"),
        (false, true) if !view.unconfirmed.is_empty() => {
            format!("none, since nothing that landed is confirmed; {name} would begin at {head}")
        }
        (false, true) => format!("none, since no story landed; the project is as it was at {head}"),
    }
}

fn is_over(view: &LoopView) -> bool {
    matches!(view.status, "completed" | "cancelled" | "failed")
}

/// Everything that is asked, and how to answer it. A command is never broken: somebody may copy it.
fn questions(view: &LoopView, paper: Paper) -> String {
    const MARGIN: &str = "        ";
    let lines = |title: &str, text: &str| {
        let text = visible(text);
        let text = match paper.columns {
            Some(columns) => {
                let lines = wrapped(&text, columns.saturating_sub(MARGIN.len()));
                lines.join(&format!("\n{MARGIN}"))
            }
            None => aligned(&text),
        };
        format!("{title:<8}{text}\n")
    };
    let mut out = String::new();
    for question in &view.questions {
        let text = format!("{}: {}", question.story_id, question.text);
        let command = answer_words::command(&view.loop_id, question, "WORD");
        out.push_str(&lines("asks", &text));
        out.push_str(&lines("answer", &answer_words::sentence(question)));
        out.push_str(&format!("{MARGIN}{command}\n"));
    }
    out
}

/// A text whose further lines stand below its first one.
fn aligned(text: &str) -> String {
    text.trim_end()
        .lines()
        .collect::<Vec<_>>()
        .join("\n        ")
}

/// A run that waits, and until when in the time of this machine.
fn wait_line(wait: &WaitView) -> String {
    let agent = wait.agent.as_ref();
    let agent = agent
        .map(|agent| format!(" by {agent}"))
        .unwrap_or_default();
    format!(
        "waits   {} {}{agent} until {}: {}\n",
        wait.story_id,
        wait.stage,
        home::local(wait.until_ms),
        aligned(&wait.cause)
    )
}

fn used(view: &LoopView) -> String {
    let tokens = view.tokens.map(|tokens| format!("{tokens} tokens"));
    let cost = view.cost_usd.map(|cost| format!("${cost:.2}"));
    let budget = view.budget_used_percent.map(|percent| {
        let warning = if percent >= BUDGET_WARNING_PERCENT {
            ", nearly all"
        } else {
            ""
        };
        format!("{percent} % of the budget{warning}")
    });
    let used: Vec<String> = [tokens, cost, budget].into_iter().flatten().collect();
    if used.is_empty() {
        return String::new();
    }
    let mut out = format!("used    {}\n", used.join(", "));
    let reported = view.used_by.iter().filter(|used| used.tokens.is_some());
    out.extend(reported.map(used_by_line));
    out
}

fn used_by_line(used: &views::UsedBy) -> String {
    let tokens = used
        .tokens
        .map(|tokens| format!(", {tokens} tokens"))
        .unwrap_or_default();
    let cost = used
        .cost_usd
        .map(|cost| format!(", ${cost:.2}"))
        .unwrap_or_default();
    let runs = if used.runs == 1 {
        "1 run".to_owned()
    } else {
        format!("{} runs", used.runs)
    };
    format!(
        "        {} {}: {runs}{tokens}{cost}\n",
        used.role, used.agent
    )
}

fn next_actions(view: &LoopView, lost: Option<&LostBranch>) -> Vec<NextAction> {
    let id = &view.loop_id;
    let in_repository = view.unpublished.is_none() && lost.is_none();
    match view.status {
        "needs_human" if asks_in_several_stories(view) => {
            let asked = view.questions.iter();
            let action = |question: &QuestionView| {
                let choices = answer_words::typed(question);
                let command = answer_words::command(id, question, &choices);
                NextAction::new(command, question.text.clone())
            };
            asked.map(action).collect()
        }
        "needs_human" => vec![NextAction::new(
            format!("loopwright answer {id} {}", view.choices.join("|")),
            view.reason.clone(),
        )],
        "paused" | "waiting" => vec![NextAction::new(
            format!("loopwright resume {id}"),
            "go on now",
        )],
        "completed"
            if view.stories.iter().any(|story| story.commit_sha.is_some())
                && in_repository
                && view.prd_fault.is_none() =>
        {
            vec![NextAction::new(
                format!("git log {}", view.branch),
                "look at the accepted commits",
            )]
        }
        "completed" | "cancelled" | "failed" => {
            let mut actions = vec![NextAction::new(
                format!("loopwright runs {id}"),
                "see what was done",
            )];
            if view.prd_fault.is_some() {
                actions.push(NextAction::new(
                    format!("loopwright resume {id}"),
                    "write the stories' states into the PRD",
                ));
            }
            if view.unpublished.is_some() || lost.is_some_and(|lost| lost.is_gone) {
                actions.push(NextAction::new(
                    format!("loopwright resume {id}"),
                    "publish what was accepted",
                ));
            }
            actions
        }
        _ => vec![NextAction::new(
            format!("loopwright watch {id}"),
            "follow it",
        )],
    }
}

/// Whether an answer must name its story.
fn asks_in_several_stories(view: &LoopView) -> bool {
    let mut asked = view.questions.iter();
    let first = asked.next();
    first.is_some_and(|first| asked.any(|other| other.story_id != first.story_id))
}

pub(super) fn events(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("events");
    let journal = open(&home()?)?;
    let loop_id = find_or_newest(&journal, id)?;
    let events = public_events(&load(&journal, &loop_id)?.records);
    let length = Length::of(output.paper().columns.is_some());
    let lines = events.iter().map(|event| event_line(event, length));
    output.data(&lines.collect::<String>())?;
    output.result(|| json!({ "loopId": loop_id, "events": events }))?;
    Ok(Exit::Done)
}

/// How much of a long text a line of an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// All of it: other programs may read the line.
    Whole,
    /// So much that a person sees what it is about.
    Short,
}

impl Length {
    /// What is right for a terminal, or for a pipe.
    pub(super) fn of(is_terminal: bool) -> Self {
        if is_terminal {
            Self::Short
        } else {
            Self::Whole
        }
    }

    /// A text in one line; an ellipsis says that there is more.
    fn fit(self, text: &str) -> String {
        const CHARS_MAX: usize = 100;
        let text = visible(text);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match self {
            Self::Short if line.chars().count() > CHARS_MAX => {
                let kept: String = line.chars().take(CHARS_MAX - 1).collect();
                format!("{}…", kept.trim_end())
            }
            Self::Short | Self::Whole => line,
        }
    }
}

/// One line per event: its name and what matters of its payload.
pub(super) fn event_line(event: &PublicEvent, length: Length) -> String {
    let field = |name: &str| {
        let value = event.data.get(name).filter(|value| !value.is_null())?;
        let text = value.as_str().map(str::to_owned);
        Some(text.unwrap_or_else(|| value.to_string()))
    };
    // The names are the same in every flow, also in one without a reviewer or a judge.
    let is_role = matches!(event.name, "agent/loop.review" | "agent/loop.judge");
    let by = is_role.then(|| field("by").unwrap_or_else(|| "nobody".to_owned()));
    let by = by.map(|by| format!(" by={by}")).unwrap_or_default();
    let mut parts: Vec<String> = [
        "storyId",
        "attempt",
        "stage",
        "tool",
        "from",
        "to",
        "commitSha",
        "reason",
        "cause",
        "question",
        "summary",
        "limit",
    ]
    .into_iter()
    .filter_map(|name| field(name).map(|value| format!("{name}={}", length.fit(&value))))
    .collect();
    // Each by itself: a person must see all of the hosts.
    let refusals: Vec<String> = refusals_of(event)
        .iter()
        .map(|one| length.fit(one))
        .collect();
    if !refusals.is_empty() {
        parts.push(format!("refused={}", refusals.join(", ")));
    }
    let until = event.data.get("until").and_then(Value::as_i64);
    let until = until
        .map(|until_ms| format!(" until={}", home::local(until_ms)))
        .unwrap_or_default();
    format!("{}  {}{by}{until}\n", event.name, parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_whole_in_a_pipe_and_marked_where_it_is_cut() {
        let text = format!("first {}\nlast", "word ".repeat(40));
        let event = PublicEvent {
            id: "L-1-1".to_owned(),
            record: 1,
            name: "agent/loop.needs_human",
            at_ms: 0,
            data: json!({ "storyId": "a", "question": text }),
        };
        let whole = event_line(&event, Length::Whole);
        assert!(whole.ends_with("word last\n"), "{whole}");
        assert_eq!(whole.lines().count(), 1, "{whole}");
        let short = event_line(&event, Length::Short);
        assert!(short.ends_with("…\n") && short.len() < 160, "{short}");
    }

    #[test]
    fn what_a_run_met_at_the_walls_of_its_jail_is_said_with_every_host() {
        let long = format!("{}.example", "a".repeat(60));
        let refused = [("mirror.example", 443), (long.as_str(), 80)]
            .map(|(host, port)| json!({ "host": host, "port": port, "why": "not on the list" }));
        let event = PublicEvent {
            id: "L-1-1".to_owned(),
            record: 1,
            name: "agent/loop.confined",
            at_ms: 0,
            data: json!({ "storyId": "a", "attempt": 2, "stage": "implement", "limit": "disk space",
                "refused": refused }),
        };
        let expected = format!(
            "agent/loop.confined  storyId=a attempt=2 stage=implement limit=disk space \
             refused=mirror.example:443 (not on the list), {long}:80 (not on the list)\n"
        );
        for length in [Length::Whole, Length::Short] {
            assert_eq!(event_line(&event, length), expected);
        }
    }
}
