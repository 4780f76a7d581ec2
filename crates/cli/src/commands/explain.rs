//! `loopwright explain TOPIC`: the documentation, and a page for each diagnostic code, carried
//! inside the program. Whoever installed only that has no other place to read them.

use crate::config::probably_meant;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

/// A page of the documentation.
#[derive(Debug, Clone, Copy)]
struct Page {
    name: &'static str,
    text: &'static str,
}

macro_rules! pages {
    ($folder:literal: $($name:literal)*) => {
        &[$(Page {
            name: $name,
            text: include_str!(concat!("../../", $folder, $name, ".md")),
        }),*]
    };
}

/// In the order in which one reads them.
const TOPICS: &[Page] = pages!("docs/":
    "quickstart" "install" "first-loop" "real-agents" "ralph" "reviewing" "when-it-asks" "when-it-fails"
    "troubleshooting" "running" "config" "sandbox" "trees" "secrets" "flows" "facts" "prd" "events" "json" "screens"
);

/// Every code with its page; `tidy` sees to it that each code has one.
const CODES: &[Page] = pages!("docs/errors/":
    "PRD001" "PRD002" "PRD003" "PRD004" "PRD005" "PRD006" "PRD007" "PRD008" "PRD009" "PRD010"
    "PRD011" "PRD012" "PRD013" "PRD014" "PRD015" "PRD016" "PRD017" "PRD018" "PRD019" "PRD020"
    "PRD021"
);

pub(crate) fn run(topic: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("explain");
    match topic {
        Some(topic) => explain(topic, output),
        None => list(output),
    }
}

/// Every topic and code with what it is about.
pub(crate) fn codes() -> Vec<(String, String)> {
    let title = |page: &Page| {
        let line = page.text.lines().next().unwrap_or_default();
        let title = line.trim_start_matches("# ");
        title
            .split_once(": ")
            .map_or(title, |(_, title)| title)
            .to_owned()
    };
    let all = TOPICS.iter().chain(CODES);
    all.map(|page| (page.name.to_owned(), title(page)))
        .collect()
}

fn explain(wanted: &str, output: &mut Output) -> Result<Exit, Failure> {
    let wanted = wanted.trim();
    let mut all = TOPICS.iter().chain(CODES);
    let Some(page) = all.find(|page| page.name.eq_ignore_ascii_case(wanted)) else {
        let names: Vec<&str> = TOPICS.iter().chain(CODES).map(|page| page.name).collect();
        let help = match probably_meant(&wanted.to_lowercase(), &names) {
            Some(near) => format!("did you mean `{near}`? `loopwright explain` lists everything"),
            None => "`loopwright explain` lists all topics and codes".to_owned(),
        };
        return Err(Failure::bad_input(format!("there is no page on `{wanted}`")).hint(help));
    };
    let text = without_links(page.text);
    output.data(&text)?;
    let key = if is_code(page) { "code" } else { "topic" };
    output.result(|| serde_json::json!({ key: page.name, "page": text }))?;
    Ok(Exit::Done)
}

fn is_code(page: &Page) -> bool {
    CODES.iter().any(|code| code.name == page.name)
}

fn list(output: &mut Output) -> Result<Exit, Failure> {
    let all = || TOPICS.iter().chain(CODES);
    let widest = all().map(|page| page.name.len()).max().unwrap_or_default();
    let line = |page: &Page| format!("{:<widest$}  {}\n", page.name, title(page));
    output.data(&all().map(line).collect::<String>())?;
    let listed = |key: &str, pages: &[Page]| -> Vec<_> {
        let one = |page: &Page| serde_json::json!({ key: page.name, "title": title(page) });
        pages.iter().map(one).collect()
    };
    output.result(
        || serde_json::json!({ "topics": listed("topic", TOPICS), "codes": listed("code", CODES) }),
    )?;
    output.next(NextAction::new("loopwright explain TOPIC", "read one page"));
    Ok(Exit::Done)
}

/// A page's heading; that of a code begins with the code, which is shown before it anyway.
fn title(page: &Page) -> &'static str {
    let heading = page.text.lines().next().unwrap_or_default();
    let heading = heading.trim_start_matches("# ");
    match heading.split_once(": ") {
        Some((code, title)) if code == page.name => title,
        _ => heading,
    }
}

/// A page whose links lead to other pages by their commands, since the files are not there. Links
/// to places on the web stay.
fn without_links(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, behind)) = rest.split_once("](") {
        let Some(((before, words), (target, after))) =
            before.rsplit_once('[').zip(behind.split_once(')'))
        else {
            break;
        };
        out.push_str(before);
        out.push_str(&match topic_of(target) {
            Some(topic) if words.strip_suffix(".md").is_some() => {
                format!("`loopwright explain {topic}`")
            }
            Some(topic) => format!("{words} (`loopwright explain {topic}`)"),
            None if target.starts_with("http") => format!("[{words}]({target})"),
            None => words.to_owned(),
        });
        rest = after;
    }
    out + rest
}

/// The page that a link leads to.
fn topic_of(target: &str) -> Option<&'static str> {
    let file = target.split('#').next()?;
    let name = file.rsplit('/').next()?.strip_suffix(".md")?;
    let mut all = TOPICS.iter().chain(CODES);
    all.find(|page| page.name == name).map(|page| page.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_commands_or_words() {
        for (page, expected) in [
            (
                "see [config.md](config.md#x), or",
                "see `loopwright explain config`, or",
            ),
            (
                "[`a`](errors/PRD004.md)[b](../src/b.rs)",
                "`a` (`loopwright explain PRD004`)b",
            ),
            ("[acp](https://a.example/b)", "[acp](https://a.example/b)"),
            ("a[1](2", "a[1](2"),
            ("none](at all)", "none](at all)"),
            ("", ""),
        ] {
            assert_eq!(without_links(page), expected);
        }
    }

    /// What a page tells people to type must be something that the program understands.
    #[test]
    fn every_command_of_the_documentation_is_understood() {
        let mut seen = 0;
        for page in TOPICS {
            for block in page.text.split("```sh\n").skip(1) {
                let (block, _) = block.split_once("```").expect("a closed block");
                let lines = block
                    .lines()
                    .map(|line| line.split(" #").next().unwrap_or(line));
                for line in lines.filter(|line| line.starts_with("loopwright ")) {
                    // What a shell does with the output is not the program's business.
                    let line = line.split(['>', '|']).next().unwrap_or(line);
                    let words = line
                        .split('"')
                        .enumerate()
                        .flat_map(|(at, part)| match at % 2 {
                            0 => part.split_whitespace().collect(),
                            _ => vec![part],
                        });
                    let read = <crate::args::Args as clap::CommandFactory>::command()
                        .try_get_matches_from(words);
                    let kind = read.err().map(|error| error.kind());
                    let is_understood =
                        kind.is_none_or(|kind| kind == clap::error::ErrorKind::DisplayVersion);
                    assert!(is_understood, "{}: `{line}`: {kind:?}", page.name);
                    seen += 1;
                }
            }
        }
        assert!(seen >= 50, "the pages have commands: {seen}");
    }

    /// A link that leads nowhere is a page that nobody finds.
    #[test]
    fn every_link_between_pages_leads_somewhere() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
        let index = std::fs::read_to_string(folder.join("README.md")).expect("the index");
        let pages = TOPICS.iter().map(|page| (page.name, page.text));
        for (name, text) in pages.chain([("README", index.as_str())]) {
            let targets = text
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next());
            for target in targets.filter(|target| !target.starts_with("http")) {
                let (file, place) = target.split_once('#').unwrap_or((target, ""));
                let path = folder.join(file);
                assert!(file.is_empty() || path.exists(), "{name} leads to {target}");
                if !place.is_empty() && !file.is_empty() {
                    let page = std::fs::read_to_string(path).expect("a page");
                    let has = page
                        .lines()
                        .any(|line| anchor(line).as_deref() == Some(place));
                    assert!(
                        has,
                        "{name} leads to {target}, and there is no such heading"
                    );
                }
            }
        }
        for page in TOPICS {
            let link = format!("]({}.md)", page.name);
            assert!(
                index.contains(&link),
                "docs/README.md does not lead to {}",
                page.name
            );
        }
    }

    /// The name by which a heading is linked to.
    fn anchor(line: &str) -> Option<String> {
        let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
        let kept = heading
            .to_lowercase()
            .chars()
            .filter_map(|letter| match letter {
                ' ' | '-' => Some('-'),
                letter if letter.is_alphanumeric() || letter == '_' => Some(letter),
                _ => None,
            })
            .collect();
        Some(kept)
    }

    /// The page for contributors speaks of files that only they have, and the index is for the web.
    #[test]
    fn every_page_of_the_documentation_is_a_topic() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let mut pages: Vec<String> = std::fs::read_dir(folder)
            .expect("the documentation")
            .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()))
            .filter(|name| name != "map" && name != "README")
            .collect();
        pages.sort();
        let mut topics: Vec<&str> = TOPICS.iter().map(|page| page.name).collect();
        topics.sort_unstable();
        assert_eq!(pages, topics);
    }
}
