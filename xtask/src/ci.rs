//! What CI runs, step by step; the README names the same command, so a green run here is a green
//! run there.
//!
//! It stops at the first failure: the steps go from quick to slow, and a later one says little
//! about a tree that an earlier one refused. It does not run the long tests: that is `soak`.
//!
//! What waits for the network goes on beside the steps that compile. Such a step starts with the
//! first one; its output is kept and shown at its place in the list, which is right before the
//! steps that need it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::invocation::Invocation;
use crate::scratch::Scratch;
use crate::talk::{Talk, say};
use crate::{agents, packages, shims, soak, tidy, tools};

/// Enough to notice a reader that breaks at once; `soak` is for the rest.
const FUZZ_SECS: u32 = 10;

/// Which steps to run; a step is meant by its position in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    From(usize),
    Only(usize),
}

struct Step {
    name: &'static str,
    summary: &'static str,
    run: Run,
}

/// When a step runs.
#[derive(Clone, Copy)]
enum Run {
    /// At its place in the list.
    InTurn(fn(&Session) -> Result<()>),
    /// From the first step on, beside the others; it must have ended at its place in the list. It
    /// must neither build nor change anything that an earlier step reads.
    Beside(fn(&Session, &mut Talk) -> Result<()>),
}

use Run::{Beside, InTurn};

/// What the steps share.
struct Session<'a> {
    root: &'a Path,
    /// The state of the git tree before the first step, if there is one to ask.
    tree_before: Option<String>,
}

const STEPS: [Step; 15] = [
    Step {
        name: "tools",
        summary: "find or install what the other steps need of cargo",
        run: InTurn(|s| tools::prepare(s.root)),
    },
    Step {
        name: "fmt",
        summary: "the code is formatted",
        run: InTurn(fmt),
    },
    Step {
        name: "clippy",
        summary: "no lint warns",
        run: InTurn(clippy),
    },
    Step {
        name: "tidy",
        summary: "the house rules hold",
        run: InTurn(|s| tidy::run(s.root)),
    },
    Step {
        name: "typos",
        summary: "no known misspelling",
        run: Beside(typos),
    },
    Step {
        name: "agents",
        summary: "install the real agent CLIs that tests drive",
        run: Beside(|s, talk| agents::prepare(talk, s.root)),
    },
    Step {
        name: "packages",
        summary: "install the programs that make jails, with the system's package manager",
        run: Beside(|s, talk| packages::prepare(talk, s.root)),
    },
    Step {
        name: "build",
        summary: "the program and all tests compile",
        run: InTurn(build),
    },
    Step {
        name: "test",
        summary: "all tests",
        run: InTurn(test),
    },
    Step {
        name: "fuzz",
        summary: "the fuzz tests, ten seconds each",
        run: InTurn(|s| soak::fuzz(FUZZ_SECS).run(s.root)),
    },
    Step {
        name: "doctest",
        summary: "the examples in the documentation",
        run: InTurn(doctest),
    },
    Step {
        name: "doc",
        summary: "the documentation builds without a warning",
        run: InTurn(doc),
    },
    Step {
        name: "package",
        summary: "every crate can be packaged",
        run: InTurn(package),
    },
    Step {
        name: "deny",
        summary: "licences and advisories, where cargo-deny is installed",
        run: InTurn(deny),
    },
    Step {
        name: "clean-tree",
        summary: "no step has changed the git tree",
        run: InTurn(clean_tree),
    },
];

/// Tells where in the list a step stands.
pub(crate) fn position(name: &str) -> Result<usize> {
    let names = || STEPS.map(|step| step.name).join(", ");
    let found = STEPS.iter().position(|step| step.name == name);
    found.with_context(|| format!("there is no step `{name}`; the steps are: {}", names()))
}

/// Shows the steps, one a line.
pub(crate) fn list() -> String {
    STEPS
        .map(|step| format!("{:<10}  {}", step.name, step.summary))
        .join("\n")
}

/// Runs the selected steps in order.
pub(crate) fn run(root: &Path, selection: Selection) -> Result<()> {
    let session = Session {
        root,
        tree_before: tree_state(root),
    };
    let started = Instant::now();
    run_steps(&session, selected(&STEPS, selection), &mut Talk::Live)?;
    say(format!("ci passed in {}", elapsed(started)));
    Ok(())
}

fn selected<T>(steps: &[T], selection: Selection) -> &[T] {
    match selection {
        Selection::All => steps,
        Selection::From(first) => &steps[first..],
        Selection::Only(position) => &steps[position..=position],
    }
}

/// Runs steps in order, those that can beside the others. After a failure it waits for what is
/// still running: an installation that is left alone would be in the way of the next one.
fn run_steps(session: &Session<'_>, steps: &[Step], talk: &mut Talk) -> Result<()> {
    thread::scope(|scope| {
        let mut beside = start_beside(scope, session, steps);
        for step in steps {
            talk.say(format!("\n== {}: {}", step.name, step.summary));
            let ended = match (beside.remove(step.name), step.run) {
                (Some(thread), _) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                (None, InTurn(run)) => Ended::of(|_| run(session), Talk::Live),
                (None, Beside(run)) => Ended::of(|talk| run(session, talk), Talk::Live),
            };
            if let Err(error) = report(step, ended, talk) {
                let running = beside.iter().filter(|(_, thread)| !thread.is_finished());
                let names: Vec<&str> = running.map(|(name, _)| *name).collect();
                if !names.is_empty() {
                    talk.say(format!("waiting for the end of: {}", names.join(", ")));
                }
                return Err(error);
            }
        }
        Ok(())
    })
}

type Threads<'scope> = BTreeMap<&'static str, ScopedJoinHandle<'scope, Ended>>;

/// The first step is left out: nothing goes on before it, and its output is better seen at once.
fn start_beside<'scope>(
    scope: &'scope Scope<'scope, '_>,
    session: &'scope Session<'_>,
    steps: &[Step],
) -> Threads<'scope> {
    let later = steps.iter().skip(1);
    let threads = later.filter_map(|step| match step.run {
        InTurn(_) => None,
        Beside(run) => {
            let run = move || Ended::of(|talk| run(session, talk), Talk::Kept(String::new()));
            Some((step.name, scope.spawn(run)))
        }
    });
    threads.collect()
}

/// What came of a step.
struct Ended {
    outcome: Result<()>,
    elapsed: String,
    talk: Talk,
}

impl Ended {
    fn of(run: impl FnOnce(&mut Talk) -> Result<()>, mut talk: Talk) -> Self {
        let started = Instant::now();
        let outcome = run(&mut talk);
        let elapsed = elapsed(started);
        Self {
            outcome,
            elapsed,
            talk,
        }
    }
}

fn report(step: &Step, ended: Ended, talk: &mut Talk) -> Result<()> {
    let (name, elapsed) = (step.name, ended.elapsed);
    let beside = match ended.talk {
        Talk::Live => "",
        Talk::Kept(text) => {
            talk.say(text.trim_end());
            ", beside the steps before it"
        }
    };
    if let Err(error) = ended.outcome {
        talk.say(format!(
            "== {name}: failed after {elapsed}{beside}: {error:#}"
        ));
        bail!("ci stopped at step `{name}`; to run it alone: cargo xtask ci --only {name}");
    }
    talk.say(format!("== {name}: passed in {elapsed}{beside}"));
    Ok(())
}

fn elapsed(started: Instant) -> String {
    format!("{:.1} s", started.elapsed().as_secs_f32())
}

fn fmt(session: &Session<'_>) -> Result<()> {
    Invocation::cargo(&["fmt", "--all", "--", "--check"]).run(session.root)
}

fn clippy(session: &Session<'_>) -> Result<()> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    Invocation::cargo(&arguments).run(session.root)
}

/// By itself, so that what compiling costs and what the tests cost can be told apart.
fn build(session: &Session<'_>) -> Result<()> {
    Invocation::cargo(&["nextest", "run", "--workspace", "--locked", "--no-run"]).run(session.root)
}

fn test(session: &Session<'_>) -> Result<()> {
    let mut tests = Invocation::cargo(&["nextest", "run", "--workspace", "--locked"]);
    if let Some(path) = shims::path_without() {
        tests = tests.with_env("PATH", path);
    }
    let scratch = Scratch::in_memory(session.root)?;
    match scratch
        .as_ref()
        .and_then(|scratch| scratch.folder().to_str())
    {
        Some(folder) => tests.with_env("TMPDIR", folder).run(session.root),
        None => tests.run(session.root),
    }
}

/// A step of its own, because nextest runs no doctests. Cargo passes over members without a library
/// as long as one member has one.
fn doctest(session: &Session<'_>) -> Result<()> {
    Invocation::cargo(&["test", "--doc", "--workspace", "--locked"]).run(session.root)
}

fn doc(session: &Session<'_>) -> Result<()> {
    let doc = Invocation::cargo(&["doc", "--no-deps", "--workspace", "--locked"]);
    doc.with_env("RUSTDOCFLAGS", "-D warnings")
        .run(session.root)
}

/// Without building each package once more: that the sources compile is known by now. Uncommitted
/// changes are packaged too, since CI also runs before a commit.
fn package(session: &Session<'_>) -> Result<()> {
    let arguments = [
        "package",
        "--workspace",
        "--locked",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ];
    Invocation::cargo(&arguments).run(session.root)
}

fn typos(session: &Session<'_>, talk: &mut Talk) -> Result<()> {
    let program = tools::typos(talk, session.root)?;
    Invocation::file(&program, &["--config", "typos.toml"]).run_in(talk, session.root)
}

fn deny(session: &Session<'_>) -> Result<()> {
    if Invocation::cargo(&["deny", "--version"])
        .read(session.root)
        .is_err()
    {
        say("cargo-deny is not installed: passed over");
        return Ok(());
    }
    Invocation::cargo(&["deny", "check"]).run(session.root)
}

fn clean_tree(session: &Session<'_>) -> Result<()> {
    let (Some(before), Some(after)) = (&session.tree_before, tree_state(session.root)) else {
        say("git is not installed, or this is not a git repository: passed over");
        return Ok(());
    };
    let changes = changes(before, &after);
    if !changes.is_empty() {
        bail!(
            "an earlier step has changed the tree, here before and after:\n{}",
            changes.join("\n")
        );
    }
    Ok(())
}

/// Names untracked files one by one: a new file in a folder that was untracked before would not
/// show else.
fn tree_state(root: &Path) -> Option<String> {
    Invocation::program("git", &["status", "--porcelain", "--untracked-files=all"])
        .read(root)
        .ok()
}

fn changes(before: &str, after: &str) -> Vec<String> {
    let before: BTreeSet<&str> = before.lines().collect();
    let after: BTreeSet<&str> = after.lines().collect();
    let gone = before
        .difference(&after)
        .map(|line| format!("before: {line}"));
    let new = after
        .difference(&before)
        .map(|line| format!("after:  {line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_takes() {
        let steps = ["tools", "fmt", "clippy"];
        for (selection, expected) in [
            (Selection::All, &steps[..]),
            (Selection::From(1), &["fmt", "clippy"]),
            (Selection::Only(1), &["fmt"]),
        ] {
            assert_eq!(selected(&steps, selection), expected, "{selection:?}");
        }
    }

    #[test]
    fn steps_beside_others_are_told_at_their_place() {
        let quick = |name| step(name, InTurn(|_| Ok(())));
        let broken = || step("broken", InTurn(|_| bail!("no")));
        let loads = || {
            step(
                "loads",
                Beside(|_, talk| {
                    talk.say("loading");
                    Ok(())
                }),
            )
        };
        let fails = || step("fails", Beside(|_, _| bail!("no network")));
        for (steps, expected, is_passed) in [
            (vec![quick("a")], "== a: x | == a: passed in", true),
            (
                vec![quick("a"), loads(), quick("b")],
                "== a: x | == a: passed in | == loads: x | loading | == loads: passed in, beside the steps before it \
                 | == b: x | == b: passed in",
                true,
            ),
            // The first one talks live, not into our text.
            (vec![loads()], "== loads: x | == loads: passed in", true),
            (
                vec![quick("a"), fails(), quick("b")],
                "== a: x | == a: passed in | == fails: x | == fails: failed after, beside the steps before it: no network",
                false,
            ),
            (
                vec![broken(), loads(), fails()],
                "== broken: x | == broken: failed after: no",
                false,
            ),
        ] {
            let session = Session {
                root: Path::new("."),
                tree_before: None,
            };
            let mut talk = Talk::Kept(String::new());
            let outcome = run_steps(&session, &steps, &mut talk);
            let Talk::Kept(text) = talk else {
                unreachable!("it was made so");
            };
            // Whether anything is still running after a failure is a matter of luck here.
            let lines = text
                .lines()
                .filter(|line| !line.is_empty() && !line.starts_with("waiting for"));
            let seen = lines.map(without_time).collect::<Vec<_>>().join(" | ");
            assert_eq!((seen.as_str(), outcome.is_ok()), (expected, is_passed));
        }
    }

    /// Removes `1.5 s` and the space before it.
    fn without_time(line: &str) -> String {
        let time = line.split(' ').find(|word| word.parse::<f32>().is_ok());
        time.map_or(line.to_owned(), |time| {
            line.replace(&format!(" {time} s"), "")
        })
    }

    fn step(name: &'static str, run: Run) -> Step {
        Step {
            name,
            summary: "x",
            run,
        }
    }

    /// Else it would be joined after the steps that need it.
    #[test]
    fn what_is_needed_comes_first() {
        for (name, needed_by) in [("tools", "fmt"), ("agents", "test"), ("test", "fuzz")] {
            let order = (position(name).unwrap(), position(needed_by).unwrap());
            assert!(order.0 < order.1, "{name}, {needed_by}");
        }
    }

    #[test]
    fn step_names_are_unique() {
        for (index, step) in STEPS.iter().enumerate() {
            assert_eq!(position(step.name).unwrap(), index, "{}", step.name);
        }
    }

    #[test]
    fn a_changed_tree_is_told_line_by_line() {
        for (before, after, expected) in [
            ("", "", &[][..]),
            (" M a.rs\n", " M a.rs\n", &[]),
            ("", "?? new.snap\n", &["after:  ?? new.snap"]),
            (
                " M a.rs\n",
                "MM a.rs\n",
                &["before:  M a.rs", "after:  MM a.rs"],
            ),
        ] {
            assert_eq!(
                changes(before, after),
                expected,
                "{before:?} then {after:?}"
            );
        }
    }
}
