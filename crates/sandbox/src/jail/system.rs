//! What of this machine every bwrap jail shows, read-only: the system, the prepared `/etc`, and the
//! toolchains.
//!
//! A toolchain is found by where its programs are: from the folders of `PATH`, and from variables
//! such as `RUSTUP_HOME`. It never shows a whole home folder, nor a folder that is known to hold
//! credentials beside programs, such as `~/.cargo`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::etc;
use super::spec::{Access, Mount};

/// The folders of the system beside `/usr`. On most systems they are links into it.
const TOP: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Folders that are never shown whole, whatever leads there.
const NEVER: [&str; 16] = [
    "/", "/home", "/root", "/etc", "/var", "/var/lib", "/tmp", "/var/tmp", "/run", "/proc", "/sys",
    "/dev", "/mnt", "/media", "/srv", "/opt",
];

/// Folders below a home that hold credentials or other people's data beside programs, so that only
/// their `bin` is shown.
const MIXED: [&str; 6] = [".cargo", ".local", ".config", ".npm", ".docker", ".kube"];

/// Links in one folder of programs that are followed.
const LINKS_MAX: usize = 2_000;

/// Returns the mounts of the system and the toolchains, for [`JailSpec::mounts`](super::JailSpec).
///
/// `path_variable` and `places` are those of the person whose run it is. `places` are variables that
/// name a toolchain's folder; `HOME` among them tells which folder is never shown. The folder for
/// `/etc` is made below `state_folder`, which itself is never shown.
pub fn system_mounts(
    path_variable: &OsStr,
    places: &BTreeMap<String, PathBuf>,
    state_folder: &Path,
) -> io::Result<Vec<Mount>> {
    let state_folder = fs::canonicalize(state_folder)?;
    let mut mounts = vec![read_only(Path::new("/usr"), Path::new("/usr"))];
    for top in TOP.map(Path::new) {
        if let Ok(real) = fs::canonicalize(top) {
            mounts.push(read_only(&real, top));
        }
    }
    let etc = etc::prepared(Path::new("/etc"), &state_folder)?;
    mounts.push(read_only(&etc, Path::new("/etc")));
    let toolchains = toolchains(path_variable, places, &state_folder);
    mounts.extend(toolchains.iter().map(|folder| read_only(folder, folder)));
    Ok(mounts)
}

/// What the folders of toolchains depend on.
#[derive(PartialEq)]
struct Question {
    path_variable: OsString,
    places: BTreeMap<String, PathBuf>,
    state_folder: PathBuf,
    home: Option<OsString>,
    /// What each folder that is named is, and when it was changed.
    changed: Vec<Option<[i64; 6]>>,
}

/// What was found, and when.
struct Found {
    question: Question,
    at: Instant,
    /// The folders, with what they are behind all links.
    folders: Vec<(PathBuf, PathBuf)>,
}

/// The links in it lead from one version of a program to another.
const ALTERNATIVES: &str = "/etc/alternatives";

/// For how long the folders are believed. To look through every link of `/usr/bin` takes thousands of
/// calls, and one story asks a dozen times; a program that was installed just now is seen after that long
/// at the latest.
const ANSWER_AGE_MAX: Duration = Duration::from_mins(1);

/// The folders of toolchains, found now or a short time ago.
fn toolchains(
    path_variable: &OsStr,
    places: &BTreeMap<String, PathBuf>,
    state_folder: &Path,
) -> Vec<PathBuf> {
    static KNOWN: Mutex<Option<Found>> = Mutex::new(None);
    let named = env::split_paths(path_variable).chain(places.values().cloned());
    let named = named.chain([PathBuf::from(ALTERNATIVES)]);
    let changed = |path: PathBuf| {
        let found = fs::metadata(path).ok()?;
        let (device, number) = (found.dev().cast_signed(), found.ino().cast_signed());
        let (mtime, ctime) = (
            (found.mtime(), found.mtime_nsec()),
            (found.ctime(), found.ctime_nsec()),
        );
        Some([device, number, mtime.0, mtime.1, ctime.0, ctime.1])
    };
    let question = Question {
        path_variable: path_variable.to_owned(),
        places: places.clone(),
        state_folder: state_folder.to_owned(),
        home: env::var_os("HOME"),
        changed: named.map(changed).collect(),
    };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = &*known
        && found.question == question
        && found.at.elapsed() < ANSWER_AGE_MAX
        && found.folders.iter().all(|(folder, real)| {
            // One that leads elsewhere now may lead where nothing may be shown.
            fs::canonicalize(folder).is_ok_and(|now| now == *real)
        })
    {
        return found
            .folders
            .iter()
            .map(|(folder, _)| folder.clone())
            .collect();
    }
    let folders = Toolchains::new(places, state_folder).find(path_variable, places);
    let real = |folder: &PathBuf| Some((folder.clone(), fs::canonicalize(folder).ok()?));
    *known = Some(Found {
        question,
        at: Instant::now(),
        folders: folders.iter().filter_map(real).collect(),
    });
    folders
}

fn read_only(host: &Path, inside: &Path) -> Mount {
    Mount {
        host: host.to_owned(),
        inside: inside.to_owned(),
        access: Access::ReadOnly,
    }
}

/// Collects the folders of toolchains.
struct Toolchains<'a> {
    homes: Vec<PathBuf>,
    state_folder: &'a Path,
    found: BTreeSet<PathBuf>,
    /// The folders whose links were followed: `/bin` is often `/usr/bin`.
    followed: BTreeSet<PathBuf>,
}

impl<'a> Toolchains<'a> {
    fn new(places: &BTreeMap<String, PathBuf>, state_folder: &'a Path) -> Self {
        let ours = env::var_os("HOME").map(PathBuf::from);
        let homes = places.get("HOME").cloned().into_iter().chain(ours);
        let real = |home: PathBuf| {
            [
                fs::canonicalize(&home).unwrap_or_else(|_| home.clone()),
                home,
            ]
        };
        Self {
            homes: homes.flat_map(real).collect(),
            state_folder,
            found: BTreeSet::new(),
            followed: BTreeSet::new(),
        }
    }

    fn find(mut self, path_variable: &OsStr, places: &BTreeMap<String, PathBuf>) -> Vec<PathBuf> {
        for folder in env::split_paths(path_variable) {
            if folder.is_absolute() && folder.is_dir() {
                self.programs(&folder);
            }
        }
        for (name, folder) in places {
            match name.as_str() {
                "HOME" => {}
                // Its other folders hold the registry's token and everything that was downloaded.
                "CARGO_HOME" => self.show(&folder.join("bin")),
                _ => self.show(folder),
            }
        }
        self.without_repeats()
    }

    /// Shows one folder of `PATH`, with the toolchain around it.
    fn programs(&mut self, folder: &Path) {
        let whole = self.prefix(folder);
        self.show(whole.as_deref().unwrap_or(folder));
        self.rustup_beside(folder);
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if !self.followed.insert(real) {
            return;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(LINKS_MAX) {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if let Some(target) = is_link.then(|| fs::canonicalize(&path).ok()).flatten() {
                self.target(&target);
            }
        }
    }

    /// Proxies such as `cargo` in `~/.cargo/bin` start the real one, which is in `~/.rustup`.
    fn rustup_beside(&mut self, folder: &Path) {
        if folder.join("rustup").exists()
            && let Some(home) = folder.ancestors().nth(2)
        {
            self.show(&home.join(".rustup"));
        }
    }

    /// Shows what a link among the programs leads to.
    fn target(&mut self, target: &Path) {
        let Some(folder) = target.parent() else {
            return;
        };
        let whole = self.prefix(folder);
        // A package of node needs the packages beside it.
        let packages = target
            .ancestors()
            .filter(|above| above.ends_with("node_modules"));
        let packages = packages.last().map(Path::to_owned);
        let shown = packages.or(whole);
        self.show(shown.as_deref().unwrap_or(folder));
    }

    /// The folder of a whole toolchain, if `folder` is the `bin` of one.
    fn prefix(&self, folder: &Path) -> Option<PathBuf> {
        let above = folder.parent()?;
        if folder.ends_with("node_modules/.bin") {
            return Some(above.to_owned());
        }
        let is_bin = ["bin", "sbin", "shims", "condabin"].map(|name| folder.ends_with(name));
        let is_mixed = above
            .file_name()
            .is_some_and(|name| MIXED.iter().any(|mixed| name == OsStr::new(mixed)));
        let is_whole = is_bin.contains(&true) && !is_mixed && is_toolchain(above);
        (is_whole && !self.is_forbidden(above)).then(|| above.to_owned())
    }

    fn show(&mut self, folder: &Path) {
        // A place that is reached through a link is needed under both of its names.
        let real = fs::canonicalize(folder);
        for path in [Some(folder.to_owned()), real.ok()].into_iter().flatten() {
            let is_system = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
            let is_system = is_system.iter().any(|system| path.starts_with(system));
            if path.is_absolute() && path.exists() && !is_system && !self.is_forbidden(&path) {
                self.found.insert(path);
            }
        }
    }

    /// Whether a folder must not be shown: it is a home or above one, holds our state or lies in it,
    /// or is one of the system's own.
    fn is_forbidden(&self, folder: &Path) -> bool {
        let is_home = |home: &PathBuf| home.starts_with(folder);
        let is_a_home = folder.parent() == Some(Path::new("/home"));
        NEVER.iter().any(|never| folder == Path::new(never))
            || is_a_home
            || self.homes.iter().any(is_home)
            || self.state_folder.starts_with(folder)
            || folder.starts_with(self.state_folder)
            || ["/proc", "/sys", "/dev", "/run"]
                .iter()
                .any(|own| folder.starts_with(own))
    }

    /// A folder inside another one that is shown needs no mount of its own.
    fn without_repeats(self) -> Vec<PathBuf> {
        let mut kept: Vec<PathBuf> = Vec::new();
        // Sorted, so that a folder comes before everything in it.
        for folder in self.found {
            if !kept.iter().any(|above| folder.starts_with(above)) {
                kept.push(folder);
            }
        }
        kept
    }
}

/// Whether a folder holds a toolchain and not somebody's project, which may have a `bin` and a `lib`
/// too. Managers of versions are often repositories themselves, but they have their versions in them.
fn is_toolchain(folder: &Path) -> bool {
    let has = |name: &&str| folder.join(name).exists();
    let is_installed = ["lib", "lib64", "libexec", "pyvenv.cfg", "pkg"]
        .iter()
        .any(has);
    has(&"versions") || (is_installed && !has(&".git"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A home with toolchains as people have them, and what a jail shows of it.
    #[test]
    fn toolchains_are_shown_and_homes_are_not() {
        let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = fs::canonicalize(scratch.path()).unwrap().join("ada");
        for file in [
            ".cargo/bin/cargo",
            ".cargo/bin/rustup",
            ".cargo/credentials.toml",
            ".rustup/toolchains/stable/bin/cargo",
            ".nvm/versions/node/v22/bin/node",
            ".nvm/versions/node/v22/lib/node_modules/npm/cli.js",
            ".local/bin/tool",
            ".local/share/claude/versions/2.1/claude",
            ".local/share/keyrings/login.keyring",
            ".pyenv/shims/python",
            ".pyenv/versions/3.12/bin/python",
            "bin/script",
            "project/.git/config",
            "project/.env",
            "project/lib/code",
            "project/bin/tool",
            ".ssh/id",
            "work/node_modules/.bin/marker",
            "work/node_modules/eslint/bin/eslint.js",
            "go/bin/go",
            "state/loopwright/journal",
        ] {
            fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            fs::write(home.join(file), "").unwrap();
        }
        let claude = home.join(".local/share/claude/versions/2.1/claude");
        symlink(claude, home.join(".local/bin/claude")).unwrap();
        let state = home.join("state/loopwright");
        let path = [
            ".cargo/bin",
            ".nvm/versions/node/v22/bin",
            ".local/bin",
            ".pyenv/shims",
            "bin",
            "project/bin",
            "work/node_modules/.bin",
            "state/loopwright",
            "no/such/bin",
        ];
        let path = env::join_paths(path.map(|folder| home.join(folder))).unwrap();
        let places = BTreeMap::from([
            ("HOME".to_owned(), home.clone()),
            ("CARGO_HOME".to_owned(), home.join(".cargo")),
            ("GOROOT".to_owned(), home.join("go")),
            ("EVERYTHING".to_owned(), home.parent().unwrap().to_owned()),
        ]);
        let found = Toolchains::new(&places, &state).find(&path, &places);
        let shown: Vec<&str> = found
            .iter()
            .map(|path| path.strip_prefix(&home).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            shown,
            [
                ".cargo/bin",
                ".local/bin",
                ".local/share/claude/versions/2.1",
                ".nvm/versions/node/v22",
                ".pyenv",
                ".rustup",
                "bin",
                "go",
                "project/bin",
                "work/node_modules"
            ]
        );
    }

    /// What is remembered is not believed once it is no longer so.
    #[test]
    fn a_toolchain_that_comes_or_goes_is_noticed() {
        let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = fs::canonicalize(scratch.path()).unwrap();
        let (bin, state) = (home.join("programs"), home.join("state"));
        let tool = home.join("tools/v1/bin/tool");
        for folder in [
            &bin,
            &state,
            &home.join("tools/v1/lib"),
            &home.join("tools/v1/bin"),
        ] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&tool, "").unwrap();
        let find = || toolchains(bin.as_os_str(), &BTreeMap::new(), &state);
        let alone = vec![bin.clone()];
        assert_eq!(find(), alone);
        assert_eq!(find(), alone, "again");
        symlink(&tool, bin.join("tool")).unwrap();
        // The clock of files may not have moved since.
        let later = std::time::SystemTime::now() + Duration::from_secs(2);
        fs::File::open(&bin).unwrap().set_modified(later).unwrap();
        assert_eq!(find(), vec![bin.clone(), home.join("tools/v1")], "it came");
        fs::remove_dir_all(home.join("tools")).unwrap();
        assert_eq!(find(), alone, "it went");
        let elsewhere = toolchains(home.join("nothing").as_os_str(), &BTreeMap::new(), &state);
        assert_eq!(elsewhere, Vec::<PathBuf>::new(), "another PATH");
    }

    #[test]
    fn the_system_is_shown_read_only() {
        let state = tempfile::tempdir().unwrap();
        let mounts = system_mounts(OsStr::new("/usr/bin:/bin"), &BTreeMap::new(), state.path());
        let mounts = mounts.unwrap();
        assert!(mounts.iter().all(|mount| mount.access == Access::ReadOnly));
        let inside: Vec<&Path> = mounts.iter().map(|mount| mount.inside.as_path()).collect();
        for expected in ["/usr", "/bin", "/lib", "/etc"] {
            assert!(inside.contains(&Path::new(expected)), "{inside:?}");
        }
        let etc = mounts
            .iter()
            .find(|mount| mount.inside == Path::new("/etc"));
        assert!(
            etc.unwrap()
                .host
                .starts_with(fs::canonicalize(state.path()).unwrap())
        );
    }
}
