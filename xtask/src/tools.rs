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

/// Tests look for it in the folder of this version.
const JUST_VERSION: &str = "1.59.0";

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

/// A program that a Python package carries ready to run: building it would take minutes.
struct Tool {
    program: &'static str,
    package: &'static str,
    version: &'static str,
}

/// Finds the pinned `typos`, or installs it below the target folder. Tells where the program is.
pub(crate) fn typos(talk: &mut Talk, root: &Path) -> Result<PathBuf> {
    let tool = Tool {
        program: "typos",
        package: "typos",
        version: TYPOS_VERSION,
    };
    tool.prepare(talk, root)
}

/// Finds the pinned `just`, or installs it below the target folder. Not every Debian has a package of
/// it.
pub(crate) fn just(talk: &mut Talk, root: &Path) -> Result<PathBuf> {
    let tool = Tool {
        program: "just",
        package: "rust-just",
        version: JUST_VERSION,
    };
    tool.prepare(talk, root)
}

impl Tool {
    fn prepare(&self, talk: &mut Talk, root: &Path) -> Result<PathBuf> {
        let Self {
            program, version, ..
        } = self;
        let tools = Metadata::load(root)?.target_directory.join("tools");
        let folder = tools.join(format!("{program}-{version}"));
        let path = folder.join("bin").join(program);
        if !self.is_at(root, &path) {
            fs::create_dir_all(&tools)
                .with_context(|| format!("cannot create `{}`", tools.display()))?;
            self.install(talk, root, &folder)?;
        }
        if !self.is_at(root, &path) {
            anyhow::bail!(
                "`{}` is not {program} {version}, though it was installed a moment ago",
                path.display()
            );
        }
        talk.say(format!("found {program} {version}"));
        Ok(path)
    }

    fn is_at(&self, root: &Path, path: &Path) -> bool {
        let version = Invocation::file(path, &["--version"]).read(root);
        version.is_ok_and(|text| text.split_whitespace().last() == Some(self.version))
    }

    /// Debian ships Python without `venv`; there pip's `--target` gives a folder of the same shape.
    fn install(&self, talk: &mut Talk, root: &Path, folder: &Path) -> Result<()> {
        let package = format!("{}=={}", self.package, self.version);
        let Err(venv_error) = install_into_venv(talk, root, folder, &package) else {
            return Ok(());
        };
        talk.say(format!(
            "no virtual environment ({venv_error:#}); trying pip alone"
        ));
        clear(folder)?;
        install_into_folder(talk, root, folder, &package).with_context(|| {
            format!(
                "cannot install {}: it needs python3 with venv or with pip (on Debian: `apt install python3-venv`)",
                self.program
            )
        })
    }
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
