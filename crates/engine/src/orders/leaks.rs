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
        self.in_tree_within(tree, FILE_BYTES_MAX)
    }

    fn in_tree_within(&self, tree: &TreeId, bytes_max: usize) -> Result<Leaks, Fault> {
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
            let Some(content) = content(&*after, change, bytes_max) else {
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
fn content(files: &dyn TreeFiles, change: &Change, bytes_max: usize) -> Option<Vec<u8>> {
    match change.after.as_ref()?.mode {
        Mode::File | Mode::Executable => files.read(&change.path, bytes_max),
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
    use std::fs;

    use home::Secret;
    use serde_json::json;
    use workspace::{CommitId, LoopRepo};

    use super::*;
    use crate::local::repository::open_at;

    const KEY: &str = "hunter-q8Zt5Kf2Lm";

    /// Put together here, or whoever looks for tokens would find one.
    fn token() -> String {
        ["ghp", "_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2"].concat()
    }

    /// A web token that ends 2000 seconds after 1970.
    fn web_token() -> String {
        let head = ["eyJhbGciOiJIUzI1NiIs", "InR5cCI6IkpXVCJ9"].concat();
        format!("{head}.eyJleHAiOjIwMDB9.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4")
    }

    /// A loop's repository, and a tree that an author makes of its base.
    struct Scene {
        scratch: tempfile::TempDir,
        repository: Box<dyn Repository>,
        base: CommitId,
        base_tree: TreeId,
        settings: Settings,
    }

    impl Scene {
        fn new(files: &[(&str, &str)]) -> Self {
            let scratch = tempfile::tempdir().expect("a folder");
            let project = scratch.path().join("project");
            for (path, text) in files {
                write(&project.join(path), text);
            }
            let names: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
            testkit::init(&project, &names);
            let head = testkit::git(&project, &["rev-parse", "HEAD"]);
            let base = CommitId::parse(head.trim()).expect("an id");
            let folder = scratch.path().join("loop.git");
            let git = LoopRepo::create(&project, &folder, &base).expect("a repository");
            let base_tree = git.tree_of(&base).expect("a tree");
            let repository = open_at(&folder).expect("a repository");
            let tree = scratch.path().join("tree");
            repository.checkout(&base, &tree).expect("a checkout");
            let settings = json!({"agents": {}, "checks": [], "check_timeout_secs": 60, "copy": [],
                "write_back": false, "subdir": "", "root": "", "prd_in_repository": null, "patterns": null});
            Self {
                scratch,
                repository,
                base,
                base_tree,
                settings: serde_json::from_value(settings).expect("settings"),
            }
        }

        fn write(&self, path: &str, text: &str) {
            write(&self.scratch.path().join("tree").join(path), text);
        }

        fn look<T>(&self, at_secs: i64, look: impl FnOnce(&Search<'_>, &TreeId) -> T) -> T {
            let tree = self.scratch.path().join("tree");
            let snapshot = self.repository.snapshot(&tree, &self.base, &[]);
            let known = Known::default().with("OUR_KEY", Secret::new(KEY));
            let search = Search {
                repository: &*self.repository,
                settings: &self.settings,
                known: &known,
                base: &self.base_tree,
                at_secs,
            };
            look(&search, &snapshot.expect("a tree").tree)
        }

        fn places(&self) -> Vec<String> {
            self.look(1000, |search, tree| {
                search.in_tree(tree).expect("read").places
            })
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn only_so_many_places_are_told() {
        let mut leaks = Leaks::default();
        assert_eq!(leaks.why(), None);
        leaks.places = (0..12).map(|number| format!("`a:{number}`")).collect();
        let why = leaks.why().expect("a reason");
        assert!(why.contains("`a:9`; and 2 more. Take them out"), "{why}");
    }

    #[test]
    fn a_name_counts_where_it_is_new_and_is_never_told() {
        let old = format!("old-{KEY}");
        let scene = Scene::new(&[(&old, "one\n")]);
        scene.write(&old, "two\n");
        assert_eq!(scene.places(), Vec::<String>::new());
        scene.write(&format!("new-{KEY}"), &format!("a\nb = {KEY}, {KEY}\n"));
        let places = scene.places();
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(places[0].starts_with("the name of `new-"), "{places:?}");
        assert!(places[1].contains(":2` has "), "{places:?}");
        assert!(!places.concat().contains(KEY), "{places:?}");
    }

    #[test]
    fn a_line_that_moved_is_no_leak_and_a_link_may_be_one() {
        let line = format!("token = {}\n", token());
        let named = format!("old-{KEY}");
        let scene = Scene::new(&[("a.txt", &line), ("b.txt", "b\n"), (&named, "c\n")]);
        fs::remove_file(scene.scratch.path().join("tree/a.txt")).expect("removed");
        scene.write("b.txt", &format!("b\n{line}"));
        assert_eq!(scene.places(), Vec::<String>::new());
        let planted = scene.scratch.path().join("tree/link");
        std::os::unix::fs::symlink(&named, planted).expect("linked");
        let places = scene.places();
        assert!(
            places.len() == 1 && places[0].starts_with("`link:1` has "),
            "{places:?}"
        );
    }

    #[test]
    fn files_are_allowed_by_their_path_in_the_project() {
        let mut scene = Scene::new(&[("app/a.txt", "a\n")]);
        scene.settings.subdir = "app".to_owned();
        scene.settings.secrets_allow = vec!["fixtures/**".to_owned()];
        scene.write("app/fixtures/b.txt", &token());
        assert_eq!(scene.places(), Vec::<String>::new());
        scene.write("elsewhere/b.txt", &token());
        scene.write("app/fixtures/c.txt", KEY);
        let places = scene.places();
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(
            places[0].starts_with("`app/fixtures/c.txt:1`"),
            "{places:?}"
        );
        assert!(places[1].starts_with("`elsewhere/b.txt:1`"), "{places:?}");
    }

    #[test]
    fn what_examples_are_full_of_and_what_has_expired_is_no_leak() {
        let scene = Scene::new(&[("a.txt", "a\n")]);
        let header = "Authorization: Bearer Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6";
        scene.write(
            "b.txt",
            &format!("{header}\nhttps://me:hunter22@host.example/\n"),
        );
        assert_eq!(scene.places(), Vec::<String>::new());
        scene.write("c.txt", &web_token());
        for (at_secs, n_places) in [(1000, 1), (3000, 0)] {
            let places =
                |search: &Search<'_>, tree: &TreeId| search.in_tree(tree).expect("read").places;
            let found = scene.look(at_secs, places);
            assert_eq!(found.len(), n_places, "{found:?}");
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_said_to_be_unread() {
        let scene = Scene::new(&[("a.txt", "a\n")]);
        scene.write("b.txt", KEY);
        let look = |bytes_max| scene.look(0, |search, tree| search.in_tree_within(tree, bytes_max));
        let leaks = look(KEY.len() - 1).expect("read");
        assert_eq!(
            (leaks.places.len(), leaks.unread),
            (0, vec!["b.txt".to_owned()])
        );
        let leaks = look(KEY.len()).expect("read");
        assert_eq!((leaks.places.len(), leaks.unread.len()), (1, 0));
    }

    #[test]
    fn a_message_is_looked_through() {
        let scene = Scene::new(&[("a.txt", "a\n")]);
        let found = |message: &str| scene.look(0, |search, _| search.in_message(message));
        assert_eq!(found("feat: add a word"), Vec::<String>::new());
        for secret in [KEY.to_owned(), token()] {
            let places = found(&format!("feat: add {secret}"));
            assert_eq!(places.len(), 1, "{places:?}");
            assert!(!places[0].contains(&secret), "{places:?}");
        }
    }
}
