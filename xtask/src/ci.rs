//! What CI runs, step by step; the README names the same command, so a green run here is a green
//! run there.
//!
//! It stops at the first failure: the steps go from quick to slow, and a later one says little
//! about a tree that an earlier one refused. It does not run the long tests: that is `soak`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::invocation::Invocation;
use crate::talk::say;
use crate::{agents, soak, tidy, tools};

const FUZZ_SECS: u32 = 60;

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
    run: fn(&Session) -> Result<()>,
}

/// What the steps share.
struct Session<'a> {
    root: &'a Path,
    /// The state of the git tree before the first step, if there is one to ask.
    tree_before: Option<String>,
}

const STEPS: [Step; 12] = [
    Step {
        name: "tools",
        summary: "find or install what the other steps need",
        run: |s| tools::prepare(s.root),
    },
    Step {
        name: "fmt",
        summary: "the code is formatted",
        run: fmt,
    },
    Step {
        name: "clippy",
        summary: "no lint warns",
        run: clippy,
    },
    Step {
        name: "tidy",
        summary: "the house rules hold",
        run: |s| tidy::run(s.root),
    },
    Step {
        name: "agents",
        summary: "install the real agent CLIs that tests drive",
        run: |s| agents::prepare(s.root),
    },
    Step {
        name: "test",
        summary: "all tests",
        run: test,
    },
    Step {
        name: "doctest",
        summary: "the examples in the documentation",
        run: doctest,
    },
    Step {
        name: "doc",
        summary: "the documentation builds without a warning",
        run: doc,
    },
    Step {
        name: "typos",
        summary: "no known misspelling",
        run: typos,
    },
    Step {
        name: "fuzz",
        summary: "the fuzz tests, one minute each",
        run: |s| soak::fuzz(FUZZ_SECS).run(s.root),
    },
    Step {
        name: "deny",
        summary: "licences and advisories, where cargo-deny is installed",
        run: deny,
    },
    Step {
        name: "clean-tree",
        summary: "no step has changed the git tree",
        run: clean_tree,
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
    for step in selected(&STEPS, selection) {
        run_step(&session, step)?;
    }
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

fn run_step(session: &Session<'_>, step: &Step) -> Result<()> {
    say(format!("\n== {}: {}", step.name, step.summary));
    let started = Instant::now();
    let outcome = (step.run)(session);
    let elapsed = elapsed(started);
    if let Err(error) = outcome {
        say(format!(
            "== {}: failed after {elapsed}: {error:#}",
            step.name
        ));
        bail!(
            "ci stopped at step `{0}`; to run it alone: cargo xtask ci --only {0}",
            step.name
        );
    }
    say(format!("== {}: passed in {elapsed}", step.name));
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

fn test(session: &Session<'_>) -> Result<()> {
    Invocation::cargo(&["nextest", "run", "--workspace", "--locked"]).run(session.root)
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

fn typos(session: &Session<'_>) -> Result<()> {
    let program = tools::typos(session.root)?;
    Invocation::file(&program, &["--config", "typos.toml"]).run(session.root)
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
