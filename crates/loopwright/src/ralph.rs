//! `loopwright ralph`: the task-graph loop in the foreground.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use cli::{Exit, Failure, OnFailure, Output, RalphArgs, RalphSetup, Signals, counted};
use engine::{End, Fault, Notice, RalphPlan, Summary};

const SIGTERM: i32 = 15;

pub(crate) fn run(args: &RalphArgs, output: &mut Output) -> Result<Exit, Failure> {
    let setup = cli::ralph_setup(args, output)?;
    if args.dry_run {
        return cli::ralph_dry_run(&setup, args, output);
    }
    cli::tell_setup(&setup, args, output);
    let signals = Signals::watch()?;
    let plan = plan(args, setup)?;
    let mut screen = Screen::new();
    let ended = engine::ralph(&plan, &|| signals.seen(), &mut |notice| {
        screen.show(&notice, output);
    });
    screen.clear();
    let summary = ended.map_err(|fault| failure(&fault))?;
    tell(&summary, &args.plan.flags(), output)
}

fn plan(args: &RalphArgs, setup: RalphSetup) -> Result<RalphPlan, Failure> {
    let program = home::our_program()
        .map_err(|error| Failure::environment("cannot find our own program", &error))?;
    Ok(RalphPlan {
        logs: setup.place.root.join("logs"),
        home: setup.home,
        place: setup.place,
        program,
        agent_name: setup.agent_name,
        agent: setup.agent,
        sandbox: setup.sandbox,
        checks: setup.checks,
        check_timeout_secs: setup.check_timeout_secs,
        story: args.story.clone(),
        max_iterations: if args.once {
            Some(1)
        } else {
            args.max_iterations
        },
        task_timeout_secs: args.task_timeout.map(|time| time.as_secs().max(1)),
        pause: if args.once {
            Duration::ZERO
        } else {
            args.pause
        },
        waits: !args.once,
        heartbeat: args.heartbeat,
        parallel: args.parallel,
        prompt_command: args.prompt_command.clone(),
        on_failure: match args.on_failure {
            OnFailure::Keep => engine::OnFailure::Keep,
            OnFailure::Reset => engine::OnFailure::Reset,
            OnFailure::Retry(tries) => engine::OnFailure::Retry(tries),
        },
        id: cli::new_id(),
    })
}

fn failure(fault: &Fault) -> Failure {
    let exit = match fault {
        Fault::BadTree { .. } => Exit::BadInput,
        _ => Exit::Environment,
    };
    Failure {
        exit,
        message: fault.words(),
        hints: Vec::new(),
    }
}

/// Says what was done, and gives the exit code. `plan` is the flags that name the plan.
fn tell(summary: &Summary, plan: &str, output: &mut Output) -> Result<Exit, Failure> {
    let (words, exit) = match &summary.end {
        End::AllComplete => ("all tasks are complete", Exit::Done),
        End::AllBlocked if summary.failed > 0 => ("no task is ready", Exit::Unfinished),
        End::AllBlocked => ("no task is ready", Exit::Done),
        End::Limit | End::NoPrompt if summary.failed + summary.errors > 0 => {
            ("ended", Exit::Unfinished)
        }
        End::Limit => ("reached the limit of iterations", Exit::Done),
        End::NoPrompt => ("the prompt command has no more tasks", Exit::Done),
        End::Interrupted { signal } if *signal == SIGTERM => ("terminated", Exit::Terminated),
        End::Interrupted { .. } => ("interrupted", Exit::Interrupted),
    };
    let tokens = match summary.tokens {
        Some(tokens) => format!(", {tokens} tokens"),
        None => ", tokens unknown".to_owned(),
    };
    output.data(&format!(
        "{words}: {}, {} completed, {} failed, runtime {} s{tokens}\n",
        counted(
            usize::try_from(summary.iterations).unwrap_or(usize::MAX),
            "iteration",
            "iterations"
        ),
        summary.completed,
        summary.failed,
        summary.secs,
    ))?;
    if let Some(branch) = &summary.branch {
        output.data(&format!("the work is on the branch {branch}\n"))?;
    }
    if summary.end == End::AllBlocked {
        output.talk(&format!(
            "`loopwright task status{plan}` shows what is blocked and why; \
             `loopwright task reset ID{plan}` makes a failed task available again\n"
        ));
    }
    output.ralph_result(
        match &summary.end {
            End::AllComplete => "all_complete",
            End::AllBlocked => "all_blocked",
            End::Limit => "max_iterations",
            End::NoPrompt => "no_prompt",
            End::Interrupted { .. } => "interrupted",
        },
        [
            ("iterations", Some(summary.iterations)),
            ("completed", Some(summary.completed)),
            ("failed", Some(summary.failed)),
            ("runtimeSeconds", Some(summary.secs)),
            ("tokens", summary.tokens),
        ],
        summary.branch.as_deref(),
    )?;
    Ok(exit)
}

/// What people see meanwhile. A terminal has one line that changes; elsewhere only what matters is a
/// line.
struct Screen {
    is_terminal: bool,
    is_dirty: bool,
    now: String,
}

impl Screen {
    fn new() -> Self {
        Self {
            is_terminal: std::io::stderr().is_terminal(),
            is_dirty: false,
            now: String::new(),
        }
    }

    fn show(&mut self, notice: &Notice, output: &mut Output) {
        match notice {
            Notice::Doing { task, what } => self.live(&format!("{task}: {what}")),
            Notice::Started {
                iteration,
                task,
                title,
            } => {
                self.clear();
                self.now = format!("[{iteration}] {task} {}", home::one_line(title));
                output.talk(&format!("{}\n", self.now));
            }
            Notice::Completed { task, secs } => {
                self.clear();
                output.talk(&format!("    {task} complete after {secs} s\n"));
            }
            Notice::Trouble { what } => {
                self.clear();
                let failure = Failure {
                    exit: Exit::Unfinished,
                    message: cli::visible_line(what),
                    hints: Vec::new(),
                };
                output.say(&failure);
            }
            Notice::Said { what } => {
                self.clear();
                output.talk(&format!("{}\n", cli::visible_line(what)));
            }
        }
    }

    fn live(&mut self, line: &str) {
        const COLUMNS: usize = 78;
        if self.is_terminal {
            let line: String = line.chars().take(COLUMNS).collect();
            self.is_dirty = true;
            let _ = write!(std::io::stderr(), "\r\u{1b}[K    {line}");
        }
    }

    fn clear(&mut self) {
        if self.is_dirty {
            self.is_dirty = false;
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}
