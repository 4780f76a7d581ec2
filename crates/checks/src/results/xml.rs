//! A small reader of XML: tags, attributes, text. It knows no entities but the five of XML and
//! numbers, no namespaces and no document types, and it goes on after anything odd.

/// One step through a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    Open {
        name: String,
        attributes: Vec<(String, String)>,
    },
    Close,
    Text(String),
}

/// Most attributes of one tag.
const ATTRIBUTES_MAX: usize = 64;

pub(super) struct Reader<'a> {
    rest: &'a str,
    /// A tag that closes itself is two events.
    owed_close: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            owed_close: false,
        }
    }

    fn take_until(&mut self, end: &str) -> &'a str {
        let (found, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        found
    }

    fn tag(&mut self) -> Event {
        let end = tag_end(self.rest);
        let inner = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or("");
        if inner.starts_with('/') {
            return Event::Close;
        }
        self.owed_close = inner.ends_with('/');
        let inner = inner.trim_end_matches('/');
        let name_end = inner.find(char::is_whitespace).unwrap_or(inner.len());
        Event::Open {
            name: inner[..name_end].to_owned(),
            attributes: attributes(&inner[name_end..]),
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.owed_close) {
            return Some(Event::Close);
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(rest) = self.rest.strip_prefix('<') else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(Event::Text(unescape(text)));
            };
            self.rest = rest;
            if self.rest.starts_with("!--") {
                self.take_until("-->");
            } else if let Some(rest) = self.rest.strip_prefix("![CDATA[") {
                self.rest = rest;
                return Some(Event::Text(self.take_until("]]>").to_owned()));
            } else if self.rest.starts_with('?') || self.rest.starts_with('!') {
                self.take_until(">");
            } else {
                return Some(self.tag());
            }
        }
    }
}

/// Where a tag ends: at the first `>` outside of quotes.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| *c == '"' || *c == '\'') else {
            break;
        };
        let Some((value, after)) = rest[1..].split_once(quote) else {
            break;
        };
        found.push((name.trim().to_owned(), unescape(value)));
        text = after;
        if found.len() >= ATTRIBUTES_MAX {
            break;
        }
    }
    found
}

/// Replaces entities; an unknown one stays as it is.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((entity(&after[..end])?, end))) {
            Some((character, end)) => {
                out.push(character);
                rest = &after[end + 1..];
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Reader::new(text)
            .map(|event| match event {
                Event::Open { name, attributes } => {
                    let list: String = attributes
                        .iter()
                        .map(|(name, value)| format!(" {name}={value}"))
                        .collect();
                    format!("<{name}{list}>")
                }
                Event::Close => "</>".to_owned(),
                Event::Text(text) => text,
            })
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn documents_come_apart() {
        for (text, expected) in [
            ("<a b=\"1\" c='x>y'>t</a>", "<a b=1 c=x>y>|t|</>"),
            ("<?xml v?><!-- <a> --><a/>", "<a>|</>"),
            ("<a><![CDATA[<b>&amp;]]></a>", "<a>|<b>&amp;|</>"),
            ("&lt;&#10;&#x41;&unknown;&", "<\nA&unknown;&"),
            ("<a b=\"cut", "<a>"),
            ("<", ""),
            ("<a b>", "<a>"),
            ("<a é=\"ü\"/>", "<a é=ü>|</>"),
        ] {
            let seen = shown(text);
            assert_eq!(seen.trim_end_matches("<>"), expected, "{text}");
        }
    }
}
