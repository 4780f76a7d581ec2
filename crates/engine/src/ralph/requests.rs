//! What a jailed agent asks for: that its own task is completed. The folder is the agent's to write
//! to, so that nothing in it is followed, and only names that we expect are looked at.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::{Value, json};
use tasks::{Caller, Force, Tasks};

/// A request is a line.
const REQUEST_BYTES_MAX: u64 = 4096;
/// So many requests are answered at a time.
const REQUESTS_MAX: usize = 16;

/// Answers everything that is asked now. `scratch` is a folder that the agent cannot see.
pub(super) fn answer(folder: &Path, scratch: &Path, tasks: &Tasks, task: &str, claim: u64) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().take(REQUESTS_MAX) {
        let name = entry.file_name();
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(".request")) else {
            continue;
        };
        if !is_plain(stem) {
            continue;
        }
        let path = folder.join(&name);
        let wanted = read(&path);
        // What cannot be removed would be asked for ever.
        if fs::remove_file(&path).is_err() {
            continue;
        }
        let (ok, message) = outcome(wanted.as_deref(), tasks, task, claim);
        let text = json!({ "ok": ok, "message": message }).to_string();
        let made = scratch.join("answer");
        // A rename replaces what is there, also a link, and writes through nothing.
        let _ = fs::write(&made, text)
            .and_then(|()| fs::rename(&made, folder.join(format!("{stem}.answer"))));
    }
}

fn is_plain(stem: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !stem.is_empty() && stem.len() < 64 && stem.chars().all(is_plain)
}

/// The task that a request names. A link or a pipe is none.
fn read(path: &Path) -> Option<String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).ok()?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut text = String::new();
    file.take(REQUEST_BYTES_MAX)
        .read_to_string(&mut text)
        .ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    value["task"].as_str().map(str::to_owned)
}

fn outcome(wanted: Option<&str>, tasks: &Tasks, task: &str, claim: u64) -> (bool, String) {
    match wanted {
        Some(wanted) if wanted == task => {
            match tasks.complete(task, &Caller::Holder { claim }, Force::No) {
                Ok(done) if done.is_submitted => {
                    let words = "submitted; it is complete once the project's checks pass";
                    (true, format!("{task}: {words}"))
                }
                Ok(_) => (true, format!("{task}: complete")),
                Err(error) => (false, home::words_of(&error)),
            }
        }
        Some(other) => {
            let other = home::one_line(other);
            (false, format!("you hold `{task}`, not `{other}`"))
        }
        None => (false, "the request is not understood".to_owned()),
    }
}
