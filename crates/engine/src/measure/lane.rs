//! The place where trees are measured, one at a time: always at the same path, with a home and a
//! folder for temporary files that begin anew.
//!
//! Nothing in a command's environment, paths or arguments may tell what is measured: the base, the
//! candidate, one with its suspects or one without.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use home::remove_folder;
use sandbox::{Access, Changes, Layers, Mount};
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::Repository;

/// Measurements of one loop that may be under way at the same time.
const SLOTS_MAX: usize = 64;

/// Where tools keep what they installed or downloaded, below the operator's home, and the variable
/// that says so. Without them a fresh home would fetch everything anew, or find no toolchain.
const BELOW_HOME: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("PIP_CACHE_DIR", ".cache/pip"),
    ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
    ("PYTHONUSERBASE", ".local"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ("npm_config_cache", ".npm"),
    ("npm_config_userconfig", ".npmrc"),
    ("YARN_CACHE_FOLDER", ".cache/yarn"),
    ("npm_config_store_dir", ".local/share/pnpm/store"),
    ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("RBENV_ROOT", ".rbenv"),
    ("GIT_CONFIG_GLOBAL", ".gitconfig"),
];

/// What every home has.
const HOME_FILES: [(&str, &str); 3] = [
    (".profile", "# ~/.profile\n"),
    (".bashrc", "# ~/.bashrc\n"),
    (".bash_history", "ls\n"),
];

/// Used checkouts, for the next trees of all measurements of the loop.
const RACK: &str = "rack";

/// Where a runner writes its report, in a jail.
pub(super) const REPORTS: &str = "/reports";

/// A place of our own until it is dropped.
pub(super) struct Lane<'a> {
    root: PathBuf,
    lock_path: PathBuf,
    _lock: File,
    /// Whose trees are shown here.
    repository: &'a dyn Repository,
    /// How many trees were checked out here: each has a name of its own on the rack.
    n_trees: Cell<u32>,
    /// The layers that are shown: at the tree's place, and at that of what package managers fetched.
    mounted: RefCell<Vec<Layers>>,
    /// The tree that was set aside.
    aside: RefCell<Option<Aside>>,
}

/// A tree that was set aside.
struct Aside {
    layers: Vec<Layers>,
    n_trees: u32,
}

impl<'a> Lane<'a> {
    /// Takes the first free place of a loop, in the first folder that can be used.
    pub(super) fn take(folders: &[PathBuf], repository: &'a dyn Repository) -> Result<Self, Fault> {
        let mut fault = Fault::transient("measure", "there is no place for it");
        for folder in folders {
            match Self::take_in(folder, repository) {
                Ok(lane) => return Ok(lane),
                Err(unusable) => fault = unusable,
            }
        }
        Err(fault)
    }

    /// Removes the checkouts that were only kept to be quick, where the disk is full.
    pub(super) fn give_up_racks(folders: &[PathBuf]) {
        for folder in folders {
            remove(&folder.join(RACK));
        }
    }

    fn take_in(folder: &Path, repository: &'a dyn Repository) -> Result<Self, Fault> {
        let lane = Self::lock_in(folder, repository)?;
        remove(&lane.aside_folder());
        lane.clear()?;
        can_work_in(&lane.root)?;
        Ok(lane)
    }

    fn lock_in(folder: &Path, repository: &'a dyn Repository) -> Result<Self, Fault> {
        fs::create_dir_all(folder).map_err(|error| Fault::io("make", folder, error))?;
        keep_to_ourselves(folder)?;
        for slot in 0..SLOTS_MAX {
            let path = folder.join(format!("{slot}.lock"));
            let lock = File::create(&path).map_err(|error| Fault::io("make", &path, error))?;
            match lock.try_lock() {
                // Whoever had the place before may have removed the file between our two steps.
                Ok(()) if !is_at(&lock, &path) => {}
                Ok(()) => {
                    return Ok(Self {
                        root: folder.join(slot.to_string()),
                        lock_path: path,
                        _lock: lock,
                        repository,
                        n_trees: Cell::new(0),
                        mounted: RefCell::default(),
                        aside: RefCell::default(),
                    });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Fault::io("lock", &path, error)),
            }
        }
        Err(Fault::transient("measure", "too much is measured at once"))
    }

    /// Where a tree is checked out.
    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("t")
    }

    /// Checks a tree out at its place, with a used checkout of an earlier measurement where there is one.
    pub(super) fn check_out(&self, tree: &TreeId) -> Result<(), Fault> {
        self.n_trees.set(self.n_trees.get() + 1);
        let (rack, name) = (self.rack(), self.name_of(self.n_trees.get()));
        let leftovers = self
            .repository
            .checkout_with(tree, &rack, &name, &self.tree())?;
        for leftover in &leftovers {
            remove(leftover);
        }
        Ok(())
    }

    /// Puts a used checkout on the rack, or removes it.
    fn put_away(&self, tree: &Path, number: u32) {
        if !tree.exists() {
            return;
        }
        let name = self.name_of(number);
        let leftovers = self.repository.put_away(&self.rack(), &name, tree);
        for leftover in &leftovers {
            remove(leftover);
        }
    }

    fn rack(&self) -> PathBuf {
        self.root.with_file_name(RACK)
    }

    fn name_of(&self, number: u32) -> String {
        let slot = self.root.file_name().unwrap_or_default();
        format!("{}-{number}", slot.to_string_lossy())
    }

    /// Shows layers at the tree's place, with one of our own above them. Says whether it could.
    pub(super) fn show(&self, lower: Vec<PathBuf>) -> Result<bool, Fault> {
        let is_shown = self.mount(self.tree(), lower, ["u", "w"])?;
        if !is_shown {
            self.remove_tree();
        }
        Ok(is_shown)
    }

    /// Shows what package managers fetched for a root, in the home of commands. Says whether it could.
    pub(super) fn show_downloads(&self, downloads: PathBuf) -> Result<bool, Fault> {
        let at = self.home().join(crate::run::downloads::FOLDER);
        self.mount(at, vec![downloads], ["d", "dw"])
    }

    fn mount(
        &self,
        at: PathBuf,
        lower: Vec<PathBuf>,
        [upper, work]: [&str; 2],
    ) -> Result<bool, Fault> {
        let (upper, work) = (self.root.join(upper), self.root.join(work));
        for path in [&at, &upper, &work] {
            fs::create_dir_all(path).map_err(|error| Fault::io("make", path, error))?;
        }
        let layers = Layers {
            at,
            lower,
            changes: Some(Changes { upper, work }),
        };
        if let Err(error) = sandbox::mount_layers(&layers) {
            tracing::info!(%error, "a tree cannot be shown in layers");
            return Ok(false);
        }
        self.mounted.borrow_mut().push(layers);
        Ok(true)
    }

    /// The folder that takes what is changed in a tree that is shown in layers.
    pub(super) fn upper(&self) -> PathBuf {
        self.root.join("u")
    }

    /// What was changed in the tree, where it is shown in layers.
    pub(super) fn changes(&self) -> Option<PathBuf> {
        let mut mounted = self.mounted.borrow().clone().into_iter();
        let is_layered = mounted.any(|layers| layers.at == self.tree());
        is_layered.then(|| self.upper())
    }

    /// Takes the layers away; what was changed stays.
    pub(super) fn hide_tree(&self) {
        self.unmount();
    }

    /// Removes the tree.
    pub(super) fn remove_tree(&self) {
        self.unmount();
        self.put_away(&self.tree(), self.n_trees.get());
        for name in ["t", "u", "w"] {
            remove(&self.root.join(name));
        }
    }

    /// Nothing may be removed through layers: every removal would be one more change.
    fn unmount(&self) {
        for layers in self.mounted.take() {
            if let Err(error) = sandbox::unmount_layers(&layers.at) {
                tracing::warn!(%error, "layers are still mounted");
            }
        }
    }

    fn aside_folder(&self) -> PathBuf {
        self.root.with_extension("aside")
    }

    /// Sets everything aside as it is, so that it can be looked at again after other trees. The next
    /// tree needs a `clear`.
    pub(super) fn set_aside(&self) -> Result<(), Fault> {
        let layers = self.mounted.borrow().clone();
        self.unmount();
        let aside = self.aside_folder();
        remove(&aside);
        fs::rename(&self.root, &aside).map_err(|error| Fault::io("set aside", &aside, error))?;
        let n_trees = self.n_trees.get();
        self.aside.replace(Some(Aside { layers, n_trees }));
        Ok(())
    }

    /// Puts back what was set aside, at the place where it was. Says whether there was anything.
    pub(super) fn bring_back(&self) -> Result<bool, Fault> {
        let Some(Aside { layers, n_trees }) = self.aside.take() else {
            return Ok(false);
        };
        self.remove_all();
        self.n_trees.set(n_trees);
        let aside = self.aside_folder();
        fs::rename(&aside, &self.root).map_err(|error| Fault::io("bring back", &aside, error))?;
        for layers in layers {
            if let Err(error) = sandbox::mount_layers(&layers) {
                tracing::info!(%error, "a tree cannot be shown in layers again");
                return Ok(false);
            }
            self.mounted.borrow_mut().push(layers);
        }
        Ok(true)
    }

    /// Removes what was set aside and is not needed any more.
    pub(super) fn forget_aside(&self) {
        if let Some(aside) = self.aside.take() {
            self.put_away(&self.aside_folder().join("t"), aside.n_trees);
            remove(&self.aside_folder());
        }
    }

    /// Where a runner writes its report: a folder of its own, so that a jail can show it alone.
    pub(super) fn report(&self) -> PathBuf {
        self.root.join("o/r")
    }

    /// The home of commands.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("h")
    }

    /// The lane's folders as a jail shows them: at paths that are the same in every run.
    pub(super) fn mounts(&self) -> Vec<Mount> {
        let places = [
            ("t", sandbox::WORKSPACE),
            ("h", sandbox::HOME),
            ("m", "/tmp"),
            ("o", REPORTS),
        ];
        let mount = |(name, inside): (&str, &str)| Mount {
            host: self.root.join(name),
            inside: PathBuf::from(inside),
            access: Access::Writable,
        };
        places.map(mount).into()
    }

    /// The variable by which the processes of commands are known.
    pub(super) fn mark(&self) -> String {
        format!("TMPDIR={}", self.root.join("m").display())
    }

    /// Removes everything that is here, but for what goes onto the rack.
    fn remove_all(&self) {
        self.remove_tree();
        remove(&self.root);
    }

    /// Makes everything empty, for another tree.
    pub(super) fn clear(&self) -> Result<(), Fault> {
        self.remove_all();
        for name in ["h", "m", "o"] {
            let path = self.root.join(name);
            fs::create_dir_all(&path).map_err(|error| Fault::io("make", &path, error))?;
        }
        // A home without any file would tell code that it is being checked.
        for (name, text) in HOME_FILES {
            let path = self.root.join("h").join(name);
            fs::write(&path, text).map_err(|error| Fault::io("write", &path, error))?;
        }
        Ok(())
    }

    /// Makes room for the next command's report.
    pub(super) fn clear_report(&self) {
        let _ = fs::remove_file(self.report());
    }

    /// The environment of commands: the operator's toolchains and caches, and a home with nothing of theirs in it.
    pub(super) fn environment(&self, given: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut env = given.clone();
        let home = given.get("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, place) in BELOW_HOME {
            let path = home.join(place);
            if home.is_absolute() && path.exists() {
                let path = path.to_string_lossy().into_owned();
                env.entry((*name).to_owned()).or_insert(path);
            }
        }
        let place = |name: &str| self.root.join(name).to_string_lossy().into_owned();
        env.insert("HOME".to_owned(), place("h"));
        env.insert("TMPDIR".to_owned(), place("m"));
        env
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        self.forget_aside();
        self.remove_all();
        remove(&self.aside_folder());
        // Nothing is left of a place that nobody uses, unless somebody else does.
        let _ = fs::remove_file(&self.lock_path);
        for folder in self.lock_path.ancestors().skip(1).take(2) {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (open, there) = (file.metadata(), fs::metadata(path));
    open.is_ok_and(|open| there.is_ok_and(|there| open.ino() == there.ino()))
}

/// Programs that a tree brings or builds must run in a place, and there must be room for it.
fn can_work_in(folder: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt as _;
    if !sandbox::has_room(folder) {
        return Err(Fault::DiskFull);
    }
    let program = folder.join("m/x");
    fs::write(&program, "#!/bin/sh\n").map_err(|error| Fault::io("write", &program, error))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700))
        .map_err(|error| Fault::io("change", &program, error))?;
    let ran = Command::new(&program).status();
    let _ = fs::remove_file(&program);
    match ran {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Fault::transient(
            format!("run a program in `{}`", folder.display()),
            status.to_string(),
        )),
        Err(error) => Err(Fault::io("run a program in", folder, error)),
    }
}

/// A folder that anybody else could write to is not used.
fn keep_to_ourselves(folder: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    for place in [folder.parent().unwrap_or(folder), folder] {
        let found =
            fs::symlink_metadata(place).map_err(|error| Fault::io("look at", place, error))?;
        let mine = fs::metadata("/proc/self").map(|own| own.uid());
        if !found.is_dir() || mine.is_ok_and(|uid| uid != found.uid()) {
            return Err(Fault::NeedsPerson {
                what: format!("`{}` belongs to somebody else", place.display()),
                remedy: "remove it".to_owned(),
            });
        }
        fs::set_permissions(place, fs::Permissions::from_mode(0o700))
            .map_err(|error| Fault::io("protect", place, error))?;
    }
    Ok(())
}

pub(super) fn remove(folder: &Path) {
    // Some file systems need a moment until nothing in a folder is busy any more.
    for _ in 0..3 {
        if remove_folder(folder).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use workspace::{CommitId, LoopRepo};

    use super::*;
    use crate::local::repository::open_at;

    /// A loop's repository, of a project with one file.
    fn repository(scratch: &Path) -> Box<dyn Repository> {
        let (project, folder) = (scratch.join("project"), scratch.join("repo.git"));
        fs::create_dir(&project).expect("made");
        fs::write(project.join("file"), "text\n").expect("written");
        workspace::init_repository(&project, "start").expect("a repository");
        let head = fs::read_to_string(project.join(".git/refs/heads/main")).expect("a branch");
        let head = CommitId::parse(head.trim_end()).expect("a commit");
        LoopRepo::create(&project, &folder, &head).expect("a loop's repository");
        open_at(&folder).expect("opened")
    }

    #[test]
    fn two_measurements_of_a_loop_have_places_of_their_own() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let repository = repository(scratch.path());
        let folder = [scratch.path().join("a/b")];
        let first = Lane::take(&folder, &*repository).expect("a lane");
        let second = Lane::take(&folder, &*repository).expect("a lane");
        assert_ne!(first.tree(), second.tree());
        let place = first.tree();
        drop(first);
        assert_eq!(
            Lane::take(&folder, &*repository).expect("a lane").tree(),
            place
        );
    }

    #[test]
    fn nothing_is_left_for_the_next_tree() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let repository = repository(scratch.path());
        let lane = Lane::take(&[scratch.path().join("a/b")], &*repository).expect("a lane");
        let env = lane.environment(&BTreeMap::new());
        fs::create_dir_all(lane.tree()).expect("made");
        for folder in [&env["HOME"], &env["TMPDIR"]] {
            fs::write(Path::new(folder).join("left"), "behind").expect("written");
        }
        lane.clear().expect("cleared");
        assert!(!lane.tree().exists());
        assert!(!Path::new(&env["HOME"]).join("left").exists());
        assert!(!Path::new(&env["TMPDIR"]).join("left").exists());
    }

    #[test]
    fn what_was_set_aside_comes_back_as_it_was() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let repository = repository(scratch.path());
        let folder = scratch.path().join("a/b");
        let lane = Lane::take(std::slice::from_ref(&folder), &*repository).expect("a lane");
        fs::create_dir_all(lane.tree()).expect("made");
        fs::write(lane.tree().join("built"), "first").expect("written");
        lane.set_aside().expect("set aside");
        lane.clear().expect("cleared");
        assert!(!lane.tree().exists());
        fs::create_dir_all(lane.tree()).expect("made");
        fs::write(lane.tree().join("other"), "second").expect("written");
        assert!(lane.bring_back().expect("brought back"));
        assert_eq!(
            fs::read_to_string(lane.tree().join("built")).expect("there"),
            "first"
        );
        assert!(!lane.tree().join("other").exists());
        assert!(!lane.bring_back().expect("nothing is aside"));
        lane.set_aside().expect("set aside");
        lane.clear().expect("cleared");
        drop(lane);
        assert!(!folder.exists());
    }

    #[test]
    fn a_place_that_cannot_be_used_gives_way_to_the_next() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let repository = repository(scratch.path());
        let (file, folder) = (scratch.path().join("a"), scratch.path().join("b"));
        fs::write(&file, "in the way").expect("written");
        let places = [file.join("x/y"), folder.join("x/y")];
        let lane = Lane::take(&places, &*repository).expect("a lane");
        assert!(lane.tree().starts_with(&folder));
        assert!(Lane::take(&places[..1], &*repository).is_err());
    }

    #[test]
    fn a_commands_home_is_empty_and_its_toolchains_are_found() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let repository = repository(scratch.path());
        let home = scratch.path().join("home");
        fs::create_dir_all(home.join(".cargo")).expect("made");
        let lane = Lane::take(&[scratch.path().join("a/b")], &*repository).expect("a lane");
        lane.clear().expect("cleared");
        let given = BTreeMap::from([("HOME".to_owned(), home.to_string_lossy().into_owned())]);
        let env = lane.environment(&given);
        assert_ne!(env["HOME"], given["HOME"]);
        assert_eq!(env["CARGO_HOME"], home.join(".cargo").to_string_lossy());
        assert!(!env.contains_key("RUSTUP_HOME"));
        assert!(!Path::new(&env["HOME"]).join(".cargo").exists());
        // Nor is it so empty that code could tell.
        assert!(Path::new(&env["HOME"]).join(".profile").exists());
    }
}
