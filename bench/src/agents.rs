//! What our adapter adds to a bare call of an agent CLI: making the command, the run's folder, the
//! keeper, parsing. The same real CLI, the same scripted model, the same prompt and command line,
//! bare and under our keeper in turns.
//!
//! Counted is processor time, user and system, by the shell's own stopwatch: once around all of
//! ours, from a worker's stand-in to the last process that it leaves, and once around the CLI
//! inside of it. The difference is ours. The CLIs are those that `cargo xtask ci --only agents`
//! installs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ::agents::{Clock, CommandSpec, Exit, Kind, Outcome as End, Parser, Task};
use sandbox::{ExitRecord, RunSpec, RunView, Stream};
use serde_json::json;
use testkit::{ModelServer, Step};

use crate::driven::program;
use crate::talk::{Outcome, say};

const ROUNDS: usize = 7;
const PROMPT: &str = "Create hello.txt with one line.\n";
/// How often a run is looked at; a worker does so too.
const LOOK: Duration = Duration::from_millis(50);
const OUTPUT_BYTES_MAX: u64 = 8 << 20;

/// Runs a program and writes down the seconds of processor time that it and all that it waited for
/// took.
const STOPWATCH: &str =
    "TIMEFORMAT='%U %S'; figures=$1; shift; { time \"$@\" 2>&3; } 3>&2 2> \"$figures\"; exit $?";

pub(crate) fn run() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    let server = ModelServer::answering(0, |request| match request.n_tool_results() {
        0 => Step::shell("echo hello > hello.txt"),
        _ => Step::text("All done: hello.txt is there."),
    });
    let stopwatch = of_the_stopwatch(scratch.path())?;
    for kind in [Kind::Codex, Kind::Claude, Kind::Pi] {
        let folder = scratch.path().join(kind.facts().name);
        let mut figures: Vec<Figures> = Vec::new();
        // The first round fills the CLI's caches and is not counted.
        for round in 0..=ROUNDS {
            let bare = bare(kind, &folder.join("bare"), &server.url())?;
            let (all, cli) = ours(&folder.join("ours"), kind, &server.url(), round)?;
            figures.push(Figures {
                bare,
                all,
                cli,
                added: all - cli,
            });
        }
        tell(kind, &figures[1..]);
    }
    say(&format!(
        "medians of {ROUNDS} runs each, in turns; processor time, user and system. Added = all that our side takes from making the \
         command to the parsed end (a worker's stand-in with its own start, the keeper and the process between them) without the \
         CLI and its tools; {stopwatch:.1} ms of it are the stopwatch itself"
    ));
    Ok(())
}

/// Milliseconds of one round.
struct Figures {
    bare: f64,
    all: f64,
    cli: f64,
    added: f64,
}

fn tell(kind: Kind, figures: &[Figures]) {
    let median = |of: fn(&Figures) -> f64| {
        let mut all: Vec<f64> = figures.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let most = figures.iter().map(|one| one.added).fold(0.0, f64::max);
    let (bare, all) = (median(|one| one.bare), median(|one| one.all));
    say(&format!(
        "{:7} bare {bare:6.0} ms, under the keeper {all:6.0} ms ({:.3}×), of these the CLI {:6.0} ms; added by us {:5.1} ms a run, at most {most:.1} ms",
        kind.facts().name,
        all / bare,
        median(|one| one.cli),
        median(|one| one.added),
    ));
}

fn stopwatch(figures: &Path, program: &str, args: &[String]) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", STOPWATCH, "stopwatch"])
        .arg(figures)
        .arg(program)
        .args(args);
    command
}

fn read_ms(figures: &Path) -> Outcome<f64> {
    let text = fs::read_to_string(figures)?;
    let parts: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    Ok(parts
        .map_err(|_| format!("no figures but `{text}`"))?
        .iter()
        .sum::<f64>()
        * 1000.0)
}

/// What a stopwatch inside of another one adds.
fn of_the_stopwatch(folder: &Path) -> Outcome<f64> {
    let (outer, inner) = (folder.join("outer"), folder.join("inner"));
    let args = [
        "-c",
        STOPWATCH,
        "stopwatch",
        &inner.display().to_string(),
        "true",
    ]
    .map(str::to_owned);
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        stopwatch(&outer, "bash", &args).status()?;
        all.push(read_ms(&outer)? - read_ms(&inner)?);
    }
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

/// The CLI alone, by the command line that our adapter makes.
fn bare(kind: Kind, folder: &Path, url: &str) -> Outcome<f64> {
    let (command, env) = equip(kind, folder, url)?;
    let figures = folder.join("figures");
    let mut call = stopwatch(&figures, &command.program, &command.args);
    call.env_clear()
        .envs(&env)
        .current_dir(folder.join("checkout"));
    call.stdin(File::open(folder.join("prompt"))?)
        .stdout(File::create(folder.join("stdout"))?);
    let status = call.stderr(Stdio::null()).status()?;
    let mut parser = Parser::new(kind);
    parser.push(&fs::read(folder.join("stdout"))?);
    let end = parser.finish(
        &Exit::with_code(status.code().unwrap_or(-1)),
        &Clock::default(),
    );
    if end.outcome != End::Done {
        return Err(format!(
            "the bare CLI ended with {:?}: {:?}",
            end.outcome, end.message
        )
        .into());
    }
    read_ms(&figures)
}

/// All of ours in a process of its own, and of that the CLI.
fn ours(folder: &Path, kind: Kind, url: &str, round: usize) -> Outcome<(f64, f64)> {
    fs::create_dir_all(folder)?;
    let (all, cli) = (folder.join("all"), folder.join("cli"));
    let round = format!("run-{round}");
    let own = std::env::current_exe()?.display().to_string();
    let words = [
        "agent-run",
        kind.facts().name,
        &folder.display().to_string(),
        url,
        &round,
    ]
    .map(str::to_owned);
    let output = stopwatch(&all, &own, &words).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned().into());
    }
    Ok((read_ms(&all)?, read_ms(&cli)?))
}

/// What `bench agent-run KIND FOLDER URL RUN` does: one run as a worker has it made, from the
/// command to the parsed end.
pub(crate) fn run_one(words: &[String]) -> Outcome<()> {
    let [kind, folder, url, run] = words else {
        return Err("agent-run KIND FOLDER URL RUN".into());
    };
    let kind = Kind::of_word(kind).ok_or("no such kind")?;
    let folder = PathBuf::from(folder);
    // The keeper has nobody above it and comes to us when it ends, so that it is counted.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (command, env) = equip(kind, &folder, url)?;
    let run_folder = folder.join(run);
    sandbox::prepare(&run_folder, &order(&command, env, &folder))?;
    sandbox::launch(&program()?, &run_folder)?;
    let exit = loop {
        match sandbox::look(&run_folder)? {
            RunView::Ended(exit) => break exit,
            RunView::NotStarted | RunView::Running(_) => std::thread::sleep(LOOK),
            other => return Err(format!("the run was lost: {other:?}").into()),
        }
    };
    parse(kind, &run_folder, &exit)?;
    while rustix::process::wait(rustix::process::WaitOptions::empty())
        .is_ok_and(|ended| ended.is_some())
    {}
    Ok(())
}

fn parse(kind: Kind, run_folder: &Path, exit: &ExitRecord) -> Outcome<()> {
    let mut parser = Parser::new(kind);
    let length = exit.stdout_bytes + exit.stdout_dropped;
    parser.push(
        sandbox::output(run_folder, Stream::Stdout)?
            .text(usize::MAX, Some(length))
            .as_bytes(),
    );
    let end = parser.finish(
        &Exit::with_code(exit.exit_code.unwrap_or(-1)),
        &Clock::default(),
    );
    match end.outcome {
        End::Done => Ok(()),
        other => Err(format!("the run ended with {other:?}: {:?}", end.message).into()),
    }
}

/// The keeper's orders; inside of them the stopwatch, and inside of that the CLI.
fn order(command: &CommandSpec, env: BTreeMap<String, String>, folder: &Path) -> RunSpec {
    let figures = folder.join("cli").display().to_string();
    let watch = ["-c", STOPWATCH, "stopwatch", &figures, &command.program].map(str::to_owned);
    RunSpec {
        run_id: "bench".to_owned(),
        program: "bash".to_owned(),
        args: [&watch[..], &command.args].concat(),
        cwd: folder.join("checkout"),
        env,
        pass_env: Vec::new(),
        pass_env_file: None,
        marks: Vec::new(),
        unnamed: false,
        stdin: Some(folder.join("prompt")),
        wall_secs: command.wall_secs,
        idle_secs: Some(command.idle_secs),
        grace_secs: 10,
        output_bytes_max: OUTPUT_BYTES_MAX,
        stop_signal: sandbox::StopSignal::Term,
        ends_with: None,
        stream: None,
        takes_ports: false,
        unflushed: false,
        jail: None,
    }
}

/// Makes checkout, config home and prompt, and gives the adapter's command with its environment.
fn equip(kind: Kind, folder: &Path, url: &str) -> Outcome<(CommandSpec, BTreeMap<String, String>)> {
    let (checkout, home) = (folder.join("checkout"), folder.join("home"));
    fs::create_dir_all(&home)?;
    if !checkout.exists() {
        fs::create_dir_all(&checkout)?;
        fs::write(checkout.join("README"), "a project\n")?;
        workspace::init_repository(&checkout, "start")?;
    }
    let tools = std::env::current_exe()?
        .ancestors()
        .nth(2)
        .ok_or("no target folder")?
        .join("tools/agents");
    let entry = entry(kind, &tools, url);
    let task = Task {
        prompt: PROMPT.to_owned(),
        model: Some(entry.model.to_owned()),
        checkout: fs::canonicalize(&checkout)?,
        config_home: fs::canonicalize(&home)?,
        program: Some(entry.program.display().to_string()),
        extra_args: entry.args,
        ..Task::default()
    };
    let command = kind.command(&task);
    let own = command
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.content.clone()));
    for (path, content) in own.chain(entry.files) {
        fs::write(home.join(path), content)?;
    }
    fs::write(folder.join("prompt"), &command.stdin)?;
    let path = format!(
        "{}:/usr/local/bin:/usr/bin:/bin",
        tools.join("node22/node_modules/.bin").display()
    );
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), path),
        ("HOME".to_owned(), home.display().to_string()),
    ]);
    env.extend(command.env.clone());
    env.extend(
        entry
            .env
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    );
    Ok((command, env))
}

/// What an operator with a gateway writes about an agent.
struct Entry {
    program: PathBuf,
    model: &'static str,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    files: Vec<(&'static str, String)>,
}

fn entry(kind: Kind, tools: &Path, url: &str) -> Entry {
    let name = kind.facts().name;
    let modules = tools.join(name).join("node_modules");
    let mut entry = Entry {
        program: modules.join(".bin").join(name),
        model: "scripted/scripted-model",
        args: Vec::new(),
        env: Vec::new(),
        files: Vec::new(),
    };
    match kind {
        Kind::Codex => {
            let native = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
            (entry.program, entry.model) = (modules.join(native), "gpt-5.5");
            let provider = format!(
                "model_providers.scripted={{name=\"scripted\",base_url=\"{url}/v1\",env_key=\"SCRIPTED_KEY\",wire_api=\"responses\"}}"
            );
            entry.args = ["-c", "model_provider=\"scripted\"", "-c", &provider]
                .map(str::to_owned)
                .into();
            entry.env = vec![("SCRIPTED_KEY", "dummy".to_owned())];
        }
        Kind::Claude => {
            entry.model = "claude-sonnet-4-5";
            entry.env = vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ANTHROPIC_API_KEY", "dummy".to_owned()),
            ];
        }
        _ => {
            let model = json!({"id": "scripted-model", "name": "scripted", "input": ["text"], "contextWindow": 128_000,
                "maxTokens": 8000, "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0}});
            let provider = json!({"baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "dummy",
                "models": [model]});
            entry.files = vec![(
                "models.json",
                json!({"providers": {"scripted": provider}}).to_string(),
            )];
        }
    }
    entry
}
