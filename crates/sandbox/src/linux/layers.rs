//! Shows several folders as one, by an overlay in a user and mount namespace of our own.
//!
//! No privilege is needed for that since Linux 5.11. The namespace is made before bwrap starts,
//! because bwrap can mount layers only since 0.11. Nobody outside of the namespace sees them, and the
//! last process in it takes them with it.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{getgid, getuid};

use super::raw;
use crate::jail::{Changes, LAYERS_COMMAND, Layers};

/// The kernel takes one page of options.
const OPTIONS_BYTES_MAX: usize = 4000;

/// Characters that stand for something else in the options of a mount.
const RESERVED: &[u8] = b",:\\\"";

/// Enters a user and mount namespace in which layers can be mounted. It fails in a process that has
/// threads, and where the system lets nobody make such a namespace.
///
/// We are the same user in it, so that files keep their owner and a program that must not read a file
/// cannot.
pub fn enter_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    raw::unshare()?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Mounts layers, in a namespace that we have entered.
pub fn mount_layers(layers: &Layers) -> io::Result<()> {
    if let Some(changes) = &layers.changes {
        // Left by a mount before this one, with a file in it. The kernel takes it for a sign that
        // changes were lost, since they are not flushed, and refuses the folder.
        match fs::remove_dir_all(changes.work.join("work/incompat/volatile")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    let options = options(layers)?;
    let flags = match layers.changes {
        Some(_) => MountFlags::NODEV | MountFlags::NOSUID,
        None => MountFlags::NODEV | MountFlags::NOSUID | MountFlags::RDONLY,
    };
    mount(c"overlay", &layers.at, c"overlay", flags, &*options).map_err(io::Error::from)
}

/// Takes layers away again; what is still open in them goes when it is closed.
pub fn unmount_layers(at: &Path) -> io::Result<()> {
    unmount(at, UnmountFlags::DETACH).map_err(io::Error::from)
}

/// `volatile`: without it the kernel flushes the whole file system when the layers are taken away.
/// A run's files need not survive a power cut.
fn options(layers: &Layers) -> io::Result<CString> {
    let mut options = b"userxattr,lowerdir=".to_vec();
    for (index, lower) in layers.lower.iter().enumerate() {
        if index > 0 {
            options.push(b':');
        }
        options.extend(plain(lower)?);
    }
    if let Some(Changes { upper, work }) = &layers.changes {
        options.extend([b",volatile,upperdir=", plain(upper)?].concat());
        options.extend([b",workdir=", plain(work)?].concat());
    }
    if options.len() > OPTIONS_BYTES_MAX {
        return Err(io::ErrorKind::ArgumentListTooLong.into());
    }
    Ok(CString::new(options)?)
}

fn plain(path: &Path) -> io::Result<&[u8]> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.iter().any(|byte| RESERVED.contains(byte)) {
        let why = format!(
            "`{}` has a character that layers cannot have",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(bytes)
}

/// Mounts layers and becomes another program: `jail-layers LAYERS PROGRAM ARGS…`. `name` is our own
/// first word, which the program gets too: a sweep finds it by that.
pub fn layers_command(name: &OsStr, mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(layers), Some(program)) = (args.next(), args.next()) else {
        return failed("its command line is wrong");
    };
    let Ok(layers) = serde_json::from_slice::<Layers>(layers.as_bytes()) else {
        return failed("its layers cannot be read");
    };
    if let Err(error) = enter_namespace().and_then(|()| mount_layers(&layers)) {
        return failed(&format!("cannot mount the layers of its files: {error}"));
    }
    let error = Command::new(&program).arg0(name).args(args).exec();
    failed(&format!("cannot start `{}`: {error}", program.display()))
}

fn failed(why: &str) -> ExitCode {
    use std::io::Write as _;
    let _ = writeln!(io::stderr(), "{why}");
    ExitCode::FAILURE
}

/// Tries whether files in this folder can be seen in layers, with a change and a removal; says why
/// not. `loopwright` is our own program.
pub fn try_layers(loopwright: &Path, folder: &Path) -> Result<(), String> {
    let place = folder.join(format!(".layers-{}", std::process::id()));
    let _ = fs::remove_dir_all(&place);
    let tried = try_in(loopwright, &place);
    // The kernel's own folder lets nobody in.
    let inner = place.join("work/work");
    let _ = fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let _ = fs::remove_dir_all(&place);
    tried
}

fn try_in(loopwright: &Path, place: &Path) -> Result<(), String> {
    let layers = Layers {
        at: place.join("at"),
        lower: vec![place.join("above"), place.join("below")],
        changes: Some(Changes {
            upper: place.join("upper"),
            work: place.join("work"),
        }),
    };
    let prepared = || -> io::Result<()> {
        for name in ["at", "above", "below", "upper", "work"] {
            fs::create_dir_all(place.join(name))?;
        }
        fs::write(place.join("below/removed"), "")?;
        fs::write(place.join("above/read"), "read")
    };
    prepared().map_err(|error| error.to_string())?;
    let json = serde_json::to_string(&layers).map_err(|error| error.to_string())?;
    // Twice: a session that goes on finds the changes of the run before it.
    let deeds = [
        r#"cd "$0" && rm removed && cat read > written"#,
        r#"cd "$0" && test -e written && test ! -e removed"#,
    ];
    for deed in deeds {
        let mut command = Command::new(loopwright);
        command.args([LAYERS_COMMAND, &json, "/bin/sh", "-c", deed]);
        let output = command.arg(&layers.at).stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    let removed = fs::symlink_metadata(place.join("upper/removed"));
    let is_mark = removed.is_ok_and(|data| data.file_type().is_char_device() && data.rdev() == 0);
    let written = fs::read(place.join("upper/written")).unwrap_or_default();
    if is_mark && written == b"read" {
        Ok(())
    } else {
        Err("changes are not seen in their own layer".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn layers(lower: &str, changes: Option<&str>) -> Layers {
        Layers {
            at: PathBuf::from("/at"),
            lower: lower.split(' ').map(PathBuf::from).collect(),
            changes: changes.map(|upper| Changes {
                upper: PathBuf::from(upper),
                work: PathBuf::from("/w"),
            }),
        }
    }

    #[test]
    fn the_options_of_a_mount_name_each_layer() {
        for (lower, upper, expected) in [
            ("/a /b", None, Some("userxattr,lowerdir=/a:/b")),
            (
                "/a",
                Some("/u"),
                Some("userxattr,lowerdir=/a,volatile,upperdir=/u,workdir=/w"),
            ),
            ("/a:b", None, None),
            ("/a", Some("/u,workdir=/x"), None),
            ("/a\\", None, None),
        ] {
            let options = options(&layers(lower, upper)).ok();
            let options = options.map(|options| options.to_string_lossy().into_owned());
            assert_eq!(options.as_deref(), expected, "{lower} {upper:?}");
        }
        let long = "/x".repeat(OPTIONS_BYTES_MAX);
        assert!(options(&layers(&long, None)).is_err());
    }
}
