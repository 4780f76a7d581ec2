//! `CHANGELOG.md`, written from `changes/`: a file there is what one change means for users. Files
//! in the folder itself are not released yet; a release moves them into a folder of its version.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::talk::say;

pub(crate) const FILE: &str = "CHANGELOG.md";
pub(crate) const FOLDER: &str = "changes/";

const HEAD: &str = "\
# Changelog

What each version changed for those who use it. `cargo xtask changelog` writes this page from
`changes/`.
";

/// Writes the page, and says whether anything changed.
pub(crate) fn write(root: &Path) -> Result<()> {
    let texts = texts(root)?;
    let page = page(
        texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let file = root.join(FILE);
    if fs::read_to_string(&file).is_ok_and(|found| found == page) {
        say(format!("{FILE} is up to date"));
        return Ok(());
    }
    fs::write(&file, page).with_context(|| format!("cannot write `{}`", file.display()))?;
    say(format!("wrote {FILE}"));
    Ok(())
}

fn texts(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut open = vec![FOLDER.trim_end_matches('/').to_owned()];
    while let Some(folder) = open.pop() {
        for entry in
            fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list `{folder}`"))?
        {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if is_change(&path) {
                found.insert(path, fs::read_to_string(entry.path())?);
            }
        }
    }
    Ok(found)
}

fn is_change(path: &str) -> bool {
    path.starts_with(FOLDER) && Path::new(path).extension().is_some_and(|end| end == "md")
}

/// The page that belongs to these files: what is not released first, then the newest version.
pub(crate) fn page<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut by_version: BTreeMap<Vec<u32>, (String, Vec<String>)> = BTreeMap::new();
    let sorted: BTreeMap<&str, &str> = files.filter(|(path, _)| is_change(path)).collect();
    for (path, text) in sorted {
        let inner = path.trim_start_matches(FOLDER);
        let (version, name) = inner.rsplit_once('/').unwrap_or(("", inner));
        let numbers = if version.is_empty() {
            vec![u32::MAX]
        } else {
            version
                .split('.')
                .map(|part| part.parse().unwrap_or(0))
                .collect()
        };
        let section = by_version.entry(numbers);
        let (_, entries) = section.or_insert_with(|| (version.to_owned(), Vec::new()));
        entries.push(format!("\n### {}\n\n{}\n", title(name), text.trim()));
    }
    let mut out = HEAD.to_owned();
    for (version, entries) in by_version.into_values().rev() {
        let heading = if version.is_empty() {
            "Not yet released"
        } else {
            &version
        };
        out += &format!("\n## {heading}\n{}", entries.concat());
    }
    out
}

/// `full-disk.md` as words.
fn title(name: &str) -> String {
    let words = name.trim_end_matches(".md").replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_what_is_new_first_and_each_version_below() {
        let files = [
            ("changes/0.10.0/b.md", "Ten.\n"),
            ("changes/0.9.0/a.md", "Nine.\n"),
            ("changes/full-disk.md", "A disk.\n"),
            ("changes/a.md", "First.\n\nMore.\n"),
            ("docs/a.md", "no"),
        ];
        let seen = page(files.into_iter());
        let expected = "\n## Not yet released\n\n### A\n\nFirst.\n\nMore.\n\n### Full disk\n\nA disk.\n\
            \n## 0.10.0\n\n### B\n\nTen.\n\n## 0.9.0\n\n### A\n\nNine.\n";
        assert_eq!(seen.strip_prefix(HEAD), Some(expected));
    }
}
