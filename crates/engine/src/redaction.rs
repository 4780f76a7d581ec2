//! Takes secrets out of what is about to be recorded, told to an agent or kept on disk.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use home::{Home, Known, Redactor, Settings};
use kernel::{Event, LoopSpec};
use sandbox::Stream;
use serde_json::Value;

use crate::fault::Fault;

/// What stands in the output of a run where a known value was. It is as long as the value, since
/// places in an output are known by their distance from its beginning.
const MASK: u8 = b'*';

/// What is looked through of a config home at the end of every run: so many files and folders, and so
/// many bytes. Sessions are far smaller.
const FILES_MAX: usize = 20_000;
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Members of an event that name something of ours: a decision depends on them, and no agent wrote
/// them. Settings are the person's own, and an agent's `env` must reach it as it is written there.
const NAMES: [&str; 17] = [
    "type",
    "story",
    "attempt",
    "stage",
    "commit",
    "base",
    "head",
    "candidate",
    "agent",
    "from",
    "to",
    "on",
    "implementor",
    "judge",
    "cast",
    "cause",
    "settings",
];

/// What is known of a loop's secrets.
pub(crate) fn known_of(home: &Home, loop_id: &str) -> Result<Known, Fault> {
    let path = home.keys_file(loop_id);
    Known::of_loop(home, loop_id).map_err(|error| Fault::io("read", &path, error))
}

/// What is known of a loop's secrets, for who cannot wait until its keys can be read: then all that this
/// process has ever read. No run begins without keys that can be read.
pub(crate) fn known_or_seen(home: &Home, loop_id: &str) -> Known {
    known_of(home, loop_id).unwrap_or_else(|fault| {
        tracing::warn!(loop_id, ?fault, "the loop's keys cannot be read");
        home::secrets_seen()
    })
}

/// An event without secrets. What the PRD itself says is no secret.
pub(crate) fn redacted(
    event: Event,
    known: &Known,
    spec: &LoopSpec,
) -> Result<Event, serde_json::Error> {
    let text = serde_json::to_string(&event)?;
    if Redactor::new(known).find(text.as_bytes()).is_empty() {
        return Ok(event);
    }
    let redactor = Redactor::sparing(known, &serde_json::to_string(&spec.stories)?);
    let mut value = serde_json::to_value(&event)?;
    redact(&mut value, &redactor);
    serde_json::from_value(value)
}

/// An event in which the paths of a jail's checkout are relative to the project, as people know them.
/// Where the PRD or the project's own place has that path, nothing is changed.
pub(crate) fn with_relative_paths(
    event: Event,
    spec: &LoopSpec,
) -> Result<Event, serde_json::Error> {
    let folder = sandbox::WORKSPACE;
    if !serde_json::to_string(&event)?.contains(folder)
        || spec.project.starts_with(folder)
        || serde_json::to_string(&spec.stories)?.contains(folder)
    {
        return Ok(event);
    }
    let settings: Settings = serde_json::from_str(&spec.settings)?;
    if settings.jail().is_none() {
        return Ok(event);
    }
    let mut value = serde_json::to_value(&event)?;
    change(&mut value, &|value| {
        if let Value::String(text) = value {
            *text = home::relative(text, folder).into_owned();
        }
    });
    serde_json::from_value(value)
}

fn redact(value: &mut Value, redactor: &Redactor) {
    change(value, &|value| redactor.value(value));
}

/// Changes what an event tells, and leaves what names something of ours.
fn change(value: &mut Value, how: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(members) => {
            let told = members.iter_mut();
            let told = told.filter(|(name, _)| !NAMES.contains(&name.as_str()));
            told.for_each(|(_, value)| change(value, how));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| change(value, how)),
        other => how(other),
    }
}

/// A part of what a run printed: where it begins, the file that it is in, and its bytes.
type Piece = (u64, PathBuf, Vec<u8>);

/// Overwrites the known values in what a run printed. The keys of a loop change and are forgotten with
/// its end, and nobody could take them out of its output afterwards. A run ends also if that fails.
pub(crate) fn mask_run(home: &Home, loop_id: &str, folder: &Path) {
    let known = known_or_seen(home, loop_id);
    if let Err(error) = mask_output(folder, &Redactor::new(&known)) {
        tracing::warn!(loop_id, %error, "keys may be left in the output of a run");
    }
}

/// Overwrites the known values in what a CLI keeps in its config home, such as its sessions. It may be
/// resumed there, so nothing is removed, and what is `spared` stays as it is.
pub(crate) fn mask_home(home: &Home, loop_id: &str, folder: &Path, spared: &[PathBuf]) {
    let known = known_or_seen(home, loop_id);
    let mut masking = Masking {
        redactor: &Redactor::new(&known),
        spared,
        files_left: FILES_MAX,
        bytes_left: BYTES_MAX,
    };
    if let Err(error) = masking.folder(folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(loop_id, %error, "keys may be left in what an agent keeps");
    }
}

/// Goes through a folder that an agent wrote. The agent is gone, but not what it planted: links are
/// passed over, and so is a file that is also elsewhere.
struct Masking<'a> {
    redactor: &'a Redactor,
    spared: &'a [PathBuf],
    files_left: usize,
    bytes_left: u64,
}

impl Masking<'_> {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let too_much = || io::Error::from(io::ErrorKind::FileTooLarge);
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, found) = (entry.path(), entry.metadata()?);
            if self.spared.contains(&path) {
                continue;
            }
            self.files_left = self.files_left.checked_sub(1).ok_or_else(too_much)?;
            if found.is_dir() {
                self.folder(&path)?;
            } else if found.is_file() && found.nlink() == 1 {
                let left = self.bytes_left.checked_sub(found.len());
                self.bytes_left = left.ok_or_else(too_much)?;
                mask_file(path, self.redactor)?;
            }
        }
        Ok(())
    }
}

fn mask_file(path: PathBuf, redactor: &Redactor) -> io::Result<()> {
    let bytes = fs::read(&path)?;
    // A database has sums over its pages, and would be broken.
    if bytes.contains(&0) {
        return Ok(());
    }
    mask(&[(0, path, bytes)], redactor)
}

fn mask_output(folder: &Path, redactor: &Redactor) -> io::Result<()> {
    for stream in [Stream::Stdout, Stream::Stderr] {
        // Neighbours are looked at together: a value may be half in each.
        let mut joined: Vec<Piece> = Vec::new();
        for (from, path) in pieces(folder, stream)? {
            let bytes = fs::read(&path)?;
            let is_next = joined
                .last()
                .is_some_and(|(at, _, before)| at + before.len() as u64 == from);
            if !is_next {
                mask(&joined, redactor)?;
                joined.clear();
            }
            joined.push((from, path, bytes));
        }
        mask(&joined, redactor)?;
    }
    Ok(())
}

fn mask(pieces: &[Piece], redactor: &Redactor) -> io::Result<()> {
    let whole: Vec<u8> = pieces
        .iter()
        .flat_map(|(_, _, bytes)| bytes.clone())
        .collect();
    let found = redactor.find_known(&whole);
    let mut begins = 0;
    for (_, path, bytes) in pieces {
        let ends = begins + bytes.len();
        let inside = found
            .iter()
            .map(|(range, _)| range.start.max(begins)..range.end.min(ends))
            .filter(|range| !range.is_empty());
        for range in inside {
            let file = File::options().write(true).open(path)?;
            let stars = vec![MASK; range.len()];
            file.write_all_at(&stars, (range.start - begins) as u64)?;
        }
        begins = ends;
    }
    Ok(())
}

/// The files of one stream of a run, in order.
fn pieces(folder: &Path, stream: Stream) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let rest = name
            .to_str()
            .and_then(|name| name.strip_prefix(stream.name()));
        let from = rest.and_then(|rest| match rest {
            "" => Some(0),
            rest => rest.strip_prefix('.')?.parse().ok(),
        });
        found.extend(from.map(|from| (from, entry.path())));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use home::Secret;

    use super::*;

    /// A secret that stands in the configuration is known, and its agent needs it as it is.
    #[test]
    fn settings_stay_as_the_person_wrote_them() {
        let known = Known::default().with("agents.a.env.TOKEN", Secret::new("hunter-start"));
        let redactor = Redactor::new(&known);
        let mut value = serde_json::json!({
            "type": "settings_changed",
            "settings": "{\"env\":\"hunter-start\"}",
            "why": "it says hunter-start",
        });
        redact(&mut value, &redactor);
        assert_eq!(value["settings"], "{\"env\":\"hunter-start\"}");
        assert_eq!(value["why"], "it says [redacted: agents.a.env.TOKEN]");
    }

    #[test]
    fn known_values_in_a_config_home_are_overwritten_and_nothing_outside_is() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (home, outside) = (scratch.path().join("home"), scratch.path().join("outside"));
        fs::create_dir_all(home.join("sessions/2026")).expect("made");
        fs::create_dir(&outside).expect("made");
        let text = "it said hunter-start twice: hunter-start";
        for path in ["sessions/2026/one.jsonl", "auth.json"] {
            fs::write(home.join(path), text).expect("written");
        }
        fs::write(home.join("state.sqlite"), format!("{text}\0")).expect("written");
        for name in ["linked", "hard", "folder"] {
            let path = outside.join(name);
            if name == "folder" {
                fs::create_dir(&path).expect("made");
                fs::write(path.join("inner"), text).expect("written");
                std::os::unix::fs::symlink(&path, home.join(name)).expect("linked");
                continue;
            }
            fs::write(&path, text).expect("written");
            if name == "hard" {
                fs::hard_link(&path, home.join(name)).expect("linked");
            } else {
                std::os::unix::fs::symlink(&path, home.join(name)).expect("linked");
            }
        }
        let known = Known::default().with("TOKEN", Secret::new("hunter-start"));
        let redactor = Redactor::new(&known);
        let spared = [home.join("auth.json")];
        let masking = |files_left: usize, bytes_left: u64| {
            let mut masking = Masking {
                redactor: &redactor,
                spared: &spared,
                files_left,
                bytes_left,
            };
            masking.folder(&home)
        };
        masking(FILES_MAX, BYTES_MAX).expect("masked");
        let read = |path: PathBuf| fs::read_to_string(path).expect("read");
        assert_eq!(
            read(home.join("sessions/2026/one.jsonl")),
            "it said ************ twice: ************"
        );
        assert_eq!(read(home.join("auth.json")), text, "a login is still one");
        assert_eq!(read(home.join("state.sqlite")), format!("{text}\0"));
        for name in ["linked", "hard", "folder/inner"] {
            assert_eq!(read(outside.join(name)), text, "{name}");
        }
        for (files, bytes) in [(1, BYTES_MAX), (FILES_MAX, 1)] {
            assert!(masking(files, bytes).is_err(), "too much is told");
        }
    }

    #[test]
    fn known_values_in_output_are_overwritten_in_their_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let known = Known::default().with("TOKEN", Secret::new("hunter-start"));
        let redactor = Redactor::new(&known);
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("written");
        };
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("read");
        // The second piece follows the first, and the third does not follow the second.
        write("stdout", "a hunter-start b hunt");
        write("stdout.21", "er-start c hunter-");
        write("stdout.100", "start");
        write("stderr", "AKIAQ3EGR7T2LMXW5ZPB hunter-start");
        write("stdoutx", "hunter-start");
        mask_output(folder.path(), &redactor).expect("masked");
        mask_output(folder.path(), &redactor).expect("twice is no fault");
        assert_eq!(read("stdout"), "a ************ b ****");
        assert_eq!(read("stdout.21"), "******** c hunter-");
        assert_eq!(read("stdout.100"), "start");
        assert_eq!(read("stderr"), "AKIAQ3EGR7T2LMXW5ZPB ************");
        assert_eq!(read("stdoutx"), "hunter-start", "no output of a run");
        mask_output(&folder.path().join("gone"), &redactor).expect("no folder is no fault");
    }
}
