//! The project that a command is about where nobody names it: people also work in a folder below it.

use std::path::{Path, PathBuf};

use crate::config::PROJECT_FILE;

/// The folder that was named; else the nearest one upwards that has a configuration, up to the top of the
/// repository; else the current one.
pub(crate) fn project_folder(named: Option<&Path>) -> PathBuf {
    match named {
        Some(named) => named.to_owned(),
        None => nearest(Path::new(".")).unwrap_or_else(|| PathBuf::from(".")),
    }
}

fn nearest(from: &Path) -> Option<PathBuf> {
    let mut folder = from.to_owned();
    loop {
        if folder.join(PROJECT_FILE).is_file() {
            return Some(folder);
        }
        // What is above the repository belongs to something else. A worktree has a file there.
        let is_top = folder.join(".git").symlink_metadata().is_ok();
        if is_top || is_root(&folder) {
            return None;
        }
        folder = if folder == Path::new(".") {
            PathBuf::from("..")
        } else {
            folder.join("..")
        };
    }
}

fn is_root(folder: &Path) -> bool {
    std::fs::canonicalize(folder).map_or(true, |whole| whole.parent().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_looked_for_upwards_to_the_top_of_the_repository() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().join("top");
        std::fs::create_dir_all(top.join("repository/.git")).unwrap();
        std::fs::create_dir_all(top.join("repository/a/b")).unwrap();
        let put = |folder: &str| std::fs::write(top.join(folder).join(PROJECT_FILE), "").unwrap();
        let found = || nearest(&top.join("repository/a/b"));
        let is = |folder: &str| {
            let whole = |path: PathBuf| std::fs::canonicalize(path).unwrap();
            found().map(whole) == Some(whole(top.join(folder)))
        };
        put("");
        assert_eq!(found(), None, "it is not the repository's");
        put("repository");
        assert!(is("repository"), "{:?}", found());
        put("repository/a");
        assert!(is("repository/a"), "{:?}", found());
    }
}
