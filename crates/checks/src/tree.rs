//! How a project is seen: names and texts, wherever they come from (a checkout, a git tree, a map
//! in a test).

use std::collections::BTreeMap;

/// The files of one sub-project. Paths are relative to it and use `/`.
pub trait Tree {
    /// The text of a file; `None` where there is none, or it is no text.
    fn read(&self, path: &str) -> Option<String>;
    /// The names in a folder (`""` is the top); folders end with `/`. An unknown folder is empty.
    fn list(&self, folder: &str) -> Vec<String>;

    /// Says whether there is a file or folder of this name.
    fn has(&self, path: &str) -> bool {
        let (folder, name) = path
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or(("", path));
        let name = name.trim_end_matches('/');
        self.list(folder)
            .iter()
            .any(|found| found.trim_end_matches('/') == name)
    }
}

/// A project in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapTree {
    files: BTreeMap<String, String>,
}

impl MapTree {
    /// An empty project.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same project with one more file.
    #[must_use]
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for MapTree {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        Self {
            files: files
                .into_iter()
                .map(|(path, text)| (path.into(), text.into()))
                .collect(),
        }
    }
}

impl Tree for MapTree {
    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let folder = folder.trim_end_matches('/');
        let mut names: Vec<String> = self
            .files
            .keys()
            .filter_map(|path| name_in(folder, path))
            .collect();
        names.dedup();
        names
    }
}

/// The name under which a path shows in a folder's list.
fn name_in(folder: &str, path: &str) -> Option<String> {
    let rest = if folder.is_empty() {
        path
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')?
    };
    match rest.split_once('/') {
        Some((name, _)) => Some(format!("{name}/")),
        None => Some(rest.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lists_what_is_directly_in_it() {
        let tree: MapTree = [
            ("a.txt", ""),
            ("src/b.rs", ""),
            ("src/c/d.rs", ""),
            ("src2/e", ""),
        ]
        .into_iter()
        .collect();
        assert_eq!(tree.list(""), ["a.txt", "src/", "src2/"]);
        assert_eq!(tree.list("src"), ["b.rs", "c/"]);
        assert_eq!(tree.list("nowhere"), Vec::<String>::new());
        for (path, expected) in [
            ("src", true),
            ("src/", true),
            ("src/b.rs", true),
            ("src/x", false),
            ("a", false),
        ] {
            assert_eq!(tree.has(path), expected, "{path}");
        }
    }
}
