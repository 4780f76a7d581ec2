//! As much of TOML as our manifests use: tables, keys, and values that may span lines in brackets.
//!
//! Strings over several lines are not read. A manifest is read again by cargo, so what is misread
//! here is at worst a wrong complaint.

/// One `key = value`, with the table that it stands in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) line_number: usize,
    pub(super) table: String,
    pub(super) key: String,
    pub(super) value: String,
}

/// Reads all entries in the order of the file.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut depth = 0;
    for (line_number, line) in (1..).zip(text.lines()) {
        let line = without_comment(line).trim();
        if depth > 0 {
            if let Some(entry) = entries.last_mut() {
                entry.value.push_str(line);
            }
            depth += brackets(line);
        } else if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']')
                .trim_start_matches('[')
                .trim()
                .clone_into(&mut table);
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            depth = brackets(&value);
            entries.push(Entry {
                line_number,
                table: table.clone(),
                key,
                value,
            });
        }
    }
    entries
}

fn without_comment(line: &str) -> &str {
    outside_strings(line)
        .find(|(_, c)| *c == '#')
        .map_or(line, |(at, _)| &line[..at])
}

/// Counts how many brackets are left open.
fn brackets(text: &str) -> i32 {
    let step = |c| match c {
        '[' | '{' => 1,
        ']' | '}' => -1,
        _ => 0,
    };
    outside_strings(text).map(|(_, c)| step(c)).sum()
}

fn outside_strings(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut open = None;
    line.char_indices().filter(move |(_, c)| {
        let was_open = open.is_some();
        match open {
            None if ['"', '\''].contains(c) => open = Some(*c),
            Some(quote) if quote == *c => open = None,
            _ => {}
        }
        !was_open
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_as() {
        let entry = |line_number, table: &str, key: &str, value: &str| Entry {
            line_number,
            table: table.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        };
        for (text, expected) in [
            ("", vec![]),
            ("# a = 1\n", vec![]),
            ("a = 1\n", vec![entry(1, "", "a", "1")]),
            (
                "[t]\n\na = \"#\" # why\n",
                vec![entry(3, "t", "a", "\"#\"")],
            ),
            (
                "[[bin]]\nname = \"x\"\n",
                vec![entry(2, "bin", "name", "\"x\"")],
            ),
            (
                "[t.'cfg(unix)'.d]\na.b = true\n",
                vec![entry(2, "t.'cfg(unix)'.d", "a.b", "true")],
            ),
            (
                "[t]\na = { x = [\n  \"]\", # why\n  \"y\",\n] }\nb = 1\n",
                vec![
                    entry(2, "t", "a", "{ x = [\"]\",\"y\",] }"),
                    entry(6, "t", "b", "1"),
                ],
            ),
        ] {
            assert_eq!(entries(text), expected, "{text}");
        }
    }
}
