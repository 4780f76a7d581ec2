//! What package managers fetch, in a jail: a folder of the run's own, filled from what the loop's base
//! needed and from what the operator has already.
//!
//! Only the base's own setup adds to what later runs begin with. A candidate's downloads end with its
//! tree, so that no attempt can lay something there for the next one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::run::beneath::write_beneath;

/// The folder's name in a home.
pub(crate) const FOLDER: &str = ".downloads";

/// The package managers' variables, and their folders in it.
const VARIABLES: &[(&str, &str)] = &[
    ("CARGO_HOME", "cargo"),
    ("npm_config_cache", "npm"),
    ("npm_config_store_dir", "pnpm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("GOPATH", "go"),
    ("GRADLE_USER_HOME", "gradle"),
];

/// What the operator has of each, below their home, that is worth a copy: archives and indexes, which
/// are checked by their hashes when they are used.
const OPERATORS: &[(&str, &str)] = &[
    (".cargo/registry/cache", "cargo/registry/cache"),
    (".cargo/registry/index", "cargo/registry/index"),
];

/// More than this is not copied: fetching anew costs less than a copy for every tree.
const COPIED_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Tells the package managers where to put what they fetch.
pub(crate) fn environment(env: &mut BTreeMap<String, String>) {
    for (name, folder) in VARIABLES {
        let place = format!("{}/{FOLDER}/{folder}", sandbox::HOME);
        env.insert((*name).to_owned(), place);
    }
    env.insert(
        "npm_config_userconfig".to_owned(),
        format!("{}/.npmrc", sandbox::HOME),
    );
    env.insert(
        "PIP_CONFIG_FILE".to_owned(),
        format!("{}/.config/pip/pip.conf", sandbox::HOME),
    );
}

/// The loop's own store: what the base's setup fetched.
pub(crate) struct Downloads {
    store: PathBuf,
}

impl Downloads {
    pub(crate) fn of(loop_folder: &Path) -> Self {
        Self {
            store: loop_folder.join("downloads"),
        }
    }

    /// Fills a new home, from what was fetched for a root if there is one. What cannot be copied is
    /// fetched anew, so that no failure matters.
    pub(crate) fn fill(&self, home: &Path, of_root: Option<&Path>) {
        let folder = home.join(FOLDER);
        if fs::symlink_metadata(&folder).is_ok() {
            return;
        }
        let operators_home = std::env::var_os("HOME").map(PathBuf::from);
        if let Some(fetched) = of_root {
            copy_bounded(fetched, &folder);
        } else if self.store.is_dir() {
            copy_bounded(&self.store, &folder);
        } else if let Some(operators_home) = &operators_home {
            for (from, to) in OPERATORS {
                copy_bounded(&operators_home.join(from), &folder.join(to));
            }
        }
        let _ = fs::create_dir_all(&folder);
        configure_clients(home);
    }

    /// Keeps what the base's setup fetched, once.
    pub(crate) fn keep(&self, home: &Path) {
        if self.store.exists() {
            return;
        }
        let scratch = self
            .store
            .with_extension(format!("new-{}", std::process::id()));
        let is_copied = copy_bounded(&home.join(FOLDER), &scratch);
        if !is_copied || fs::rename(&scratch, &self.store).is_err() {
            let _ = home::remove_folder(&scratch);
        }
    }
}

/// Tells a new home's package managers what the operator's own are told.
pub(crate) fn configure_clients(home: &Path) {
    if let Some(operators_home) = std::env::var_os("HOME") {
        give_client_configuration(Path::new(&operators_home), home);
    }
}

/// Copies a folder without following links, if it is not too large; says whether it did.
fn copy_bounded(from: &Path, to: &Path) -> bool {
    let mut left = COPIED_BYTES_MAX;
    let copied = copy_tree(from, to, &mut left);
    if copied.is_err() {
        let _ = home::remove_folder(to);
    }
    copied.is_ok()
}

fn copy_tree(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &target, left)?;
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            *left = left.checked_sub(size).ok_or(io::ErrorKind::FileTooLarge)?;
            fs::copy(entry.path(), &target)?;
            // Cargo takes a package that is newer than what was built of it for a changed one.
            let at = entry.metadata()?.modified()?;
            fs::File::options()
                .write(true)
                .open(&target)?
                .set_modified(at)?;
        }
    }
    Ok(())
}

/// Copies how the operator's own package managers are configured, without what could be a secret.
fn give_client_configuration(operators_home: &Path, home: &Path) {
    for (from, to) in [
        (".npmrc", ".npmrc"),
        (".config/pip/pip.conf", ".config/pip/pip.conf"),
        (".pip/pip.conf", ".config/pip/pip.conf"),
        (".cargo/config.toml", ".downloads/cargo/config.toml"),
        (".cargo/config", ".downloads/cargo/config.toml"),
    ] {
        if let Ok(text) = fs::read_to_string(operators_home.join(from)) {
            // What cannot be written is missed by the package manager, which says so.
            let _ = write_beneath(home, Path::new(to), without_secrets(&text).as_bytes());
        }
    }
}

/// A configuration without the lines that may hold a secret, and without names in addresses.
fn without_secrets(text: &str) -> String {
    const SECRET_KEYS: &[&str] = &[
        "auth",
        "password",
        "token",
        "secret",
        "credential",
        "username",
        "cert",
        "key",
    ];
    let is_secret = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().to_lowercase();
        line.contains('=') && SECRET_KEYS.iter().any(|word| key.contains(word))
    };
    let lines = text.lines().filter(|line| !is_secret(line));
    lines.map(|line| without_userinfo(line) + "\n").collect()
}

/// `https://user:word@host/` as `https://host/`.
fn without_userinfo(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let end = after
            .find(|c: char| c == '/' || c == '"' || c == '\'' || c.is_whitespace())
            .unwrap_or(after.len());
        let authority = &after[..end];
        out.push_str(authority.rsplit('@').next().unwrap_or(authority));
        rest = &after[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_configuration_loses_its_secrets() {
        let text = "registry=https://me:word@mirror.example/npm/\n//mirror.example/:_authToken=abc\n\
                    fund=false\n[registries.own]\nindex = \"sparse+https://u@mirror.example/\"\ntoken = \"abc\"\n";
        let expected = "registry=https://mirror.example/npm/\nfund=false\n[registries.own]\n\
                        index = \"sparse+https://mirror.example/\"\n";
        assert_eq!(without_secrets(text), expected);
    }

    #[test]
    fn only_what_the_base_fetched_is_there_for_the_next_tree() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (own, first, second) = (
            scratch.path().join("loop"),
            scratch.path().join("first"),
            scratch.path().join("second"),
        );
        let downloads = Downloads::of(&own);
        fs::create_dir_all(&own).expect("made");
        fs::create_dir_all(first.join(FOLDER).join("npm")).expect("made");
        fs::write(first.join(FOLDER).join("npm/a"), "1").expect("written");
        downloads.keep(&first);
        fs::create_dir_all(&second).expect("made");
        downloads.fill(&second, None);
        let copy = second.join(FOLDER).join("npm/a");
        assert_eq!(fs::read_to_string(&copy).expect("read"), "1");
        fs::write(&copy, "poison").expect("written");
        downloads.keep(&second);
        let third = scratch.path().join("third");
        fs::create_dir_all(&third).expect("made");
        downloads.fill(&third, None);
        let copy = third.join(FOLDER).join("npm/a");
        assert_eq!(fs::read_to_string(&copy).expect("read"), "1");
    }
}
