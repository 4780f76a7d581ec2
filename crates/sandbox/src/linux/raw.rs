//! The three calls that the compiler cannot check.
#![expect(
    unsafe_code,
    reason = "descriptors that nobody owns can only be closed by number, limits must be set between \
              fork and exec, and the compiler does not know which flag of `unshare` is harmless"
)]

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::{Dir, Mode, OFlags, open};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// How long a program may ignore that its processor time is used up.
const CPU_SECS_MORE: u64 = 5;

/// Leaves the user and mount namespaces that we were started in. It fails where we have threads.
pub(super) fn unshare() -> io::Result<()> {
    // SAFETY: Only the flag `FILES` can part descriptors from the threads that use them.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }.map_err(io::Error::from)
}

/// Closes every descriptor but the three standard ones. A folder among them would be a way out of
/// the jail.
///
/// It must be called before anything else: no value of this process may own a descriptor yet.
pub(super) fn close_inherited() -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut listing = Dir::new(open("/proc/self/fd", flags, Mode::empty())?)?;
    let own = listing.fd()?.as_raw_fd();
    let mut numbers = Vec::new();
    for entry in &mut listing {
        let number = entry?
            .file_name()
            .to_str()
            .ok()
            .and_then(|name| name.parse().ok());
        numbers.extend(number.filter(|number: &RawFd| *number > 2 && *number != own));
    }
    for number in numbers {
        // SAFETY: This runs first in the process, on its only thread, so no value but the listing
        // owns a descriptor above 2. It was open a moment ago, and nobody else can have closed it.
        unsafe { rustix::io::close(number) };
    }
    Ok(())
}

/// Makes the command set these limits on itself, after the fork and before it becomes the program.
pub(super) fn limit(command: &mut Command, limits: Vec<(Resource, u64)>) {
    // SAFETY: The closure makes system calls only. It neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || {
            for (resource, limit) in &limits {
                let maximum = match resource {
                    // At the first limit comes `SIGXCPU`, which tells why; at the second `SIGKILL`.
                    Resource::Cpu => limit.saturating_add(CPU_SECS_MORE),
                    _ => *limit,
                };
                let both = Rlimit {
                    current: Some(*limit),
                    maximum: Some(maximum),
                };
                setrlimit(*resource, both)?;
            }
            Ok(())
        });
    }
}
