//! Prints what was measured.

/// The figures are this program's data.
#[expect(
    clippy::print_stdout,
    reason = "the only output of a measuring program"
)]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
