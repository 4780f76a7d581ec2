//! The first process inside a jail: our own program under the hidden command `jail-shim`.
//!
//! It closes what was inherited, tells the keeper that it is there, waits until the keeper has
//! recorded it, starts the program within its limits, relays the bridge, passes stop requests on,
//! reaps orphans, and reports how the program ended. When its line to the keeper breaks it ends, and
//! the kernel ends everything inside with it. The jailed program can neither trace it nor read its
//! memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, ExitStatus, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Resource, Signal, WaitOptions, kill_process_group,
    set_dumpable_behavior, wait,
};

use super::raw;
use super::words::{Order, Word};
use crate::jail::{ALIVE, NET};

/// The exit code when the keeper is gone.
const KEEPER_GONE: i32 = 124;

/// The exit code when the jail could not be made ready.
const NOT_READY: u8 = 125;

/// Connections to the bridge at the same time. Each takes two threads, which count as processes of
/// the jail. Further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 64;

/// How often it is looked whether another connection may be accepted.
const PAUSE: Duration = Duration::from_millis(5);

/// How long the keeper may take to read what goes with the jail.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the command line asks for.
#[derive(Debug, Default)]
struct Task {
    port: Option<u16>,
    stdin: Option<String>,
    limits: Vec<(Resource, u64)>,
    program: OsString,
    args: Vec<OsString>,
}

/// Runs as the first process of a jail; `args` are the arguments after the hidden command.
pub fn shim(args: impl Iterator<Item = OsString>) -> ExitCode {
    if raw::close_inherited().is_err() {
        return ExitCode::from(NOT_READY);
    }
    // The default is dumpable: then the program could read our memory, the keeper's line with it.
    if set_dumpable_behavior(DumpableBehavior::NotDumpable).is_err() {
        return ExitCode::from(NOT_READY);
    }
    let Ok(line) = UnixStream::connect(ALIVE) else {
        return ExitCode::from(NOT_READY);
    };
    let Ok(mut keeper) = line.try_clone() else {
        return ExitCode::from(NOT_READY);
    };
    match serve(args, line) {
        Ok((status, farewell)) => {
            say(&mut keeper, &Word::ended(status, n_left()));
            // The keeper asks the jail's groups whether a limit was hit, and a container takes its own
            // along.
            let _ = farewell.recv_timeout(FAREWELL);
            let code = status.code().or(status.signal().map(|signal| 128 + signal));
            ExitCode::from(u8::try_from(code.unwrap_or_default()).unwrap_or(u8::MAX))
        }
        Err(refusal) => {
            say(&mut keeper, &refusal);
            ExitCode::from(NOT_READY)
        }
    }
}

/// Runs the program to its end. The second value tells when the keeper is done with the jail.
fn serve(
    args: impl Iterator<Item = OsString>,
    line: UnixStream,
) -> Result<(ExitStatus, Receiver<()>), Word> {
    let task = Task::read(args).ok_or_else(|| Word::cannot_start("its command line is wrong"))?;
    let failed = |what: &str, error: &io::Error| Word::CannotStart {
        why: format!("cannot {what}: {error}"),
        is_passing: is_passing(error),
    };
    if let Some(port) = task.port {
        bridge(port).map_err(|error| failed("open the bridge to the proxy", &error))?;
    }
    let mut keeper = line
        .try_clone()
        .map_err(|error| failed("keep the line to the keeper", &error))?;
    let mut orders = BufReader::new(line);
    // The keeper has recorded us when it says so. Before that the program must not run.
    let env = match next_order(&mut orders) {
        Some(Order::Go { env }) => env,
        Some(Order::Term | Order::Int | Order::Bye) | None => exit(KEEPER_GONE),
    };
    let program = start(&task, env).map_err(|error| {
        let what = format!("start `{}`", task.program.to_string_lossy());
        failed(&what, &error)
    })?;
    say(&mut keeper, &Word::Started);
    let (sender, farewell) = channel();
    let listening = thread::Builder::new().spawn(move || obey(orders, program, &sender));
    listening.map_err(|error| failed("listen to the keeper", &error))?;
    let status = wait_for(program).map_err(|error| failed("wait for the program", &error))?;
    Ok((status, farewell))
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory
    )
}

impl Task {
    fn read(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut task = Self::default();
        loop {
            let arg = args.next()?.into_string().ok()?;
            if arg == "--" {
                break;
            }
            let (name, value) = arg.split_once('=')?;
            match name {
                "port" => task.port = Some(value.parse().ok()?),
                "stdin" => task.stdin = Some(value.to_owned()),
                _ => task.limits.push((resource(name)?, value.parse().ok()?)),
            }
        }
        // A core file would be written by the host's rules.
        task.limits.push((Resource::Core, 0));
        task.program = args.next()?;
        task.args = args.collect();
        Some(task)
    }
}

fn resource(name: &str) -> Option<Resource> {
    match name {
        "processes" => Some(Resource::Nproc),
        "cpu_secs" => Some(Resource::Cpu),
        "open_files" => Some(Resource::Nofile),
        "file_bytes" => Some(Resource::Fsize),
        _ => None,
    }
}

/// Starts the program in a process group of its own.
fn start(task: &Task, env: Option<BTreeMap<String, OsString>>) -> io::Result<Pid> {
    let mut command = Command::new(&task.program);
    command.args(&task.args).process_group(0);
    if let Some(env) = env {
        command.env_clear().envs(env);
    }
    // Opened inside: a descriptor from outside could be opened again for writing.
    command.stdin(match &task.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    });
    // In the child only: the limit on processes would count our own threads against us.
    raw::limit(&mut command, task.limits.clone());
    command.spawn().map(|child| Pid::from_child(&child))
}

/// Waits until the program has ended, and reaps every orphan on the way.
fn wait_for(program: Pid) -> io::Result<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                return Ok(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// How many processes are left beside us, which end with us, and how many tasks there were while the
/// program still ran.
fn n_left() -> (u32, u64) {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter(|entry| {
        let name = entry.file_name();
        name.as_bytes().iter().all(u8::is_ascii_digit)
    });
    let (mut n_processes, mut n_tasks) = (0_u32, 0);
    for process in processes {
        let tasks = fs::read_dir(process.path().join("task"));
        n_processes += 1;
        n_tasks += tasks.into_iter().flatten().count() as u64;
    }
    (n_processes.saturating_sub(1), n_tasks + 1)
}

/// Passes stop requests on to the program's group, until the keeper is gone, and tells when it is done
/// with the jail.
fn obey(mut orders: BufReader<UnixStream>, program: Pid, farewell: &Sender<()>) {
    loop {
        let signal = match next_order(&mut orders) {
            Some(Order::Term) => Signal::TERM,
            Some(Order::Int) => Signal::INT,
            Some(Order::Go { .. }) => continue,
            Some(Order::Bye) => {
                let _ = farewell.send(());
                continue;
            }
            None => exit(KEEPER_GONE),
        };
        // It fails only if the group is gone already.
        let _ = kill_process_group(program, signal);
    }
}

fn next_order(orders: &mut BufReader<UnixStream>) -> Option<Order> {
    let mut line = String::new();
    orders.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Tells the keeper. If it is gone, so are we in a moment.
fn say(keeper: &mut UnixStream, word: &Word) {
    if let Ok(mut line) = serde_json::to_vec(word) {
        line.push(b'\n');
        let _ = keeper.write_all(&line);
    }
}

/// Relays the port to the proxy's socket.
fn bridge(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let n_open = Arc::new(AtomicUsize::new(0));
    let relaying = thread::Builder::new().spawn(move || {
        for connection in listener.incoming().flatten() {
            while n_open.load(Ordering::Acquire) >= CONNECTIONS_MAX {
                thread::sleep(PAUSE);
            }
            let counted = Counted::new(&n_open);
            // Without a thread the connection is dropped, and the client may try again.
            let _ = thread::Builder::new().spawn(move || {
                relay(&connection);
                drop(counted);
            });
        }
    });
    relaying.map(drop)
}

/// Counts one connection until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn relay(inside: &TcpStream) {
    let Ok(outside) = UnixStream::connect(NET) else {
        return;
    };
    let _ = inside.set_nodelay(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            copy(inside, &outside);
            let _ = outside.shutdown(Shutdown::Write);
        });
        copy(&outside, inside);
        let _ = inside.shutdown(Shutdown::Write);
    });
}

/// Copies until one side has ended.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n_read) = from.read(&mut buffer) {
        if n_read == 0 || to.write_all(&buffer[..n_read]).is_err() {
            return;
        }
    }
}
