//! Looks for secrets in what an author made, before anybody else sees it.
//!
//! Only what the author added counts: a line that a changed file had before is no leak of this
//! candidate. What is found is told by its place and never by itself.

use std::collections::BTreeSet;
use std::path::Path;

use checks::rules::Pattern;
use home::{Found, Known, Redactor, Settings, Token};
use workspace::{Change, Mode, TreeId};

use crate::fault::Fault;
use crate::ports::{Repository, TreeFiles};
use crate::run::project_tree::local;

/// Bytes of one file that are looked through; no larger one is taken from a checkout unless the base
/// has one.
const FILE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Places that are told.
const PLACES_MAX: usize = 10;

/// Where to look, and for what.
pub(crate) struct Search<'a> {
    pub(crate) repository: &'a dyn Repository,
    pub(crate) settings: &'a Settings,
    pub(crate) known: &'a Known,
    pub(crate) base: &'a TreeId,
    /// A web token that has expired by then is none any more.
    pub(crate) at_secs: i64,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Leaks {
    /// Each place with what is there, in words.
    pub(crate) places: Vec<String>,
    /// Files that are too large to be looked through.
    pub(crate) unread: Vec<String>,
}

impl Leaks {
    /// Why a candidate cannot go on; none where nothing was found.
    pub(crate) fn why(&self) -> Option<String> {
        let shown = self.places.iter().take(PLACES_MAX);
        let mut words: Vec<&str> = shown.map(String::as_str).collect();
        let more = match self.places.len().saturating_sub(PLACES_MAX) {
            0 => String::new(),
            more => format!("and {more} more"),
        };
        if !more.is_empty() {
            words.push(&more);
        }
        (!words.is_empty()).then(|| {
            format!(
                "it holds secrets, which must not get into a repository: {}. Take them out; what a \
                 program needs it can read from its environment, and tests can make up their own",
                words.join("; ")
            )
        })
    }
}

impl Search<'_> {
    /// Looks through everything that a tree adds to the base.
    pub(crate) fn in_tree(&self, tree: &TreeId) -> Result<Leaks, Fault> {
        let changes = self.repository.tree_changes(self.base, tree)?;
        let before = self.repository.reader(self.base)?;
        let after = self.repository.reader(tree)?;
        let redactor = Redactor::new(self.known);
        let mut leaks = Leaks::default();
        let mut old_lines: Option<BTreeSet<Vec<u8>>> = None;
        for change in changes.iter().filter(|change| change.after.is_some()) {
            let path = change.path.to_string_lossy();
            let is_new_path = change.before.is_none();
            if is_new_path && !redactor.find_known(path.as_bytes()).is_empty() {
                let name = redactor.text(&path).into_owned();
                leaks.places.push(format!("the name of `{name}`"));
            }
            let Some(content) = content(&*after, change) else {
                leaks.unread.push(path.into_owned());
                continue;
            };
            let is_allowed = self.allows(&path);
            for (range, found) in redactor.find(&content) {
                if !self.counts(&found, &content[range.clone()], is_allowed) {
                    continue;
                }
                let old = old_lines.get_or_insert_with(|| lines_before(&*before, &changes));
                if !old.contains(line_at(&content, range.start)) {
                    let above = &content[..range.start];
                    let number = above.split(|byte| *byte == b'\n').count();
                    let path = redactor.text(&path);
                    leaks
                        .places
                        .push(format!("`{path}:{number}` has {}", found.words()));
                }
            }
        }
        leaks.places.dedup();
        Ok(leaks)
    }

    /// Looks through the message of a commit.
    pub(crate) fn in_message(&self, message: &str) -> Vec<String> {
        let redactor = Redactor::new(self.known);
        let found = redactor.find(message.as_bytes()).into_iter();
        let counted = found
            .filter(|(range, found)| self.counts(found, &message.as_bytes()[range.clone()], false));
        counted
            .map(|(_, found)| format!("the commit message has {}", found.words()))
            .collect()
    }

    /// Whether configuration names this file. A known value is allowed nowhere.
    fn allows(&self, path: &str) -> bool {
        let path = local(&self.settings.subdir, path);
        let mut allowed = self.settings.secrets_allow.iter();
        allowed.any(|written| Pattern::parse(written).is_ok_and(|pattern| pattern.matches(path)))
    }

    /// Whether something is a leak. What stands in headers and addresses is hidden where it is shown,
    /// but tests and examples are full of it.
    fn counts(&self, found: &Found, text: &[u8], is_allowed: bool) -> bool {
        match found {
            Found::Known(_) => true,
            _ if is_allowed => false,
            Found::Token(Token::Header | Token::Password) => false,
            Found::Token(Token::Jwt) => {
                agents::web_token_ends(text).is_some_and(|secs| secs > self.at_secs)
            }
            Found::Token(_) => true,
        }
    }
}

/// The text of a changed file, or the target of a link. None for a file that is too large.
fn content(files: &dyn TreeFiles, change: &Change) -> Option<Vec<u8>> {
    match change.after.as_ref()?.mode {
        Mode::File | Mode::Executable => files.read(&change.path, FILE_BYTES_MAX),
        Mode::Link => files.link(&change.path),
        Mode::Submodule => Some(Vec::new()),
    }
}

/// Every line that the changed files had before, in whichever of them: a line may have moved.
fn lines_before(files: &dyn TreeFiles, changes: &[Change]) -> BTreeSet<Vec<u8>> {
    let read = |path: &Path| files.read(path, FILE_BYTES_MAX).unwrap_or_default();
    let before = changes.iter().filter(|change| change.before.is_some());
    let texts = before.map(|change| read(&change.path));
    texts
        .flat_map(|text| {
            let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
            lines.collect::<Vec<_>>()
        })
        .collect()
}

/// The line that a place is in.
fn line_at(text: &[u8], at: usize) -> &[u8] {
    let from = text[..at].iter().rposition(|byte| *byte == b'\n');
    let to = text[at..].iter().position(|byte| *byte == b'\n');
    &text[from.map_or(0, |from| from + 1)..to.map_or(text.len(), |to| at + to)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_places_are_told() {
        let mut leaks = Leaks::default();
        assert_eq!(leaks.why(), None);
        leaks.places = (0..12).map(|number| format!("`a:{number}`")).collect();
        let why = leaks.why().expect("a reason");
        assert!(why.contains("`a:9`; and 2 more. Take them out"), "{why}");
    }
}
