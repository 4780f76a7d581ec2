//! `loopwright task …` and `loopwright ralph` as people type them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use tasks::shell_word;

use super::prd::OrderFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Print the prompt of the next ready task; it claims nothing
    ///
    /// Exit code 0 with a task, 1 without one (all complete, or all blocked), 2 on an error.
    Next {
        #[command(flatten)]
        plan: PlanArgs,
        /// Only this task, or the tasks of this story or milestone
        #[arg(long, value_name = "ID")]
        story: Option<String>,
    },
    /// Claim a task, by default the next ready one, and print its prompt
    ///
    /// Nobody else can claim the task in any worktree of the repository until you complete, release
    /// or reset it.
    Claim {
        /// The task's id
        id: Option<String>,
        #[command(flatten)]
        plan: PlanArgs,
        /// Only this task, or the tasks of this story or milestone
        #[arg(long, value_name = "ID", conflicts_with = "id")]
        story: Option<String>,
    },
    /// Print the prompt of a task
    Prompt {
        /// The task's id
        id: String,
        #[command(flatten)]
        plan: PlanArgs,
    },
    /// Complete a task if its declared output exists, write that into the plan, and name the next one
    Complete {
        /// The task's id
        id: String,
        #[command(flatten)]
        plan: PlanArgs,
        /// Complete it even if its output is missing, it waits for other tasks, or somebody works on it
        #[arg(long)]
        force: bool,
    },
    /// Reset a task, even a complete or failed one, so that anybody can claim it
    Reset {
        /// The task's id
        id: String,
        #[command(flatten)]
        plan: PlanArgs,
        /// Take it away from whoever works on it
        #[arg(long)]
        force: bool,
    },
    /// Give back a task that you claimed
    Release {
        /// The task's id
        id: String,
        #[command(flatten)]
        plan: PlanArgs,
        /// Take it away from whoever works on it
        #[arg(long)]
        force: bool,
    },
    /// Show the state of all tasks: counts, ready and blocked tasks, who works on what
    Status {
        #[command(flatten)]
        plan: PlanArgs,
    },
    /// Show the tasks and what each waits for
    Graph {
        #[command(flatten)]
        plan: PlanArgs,
        /// The format: a list, or a graph for Graphviz or Mermaid
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: OrderFormat,
    },
    /// Rebuild the task graph from a folder of tickets; claims and completions are kept
    Refresh {
        #[command(flatten)]
        plan: PlanArgs,
        /// The folder of tickets; by default docs/active/tickets, docs/tickets or tickets
        #[arg(long, value_name = "FOLDER")]
        tickets: Option<PathBuf>,
    },
}

/// Which plan is meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct PlanArgs {
    /// The plan: a task graph, a folder of tickets or a PRD; by default `task-graph.yaml`
    #[arg(long, value_name = "FILE", visible_alias = "graph")]
    pub prd: Option<PathBuf>,
    /// The folder to work in
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub project: PathBuf,
}

impl PlanArgs {
    /// The flags that name the same plan in another command: nothing, or a text that begins with a space.
    pub fn flags(&self) -> String {
        let named =
            |flag: &str, path: &Path| format!(" {flag} {}", shell_word(&path.to_string_lossy()));
        let is_elsewhere = self.project != Path::new(".") && !self.project.as_os_str().is_empty();
        let project = is_elsewhere.then(|| named("--project", &self.project));
        let plan = self.prd.as_ref().map(|plan| named("--prd", plan));
        [project, plan].into_iter().flatten().collect()
    }
}

/// What a `ralph` is told.
#[derive(Debug, Clone, ClapArgs)]
pub struct RalphArgs {
    /// Which plan is meant.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Only this task, or the tasks of this story or milestone
    #[arg(long, value_name = "ID")]
    pub story: Option<String>,
    /// The agent: a name of `[agents]`, a known CLI such as codex, or a command that reads the prompt
    /// from standard input
    #[arg(long, value_name = "NAME", default_value = "claude")]
    pub agent: String,
    /// End after this many tasks
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u64>,
    /// How long an agent may work on one task, such as 90s, 20m or 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub task_timeout: Option<Duration>,
    /// How long to wait between two tasks
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time)]
    pub pause: Duration,
    /// How often the heartbeat file is written
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time, hide = true)]
    pub heartbeat: Duration,
    /// Work on one task, then end
    #[arg(long, conflicts_with = "max_iterations")]
    pub once: bool,
    /// Show what would be done, without doing it
    #[arg(long)]
    pub dry_run: bool,
    /// Work on this many tasks at once, each in its own worktree; finished work is merged into a new
    /// branch `ralph/ID`
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub parallel: u32,
    /// Take prompts from this command: exit code 0 with a prompt, 1 if there is no task, 2 on an error
    #[arg(long, value_name = "CMD")]
    pub prompt_command: Option<String>,
    /// Whether checks decide.
    #[command(flatten)]
    pub checks: VerifyArgs,
    /// The jail of the agents: auto, bwrap, podman, docker, or host for none; by default as
    /// configured
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "auto")]
    pub sandbox: Option<String>,
    /// What to do with a task whose agent failed: keep (in progress, for a person), reset, or retry:N
    #[arg(long, value_name = "WHAT", default_value = "keep", value_parser = on_failure)]
    pub on_failure: OnFailure,
}

/// Whether a task is complete only if checks are green.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub struct VerifyArgs {
    /// A task counts as complete only if the project's checks are green; on when checks are known
    #[arg(long, overrides_with = "no_verify")]
    pub verify: bool,
    /// Do not run the project's checks: the agent's `task complete` is enough
    #[arg(long)]
    pub no_verify: bool,
}

/// What becomes of a task whose agent failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It stays in progress, for a person.
    Keep,
    /// Others may take it.
    Reset,
    /// It is tried again so many times.
    Retry(u32),
}

fn on_failure(text: &str) -> Result<OnFailure, String> {
    let tries = text.strip_prefix("retry:").map(str::parse);
    match (text, tries) {
        ("keep", _) => Ok(OnFailure::Keep),
        ("reset", _) => Ok(OnFailure::Reset),
        (_, Some(Ok(tries))) => Ok(OnFailure::Retry(tries)),
        _ => Err("keep, reset, or retry:N, such as retry:2".to_owned()),
    }
}

/// A time as people write it; a number alone means seconds.
fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: Option<f64> = digits.parse().ok();
    let unit = match &text[digits.len()..] {
        "ms" => Some(0.001),
        "" | "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let secs = number.zip(unit).map(|(number, unit)| number * unit);
    let secs = secs.filter(|secs| (0.0..=31_536_000.0).contains(secs));
    secs.map(Duration::from_secs_f64)
        .ok_or_else(|| "a time such as 90s, 20m or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("2", Some(2_000)),
            ("1.5", Some(1_500)),
            ("250ms", Some(250)),
            ("90s", Some(90_000)),
            ("20m", Some(1_200_000)),
            ("2h", Some(7_200_000)),
            ("", None),
            ("-1", None),
            ("2d", None),
            ("inf", None),
            ("m", None),
        ] {
            let read = time(text).ok().map(|time| time.as_millis());
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn a_failure_leads_to() {
        for (text, expected) in [
            ("keep", Some(OnFailure::Keep)),
            ("reset", Some(OnFailure::Reset)),
            ("retry:5", Some(OnFailure::Retry(5))),
            ("retry", None),
            ("retry:", None),
            ("retry:-1", None),
            ("Keep", None),
        ] {
            assert_eq!(on_failure(text).ok(), expected, "{text}");
        }
    }
}
