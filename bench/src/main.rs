//! Measures us beside a peer in one run: `cargo run --release -p bench -- prd` (or `loops`, `live`,
//! `quartet`, `ralph`, `iteration`, `agents`, `jail`, `parallel [SECS]`, `idle [ENDED] [folders]`, `beside [FILES] [ROUNDS]`,
//! `trees [host] [FILES…]`, `warm [PROJECT…]`). All but the
//! first two need `cargo build --release` first, because they run the program itself; `agents` also
//! needs the real agent CLIs, which `cargo xtask ci --only agents` installs. Set `BENCH_PROGRAM` to
//! the path of another build of the program to measure that one.
//!
//! It prints figures and ratios and asserts nothing: machines are noisy, and a ratio is read by a
//! person.

mod agents;
mod beside;
mod driven;
mod idle;
mod iteration;
mod jail;
mod live;
mod loops;
mod parallel;
mod prd_reader;
mod quartet;
mod ralph;
mod talk;
mod trees;
mod warm;

use std::process::ExitCode;

use crate::talk::say;

fn main() -> ExitCode {
    let measured = match std::env::args().nth(1).as_deref() {
        Some("prd") | None => {
            prd_reader::run();
            Ok(())
        }
        Some("loops") => loops::run(),
        Some("live") => live::run(),
        Some("quartet") => quartet::run(),
        Some("ralph") => ralph::run(),
        Some("iteration") => iteration::run(),
        Some("agents") => agents::run(),
        Some("jail") => jail::run(),
        Some("parallel") => parallel::run(&rest()),
        Some("idle") => idle::run(&rest()),
        Some("beside") => beside::run(&rest()),
        Some("trees") => trees::run(&rest()),
        Some("warm") => warm::run(&rest()),
        // For `agents` alone: one run in a process of its own.
        Some("agent-run") => agents::run_one(&rest()),
        // For `live` alone: a worker in a process of its own.
        Some("worker") => live::work(&std::env::args().nth(2).unwrap_or_default()),
        Some(other) => {
            say(&format!(
                "there is no measurement `{other}`; there are: prd, loops, live, quartet, ralph, iteration, agents, jail, parallel, idle, beside, trees, warm"
            ));
            return ExitCode::from(2);
        }
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("cannot measure: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The arguments after the measurement's name.
fn rest() -> Vec<String> {
    std::env::args().skip(2).collect()
}
