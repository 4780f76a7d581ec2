//! What a story's report says of work that was put onto what landed since it was made.

use kernel::{Commit, Event, Restackable};

/// What one record says.
pub(crate) enum Restack {
    /// About the story's tests.
    Tests(String),
    /// About the candidate.
    Candidate {
        /// The same in words.
        words: String,
        /// Where it is now, where it fits.
        moved: Option<MovedCandidate>,
    },
}

/// A candidate that stands on another commit now.
pub(crate) struct MovedCandidate {
    /// The commit that it was.
    pub(crate) from: Commit,
    /// The commit that it stands on.
    pub(crate) onto: Commit,
    /// The commit that it is.
    pub(crate) commit: Commit,
}

/// What a record says of such work; none for all other records.
pub(crate) fn restack_of(event: &Event) -> Option<Restack> {
    match event {
        Event::Restacked {
            what: Restackable::Tests,
            commit,
            ..
        } => Some(Restack::Tests(format!(
            "tests put onto the new base: {}",
            short(commit)
        ))),
        Event::RestackRefused {
            what: Restackable::Tests,
            paths,
            ..
        } => Some(Restack::Tests(format!(
            "tests do not fit onto the new base and are written anew: {}",
            paths.join(", ")
        ))),
        Event::Restacked {
            from, onto, commit, ..
        } => {
            let words = [from, onto, commit].map(short);
            Some(Restack::Candidate {
                words: format!("{} put onto {} as {}", words[0], words[1], words[2]),
                moved: Some(MovedCandidate {
                    from: from.clone(),
                    onto: onto.clone(),
                    commit: commit.clone(),
                }),
            })
        }
        Event::RestackRefused { onto, paths, .. } => Some(Restack::Candidate {
            words: format!("does not fit onto {}: {}", short(onto), paths.join(", ")),
            moved: None,
        }),
        _ => None,
    }
}

/// A commit as people name it.
pub(crate) fn short(commit: &Commit) -> &str {
    &commit.as_str()[..12]
}
