//! Looks at the operator's repository, as far as `start` must know it.
//!
//! It only asks: no index is refreshed, no lock taken, nothing fetched. Files that the operator
//! never added do not make the work tree dirty, for a PRD is often one of them, and ignore rules of
//! the operator's own are not known here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::{Git, Output};
use crate::id::CommitId;
use crate::scratch::absolute;

/// What is known about the operator's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectView {
    /// The top of the work tree.
    pub root: PathBuf,
    /// The project's folder, relative to `root`; empty when it is the same.
    pub subdir: PathBuf,
    /// The commit of HEAD, or of the revision that was asked for.
    pub head: CommitId,
    /// Tracked files differ from HEAD, in the work tree or in the index.
    pub dirty: bool,
    /// The history is cut off somewhere.
    pub shallow: bool,
    /// HEAD is not on a branch.
    pub detached: bool,
}

/// Looks at the repository around a folder; `rev` is anything that git takes for a commit, HEAD
/// when there is none.
pub fn look_at_project(project: &Path, rev: Option<&str>) -> Result<ProjectView, GitError> {
    let project = absolute(project)?;
    let root = top_of(&project)?;
    Ok(ProjectView {
        subdir: one_path(&project, &["rev-parse", "--show-prefix"])?,
        head: commit_of(&project, rev)?,
        dirty: is_dirty(&root)?,
        shallow: asked(&project, "--is-shallow-repository")?,
        detached: is_detached(&project)?,
        root,
    })
}

/// The git folder that all work trees of a repository share.
pub(crate) fn common_git_dir(project: &Path) -> Result<PathBuf, GitError> {
    one_path(
        project,
        &["rev-parse", "--path-format=absolute", "--git-common-dir"],
    )
    .map_err(|error| not_a_repository(project, error))
}

fn top_of(project: &Path) -> Result<PathBuf, GitError> {
    let inside = asked(project, "--is-inside-work-tree")
        .map_err(|error| not_a_repository(project, error))?;
    if !inside {
        return Err(GitError::NoWorkTree {
            path: project.to_owned(),
        });
    }
    one_path(project, &["rev-parse", "--show-toplevel"])
}

/// A refusal with a `.git` in sight has another reason (owner, damage), which only git's own words
/// tell.
fn not_a_repository(project: &Path, error: GitError) -> GitError {
    let in_sight = project
        .ancestors()
        .any(|folder| folder.join(".git").exists());
    match error {
        GitError::Failed { .. } if !in_sight => GitError::NotARepository {
            path: project.to_owned(),
        },
        error => error,
    }
}

fn asked(project: &Path, question: &str) -> Result<bool, GitError> {
    let git = Git::found_from(project).args(["rev-parse", question]);
    let command = git.command_line();
    match git.line()?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(GitError::Garbled { command }),
    }
}

/// Takes off the one newline that git adds; the path itself may hold any byte.
fn one_path(project: &Path, question: &[&str]) -> Result<PathBuf, GitError> {
    let mut bytes = Git::found_from(project).args(question).run()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.len() > 1 && bytes.last() == Some(&b'/') {
        bytes.pop();
    }
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

fn commit_of(project: &Path, rev: Option<&str>) -> Result<CommitId, GitError> {
    let wanted = rev.unwrap_or("HEAD");
    if let Some(id) = resolve(project, wanted)? {
        return Ok(id);
    }
    match rev {
        Some(revision) if has_commits(project)? => Err(GitError::UnknownRevision {
            revision: revision.to_owned(),
            path: project.to_owned(),
        }),
        Some(_) | None => Err(GitError::NoCommits {
            path: project.to_owned(),
        }),
    }
}

fn resolve(project: &Path, revision: &str) -> Result<Option<CommitId>, GitError> {
    if revision.contains('\0') {
        return Ok(None);
    }
    let peeled = format!("{revision}^{{commit}}");
    let git = Git::found_from(project).args([
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &peeled,
    ]);
    let command = git.command_line();
    let Output {
        code: Some(0),
        stdout,
        ..
    } = git.outcome()?
    else {
        return Ok(None);
    };
    let text = String::from_utf8(stdout).map_err(|_| GitError::Garbled { command })?;
    CommitId::parse(text.trim_end()).map(Some)
}

fn has_commits(project: &Path) -> Result<bool, GitError> {
    let any_ref = Git::found_from(project)
        .args(["for-each-ref", "--count=1"])
        .run()?;
    Ok(!any_ref.is_empty() || resolve(project, "HEAD")?.is_some())
}

fn is_dirty(root: &Path) -> Result<bool, GitError> {
    let words = [
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
    ];
    Ok(!Git::found_from(root).args(words).run()?.is_empty())
}

fn is_detached(project: &Path) -> Result<bool, GitError> {
    let git = Git::found_from(project).args(["symbolic-ref", "--quiet", "HEAD"]);
    let command = git.command_line();
    match git.outcome()? {
        Output { code: Some(0), .. } => Ok(false),
        Output { code: Some(1), .. } => Ok(true),
        Output { code, stderr, .. } => Err(GitError::Failed {
            command,
            code,
            stderr,
        }),
    }
}

/// Which git there is, in its own words.
pub fn git_version() -> Result<String, GitError> {
    let line = Git::alone().args(["--version"]).line()?;
    Ok(line.trim_start_matches("git version ").to_owned())
}
