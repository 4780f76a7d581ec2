//! Reads what `start` needs to know about the operator's repository.
//!
//! It changes nothing: no index is refreshed, no lock is taken, nothing is fetched. Untracked files
//! do not make the work tree dirty: the PRD is often one of them, and the operator's global ignore
//! rules are not known here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::{Git, Output};
use crate::id::CommitId;
use crate::places::known_or_asked;
use crate::scratch::absolute;

/// What is known about the operator's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectView {
    /// The top of the work tree.
    pub root: PathBuf,
    /// The project's folder, relative to `root`; empty if they are the same.
    pub subdir: PathBuf,
    /// The commit of HEAD, or of the revision that was asked for.
    pub head: CommitId,
    /// Whether tracked files differ from HEAD, in the work tree or in the index.
    pub dirty: bool,
    /// Whether this is a shallow clone.
    pub shallow: bool,
    /// Whether HEAD is not on a branch.
    pub detached: bool,
}

/// Reads the repository that a folder is in. `rev` is anything that git takes for a commit; the
/// default is HEAD.
pub fn look_at_project(project: &Path, rev: Option<&str>) -> Result<ProjectView, GitError> {
    let project = absolute(project)?;
    let root = top_of(&project)?;
    Ok(ProjectView {
        subdir: path_from(&project, &["rev-parse", "--show-prefix"])?,
        head: commit_of(&project, rev)?,
        dirty: is_dirty(&root)?,
        shallow: rev_parse_flag(&project, "--is-shallow-repository")?,
        detached: is_detached(&project)?,
        root,
    })
}

/// The git folder that all work trees of a repository share. In a linked worktree `.git` is a file,
/// and the objects and branches are here.
pub(crate) fn common_git_dir(project: &Path) -> Result<PathBuf, GitError> {
    let words = &["rev-parse", "--path-format=absolute", "--git-common-dir"];
    known_or_asked(project, words, path_from).map_err(|error| not_a_repository(project, error))
}

/// The work tree that a folder is in, and the git folder that it shares with the other work trees of
/// its repository, both without links.
pub fn work_tree(folder: &Path) -> Result<(PathBuf, PathBuf), GitError> {
    let folder = absolute(folder)?;
    let whole = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    let root = top_of(&folder).map_err(|error| not_a_repository(&folder, error))?;
    Ok((whole(root), whole(common_git_dir(&folder)?)))
}

/// A text that differs when a commit was made or when files of a work tree were changed, as far as git
/// would tell: HEAD, the files that differ from it, and those that are new. What is at or below
/// `without` does not count, nor does what is inside of submodules: git would use their configuration.
pub fn work_mark(root: &Path, without: Option<&Path>) -> Result<String, GitError> {
    let root = absolute(root)?;
    let head = resolve(&root, "HEAD")?.map(|head| head.to_string());
    let without = without.map(|path| format!(":(exclude,literal,top){}", path.display()));
    let paths: Vec<&str> = ["--", "."].into_iter().chain(without.as_deref()).collect();
    let words = [
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
    ];
    let status = Git::found_from(&root).args(words).args(&paths).run()?;
    let words = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        "--stat=200",
    ];
    let diff = Git::found_from(&root).args(words).args(&paths);
    let diff = diff.run().unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let head = head.unwrap_or_default();
    Ok(format!("{head}\n{}\n{}", text(&status), text(&diff)))
}

/// Whether a folder is another work tree of a project's repository.
pub fn is_same_repository(folder: &Path, project: &Path) -> bool {
    let top = |path: &Path| absolute(path).and_then(|path| top_of(&path));
    let (Ok(here), Ok(there)) = (top(folder), top(project)) else {
        return false;
    };
    let common = |path: &Path| common_git_dir(path).ok();
    here != there && common(&here).is_some() && common(&here) == common(&there)
}

/// Whether git tracks a file: whoever may push to the repository wrote it. A file outside of every
/// repository is nobody else's. Where git cannot tell, the answer is yes: less is trusted then.
pub fn is_tracked(file: &Path) -> bool {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return false;
    };
    if let Err(GitError::NotARepository { .. }) = top_of(folder) {
        return false;
    }
    let name = format!(":(literal){}", name.to_string_lossy());
    let listed = Git::found_from(folder)
        .args(["ls-files", "-z", "--", &name])
        .run();
    listed.map_or(true, |listed| !listed.is_empty())
}

/// The git folder of one work tree, which is not the common one in a linked worktree.
pub(crate) fn git_dir(project: &Path) -> Result<PathBuf, GitError> {
    known_or_asked(project, &["rev-parse", "--absolute-git-dir"], path_from)
}

fn top_of(project: &Path) -> Result<PathBuf, GitError> {
    let refused = match known_or_asked(project, &["rev-parse", "--show-toplevel"], path_from) {
        Err(refused @ GitError::Failed { .. }) => refused,
        found => return found,
    };
    // There is nothing at the top of a bare repository, nor inside of a `.git`.
    let inside = rev_parse_flag(project, "--is-inside-work-tree")
        .map_err(|error| not_a_repository(project, error))?;
    if inside {
        return Err(refused);
    }
    Err(GitError::NoWorkTree {
        path: project.to_owned(),
    })
}

/// Turns git's refusal into [`GitError::NotARepository`], unless a `.git` is in this folder or
/// above it. Then git has another reason (an unsafe owner, a damaged repository), and only its own
/// message explains it.
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

fn rev_parse_flag(project: &Path, flag: &str) -> Result<bool, GitError> {
    let git = Git::found_from(project).args(["rev-parse", flag]);
    let command = git.command_line();
    match git.line()?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(GitError::Garbled { command }),
    }
}

/// Runs git and reads its output as one path.
fn path_from(project: &Path, words: &[&str]) -> Result<PathBuf, GitError> {
    let mut bytes = Git::found_from(project).args(words).run()?;
    // Only the one newline that git adds: the path itself may contain any byte.
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    // `--show-prefix` ends in a slash.
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
        // In an empty repository every revision is unknown. Its emptiness is what must be fixed.
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
    // No program argument can contain a zero byte.
    if revision.contains('\0') {
        return Ok(None);
    }
    // Peeled to a commit, since a tag has an id of its own.
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
    // HEAD may be on a new branch without commits while other branches have some, or be detached
    // while there is no ref at all.
    let any_ref = Git::found_from(project)
        .args(["for-each-ref", "--count=1"])
        .run()?;
    Ok(!any_ref.is_empty() || resolve(project, "HEAD")?.is_some())
}

fn is_dirty(root: &Path) -> Result<bool, GitError> {
    // A submodule counts if it is at another commit, not if files in it differ.
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
        // With `--quiet`, exit code 1 means that HEAD is not symbolic.
        Output { code: Some(1), .. } => Ok(true),
        Output { code, stderr, .. } => Err(GitError::Failed {
            command,
            code,
            stderr,
        }),
    }
}

/// The version of the installed git, such as `2.47.1`.
pub fn git_version() -> Result<String, GitError> {
    let line = Git::without_repository().args(["--version"]).line()?;
    Ok(line.trim_start_matches("git version ").to_owned())
}
