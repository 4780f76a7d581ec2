//! The Debian package, made from `[package.metadata.deb]` of the program's manifest: the same table
//! that `cargo deb` reads, so that both make the same package.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::files;
use super::release::Release;
use crate::invocation::Invocation;

/// How `cargo deb` spells the program, wherever it was built.
const PROGRAM: &str = "target/release/loopwright";

/// Pages of the manual are compressed, as Debian wants them.
const MANUAL: &str = "usr/share/man/";

pub(super) fn make(root: &Path, release: &Release, program: &Path) -> Result<PathBuf> {
    let package = release.package()?;
    let table = &package["metadata"]["deb"];
    let place = release.folder.join("deb");
    files::fresh_folder(&place)?;
    for asset in assets(table)? {
        install(root, &asset, program, &place)?;
    }
    compress_manual(&place)?;
    let installed = files::all_below(&place)?;
    let sums = Invocation::program("md5sum", &words(&installed)).read(&place)?;
    files::write(&place.join("DEBIAN/md5sums"), sums)?;
    let architecture = architecture(&release.target)?;
    let kib = installed_kib(&place, &installed)?;
    files::write(
        &place.join("DEBIAN/control"),
        control(package, architecture, kib)?,
    )?;
    let name = format!("loopwright_{}_{architecture}.deb", release.version);
    let arguments = ["--root-owner-group", "-Zxz", "--build", "deb", &name];
    Invocation::program("dpkg-deb", &arguments)
        .with_env("SOURCE_DATE_EPOCH", release.epoch_secs.clone())
        .run(&release.folder)
        .context("cannot make the package: it needs dpkg-deb (`apt install dpkg`)")?;
    Ok(release.folder.join(name))
}

/// One line of `assets`: from where, to where, with which mode.
#[derive(Debug, PartialEq, Eq)]
struct Asset {
    from: String,
    to: String,
    mode: u32,
}

fn assets(table: &Value) -> Result<Vec<Asset>> {
    let lines = table["assets"].as_array();
    let lines = lines.context("`[package.metadata.deb]` has no `assets`")?;
    let one = |line: &Value| {
        let text = |index: usize| {
            let text = line[index].as_str();
            text.with_context(|| format!("`{line}` is no asset: it wants [from, to, mode]"))
        };
        Ok(Asset {
            from: text(0)?.to_owned(),
            to: text(1)?.to_owned(),
            mode: u32::from_str_radix(text(2)?, 8)
                .with_context(|| format!("`{line}` has no octal mode"))?,
        })
    };
    lines.iter().map(one).collect()
}

/// Sources are relative to the folder of the manifest; `*` stands for the names of a whole folder.
fn install(root: &Path, asset: &Asset, program: &Path, place: &Path) -> Result<()> {
    let from = if asset.from == PROGRAM {
        program.to_owned()
    } else {
        root.join("crates/loopwright").join(&asset.from)
    };
    let to = |name: String| {
        let to = place.join(&asset.to);
        if asset.to.ends_with('/') {
            to.join(name)
        } else {
            to
        }
    };
    let Some((folder, ending)) = asset.from.rsplit_once("/*") else {
        return files::copy(&from, &to(files::name_of(&from)), asset.mode);
    };
    let folder = root.join("crates/loopwright").join(folder);
    let fitting = files::all_below(&folder)?;
    let mut fitting = fitting
        .iter()
        .filter(|file| files::name_of(file).ends_with(ending))
        .peekable();
    if fitting.peek().is_none() {
        bail!("the asset `{}` names no file", asset.from);
    }
    for file in fitting {
        files::copy(&folder.join(file), &to(files::name_of(file)), asset.mode)?;
    }
    Ok(())
}

fn compress_manual(place: &Path) -> Result<()> {
    let manual = place.join(MANUAL);
    let pages = files::all_below(&manual)?;
    let mut arguments = vec!["-9n".to_owned()];
    arguments.extend(words(&pages).into_iter().map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Invocation::program("gzip", &arguments)
        .read(&manual)
        .map(|_| ())
}

/// All names of ours are UTF-8.
fn words(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().filter_map(|path| path.to_str()).collect()
}

fn installed_kib(place: &Path, installed: &[PathBuf]) -> Result<u64> {
    let mut kib = 0;
    for file in installed {
        kib += fs::metadata(place.join(file))?.len().div_ceil(1024);
    }
    Ok(kib)
}

fn architecture(target: &str) -> Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => bail!("Debian's name for the processor of `{target}` is not known here"),
    }
}

fn control(package: &Value, architecture: &str, kib: u64) -> Result<String> {
    let table = &package["metadata"]["deb"];
    let text = |value: &Value, key: &str| {
        let text = value[key].as_str().map(str::to_owned);
        text.with_context(|| format!("the package has no `{key}`"))
    };
    let long: String = text(table, "extended-description")?
        .trim()
        .lines()
        .map(|line| match line.trim() {
            "" => " .\n".to_owned(),
            line => format!(" {line}\n"),
        })
        .collect();
    Ok(format!(
        "Package: {}\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {}\n\
         Installed-Size: {kib}\nDepends: {}\nRecommends: {}\nSection: {}\nPriority: {}\nDescription: {}\n{long}",
        text(package, "name")?,
        text(package, "version")?,
        text(table, "maintainer")?,
        text(table, "depends")?,
        text(table, "recommends")?,
        text(table, "section")?,
        text(table, "priority")?,
        text(package, "description")?,
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_control_file_is() {
        let package = json!({
            "name": "loopwright", "version": "1.2.3", "description": "Runs loops",
            "metadata": { "deb": {
                "maintainer": "Us", "depends": "git", "recommends": "jail", "section": "devel", "priority": "optional",
                "extended-description": "One.\n\nTwo.\n",
            } },
        });
        let expected = "Package: loopwright\nVersion: 1.2.3\nArchitecture: arm64\nMaintainer: Us\n\
            Installed-Size: 7\nDepends: git\nRecommends: jail\nSection: devel\nPriority: optional\n\
            Description: Runs loops\n One.\n .\n Two.\n";
        assert_eq!(control(&package, "arm64", 7).unwrap(), expected);
    }

    #[test]
    fn an_asset_is_read_and_a_broken_one_refused() {
        let table = json!({ "assets": [["a", "usr/bin/", "755"]] });
        let expected = Asset {
            from: "a".to_owned(),
            to: "usr/bin/".to_owned(),
            mode: 0o755,
        };
        assert_eq!(assets(&table).unwrap(), [expected]);
        assert!(assets(&json!({ "assets": [["a", "usr/bin/", "rwx"]] })).is_err());
        assert!(assets(&json!({})).is_err());
    }

    #[test]
    fn a_target_has_a_name_at_debian() {
        assert_eq!(architecture("x86_64-unknown-linux-gnu").unwrap(), "amd64");
        assert_eq!(architecture("aarch64-unknown-linux-musl").unwrap(), "arm64");
        assert!(architecture("riscv64gc-unknown-linux-gnu").is_err());
    }
}
