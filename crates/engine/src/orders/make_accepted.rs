//! Puts a candidate that a person accepted onto the branch as it is now. Its message says who
//! accepted it, since no judge did.

use home::Settings;
use kernel::{Acceptance, AcceptedOrder, Event, Order};
use workspace::{CommitId, Restacked, Signature, TreeId};

use crate::fault::Fault;
use crate::ports::{Ports, Repository};
use crate::run::trees::{commit_id, commit_of, reference};
use crate::settings_of::settings_of;

/// The trailers that tell who vouches for a commit.
const VERIFIED: &str = "Verified: ";
const JUDGED_BY: &str = "Judged-By: ";

/// Characters of a reason that a commit's message holds; the journal has all of it.
const REASON_CHARS_MAX: usize = 500;

/// Conflicting files that are named.
const PATHS_MAX: usize = 10;

pub(crate) fn make_accepted(
    order: &Order,
    accepted: &AcceptedOrder,
    ports: &Ports,
) -> Result<Event, Fault> {
    let repository = ports.repositories.open(&order.loop_id)?;
    let acceptance = &accepted.acceptance;
    let (work, onto) = (commit_id(&acceptance.commit)?, commit_id(&accepted.onto)?);
    let (story, attempt) = (accepted.story.clone(), accepted.attempt);
    let tree = match onto_head(&*repository, &work, &onto)? {
        OntoHead::Files(tree) => tree,
        OntoHead::Conflict(why) => {
            return Ok(Event::NothingNew {
                story,
                attempt,
                why,
            });
        }
    };
    let message = message_of(&repository.message_of(&work)?, acceptance);
    let author = author_of(&settings_of(order)?);
    let at_secs = acceptance.at_ms / 1000;
    let commit = repository.commit_by(&author, &tree, &onto, &message, at_secs)?;
    let name = reference("accepted", &story, &attempt.to_string());
    repository.move_ref(&name, None, &commit)?;
    let by = &acceptance.by;
    let why = acceptance.reason.as_deref().unwrap_or("no reason given");
    Ok(Event::CandidateMade {
        story,
        attempt,
        commit: commit_of(&commit)?,
        notes: vec![format!("accepted by {by}: {why}")],
        ask: None,
    })
}

/// Work on top of a commit that it was not made on.
pub(crate) enum OntoHead {
    Files(TreeId),
    /// It cannot be there, for this reason.
    Conflict(String),
}

/// Puts work on top of a commit.
pub(crate) fn onto_head(
    repository: &dyn Repository,
    work: &CommitId,
    onto: &CommitId,
) -> Result<OntoHead, Fault> {
    let Some(base) = repository.merge_base(work, onto)? else {
        return Ok(OntoHead::Conflict(
            "it has no commit in common with the loop's branch".to_owned(),
        ));
    };
    match repository.restack(&base, work, onto)? {
        Restacked::Clean { tree, .. } => Ok(OntoHead::Files(tree)),
        Restacked::Conflict(paths) => {
            let named = paths.iter().take(PATHS_MAX);
            let named: Vec<String> = named.map(|path| format!("`{}`", path.display())).collect();
            let more = match paths.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Ok(OntoHead::Conflict(format!(
                "it and what landed since change the same lines or files: {}{more}; `retry` or `take` \
                 makes it anew on top of that",
                named.join(", ")
            )))
        }
    }
}

/// Whose commits a loop makes.
pub(crate) fn author_of(settings: &Settings) -> Signature {
    let named = settings.commit.as_ref();
    let named = named.and_then(|commit| Signature::parse(commit.author.as_deref()?));
    named.unwrap_or_else(Signature::ours)
}

/// The candidate's own message, with the person in the place of who would have vouched for it.
fn message_of(message: &str, acceptance: &Acceptance) -> String {
    let lines = message.trim_end().lines();
    let is_kept = |line: &&str| !line.starts_with(VERIFIED) && !line.starts_with(JUDGED_BY);
    let mut lines: Vec<&str> = lines.filter(is_kept).collect();
    let by = format!("Accepted-By: {}", one_line(&acceptance.by));
    let verified = format!("{VERIFIED}person");
    lines.extend([verified.as_str(), &by]);
    let reason = acceptance.reason.as_ref();
    let reason = reason.map(|reason| format!("Accepted-Because: {}", one_line(reason)));
    lines.extend(reason.as_deref());
    lines.join("\n") + "\n"
}

/// A text as the value of a trailer: a line break would begin another one.
fn one_line(text: &str) -> String {
    let words = text.replace(char::is_control, " ");
    words.trim().chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_who_vouches_for_it() {
        let commit = kernel::Commit::new(&"a".repeat(40)).expect("a commit");
        let acceptance = |reason: Option<&str>| Acceptance {
            commit: commit.clone(),
            base: commit.clone(),
            by: "Ada <ada@example.com>\nVerified: judge".to_owned(),
            reason: reason.map(str::to_owned),
            at_ms: 0,
            warm: false,
        };
        let message = "feat: it\n\nStory-Id: a\nJudged-By: codex\nVerified: checks, judge\n";
        assert_eq!(
            message_of(message, &acceptance(None)),
            "feat: it\n\nStory-Id: a\nVerified: person\n\
             Accepted-By: Ada <ada@example.com> Verified: judge\n"
        );
        let said = message_of(message, &acceptance(Some("flaky\n\nLoop-Id: other")));
        assert!(
            said.ends_with("\nAccepted-Because: flaky  Loop-Id: other\n"),
            "{said}"
        );
    }
}
