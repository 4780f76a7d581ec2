//! The agent's process and its pipes. Threads read and write them, so that neither side ever waits
//! for the other.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::channel::{mpsc as lines, oneshot};
use futures::executor::block_on_stream;
use serde_json::Value;

/// Bytes of one message; an agent that sends the output of a tool sends all of it in one.
const LINE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How long the last words of an agent that has ended are waited for, where somebody else holds its
/// output open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long an agent has to answer a cancellation. It is less than the keeper's patience with us.
const CANCELLATION: Duration = Duration::from_secs(5);

/// What is held of a running agent.
pub(crate) struct Agent {
    pub(crate) pipes: Pipes,
    /// Told some time after its process has ended.
    pub(crate) gone: oneshot::Receiver<()>,
    pub(crate) ending: Ending,
}

/// The agent's pipes.
pub(crate) struct Pipes {
    /// Lines for it; when all senders are gone, its standard input is closed.
    pub(crate) input: lines::UnboundedSender<String>,
    /// Its messages, until its output ends.
    pub(crate) output: lines::UnboundedReceiver<io::Result<String>>,
}

/// The end of an agent whose input is closed.
pub(crate) struct Ending {
    ended: mpsc::Receiver<()>,
}

/// Starts the agent in a group of its own: the signal that ends our group comes to us, and we tell
/// the agent in its own words. What it prints that is no message goes to `strange`.
pub(crate) fn start(
    program: &str,
    args: &[String],
    strange: impl Fn(&str) + Send + 'static,
) -> io::Result<Agent> {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    let no_pipe = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(no_pipe)?;
    let stdout = child.stdout.take().ok_or_else(no_pipe)?;
    let (input, to_write) = lines::unbounded();
    let (read, output) = lines::unbounded();
    let (tell_gone, gone) = oneshot::channel();
    let (tell_ended, ended) = mpsc::channel();
    thread::spawn(move || write_lines(stdin, to_write));
    thread::spawn(move || read_lines(stdout, &read, strange));
    thread::spawn(move || watch(child, &tell_ended, tell_gone));
    Ok(Agent {
        pipes: Pipes { input, output },
        gone,
        ending: Ending { ended },
    })
}

impl Ending {
    /// Gives it a moment to put its things away; the keeper ends whoever needs longer.
    pub(crate) fn wait(&self) {
        const MOMENT: Duration = Duration::from_secs(3);
        let _ = self.ended.recv_timeout(MOMENT);
    }
}

fn write_lines(mut stdin: ChildStdin, to_write: lines::UnboundedReceiver<String>) {
    for line in block_on_stream(to_write) {
        if stdin
            .write_all(line.as_bytes())
            .and_then(|()| stdin.write_all(b"\n"))
            .is_err()
        {
            return;
        }
    }
}

fn read_lines(
    stdout: ChildStdout,
    read: &lines::UnboundedSender<io::Result<String>>,
    strange: impl Fn(&str),
) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stdout)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if is_message(text) {
            if read.unbounded_send(Ok(text.to_owned())).is_err() {
                return;
            }
        } else if !text.is_empty() {
            strange(text);
        }
    }
}

/// What is no message is kept from the connection, which would answer each such line with an error.
fn is_message(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|value| {
        value.is_object() && (value.get("method").is_some() || value.get("id").is_some())
    })
}

fn watch(mut child: Child, ended: &mpsc::Sender<()>, gone: oneshot::Sender<()>) {
    let _ = child.wait();
    let _ = ended.send(());
    thread::sleep(LAST_WORDS);
    let _ = gone.send(());
}

/// The signals by which we are asked to end, and the end of the patience that follows.
pub(crate) struct Signals {
    pub(crate) asked: oneshot::Receiver<()>,
    pub(crate) expired: oneshot::Receiver<()>,
}

pub(crate) fn signals() -> io::Result<Signals> {
    let (mut seen, sent) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::low_level::pipe::register(signal, sent.try_clone()?)?;
    }
    let (tell_asked, asked) = oneshot::channel();
    let (tell_expired, expired) = oneshot::channel();
    thread::spawn(move || {
        let _ = seen.read_exact(&mut [0]);
        let _ = tell_asked.send(());
        thread::sleep(CANCELLATION);
        let _ = tell_expired.send(());
    });
    Ok(Signals { asked, expired })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
            (
                r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#,
                true,
            ),
            (r#"{"level":"info","msg":"ready"}"#, false),
            (r#"[{"id":1}]"#, false),
            ("Loading...", false),
            ("", false),
        ] {
            assert_eq!(is_message(line), expected, "{line}");
        }
    }
}
