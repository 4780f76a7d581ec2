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

/// So many names of a project are looked at. A project with more is taken for one of cargo.
const NAMES_MAX: usize = 20_000;

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
    /// The operator's home, where there is one.
    operators_home: Option<PathBuf>,
}

impl Downloads {
    pub(crate) fn of(loop_folder: &Path) -> Self {
        Self {
            store: loop_folder.join("downloads"),
            operators_home: std::env::var_os("HOME").map(PathBuf::from),
        }
    }

    /// What the base's setup fetched, once it is kept.
    pub(crate) fn kept(&self) -> Option<PathBuf> {
        self.store.is_dir().then(|| self.store.clone())
    }

    /// Fills a new home, from what was fetched for a root if there is one. What cannot be copied is
    /// fetched anew, so that no failure matters. `project` are the folders that show the files to work on.
    pub(crate) fn fill(&self, home: &Path, of_root: Option<&Path>, project: &[PathBuf]) {
        let folder = home.join(FOLDER);
        if fs::symlink_metadata(&folder).is_ok() {
            return;
        }
        if let Some(fetched) = of_root {
            copy_bounded(fetched, &folder);
        } else if self.store.is_dir() {
            copy_bounded(&self.store, &folder);
        } else if let Some(operators_home) = &self.operators_home
            && uses_cargo(project, NAMES_MAX)
        {
            for (from, to) in OPERATORS {
                copy_bounded(&operators_home.join(from), &folder.join(to));
            }
        }
        let _ = fs::create_dir_all(&folder);
        if let Some(operators_home) = &self.operators_home {
            give_client_configuration(operators_home, home);
        }
    }

    /// Keeps what the base's setup fetched, once.
    pub(crate) fn keep(&self, home: &Path) {
        if self.store.exists() {
            return;
        }
        let scratch = self
            .store
            .with_extension(format!("new-{}", std::process::id()));
        copy_bounded(&home.join(FOLDER), &scratch);
        // Nothing was copied, or another worker was first.
        if fs::rename(&scratch, &self.store).is_err() {
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

/// Whether somewhere in these folders there is a package of cargo. What the operator has of it may be a
/// gigabyte, and most projects need nothing of that.
fn uses_cargo(folders: &[PathBuf], names_max: usize) -> bool {
    let mut n_left = names_max;
    let mut folders = folders.to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name == "Cargo.toml" || n_left == 0 {
                return true;
            }
            n_left -= 1;
            if is_folder && name != ".git" {
                folders.push(entry.path());
            }
        }
    }
    false
}

/// Copies a folder without following links, all of it or nothing.
fn copy_bounded(from: &Path, to: &Path) {
    let mut left = COPIED_BYTES_MAX;
    if copy_tree(from, to, &mut left).is_err() {
        let _ = home::remove_folder(to);
    }
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

    /// A loop's store and homes of runs, below one folder.
    struct Scene {
        scratch: tempfile::TempDir,
        downloads: Downloads,
    }

    impl Scene {
        fn new() -> Self {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            fs::create_dir(scratch.path().join("loop")).expect("made");
            let downloads = Downloads {
                store: scratch.path().join("loop/downloads"),
                operators_home: Some(scratch.path().join("operator")),
            };
            Self { scratch, downloads }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.scratch.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.at(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }

        /// What a run's home has been given.
        fn read(&self, home: &str, path: &str) -> Option<String> {
            fs::read_to_string(self.at(home).join(FOLDER).join(path)).ok()
        }

        fn fill(&self, home: &str) {
            self.downloads
                .fill(&self.at(home), None, &[self.at("project")]);
        }
    }

    #[test]
    fn only_what_the_base_fetched_is_there_for_the_next_tree() {
        let scene = Scene::new();
        scene.write("first/.downloads/npm/a", "1");
        scene.downloads.keep(&scene.at("first"));
        scene.fill("second");
        assert_eq!(scene.read("second", "npm/a").as_deref(), Some("1"));
        scene.write("second/.downloads/npm/a", "poison");
        scene.downloads.keep(&scene.at("second"));
        scene.fill("third");
        assert_eq!(scene.read("third", "npm/a").as_deref(), Some("1"));
    }

    /// A base that needs nothing is kept too, or the first candidate would lay down what others get.
    #[test]
    fn a_base_that_fetched_nothing_leaves_nothing_for_the_next_tree() {
        let scene = Scene::new();
        fs::create_dir_all(scene.at("first/.downloads")).expect("made");
        scene.downloads.keep(&scene.at("first"));
        scene.write("second/.downloads/npm/a", "poison");
        scene.downloads.keep(&scene.at("second"));
        scene.fill("third");
        assert_eq!(scene.read("third", "npm/a"), None);
    }

    #[test]
    fn nothing_half_made_is_left_beside_the_store() {
        let scene = Scene::new();
        scene.write("first/.downloads/npm/a", "1");
        // Another worker has put something there that nobody can look into.
        std::os::unix::fs::symlink("nowhere", scene.at("loop/downloads")).expect("linked");
        scene.downloads.keep(&scene.at("first"));
        let beside = fs::read_dir(scene.at("loop")).expect("a folder").flatten();
        let names: Vec<_> = beside.map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["downloads"]);
    }

    #[test]
    fn a_home_is_filled_once_and_from_the_nearest_store() {
        let scene = Scene::new();
        scene.write("project/below/Cargo.toml", "");
        scene.write("operator/.cargo/registry/cache/a.crate", "operator's");
        scene.write("operator/.cargo/registry/index/a", "operator's");
        scene.write("operator/.cargo/credentials.toml", "a secret");
        let (cache, index) = ("cargo/registry/cache/a.crate", "cargo/registry/index/a");
        scene.fill("first");
        for path in [cache, index] {
            assert_eq!(scene.read("first", path).as_deref(), Some("operator's"));
        }
        assert_eq!(scene.read("first", "cargo/credentials.toml"), None);
        scene.write("loop/downloads/cargo/registry/cache/a.crate", "loop's");
        scene.fill("second");
        assert_eq!(scene.read("second", cache).as_deref(), Some("loop's"));
        assert_eq!(scene.read("second", index), None);
        scene.write("root/cargo/registry/cache/a.crate", "root's");
        let (home, root) = (scene.at("third"), scene.at("root"));
        scene.downloads.fill(&home, Some(&root), &[]);
        assert_eq!(scene.read("third", cache).as_deref(), Some("root's"));
        // A session that goes on has its home already, with whatever its agent made of it.
        scene.write("third/.downloads/own", "its own");
        scene.downloads.fill(&home, None, &[]);
        assert_eq!(scene.read("third", cache).as_deref(), Some("root's"));
        assert_eq!(scene.read("third", "own").as_deref(), Some("its own"));
    }

    #[test]
    fn a_project_that_uses_no_cargo_gets_nothing_of_it() {
        let scene = Scene::new();
        let cache = "cargo/registry/cache/a.crate";
        scene.write("operator/.cargo/registry/cache/a.crate", "operator's");
        scene.write("project/src/Cargo.lock.md", "");
        scene.write("project/.git/Cargo.toml", "");
        std::os::unix::fs::symlink("..", scene.at("project/src/up")).expect("linked");
        scene.fill("first");
        assert_eq!(scene.read("first", cache), None);
        scene.write("project/native/core/Cargo.toml", "");
        scene.fill("second");
        assert_eq!(scene.read("second", cache).as_deref(), Some("operator's"));
    }

    #[test]
    fn a_project_with_too_many_names_is_taken_for_one_of_cargo() {
        let scene = Scene::new();
        let is_of_cargo = || uses_cargo(&[scene.at("project")], 3);
        for path in ["project/a", "project/below/b"] {
            scene.write(path, "");
        }
        assert!(!is_of_cargo());
        scene.write("project/one-more", "");
        assert!(is_of_cargo());
    }

    #[test]
    fn a_copy_follows_no_link_keeps_times_and_is_whole_or_empty() {
        let scene = Scene::new();
        scene.write("outside", "another's");
        scene.write("loop/downloads/pip/a", "1");
        let file = fs::File::options()
            .write(true)
            .open(scene.at("loop/downloads/pip/a"));
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        file.expect("open").set_modified(time).expect("set");
        let link = scene.at("loop/downloads/pip/link");
        std::os::unix::fs::symlink(scene.at("outside"), link).expect("linked");
        scene.fill("first");
        let copy = fs::metadata(scene.at("first/.downloads/pip/a")).expect("copied");
        assert_eq!(copy.modified().expect("a time"), time);
        assert_eq!(scene.read("first", "pip/link"), None);
        // It has no bytes of its own on the disk.
        let large = fs::File::create(scene.at("loop/downloads/pip/large")).expect("made");
        large.set_len(COPIED_BYTES_MAX + 1).expect("set");
        scene.fill("second");
        assert!(!scene.at("second/.downloads/pip").exists());
        assert!(scene.at("second/.downloads").is_dir());
        // Nor is half of it kept for others.
        fs::create_dir(scene.at("third")).expect("made");
        fs::rename(scene.at("loop/downloads"), scene.at("third/.downloads")).expect("moved");
        scene.downloads.keep(&scene.at("third"));
        assert!(!scene.at("loop/downloads").exists());
    }

    #[test]
    fn files_count_together() {
        let scene = Scene::new();
        scene.write("from/a", "12");
        scene.write("from/below/b", "34");
        for (left, is_copied) in [(4, true), (3, false)] {
            let (from, to) = (scene.at("from"), scene.at(&format!("to{left}")));
            assert_eq!(copy_tree(&from, &to, &mut { left }).is_ok(), is_copied);
        }
    }

    #[test]
    fn package_managers_are_led_to_the_runs_own_home() {
        let mut env = BTreeMap::new();
        environment(&mut env);
        for (name, place) in [
            ("CARGO_HOME", ".downloads/cargo"),
            ("npm_config_cache", ".downloads/npm"),
            ("npm_config_store_dir", ".downloads/pnpm"),
            ("YARN_CACHE_FOLDER", ".downloads/yarn"),
            ("PIP_CACHE_DIR", ".downloads/pip"),
            ("UV_CACHE_DIR", ".downloads/uv"),
            ("GOPATH", ".downloads/go"),
            ("GRADLE_USER_HOME", ".downloads/gradle"),
            ("npm_config_userconfig", ".npmrc"),
            ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
        ] {
            assert_eq!(env[name], format!("{}/{place}", sandbox::HOME));
        }
    }

    #[test]
    fn package_managers_are_configured_as_the_operators() {
        let scene = Scene::new();
        for (from, to) in [
            (".npmrc", ".npmrc"),
            (".config/pip/pip.conf", ".config/pip/pip.conf"),
            (".pip/pip.conf", ".config/pip/pip.conf"),
            (".cargo/config.toml", ".downloads/cargo/config.toml"),
            (".cargo/config", ".downloads/cargo/config.toml"),
        ] {
            let text = "mirror = https://me:word@mirror.example/\ntoken = abc\n";
            let (scene, path) = (Scene::new(), format!("operator/{from}"));
            scene.write(&path, text);
            scene.fill("first");
            let given = fs::read_to_string(scene.at("first").join(to)).unwrap_or_default();
            assert_eq!(given, "mirror = https://mirror.example/\n", "{from}");
        }
        scene.fill("first");
        assert!(!scene.at("first/.npmrc").exists());
    }
}
