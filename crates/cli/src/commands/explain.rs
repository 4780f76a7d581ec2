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

const TOPICS: &[Page] =
    pages!("docs/": "running" "config" "sandbox" "flows" "facts" "prd" "events" "json" "screens");

/// Every code with its page; `tidy` sees to it that each code has one.
const CODES: &[Page] = pages!("docs/errors/":
    "PRD001" "PRD002" "PRD003" "PRD004" "PRD005" "PRD006" "PRD007" "PRD008" "PRD009" "PRD010"
    "PRD011" "PRD012" "PRD013" "PRD014" "PRD015" "PRD016" "PRD017" "PRD018" "PRD019" "PRD020"
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
    let line = |page: &Page| format!("{:<7}  {}\n", page.name, title(page));
    output.data(&TOPICS.iter().chain(CODES).map(line).collect::<String>())?;
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

    /// The page for contributors speaks of files that only they have.
    #[test]
    fn every_page_of_the_documentation_is_a_topic() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let mut pages: Vec<String> = std::fs::read_dir(folder)
            .expect("the documentation")
            .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()))
            .filter(|name| name != "map")
            .collect();
        pages.sort();
        let mut topics: Vec<&str> = TOPICS.iter().map(|page| page.name).collect();
        topics.sort_unstable();
        assert_eq!(pages, topics);
    }
}
