//! The long counts: hours of fuzzing and thousands of generated cases, where CI runs a sample of both.
//!
//! Seeds are not chosen here. The tests draw and print their own, so that a failure can be replayed from
//! their output alone; hence nothing is captured.

use std::path::Path;

use anyhow::Result;

use crate::invocation::Invocation;
use crate::talk::say;

const PROPERTY_CASES: &str = "20000";

/// Two thirds of each minute go to the fuzz tests; the property tests count cases, not time.
const FUZZ_SECS_PER_MINUTE: u32 = 40;

/// Runs the fuzz tests for two thirds of the given time, then the property tests with many cases.
pub(crate) fn run(root: &Path, minutes: u32) -> Result<()> {
    say(format!("soak: about {minutes} min; the tests print their seeds"));
    fuzz(minutes * FUZZ_SECS_PER_MINUTE).run(root)?;
    properties().run(root)?;
    say("soak passed");
    Ok(())
}

/// Runs every test whose name holds `fuzz`, each for the given time. CI takes a short one of these.
pub(crate) fn fuzz(seconds: u32) -> Invocation {
    tests_named("test(/fuzz/)").with_env("LOOPWRIGHT_FUZZ_SECS", seconds.to_string())
}

fn properties() -> Invocation {
    tests_named("test(/property/)").with_env("PROPTEST_CASES", PROPERTY_CASES)
}

/// No time limit: `.config/nextest.toml` reports slow tests but never ends them.
fn tests_named(filter: &str) -> Invocation {
    Invocation::cargo(&["nextest", "run", "-p", "prd", "--locked", "--no-capture", "-E", filter])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are() {
        let nextest = "cargo nextest run -p prd --locked --no-capture -E";
        for (invocation, expected) in [
            (fuzz(60), format!("LOOPWRIGHT_FUZZ_SECS=60 {nextest} 'test(/fuzz/)'")),
            (properties(), format!("PROPTEST_CASES=20000 {nextest} 'test(/property/)'")),
        ] {
            assert_eq!(invocation.to_string(), expected);
        }
    }
}
