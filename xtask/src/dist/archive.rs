//! The archive: the stage as one compressed file that is the same for the same commit.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::release::Release;
use crate::invocation::Invocation;

pub(super) fn pack(release: &Release, stage: &Path) -> Result<PathBuf> {
    let name = release.name();
    let file = format!("{name}.tar.gz");
    let rename = format!("s,^loopwright,{name},");
    let time = format!("--mtime=@{}", release.epoch_secs);
    let arguments = [
        "--create",
        "--file",
        &file,
        "--use-compress-program",
        "gzip -9n",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=go=rX,u+rw,a-s",
        &time,
        "--transform",
        &rename,
        &super::files::name_of(stage),
    ];
    Invocation::program("tar", &arguments).run(&release.folder)?;
    Ok(release.folder.join(file))
}
