//! Builds the program and lays out what goes beside it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::release::Release;
use super::{elf, files, licences};
use crate::invocation::Invocation;

/// Shells with the place of their completions below the stage.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "completions/loopwright.bash"),
    ("zsh", "completions/_loopwright"),
    ("fish", "completions/loopwright.fish"),
];

/// Files of the repository that go into every package.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds it without a loader and without the paths of this machine.
pub(super) fn build(root: &Path, release: &Release) -> Result<PathBuf> {
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    flags.push(format!("--remap-path-prefix={}=loopwright", root.display()));
    if let Some(home) = cargo_home() {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    Invocation::cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "loopwright",
        "--target",
        &release.target,
    ])
    // A path may hold a space, which the plain variable could not carry.
    .with_env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
    .run(root)?;
    let target_folder = release.folder.parent().context("a target folder")?;
    let program = target_folder
        .join(&release.target)
        .join("release/loopwright");
    let bytes = fs::read(&program).context("cargo built no program")?;
    ensure!(
        elf::is_static(&bytes)?,
        "`{}` needs a loader: it would not run on every Linux",
        program.display()
    );
    Ok(program)
}

fn cargo_home() -> Option<PathBuf> {
    let told = env::var_os("CARGO_HOME").map(PathBuf::from);
    told.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
}

/// Lays out the folder that is packed: the program, its manual and completions, and what must go
/// with it.
pub(super) fn stage(root: &Path, release: &Release, program: &Path) -> Result<PathBuf> {
    let stage = release.folder.join("loopwright");
    files::fresh_folder(&stage)?;
    files::copy(program, &stage.join("loopwright"), 0o755)?;
    for text in TEXTS {
        files::copy(&root.join(text), &stage.join(text), 0o644)?;
    }
    files::write(
        &stage.join("THIRD-PARTY.md"),
        licences::third_party(&release.metadata)?,
    )?;
    let manual = stage.join("man/man1");
    Invocation::file(program, &["man", "--folder", &manual.to_string_lossy()]).read(root)?;
    for (shell, place) in COMPLETIONS {
        let script = Invocation::file(program, &["completions", shell]).read(root)?;
        files::write(&stage.join(place), script)?;
    }
    Ok(stage)
}
