//! Known agent CLIs as runs: a config home of ours, the operator's credentials by link, the CLI's
//! own command line, and what its stream says in the end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agents::{
    Clock, CommandSpec, Ended, Exit, Keep, Kind, Outcome, Parser, Price, Prices, RunSummary,
    Session, Sessions, Tokens, Usage,
};
use kernel::{RunOutcome, RunUsage};
use sandbox::{ExitCause, ExitRecord, RunSpec, StopSignal, Stream};

use crate::candidate::words;
use crate::credentials;
use crate::settings::AgentSettings;

/// Bytes of standard error that are looked at.
const STDERR_BYTES: usize = 16 * 1024;

/// The kind of an agent; any program unless its settings say otherwise.
pub(crate) fn kind_of(agent: &AgentSettings) -> Kind {
    agent
        .kind
        .as_deref()
        .and_then(Kind::of_word)
        .unwrap_or(Kind::Command)
}

/// The config home of an agent, among those of its loop.
pub(crate) fn config_home(homes: &Path, agent: &str) -> PathBuf {
    homes.join(workspace::ref_component(agent))
}

/// What an agent is asked, in which form, and in which session.
pub(crate) struct Wanted<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) schema: Option<&'a str>,
    pub(crate) session: Session,
}

/// Makes an agent's config home ready and gives the command of a run in it; nothing for an agent
/// that is any program.
pub(crate) fn equip(
    agent: &AgentSettings,
    wanted: &Wanted<'_>,
    checkout: &Path,
    config_home: &Path,
    client: &Path,
) -> Result<Option<CommandSpec>, String> {
    let kind = kind_of(agent);
    if kind == Kind::Command {
        return Ok(None);
    }
    fs::create_dir_all(config_home).map_err(words)?;
    fs::set_permissions(config_home, fs::Permissions::from_mode(0o700)).map_err(words)?;
    let home = fs::canonicalize(config_home).map_err(words)?;
    let spec = kind.command(&agents::Task {
        prompt: wanted.prompt.to_owned(),
        model: agent.model.clone(),
        effort: agent.effort.clone(),
        schema: wanted
            .schema
            .filter(|_| kind.facts().takes_schema)
            .map(str::to_owned),
        session: wanted.session.clone(),
        checkout: fs::canonicalize(checkout).map_err(words)?,
        config_home: home.clone(),
        program: agent.program.clone(),
        client: client.to_owned(),
        extra_args: agent.args.clone(),
    });
    for file in &spec.files {
        let path = home.join(&file.path);
        if file.keep == Keep::Ours || !path.exists() {
            write_into(&path, file.content.as_bytes())?;
        }
    }
    for (name, from) in &agent.files {
        let bytes = fs::read(from)
            .map_err(|error| format!("cannot read `{from}` for `{name}`: {error}"))?;
        write_into(&home.join(name), &bytes)?;
    }
    credentials::link(&home, &spec.links)?;
    Ok(Some(spec))
}

/// Puts a CLI's command into the keeper's orders.
pub(crate) fn order(command: &CommandSpec, agent: &AgentSettings, spec: &mut RunSpec) {
    spec.program.clone_from(&command.program);
    spec.args.clone_from(&command.args);
    spec.env
        .retain(|name, _| !command.removed_env.contains(name));
    spec.env.extend(command.env.clone());
    spec.env.extend(command.filled_in(&agent.env));
    spec.pass_env = [&command.pass_env[..], &agent.pass_env[..]].concat();
    spec.stop_signal = match command.stop_signal {
        agents::StopSignal::Term => StopSignal::Term,
        agents::StopSignal::Int => StopSignal::Int,
    };
    spec.idle_secs = spec.idle_secs.or(Some(command.idle_secs));
}

fn write_into(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(words)?;
    }
    fs::write(path, bytes).map_err(words)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(words)
}

/// What the stream of a CLI that was cut off with its keeper says so far.
pub(crate) fn summary_so_far(kind: Kind, run_folder: &Path) -> RunSummary {
    let mut parser = Parser::new(kind);
    let output = sandbox::output(run_folder, Stream::Stdout).unwrap_or_default();
    parser.push(output.text(usize::MAX, None).as_bytes());
    let exit = Exit {
        ended: Ended::Stopped,
        code: None,
        signal: None,
        stderr_tail: String::new(),
    };
    parser.finish(&exit, &clock(0))
}

/// The session that a run which was cut off can be gone on with: the CLI can, it had begun to work,
/// and its files are there.
pub(crate) fn resumable(kind: Kind, summary: &RunSummary, checkout: &Path) -> Option<String> {
    // A session that is too long stays so, and one that was forbidden something has learned to do
    // without.
    let is_spoilt = matches!(
        summary.outcome,
        Outcome::ContextOverflow | Outcome::PermissionDenied
    );
    let can = kind.facts().sessions != Sessions::None
        && !is_spoilt
        && summary.n_tool_calls > 0
        && checkout.is_dir();
    summary
        .session
        .as_ref()
        .filter(|_| can)
        .map(|session| session.as_str().to_owned())
}

/// What a CLI's stream and end say.
pub(crate) fn summarize(
    kind: Kind,
    run_folder: &Path,
    exit: &ExitRecord,
    now_ms: i64,
) -> RunSummary {
    let mut parser = Parser::new(kind);
    let output = sandbox::output(run_folder, Stream::Stdout).unwrap_or_default();
    let length = exit.stdout_bytes + exit.stdout_dropped;
    parser.push(output.text(usize::MAX, Some(length)).as_bytes());
    let errors = sandbox::output(run_folder, Stream::Stderr).unwrap_or_default();
    let ended = match &exit.cause {
        ExitCause::Exited => Ended::Itself,
        ExitCause::WallTimeout => Ended::WallTimeout,
        ExitCause::IdleTimeout => Ended::IdleTimeout,
        ExitCause::Stopped => Ended::Stopped,
        ExitCause::CannotStart { why } => Ended::CannotStart { why: why.clone() },
    };
    let stderr_tail = String::from_utf8_lossy(errors.tail(STDERR_BYTES)).into_owned();
    let exit = Exit {
        ended,
        code: exit.exit_code,
        signal: exit.signal,
        stderr_tail,
    };
    parser.finish(&exit, &clock(now_ms))
}

/// The time here, as CLIs name it.
fn clock(now_ms: i64) -> Clock {
    let now_ms = u64::try_from(now_ms).unwrap_or_default();
    let offset = local_offset_secs(now_ms);
    let named = std::env::var("TZ").ok().or_else(|| {
        let link = fs::read_link("/etc/localtime").ok()?;
        link.to_str()?
            .split_once("zoneinfo/")
            .map(|(_, name)| name.to_owned())
    });
    let zones = named
        .into_iter()
        .map(|name| (name.trim_start_matches(':').to_owned(), offset))
        .collect();
    Clock {
        now_ms,
        local_offset_secs: offset,
        zones,
    }
}

/// How far the machine's zone is ahead of UTC, asked of `date`: no crate is needed for one number.
/// GNU takes the moment one way, BSD and macOS another.
fn local_offset_secs(now_ms: u64) -> i32 {
    let secs = now_ms / 1000;
    let ask = |arguments: [String; 3]| {
        let said = std::process::Command::new("date")
            .args(arguments)
            .output()
            .ok()?;
        said.status
            .success()
            .then(|| offset_secs(&String::from_utf8_lossy(&said.stdout)))
            .flatten()
    };
    let format = || "+%z".to_owned();
    ask(["-d".to_owned(), format!("@{secs}"), format()])
        .or_else(|| ask(["-r".to_owned(), secs.to_string(), format()]))
        .unwrap_or_default()
}

/// Reads `+0130`, as `date` writes an offset.
fn offset_secs(text: &str) -> Option<i32> {
    let (sign, digits) = match text.trim().split_at_checked(1)? {
        ("-", digits) => (-1, digits),
        ("+", digits) => (1, digits),
        _ => return None,
    };
    let part =
        |range: std::ops::Range<usize>| digits.get(range).and_then(|part| part.parse::<i32>().ok());
    (digits.len() == 4).then_some(sign * (part(0..2)? * 3600 + part(2..4)? * 60))
}

/// What came before a try.
pub(crate) struct History {
    /// Whether an earlier one's session outgrew the model.
    pub(crate) has_outgrown: bool,
    /// Whether the one before ended in trouble that was not the story's.
    pub(crate) has_failed: bool,
    /// Whether it goes on in an earlier one's session.
    pub(crate) goes_on: bool,
    /// The time.
    pub(crate) now_ms: i64,
}

/// What the journal keeps of a session that was too long, by which a second one is known.
pub(crate) const OUTGREW: &str = "the session outgrew the model";

/// A wait that is worth giving the work to somebody else.
const LONG_WAIT_MS: i64 = 60_000;

/// What an end that is not a good one means; nothing for a run that is done.
pub(crate) fn unhappy(kind: Kind, summary: &RunSummary, history: &History) -> Option<RunOutcome> {
    let now_ms = history.now_ms;
    let facts = kind.facts();
    let said = summary
        .message
        .as_deref()
        .map(|message| format!(": {message}"))
        .unwrap_or_default();
    let name = facts.name;
    let wait = |what: &str, until_ms: Option<i64>, elsewhere: bool| RunOutcome::Infrastructure {
        why: format!("{name}: {what}{said}"),
        until_ms,
        elsewhere,
    };
    // A hiccup is over sooner than somebody else has read the task.
    let is_long = |until_ms: Option<i64>| {
        until_ms.map_or(history.has_failed, |until_ms| {
            until_ms.saturating_sub(now_ms) > LONG_WAIT_MS
        })
    };
    let ask = |what: String| RunOutcome::NeedsHuman {
        question: format!("{name} {what}{said}; then answer `retry`"),
        free: false,
    };
    // Whatever a CLI says that cannot find its session, or not any more: the next try is a fresh
    // one, and tells the truth.
    let is_strange =
        matches!(summary.outcome, Outcome::Protocol { .. }) && summary.n_tool_calls == 0;
    if history.goes_on && (summary.is_session_lost || is_strange) {
        return Some(RunOutcome::Interrupted {
            why: format!("{name}: the session is lost{said}"),
        });
    }
    let millis = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Some(match &summary.outcome {
        Outcome::Done => return None,
        Outcome::Failed => RunOutcome::Failed {
            why: format!("{name} gave up{said}"),
        },
        Outcome::Interrupted => RunOutcome::Interrupted {
            why: format!("{name} was cut off{said}"),
        },
        // A fresh session may help once, and twice is the story's own size.
        Outcome::ContextOverflow if history.has_outgrown => RunOutcome::Failed {
            why: format!("{name}: {OUTGREW} twice{said}"),
        },
        Outcome::ContextOverflow => RunOutcome::Interrupted {
            why: format!("{name}: {OUTGREW}{said}"),
        },
        Outcome::UsageLimit { until_ms } => {
            wait("the allowance is used up", until_ms.map(millis), true)
        }
        Outcome::RateLimited { after_ms } => {
            let until_ms = after_ms.map(|after| now_ms.saturating_add(millis(after)));
            wait("too many requests", until_ms, is_long(until_ms))
        }
        Outcome::Overloaded => wait("the model's servers are in trouble", None, is_long(None)),
        Outcome::Network => wait("the model's servers cannot be reached", None, is_long(None)),
        Outcome::NotInstalled => ask(format!("cannot be started; install it: {}", facts.install)),
        Outcome::TooOld => ask(format!("is too old; install it anew: {}", facts.install)),
        Outcome::NotLoggedIn => ask(format!("is not logged in; run: {}", facts.log_in)),
        Outcome::Billing => {
            ask("has nothing left to spend; add credit or raise the plan".to_owned())
        }
        Outcome::PermissionDenied => ask("was forbidden something that it needs".to_owned()),
        Outcome::NeedsAnswer { question } => RunOutcome::NeedsHuman {
            question: question.clone(),
            free: true,
        },
        Outcome::Protocol { line } => {
            ask(format!("said something that is not understood (`{line}`)"))
        }
    })
}

/// What a run used beyond what its session had used before, as the journal keeps it; what was not
/// told is not known.
pub(crate) fn usage_of(
    summary: &RunSummary,
    before: &RunUsage,
    model: Option<&str>,
    prices: &[Price],
) -> Option<RunUsage> {
    let usage = summary.usage.beyond(&counted(before));
    let tokens = usage.tokens;
    let model = summary.model.as_deref().or(model);
    let by_table = || Prices::new(prices.to_vec()).cost_micro_usd(model?, &tokens?);
    let cost = usage.cost_micro_usd.or_else(by_table);
    if tokens.is_none() && cost.is_none() {
        return None;
    }
    Some(RunUsage {
        model: model.map(str::to_owned),
        input_tokens: tokens.map(|tokens| tokens.input),
        cached_tokens: tokens.map(|tokens| tokens.cached),
        output_tokens: tokens.map(|tokens| tokens.output),
        cost_micro_usd: cost,
        session: summary
            .session
            .as_ref()
            .map(|session| session.as_str().to_owned()),
        goes_on: false,
    })
}

/// What the runs of a session before this one were counted with.
fn counted(before: &RunUsage) -> Usage {
    let tokens = Tokens {
        input: before.input_tokens.unwrap_or_default(),
        cached: before.cached_tokens.unwrap_or_default(),
        output: before.output_tokens.unwrap_or_default(),
    };
    let tokens = before.tokens().map(|_| tokens);
    Usage {
        tokens,
        cost_micro_usd: before.cost_micro_usd,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_read() {
        for (text, expected) in [
            ("+0000\n", Some(0)),
            ("+0130\n", Some(5400)),
            ("-0800", Some(-28_800)),
            ("", None),
            ("+1", None),
            ("date: illegal option -- d", None),
        ] {
            assert_eq!(offset_secs(text), expected, "{text}");
        }
    }
}
