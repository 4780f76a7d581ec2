//! Reads a line of JSON as CLIs really write it, and looks values up in it. A missing key, a null
//! and a value of another type are all just absent.

use serde_json::Value;

/// How many places in a damaged line are tried as the start of an object. The bound keeps a long
/// line of braces from costing quadratic time.
const STARTS_MAX: usize = 8;

/// Reads a line that holds one JSON object and repairs what programs get wrong: bytes that are not
/// UTF-8, lone surrogates (`\ud83d` where a text was cut), a byte order mark, and text of another
/// stream before or after the object.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        return value.is_object().then_some(value);
    }
    let text = replace_lone_surrogates(&String::from_utf8_lossy(line));
    text.match_indices("{\"")
        .take(STARTS_MAX)
        .find_map(|(start, _)| first_object(&text[start..]))
}

/// Reads the object that a text starts with. Anything after it is ignored.
fn first_object(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next().and_then(Result::ok).filter(Value::is_object)
}

/// Finds a JSON object inside a text, such as the body of a failed request inside an error message.
pub(crate) fn object_inside(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    let end = text.rfind('}')?;
    // `get` also covers a `}` that comes before the first `{`.
    let inside = text.get(start..=end)?;
    serde_json::from_str::<Value>(inside)
        .ok()
        .filter(Value::is_object)
}

/// The value at a path of keys. A null counts as absent.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter()
        .try_fold(value, |value, key| value.get(key))
        .filter(|value| !value.is_null())
}

/// The text at a path.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// The whole number at a path. A fraction is dropped.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<u64> {
    let value = at(value, path)?;
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| (0.0..9e15).contains(float))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked in the line above"
        )]
        Some(float as u64)
    })
}

/// The number at a path.
pub(crate) fn float(value: &Value, path: &[&str]) -> Option<f64> {
    at(value, path)?.as_f64()
}

/// The boolean at a path.
pub(crate) fn boolean(value: &Value, path: &[&str]) -> Option<bool> {
    at(value, path)?.as_bool()
}

/// The list at a path, empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Replaces escaped surrogates that are not part of a pair. `serde_json` refuses a whole line for
/// one of them, and a CLI that cuts a text in the middle of an emoji writes one.
fn replace_lone_surrogates(text: &str) -> String {
    /// Bytes of one escape, such as `\ud83d`.
    const ESCAPE_BYTES: usize = 6;
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        repaired.push_str(&rest[..at]);
        let escape = &rest[at..];
        let next = escape.get(ESCAPE_BYTES..).unwrap_or_default();
        let copied = match (surrogate(escape), surrogate(next)) {
            (Some(Surrogate::Leading), Some(Surrogate::Trailing)) => 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                repaired.push_str("\\ufffd");
                rest = next;
                continue;
            }
            // Copy both characters of any other escape, so that the second backslash of `\\ud83d`
            // is not read as the start of one.
            (None, _) => escape
                .char_indices()
                .nth(2)
                .map_or(escape.len(), |(at, _)| at),
        };
        repaired.push_str(&escape[..copied]);
        rest = &escape[copied..];
    }
    repaired.push_str(rest);
    repaired
}

enum Surrogate {
    Leading,
    Trailing,
}

fn surrogate(escape: &str) -> Option<Surrogate> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::Leading),
        0xdc00..=0xdfff => Some(Surrogate::Trailing),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let read = |line: &[u8]| object(line).map(|value| value.to_string());
        for (line, expected) in [
            (&b"{\"a\":1}\r"[..], Some("{\"a\":1}")),
            (b"{\"a\":\"\\ud83d\\ude00\"}", Some("{\"a\":\"\u{1f600}\"}")),
            (b"{\"a\":\"x\\ud83d\"}", Some("{\"a\":\"x\u{fffd}\"}")),
            (
                b"{\"a\":\"\\ude00\\\\ud83d\"}",
                Some("{\"a\":\"\u{fffd}\\\\ud83d\"}"),
            ),
            (b"{\"a\":\"\xff\"}", Some("{\"a\":\"\u{fffd}\"}")),
            (b"\xef\xbb\xbf{\"a\":1}", Some("{\"a\":1}")),
            (b"(node:7) Warning{\"a\":1}", Some("{\"a\":1}")),
            (b"{\"a\":1}(node:7) Warning", Some("{\"a\":1}")),
            (b"bad {\"b\" {\"a\":1}", Some("{\"a\":1}")),
            (b"[1]", None),
            (b"Reading additional input from stdin...", None),
            (b"{\"a\":", None),
            (b"\"\\", None),
            (b"", None),
        ] {
            assert_eq!(
                read(line).as_deref(),
                expected,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }
}
