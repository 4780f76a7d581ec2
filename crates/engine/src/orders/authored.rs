//! What an author left in its checkout, as a commit with a ref of its own. It is kept before
//! anything is made of it: an earlier self may have got this far, and its checkout may be gone.

use std::path::{Path, PathBuf};

use home::Settings;
use kernel::Commit;
use workspace::{CommitId, LinkTrouble, Oddity, Reason, Snapshot, TreeId};

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::files::RunFiles;
use crate::run::trees::commit_id;

/// Notes on an author's work that are kept.
pub(crate) const NOTES_MAX: usize = 40;

/// Characters of a link's target that a note shows.
const TARGET_CHARS_MAX: usize = 200;

/// What an author left: its files, and what of its work is not among them.
pub(crate) struct Authored {
    pub(crate) tree: TreeId,
    pub(crate) notes: Vec<String>,
}

/// Where an author's work is and how it is kept.
pub(crate) struct Authoring<'a> {
    pub(crate) repository: &'a dyn Repository,
    pub(crate) settings: &'a Settings,
    pub(crate) base: &'a Commit,
    pub(crate) planned_at_ms: i64,
}

impl Authoring<'_> {
    /// The files that an author left; none if there is no checkout and no earlier commit of it.
    pub(crate) fn keep(
        &self,
        name: &str,
        files: &RunFiles,
        subject: &str,
    ) -> Result<Option<Authored>, Fault> {
        if let Some(commit) = self.repository.read_ref(name)? {
            return self.read(&commit).map(Some);
        }
        if !files.has_checkout() {
            return Ok(None);
        }
        let base = commit_id(self.base)?;
        let kept = kept_files(self.settings);
        let left = files.snapshot(self.repository, &base, &kept)?;
        let message = message_of(subject, &left);
        let at_secs = self.planned_at_ms / 1000;
        let made = self
            .repository
            .commit(&left.tree, &base, &message, at_secs)?;
        self.repository.move_ref(name, None, &made)?;
        self.read(&made).map(Some)
    }

    /// The commit itself says what was left out, so that whoever finds it later says the same.
    fn read(&self, commit: &CommitId) -> Result<Authored, Fault> {
        let message = self.repository.message_of(commit)?;
        let notes = message.lines().skip(2).filter(|line| !line.is_empty());
        Ok(Authored {
            tree: self.repository.tree_of(commit)?,
            notes: notes.map(str::to_owned).collect(),
        })
    }
}

/// Neither the PRD nor what we copied in ourselves is an author's to change or to publish.
pub(crate) fn kept_files(settings: &Settings) -> Vec<PathBuf> {
    let subdir = Path::new(&settings.subdir);
    let copied = settings.copy.iter().map(|name| subdir.join(name));
    let agents = settings.agents.values();
    let hidden = agents.flat_map(|agent| agent.cli().facts().executes);
    let prd = settings.prd_in_repository.iter();
    prd.map(PathBuf::from)
        .chain(copied)
        .chain(hidden.map(PathBuf::from))
        .collect()
}

fn message_of(subject: &str, left: &Snapshot) -> String {
    let mut notes = Vec::new();
    for left_out in left.left_out.iter().take(NOTES_MAX) {
        let why = match left_out.reason {
            Reason::BadLink => link_words(left, &left_out.path),
            reason => words_of(reason).to_owned(),
        };
        let path = one_line(&left_out.path.to_string_lossy());
        notes.push(format!("`{path}` was left out: {why}"));
    }
    for path in left.newly_ignored.iter().take(NOTES_MAX) {
        let path = one_line(&path.to_string_lossy());
        notes.push(format!("its own new rules ignore `{path}`"));
    }
    for (path, odd) in left.odd.iter().take(NOTES_MAX) {
        let path = one_line(&path.to_string_lossy());
        notes.push(format!("`{path}` {}", odd_words(*odd)));
    }
    let subject = subject.trim_end().replace('\n', " ");
    format!("{subject}\n\n{}\n", notes.join("\n"))
}

fn words_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Special => "a pipe, a socket or a device",
        Reason::TooLarge => "too large",
        Reason::ReservedName => "a name of git's own",
        Reason::InSubmodule => "in a submodule",
        Reason::Unreadable => "it cannot be read",
        Reason::TooDeep => "it lies in too many folders inside each other",
        Reason::CaseClash => {
            "beside it is a name that differs only in upper and lower case, and many systems can hold \
             only one of the two"
        }
        Reason::InTheWay => "in the way of a file that is kept",
        Reason::BuildFolder => "such folders are filled by tools",
        Reason::BadLink => "a link whose target will not be there",
    }
}

fn odd_words(odd: Oddity) -> &'static str {
    match odd {
        Oddity::SpecialBits => "had a setuid, setgid or sticky bit, which is not kept",
        Oddity::HardLink => {
            "is a hard link with a further name elsewhere; its content was taken as it is"
        }
    }
}

/// Says what is wrong with a link, and where it points.
fn link_words(left: &Snapshot, path: &Path) -> String {
    let Some(bad) = left.bad_links.iter().find(|bad| bad.path == path) else {
        return words_of(Reason::BadLink).to_owned();
    };
    let what = match bad.why {
        LinkTrouble::LeadsOut => "a link that leads out of the project",
        LinkTrouble::Dangles => "a link to something that will not be there",
        LinkTrouble::Endless => "a link that leads to itself or through too many others",
    };
    let whole = one_line(&bad.target);
    let mut target: String = whole.chars().take(TARGET_CHARS_MAX).collect();
    if target.len() < whole.len() {
        target.push('…');
    }
    format!("{what} ({target})")
}

/// The text without line breaks: each note is one line of a commit's message.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use workspace::{BadLink, LeftOut};

    use super::*;

    #[test]
    fn what_was_left_out_is_told() {
        let long = "x".repeat(TARGET_CHARS_MAX + 1);
        let cut = format!("{}…", "x".repeat(TARGET_CHARS_MAX));
        for (reason, link, expected) in [
            (
                Reason::TooLarge,
                None,
                "`a b` was left out: too large".to_owned(),
            ),
            (
                Reason::BadLink,
                Some((LinkTrouble::LeadsOut, "/tmp/y")),
                "`a b` was left out: a link that leads out of the project (/tmp/y)".to_owned(),
            ),
            (
                Reason::BadLink,
                Some((LinkTrouble::Dangles, "made\n/x")),
                "`a b` was left out: a link to something that will not be there (made /x)"
                    .to_owned(),
            ),
            (
                Reason::BadLink,
                Some((LinkTrouble::Endless, &long[..])),
                format!(
                    "`a b` was left out: a link that leads to itself or through too many others ({cut})"
                ),
            ),
            (
                Reason::BadLink,
                None,
                "`a b` was left out: a link whose target will not be there".to_owned(),
            ),
        ] {
            let path = PathBuf::from("a\nb");
            let bad_links = link.map(|(why, target)| BadLink {
                path: path.clone(),
                target: target.to_owned(),
                why,
            });
            let left = Snapshot {
                tree: TreeId::parse(&"1".repeat(40)).expect("an id"),
                changed: true,
                left_out: vec![LeftOut { path, reason }],
                n_left_out: 1,
                newly_ignored: vec![PathBuf::from("c")],
                n_newly_ignored: 1,
                bad_links: bad_links.into_iter().collect(),
                odd: vec![(PathBuf::from("d"), Oddity::SpecialBits)],
            };
            assert_eq!(
                message_of("feat: a\n", &left),
                format!(
                    "feat: a\n\n{expected}\nits own new rules ignore `c`\n`d` had a setuid, setgid or \
                     sticky bit, which is not kept\n"
                )
            );
        }
    }
}
