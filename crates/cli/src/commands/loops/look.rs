//! `loopwright status`, `list`, `events` and `watch`: reading views, changing nothing.

use std::fmt::Write as _;
use std::time::Duration;

use engine::{DiskUse, ENTRIES_MAX, Ended, Home, disk_use, progress};
use journal::Journal;
use kernel::State;
use serde_json::{Value, json};
use views::{LoopView, PublicEvent, loop_view, public_events};

use super::follow::has_news;
use super::{find, load, open};
use crate::failure::{Exit, Failure};
use crate::home::home;
use crate::output::{NextAction, Output};
use crate::words::room;

pub(super) fn status(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("status");
    let home = home()?;
    let journal = open(&home)?;
    let Some(id) = id else {
        return list_of(&home, &journal, output);
    };
    let loop_id = find(&journal, id)?;
    result_of(&home, &journal, &loop_id, output)?;
    Ok(Exit::Done)
}

pub(super) fn list(output: &mut Output) -> Result<Exit, Failure> {
    output.command("list");
    let home = home()?;
    list_of(&home, &open(&home)?, output)
}

fn list_of(home: &Home, journal: &Journal, output: &mut Output) -> Result<Exit, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let (mut text, mut views) = (String::new(), Vec::new());
    // A long list is not worth a long wait.
    let entries_max = ENTRIES_MAX / rows.len().max(1);
    for row in rows {
        match (row.quarantine, load(journal, &row.loop_id)) {
            (None, Ok(loaded)) => {
                let view = seen(home, &loaded.state);
                let passed = view
                    .stories
                    .iter()
                    .filter(|story| story.status == "passed")
                    .count();
                // Writing to a String cannot fail.
                let disk = disk_use(&home.loop_folder(&row.loop_id), entries_max);
                let _ = writeln!(
                    text,
                    "{}  {:<11}  {passed}/{} passed  {:>10}  {}",
                    view.loop_id,
                    view.status,
                    view.stories.len(),
                    room(disk),
                    view.project
                );
                views.push(with_disk(json!(view), disk));
            }
            (quarantine, loaded) => {
                let why = quarantine.unwrap_or_else(|| {
                    loaded
                        .err()
                        .map(|failure| failure.message)
                        .unwrap_or_default()
                });
                let _ = writeln!(text, "{}  quarantined  {why}", row.loop_id);
                views
                    .push(json!({ "loopId": row.loop_id, "status": "failed", "reason": why, "stories": [] }));
            }
        }
    }
    let live = views.iter().any(|view| {
        !matches!(
            view["status"].as_str(),
            Some("completed" | "cancelled" | "failed")
        )
    });
    if live && !super::serve::is_worker_there(home) {
        output.talk("note: no worker is at work; `loopwright serve` goes on with the loops\n");
    }
    if text.is_empty() {
        output.talk("there are no loops yet; `loopwright start` makes one\n");
    }
    output.data(&text)?;
    output.result(|| json!({ "loops": views }))?;
    Ok(Exit::Done)
}

/// Shows one loop, and says by the exit code how it stands.
pub(super) fn result_of(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let loaded = load(journal, loop_id)?;
    let (view, ended) = (seen(home, &loaded.state), progress(&loaded.state));
    let fault = fault_of(home, loop_id);
    let disk = disk_use(&home.loop_folder(loop_id), ENTRIES_MAX);
    output.data(&text(&view))?;
    if !ended.is_empty() {
        let lines: String = ended
            .iter()
            .map(|ended| format!("  {}\n", ended.line()))
            .collect();
        output.data(&format!("progress\n{lines}"))?;
    }
    output.data(&format!("disk    {}\n", room(disk)))?;
    if let Some(fault) = &fault {
        output.data(&format!("fault   {fault}\n"))?;
    }
    output.result(|| {
        let mut value = with_disk(json!(view), disk);
        value["progress"] = ended.iter().map(progress_json).collect();
        if let Some(fault) = &fault {
            value["fault"] = fault.clone().into();
        }
        value
    })?;
    for action in next_actions(&view) {
        output.next(action);
    }
    Ok(exit_of(&view))
}

/// A loop as it stands on this machine: whatever it does next needs room on the disk.
fn seen(home: &Home, state: &State) -> LoopView {
    let mut view = loop_view(state);
    if matches!(view.status, "running" | "waiting") && !sandbox::has_room(home.root()) {
        view.status = "waiting";
        view.reason = format!(
            "the disk with {} is full; free some room there, and the loop goes on by itself",
            home.root().display()
        );
    }
    view
}

fn progress_json(ended: &Ended) -> Value {
    json!({ "storyId": ended.story, "atMs": ended.at_ms, "status": ended.how, "attempt": ended.attempt,
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

fn exit_of(view: &LoopView) -> Exit {
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

fn text(view: &LoopView) -> String {
    let reason = if view.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", view.reason)
    };
    let until = view.waiting_until_ms.filter(|_| view.status == "waiting");
    let until = until
        .map(|until_ms| format!(" until {} UTC", engine::moment(until_ms)))
        .unwrap_or_default();
    let mut out = format!("loop {}  {}{until}{reason}\n", view.loop_id, view.status);
    let _ = writeln!(
        out,
        "project {}\nbranch  {} at {}",
        view.project,
        view.branch,
        &view.head_sha[..12]
    );
    if let Some(why) = &view.unpublished {
        let _ = writeln!(out, "        not in your repository: {why}");
    }
    if !view.choices.is_empty() {
        let (id, choices) = (&view.loop_id, view.choices.join(", "));
        let _ = writeln!(out, "answer  {choices}: loopwright answer {id} WORD");
    }
    for story in &view.stories {
        let commit = story
            .commit_sha
            .as_ref()
            .map(|commit| format!("  {}", &commit[..12]))
            .unwrap_or_default();
        let attempts = if story.attempts > 1 {
            format!("  {} attempts", story.attempts)
        } else {
            String::new()
        };
        let detail = story
            .detail
            .lines()
            .next()
            .filter(|line| !line.is_empty())
            .map(|line| format!("  ({line})"));
        let _ = writeln!(
            out,
            "  {:<8} {}  {}{commit}{attempts}{}",
            story.status,
            story.id,
            story.title,
            detail.unwrap_or_default()
        );
    }
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
    if !used.is_empty() {
        let _ = writeln!(out, "used    {}", used.join(", "));
        out.extend(
            view.used_by
                .iter()
                .filter(|used| used.tokens.is_some())
                .map(used_by_line),
        );
    }
    if !matches!(view.status, "completed" | "cancelled" | "failed") {
        out.push_str(
            "agents  run on this host with your rights; there is no sandbox around them yet\n",
        );
    }
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

fn next_actions(view: &LoopView) -> Vec<NextAction> {
    let id = &view.loop_id;
    match view.status {
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
                && view.unpublished.is_none() =>
        {
            vec![NextAction::new(
                format!("git log {}", view.branch),
                "look at the accepted commits",
            )]
        }
        "completed" | "cancelled" | "failed" => {
            vec![NextAction::new(
                format!("loopwright runs {id}"),
                "see what was done",
            )]
        }
        _ => vec![NextAction::new(
            format!("loopwright watch {id}"),
            "follow it",
        )],
    }
}

pub(super) fn events(id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("events");
    let journal = open(&home()?)?;
    let loop_id = find(&journal, id)?;
    let events = public_events(&load(&journal, &loop_id)?.records);
    output.data(&events.iter().map(event_line).collect::<String>())?;
    output.result(|| json!({ "loopId": loop_id, "events": events }))?;
    Ok(Exit::Done)
}

/// One line per event: its name and what matters of its payload.
pub(super) fn event_line(event: &PublicEvent) -> String {
    let field = |name: &str| {
        event
            .data
            .get(name)
            .filter(|value| !value.is_null())
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
    };
    let short = |text: String| {
        text.lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(100)
            .collect::<String>()
    };
    let parts: Vec<String> = [
        "storyId",
        "attempt",
        "tool",
        "from",
        "to",
        "commitSha",
        "reason",
        "cause",
        "question",
        "summary",
    ]
    .into_iter()
    .filter_map(|name| field(name).map(|value| format!("{name}={}", short(value))))
    .collect();
    let until = event.data.get("until").and_then(Value::as_i64);
    let until = until
        .map(|until_ms| format!(" until={} UTC", engine::moment(until_ms)))
        .unwrap_or_default();
    format!("{}  {}{until}\n", event.name, parts.join(" "))
}

pub(super) fn watch(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("watch");
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = match id {
        Some(id) => find(&journal, id)?,
        None => latest(&journal)?,
    };
    output.talk(&format!(
        "Ctrl-C leaves it; `loopwright watch {loop_id}` comes back\n"
    ));
    super::serve::ensure_worker(&home)?;
    follow(&home, &loop_id, output)
}

pub(super) fn latest(journal: &Journal) -> Result<String, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    // Ids begin with their time, so the last is the newest.
    let newest = rows.into_iter().map(|row| row.loop_id).next_back();
    newest.ok_or_else(|| {
        Failure::bad_input("there are no loops yet").hint("`loopwright start` makes one")
    })
}

/// Shows events as they come until the loop is over or asks for a person.
pub(super) fn follow(home: &Home, loop_id: &str, output: &mut Output) -> Result<Exit, Failure> {
    const REST: Duration = Duration::from_millis(100);
    let journal = open(home)?;
    let (mut told, mut loaded) = (0, load(&journal, loop_id)?);
    loop {
        let events = public_events(&loaded.records);
        for event in &events[told.min(events.len())..] {
            output.talk(&event_line(event));
        }
        told = events.len();
        if loaded.state.ended().is_some() || loaded.state.question().is_some() {
            return result_of(home, &journal, loop_id, output);
        }
        while !has_news(&journal, loop_id, &loaded)? {
            std::thread::sleep(REST);
        }
        loaded = load(&journal, loop_id)?;
    }
}
