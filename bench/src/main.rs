//! Measures us beside a peer in one run: `cargo run --release -p bench -- prd` (or `loops`, `live`,
//! `quartet`, `ralph`, `agents`; the last four need `cargo build --release` first, for they run the
//! program itself, and `agents` also the real agent CLIs, which `cargo xtask ci --only agents`
//! installs).
//!
//! It prints figures and ratios and asserts nothing: machines are noisy, and a ratio is read by a
//! person.

mod agents;
mod live;
mod loops;
mod prd_reader;
mod quartet;
mod ralph;

use std::process::ExitCode;

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
        Some("agents") => agents::run(),
        // For `agents` alone: one run in a process of its own.
        Some("agent-run") => agents::run_one(&std::env::args().skip(2).collect::<Vec<_>>()),
        // For `live` alone: a worker in a process of its own.
        Some("worker") => live::work(&std::env::args().nth(2).unwrap_or_default()),
        Some(other) => {
            say(&format!(
                "there is no measurement `{other}`; there are: prd, loops, live, quartet, ralph, agents"
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

/// The figures are this program's data.
#[expect(
    clippy::print_stdout,
    reason = "the only output of a measuring program"
)]
fn say(line: &str) {
    println!("{line}");
}
