//! What a prompt is made of: what the order tells, and what the repository shows.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use home::Redactor;
use kernel::{Base, Rewrite};
use roles::{Context, Excerpt, Found};
use workspace::TreeId;

use crate::fault::Fault;
use crate::redaction::known_of;
use crate::run::former::with_former;
use crate::run::preparing::Preparing;
use crate::run::test_rules::TestRules;
use crate::run::trees::{commit_id, inventory};

/// Bytes that a judge is shown of the listing of all changed files, and as many of their patches.
const DIFF_BYTES_MAX: usize = 200 * 1024;

/// Bytes of a guide or of a named file that are read; the prompt shortens what is too long for it.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Files of a story that are shown, and names of a folder.
const EXCERPTS_MAX: usize = 12;
const NAMES_MAX: usize = 60;

/// Files in which projects talk to agents.
const GUIDES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

pub(crate) fn context(preparing: &Preparing<'_>) -> Result<Context, Fault> {
    let (run, settings) = (preparing.run, preparing.settings);
    let repository = preparing.repository;
    let base = repository.tree_of(&commit_id(&run.base)?)?;
    let sees_tests = run.row.base == Base::StoryWithTests;
    let told = run.told.clone();
    let context = Context {
        base: Some(run.base.clone()),
        candidate: run.candidate.clone(),
        diff: diff(preparing)?,
        checks: told.checks,
        feedback: with_former(preparing, told.feedback)?,
        answers: told.answers,
        tests: if sees_tests {
            test_files(preparing, &base)?
        } else {
            Vec::new()
        },
        order: run.rewrite.as_ref().map(Rewrite::why).map(str::to_owned),
        test_paths: TestRules::of(repository, settings, &base)?.words(),
        failing: told.failing,
        obligations: told.obligations,
        flags: told.flags,
        mutants: told.mutants,
        review: told.review,
        notes: told.notes,
        patterns: settings.patterns.clone(),
        guides: guides(preparing, &base)?,
        learned: told.learned,
        inventory: inventory(repository, &base, &settings.subdir)?,
        commands: settings
            .checks
            .iter()
            .map(|check| (check.name.clone(), check.command.clone()))
            .collect(),
        about: settings.about.clone(),
        excerpts: excerpts(preparing, &base)?,
        proof: told.proof.map(|proof| *proof),
        repair: told.bad_answer,
        recheck: run.is_recheck,
        goes_on: false,
    };
    let known = known_of(&preparing.ports.home, &preparing.order.loop_id)?;
    let redactor = Redactor::sparing(&known, &serde_json::to_string(&run.story)?);
    Ok(without_secrets(context, &redactor))
}

/// An agent is told no secret: whatever it is told, it may repeat. The story itself is the person's.
fn without_secrets(mut context: Context, redactor: &Redactor) -> Context {
    let clean = |text: &mut String| {
        if let Cow::Owned(redacted) = redactor.text(text) {
            *text = redacted;
        }
    };
    clean(&mut context.diff);
    clean(&mut context.checks);
    let lists = [
        &mut context.feedback,
        &mut context.answers,
        &mut context.failing,
        &mut context.notes,
        &mut context.learned,
    ];
    lists.into_iter().flatten().for_each(clean);
    let texts = [
        &mut context.order,
        &mut context.patterns,
        &mut context.about,
        &mut context.repair,
    ];
    texts.into_iter().flatten().for_each(clean);
    let pairs = context.guides.iter_mut().chain(&mut context.commands);
    pairs.for_each(|(_, text)| clean(text));
    for excerpt in &mut context.excerpts {
        if let Found::Text(text) = &mut excerpt.found {
            clean(text);
        }
    }
    context
}

/// Exactly base..candidate of this attempt, for those who may see it.
fn diff(preparing: &Preparing<'_>) -> Result<String, Fault> {
    let run = preparing.run;
    let Some(candidate) = run
        .candidate
        .as_ref()
        .filter(|_| run.row.base == Base::Candidate)
    else {
        return Ok(String::new());
    };
    let (base, candidate) = (commit_id(&run.base)?, commit_id(candidate)?);
    preparing.repository.diff(&base, &candidate, DIFF_BYTES_MAX)
}

/// The names of the tests that stand for the story.
fn test_files(preparing: &Preparing<'_>, base: &TreeId) -> Result<Vec<String>, Fault> {
    let tests = preparing.run.tests.as_ref();
    let Some(commit) = tests.and_then(|tests| tests.commit.as_ref()) else {
        return Ok(Vec::new());
    };
    let tree = preparing.repository.tree_of(&commit_id(commit)?)?;
    let changes = preparing.repository.tree_changes(base, &tree)?;
    let names = changes.iter().map(|change| change.path.to_string_lossy());
    Ok(names.map(std::borrow::Cow::into_owned).collect())
}

/// What the project asks of agents, as the base has it.
fn guides(preparing: &Preparing<'_>, base: &TreeId) -> Result<Vec<(String, String)>, Fault> {
    let files = preparing.repository.reader(base)?;
    let mut guides = Vec::new();
    for name in GUIDES {
        let path = Path::new(&preparing.settings.subdir).join(name);
        let text = files
            .read(&path, FILE_BYTES_MAX)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            guides.push((name.to_owned(), text));
        }
    }
    Ok(guides)
}

/// The files that the story names, as the base has them. What cannot be a path in the project is
/// left to the list of names in the prompt.
fn excerpts(preparing: &Preparing<'_>, base: &TreeId) -> Result<Vec<Excerpt>, Fault> {
    let files = preparing.repository.reader(base)?;
    let subdir = Path::new(&preparing.settings.subdir);
    let mut named = preparing.run.story.files.clone();
    let is_there = |name: &String| {
        let path = inside(name).map(|path| subdir.join(path));
        path.is_some_and(|path| files.entry(&path).is_some())
    };
    for name in paths_in_words(&preparing.run.story) {
        if !named.contains(&name) && is_there(&name) {
            named.push(name);
        }
    }
    let mut excerpts = Vec::new();
    for (name, inside) in named
        .iter()
        .filter_map(|name| Some((name, inside(name)?)))
        .take(EXCERPTS_MAX)
    {
        let path = subdir.join(inside);
        let found = match files.entry(&path) {
            Some(_) => match files.read(&path, FILE_BYTES_MAX).map(String::from_utf8) {
                Some(Ok(text)) => Found::Text(text),
                Some(Err(_)) | None => Found::Unreadable,
            },
            None => {
                let listed = files.list(&path).into_iter().take(NAMES_MAX);
                let listed: Vec<String> = listed
                    .map(|(name, _)| name.to_string_lossy().into_owned())
                    .collect();
                if listed.is_empty() {
                    Found::Nothing
                } else {
                    Found::Folder(listed)
                }
            }
        };
        excerpts.push(Excerpt {
            path: name.clone(),
            found,
        });
    }
    Ok(excerpts)
}

/// What may be a path in the words of a story, such as `src/engine.py` in a description.
fn paths_in_words(story: &kernel::StorySpec) -> Vec<String> {
    const WORDS_MAX: usize = 2_000;
    let texts = std::iter::once(&story.description).chain(&story.criteria);
    let words = texts.flat_map(|text| text.split_whitespace());
    let trimmed = words.take(WORDS_MAX).map(|word| {
        let is_path = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
        let word = word.trim_matches(|letter: char| !is_path(letter));
        word.trim_end_matches(['.', '/', '-'])
    });
    let may_be_path = |word: &&str| word.contains(['/', '.']) && !word.contains("://");
    trimmed.filter(may_be_path).map(str::to_owned).collect()
}

/// A path that stays in the project; none for anything else, such as a pattern or a home folder.
fn inside(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(name.trim()).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) if part != "~" => path.push(part),
            Component::Normal(_)
            | Component::ParentDir
            | Component::RootDir
            | Component::Prefix(_) => return None,
        }
    }
    let is_pattern = name.contains(['*', '?', '{']);
    (!path.as_os_str().is_empty() && !is_pattern).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_the_words_of_a_story() {
        let story = serde_json::json!({
            "id": "a", "title": "A", "rank": 1, "depends_on": [], "start": "open",
            "description": "Change `src/engine.py`, as (docs/brake.md) says.",
            "criteria": ["see https://example.org/x.html and main.rs."],
        });
        let story: kernel::StorySpec = serde_json::from_value(story).expect("a story");
        assert_eq!(
            paths_in_words(&story),
            ["src/engine.py", "docs/brake.md", "main.rs"]
        );
    }

    #[test]
    fn only_paths_inside_the_project_are_read() {
        for (name, expected) in [
            ("src/a.rs", Some("src/a.rs")),
            ("./src//a.rs", Some("src/a.rs")),
            ("src/", Some("src")),
            (" docs/a b.md ", Some("docs/a b.md")),
            ("../secrets", None),
            ("src/../../secrets", None),
            ("/etc/passwd", None),
            ("~/notes.md", None),
            ("src/**/*.rs", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(inside(name), expected.map(PathBuf::from), "{name}");
        }
    }
}
