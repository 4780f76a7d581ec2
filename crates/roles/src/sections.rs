//! The sections of a prompt that have to share the room that the story leaves.
//!
//! A section that is too long is shortened from its end, and a mark says by how much. None is
//! dropped: each keeps its beginning, and one that is short anyway stays whole.

use crate::context::{Context, Excerpt, Found};

/// The sections in the order in which they are shortened when there is not room for all, each with
/// the most that its text may take.
pub(crate) const SECTIONS: [(&str, usize); 6] = [
    ("inventory", 2 * 1024),
    ("learned", 2 * 1024),
    ("excerpts", 8 * 1024),
    ("about", 4 * 1024),
    ("guides", 6 * 1024),
    ("patterns", 4 * 1024),
];

/// What a section keeps of its text however little room there is.
const KEPT_BYTES_MIN: usize = 512;

/// Room that the mark of a shortened text takes.
const MARK_BYTES: usize = 48;

/// One section: a title, and parts that are shortened each for itself.
struct Section {
    name: &'static str,
    title: &'static str,
    parts: Vec<Part>,
}

struct Part {
    before: String,
    text: String,
    after: &'static str,
}

/// The sections that a template asks for, made to fit; and which of them were shortened.
pub(crate) fn fitted(
    is_wanted: impl Fn(&str) -> bool,
    context: &Context,
    room: usize,
) -> (Vec<(&'static str, String)>, Vec<String>) {
    let sections: Vec<Section> = all(context)
        .into_iter()
        .filter(|section| is_wanted(section.name) && !section.parts.is_empty())
        .collect();
    let sizes: Vec<usize> = sections.iter().map(Section::bytes).collect();
    let limits = limits(&sections, &sizes, room);
    let mut cut = Vec::new();
    let mut values = Vec::new();
    for ((section, bytes), limit) in sections.iter().zip(sizes).zip(limits) {
        if limit < bytes {
            cut.push(format!(
                "{} ({bytes} bytes, shortened to {limit})",
                section.name
            ));
        }
        values.push((section.name, section.within(limit)));
    }
    (values, cut)
}

/// How much each section may take: at most its own bound, and together what there is room for as
/// far as each can still keep its beginning.
fn limits(sections: &[Section], sizes: &[usize], room: usize) -> Vec<usize> {
    let bound = |section: &Section| {
        let mut known = SECTIONS.iter();
        known
            .find(|(name, _)| *name == section.name)
            .map_or(usize::MAX, |(_, bytes_max)| *bytes_max)
    };
    let mut limits: Vec<usize> = sections
        .iter()
        .zip(sizes)
        .map(|(section, bytes)| (*bytes).min(bound(section)))
        .collect();
    for (name, _) in SECTIONS {
        let excess = limits.iter().sum::<usize>().saturating_sub(room);
        let at = sections.iter().position(|section| section.name == name);
        if let Some(at) = at {
            let spare = limits[at].saturating_sub(KEPT_BYTES_MIN);
            limits[at] -= excess.min(spare);
        }
    }
    limits
}

impl Section {
    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    /// The section with at most so many bytes of text. Short parts stay whole, and long ones share
    /// what is left, so that one long file does not push out the others.
    fn within(&self, limit: usize) -> String {
        let mut by_size: Vec<usize> = self.parts.iter().map(|part| part.text.len()).collect();
        by_size.sort_unstable();
        let (mut left, mut share) = (limit, usize::MAX);
        for (at, bytes) in by_size.iter().enumerate() {
            let fair = left / (by_size.len() - at);
            if *bytes > fair {
                share = fair;
                break;
            }
            left -= bytes;
        }
        let mut out = format!("## {}\n\n", self.title);
        for part in &self.parts {
            out.push_str(&part.before);
            out.push_str(&shortened(&part.text, share));
            out.push_str(part.after);
        }
        format!("{}\n\n", out.trim_end())
    }
}

/// The beginning of a text, up to the end of a line where one is near, and a mark where the rest
/// was.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut end = bytes_max.saturating_sub(MARK_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A line is worth ending with if that does not cost most of what is left.
    let line_end = text[..end].rfind('\n').filter(|at| *at > end / 2);
    let kept = text[..line_end.unwrap_or(end)].trim_end();
    format!(
        "{kept}\n[… shortened here: {} more bytes]",
        text.len() - kept.len()
    )
}

/// Every section that there is something for, in the order in which they stand in `SECTIONS`.
fn all(context: &Context) -> Vec<Section> {
    let one = |name, title, text: String| Section {
        name,
        title,
        parts: Some(text)
            .filter(|text| !text.trim().is_empty())
            .map(|text| Part {
                before: String::new(),
                text: text.trim().to_owned(),
                after: "",
            })
            .into_iter()
            .collect(),
    };
    let guides = context.guides.iter().map(|(name, text)| Part {
        before: format!("### {name}\n\n"),
        text: text.trim().to_owned(),
        after: "\n\n",
    });
    vec![
        one("inventory", "Files to know", bullets(&context.inventory)),
        one(
            "learned",
            "What earlier stories taught",
            bullets(&context.learned),
        ),
        Section {
            name: "excerpts",
            title: "The files that the story names, before your work",
            parts: context.excerpts.iter().map(excerpt).collect(),
        },
        one(
            "about",
            "What the whole is about",
            context.about.clone().unwrap_or_default(),
        ),
        Section {
            name: "guides",
            title: "What the project asks of agents",
            parts: guides.collect(),
        },
        one(
            "patterns",
            "Codebase Patterns",
            context.patterns.clone().unwrap_or_default(),
        ),
    ]
}

fn excerpt(excerpt: &Excerpt) -> Part {
    // Four backticks, since a file may hold three.
    const FENCE: &str = "````";
    let path = &excerpt.path;
    let said = |words: &str| Part {
        before: format!("### `{path}`\n\n"),
        text: words.to_owned(),
        after: "\n\n",
    };
    match &excerpt.found {
        Found::Text(text) => Part {
            before: format!("### `{path}`\n\n{FENCE}\n"),
            text: text.trim_end().to_owned(),
            after: "\n````\n\n",
        },
        Found::Folder(names) => said(&format!("A folder with: {}", names.join(", "))),
        Found::Unreadable => said("It is there, and is no text that can be shown here."),
        Found::Nothing => said("It does not exist yet."),
    }
}

pub(crate) fn bullets(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("- {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(word: &str, bytes: usize) -> String {
        let line = format!("{word} and so on\n");
        line.repeat(bytes / line.len() + 1)[..bytes].to_owned()
    }

    fn fit(context: &Context, room: usize) -> (Vec<(&'static str, String)>, Vec<String>) {
        fitted(|_| true, context, room)
    }

    fn section<'v>(values: &'v [(&'static str, String)], name: &str) -> &'v str {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, text)| text)
    }

    #[test]
    fn a_claude_md_of_six_kilobytes_is_shortened_from_its_end_with_a_mark() {
        let guide = lines("rule", 6_246);
        let context = Context {
            guides: vec![("CLAUDE.md".to_owned(), guide.clone())],
            inventory: vec!["Cargo.toml".to_owned(), "src/lib.rs".to_owned()],
            ..Context::default()
        };
        let (values, cut) = fit(&context, 100_000);
        let guides = section(&values, "guides");
        assert!(guides.starts_with("## What the project asks of agents\n\n### CLAUDE.md\n\nrule"));
        assert!(guides.contains(&guide[..5_900]), "most of it is there");
        assert!(
            guides.trim_end().ends_with("more bytes]"),
            "a mark at its end: {guides}"
        );
        assert!(guides.len() < 6 * 1024 + 100);
        assert_eq!(
            section(&values, "inventory"),
            "## Files to know\n\n- Cargo.toml\n- src/lib.rs\n\n",
            "a short list stays whole"
        );
        assert_eq!(cut, ["guides (6246 bytes, shortened to 6144)"]);
    }

    #[test]
    fn sections_are_shortened_in_their_order_until_all_have_room() {
        let context = Context {
            patterns: Some(lines("pattern", 3_000)),
            guides: vec![("AGENTS.md".to_owned(), lines("guide", 3_000))],
            learned: vec![lines("lesson", 1_500)],
            inventory: vec![lines("file", 1_000)],
            ..Context::default()
        };
        let shortened = |room: usize| {
            let (values, cut) = fit(&context, room);
            let names: Vec<String> = cut
                .iter()
                .filter_map(|cut| cut.split_whitespace().next().map(str::to_owned))
                .collect();
            let all_begin = ["file", "lesson", "guide", "pattern"]
                .iter()
                .all(|word| values.iter().any(|(_, text)| text.contains(word)));
            assert!(all_begin, "none is gone with room for {room}");
            names.join(" ")
        };
        for (room, expected) in [
            (9_000, ""),
            (8_300, "inventory"),
            (7_500, "inventory learned"),
            (6_000, "inventory learned guides"),
            (3_000, "inventory learned guides patterns"),
            (0, "inventory learned guides patterns"),
        ] {
            assert_eq!(shortened(room), expected, "room for {room}");
        }
    }

    #[test]
    fn one_long_file_does_not_push_out_the_others() {
        let text = |path: &str, text: String| Excerpt {
            path: path.to_owned(),
            found: Found::Text(text),
        };
        let context = Context {
            excerpts: vec![
                text("src/long.rs", lines("long", 50_000)),
                text("src/short.rs", "fn short() {}".to_owned()),
                Excerpt {
                    path: "src/new.rs".to_owned(),
                    found: Found::Nothing,
                },
            ],
            ..Context::default()
        };
        let (values, _) = fit(&context, 100_000);
        let excerpts = section(&values, "excerpts");
        for part in [
            "### `src/long.rs`\n\n````\nlong and so on",
            "more bytes]\n````\n\n### `src/short.rs`\n\n````\nfn short() {}\n````",
            "### `src/new.rs`\n\nIt does not exist yet.",
        ] {
            assert!(excerpts.contains(part), "{part} in {excerpts}");
        }
        assert!(excerpts.len() < 9 * 1024, "{}", excerpts.len());
    }

    #[test]
    fn a_mark_never_splits_a_letter() {
        let umlauts = "ü".repeat(400);
        for bytes_max in 60..120 {
            let made = shortened(&umlauts, bytes_max);
            assert!(made.len() <= bytes_max, "{} of {bytes_max}", made.len());
        }
    }
}
