//! Files of sections, TOML and INI, as text: which lines belong to which header. Values are looked
//! at elsewhere.

/// One header with its lines; the part before the first header has an empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The name within the brackets, as it is written, without spaces and quotes.
    pub(super) name: String,
    /// Header and lines, with their ends.
    pub(super) text: String,
}

/// Cuts a text into its sections. A bracket within a long string is no header.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut all = vec![Section {
        name: String::new(),
        text: String::new(),
    }];
    let mut open: Option<&str> = None;
    let mut depth = 0_i32;
    for line in text.split_inclusive('\n') {
        if open.is_none() && depth <= 0 {
            if let Some(name) = header(line) {
                all.push(Section {
                    name,
                    text: String::new(),
                });
                depth = 0;
            } else {
                depth += brackets(line);
            }
        } else if open.is_none() {
            depth += brackets(line);
        }
        open = after_line(line, open);
        if let Some(last) = all.last_mut() {
            last.text.push_str(line);
        }
    }
    all
}

/// How many lists a line leaves open; brackets in strings and comments do not count.
fn brackets(line: &str) -> i32 {
    let mut quote = None;
    let mut depth = 0;
    for character in line.chars() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '#') => break,
            (None, '[') => depth += 1,
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    depth
}

fn header(line: &str) -> Option<String> {
    let line = line.trim();
    let inner = line.strip_prefix('[')?;
    let inner = inner
        .split_once(" #")
        .map_or(inner, |(inner, _)| inner)
        .trim_end();
    let inner = inner.strip_suffix(']')?;
    let inner = inner
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
        .unwrap_or(inner);
    Some(
        inner
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '"' && *c != '\'')
            .collect(),
    )
}

/// The long string that is open after a line.
fn after_line<'a>(line: &str, mut open: Option<&'a str>) -> Option<&'a str> {
    let mut rest = line;
    loop {
        match open {
            Some(mark) => match rest.split_once(mark) {
                Some((_, after)) => (rest, open) = (after, None),
                None => return open,
            },
            None => {
                let next = ["\"\"\"", "'''"]
                    .into_iter()
                    .filter_map(|mark| Some((rest.find(mark)?, mark)))
                    .min();
                let (at, mark) = next?;
                (rest, open) = (&rest[at + mark.len()..], Some(mark));
            }
        }
    }
}

/// A section without the lines of some keys, and those lines.
pub(super) fn without_keys(text: &str, keys: &[&str]) -> (String, String) {
    text.split_inclusive('\n').fold(
        (String::new(), String::new()),
        |(mut kept, mut taken), line| {
            let key = line.split_once('=').map_or("", |(key, _)| key.trim());
            if keys.contains(&key) {
                taken.push_str(line);
            } else {
                kept.push_str(line);
            }
            (kept, taken)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_headers() {
        let text = "top = 1\n[a.\"b\"] # note\nx = [\n  [1],\n]\ny = \"\"\"\n[not]\n\"\"\"\n[[c]]\nz = '''one'''\n";
        let cut = sections(text);
        let names: Vec<&str> = cut.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["", "a.b", "c"]);
        assert_eq!(
            cut.iter()
                .map(|section| section.text.as_str())
                .collect::<String>(),
            text
        );
    }
}
