//! Reads a line of JSON as CLIs write it, and looks into it without surprise.

use serde_json::Value;

/// Places in a damaged line where an object is looked for.
const BEGINNINGS_MAX: usize = 8;

/// Reads a line that holds one JSON object, mending what programs get wrong: bytes that are no
/// UTF-8, halves of characters (`\ud83d` alone, where text was cut), a byte order mark, words of
/// another stream before the object or behind.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        return value.is_object().then_some(value);
    }
    let text = mend_halves(&String::from_utf8_lossy(line));
    let read = |(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next().and_then(Result::ok).filter(Value::is_object)
    };
    text.match_indices("{\"")
        .take(BEGINNINGS_MAX)
        .find_map(read)
}

/// Finds a JSON object inside a text, such as the body of a failed request inside an error message.
pub(crate) fn object_inside(text: &str) -> Option<Value> {
    let (begin, end) = (text.find('{')?, text.rfind('}')?);
    let inside = text.get(begin..=end)?;
    serde_json::from_str::<Value>(inside)
        .ok()
        .filter(Value::is_object)
}

/// Follows keys into nested objects.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter()
        .try_fold(value, |value, key| value.get(key))
        .filter(|value| !value.is_null())
}

/// The text at a path.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// The whole number at a path; a number with a fraction is cut.
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

/// The truth at a path.
pub(crate) fn truth(value: &Value, path: &[&str]) -> Option<bool> {
    at(value, path)?.as_bool()
}

/// The list at a path; none is an empty one.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Replaces escapes of half characters that have no other half.
fn mend_halves(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let escape = &rest[at..];
        let taken = match (half(escape), half(escape.get(6..).unwrap_or_default())) {
            (Some(Half::Leading), Some(Half::Trailing)) => 12,
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            (None, _) => escape
                .char_indices()
                .nth(2)
                .map_or(escape.len(), |(at, _)| at),
        };
        mended.push_str(&escape[..taken]);
        rest = &escape[taken..];
    }
    mended.push_str(rest);
    mended
}

enum Half {
    Leading,
    Trailing,
}

fn half(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::Leading),
        0xdc00..=0xdfff => Some(Half::Trailing),
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
