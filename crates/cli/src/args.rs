//! The command line as people type it. The first line of each comment is what `--help` shows.

mod prd;
mod runs;
mod started;
mod task;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use self::prd::{FmtSyntax, MarkState, OrderFormat, PrdCommand, PrdSource};
pub(crate) use self::runs::{RunState, RunsArgs};
pub(crate) use self::started::read_started;
pub(crate) use self::task::TaskCommand;
pub use self::task::{OnFailure, PlanArgs, RalphArgs};
use crate::steer_args::SteerCommand;

/// Run durable, autonomous coding loops
///
/// You write a PRD (stories with acceptance criteria), start a loop and go away. You come back to a
/// branch in which every commit was proven by somebody other than its author.
///
/// Exit codes: 0 done, 1 finished with skipped stories, 2 bad input, 3 environment, 4 waiting for a
/// person, 70 a bug in loopwright, 130 interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "loopwright",
    bin_name = "loopwright",
    version,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Global {
    /// Print one JSON object on stdout instead of text
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// When to use colours; `NO_COLOR` is obeyed
    #[arg(
        long,
        global = true,
        display_order = 901,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// A form that other programs rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    Envelope,
    Config,
    Events,
    Prd,
}

impl SchemaName {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Envelope => "envelope",
            Self::Config => "config",
            Self::Events => "events",
            Self::Prd => "prd",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check, show, order and format PRD files
    #[command(subcommand)]
    Prd(PrdCommand),
    /// Show, claim and complete the tasks of a plan, across all worktrees of a repository
    #[command(subcommand)]
    Task(TaskCommand),
    #[command(flatten)]
    Loop(LoopCommand),
    /// The same verbs under one name: `loop start`, `loop status`, …
    #[command(name = "loop", subcommand, hide = true)]
    LoopVerb(LoopCommand),
    /// Create a `loopwright.toml` with the agents and checks that are found, and a sample PRD
    ///
    /// Files that are there stay as they are.
    Init {
        /// The project's folder; by default the nearest one upwards with a `loopwright.toml`, or else
        /// the current one
        #[arg(long, value_name = "FOLDER")]
        project: Option<PathBuf>,
        /// Show the files without making them
        #[arg(long)]
        dry_run: bool,
        /// Write only a `justfile` with the recipes of the task-graph loop
        #[arg(long)]
        just: bool,
    },
    /// Check that everything a loop needs is there, and say how to fix what is not
    Doctor {
        /// The project's folder; by default the nearest one upwards with a `loopwright.toml`, or else
        /// the current one
        #[arg(long, value_name = "FOLDER")]
        project: Option<PathBuf>,
    },
    /// List the agents of a project and of this machine, with their results so far
    Agents {
        /// The project's folder; by default the nearest one upwards with a `loopwright.toml`, or else
        /// the current one
        #[arg(long, value_name = "FOLDER")]
        project: Option<PathBuf>,
    },
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Let the system keep a worker running, also after a reboot
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Look at the worker, end it, or replace it
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Show a page of the documentation, such as `config`, or of a diagnostic code, such as PRD004
    ///
    /// Without a topic, lists all of them.
    Explain {
        /// The topic, or the code as printed in brackets
        topic: Option<String>,
    },
    /// Print the JSON Schema of what programs read and write
    ///
    /// Without a name, lists all schemas.
    Schema {
        /// Which one
        name: Option<SchemaName>,
    },
    /// Print tab completions for a shell
    ///
    /// Those for bash, zsh and fish also complete loops, stories and runs.
    ///
    /// For bash: loopwright completions bash >
    /// ~/.local/share/bash-completion/completions/loopwright
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command, or write all of them into a folder
    ///
    /// To read one: loopwright man start | man -l -
    ///
    /// To install them: loopwright man --folder ~/.local/share/man/man1
    Man {
        /// The command, such as `start` or `prd check`; without one, the program itself
        #[arg(conflicts_with = "folder")]
        command: Vec<String>,
        /// Write a page for every command into this folder, which is made if it is not there
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Say what the last of these words may become; asked by the scripts of `completions`
    #[command(hide = true)]
    Complete {
        /// The words after the program's name
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Run a real loop on a small example repository; needs no key and no model
    Demo {
        /// Use this new folder, instead of one among the temporary files; either stays until you
        /// remove it
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
    },
    #[command(flatten)]
    Process(ProcessCommand),
}

/// Commands that are processes of their own. The program starts them itself; only `serve` is for
/// people.
#[derive(Debug, Subcommand)]
pub enum ProcessCommand {
    /// Run the worker, which does the work of all loops
    ///
    /// `start` starts one in the background if it is needed; there is never more than one.
    Serve {
        /// Exit when there is nothing left to do
        #[arg(long)]
        until_idle: bool,
        /// Leave the terminal's session
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Work through a task graph: claim the next task, give its prompt to an agent, repeat
    ///
    /// It stays in this terminal and works in the checkout where you start it. Several may run at
    /// once, in as many worktrees: no task is done twice. A task is complete when its agent runs
    /// `loopwright task complete ID`, and the project's checks are green where they are known.
    ///
    /// Exit code 0 when all tasks are complete or what is left is blocked, 1 if a task failed on the
    /// way, 130 and 143 after SIGINT and SIGTERM.
    #[command(args_override_self = true)]
    Ralph(Box<RalphArgs>),
    /// Wait beside a worker and start the next one when a loop's wait is over
    #[command(hide = true)]
    Wake,
    /// Measure what a check's run asks for; started by a keeper, not by people
    #[command(hide = true)]
    Measure {
        /// The run's folder
        folder: PathBuf,
    },
    /// Take one turn with an agent that speaks ACP; started by a keeper, not by people
    #[command(hide = true)]
    AcpClient(AcpClient),
    /// Own one run; started by the worker, not by people
    #[command(hide = true)]
    Keeper {
        /// The run's folder
        folder: PathBuf,
    },
}

/// One turn over ACP, the prompt on standard input.
#[derive(Debug, ClapArgs)]
pub struct AcpClient {
    /// The model, in the agent's own words
    #[arg(long)]
    pub model: Option<String>,
    /// Reasoning effort to ask the model for, in the agent's own words
    #[arg(long)]
    pub effort: Option<String>,
    /// The session to resume
    #[arg(long, value_name = "SESSION")]
    pub resume: Option<String>,
    /// The agent's program
    pub program: String,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every effective value and where it comes from
    ///
    /// Later layers win, key by key: shipped defaults, your own file, the project's
    /// `loopwright.toml`, the environment (`LOOPWRIGHT_LOOP_MAX_RETRIES=3`), flags.
    Show {
        /// The project's folder; by default the nearest one upwards with a `loopwright.toml`, or else
        /// the current one
        #[arg(long, value_name = "FOLDER")]
        project: Option<PathBuf>,
        /// Show it as if this were given to `start`, such as `loop.max_retries=3`; may be given
        /// several times
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Install a worker as a systemd user unit or a launchd agent, and start it
    ///
    /// Restarting the service ends only the worker: agents continue, and the next worker adopts
    /// them.
    Install {
        /// Show the file without changing anything
        #[arg(long, visible_alias = "print")]
        dry_run: bool,
    },
    /// Say whether the service is installed and running; exit code 1 if it is not
    Status,
    /// Stop the service's worker and remove the service; agents continue
    Uninstall,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Say whether a worker is at work; exit code 1 if none is, 3 if it cannot work
    Status,
    /// End the worker; runs under way continue, and start a worker again when they end
    Stop,
    /// End the worker, if there is one, and start another; runs under way continue
    Restart,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoopCommand {
    /// Start a loop; it continues without this terminal
    Start(StartArgs),
    /// Show where a loop stands; without an id, all loops that are not over and the ten that ended
    /// last
    Status {
        /// The loop's id, or the beginning or end of it
        id: Option<String>,
    },
    /// List all loops
    List,
    /// Show a loop's public events
    Events {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
        /// Follow until the loop is over or asks; with `--json`, one event per line
        #[arg(long, short)]
        follow: bool,
    },
    /// Follow a loop in this terminal until it is over or asks; Ctrl-C leaves it running
    ///
    /// A terminal shows every story with what its agents do right now. Elsewhere every event is a
    /// line. With `--json`, every line is an event, and the last one the result.
    Watch {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
    },
    /// Show why a story passed or failed: criteria, tests, results, the judge's words, the commit
    #[command(override_usage = "loopwright story [OPTIONS] [ID] STORY")]
    Story {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
        /// The story's id, which may also stand alone
        story: Option<String>,
        /// Print Markdown, as for the body of a pull request
        #[arg(long)]
        markdown: bool,
        /// Show what went well too, of a story that did not pass
        #[arg(long)]
        all: bool,
    },
    /// Show a whole loop on one page: stories, time, cost, what each role caught, what to look at
    Report {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
        /// Print Markdown, as for the body of a pull request
        #[arg(long)]
        markdown: bool,
    },
    /// Show what a story changed, or the whole loop: what landed, or else the last candidate
    Diff {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
        /// The story's id, which may also stand alone; without one, everything that the loop accepted
        story: Option<String>,
        /// This attempt's candidate, also one that was rejected
        #[arg(long, value_name = "N")]
        attempt: Option<u32>,
        /// Only the files, each with how much changed
        #[arg(long)]
        stat: bool,
    },
    /// Put a story's work, accepted or not, into a work tree of its own to try it
    #[command(override_usage = "loopwright checkout [OPTIONS] [ID] STORY [FOLDER]")]
    Checkout {
        /// The loop's id, or the beginning or end of it; by default the newest of this folder
        id: Option<String>,
        /// The story's id, which may also stand alone
        story: Option<String>,
        /// A new folder; by default one beside the project
        folder: Option<PathBuf>,
        /// This attempt's candidate, also one that was rejected
        #[arg(long, value_name = "N")]
        attempt: Option<u32>,
    },
    /// List the runs of a loop, or the newest of all loops: which role, which agent, how it ended
    Runs(RunsArgs),
    /// Show the whole trace of one run: prompt, command, timings, outcome, output
    Run {
        /// The run's id, as `runs` shows it
        run_id: String,
    },
    /// Show what agents did and said, and what checks printed
    Logs(LogsArgs),
    /// Remove everything of a loop that is over, or of all such loops
    Nuke {
        /// The loop's id, or the beginning or end of it, or `dead` for all that are over
        what: String,
        /// Remove it even if its accepted commits exist nowhere else
        #[arg(long)]
        force: bool,
        /// Show what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove repositories, logs and checkouts of loops that ended long ago
    ///
    /// `[retention] days` says how long ago, 30 by default. The journal keeps what happened, and a
    /// loop whose accepted commits exist nowhere else is kept entirely. The worker does the same
    /// every hour.
    Clean {
        /// Use this many days instead; 0 removes every loop that is over
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Show what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// End a loop and all its processes; unfinished work is kept aside
    Cancel {
        /// The loop's id, or the beginning or end of it; not needed if only one loop is live in this
        /// folder
        id: Option<String>,
        /// Why, for the record
        #[arg(long, default_value = "cancelled by hand")]
        reason: String,
    },
    /// Start nothing new in a loop; runs under way continue
    Pause {
        /// The loop's id, or the beginning or end of it; not needed if only one loop is live in this
        /// folder
        id: Option<String>,
    },
    /// Continue after a pause, or end a wait early
    Resume {
        /// The loop's id, or the beginning or end of it; not needed if only one loop is live in this
        /// folder
        id: Option<String>,
        /// Read the PRD and the configuration again, for everything that has not begun
        #[arg(long)]
        reload: bool,
    },
    #[command(flatten)]
    Steer(SteerCommand),
    /// Answer a question that a loop asks
    #[command(override_usage = "loopwright answer [OPTIONS] [ID] ANSWER")]
    Answer {
        /// The loop's id, or the beginning or end of it; not needed if only one loop is live in this
        /// folder
        id: Option<String>,
        /// One of the choices that `status` shows, or, if an agent asks, your own words, which it is
        /// told; without it, the question is shown
        #[arg(value_name = "ANSWER")]
        choice: Option<String>,
        /// The story whose question you answer; needed only if several stories ask
        #[arg(long, value_name = "STORY")]
        story: Option<String>,
    },
    /// Send an event, as other programs do: agent/loop.start, agent/loop.cancel or
    /// agent/story.start
    ///
    /// The data of agent/loop.start is {project, prdPath, loopId?, maxRetries?, maxIterations?,
    /// toolAssignments?, retryLadder?, flow?, budget?, again?}; sending it twice with the same loopId
    /// starts one loop. The data of agent/loop.cancel is {loopId, reason?}.
    #[command(verbatim_doc_comment)]
    Send {
        /// The event's name
        name: String,
        /// Its data as JSON; `@FILE` reads a file, `-` standard input
        #[arg(long, value_name = "JSON")]
        data: String,
    },
}

/// Which logs somebody wants to see, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct LogsArgs {
    /// The loop's id, or the beginning or end of it; by default the newest of this folder
    pub(crate) id: Option<String>,
    /// Only this story
    #[arg(long)]
    pub(crate) story: Option<String>,
    /// Only this attempt
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<u32>,
    /// Only this role or stage, such as `judge` or `check`
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Only the last N lines of each run
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) tail: Option<usize>,
    /// The bytes as they were printed; otherwise what an agent's stream says is written as lines,
    /// and control characters as escapes
    #[arg(long)]
    pub(crate) raw: bool,
    /// Follow until the loop is over; Ctrl-C leaves it running
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct StartArgs {
    /// The project: a folder in a git repository; by default the nearest one upwards with a
    /// `loopwright.toml`, or else the current one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,
    /// The PRD: a file, or a folder of tickets, in the project or else in the current folder
    #[arg(
        value_name = "PRD",
        required_unless_present = "prd",
        conflicts_with = "prd"
    )]
    pub(crate) file: Option<PathBuf>,
    /// The PRD, named by a flag
    #[arg(long, value_name = "FILE")]
    pub(crate) prd: Option<PathBuf>,
    /// The flow of the stories: quartet, tdd, proof, solo or judged
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Retries after a story's first attempt
    #[arg(long, value_name = "N")]
    pub(crate) max_retries: Option<u32>,
    /// Stop after this many stories have ended, passed or skipped
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<u32>,
    /// The jail of agents and checks: auto, bwrap, podman, docker, or host for none
    #[arg(long, value_name = "KIND")]
    pub(crate) sandbox: Option<String>,
    /// Work on this many stories at once; their commits land one at a time
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<u32>,
    /// Set a configuration key for this loop, such as `retry.wait=5m`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The commit to start from; by default what is checked out
    #[arg(long, value_name = "REVISION")]
    pub(crate) base: Option<String>,
    /// Start from this branch, which has the commits of stories that passed before
    #[arg(long, value_name = "BRANCH", conflicts_with = "base")]
    pub(crate) onto: Option<String>,
    #[command(flatten)]
    pub(crate) passed: PassedArgs,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    /// Append a line to the project's `progress.txt` for each story that ends
    #[arg(long)]
    pub(crate) write_progress: bool,
    /// Show what would be started, and start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Follow the loop until it ends or asks; Ctrl-C leaves it running
    #[arg(long)]
    pub(crate) foreground: bool,
}

/// Which of the things that keep a loop from starting are passed over.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct GuardArgs {
    /// Start another loop although one is at work on the same PRD
    #[arg(long)]
    pub(crate) again: bool,
    /// Start without looking whether everything that the loop needs is there
    #[arg(long)]
    pub(crate) no_preflight: bool,
}

/// What to do with stories that passed before, where their commits are elsewhere.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct PassedArgs {
    /// Redo stories that are marked as passed but whose commits are not in the base
    #[arg(long, conflicts_with = "trust_passed")]
    pub(crate) rerun_passed: bool,
    /// Believe the PRD about passed stories whose commits are not in the base
    #[arg(long)]
    pub(crate) trust_passed: bool,
}
