//! The long counts: hours of fuzzing, thousands of generated cases, a hundred million steps of the
//! seeded world, a crash at every moment, hundreds of real kills, and every gallery of projects and
//! agents, where CI runs a sample of each.
//!
//! Seeds are not chosen here. The tests draw and print their own, so that a failure can be replayed
//! from their output alone; hence nothing is captured.

use std::path::Path;

use anyhow::Result;

use crate::dist;
use crate::invocation::Invocation;
use crate::metadata::package_name;
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

/// Runs the fuzz tests for two thirds of the given time, then everything that counts cases instead
/// of time, then what is handed out on a bare root file system.
pub(crate) fn run(root: &Path, minutes: u32) -> Result<()> {
    say(format!(
        "soak: about {minutes} min; the tests print their seeds"
    ));
    // A new seed each time: CI tries the same inputs again and again, the long run looks for new
    // ones.
    fuzz(minutes * FUZZ_SECS_PER_MINUTE)
        .with_env("LOOPWRIGHT_FUZZ_SEED", "clock".to_owned())
        .run(root)?;
    properties().run(root)?;
    for package in ["kernel", "engine"] {
        world(package).run(root)?;
    }
    for package in ["engine", PROGRAM] {
        crashes(package).run(root)?;
    }
    kills().run(root)?;
    for package in ["prd", "sandbox", PROGRAM] {
        galleries(package).run(root)?;
    }
    in_jails().run(root)?;
    dist::run_and_try(root)?;
    say("soak passed");
    Ok(())
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
/// them.
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
        "--no-capture",
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
            let command = "cargo nextest run --workspace --locked --profile soak --no-capture -E";
            let expected = format!("{environment} {command} '{filter}'");
            assert_eq!(invocation.to_string(), expected);
        }
    }
}
