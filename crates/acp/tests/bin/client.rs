//! The client as a program, for the tests of this crate: `acp-client-for-tests PROGRAM ARGS`, with
//! the prompt on standard input. `ACP_MODEL` and `ACP_RESUME` replace the flags of the real
//! program.

use std::io::Read as _;
use std::process::ExitCode;

use acp::Orders;

#[expect(clippy::print_stderr, reason = "it is a program")]
fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut prompt = String::new();
    let _ = std::io::stdin().read_to_string(&mut prompt);
    let orders = Orders {
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        cwd: std::env::current_dir().unwrap_or_default(),
        model: std::env::var("ACP_MODEL").ok(),
        effort: None,
        resume: std::env::var("ACP_RESUME").ok(),
    };
    match acp::run(&orders, &prompt, Box::new(std::io::stdout())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
