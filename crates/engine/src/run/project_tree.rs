//! A tree of the loop's repository as the checks see a project: names and texts below the project's
//! folder.

use std::path::Path;

use checks::Tree;
use workspace::{Listed, TreeId};

use crate::fault::Fault;
use crate::ports::{Repository, TreeFiles};

/// Bytes of a file that are read as text; larger ones configure nothing.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// One tree.
pub(crate) struct ProjectTree {
    files: Box<dyn TreeFiles>,
    subdir: String,
}

impl ProjectTree {
    /// The files of a tree below the project's folder.
    pub(crate) fn of(
        repository: &dyn Repository,
        tree: &TreeId,
        subdir: &str,
    ) -> Result<Self, Fault> {
        Ok(Self {
            files: repository.reader(tree)?,
            subdir: subdir.trim_matches('/').to_owned(),
        })
    }

    fn place(&self, path: &str) -> String {
        placed(&self.subdir, path)
    }
}

/// The path from the repository's top of what the project's folder calls so; `..` leads out of it.
pub(crate) fn placed(subdir: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in subdir.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// A path as the rules see it: below the project's folder, or as it is.
pub(crate) fn local<'a>(subdir: &str, path: &'a str) -> &'a str {
    let subdir = subdir.trim_matches('/');
    if subdir.is_empty() {
        return path;
    }
    let below = path
        .strip_prefix(subdir)
        .and_then(|rest| rest.strip_prefix('/'));
    below.unwrap_or(path)
}

/// What the project's folder calls a path of the repository.
pub(crate) fn seen_from(subdir: &str, path: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (
        subdir.split('/').filter(|part| !part.is_empty()).collect(),
        path.split('/').collect(),
    );
    let shared = from
        .iter()
        .zip(&to)
        .take_while(|(from, to)| from == to)
        .count();
    let out = std::iter::repeat_n("..", from.len() - shared);
    out.chain(to[shared..].iter().copied())
        .collect::<Vec<_>>()
        .join("/")
}

impl Tree for ProjectTree {
    fn read(&self, path: &str) -> Option<String> {
        let bytes = self
            .files
            .read(Path::new(&self.place(path)), FILE_BYTES_MAX)?;
        String::from_utf8(bytes).ok()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut names = Vec::new();
        for (name, listed) in self.files.list(Path::new(&self.place(folder))) {
            if let Ok(name) = name.into_string() {
                let is_folder = listed == Listed::Folder;
                names.push(if is_folder { format!("{name}/") } else { name });
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_in_and_out_of_the_projects_folder() {
        for (subdir, local, path) in [
            ("", "a/b", "a/b"),
            ("pkg", "a", "pkg/a"),
            ("pkg", "../tools/run.sh", "tools/run.sh"),
            ("apps/web", "../shared/x", "apps/shared/x"),
            ("apps/web", "../../x", "x"),
        ] {
            assert_eq!(placed(subdir, local), path, "{subdir} {local}");
            assert_eq!(seen_from(subdir, path), local, "{subdir} {path}");
        }
        assert_eq!(placed("pkg", "sub/../a"), "pkg/a");
        assert_eq!(placed("", "../../a"), "a");
    }
}
