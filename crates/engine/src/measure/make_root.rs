//! Makes a root: the commit that a loop began with, set up and compiled at the place where every tree
//! is shown, without anything being run; then everything that is the project's own is taken out.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use checks::warm::Recipe;
use serde_json::Value;
use workspace::{TreeId, moment};

use super::command::say;
use super::meter::Meter;
use crate::fault::Fault;
use crate::run::downloads::FOLDER as DOWNLOADS;
use crate::run::roots::{NewRoot, Root, RootNote, Roots};

/// Everything of cargo's is this much older than it was. So a file of the tree that one of these
/// outputs was made from is always newer, whenever it was written, and cargo makes the output again.
const OLDER_BY: Duration = Duration::from_hours(24 * 365 * 10);

/// What of a folder that cargo builds in is kept. Everything else may be the project's own.
const KEPT_OF_CARGO: [&str; 3] = [".fingerprint", "build", "deps"];

/// What tools put beside packages, and would believe later.
const CACHES: [&str; 5] = [
    ".cache",
    ".vite",
    ".vite-temp",
    ".vitest",
    ".package-lock.tmp",
];

/// Why there is no root.
pub(super) type NoRoot = String;

impl Meter<'_> {
    /// Makes a root of a tree; says why where it cannot be made.
    pub(super) fn make_root(
        &mut self,
        tree: &TreeId,
        recipe: &Recipe,
        wanted: RootNote,
        roots: &Roots,
    ) -> Result<Result<Root, NoRoot>, Fault> {
        let begun = roots
            .begin()
            .map_err(|error| Fault::transient("make a root", error))?;
        let Some(new) = begun else {
            return Ok(Err("somebody else makes a root at the moment".to_owned()));
        };
        say("== root: what other trees can reuse is built");
        self.check_out(tree)?;
        let made = self.fill_root(tree, recipe, wanted, new);
        self.commands.lane.remove_tree();
        made
    }

    fn fill_root(
        &mut self,
        tree: &TreeId,
        recipe: &Recipe,
        mut note: RootNote,
        new: NewRoot,
    ) -> Result<Result<Root, NoRoot>, Fault> {
        self.commands.fetch("root")?;
        if let Some(setup) = self
            .plan()
            .checks
            .iter()
            .find(|check| check.name == "setup")
            && !self.commands.run("root", tree, setup)?.is_green()
        {
            return Ok(Err("its setup fails".to_owned()));
        }
        let mut installed = Vec::new();
        if recipe.skips_setup {
            match self.installed(recipe) {
                Ok(folders) => installed = folders,
                Err(why) if recipe.cargo_target.is_none() => return Ok(Err(why)),
                Err(_) => note.skips_setup = false,
            }
        }
        for line in &recipe.builds {
            self.commands.ask("root", line)?;
        }
        if let Some(target) = &recipe.cargo_target
            && let Err(why) = self.prune_cargo(target)?
        {
            return Ok(Err(why));
        }
        self.commands.lane.hide_tree();
        note.folders = installed;
        note.folders.extend(recipe.cargo_target.clone());
        let kept = self.keep(&note, recipe.cargo_target.as_deref(), &new);
        match kept.and_then(|()| new.finish(note)) {
            Ok(root) => Ok(Ok(root)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The folders that the setup made, if it left nothing else.
    fn installed(&self, recipe: &Recipe) -> Result<Vec<String>, NoRoot> {
        let Some(upper) = self.commands.lane.changes() else {
            return Err("trees are not shown in layers".to_owned());
        };
        let mut found = Found::default();
        look_for(&upper, Path::new(""), &recipe.installs, &mut found)
            .map_err(|error| error.to_string())?;
        // What was copied there is known and lies in every tree.
        let copied = |path: &String| {
            let place = Path::new(&self.plan().subdir);
            let mut names = self.plan().copy.iter();
            names.any(|name| place.join(name) == Path::new(path))
        };
        found.others.retain(|path| !copied(path));
        match found.others.first() {
            Some(other) => Err(format!("its setup also leaves `{other}`")),
            None if found.folders.is_empty() => Err("its setup leaves nothing".to_owned()),
            None => Ok(found.folders),
        }
    }

    /// Takes the project's own packages out of what cargo built, and everything that is none of
    /// cargo's outputs.
    fn prune_cargo(&mut self, target: &str) -> Result<Result<(), NoRoot>, Fault> {
        let place = self.commands.lane.tree().join(target);
        let Ok(folders) = build_folders(&place) else {
            return Ok(Err("cargo built nothing".to_owned()));
        };
        let report = self.commands.report_inside();
        let line = format!("cargo metadata --format-version 1 --offline > {report}");
        self.commands.ask("root", &line)?;
        let Some(own) = own_packages(&self.commands.lane.report()) else {
            return Ok(Err(
                "cargo does not say which packages are the project's own".to_owned(),
            ));
        };
        for folder in &folders {
            let ids: Vec<String> = own
                .iter()
                .map(|package| format!("-p '{}'", package.id))
                .collect();
            let line = format!(
                "cargo clean --offline {} {}",
                folder.options(),
                ids.join(" ")
            );
            self.commands.ask("root", &line)?;
        }
        let names: Vec<&str> = own.iter().map(|package| package.name.as_str()).collect();
        Ok(prune(&place, &folders, &names).map_err(|error| error.to_string()))
    }

    /// Moves what is kept into the root.
    fn keep(&self, note: &RootNote, cargo_target: Option<&str>, new: &NewRoot) -> io::Result<()> {
        let lane = self.commands.lane;
        for folder in &note.folders {
            let (from, to) = (
                lane.upper().join(folder),
                new.kept().join("tree").join(folder),
            );
            if fs::symlink_metadata(&from).is_err() {
                continue;
            }
            for cache in CACHES {
                home::remove_folder(&from.join(cache))?;
            }
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            moment("before", "a folder of a root");
            take(&from, &to)?;
            moment("after", "a folder of a root");
            if Some(folder.as_str()) == cargo_target {
                age(&to)?;
            }
        }
        let downloads = new.kept().join("downloads");
        fs::create_dir_all(&downloads)?;
        let fetched = lane.home().join(DOWNLOADS);
        if fetched.is_dir() {
            home::remove_folder(&downloads)?;
            take(&fetched, &downloads)?;
            let cargo = downloads.join("cargo");
            if cargo.is_dir() {
                age(&cargo)?;
            }
        }
        refuse_future(&new.kept())
    }
}

#[derive(Default)]
struct Found {
    folders: Vec<String>,
    others: Vec<String>,
}

/// Sorts what lies in the uppermost layer: folders of these names, and everything else.
fn look_for(upper: &Path, folder: &Path, names: &[String], found: &mut Found) -> io::Result<()> {
    for entry in fs::read_dir(upper.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = path.to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && names.contains(&name) {
            found.folders.push(text);
        } else if kind.is_dir() && name.ends_with(".egg-info") {
            // It says once more what the environment knows of the project.
        } else if kind.is_dir() {
            look_for(upper, &path, names, found)?;
        } else {
            found.others.push(text);
        }
    }
    Ok(())
}

/// A folder of one profile, perhaps for another machine.
struct BuildFolder {
    place: PathBuf,
    profile: String,
    machine: Option<String>,
}

impl BuildFolder {
    fn options(&self) -> String {
        let profile = match self.profile.as_str() {
            "debug" => "dev",
            other => other,
        };
        let machine = self
            .machine
            .as_ref()
            .map(|machine| format!(" --target '{machine}'"));
        format!("--profile '{profile}'{}", machine.unwrap_or_default())
    }
}

fn build_folders(target: &Path) -> io::Result<Vec<BuildFolder>> {
    let mut found = Vec::new();
    for (name, place) in folders_in(target)? {
        if place.join(".fingerprint").is_dir() {
            found.push(BuildFolder {
                place,
                profile: name,
                machine: None,
            });
            continue;
        }
        for (profile, place) in folders_in(&place)? {
            if place.join(".fingerprint").is_dir() {
                found.push(BuildFolder {
                    place,
                    profile,
                    machine: Some(name.clone()),
                });
            }
        }
    }
    Ok(found)
}

fn folders_in(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

struct OwnPackage {
    id: String,
    name: String,
}

/// The packages whose manifest lies in the tree, as cargo says.
fn own_packages(report: &Path) -> Option<Vec<OwnPackage>> {
    let said: Value = serde_json::from_slice(&fs::read(report).ok()?).ok()?;
    let top = format!("{}/", sandbox::WORKSPACE);
    let mut own = Vec::new();
    for package in said["packages"].as_array()? {
        let manifest = package["manifest_path"].as_str()?;
        let (id, name) = (package["id"].as_str()?, package["name"].as_str()?);
        if manifest.starts_with(&top) {
            // It goes into a command line.
            if id.contains('\'') {
                return None;
            }
            own.push(OwnPackage {
                id: id.to_owned(),
                name: name.to_owned(),
            });
        }
    }
    Some(own)
}

/// Removes everything from a target folder but cargo's outputs of packages that are not the project's.
fn prune(target: &Path, folders: &[BuildFolder], own: &[&str]) -> io::Result<()> {
    let places: Vec<&Path> = folders
        .iter()
        .map(|folder| folder.place.as_path())
        .collect();
    let above: Vec<&Path> = places.iter().filter_map(|place| place.parent()).collect();
    for folder in above.iter().copied().chain([target]) {
        keep_only(folder, |path, _| {
            places.contains(&path) || above.contains(&path)
        })?;
    }
    for place in places {
        keep_only(place, |_, name| KEPT_OF_CARGO.contains(&name))?;
        for folder in [".fingerprint", "build"] {
            // Without its mark cargo builds a package anew, whatever else of it is there.
            keep_only(&place.join(folder), |_, name| {
                let package = name.rsplit_once('-').map_or(name, |(package, _)| package);
                !own.contains(&package)
            })?;
        }
    }
    Ok(())
}

fn keep_only(folder: &Path, is_kept: impl Fn(&Path, &str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_kept(&entry.path(), &entry.file_name().to_string_lossy()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            home::remove_folder(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Moves a folder, or copies it where it lies on another file system.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to),
        moved => moved,
    }
}

/// Copies a folder with times, rights and links as they are.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            let at = entry.metadata()?.modified()?;
            File::options()
                .write(true)
                .open(&target)?
                .set_modified(at)?;
        }
    }
    let found = fs::metadata(from)?;
    fs::set_permissions(to, found.permissions())
}

/// Makes every file older, all by the same time, so that what was newer than another still is.
fn age(folder: &Path) -> io::Result<()> {
    each_file(folder, &mut |path, found| {
        let at = found.modified()?;
        let at = at.checked_sub(OLDER_BY).unwrap_or(SystemTime::UNIX_EPOCH);
        set_time(path, at)
    })
}

/// Sets the time of a file that we may not be allowed to open.
fn set_time(path: &Path, at: SystemTime) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_err(io::Error::other)?;
    let time = Timespec {
        tv_sec: i64::try_from(since.as_secs()).map_err(io::Error::other)?,
        tv_nsec: since.subsec_nanos().into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)
}

/// A tool would believe an output that is newer than any source for ever.
fn refuse_future(folder: &Path) -> io::Result<()> {
    let now = SystemTime::now() + Duration::from_secs(1);
    each_file(folder, &mut |path, found| {
        if found.modified()? > now {
            let why = format!("`{}` has a time that has not come", path.display());
            return Err(io::Error::other(why));
        }
        Ok(())
    })
}

fn each_file(
    folder: &Path,
    look: &mut dyn FnMut(&Path, &fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        // Layers take a device for the mark of something that is gone.
        let is_odd = !found.is_dir() && !found.is_file() && !found.is_symlink();
        if is_odd || (found.is_file() && found.mode() & 0o6000 != 0) {
            let name = OsStr::from_bytes(entry.file_name().as_bytes()).to_owned();
            return Err(io::Error::other(format!(
                "{} is no plain file",
                name.display()
            )));
        }
        if found.is_dir() {
            each_file(&entry.path(), look)?;
        }
        look(&entry.path(), &found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(top: &Path, paths: &[&str]) {
        for path in paths {
            let path = top.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "x").expect("written");
        }
    }

    fn all(top: &Path) -> Vec<String> {
        let mut found = Vec::new();
        each_file(top, &mut |path, metadata| {
            if !metadata.is_dir() {
                let path = path.strip_prefix(top).expect("below");
                found.push(path.to_string_lossy().into_owned());
            }
            Ok(())
        })
        .expect("looked");
        found.sort();
        found
    }

    #[test]
    fn nothing_of_the_projects_own_stays_in_a_root() {
        let scratch = tempfile::tempdir().expect("a folder");
        let target = scratch.path();
        write(
            target,
            &[
                ".rustc_info.json",
                "tmp/state.db",
                "doc/index.html",
                "debug/shop",
                "debug/.cargo-lock",
                "debug/examples/one",
                "debug/incremental/shop-1/a",
                "debug/.fingerprint/shop-0123456789abcdef/lib-shop",
                "debug/.fingerprint/serde-0123456789abcdef/lib-serde",
                "debug/build/shop-0123456789abcdef/out/a.rs",
                "debug/build/serde-0123456789abcdef/out/a.rs",
                "debug/deps/libserde.rlib",
                "x86_64-unknown-linux-musl/release/.fingerprint/serde-1/a",
                "x86_64-unknown-linux-musl/release/shop",
                "x86_64-unknown-linux-musl/CACHEDIR.TAG",
            ],
        );
        let folders = build_folders(target).expect("folders");
        let mut options: Vec<String> = folders.iter().map(BuildFolder::options).collect();
        options.sort();
        assert_eq!(
            options,
            [
                "--profile 'dev'",
                "--profile 'release' --target 'x86_64-unknown-linux-musl'"
            ]
        );
        prune(target, &folders, &["shop"]).expect("pruned");
        assert_eq!(
            all(target),
            [
                "debug/.fingerprint/serde-0123456789abcdef/lib-serde",
                "debug/build/serde-0123456789abcdef/out/a.rs",
                "debug/deps/libserde.rlib",
                "x86_64-unknown-linux-musl/release/.fingerprint/serde-1/a",
            ]
        );
    }

    #[test]
    fn only_what_an_installer_made_alone_is_taken_for_installed() {
        let scratch = tempfile::tempdir().expect("a folder");
        write(
            scratch.path(),
            &[
                "node_modules/a/index.js",
                "packages/b/node_modules/c/d.js",
                "a.egg-info/x",
            ],
        );
        let look = || {
            let mut found = Found::default();
            let names = ["node_modules".to_owned()];
            look_for(scratch.path(), Path::new(""), &names, &mut found).expect("looked");
            found.folders.sort();
            (found.folders, found.others)
        };
        let folders = ["node_modules", "packages/b/node_modules"].map(str::to_owned);
        assert_eq!(look(), (folders.to_vec(), Vec::new()));
        write(scratch.path(), &["dist/index.js"]);
        assert_eq!(look().1, ["dist/index.js"]);
    }

    #[test]
    fn a_roots_times_are_old_and_keep_their_order() {
        let scratch = tempfile::tempdir().expect("a folder");
        write(scratch.path(), &["a", "b"]);
        let now = SystemTime::now();
        let time =
            |name: &str| fs::metadata(scratch.path().join(name)).and_then(|it| it.modified());
        set_time(&scratch.path().join("b"), now - Duration::from_secs(5)).expect("set");
        age(scratch.path()).expect("aged");
        let (a, b) = (time("a").expect("a time"), time("b").expect("a time"));
        assert!(a > b);
        assert!(a < now - OLDER_BY + Duration::from_hours(1));
        refuse_future(scratch.path()).expect("nothing of the future");
        set_time(&scratch.path().join("a"), now + Duration::from_hours(1)).expect("set");
        assert!(refuse_future(scratch.path()).is_err());
    }
}
