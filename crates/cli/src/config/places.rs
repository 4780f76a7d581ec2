//! Which files and variables the configuration comes from. They come in as values, so that reading
//! them is not decided here, and tests need no environment.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The file in the project's folder.
pub(crate) const PROJECT_FILE: &str = "loopwright.toml";

/// Where to look.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) user: Option<PathBuf>,
    pub(crate) project: Option<PathBuf>,
    /// Whether the project's file is the repository's, so that its authors wrote it and not this
    /// person.
    pub(crate) project_is_committed: bool,
    pub(crate) variables: Vec<(String, String)>,
}

impl Places {
    /// Those of this person and this project.
    pub(crate) fn of_project(project: &Path) -> Self {
        let file = project.join(PROJECT_FILE);
        Self {
            project_is_committed: file.exists() && workspace::is_tracked(&file),
            project: Some(file),
            ..Self::of_person()
        }
    }

    /// Those of this person alone, as the worker needs them, which serves all projects.
    pub(crate) fn of_person() -> Self {
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|folder| folder.is_absolute())
        };
        let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        let user = folder.map(|folder| folder.join("loopwright/config.toml"));
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            user,
            project: None,
            project_is_committed: false,
            variables: std::env::vars_os().filter_map(text).collect(),
        }
    }
}

/// A mark of what the configuration files say, to see later whether one was edited.
pub(crate) fn mark(project: &Path) -> Result<String, Failure> {
    let places = Places::of_project(project);
    let mut hasher = DefaultHasher::new();
    for path in [places.user, places.project].into_iter().flatten() {
        text_of(&path)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// A file's text; one that is not there says nothing.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::environment(
            &format!("cannot read `{}`", path.display()),
            &error,
        )),
    }
}
