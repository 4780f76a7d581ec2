//! The pipe that wakes a worker: whoever recorded something, or ended a run, writes a byte into it.
//!
//! A byte that is lost costs nothing but time, since a worker also looks by itself now and then. A
//! named pipe is taken and not a socket, whose path may be too long.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use rustix::io::Errno;

use crate::folder::Home;

/// The worker's end of the pipe.
#[derive(Debug)]
pub struct WakePipe {
    pipe: File,
}

/// Wakes the worker of a state folder. Without one there is nobody to wake, which is no fault.
pub fn wake_worker(home: &Home) {
    send(home, WAKE);
}

/// Wakes the worker, and tells it not to wait any longer before it tries again what failed: somebody
/// is looking, and may have cleared what stood in the way.
pub fn hurry_worker(home: &Home) {
    send(home, HURRY);
}

const WAKE: u8 = b'w';
const HURRY: u8 = b'h';

fn send(home: &Home, byte: u8) {
    let pipe = OpenOptions::new()
        .write(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(home.wake_pipe());
    if let Ok(mut pipe) = pipe {
        // A pipe that is full wakes its reader as well as one more byte would.
        let _ = pipe.write(&[byte]);
    }
}

impl WakePipe {
    /// Makes the pipe, or takes the one that an earlier worker left.
    pub fn open(home: &Home) -> io::Result<Self> {
        let path = home.wake_pipe();
        match mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        // Opened for writing as well, so that it never ends while nobody else has it open.
        let pipe = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(&path)?;
        Ok(Self { pipe })
    }

    /// Waits until somebody wakes us or the time is over, and takes all bytes that are there. Says
    /// whether somebody wants us to hurry.
    pub fn wait(&mut self, longest: Duration) -> bool {
        let time = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: longest.subsec_nanos().into(),
        };
        let mut waits = [PollFd::new(&self.pipe, PollFlags::IN)];
        // An interrupted wait is a short one: whoever waits looks again anyway.
        if matches!(poll(&mut waits, Some(&time)), Ok(1..)) {
            let mut bytes = [0; 4096];
            let mut hurries = false;
            while let Ok(count @ 1..) = self.pipe.read(&mut bytes) {
                hurries |= bytes[..count].contains(&HURRY);
            }
            return hurries;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_byte_ends_the_wait_and_counts_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::at(folder.path());
        wake_worker(&home);
        let mut pipe = WakePipe::open(&home).expect("a pipe");
        for _ in 0..3 {
            wake_worker(&home);
        }
        let long = Duration::from_mins(10);
        let began = Instant::now();
        assert!(!pipe.wait(long), "nobody hurries us");
        assert!(began.elapsed() < long, "the byte ended the wait");
        // All bytes were taken at once: this wait runs its full, short time.
        pipe.wait(Duration::from_millis(1));
        wake_worker(&home);
        hurry_worker(&home);
        assert!(pipe.wait(long), "somebody hurries us");
        let again = WakePipe::open(&home).expect("the pipe of before");
        drop((pipe, again));
    }
}
