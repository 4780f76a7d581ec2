//! The operator's git filters, such as LFS: what git records of a file, and what a person sees.
//!
//! Which files go through a filter is said by the `.gitattributes` of a tree, which an agent may
//! write. What a filter runs is said by the operator's configuration alone, as it was when the loop
//! began. So an agent can choose among programs that the operator's git would run on any tree that
//! it checks out, and add none. A filter runs in the operator's folder, never in a checkout: a
//! program that is named relative to the project is the operator's, and LFS finds its store.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::blobs::{Blob, Blobs};
use crate::entry::Entries;
use crate::error::{GitError, failed};
use crate::git::{Git, Output, pipe_broke};
use crate::id::TreeId;
use crate::loop_repo::{LoopRepo, init_bare};
use crate::scratch::Scratch;
use crate::walk::as_path;

/// A `.gitattributes` file that is longer configures nothing.
const ATTRIBUTES_BYTES_MAX: usize = 1024 * 1024;
/// How every pointer of LFS begins, and more than one is long.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
const POINTER_BYTES_MAX: usize = 1024;

/// The programs of one filter. A `process`, which handles many files, is one more way to the same
/// result, and is not used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    clean: Option<String>,
    smudge: Option<String>,
}

/// All filters that the operator's git knows, by name, and where they run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filters {
    root: PathBuf,
    known: BTreeMap<String, Filter>,
}

/// Which way a file goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From what people see to what git records.
    In,
    /// From what git records to what people see.
    Out,
}

impl Filters {
    /// The filters that git knows in the operator's folder, from all of its configuration.
    pub(crate) fn of_operator(root: &Path) -> Result<Self, GitError> {
        let git = Git::found_from(root).of_its_user().args([
            "config",
            "-z",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge)$",
        ]);
        let command = git.command_line();
        match git.outcome()? {
            Output {
                code: Some(0),
                stdout,
                ..
            } => Ok(Self::parse(root, &stdout)),
            // Nothing is configured.
            Output { code: Some(1), .. } => Ok(Self::parse(root, b"")),
            Output { code, stderr, .. } => Err(GitError::Failed {
                command,
                code,
                stderr,
            }),
        }
    }

    /// Reads git's list: `key<newline>value<zero>`.
    fn parse(root: &Path, listed: &[u8]) -> Self {
        let mut known: BTreeMap<String, Filter> = BTreeMap::new();
        for record in listed.split(|byte| *byte == 0) {
            let text = String::from_utf8_lossy(record);
            let Some((key, value)) = text.split_once('\n') else {
                continue;
            };
            let Some((name, variable)) = key
                .strip_prefix("filter.")
                .and_then(|rest| rest.rsplit_once('.'))
            else {
                continue;
            };
            let filter = known.entry(name.to_owned()).or_default();
            let place = match variable {
                "clean" => &mut filter.clean,
                "smudge" => &mut filter.smudge,
                _ => continue,
            };
            *place = (!value.is_empty()).then(|| value.to_owned());
        }
        Self {
            root: root.to_owned(),
            known,
        }
    }

    /// Writes them in the form of git's list, for [`Filters::load`].
    pub(crate) fn save(&self, path: &Path) -> Result<(), GitError> {
        let mut text = Vec::new();
        text.extend_from_slice(b"root\n");
        text.extend_from_slice(self.root.as_os_str().as_bytes());
        text.push(0);
        for (name, filter) in &self.known {
            for (variable, value) in [("clean", &filter.clean), ("smudge", &filter.smudge)] {
                if let Some(value) = value {
                    text.extend_from_slice(
                        format!("filter.{name}.{variable}\n{value}\0").as_bytes(),
                    );
                }
            }
        }
        fs::write(path, text)
            .and_then(|()| fs::File::open(path)?.sync_all())
            .map_err(failed("write", path))
    }

    /// Reads what [`Filters::save`] wrote; a loop of an older version has none.
    pub(crate) fn load(path: &Path) -> Result<Self, GitError> {
        let listed = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            read => read.map_err(failed("read", path))?,
        };
        let root = listed
            .strip_prefix(b"root\n")
            .and_then(|rest| rest.split(|byte| *byte == 0).next())
            .map_or(PathBuf::new(), |root| as_path(root).to_owned());
        Ok(Self::parse(&root, &listed))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.known
            .get(name)
            .is_some_and(|filter| filter.clean.is_some() || filter.smudge.is_some())
    }

    /// Sends the content of a file through a filter. One that has no program for this way leaves it
    /// as it is, and so does one that nobody configured, as in git.
    pub(crate) fn apply(
        &self,
        name: &str,
        way: Way,
        folder: &Path,
        path: &[u8],
        content: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        let filter = self.known.get(name);
        let command = filter.and_then(|filter| match way {
            Way::In => filter.clean.as_ref(),
            Way::Out => filter.smudge.as_ref(),
        });
        let Some(command) = command else {
            return Ok(content);
        };
        let failed = |why: String| GitError::FilterFailed {
            name: name.to_owned(),
            path: as_path(path).to_owned(),
            why,
        };
        let place = self.root.join(folder);
        let place = if place.is_dir() { &place } else { &self.root };
        let git = Git::filter(&with_path(command, path), place);
        let Output {
            code,
            stdout,
            stderr,
            cut,
        } = git.outcome_fed(|pipe| pipe.write_all(&content).map_err(pipe_broke))?;
        match code {
            Some(0) if cut => Err(failed("it gave more than can be taken".to_owned())),
            Some(0) if way == Way::Out && is_pointer(&content) && stdout == content => Err(failed(
                "it left a pointer where the content should be".to_owned(),
            )),
            Some(0) => Ok(stdout),
            Some(_) | None => Err(failed(format!("`{command}` failed: {stderr}"))),
        }
    }
}

fn is_pointer(content: &[u8]) -> bool {
    content.len() <= POINTER_BYTES_MAX && content.starts_with(POINTER)
}

/// The command with the file's path for `%f`, quoted for the shell.
fn with_path(command: &str, path: &[u8]) -> Vec<u8> {
    let quoted = String::from_utf8_lossy(path).replace('\'', "'\\''");
    command.replace("%f", &format!("'{quoted}'")).into_bytes()
}

impl LoopRepo {
    /// The files of a tree that go through a filter, each with the filter's name.
    pub(crate) fn filtered(
        &self,
        tree: &TreeId,
        entries: &Entries,
        scratch: &Scratch,
    ) -> Result<BTreeMap<Vec<u8>, String>, GitError> {
        if !self.names_a_filter(entries)? {
            return Ok(BTreeMap::new());
        }
        // A repository of its own: in ours, no attribute of any tree counts.
        let own = scratch.path().join("attributes.git");
        let format = if tree.as_str().len() == 64 {
            "sha256"
        } else {
            "sha1"
        };
        fs::create_dir(&own).map_err(failed("make", &own))?;
        init_bare(&own, format)?;
        let ours = own.join("info/attributes");
        fs::remove_file(&ours).map_err(failed("remove", &ours))?;
        let index = scratch.path().join("attributes-index");
        let git = || {
            Git::of_ours(&own)
                .without_fsync()
                .env("GIT_OBJECT_DIRECTORY", self.path().join("objects"))
                .env("GIT_INDEX_FILE", &index)
        };
        git().args(["read-tree", tree.as_str()]).run()?;
        let words = ["check-attr", "--cached", "-z", "--stdin", "filter"];
        let output = git().args(words).run_fed(|pipe| {
            let files = entries.iter().filter(|(_, entry)| entry.mode.is_regular());
            files
                .map(|(path, _)| path)
                .try_for_each(|path| pipe.write_all(path).and_then(|()| pipe.write_all(b"\0")))
                .map_err(pipe_broke)
        })?;
        fs::remove_dir_all(&own).map_err(failed("remove", &own))?;
        Ok(named_filters(&output))
    }

    /// Whether some `.gitattributes` speaks of filters at all. Most trees have none, and are spared
    /// the question.
    fn names_a_filter(&self, entries: &Entries) -> Result<bool, GitError> {
        let blobs = Blobs::of(self);
        let is_attributes =
            |path: &[u8]| path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        for (_, entry) in entries
            .iter()
            .filter(|(path, entry)| is_attributes(path) && entry.mode.is_regular())
        {
            if let Blob::Whole(text) = blobs.read(&entry.id, ATTRIBUTES_BYTES_MAX)?
                && text.windows(6).any(|word| word == b"filter")
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Reads `path<zero>filter<zero>value<zero>`.
fn named_filters(output: &[u8]) -> BTreeMap<Vec<u8>, String> {
    let mut words = output.split(|byte| *byte == 0);
    let mut found = BTreeMap::new();
    while let (Some(path), Some(_), Some(value)) = (words.next(), words.next(), words.next()) {
        let value = String::from_utf8_lossy(value);
        if !["unspecified", "unset", "set"].contains(&&*value) {
            found.insert(path.to_vec(), value.into_owned());
        }
    }
    found
}
