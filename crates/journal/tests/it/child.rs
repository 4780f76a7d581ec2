//! The child process: this test program, started again with a task in its environment. Its answers
//! go to stderr, because the test harness writes to stdout.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::{full_disk, kill};

const TASK: &str = "JOURNAL_TEST_TASK";
const STATE_DIR: &str = "JOURNAL_TEST_STATE_DIR";

/// Does nothing unless [`start`] started this process.
#[test]
fn does_its_task() {
    let Ok(task) = env::var(TASK) else { return };
    let state_dir = env::var_os(STATE_DIR).unwrap();
    match task.as_str() {
        "append" => kill::append_for_ever(Path::new(&state_dir)),
        "fill" => full_disk::fill(Path::new(&state_dir)),
        other => unreachable!("no test asks for `{other}`"),
    }
}

/// The command line that starts the child; a test may put a wrapper before it.
pub(crate) fn command_words() -> Vec<String> {
    let program = env::current_exe()
        .unwrap()
        .into_os_string()
        .into_string()
        .unwrap();
    vec![
        program,
        "--exact".to_owned(),
        "child::does_its_task".to_owned(),
        "--nocapture".to_owned(),
    ]
}

pub(crate) fn start(
    words: &[String],
    task: &str,
    state_dir: &Path,
) -> (Child, BufReader<ChildStderr>) {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env(TASK, task)
        .env(STATE_DIR, state_dir);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let answers = BufReader::new(child.stderr.take().unwrap());
    (child, answers)
}

/// Sends a line to the parent in one write, so that a killed child leaves only complete lines,
/// except perhaps the last.
pub(crate) fn answer(text: &str) {
    io::stderr()
        .write_all(format!("{text}\n").as_bytes())
        .unwrap();
}

/// The next complete line; `None` if the child is gone.
pub(crate) fn next_answer(answers: &mut BufReader<ChildStderr>) -> Option<String> {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.strip_suffix('\n').map(str::to_owned)
}
