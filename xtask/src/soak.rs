//! The long counts: hours of fuzzing, thousands of generated cases, a hundred million steps of the
//! seeded world, a crash at every moment and hundreds of real kills, where CI runs a sample of
//! each.
//!
//! Seeds are not chosen here. The tests draw and print their own, so that a failure can be replayed
//! from their output alone; hence nothing is captured.

use std::path::Path;

use anyhow::Result;

use crate::invocation::Invocation;
use crate::talk::say;

const PROPERTY_CASES: &str = "20000";

/// Two thirds of each minute go to the fuzz tests; the property tests count cases, not time.
const FUZZ_SECS_PER_MINUTE: u32 = 40;

/// Steps of each seeded world, over the kernel and over the engine's decisions; CI runs a
/// hundredth.
const WORLD_STEPS: &str = "100000000";

/// Real `kill -9`s per test.
const KILLS: &str = "200";

/// Runs the fuzz tests for two thirds of the given time, then everything that counts cases instead
/// of time.
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
    crashes().run(root)?;
    kills().run(root)?;
    ecosystems().run(root)?;
    agents().run(root)?;
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

fn crashes() -> Invocation {
    tests_named("cli", "test(/crash/)").with_env("LOOPWRIGHT_SOAK", "1")
}

fn kills() -> Invocation {
    tests_named("cli", "test(/sigkill/)").with_env("LOOPWRIGHT_KILLS", KILLS)
}

/// CI runs these as well; here their tables are seen, with what the checks of real projects cost.
fn ecosystems() -> Invocation {
    tests_named("cli", "test(/ecosystems|real_packages/)")
}

/// The slow CLIs too, and all that can happen to them.
fn agents() -> Invocation {
    tests_named("cli", "test(/real_faults|real_troubles/)").with_env("LOOPWRIGHT_SOAK", "1")
}

/// No time limit: `.config/nextest.toml` reports slow tests but never ends them.
fn tests_named(package: &str, filter: &str) -> Invocation {
    Invocation::cargo(&[
        "nextest",
        "run",
        "-p",
        package,
        "--locked",
        "--no-capture",
        "-E",
        filter,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are() {
        let nextest = "cargo nextest run -p prd --locked --no-capture -E";
        for (invocation, expected) in [
            (
                fuzz(60),
                format!("LOOPWRIGHT_FUZZ_SECS=60 {nextest} 'test(/fuzz/)'"),
            ),
            (
                properties(),
                format!("PROPTEST_CASES=20000 {nextest} 'test(/property/)'"),
            ),
            (
                kills(),
                format!(
                    "LOOPWRIGHT_KILLS=200 {} 'test(/sigkill/)'",
                    nextest.replace("prd", "cli")
                ),
            ),
        ] {
            assert_eq!(invocation.to_string(), expected);
        }
    }
}
