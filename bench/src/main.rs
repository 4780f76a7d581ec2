//! Measures us beside a peer in one run: `cargo run --release -p bench -- prd` (or `loops`).
//!
//! It prints figures and ratios and asserts nothing: machines are noisy, and a ratio is read by a person.

mod loops;
mod prd_reader;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("prd") | None => {
            prd_reader::run();
            ExitCode::SUCCESS
        }
        Some("loops") => match loops::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("cannot measure: {error}"));
                ExitCode::FAILURE
            }
        },
        Some(other) => {
            say(&format!("there is no measurement `{other}`; there are: prd, loops"));
            ExitCode::from(2)
        }
    }
}

/// The figures are this program's data.
#[expect(clippy::print_stdout, reason = "the only output of a measuring program")]
fn say(line: &str) {
    println!("{line}");
}
