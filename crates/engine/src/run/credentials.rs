//! The operator's credentials in an agent's config home: one link to the one file that they are.
//!
//! A CLI that refreshes its token by writing a new file and renaming it replaces the link. Then the
//! operator's own file would hold a token that is spent, so what the CLI wrote is put there, and
//! the link is made again. A CLI that was logged out meanwhile, as happens where several sessions
//! share one login, writes a file without tokens: that never gets into the operator's file.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::HomeLink;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// Far more than any CLI writes.
const CREDENTIALS_BYTES_MAX: u64 = 1024 * 1024;

/// The variables of the person's shell, as far as the loop was given them; the worker's own for a loop
/// that was started before they were kept.
pub(crate) struct PersonsVariables(pub(crate) Option<home::Keys>);

impl PersonsVariables {
    pub(crate) fn get(&self, name: &str) -> Option<OsString> {
        match &self.0 {
            Some(keys) => keys.get(name).map(OsString::from),
            None => std::env::var_os(name),
        }
    }
}

/// A link that was made: where, and to which file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    at: PathBuf,
    target: PathBuf,
}

/// Links what is there of the operator's credentials.
pub(crate) fn link(
    home: &Path,
    links: &[HomeLink],
    variables: &PersonsVariables,
) -> Result<(), Fault> {
    give_back(home);
    let placed = links.iter().filter_map(|link| place(home, link, variables));
    let placed: Vec<Placed> = placed.collect();
    for Placed { at, target } in &placed {
        if fs::symlink_metadata(at).is_err() {
            let folder = at.parent().unwrap_or(home);
            fs::create_dir_all(folder)
                .and_then(|()| std::os::unix::fs::symlink(target, at))
                .map_err(|error| Fault::io("link credentials at", at, error))?;
        }
    }
    let (list, path) = (serde_json::to_vec(&placed)?, list_of(home));
    fs::write(&path, list).map_err(|error| Fault::io("write", &path, error))
}

/// Puts back what a CLI wrote in the place of a link. What cannot be put back now is tried again
/// before the next run.
pub(crate) fn give_back(home: &Path) {
    let list = fs::read(list_of(home)).ok();
    let placed: Vec<Placed> = list
        .and_then(|list| serde_json::from_slice(&list).ok())
        .unwrap_or_default();
    for Placed { at, target } in placed {
        let is_own_file = fs::symlink_metadata(&at).is_ok_and(|found| found.is_file());
        if !is_own_file {
            continue;
        }
        let before = read_credentials(&target).unwrap_or_default();
        let refreshed = read_credentials(&at)
            .filter(|after| is_newer(&at, &target) && agents::is_refreshed_login(&before, after));
        if refreshed.is_none_or(|text| replace(&target, &text, written(&at)).is_ok()) {
            let _ = fs::remove_file(&at);
            let _ = std::os::unix::fs::symlink(&target, &at);
        }
    }
}

/// Beside the config home and not in it, where the CLI lives.
fn list_of(home: &Path) -> PathBuf {
    let mut name = home.file_name().unwrap_or_default().to_owned();
    name.push(".links.json");
    home.with_file_name(name)
}

fn place(home: &Path, link: &HomeLink, variables: &PersonsVariables) -> Option<Placed> {
    operators_file(link, variables).map(|target| Placed {
        at: home.join(&link.at),
        target,
    })
}

/// The operator's own file that a link leads to, where it is there.
pub(crate) fn operators_file(link: &HomeLink, variables: &PersonsVariables) -> Option<PathBuf> {
    let set = link
        .folder_variable
        .and_then(|name| variables.get(name))
        .map(PathBuf::from);
    let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(link.folder));
    let target = set.or_else(own)?.join(link.file);
    target.exists().then_some(target)
}

/// Forgets which links were made, so that nothing is given back to the operator's files.
pub(crate) fn forget_links(home: &Path) {
    let _ = fs::remove_file(list_of(home));
}

fn is_newer(ours: &Path, theirs: &Path) -> bool {
    written(ours) > written(theirs)
}

fn written(path: &Path) -> SystemTime {
    fs::metadata(path)
        .and_then(|found| found.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// What a CLI wrote, if it can be credentials: all CLIs keep them as a small JSON object. Anything
/// else never gets into the operator's file.
pub(crate) fn read_credentials(path: &Path) -> Option<Vec<u8>> {
    let is_small = fs::metadata(path).is_ok_and(|found| found.len() <= CREDENTIALS_BYTES_MAX);
    let text = fs::read(path).ok().filter(|_| is_small)?;
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&text)
        .ok()
        .map(|_| text)
}

/// Puts a text in the place of the operator's, at once and with their file's rights. A link of
/// their own stays. The file is as old as what the CLI wrote: of two sessions the one that refreshed
/// last has the login that counts, whichever ends first.
fn replace(target: &Path, with: &[u8], written: SystemTime) -> std::io::Result<()> {
    let target = fs::canonicalize(target)?;
    let rights = fs::metadata(&target)?.permissions().mode() & 0o777;
    let folder = target.parent().unwrap_or(Path::new("/"));
    let mut scratch = tempfile::Builder::new()
        .prefix(".credentials")
        .tempfile_in(folder)?;
    scratch.write_all(with)?;
    scratch
        .as_file()
        .set_permissions(fs::Permissions::from_mode(rights))?;
    scratch.as_file().set_modified(written)?;
    scratch.as_file().sync_all()?;
    scratch
        .persist(&target)
        .map(drop)
        .map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A config home with a link to the operator's file.
    fn linked() -> (tempfile::TempDir, PathBuf, Placed) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        fs::create_dir(&home).expect("made");
        let placed = Placed {
            at: home.join("auth.json"),
            target: folder.path().join("theirs.json"),
        };
        fs::write(&placed.target, "old").expect("written");
        fs::set_permissions(&placed.target, fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink(&placed.target, &placed.at).expect("linked");
        fs::write(
            list_of(&home),
            serde_json::to_vec(&[&placed]).expect("JSON"),
        )
        .expect("written");
        (folder, home, placed)
    }

    fn is_link(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
    }

    fn write_at(path: &Path, text: &str, secs: u64) {
        let _ = fs::remove_file(path);
        fs::write(path, text).expect("written");
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(secs);
        fs::File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_modified(time))
            .expect("set");
    }

    #[test]
    fn a_refreshed_token_is_the_operators() {
        let (_folder, home, placed) = linked();
        write_at(&placed.target, "old", 100);
        fs::set_permissions(&placed.target, fs::Permissions::from_mode(0o640)).expect("set");
        write_at(&placed.at, "{\"token\": \"2\"}", 200);
        give_back(&home);
        assert_eq!(
            fs::read_to_string(&placed.target).expect("read"),
            "{\"token\": \"2\"}"
        );
        assert_eq!(
            fs::metadata(&placed.target)
                .expect("there")
                .permissions()
                .mode()
                & 0o777,
            0o640
        );
        assert!(is_link(&placed.at));
    }

    #[test]
    fn a_login_that_is_newer_than_what_the_cli_wrote_stays() {
        let (_folder, home, placed) = linked();
        write_at(&placed.at, "{}", 100);
        write_at(&placed.target, "logged in anew", 200);
        give_back(&home);
        assert_eq!(
            fs::read_to_string(&placed.at).expect("read"),
            "logged in anew"
        );
        assert!(is_link(&placed.at));
    }

    #[test]
    fn what_cannot_be_credentials_never_gets_into_the_operators_file() {
        for text in ["", "not JSON", "[1]", "{\"cut\": "] {
            let (_folder, home, placed) = linked();
            write_at(&placed.target, "old", 100);
            write_at(&placed.at, text, 200);
            give_back(&home);
            assert_eq!(
                fs::read_to_string(&placed.target).expect("read"),
                "old",
                "{text}"
            );
            assert!(is_link(&placed.at), "{text}");
        }
    }

    #[test]
    fn a_logged_out_stub_never_gets_into_the_operators_file() {
        let login = r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"}}"#;
        for stub in [
            "{}",
            r#"{"claudeAiOauth":{"accessToken":"","refreshToken":""}}"#,
        ] {
            let (_folder, home, placed) = linked();
            write_at(&placed.target, login, 100);
            write_at(&placed.at, stub, 200);
            give_back(&home);
            let theirs = fs::read_to_string(&placed.target).expect("read");
            assert_eq!(theirs, login, "{stub}");
            assert!(is_link(&placed.at), "{stub}");
        }
    }

    /// Two stories, each with a home of its own and a link to the one login.
    #[test]
    fn of_two_sessions_the_last_refresh_counts_whichever_ends_first() {
        let (_folder, home, first) = linked();
        let (_other, second_home, mut second) = linked();
        second.target.clone_from(&first.target);
        let list = serde_json::to_vec(&[&second]).expect("JSON");
        fs::write(list_of(&second_home), list).expect("written");
        write_at(&first.target, r#"{"token": "1"}"#, 100);
        write_at(&first.at, r#"{"token": "2"}"#, 200);
        write_at(&second.at, r#"{"token": "3"}"#, 300);
        give_back(&home);
        give_back(&second_home);
        let theirs = || fs::read_to_string(&first.target).expect("read");
        assert_eq!(theirs(), r#"{"token": "3"}"#);
        write_at(&first.at, r#"{"token": "0"}"#, 250);
        give_back(&home);
        assert_eq!(theirs(), r#"{"token": "3"}"#, "an older one comes too late");
    }

    #[test]
    fn a_link_that_is_whole_is_left_alone() {
        let (_folder, home, placed) = linked();
        give_back(&home);
        assert!(is_link(&placed.at));
        assert_eq!(fs::read_to_string(&placed.target).expect("read"), "old");
    }
}
