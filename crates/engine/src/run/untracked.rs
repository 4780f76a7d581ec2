//! Files that the project needs and does not track, put into a checkout without following links.

use std::fs;
use std::path::Path;

/// Puts files that the project needs and does not track into a checkout; one that is missing is the
/// checks' to complain about.
pub(crate) fn copy_untracked(names: &[String], project: &Path, checkout: &Path, subdir: &str) {
    for name in names {
        let relative = Path::new(name);
        let inside = relative
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let (from, to) = (project.join(relative), checkout.join(subdir).join(relative));
        // A candidate may hold links that lead out of the checkout: nothing is written through one.
        let taken = fs::symlink_metadata(&to).is_ok();
        if inside
            && !taken
            && let Some(folder) = to.parent()
        {
            let made = fs::create_dir_all(folder);
            if made.is_ok() && is_plain(checkout, folder) {
                let _ = fs::copy(&from, &to);
            }
        }
    }
}

/// Whether every part of `path` below `root` is a real folder or file, and no link that leads
/// elsewhere.
pub(crate) fn is_plain(root: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(root) else {
        return false;
    };
    let mut here = root.to_owned();
    relative.components().all(|part| {
        here.push(part);
        fs::symlink_metadata(&here).is_ok_and(|metadata| !metadata.is_symlink())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_through_a_link_is_not_plain() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().join("checkout");
        fs::create_dir_all(root.join("sub")).expect("made");
        std::os::unix::fs::symlink("/tmp", root.join("link")).expect("linked");
        for (path, plain) in [
            ("sub", true),
            ("", true),
            ("link", false),
            ("link/x", false),
            ("gone", false),
        ] {
            assert_eq!(is_plain(&root, &root.join(path)), plain, "{path}");
        }
    }
}
