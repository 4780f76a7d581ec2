//! The vocabulary: what the keys and words found in real PRDs mean.
//!
//! Keys are compared without case, spaces, dashes and underscores, so `acceptanceCriteria`,
//! `acceptance_criteria` and `Acceptance Criteria` are the same key. Lists are in order of
//! precedence.

use crate::node::{Entry, Map};
use crate::story::{Priority, StoryState};

/// Keys under which a document keeps its stories. The first that holds objects wins.
pub(crate) const CONTAINERS: &[&str] = &[
    "userstories",
    "stories",
    "tasks",
    "items",
    "features",
    // Also a name for criteria; as a container it must hold objects.
    "requirements",
    "units",
    "tickets",
    "workitems",
    "backlog",
    // The groups come last: a flat list of stories beside them wins.
    "epics",
    "phases",
    "milestones",
    "sprints",
];
/// Containers that mean stories wherever they appear. `tasks` or `items` inside an unknown object
/// may be anything.
pub(crate) const CERTAIN_CONTAINERS: &[&str] = &["userstories", "stories"];
/// Containers whose entries may themselves hold stories.
pub(crate) const GROUPS: &[&str] = &["epics", "phases", "milestones", "sprints", "features"];
/// Keys under which a group keeps its stories or further groups.
pub(crate) const IN_GROUP: &[&str] = &[
    "userstories",
    "stories",
    "tasks",
    "items",
    "features",
    "units",
    "tickets",
    "workitems",
    "epics",
    "phases",
    "milestones",
];
/// Keys that wrap a whole document.
pub(crate) const WRAPPERS: &[&str] = &["prd", "data"];

pub(crate) const ID: &[&str] = &["id", "storyid", "featureid", "taskid", "ticketid", "key"];
pub(crate) const TITLE: &[&str] = &["title", "name", "summary", "task", "feature"];
pub(crate) const DESCRIPTION: &[&str] =
    &["description", "goal", "details", "userstory", "overview"];
pub(crate) const CRITERIA: &[&str] = &[
    "acceptancecriteria",
    "acceptance",
    "criteria",
    "successcriteria",
    "steps",
    "requirements",
    "verification",
    "validationsteps",
    "testcases",
    "tests",
    "definitionofdone",
    // Parts of a story rather than criteria, so they count only if there is nothing better.
    "subtasks",
    "deliverables",
    "tasks",
];
pub(crate) const DEPENDS_ON: &[&str] = &["dependson", "dependencies", "deps", "blockedby"];
pub(crate) const BLOCKS: &[&str] = &["blocks"];
pub(crate) const PRIORITY: &[&str] = &["priority"];
pub(crate) const FLAGS: &[&str] = &["passes", "passed", "completed", "complete", "done"];
pub(crate) const SKIPPED: &[&str] = &["skipped", "skip"];
pub(crate) const STATUS: &[&str] = &["status", "state"];
pub(crate) const TOOL: &[&str] = &["tool"];
pub(crate) const MODEL: &[&str] = &["model"];
pub(crate) const FILES: &[&str] = &["files"];
pub(crate) const GROUP: &[&str] = &["group"];
/// Not `completionNotes` and the like: those say what was done, not what to do.
pub(crate) const NOTES: &[&str] = &["notes", "technicalnotes", "implementationnotes"];

/// The keys that every story has in the canonical form.
pub(crate) const ALWAYS_WRITTEN: &[&str] = &[
    "id",
    "title",
    "description",
    "acceptance_criteria",
    "passes",
    "depends_on",
];

pub(crate) const DOCUMENT_TITLE: &[&str] = &[
    "title",
    "name",
    "project",
    "projectname",
    "productname",
    "product",
    "prdtitle",
    "prdname",
];
pub(crate) const DOCUMENT_DESCRIPTION: &[&str] = &[
    "description",
    "goal",
    "overview",
    "productoverview",
    "taskdescription",
];
pub(crate) const BRANCH: &[&str] = &["branchname", "branch"];
/// Keys that hold commands or rules for every story, each with the name it gives to a single
/// command.
pub(crate) const CHECKS: &[(&str, Option<&str>)] = &[
    ("qualitygates", None),
    ("checks", None),
    ("gates", None),
    ("qualitycommands", None),
    ("verifycommands", None),
    ("verifycommand", Some("verify")),
    ("verificationcommand", Some("verify")),
    ("testcommand", Some("test")),
    ("lintcommand", Some("lint")),
    ("typecheckcommand", Some("typecheck")),
    ("buildcommand", Some("build")),
];
/// Objects of a document that may contain checks, one level down.
pub(crate) const CHECK_HOLDERS: &[&str] = &[
    "context",
    "projectcontext",
    "metadata",
    "defaults",
    "agentguidance",
];

/// Keys that hold the sentence of a criterion written as an object.
pub(crate) const CRITERION_TEXT: &[&str] = &[
    "text",
    "criterion",
    "criteria",
    "description",
    "title",
    "name",
    "requirement",
    "userstory",
    "step",
    "expected",
];
/// Keys that hold the command of a criterion or a check written as an object.
pub(crate) const CRITERION_COMMAND: &[&str] = &[
    "command",
    "cmd",
    "verifycommand",
    "testcommand",
    "run",
    "verify",
    "test",
];

/// Says whether a key is one that the reader acts on.
pub(crate) fn is_known(key: &str) -> bool {
    let all = [
        CONTAINERS,
        WRAPPERS,
        ID,
        TITLE,
        DESCRIPTION,
        CRITERIA,
        DEPENDS_ON,
        BLOCKS,
        PRIORITY,
        FLAGS,
        SKIPPED,
        STATUS,
        TOOL,
        MODEL,
        FILES,
        NOTES,
        BRANCH,
        &["nodes", "edges", "from", "to"],
    ];
    let key = Squashed::new(key);
    all.iter()
        .any(|names| names.iter().any(|name| key.is(name)))
}

/// A key without case, spaces, dashes and underscores. It lives on the stack, because one is made
/// for every key of every story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Squashed {
    letters: [u8; Self::MAX],
    length: u8,
}

impl Squashed {
    /// No name in the tables is this long.
    const MAX: usize = 31;

    pub(crate) fn new(key: &str) -> Self {
        let mut squashed = Self {
            letters: [0; Self::MAX],
            length: 0,
        };
        for byte in key
            .bytes()
            .filter(|byte| !matches!(byte, b' ' | b'-' | b'_'))
        {
            let length = usize::from(squashed.length);
            if length == Self::MAX {
                // Longer than any known key, so make it equal to none.
                return Self {
                    letters: [0; Self::MAX],
                    length: 0,
                };
            }
            squashed.letters[length] = byte.to_ascii_lowercase();
            squashed.length += 1;
        }
        squashed
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.letters[..usize::from(self.length)] == *name.as_bytes()
    }
}

/// A map's entries with their keys squashed once, for many lookups.
pub(crate) struct Fields<'a, 's> {
    entries: &'a [Entry<'s>],
    keys: Vec<Squashed>,
}

impl<'a, 's> Fields<'a, 's> {
    pub(crate) fn of(map: &'a Map<'s>) -> Self {
        Self {
            entries: &map.entries,
            keys: map
                .entries
                .iter()
                .map(|entry| Squashed::new(&entry.key))
                .collect(),
        }
    }

    /// The entry of the first of these names that is present. Of duplicate keys the last one
    /// counts, as in other JSON readers.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&'a Entry<'s>> {
        self.all(names).next()
    }

    /// The entries of these names in order of precedence.
    pub(crate) fn all(&self, names: &[&str]) -> impl Iterator<Item = &'a Entry<'s>> {
        names.iter().filter_map(|name| self.named(name))
    }

    /// Known keys that occur twice in different spellings. The search is quadratic, so it stops at
    /// a size that no story reaches.
    pub(crate) fn two_spellings(&self) -> Vec<(&'a Entry<'s>, &'a Entry<'s>)> {
        const ENTRIES_MAX: usize = 64;
        let mut found = Vec::new();
        for (later, key) in self.keys.iter().enumerate().take(ENTRIES_MAX) {
            let earlier = self.keys[..later].iter().position(|earlier| earlier == key);
            if let Some(earlier) =
                earlier.filter(|at| self.entries[*at].key != self.entries[later].key)
                && is_known(&self.entries[later].key)
            {
                found.push((&self.entries[earlier], &self.entries[later]));
            }
        }
        found
    }

    /// The last entry of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&'a Entry<'s>> {
        let index = self.keys.iter().rposition(|key| key.is(name))?;
        self.entries.get(index)
    }
}

const WORDS_OPEN: &[&str] = &[
    "open",
    "pending",
    "ready",
    "in-progress",
    "inprogress",
    "in progress",
    "wip",
    "started",
    "not-started",
    "not started",
    "to-do",
    "to do",
    "new",
    "planned",
    "backlog",
    "active",
    "draft",
    "queued",
    "incomplete",
    "partial",
    "partially-complete",
    "in-review",
    "review",
    "proposed",
    "approved",
    "next",
    "running",
    "doing",
    "unstarted",
];
/// Those words for an open story that say that somebody works on it.
const WORDS_IN_PROGRESS: &[&str] = &["in-progress", "wip", "started", "doing", "running"];
const WORDS_PASSED: &[&str] = &[
    "done",
    "completed",
    "complete",
    "closed",
    "passed",
    "pass",
    "passes",
    "finished",
    "shipped",
    "merged",
    "implemented",
    "verified",
    "resolved",
];
const WORDS_SKIPPED: &[&str] = &[
    "skipped",
    "skip",
    "deferred",
    "postponed",
    "on-hold",
    "parked",
    "ignored",
];
const WORDS_WONT_FIX: &[&str] = &[
    "wont-fix",
    "wontfix",
    "won't fix",
    "won't-fix",
    "wont do",
    "won't do",
    "cancelled",
    "canceled",
    "obsolete",
    "abandoned",
    "dropped",
    "rejected",
    "duplicate",
    "invalid",
    "superseded",
    "removed",
];
const WORDS_BLOCKED: &[&str] = &["blocked"];
const WORDS_STUCK: &[&str] = &["stuck", "needs-human", "needs human"];
const WORDS_FAILED: &[&str] = &["failed", "fail", "failing", "error"];

/// The state that a status word means, `None` if the word is unknown.
pub(crate) fn state_of_word(word: &str) -> Option<StoryState> {
    // `won't` is written with either apostrophe, or with none.
    let found = Squashed::new(&word.replace(['\'', '’'], ""));
    let among = |words: &[&str]| words.iter().any(|word| found.is_squashed(word));
    [
        (WORDS_OPEN, StoryState::Open),
        (WORDS_PASSED, StoryState::Passed),
        (WORDS_SKIPPED, StoryState::Skipped),
        (WORDS_WONT_FIX, StoryState::WontFix),
        (WORDS_BLOCKED, StoryState::Blocked),
        (WORDS_STUCK, StoryState::Stuck),
        (WORDS_FAILED, StoryState::Failed),
    ]
    .into_iter()
    .find(|(words, _)| among(words))
    .map(|(_, state)| state)
}

/// Says whether a status word means that somebody works on the story.
pub(crate) fn is_in_progress(word: &str) -> bool {
    let found = Squashed::new(word);
    WORDS_IN_PROGRESS.iter().any(|word| found.is_squashed(word))
}

impl Squashed {
    /// Compares with a word that the tables write with dashes, spaces or apostrophes, to be
    /// readable.
    pub(crate) fn is_squashed(&self, word: &str) -> bool {
        let plain = word
            .bytes()
            .filter(|byte| !matches!(byte, b' ' | b'-' | b'_' | b'\''));
        plain.eq(self.letters[..usize::from(self.length)].iter().copied())
    }
}

/// The priority that a word means: critical, high, medium, low, or P0, P1, ….
pub(crate) fn priority_of_word(word: &str) -> Option<Priority> {
    let word = word.to_ascii_lowercase();
    let number = match word.as_str() {
        "critical" | "highest" | "urgent" | "blocker" | "must" | "must-have" => 0,
        "high" | "should" | "should-have" => 1,
        "medium" | "normal" | "moderate" | "med" | "could" | "could-have" => 2,
        "low" | "minor" | "nice-to-have" => 3,
        "lowest" | "trivial" | "optional" => 4,
        // `P0` to `P99`.
        _ => word
            .strip_prefix('p')
            .filter(|digits| digits.len() <= 2)?
            .parse::<u8>()
            .ok()?
            .into(),
    };
    Some(Priority::whole(number))
}

/// The agents that a story can always ask for, with the other names that people use for them.
pub(crate) const TOOLS: &[(&str, &[&str])] = &[
    ("codex", &["openai-codex", "codex-cli", "openai codex"]),
    (
        "claude",
        &["claude-code", "claude code", "claudecode", "claude-cli"],
    ),
    ("pi", &["pi-agent"]),
    ("opencode", &["open-code"]),
    ("gemini", &["gemini-cli"]),
];

/// Says whether a story can ask for this agent by its own name.
pub fn is_known_tool(name: &str) -> bool {
    TOOLS.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_words_mean_states_in_any_spelling() {
        for (word, expected) in [
            ("Done", Some(StoryState::Passed)),
            ("COMPLETED", Some(StoryState::Passed)),
            ("in_progress", Some(StoryState::Open)),
            ("Not Started", Some(StoryState::Open)),
            ("won't-fix", Some(StoryState::WontFix)),
            ("Won’t Fix", Some(StoryState::WontFix)),
            ("wontfix", Some(StoryState::WontFix)),
            ("Skipped", Some(StoryState::Skipped)),
            ("blocked", Some(StoryState::Blocked)),
            ("stuck", Some(StoryState::Stuck)),
            ("failed", Some(StoryState::Failed)),
            ("frobnicated", None),
            ("", None),
        ] {
            assert_eq!(state_of_word(word), expected, "{word:?}");
        }
    }

    #[test]
    fn priority_words_become_numbers() {
        for (word, expected) in [
            ("Critical", Some("0")),
            ("high", Some("1")),
            ("P0", Some("0")),
            ("p3", Some("3")),
            ("pick", None),
            ("", None),
        ] {
            assert_eq!(
                priority_of_word(word)
                    .map(|found| found.to_string())
                    .as_deref(),
                expected,
                "{word:?}"
            );
        }
    }

    #[test]
    fn keys_are_compared_without_case_and_dashes() {
        for (key, known) in [
            ("acceptance_criteria", true),
            ("Acceptance Criteria", true),
            ("dependsOn", true),
            ("technical_notes", true),
            ("estimate", false),
            ("", false),
        ] {
            assert_eq!(is_known(key), known, "{key}");
        }
    }
}
