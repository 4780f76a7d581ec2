//! Tries what was made on a root file system that has git and nothing else: the archive runs a whole
//! demonstration, and the Debian package comes and goes without a trace.
//!
//! The root is made once with `mmdebstrap` and kept. Everything runs inside it under `bwrap`, in
//! namespaces of its own and without a network, so that nothing of this machine can help.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::files;
use super::release::Made;
use crate::invocation::Invocation;
use crate::talk::say;

/// Older than what most people run, which is the harder case.
const SUITE: &str = "bookworm";

/// How the demonstration ends.
const ENDING: &str = "2 passed, 1 skipped, 0 blocked";

/// Where programs write while they work: what is there says nothing about the package.
const WORKING_FOLDERS: [&str; 6] = ["var/lib/dpkg", "var/log", "var/cache", "tmp", "root", "opt"];

pub(super) fn try_out(root: &Path, made: &Made) -> Result<()> {
    let tree = unpack_root(root, made)?;
    try_archive(root, made, &tree)?;
    try_deb(root, made, &tree)?;
    files::fresh_folder(&tree)?;
    say("the archive and the package work on a bare root file system");
    Ok(())
}

/// Makes the bare root where there is none yet, and unpacks it into a fresh folder.
fn unpack_root(root: &Path, made: &Made) -> Result<PathBuf> {
    let target_folder = made.release.folder.parent().context("a target folder")?;
    let tools = target_folder.join("tools");
    let tar = tools.join(format!("bare-root-{SUITE}.tar"));
    if !tar.exists() {
        std::fs::create_dir_all(&tools)?;
        // A name of its own until it is whole.
        let half = tar.with_extension("half.tar");
        let words = ["--variant=minbase", "--include=git", SUITE];
        let half_word = half.to_string_lossy().into_owned();
        Invocation::program("mmdebstrap", &[words[0], words[1], words[2], &half_word])
            .run(root)
            .context("cannot make a bare root: it needs `apt install mmdebstrap`")?;
        std::fs::rename(&half, &tar)?;
    }
    let tree = made.release.folder.join("bare-root");
    files::fresh_folder(&tree)?;
    let words = [&tar, &tree].map(|path| path.to_string_lossy().into_owned());
    let arguments = ["--extract", "--exclude=./dev/*", "--file", &words[0]];
    let arguments = [&arguments[..], &["--directory", &words[1]]].concat();
    Invocation::program("tar", &arguments).run(root)?;
    Ok(tree)
}

fn try_archive(root: &Path, made: &Made, tree: &Path) -> Result<()> {
    let opt = tree.join("opt");
    let words = [&made.archive, &opt].map(|path| path.to_string_lossy().into_owned());
    Invocation::program("tar", &["-xzf", &words[0], "-C", &words[1]]).run(root)?;
    let program = format!("/opt/{}/loopwright", made.release.name());
    say(inside(tree, &[&program, "--version"])
        .read(root)?
        .trim_end());
    demonstrate(root, tree, &program)
}

fn demonstrate(root: &Path, tree: &Path, program: &str) -> Result<()> {
    // The events go to stderr; a shell of the root brings both together.
    let script = format!("{program} demo 2>&1");
    let printed = inside(tree, &["sh", "-c", &script]).read(root)?;
    ensure!(
        printed.contains(ENDING),
        "the demonstration did not end with `{ENDING}`:\n{printed}"
    );
    say(format!("`{program} demo` ended with {ENDING}"));
    Ok(())
}

fn try_deb(root: &Path, made: &Made, tree: &Path) -> Result<()> {
    let before = files_of(tree)?;
    let name = files::name_of(&made.deb);
    files::copy(&made.deb, &tree.join("opt").join(&name), 0o644)?;
    let package = format!("/opt/{name}");
    inside(tree, &["dpkg", "--install", &package]).run(root)?;
    let installed: Vec<PathBuf> = files_of(tree)?.difference(&before).cloned().collect();
    for wanted in [
        "usr/bin/loopwright",
        "usr/share/man/man1/loopwright-start.1.gz",
        "usr/share/bash-completion/completions/loopwright",
        "usr/share/doc/loopwright/copyright",
    ] {
        ensure!(
            installed.iter().any(|file| file == Path::new(wanted)),
            "the package did not install `{wanted}`"
        );
    }
    say(format!("the package installed {} files", installed.len()));
    say(inside(tree, &["loopwright", "--version"])
        .read(root)?
        .trim_end());
    demonstrate(root, tree, "loopwright")?;
    ensure!(
        inside(tree, &["dpkg", "--verify", "loopwright"])
            .read(root)?
            .is_empty(),
        "the installed files are not those of the package"
    );
    inside(tree, &["dpkg", "--remove", "loopwright"]).run(root)?;
    ensure!(
        inside(tree, &["dpkg", "--audit"]).read(root)?.is_empty(),
        "dpkg is left with something to repair"
    );
    let after = files_of(tree)?;
    ensure!(
        after == before,
        "removing the package left something behind or took too much: {:?}",
        after.symmetric_difference(&before).collect::<Vec<_>>()
    );
    say("the package was removed without a trace");
    Ok(())
}

/// What a package could leave behind.
fn files_of(tree: &Path) -> Result<BTreeSet<PathBuf>> {
    let all = files::all_below(tree)?;
    let is_work = |file: &PathBuf| WORKING_FOLDERS.iter().any(|work| file.starts_with(work));
    Ok(all.into_iter().filter(|file| !is_work(file)).collect())
}

/// A command inside the root, with nothing of this machine: no variables, no network, no processes.
fn inside(tree: &Path, command: &[&str]) -> Invocation {
    let tree = tree.to_string_lossy();
    let mut arguments = vec![
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--uid",
        "0",
        "--gid",
        "0",
        "--bind",
        &tree,
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "--setenv",
        "HOME",
        "/root",
        "--setenv",
        "LC_ALL",
        "C.UTF-8",
        "--chdir",
        "/root",
    ];
    arguments.extend(command);
    Invocation::program("bwrap", &arguments)
}
