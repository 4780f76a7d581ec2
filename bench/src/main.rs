//! Measures us beside a peer in one run: `cargo run --release -p bench -- prd` (or `loops`, `live`, `quartet`, `ralph`; the
//! last three need `cargo build --release` first, for they run the program itself).
//!
//! It prints figures and ratios and asserts nothing: machines are noisy, and a ratio is read by a person.

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
        // For `live` alone: a worker in a process of its own.
        Some("worker") => live::work(&std::env::args().nth(2).unwrap_or_default()),
        Some(other) => {
            say(&format!("there is no measurement `{other}`; there are: prd, loops, live, quartet, ralph"));
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
#[expect(clippy::print_stdout, reason = "the only output of a measuring program")]
fn say(line: &str) {
    println!("{line}");
}
