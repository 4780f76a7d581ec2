//! The folder that a bwrap jail has as `/etc`: one mount in place of thirty.
//!
//! It has what programs need of the system (certificates, the linker's cache, the time zone) and
//! users, hosts and name service of its own. It never has `/etc/ssl/private`, passwords or anything
//! else about the operator. It is made once, and again when its sources have changed.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is copied of the machine's `/etc`. A star at the end stands for any rest of a name.
const COPIED: [&str; 29] = [
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ca-certificates",
    "pki/tls/certs",
    "pki/ca-trust",
    "localtime",
    "timezone",
    "os-release",
    "mime.types",
    "protocols",
    "services",
    "fonts",
    "python3",
    "java-*",
    "bash.bashrc",
    "profile",
    "profile.d",
    "inputrc",
    "terminfo",
    "login.defs",
    "gai.conf",
    "locale.alias",
    "crypto-policies",
    "perl",
    "debian_version",
];

/// What is made anew.
const MADE: [(&str, &str); 7] = [
    (
        "passwd",
        "root:x:0:0:root:/root:/bin/sh\n\
         agent:x:1000:1000:agent:/home/agent:/bin/bash\n\
         nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    ),
    ("group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"),
    ("hosts", "127.0.0.1 localhost jail\n::1 localhost\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\n",
    ),
    ("resolv.conf", ""),
    ("machine-id", ""),
    ("hostname", "jail\n"),
];

/// Changes whenever the content that we make does, so that an older folder is not used.
const FORM: u32 = 2;

/// Files beyond this size are not copied; nothing that is listed comes near it.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// How deep folders are copied.
const DEPTH_MAX: usize = 8;

static TURNS: AtomicU64 = AtomicU64::new(0);

/// Returns the prepared folder below `state_folder`, and makes it first if it is not there.
///
/// Two processes may make it at the same time; the first one that is done wins.
pub(super) fn prepared(etc: &Path, state_folder: &Path) -> io::Result<PathBuf> {
    let all = state_folder.join("jail");
    let sources = sources(etc);
    let ready = all.join(format!("etc-{:016x}", fingerprint(&sources)));
    if ready.is_dir() {
        return Ok(ready);
    }
    fs::create_dir_all(&all)?;
    // A name that no other process and no other thread uses at the same time.
    let turn = TURNS.fetch_add(1, Ordering::Relaxed);
    let making = all.join(format!(".etc-{}-{turn}", process::id()));
    remove(&making)?;
    let made = make(&making, &sources).and_then(|()| match fs::rename(&making, &ready) {
        Err(_) if ready.is_dir() => Ok(()),
        result => result,
    });
    remove(&making)?;
    made.map(|()| ready)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What is there of the list: the path on the machine, and its name inside.
fn sources(etc: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for name in COPIED {
        match name.strip_suffix('*') {
            Some(start) => found.extend(names_with(etc, start)),
            None if etc.join(name).exists() => found.push(name.into()),
            None => {}
        }
    }
    let both = |name: PathBuf| (etc.join(&name), name);
    found.into_iter().map(both).collect()
}

fn names_with(etc: &Path, start: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(etc).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(start))
        .map(PathBuf::from)
        .collect();
    names.sort();
    names
}

/// A folder's time changes when a name in it comes or goes, which is how packages change things.
fn fingerprint(sources: &[(PathBuf, PathBuf)]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (FORM, COPIED, MADE).hash(&mut hasher);
    for (from, _) in sources {
        let when = fs::metadata(from).map(|data| (data.mtime(), data.mtime_nsec(), data.size()));
        (from, when.ok()).hash(&mut hasher);
    }
    hasher.finish()
}

fn make(folder: &Path, sources: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (from, name) in sources {
        let to = folder.join(name);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        // A link at the top, such as `localtime`, is resolved here: inside it may lead nowhere.
        let kind = fs::metadata(from)?;
        if kind.is_dir() {
            copy_folder(from, &to, DEPTH_MAX)?;
        } else {
            copy_file(from, &to, &kind)?;
        }
    }
    for (name, content) in MADE {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, depth_left: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = fs::symlink_metadata(&source)?;
        if kind.is_symlink() {
            let leads_to = fs::read_link(&source)?;
            if !is_manual_page(&leads_to) {
                symlink(leads_to, &target)?;
            }
        } else if kind.is_dir() && depth_left > 0 {
            copy_folder(&source, &target, depth_left - 1)?;
        } else if kind.is_file() {
            copy_file(&source, &target, &kind)?;
        }
    }
    Ok(())
}

/// Most of Debian's alternatives are pages of the manual in all languages, which no program needs.
fn is_manual_page(leads_to: &Path) -> bool {
    leads_to.extension().is_some_and(|ending| ending == "gz")
}

/// Copies a file that everybody may read. Others, such as keys of a service, stay out.
fn copy_file(from: &Path, to: &Path, kind: &fs::Metadata) -> io::Result<()> {
    let is_public = kind.mode() & 0o004 != 0;
    if !kind.is_file() || !is_public || kind.size() > FILE_BYTES_MAX {
        return Ok(());
    }
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn many_may_prepare_it_at_the_same_time() {
        let scratch = tempfile::tempdir().unwrap();
        let etc = scratch.path().join("etc");
        for n in 0..200 {
            fs::create_dir_all(etc.join(format!("alternatives/{n}"))).unwrap();
        }
        let state = scratch.path().join("state");
        let prepare = || prepared(&etc, &state).unwrap();
        let made: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(prepare));
            threads.map(|thread| thread.join().unwrap()).to_vec()
        });
        assert!(made.iter().all(|folder| *folder == made[0]));
        assert_eq!(names(&made[0].join("alternatives")).len(), 200);
        assert_eq!(names(&state.join("jail")).len(), 1);
    }

    #[test]
    fn only_what_is_listed_and_public_is_copied() {
        let scratch = tempfile::tempdir().unwrap();
        let (etc, state) = (scratch.path().join("etc"), scratch.path().join("state"));
        for folder in ["ssl/certs", "ssl/private", "java-21", "ssh"] {
            fs::create_dir_all(etc.join(folder)).unwrap();
        }
        for file in [
            "shadow",
            "passwd",
            "services",
            "timezone",
            "ssl/certs/ca.pem",
            "ssl/certs/secret.pem",
            "ssl/private/key.pem",
            "java-21/policy",
            "ssh/key",
        ] {
            fs::write(etc.join(file), "the machine's").unwrap();
        }
        let private = fs::Permissions::from_mode(0o640);
        fs::set_permissions(etc.join("ssl/certs/secret.pem"), private).unwrap();
        symlink("/no/such/zone", etc.join("localtime")).unwrap();
        fs::create_dir(etc.join("alternatives")).unwrap();
        for (name, leads_to) in [
            ("cc", "/usr/bin/gcc"),
            ("cc.1.gz", "/usr/share/man/man1/gcc.1.gz"),
        ] {
            symlink(leads_to, etc.join("alternatives").join(name)).unwrap();
        }
        let first = prepared(&etc, &state).unwrap();
        assert_eq!(
            names(&first),
            [
                "alternatives",
                "group",
                "hostname",
                "hosts",
                "java-21",
                "machine-id",
                "nsswitch.conf",
                "passwd",
                "resolv.conf",
                "services",
                "ssl",
                "timezone"
            ]
        );
        assert_eq!(names(&first.join("alternatives")), ["cc"]);
        assert_eq!(names(&first.join("ssl")), ["certs"]);
        assert_eq!(names(&first.join("ssl/certs")), ["ca.pem"]);
        let users = fs::read_to_string(first.join("passwd")).unwrap();
        assert!(users.contains("agent:x:1000"), "{users}");
        assert_eq!(prepared(&etc, &state).unwrap(), first);
        fs::write(etc.join("ssl/certs/new.pem"), "new").unwrap();
        let second = prepared(&etc, &state).unwrap();
        assert_ne!(first, second);
        assert_eq!(names(&second.join("ssl/certs")), ["ca.pem", "new.pem"]);
        assert_eq!(names(&state.join("jail")).len(), 2);
    }
}
