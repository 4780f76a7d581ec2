//! The long counts: hours of fuzzing, thousands of generated cases, a hundred million steps of the
//! seeded world, a crash at every moment, hundreds of real kills, and every gallery of projects and
//! agents, where CI runs a sample of each.
//!
//! Seeds are not chosen here. The tests draw and print their own, so that a failure can be replayed
//! from their output alone; hence the output of a test is shown when it passes, too.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::dist;
use crate::invocation::Invocation;
use crate::metadata::package_name;
use crate::scratch::Scratch;
use crate::talk::say;

/// The package whose tests run the whole program.
const PROGRAM: &str = "loopwright";

const PROPERTY_CASES: &str = "20000";

/// Two thirds of each minute go to the fuzz tests; the property tests count cases, not time.
const FUZZ_SECS_PER_MINUTE: u32 = 40;

/// Steps of each seeded world, over the kernel and over the engine's decisions; CI runs a
/// hundredth.
const WORLD_STEPS: &str = "100000000";

/// The tests that play a sample of a gallery in CI.
const GALLERIES: &str =
    "test(/gallery|ecosystems|real_|verdicts|steering|ralph|escape|plans|jail_untouched/)";

/// Real `kill -9`s per test.
const KILLS: &str = "200";

/// What is played; a play is meant by its name.
const PLAYS: [(&str, Play); 12] = [
    ("fuzz", Play::Tests(long_fuzz)),
    ("properties", Play::Tests(|_| properties())),
    ("crashes-engine", Play::Tests(|_| crashes("engine"))),
    ("crashes-program", Play::Tests(|_| crashes(PROGRAM))),
    ("kills", Play::Tests(|_| kills())),
    ("galleries-prd", Play::Tests(|_| galleries("prd"))),
    ("galleries-sandbox", Play::Tests(|_| galleries("sandbox"))),
    ("galleries-program", Play::Tests(|_| galleries(PROGRAM))),
    ("jails", Play::Tests(|_| in_jails())),
    ("world-kernel", Play::Tests(|_| world("kernel"))),
    ("world-engine", Play::Tests(|_| world("engine"))),
    ("dist", Play::Dist),
];

#[derive(Clone, Copy)]
enum Play {
    /// Tests, told how many minutes the soak was given.
    Tests(fn(u32) -> Invocation),
    /// What is handed out, on a bare root file system.
    Dist,
}

/// Tells where in the list a play stands.
pub(crate) fn position(name: &str) -> Result<usize> {
    let names = || PLAYS.map(|(name, _)| name).join(", ");
    let found = PLAYS.iter().position(|(known, _)| *known == name);
    found.with_context(|| format!("there is no play `{name}`; the plays are: {}", names()))
}

/// Plays everything, or the one that is asked for. Unlike CI it goes on after a failure: hours were
/// waited for, and what failed is told in the table at the end.
pub(crate) fn run(root: &Path, minutes: u32, only: Option<usize>) -> Result<()> {
    say(format!(
        "soak: the fuzz tests get {} s each; the tests print their seeds",
        minutes * FUZZ_SECS_PER_MINUTE
    ));
    let scratch = Scratch::in_memory(root)?;
    let folder = scratch
        .as_ref()
        .and_then(|scratch| scratch.folder().to_str());
    let chosen = match only {
        Some(position) => &PLAYS[position..=position],
        None => &PLAYS[..],
    };
    let mut table = Vec::new();
    let mut failed = Vec::new();
    for (name, play) in chosen {
        say(format!("\n== {name}"));
        let started = Instant::now();
        let outcome = play.run(root, minutes, folder);
        let seconds = started.elapsed().as_secs();
        if let Err(error) = &outcome {
            say(format!("== {name}: {error:#}"));
            failed.push(*name);
        }
        let word = if outcome.is_ok() { "passed" } else { "FAILED" };
        table.push(format!("{name:<18} {word} {seconds:>6} s"));
    }
    say(format!("\n{}", table.join("\n")));
    if !failed.is_empty() {
        bail!(
            "failed: {}; for one alone: cargo xtask soak --only {}",
            failed.join(", "),
            failed[0]
        );
    }
    say("soak passed");
    Ok(())
}

impl Play {
    fn run(self, root: &Path, minutes: u32, scratch: Option<&str>) -> Result<()> {
        match (self, scratch) {
            (Self::Tests(tests), Some(folder)) => {
                tests(minutes).with_env("TMPDIR", folder).run(root)
            }
            (Self::Tests(tests), None) => tests(minutes).run(root),
            (Self::Dist, _) => dist::run_and_try(root),
        }
    }
}

/// With a new seed each time: CI tries the same inputs again and again, the long run looks for new
/// ones.
fn long_fuzz(minutes: u32) -> Invocation {
    fuzz(minutes * FUZZ_SECS_PER_MINUTE).with_env("LOOPWRIGHT_FUZZ_SEED", "clock".to_owned())
}

/// Runs every test whose name holds `fuzz`, each for the given time. CI takes a short one of these.
pub(crate) fn fuzz(seconds: u32) -> Invocation {
    tests_named("prd", "test(/fuzz/)").with_env("LOOPWRIGHT_FUZZ_SECS", seconds.to_string())
}

fn properties() -> Invocation {
    tests_named("prd", "test(/property/)").with_env("PROPTEST_CASES", PROPERTY_CASES)
}

fn world(package: &str) -> Invocation {
    tests_named(package, "test(/world/)").with_env("LOOPWRIGHT_WORLD_STEPS", WORLD_STEPS)
}

/// A crash at every moment, inside the engine and of the whole program.
fn crashes(package: &str) -> Invocation {
    tests_named(package, "test(/crash|scenario/)").with_env("LOOPWRIGHT_SOAK", "1")
}

fn kills() -> Invocation {
    tests_named(PROGRAM, "test(/sigkill/)").with_env("LOOPWRIGHT_KILLS", KILLS)
}

/// Every story of every plan; every way out of every kind of jail; every project of the galleries,
/// every verdict case and every agent CLI, the slow ones too, with all that can happen to them. Their
/// tables are seen, with what the checks of real projects cost.
fn galleries(package: &str) -> Invocation {
    tests_named(package, GALLERIES).with_env("LOOPWRIGHT_SOAK", "1")
}

/// Everything that can go wrong with an agent CLI once more, with every run in a jail.
fn in_jails() -> Invocation {
    tests_named(PROGRAM, "test(/real_(answers|faults|matrix|troubles)/)")
        .with_env("LOOPWRIGHT_SOAK", "1")
        .with_env("LOOPWRIGHT_TEST_JAIL", "bwrap")
}

/// No time limit: the profile `soak` of `.config/nextest.toml` reports slow tests but never ends
/// them, and shows what each printed when it has ended. It has tests that the default profile leaves out.
///
/// The whole workspace is built, whatever is run. Cargo chooses the features of shared dependencies
/// for all packages of a build together, so `-p` would build most of them a second time.
fn tests_named(package: &str, filter: &str) -> Invocation {
    let filter = format!("package(={}) & {filter}", package_name(package));
    Invocation::cargo(&[
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--profile",
        "soak",
        "-E",
        &filter,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are() {
        for (invocation, environment, filter) in [
            (
                fuzz(60),
                "LOOPWRIGHT_FUZZ_SECS=60",
                "package(=loopwright-prd) & test(/fuzz/)",
            ),
            (
                properties(),
                "PROPTEST_CASES=20000",
                "package(=loopwright-prd) & test(/property/)",
            ),
            (
                world("kernel"),
                "LOOPWRIGHT_WORLD_STEPS=100000000",
                "package(=loopwright-kernel) & test(/world/)",
            ),
            (
                crashes("engine"),
                "LOOPWRIGHT_SOAK=1",
                "package(=loopwright-engine) & test(/crash|scenario/)",
            ),
            (
                crashes(PROGRAM),
                "LOOPWRIGHT_SOAK=1",
                "package(=loopwright) & test(/crash|scenario/)",
            ),
            (
                kills(),
                "LOOPWRIGHT_KILLS=200",
                "package(=loopwright) & test(/sigkill/)",
            ),
            (
                galleries("sandbox"),
                "LOOPWRIGHT_SOAK=1",
                "package(=loopwright-sandbox) & \
                 test(/gallery|ecosystems|real_|verdicts|steering|ralph|escape|plans|jail_untouched/)",
            ),
            (
                in_jails(),
                "LOOPWRIGHT_SOAK=1 LOOPWRIGHT_TEST_JAIL=bwrap",
                "package(=loopwright) & test(/real_(answers|faults|matrix|troubles)/)",
            ),
        ] {
            let command = "cargo nextest run --workspace --locked --profile soak -E";
            let expected = format!("{environment} {command} '{filter}'");
            assert_eq!(invocation.to_string(), expected);
        }
    }

    #[test]
    fn names_of_plays_are_unique() {
        for (index, (name, _)) in PLAYS.iter().enumerate() {
            assert_eq!(position(name).unwrap(), index, "{name}");
        }
    }
}
