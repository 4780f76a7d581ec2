//! Measures us beside a peer in one run: `cargo run --release -p bench -- prd`.
//!
//! It prints figures and ratios and asserts nothing: machines are noisy, and a ratio is read by a person.

mod prd_reader;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("prd") | None => {
            prd_reader::run();
            ExitCode::SUCCESS
        }
        Some(other) => {
            say(&format!("there is no measurement `{other}`; there is: prd"));
            ExitCode::from(2)
        }
    }
}

/// The figures are this program's data.
#[expect(clippy::print_stdout, reason = "the only output of a measuring program")]
fn say(line: &str) {
    println!("{line}");
}
