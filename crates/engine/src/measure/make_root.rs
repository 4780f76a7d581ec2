//! Makes a root: the commit that a loop began with, set up and compiled at the place where every tree
//! is shown, without anything being run; then everything that is the project's own is taken out.

use std::fs;
use std::io;
use std::path::Path;

use checks::warm::Recipe;
use serde_json::Value;
use workspace::{TreeId, moment};

use super::command::say;
use super::meter::Meter;
use super::outputs::{BuildFolder, age, build_folders, refuse_future, take};
use super::own_tier::OWN;
use crate::fault::Fault;
use crate::run::downloads::FOLDER as DOWNLOADS;
use crate::run::roots::{NewRoot, Root, RootNote, Roots};

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
        self.check_out_whole(tree)?;
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
        if let Some(target) = &recipe.cargo_target {
            let is_installed = recipe.skips_setup == note.skips_setup;
            if recipe.keeps_own && is_installed {
                moment("before", "own packages are set aside");
                note.own = self.set_own_aside(tree, target, &installed)?;
                moment("after", "own packages are set aside");
            }
            if let Err(why) = self.prune_cargo(target)? {
                return Ok(Err(why));
            }
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
        if note.own.is_some() {
            let to = new.kept().join("own");
            take(&lane.upper().join(OWN), &to)?;
            age(&to)?;
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

#[cfg(test)]
mod tests {
    use super::super::outputs::each_file;
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
}
