//! Finds the programs that CI needs, and installs those that can be installed without harm.
//!
//! It never touches the toolchain: rustfmt and clippy belong to it, and how it was installed is not
//! ours to know. Everything else goes into cargo's own folder or below the target folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::invocation::Invocation;
use crate::metadata::Metadata;
use crate::talk::{Talk, say};

/// Installed when there is none; any version that is there already will do.
const NEXTEST_VERSION: &str = "0.9.143";

/// Pinned, because each release knows more misspellings and must not turn an old commit red.
const TYPOS_VERSION: &str = "1.51.1";

/// Makes sure that the later steps find what belongs to cargo.
pub(crate) fn prepare(root: &Path) -> Result<()> {
    for component in ["fmt", "clippy"] {
        toolchain_component(root, component)?;
    }
    nextest(root)
}

fn toolchain_component(root: &Path, command: &str) -> Result<()> {
    let component = if command == "fmt" { "rustfmt" } else { command };
    let version = Invocation::cargo(&[command, "--version"])
        .read(root)
        .with_context(|| {
            format!(
                "the toolchain has no {component}; with rustup: `rustup component add {component}`"
            )
        })?;
    say(format!("found {}", version.trim()));
    Ok(())
}

fn nextest(root: &Path) -> Result<()> {
    if let Ok(version) = Invocation::cargo(&["nextest", "--version"]).read(root) {
        say(format!(
            "found {}",
            version.lines().next().unwrap_or_default()
        ));
        return Ok(());
    }
    Invocation::cargo(&[
        "install",
        "cargo-nextest",
        "--version",
        NEXTEST_VERSION,
        "--locked",
    ])
    .run(root)
}

/// Finds the pinned `typos`, or installs it below the target folder. Tells where the program is.
pub(crate) fn typos(talk: &mut Talk, root: &Path) -> Result<PathBuf> {
    let tools = Metadata::load(root)?.target_directory.join("tools");
    let folder = tools.join(format!("typos-{TYPOS_VERSION}"));
    let program = folder.join("bin").join("typos");
    if !is_pinned_typos(root, &program) {
        fs::create_dir_all(&tools)
            .with_context(|| format!("cannot create `{}`", tools.display()))?;
        install_typos(talk, root, &folder)?;
    }
    if !is_pinned_typos(root, &program) {
        anyhow::bail!(
            "`{}` is not typos {TYPOS_VERSION}, though it was just installed",
            program.display()
        );
    }
    talk.say(format!("found typos {TYPOS_VERSION}"));
    Ok(program)
}

fn is_pinned_typos(root: &Path, program: &Path) -> bool {
    let version = Invocation::file(program, &["--version"]).read(root);
    version.is_ok_and(|text| text.split_whitespace().last() == Some(TYPOS_VERSION))
}

/// Takes the Python package, because it carries the finished program: building typos takes minutes.
/// Debian ships Python without `venv`; there pip's `--target` gives a folder of the same shape.
fn install_typos(talk: &mut Talk, root: &Path, folder: &Path) -> Result<()> {
    let package = format!("typos=={TYPOS_VERSION}");
    let Err(venv_error) = install_into_venv(talk, root, folder, &package) else {
        return Ok(());
    };
    talk.say(format!(
        "no virtual environment ({venv_error:#}); trying pip alone"
    ));
    clear(folder)?;
    install_into_folder(talk, root, folder, &package).context(
        "cannot install typos: it needs python3 with venv or with pip (on Debian: `apt install python3-venv`)",
    )
}

fn install_into_venv(talk: &mut Talk, root: &Path, folder: &Path, package: &str) -> Result<()> {
    clear(folder)?;
    Invocation::program("python3", &["-m", "venv", &folder.to_string_lossy()])
        .run_in(talk, root)?;
    Invocation::file(
        &folder.join("bin").join("pip"),
        &["install", "--quiet", package],
    )
    .run_in(talk, root)
}

fn install_into_folder(talk: &mut Talk, root: &Path, folder: &Path, package: &str) -> Result<()> {
    let folder = folder.to_string_lossy();
    let arguments = [
        "-m", "pip", "install", "--quiet", "--target", &folder, package,
    ];
    Invocation::program("python3", &arguments).run_in(talk, root)
}

/// Removes what a broken installation has left behind.
fn clear(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove `{}`", folder.display()))
}
