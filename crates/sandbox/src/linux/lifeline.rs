//! The keeper's end of the line to a jail's shim.
//!
//! The kernel closes the line when the keeper dies, however it dies, and then the shim ends and the
//! whole jail with it. The line also carries what both say to each other, so that asking a program
//! to end and learning how it ended work alike in every kind of jail.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use super::words::{Order, Word};

/// The length of a line that a shim may send.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How long the last words of a shim that has ended may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The line of one jail.
#[derive(Debug, Default, Clone)]
pub(super) struct Lifeline(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Told when nobody listens any longer.
    closed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    line: Option<UnixStream>,
    is_listening: bool,
    said: Said,
}

/// The program's environment if the shim does not have it, or why the program may not start.
pub(super) type Admission = Result<Option<BTreeMap<String, OsString>>, String>;

/// What the shim has said so far.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The shim's process id as we see it, once it has connected.
    pub(super) shim: Option<i32>,
    pub(super) has_started: bool,
    /// Why the program never ran, and whether a later try may succeed.
    pub(super) refusal: Option<(String, bool)>,
    /// How the program ended, how many processes it left behind, and how many tasks there were.
    pub(super) ended: Option<(ExitStatus, u32, u64)>,
}

impl Lifeline {
    /// Listens at `socket` for the shim. `admit` is called once with the shim's process id, before
    /// the program may start. It returns the program's environment if the shim does not have it; its
    /// error refuses the start. `at_end` is called when the program has ended and its jail is still
    /// there.
    pub(super) fn open(
        socket: &Path,
        admit: impl FnOnce(Option<i32>) -> Admission + Send + 'static,
        at_end: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let listener = listen(socket)?;
        let lifeline = Self::default();
        let ours = lifeline.clone();
        let socket = socket.to_owned();
        thread::Builder::new().spawn(move || {
            let accepted = listener.accept();
            // One connection is all there is: the jailed program finds nobody at the socket.
            drop(listener);
            let _ = fs::remove_file(&socket);
            if let Ok((line, _)) = accepted {
                ours.state().is_listening = true;
                ours.serve(line, admit, at_end);
                ours.state().is_listening = false;
                ours.0.closed.notify_all();
            }
        })?;
        Ok(lifeline)
    }

    /// What the shim has said so far.
    pub(super) fn said(&self) -> Said {
        self.state().said.clone()
    }

    /// All that the shim has said, once it has ended.
    ///
    /// That the program could not start may lie in the line unread; nobody else tells why. With all
    /// other news the shim waits until they are read.
    pub(super) fn last_words(&self) -> Said {
        let is_unread = |state: &mut State| {
            state.is_listening && !state.said.has_started && state.said.refusal.is_none()
        };
        let closed = &self.0.closed;
        let waited = closed.wait_timeout_while(self.state(), LAST_WORDS, is_unread);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.said.clone()
    }

    /// Sends an order. Returns whether there was somebody to send it to.
    pub(super) fn order(&self, order: &Order) -> bool {
        let mut state = self.state();
        let sent = state.line.as_mut().map(|line| send(line, order));
        matches!(sent, Some(Ok(())))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(
        &self,
        mut line: UnixStream,
        admit: impl FnOnce(Option<i32>) -> Admission,
        at_end: impl Fn(),
    ) {
        let peer = rustix::net::sockopt::socket_peercred(&line);
        let shim = peer.ok().map(|peer| peer.pid.as_raw_nonzero().get());
        let env = match admit(shim) {
            Ok(env) => env,
            Err(why) => {
                self.state().said.refusal = Some((why, true));
                return;
            }
        };
        let Ok(reading) = line.try_clone() else {
            return;
        };
        // A shim that is gone already may have said why.
        let _ = send(&mut line, &Order::Go { env });
        {
            let mut state = self.state();
            state.line = Some(line);
            state.said.shim = shim;
        }
        self.listen(reading, at_end);
    }

    fn listen(&self, line: UnixStream, at_end: impl Fn()) {
        let mut line = BufReader::new(line);
        loop {
            let mut text = String::new();
            let mut bounded = io::Read::take(&mut line, LINE_BYTES_MAX);
            if !matches!(bounded.read_line(&mut text), Ok(1..)) {
                return;
            }
            let Ok(word) = serde_json::from_str(&text) else {
                return;
            };
            if matches!(word, Word::Ended { .. }) {
                at_end();
            }
            let mut state = self.state();
            match word {
                Word::Started => state.said.has_started = true,
                Word::CannotStart { why, is_passing } => {
                    state.said.refusal = Some((why, is_passing));
                }
                Word::Ended {
                    status,
                    n_left,
                    n_tasks,
                } => {
                    state.said.ended = Some((ExitStatus::from_raw(status), n_left, n_tasks));
                    let _ = state.line.as_mut().map(|line| send(line, &Order::Bye));
                }
            }
        }
    }
}

fn send(line: &mut UnixStream, order: &Order) -> io::Result<()> {
    let mut text = serde_json::to_vec(order)?;
    text.push(b'\n');
    line.write_all(&text)
}

/// Listens on a socket file that only its owner can use.
///
/// The name of a socket has at most 107 bytes, and the path of a run folder may be longer. Through
/// the folder's descriptor it is short.
pub(super) fn listen(socket: &Path) -> io::Result<UnixListener> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = i32::try_from((OFlags::PATH | OFlags::DIRECTORY).bits());
    let folder: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags.unwrap_or_default())
        .open(folder)?;
    let short = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let listener = UnixListener::bind(Path::new(&short).join(name))?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_last_words_of_a_shim_that_ended_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("alive.sock");
        let (admitted, waits) = channel();
        let slow = move |_| {
            admitted.send(()).unwrap();
            thread::sleep(Duration::from_millis(200));
            Ok(None)
        };
        let lifeline = Lifeline::open(&socket, slow, || {}).unwrap();
        assert_eq!(lifeline.last_words(), Said::default(), "nobody came yet");
        let mut line = UnixStream::connect(&socket).unwrap();
        let word = serde_json::to_string(&Word::cannot_start("no such program")).unwrap();
        writeln!(line, "{word}").unwrap();
        drop(line);
        waits.recv().unwrap();
        let why = ("no such program".to_owned(), false);
        assert_eq!(lifeline.last_words().refusal, Some(why));
    }
}
