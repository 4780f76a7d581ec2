//! Prints what was measured, or why it could not be.

/// Whatever goes wrong ends a measurement, in words.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The figures are this program's data.
#[expect(
    clippy::print_stdout,
    reason = "the only output of a measuring program"
)]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
