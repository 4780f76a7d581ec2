//! The steps of `dist`, in order.

use std::path::Path;

use anyhow::Result;

use super::release::{Made, Release};
use super::{archive, bare_root, deb, files, program};
use crate::invocation::Invocation;
use crate::talk::say;

/// Makes everything, and says where it is.
pub(crate) fn run(root: &Path) -> Result<()> {
    make(root).map(|_| ())
}

/// Makes everything and tries it on a root file system that has git and nothing else.
pub(crate) fn run_and_try(root: &Path) -> Result<()> {
    let made = make(root)?;
    bare_root::try_out(root, &made)
}

fn make(root: &Path) -> Result<Made> {
    let release = Release::of(root)?;
    let program = program::build(root, &release)?;
    let stage = program::stage(root, &release, &program)?;
    let archive = archive::pack(&release, &stage)?;
    let deb = deb::make(root, &release, &program)?;
    let names = [&archive, &deb].map(|path| files::name_of(path));
    let sums = Invocation::program("sha256sum", &[&names[0], &names[1]]).read(&release.folder)?;
    let sums_file = release.folder.join("SHA256SUMS");
    files::write(&sums_file, &sums)?;
    for path in [&archive, &deb, &sums_file] {
        say(format!("made {} ({})", path.display(), files::size(path)?));
    }
    Ok(Made {
        release,
        archive,
        deb,
    })
}
