//! Ids for stories that have none, and different ids for stories that share one.
//!
//! An id made from the title stays the same when somebody adds a task above it, which a number by
//! position would not: a running loop must never tick the box of another story.

use std::collections::HashSet;

use crate::story::StoryId;

/// How an id came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// It is the author's.
    Given,
    /// It was made from the title.
    FromTitle,
    /// The author gave it to an earlier story too.
    Again,
}

/// An id for every story, in order: `given` ids first, then made from titles, all different.
pub(super) fn unique(stories: &[(Option<&str>, &str)]) -> Vec<(StoryId, Made)> {
    let given = |story: &(Option<&str>, &str)| story.0.and_then(|id| StoryId::new(id).ok());
    let mut taken: HashSet<String> = HashSet::new();
    // All given ids are taken first, so that a made one never equals a later given one.
    let reserved: HashSet<String> = stories
        .iter()
        .filter_map(given)
        .map(|id| id.as_str().to_owned())
        .collect();
    let mut turns = std::collections::HashMap::new();
    stories
        .iter()
        .map(|story| {
            let (wanted, made) = match given(story) {
                Some(id) => (id.as_str().to_owned(), Made::Given),
                None => (slug(story.1), Made::FromTitle),
            };
            let is_free = made == Made::Given || !reserved.contains(&wanted);
            if is_free && taken.insert(wanted.clone()) {
                return (usable(&wanted), made);
            }
            let made = if made == Made::Given {
                Made::Again
            } else {
                made
            };
            // Turns go on where the last equal id stopped, so that a million equal titles are
            // numbered in linear time.
            let turn = turns.entry(wanted.clone()).or_insert(1_usize);
            loop {
                *turn += 1;
                let word = format!("{wanted}-{turn}");
                if !reserved.contains(&word) && taken.insert(word.clone()) {
                    return (usable(&word), made);
                }
            }
        })
        .collect()
}

/// Made ids hold only letters, digits and dashes, and given ids were checked.
fn usable(word: &str) -> StoryId {
    StoryId::new(word).unwrap_or_else(|_| unreachable!("`{word}` is made of letters and digits"))
}

/// The letters and digits of a title in lower case, joined by dashes, as long as fits a branch name.
fn slug(title: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut out = String::new();
    for word in title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let word = word.to_lowercase();
        let length = out.chars().count();
        if length > 0 && length + 1 + word.chars().count() > CHARS_MAX {
            break;
        }
        if length > 0 {
            out.push('-');
        }
        out.extend(word.chars().filter(|c| c.is_alphanumeric()).take(CHARS_MAX));
    }
    if out.is_empty() {
        "story".to_owned()
    } else {
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_titles_give_words() {
        let stories = [
            (Some("6"), "a"),
            (Some("6"), "b"),
            (None, "Add **login** — for `all`!"),
            (None, "Add login for all"),
            (None, "…"),
            (Some("6-2"), "c"),
            (Some("a/b"), "Bad id"),
            (
                None,
                "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五",
            ),
        ];
        let ids: Vec<String> = unique(&stories)
            .iter()
            .map(|(id, _)| id.to_string())
            .collect();
        assert_eq!(
            ids,
            [
                "6",
                "6-3",
                "add-login-for-all",
                "add-login-for-all-2",
                "story",
                "6-2",
                "bad-id",
                "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十"
            ]
        );
    }
}
