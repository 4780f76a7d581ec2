//! How a loop's commits look: whose they are, and the template of their subject.

use serde::{Deserialize, Serialize};

/// The subject of commits where nobody says otherwise.
pub const USUAL_SUBJECT: &str = "feat: [{loop}] [{story}] attempt-{attempt} — {title}";

/// What a template may name.
pub const PLACEHOLDERS: [&str; 5] = ["loop", "story", "attempt", "title", "agent"];

/// Git and the sites that show commits cut subjects that are longer.
const SUBJECT_CHARS_MAX: usize = 72;

/// So much of a title is shown however little room the rest of the template leaves.
const TITLE_CHARS_MIN: usize = 24;

/// How a loop's commits look. People are kept as `Name <mail>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSettings {
    /// The template of the subject.
    pub subject: String,
    /// Author and committer; Loopwright itself where there is nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whoever signs the commits off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_off_by: Option<String>,
    /// Whether the agents are named as co-authors.
    #[serde(default)]
    pub co_author: bool,
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSubject {
    /// It names something that there is not.
    #[error("`{{{0}}}` is no placeholder; there are {list}", list = placeholders())]
    Unknown(String),
    /// A brace without its partner.
    #[error("a `{{` or `}}` stands alone; braces go around placeholders, which are {list}", list = placeholders())]
    Brace,
    /// It has no text, or several lines of it.
    #[error("a subject is one line of text")]
    NotOneLine,
    /// Git takes such a line for a comment when somebody edits the message.
    #[error("a subject must not begin with `#`, which begins a comment in git's editor")]
    Comment,
}

fn placeholders() -> String {
    PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(" ")
}

/// What a template is filled with.
#[derive(Debug, Clone, Copy)]
pub struct SubjectFacts<'a> {
    /// The loop's id.
    pub loop_id: &'a str,
    /// The story's id.
    pub story: &'a str,
    /// The attempt's number.
    pub attempt: u32,
    /// The story's title.
    pub title: &'a str,
    /// The agent that implemented it.
    pub agent: &'a str,
}

/// A subject, and the whole title where the subject has only its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// One line.
    pub line: String,
    /// One line too.
    pub whole_title: Option<String>,
}

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Value(&'static str),
}

/// Says whether a template can be used.
pub fn check_subject(template: &str) -> Result<(), BadSubject> {
    if template.trim().is_empty() || template.chars().any(breaks_line) {
        return Err(BadSubject::NotOneLine);
    }
    if template.trim_start().starts_with('#') {
        return Err(BadSubject::Comment);
    }
    pieces(template).map(drop)
}

fn pieces(template: &str) -> Result<Vec<Piece<'_>>, BadSubject> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((text, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').ok_or(BadSubject::Brace)?;
        let known = PLACEHOLDERS.into_iter().find(|known| *known == name);
        let known = known.ok_or_else(|| BadSubject::Unknown(name.to_owned()))?;
        pieces.extend([Piece::Text(text), Piece::Value(known)]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    let is_alone = |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.contains('}'));
    if pieces.iter().any(is_alone) {
        return Err(BadSubject::Brace);
    }
    Ok(pieces)
}

/// Fills a template. Values are put in as they are, never read as templates themselves, and none
/// of them can end the line.
pub fn subject(template: &str, facts: &SubjectFacts<'_>) -> Result<Subject, BadSubject> {
    check_subject(template)?;
    let pieces = pieces(template)?;
    let title = plain_line(facts.title);
    let filled = |title: &str| -> String {
        let value = |name: &str| match name {
            "loop" => plain_line(facts.loop_id),
            "story" => plain_line(facts.story),
            "attempt" => facts.attempt.to_string(),
            "agent" => plain_line(facts.agent),
            _ => title.to_owned(),
        };
        let one = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Value(name) => value(name),
        };
        plain_line(&pieces.iter().map(one).collect::<String>())
    };
    let room = if pieces.contains(&Piece::Value("loop")) {
        // A loop's id alone fills a third of the line: such a subject is there to be searched, and
        // its title is only kept from growing without end.
        SUBJECT_CHARS_MAX
    } else {
        let others = filled("").chars().count();
        SUBJECT_CHARS_MAX
            .saturating_sub(others)
            .max(TITLE_CHARS_MIN)
    };
    let shown = shortened(&title, room);
    let line = filled(&shown).trim_start_matches(['#', ' ']).to_owned();
    let is_cut = shown != title && pieces.contains(&Piece::Value("title"));
    Ok(Subject {
        line: if line.is_empty() {
            format!("story {}", plain_line(facts.story))
        } else {
            line
        },
        whole_title: is_cut.then_some(title),
    })
}

/// A text as one line, without anything that a terminal or git would obey.
pub fn plain_line(text: &str) -> String {
    let visible = text
        .chars()
        .map(|letter| if breaks_line(letter) { ' ' } else { letter })
        .collect::<String>();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that end a line, or that turn around the direction in which it is read.
fn breaks_line(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text of at most so many characters, cut between words where there is a place for that.
fn shortened(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max - 1).collect();
    let whole_words = kept.rsplit_once(' ').map(|(words, _)| words);
    let is_enough = |words: &&str| words.chars().count() * 2 > chars_max;
    let kept = whole_words.filter(is_enough).unwrap_or(&kept);
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(title: &str) -> SubjectFacts<'_> {
        SubjectFacts {
            loop_id: "L1",
            story: "US-1",
            attempt: 2,
            title,
            agent: "codex",
        }
    }

    #[test]
    fn a_template_is_filled() {
        for (template, title, expected) in [
            (
                USUAL_SUBJECT,
                "A title",
                "feat: [L1] [US-1] attempt-2 — A title",
            ),
            ("feat: {title} ({story})", "A title", "feat: A title (US-1)"),
            ("{agent}: {title}", "A title", "codex: A title"),
            (
                "{title}",
                "uses {story} and {nonsense}",
                "uses {story} and {nonsense}",
            ),
            ("{title}", "one\n\nStory-Id: forged", "one Story-Id: forged"),
            (
                "{title}",
                "a\u{1b}[31mred\u{2028}b\u{202e}c",
                "a [31mred b c",
            ),
            ("{title}", "## 12 is fixed", "12 is fixed"),
            ("{title}", "# \u{7}", "story US-1"),
            ("plain", "A title", "plain"),
        ] {
            let found = subject(template, &facts(title)).expect("a subject");
            assert_eq!(found.line, expected, "{template} {title}");
            assert_eq!(found.whole_title, None, "{template} {title}");
        }
    }

    #[test]
    fn a_long_title_is_cut_and_kept_whole() {
        let long = "word ".repeat(40);
        let whole = long.trim_end().to_owned();
        for (template, chars_max) in [("feat: {title} ({story})", 72), ("{title}", 72)] {
            let found = subject(template, &facts(&long)).expect("a subject");
            let chars = found.line.chars().count();
            assert!(
                chars <= chars_max && chars > chars_max - 6,
                "{}",
                found.line
            );
            assert!(found.line.contains("word…"), "{}", found.line);
            assert_eq!(found.whole_title.as_ref(), Some(&whole));
        }
        let usual = subject(USUAL_SUBJECT, &facts(&long)).expect("a subject");
        assert_eq!(usual.line.chars().count(), 30 + 70, "{}", usual.line);
        let no_spaces = "ä".repeat(100);
        let found = subject("{title}", &facts(&no_spaces)).expect("a subject");
        assert_eq!(found.line, format!("{}…", "ä".repeat(71)));
        let without = subject("plain", &facts(&long)).expect("a subject");
        assert_eq!(without.whole_title, None);
        let tight = format!("{} {{title}}", "x".repeat(70));
        let found = subject(&tight, &facts(&long)).expect("a subject");
        assert!(found.line.ends_with("word word word…"), "{}", found.line);
    }

    #[test]
    fn a_template_that_cannot_be_used_is_refused() {
        for (template, expected) in [
            (
                "feat: {name}",
                "`{name}` is no placeholder; there are {loop} {story} {attempt} {title} {agent}",
            ),
            ("feat: {title", "a `{` or `}` stands alone"),
            ("feat: title}", "a `{` or `}` stands alone"),
            ("{}", "`{}` is no placeholder"),
            ("  ", "a subject is one line of text"),
            ("a\nb", "a subject is one line of text"),
            ("# {title}", "a subject must not begin with `#`"),
        ] {
            let refused = check_subject(template).expect_err(template).to_string();
            assert!(refused.starts_with(expected), "{template}: {refused}");
        }
    }
}
