//! A tree of the loop's repository as the checks see a project: names and texts below the project's folder.

use std::path::Path;

use checks::Tree;
use workspace::{Listed, LoopRepo, TreeLike, TreeReader};

/// Bytes of a file that are read as text; larger ones configure nothing.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// One tree.
pub(crate) struct GitTree {
    reader: TreeReader,
    subdir: String,
}

impl GitTree {
    /// The files of a tree below the project's folder.
    pub(crate) fn of(repository: &LoopRepo, tree: &dyn TreeLike, subdir: &str) -> Result<Self, String> {
        let reader = repository.reader(tree).map_err(|error| error.to_string())?;
        Ok(Self { reader, subdir: subdir.trim_matches('/').to_owned() })
    }

    fn place(&self, path: &str) -> String {
        let path = path.trim_matches('/');
        match (self.subdir.as_str(), path) {
            ("", path) => path.to_owned(),
            (subdir, "") => subdir.to_owned(),
            (subdir, path) => format!("{subdir}/{path}"),
        }
    }
}

impl Tree for GitTree {
    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.reader.read(Path::new(&self.place(path)), FILE_BYTES_MAX).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let names = self.reader.list(Path::new(&self.place(folder))).unwrap_or_default();
        let name = |(name, listed): (std::ffi::OsString, Listed)| {
            let name = name.into_string().ok()?;
            Some(if listed == Listed::Folder { format!("{name}/") } else { name })
        };
        names.into_iter().filter_map(name).collect()
    }
}
