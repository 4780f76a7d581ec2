//! Files of a release: written with the modes that they have when they are installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Removes what an earlier run made and makes an empty folder.
pub(super) fn fresh_folder(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    }
    make_folder(path)
}

fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make `{}`", path.display()))
}

/// Writes a file that everybody may read, and the folders above it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    make_folder(path.parent().unwrap_or(path))?;
    fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))?;
    set_mode(path, 0o644)
}

/// Copies a file and gives it a mode.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    make_folder(to.parent().unwrap_or(to))?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display()))?;
    set_mode(to, mode)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of `{}`", path.display()))
}

/// Every file and link below a folder, relative to it and in order.
pub(super) fn all_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(here) = open.pop() {
        let entries =
            fs::read_dir(&here).with_context(|| format!("cannot list `{}`", here.display()))?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The last part of a path, for a message or a command line.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How large a file is, for people.
pub(super) fn size(path: &Path) -> Result<String> {
    let bytes = fs::metadata(path)
        .with_context(|| format!("cannot find `{}`", path.display()))?
        .len();
    let kib = bytes.div_ceil(1024);
    Ok(format!("{kib} KiB"))
}
