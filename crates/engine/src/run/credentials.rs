//! The operator's credentials in the config home of an agent on the host: a copy of the file that they
//! are, and the way back.
//!
//! A CLI that refreshes its token writes its copy, in place or by renaming a new file. The operator's
//! own file then holds a token that is spent, so what the CLI wrote is put there. A CLI that was logged
//! out meanwhile, as happens where several sessions share one login, writes a file without tokens: that
//! never gets into the operator's file. A link would let it, since whoever writes in place writes
//! through it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::HomeLink;
use home::Home;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::run::beneath::write_beneath;

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

/// A copy that was made: where, and of which file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    at: PathBuf,
    target: PathBuf,
}

/// Copies what is there of the operator's credentials.
pub(crate) fn copy(
    home: &Path,
    links: &[HomeLink],
    variables: &PersonsVariables,
) -> Result<(), Fault> {
    give_back(home);
    let before = placed_in(home);
    let placed = links.iter().filter_map(|link| place(home, link, variables));
    let placed: Vec<Placed> = placed.collect();
    for Placed { at, .. } in before.iter().filter(|former| !placed.contains(former)) {
        // The operator logged out, or keeps the login elsewhere now.
        let _ = fs::remove_file(at);
    }
    for Placed { at, target } in &placed {
        copy_one(home, at, target).map_err(|error| Fault::io("copy credentials to", at, error))?;
    }
    let (list, path) = (serde_json::to_vec(&placed)?, list_of(home));
    fs::write(&path, list).map_err(|error| Fault::io("write", &path, error))
}

/// A copy is as old as what it is a copy of, so that only what a CLI writes is newer.
fn copy_one(home: &Path, at: &Path, target: &Path) -> io::Result<()> {
    let written = written(target);
    let below = at.strip_prefix(home).unwrap_or(at);
    write_beneath(home, below, &fs::read(target)?)?;
    File::options().write(true).open(at)?.set_modified(written)
}

fn placed_in(home: &Path) -> Vec<Placed> {
    let list = fs::read(list_of(home)).ok();
    let placed = list.and_then(|list| serde_json::from_slice(&list).ok());
    placed.unwrap_or_default()
}

/// Puts what a CLI wrote into the operator's file. What cannot be put there now is tried again before
/// the next run.
pub(crate) fn give_back(home: &Path) {
    for Placed { at, target } in placed_in(home) {
        let is_own_file = fs::symlink_metadata(&at).is_ok_and(|found| found.is_file());
        if !is_own_file || !is_newer(&at, &target) {
            continue;
        }
        let before = read_credentials(&target).unwrap_or_default();
        let refreshed =
            read_credentials(&at).filter(|after| agents::is_refreshed_login(&before, after));
        if let Some(text) = refreshed
            && let Err(error) = replace(&target, &text, written(&at))
        {
            tracing::warn!(%error, "a refreshed login is not given back yet");
        }
    }
}

/// Puts back what the CLIs of all loops wrote, those of runs that go on too.
pub(crate) fn give_all_back(home: &Home) {
    let folders = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    for of_loop in folders(home.loops()) {
        let homes = home.agent_homes(&of_loop.file_name().to_string_lossy());
        for of_story in folders(homes) {
            folders(of_story.path()).for_each(|of_agent| give_back(&of_agent.path()));
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

/// The operator's own file that is copied, where it is there.
pub(crate) fn operators_file(link: &HomeLink, variables: &PersonsVariables) -> Option<PathBuf> {
    let set = link
        .folder_variable
        .and_then(|name| variables.get(name))
        .map(PathBuf::from);
    let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(link.folder));
    let target = set.or_else(own)?.join(link.file);
    target.exists().then_some(target)
}

/// Forgets which copies were made, so that nothing is given back to the operator's files.
pub(crate) fn forget_copies(home: &Path) {
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
fn replace(target: &Path, with: &[u8], written: SystemTime) -> io::Result<()> {
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
    use std::io::Read as _;
    use std::time::Duration;

    use home::Secret;

    use super::*;

    const OLD: &str = r#"{"tokens":{"access_token":"a1","refresh_token":"r1"}}"#;
    const NEW: &str = r#"{"tokens":{"access_token":"a2","refresh_token":"r2"}}"#;

    /// A config home with a copy of the operator's login.
    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            fs::create_dir(folder.path().join("theirs")).expect("made");
            let scene = Self { folder };
            write_at(&scene.theirs(), OLD, 100);
            scene.copy("home");
            scene
        }

        fn theirs(&self) -> PathBuf {
            self.folder.path().join("theirs/auth.json")
        }

        fn home(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn at(&self) -> PathBuf {
            self.home("home").join("auth.json")
        }

        fn copy(&self, name: &str) {
            fs::create_dir_all(self.home(name)).expect("made");
            let links = agents::Kind::Codex.command(&agents::Task::default()).links;
            let place = self.folder.path().join("theirs").display().to_string();
            let keys = [("CODEX_HOME".to_owned(), Secret::new(place))];
            let variables = PersonsVariables(Some(keys.into_iter().collect()));
            copy(&self.home(name), &links, &variables).expect("copied");
        }

        fn login(&self) -> String {
            fs::read_to_string(self.theirs()).expect("read")
        }
    }

    /// Writes a file in place, as old as this.
    fn write_at(path: &Path, text: &str, secs: u64) {
        fs::write(path, text).expect("written");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
        let file = File::options().write(true).open(path);
        file.and_then(|file| file.set_modified(time)).expect("set");
    }

    #[test]
    fn a_copy_is_a_file_of_its_own_and_nothing_goes_back_by_itself() {
        let scene = Scene::new();
        let found = fs::symlink_metadata(scene.at()).expect("a copy");
        assert!(found.is_file());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        give_back(&scene.home("home"));
        assert_eq!(written(&scene.theirs()), written(&scene.at()));
        for stub in [
            "",
            "{}",
            r#"{"tokens":null}"#,
            "not JSON",
            "[1]",
            r#"{"cut": "#,
        ] {
            write_at(&scene.at(), stub, 200);
            assert_eq!(scene.login(), OLD, "{stub}");
            give_back(&scene.home("home"));
            assert_eq!(scene.login(), OLD, "{stub}");
        }
        scene.copy("home");
        let copy = fs::read_to_string(scene.at()).expect("read");
        assert_eq!(copy, OLD, "a stub is not kept for the next run");
    }

    #[test]
    fn a_refreshed_login_is_the_operators_however_the_cli_writes_it() {
        for renames in [false, true] {
            let scene = Scene::new();
            fs::set_permissions(scene.theirs(), fs::Permissions::from_mode(0o640)).expect("set");
            if renames {
                let new = scene.home("home").join("new");
                write_at(&new, NEW, 200);
                fs::rename(new, scene.at()).expect("renamed");
            } else {
                write_at(&scene.at(), NEW, 200);
            }
            assert_eq!(scene.login(), OLD, "not before it is given back");
            give_back(&scene.home("home"));
            assert_eq!(scene.login(), NEW);
            let found = fs::metadata(scene.theirs()).expect("there");
            assert_eq!(found.permissions().mode() & 0o777, 0o640);
        }
    }

    #[test]
    fn a_login_that_is_newer_than_what_the_cli_wrote_stays() {
        let scene = Scene::new();
        write_at(
            &scene.at(),
            r#"{"tokens":{"access_token":"x","refresh_token":"x"}}"#,
            150,
        );
        write_at(&scene.theirs(), NEW, 200);
        scene.copy("home");
        assert_eq!(scene.login(), NEW);
        assert_eq!(fs::read_to_string(scene.at()).expect("read"), NEW);
    }

    /// Two stories, each with a home of its own and a copy of the one login.
    #[test]
    fn of_two_sessions_the_last_refresh_counts_whichever_ends_first() {
        let scene = Scene::new();
        scene.copy("other");
        let refreshed = |number: u32| {
            format!(r#"{{"tokens":{{"access_token":"a{number}","refresh_token":"r{number}"}}}}"#)
        };
        write_at(&scene.at(), &refreshed(2), 200);
        write_at(&scene.home("other").join("auth.json"), &refreshed(3), 300);
        give_back(&scene.home("home"));
        give_back(&scene.home("other"));
        assert_eq!(scene.login(), refreshed(3));
        write_at(&scene.at(), &refreshed(1), 250);
        give_back(&scene.home("home"));
        assert_eq!(scene.login(), refreshed(3), "an older one comes too late");
    }

    #[test]
    fn who_logs_out_leaves_no_copy_behind_and_an_old_link_is_replaced() {
        let scene = Scene::new();
        fs::remove_file(scene.at()).expect("removed");
        std::os::unix::fs::symlink(scene.theirs(), scene.at()).expect("linked");
        scene.copy("home");
        let found = fs::symlink_metadata(scene.at()).expect("a copy");
        assert!(found.is_file(), "a link of an earlier version");
        fs::remove_file(scene.theirs()).expect("removed");
        scene.copy("home");
        assert!(!scene.at().exists());
        assert!(!scene.theirs().exists(), "nothing brings it back");
    }

    #[test]
    fn what_the_cli_of_a_run_that_goes_on_refreshed_can_be_had() {
        let scene = Scene::new();
        let home = Home::at(scene.folder.path());
        let place = "loops/L/agents/0000";
        fs::create_dir_all(scene.home(place)).expect("made");
        scene.copy(&format!("{place}/codex"));
        let at = home.agent_homes("L").join("0000/codex/auth.json");
        write_at(&at, NEW, 200);
        give_all_back(&home);
        assert_eq!(scene.login(), NEW);
        let mut copy = String::new();
        let file = File::open(at).and_then(|mut file| file.read_to_string(&mut copy));
        assert!(file.is_ok() && copy == NEW, "the run keeps its own");
    }
}
