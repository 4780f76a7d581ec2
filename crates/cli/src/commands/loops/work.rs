//! `loopwright diff` and `loopwright checkout`: the work of a story as a patch, or in a folder where
//! it can be tried.

use std::path::{Path, PathBuf};

use home::{Home, Loaded};
use serde_json::json;
use views::{StoryReport, story_report};
use workspace::{CommitId, GitError, LoopRepo, look_at_project};

use super::lookup::{find, load, open};
use super::story::unknown_story;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

/// Which work somebody wants to see.
pub(super) struct Wanted<'w> {
    pub(super) id: &'w str,
    pub(super) story: Option<&'w str>,
    pub(super) attempt: Option<u32>,
}

/// A piece of work: where it began, and what came of it.
struct Work {
    what: String,
    from: CommitId,
    to: CommitId,
}

pub(super) fn diff(wanted: &Wanted<'_>, stat: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("diff");
    let (home, loaded, loop_id) = look_up(wanted)?;
    let work = work(&loaded, wanted)?;
    let shown = shown(&home, &loop_id, &work, stat)?;
    output.talk(&format!("{}\n", work.what));
    let painted = if output.colours_data() && !stat {
        painted(&shown)
    } else {
        shown.clone()
    };
    output.data(&painted)?;
    output.result(|| {
        json!({ "loopId": loop_id, "storyId": wanted.story, "from": work.from.as_str(),
                "to": work.to.as_str(), "patch": shown })
    })?;
    if let Some(story) = wanted.story {
        output.next(NextAction::new(
            format!("loopwright checkout {loop_id} {story}"),
            "try it in a folder of its own",
        ));
    }
    Ok(Exit::Done)
}

/// A loop that has only just been started has no repository yet, and nothing that differs.
fn shown(home: &Home, loop_id: &str, work: &Work, stat: bool) -> Result<String, Failure> {
    if work.from == work.to {
        return Ok(String::new());
    }
    let repository = repository(home, loop_id)?;
    let shown = if stat {
        repository.summary_for_people(&work.from, &work.to)
    } else {
        repository.patch_for_people(&work.from, &work.to)
    };
    shown.map_err(|error| unreadable(&error))
}

pub(super) fn checkout(
    wanted: &Wanted<'_>,
    folder: Option<PathBuf>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("checkout");
    let (home, loaded, loop_id) = look_up(wanted)?;
    let work = work(&loaded, wanted)?;
    let project = PathBuf::from(&loaded.state.spec().project);
    let folder = folder.unwrap_or_else(|| beside(&project, wanted.story, &work.to));
    refuse_filled(
        &folder,
        &format!("loopwright checkout {loop_id} STORY FOLDER"),
    )?;
    repository(&home, &loop_id)?
        .add_work_tree(&project, &folder, &work.to)
        .map_err(|error| Failure::environment("cannot make the work tree", &error))?;
    output.data(&format!("{}\n", folder.display()))?;
    let remove = format!("git worktree remove {}", folder.display());
    output.talk(&format!(
        "{} is there, at no branch; `{remove}` removes it\n",
        work.what
    ));
    output.result(|| {
        json!({ "loopId": loop_id, "storyId": wanted.story, "commitSha": work.to.as_str(),
                "folder": folder })
    })?;
    output.next(NextAction::new(remove, "remove it again"));
    Ok(Exit::Done)
}

/// A work tree is made in a new folder, or in an empty one.
pub(super) fn refuse_filled(folder: &Path, otherwise: &str) -> Result<(), Failure> {
    let has_files = |folder: &Path| {
        let files = folder.read_dir();
        files.is_ok_and(|mut files| files.next().is_some())
    };
    if !has_files(folder) && !folder.is_file() {
        return Ok(());
    }
    Err(
        Failure::bad_input(format!("`{}` is there already", folder.display()))
            .hint(format!("name another folder: {otherwise}")),
    )
}

fn look_up(wanted: &Wanted<'_>) -> Result<(Home, Loaded, String), Failure> {
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, wanted.id)?;
    let loaded = load(&journal, &loop_id)?;
    Ok((home, loaded, loop_id))
}

fn repository(home: &Home, loop_id: &str) -> Result<LoopRepo, Failure> {
    LoopRepo::open(&home.repository(loop_id)).map_err(|error| {
        Failure::environment("cannot open the loop's repository", &error)
            .hint("`clean` may have removed it; what landed is on the loop's branch")
    })
}

fn unreadable(error: &GitError) -> Failure {
    Failure::environment("cannot read the loop's repository", error)
}

/// The whole loop's work, or a story's: what landed of it, or else its last candidate.
fn work(loaded: &Loaded, wanted: &Wanted<'_>) -> Result<Work, Failure> {
    let spec = loaded.state.spec();
    let Some(story) = wanted.story else {
        if wanted.attempt.is_some() {
            return Err(
                Failure::bad_input("`--attempt` is of a story, and none is named")
                    .hint("loopwright diff [ID] STORY --attempt N"),
            );
        }
        return Ok(Work {
            what: format!("everything that the loop accepted, onto {}", spec.branch),
            from: commit(spec.base.as_str())?,
            to: commit(loaded.state.confirmed().as_str())?,
        });
    };
    let report =
        story_report(&loaded.records, story).ok_or_else(|| unknown_story(&loaded.state, story))?;
    let attempt = chosen(&report, wanted.attempt)?;
    let number = attempt.number;
    let Some(candidate) = &attempt.candidate_sha else {
        return Err(
            Failure::bad_input(format!("attempt {number} of `{story}` has no candidate"))
                .hint("`loopwright story ID STORY` tells what became of each attempt"),
        );
    };
    let accepted = report
        .commit_sha
        .as_ref()
        .filter(|_| wanted.attempt.is_none());
    if let Some(head) = accepted
        && report.attempts.last().is_some_and(|last| last.recheck)
    {
        // The commit that it passed by is another story's.
        return Ok(Work {
            what: format!(
                "`{story}`: passed at a second look at the branch, so that nothing of its own landed"
            ),
            from: commit(head)?,
            to: commit(head)?,
        });
    }
    let ended = if accepted.is_some() {
        "accepted"
    } else if attempt.ended.is_empty() {
        "under way"
    } else {
        attempt.ended
    };
    Ok(Work {
        what: format!("`{story}`, attempt {number}: {ended}"),
        // The branch may have moved since the attempt began, by other stories' changes.
        from: commit(attempt.parent_sha())?,
        to: commit(accepted.unwrap_or(candidate))?,
    })
}

/// The attempt that was asked for, or the last one that made a candidate.
pub(super) fn chosen(
    report: &StoryReport,
    wanted: Option<u32>,
) -> Result<&views::AttemptReport, Failure> {
    let tried = || report.attempts.iter().filter(|attempt| !attempt.recheck);
    let found = match wanted {
        Some(number) => tried().find(|attempt| attempt.number == number),
        None => tried()
            .rfind(|attempt| attempt.candidate_sha.is_some())
            .or_else(|| tried().next_back()),
    };
    found.ok_or_else(|| {
        let story = &report.id;
        match wanted {
            Some(number) => Failure::bad_input(format!("`{story}` has no attempt {number}")),
            None => Failure::bad_input(format!("nobody has worked on `{story}` yet")),
        }
    })
}

pub(super) fn commit(id: &str) -> Result<CommitId, Failure> {
    CommitId::parse(id).map_err(|error| unreadable(&error))
}

/// A folder beside the project, named after what is in it.
pub(super) fn beside(project: &Path, story: Option<&str>, commit: &CommitId) -> PathBuf {
    // A project may be a folder of its repository, which a work tree must not be in.
    let view = look_at_project(project, None);
    let root = view.map_or_else(|_| project.to_owned(), |view| view.root);
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let story: String = story
        .unwrap_or("loop")
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let short = &commit.as_str()[..8];
    root.with_file_name(format!("{name}-{story}-{short}"))
}

/// A patch in the colours that people know from git.
fn painted(patch: &str) -> String {
    const END: &str = "\u{1b}[0m";
    let mut text = String::with_capacity(patch.len() + patch.len() / 8);
    for line in patch.lines() {
        let colour = match line.as_bytes() {
            [b'+', b'+', b'+', b' ', ..]
            | [b'-', b'-', b'-', b' ', ..]
            | [b'd', b'i', b'f', ..] => "\u{1b}[1m",
            [b'+', ..] => "\u{1b}[32m",
            [b'-', ..] => "\u{1b}[31m",
            [b'@', b'@', ..] => "\u{1b}[36m",
            _ => "",
        };
        text.push_str(colour);
        text.push_str(line);
        text.push_str(if colour.is_empty() { "" } else { END });
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_the_colours_of_git() {
        let shown =
            painted("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n");
        assert_eq!(
            shown.replace('\u{1b}', "^"),
            "^[1mdiff --git a/x b/x^[0m\n^[1m--- a/x^[0m\n^[1m+++ b/x^[0m\n^[36m@@ -1 +1 @@^[0m\n\
             ^[31m-old^[0m\n^[32m+new^[0m\n same\n"
        );
    }

    #[test]
    fn a_work_tree_is_beside_the_project_unless_somebody_says_where() {
        let commit = CommitId::parse(&"ab".repeat(20)).expect("an id");
        let place = |story| {
            let place = beside(Path::new("/home/you/shop"), story, &commit);
            place.display().to_string()
        };
        assert_eq!(place(Some("US-1/a b")), "/home/you/shop-US-1-a-b-abababab");
        assert_eq!(place(None), "/home/you/shop-loop-abababab");
    }
}
