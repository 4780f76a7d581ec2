//! The agent's process and its pipes. Threads read and write the pipes, so that neither side ever
//! waits for the other: a full pipe in both directions would be a deadlock.

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

/// The longest message. An agent that sends the output of a tool puts all of it into one message.
const LINE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How long to read on after the agent's process has ended, if another process holds its output
/// open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long an agent has to answer a cancellation. This is shorter than the keeper's patience with
/// us.
const CANCELLATION: Duration = Duration::from_secs(5);

/// A running agent.
pub(crate) struct Agent {
    pub(crate) pipes: Pipes,
    /// Resolves [`LAST_WORDS`] after its process has ended.
    pub(crate) gone: oneshot::Receiver<()>,
    pub(crate) ending: Ending,
}

/// The agent's pipes.
pub(crate) struct Pipes {
    /// Lines for the agent. Its standard input is closed when all senders are dropped.
    pub(crate) input: lines::UnboundedSender<String>,
    /// The agent's messages, until its output ends.
    pub(crate) output: lines::UnboundedReceiver<io::Result<String>>,
}

/// Waits for the end of an agent whose input is closed.
pub(crate) struct Ending {
    ended: mpsc::Receiver<()>,
}

/// Starts the agent in a process group of its own. A signal to our group then reaches only us, and
/// we cancel the agent through the protocol. Lines that are no messages go to `strange`.
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
    // Standard error is inherited, so the keeper captures what the agent writes there.
    let no_pipe = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(no_pipe)?;
    let stdout = child.stdout.take().ok_or_else(no_pipe)?;
    let (input, to_write) = lines::unbounded();
    let (read, output) = lines::unbounded();
    let (tell_gone, gone) = oneshot::channel();
    let (tell_ended, ended) = mpsc::channel();
    // A machine may have no thread left; whoever keeps us ends an agent that is left without one.
    let start = |work: Box<dyn FnOnce() + Send>| thread::Builder::new().spawn(work).map(drop);
    start(Box::new(move || write_lines(stdin, to_write)))?;
    start(Box::new(move || read_lines(stdout, &read, strange)))?;
    start(Box::new(move || watch(child, &tell_ended, tell_gone)))?;
    Ok(Agent {
        pipes: Pipes { input, output },
        gone,
        ending: Ending { ended },
    })
}

impl Ending {
    /// Gives the agent some time to save its session. The keeper ends an agent that needs longer.
    pub(crate) fn wait(&self) {
        const GRACE: Duration = Duration::from_secs(3);
        let _ = self.ended.recv_timeout(GRACE);
    }
}

/// Writes lines until the senders are dropped or the agent stops reading. That the agent is gone
/// shows on its output.
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
        // A line over the limit comes in pieces. None of them is a whole message, so they are
        // reported as strange.
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

/// Says whether a line is a message of the protocol. Other lines are kept from the connection,
/// which would answer each with an error. Agents print log lines too, some of them as JSON.
fn is_message(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|value| {
        value.is_object() && (value.get("method").is_some() || value.get("id").is_some())
    })
}

fn watch(mut child: Child, ended: &mpsc::Sender<()>, gone: oneshot::Sender<()>) {
    // Nobody may be listening any more, which is fine.
    let _ = child.wait();
    let _ = ended.send(());
    thread::sleep(LAST_WORDS);
    let _ = gone.send(());
}

/// The signals that ask us to end, and the end of the grace period that follows.
pub(crate) struct Signals {
    pub(crate) asked: oneshot::Receiver<()>,
    pub(crate) expired: oneshot::Receiver<()>,
}

pub(crate) fn signals() -> io::Result<Signals> {
    // A signal handler may only do very little; writing a byte to a socket is allowed. A thread
    // turns the byte into something that can be awaited.
    let (mut seen, sent) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::low_level::pipe::register(signal, sent.try_clone()?)?;
    }
    let (tell_asked, asked) = oneshot::channel();
    let (tell_expired, expired) = oneshot::channel();
    thread::Builder::new().spawn(move || {
        let _ = seen.read_exact(&mut [0]);
        let _ = tell_asked.send(());
        thread::sleep(CANCELLATION);
        let _ = tell_expired.send(());
    })?;
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
