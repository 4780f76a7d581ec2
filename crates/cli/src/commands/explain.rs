//! `loopwright explain CODE`: the pages of `docs/errors`, carried inside the program.

use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),*]
    };
}

/// Every code with its page; `tidy` sees to it that each code has one.
const PAGES: &[(&str, &str)] = pages!(
    "PRD001" "PRD002" "PRD003" "PRD004" "PRD005" "PRD006" "PRD007" "PRD008" "PRD009" "PRD010"
    "PRD011" "PRD012" "PRD013" "PRD014" "PRD015" "PRD016" "PRD017" "PRD018" "PRD019" "PRD020"
);

pub(crate) fn run(code: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("explain");
    match code {
        Some(code) => explain(code, output),
        None => list(output),
    }
}

/// Every code with what it is about.
pub(crate) fn codes() -> Vec<(String, String)> {
    let title = |page: &str| {
        let line = page.lines().next().and_then(|line| line.split_once(": "));
        line.map(|(_, title)| title.to_owned()).unwrap_or_default()
    };
    PAGES
        .iter()
        .map(|(code, page)| ((*code).to_owned(), title(page)))
        .collect()
}

fn explain(code: &str, output: &mut Output) -> Result<Exit, Failure> {
    let wanted = code.trim().to_uppercase();
    let Some((code, page)) = PAGES.iter().find(|(code, _)| *code == wanted) else {
        return Err(
            Failure::bad_input(format!("there is no diagnostic `{code}`"))
                .hint("`loopwright explain` lists all codes"),
        );
    };
    output.data(page)?;
    output.result(|| serde_json::json!({ "code": code, "page": page }))?;
    Ok(Exit::Done)
}

fn list(output: &mut Output) -> Result<Exit, Failure> {
    let title = |page: &'static str| {
        page.lines()
            .next()
            .and_then(|line| line.split_once(": "))
            .map_or("", |(_, title)| title)
    };
    let codes: Vec<(&str, &str)> = PAGES
        .iter()
        .map(|(code, page)| (*code, title(page)))
        .collect();
    let lines: String = codes
        .iter()
        .map(|(code, title)| format!("{code}  {title}\n"))
        .collect();
    output.data(&lines)?;
    let json: Vec<_> = codes
        .iter()
        .map(|(code, title)| serde_json::json!({ "code": code, "title": title }))
        .collect();
    output.result(|| serde_json::json!({ "codes": json }))?;
    output.next(NextAction::new(
        "loopwright explain CODE",
        "read the page of one code",
    ));
    Ok(Exit::Done)
}
