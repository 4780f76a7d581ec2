//! One value of the configuration: read from TOML or from plain text, as its key wants it.

use std::fmt;

use serde::Serialize;
use toml::de::DeValue;

use super::keys::{AUTHORS, Kind};

/// A value that fits its key. Lengths of time are seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Text(String),
    Count(u64),
    Number(f64),
    Truth(bool),
    Words(Vec<String>),
}

/// Why a value does not fit.
pub(crate) type Misfit = String;

impl fmt::Display for Value {
    /// As TOML writes it, so that it can be copied into a file.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "{}", quoted(text)),
            Self::Count(count) => write!(out, "{count}"),
            // A whole number needs its point, else it would be read back as a count.
            Self::Number(number) if number.fract() == 0.0 => write!(out, "{number:.1}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Truth(truth) => write!(out, "{truth}"),
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                write!(out, "[{}]", words.join(", "))
            }
        }
    }
}

/// A JSON string is a TOML string too, but for control characters that nobody has in a name.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads a value as a file has it.
pub(crate) fn of_toml(value: &DeValue<'_>, kind: Kind) -> Result<Value, Misfit> {
    match (kind, value) {
        (Kind::Words | Kind::Globs, DeValue::Array(items)) => {
            let text =
                |item: &toml::Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
            let words: Option<Vec<String>> = items.iter().map(text).collect();
            listed(words.ok_or_else(|| wanted(kind))?, kind)
        }
        (Kind::Truth, DeValue::Boolean(truth)) => Ok(Value::Truth(*truth)),
        (Kind::Count(_) | Kind::Seconds | Kind::Number, DeValue::Integer(number)) => {
            let number =
                u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| wanted(kind))?;
            fitting(&number.to_string(), kind)
        }
        (Kind::Number, DeValue::Float(number)) => fitting(number.as_str(), kind),
        (
            Kind::Text | Kind::Choice(_) | Kind::Seconds | Kind::Subject | Kind::Author,
            DeValue::String(text),
        ) => fitting(text, kind),
        _ => Err(format!("{}, and this is {}", wanted(kind), a_thing(value))),
    }
}

/// Reads a value as a variable or a flag has it.
pub(crate) fn of_text(text: &str, kind: Kind) -> Result<Value, Misfit> {
    match kind {
        Kind::Words | Kind::Globs if is_array(text, kind) => {
            let array = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
            of_toml(array.get_ref(), kind)
        }
        Kind::Words | Kind::Globs => {
            let words = between_commas(text).into_iter().map(str::trim);
            let words = words.filter(|word| !word.is_empty());
            listed(words.map(str::to_owned).collect(), kind)
        }
        Kind::Truth => text.parse().map(Value::Truth).map_err(|_| wanted(kind)),
        _ => fitting(text, kind),
    }
}

/// A list of texts, each of which must be a pattern where patterns are wanted.
fn listed(words: Vec<String>, kind: Kind) -> Result<Value, Misfit> {
    if kind == Kind::Globs {
        for word in &words {
            checks::rules::Pattern::parse(word)
                .map_err(|error| format!("`{word}` is no pattern that can be used: {error}"))?;
        }
    }
    Ok(Value::Words(words))
}

/// Whether a text is meant as a list of TOML. A pattern may begin with a bracket too, so that there
/// a quote must follow.
fn is_array(text: &str, kind: Kind) -> bool {
    let Some(inner) = text.trim_start().strip_prefix('[') else {
        return false;
    };
    kind != Kind::Globs || inner.trim_start().starts_with(['"', '\'', ']'])
}

/// The parts between commas; a comma between braces belongs to its pattern.
fn between_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .collect()
}

fn fitting(text: &str, kind: Kind) -> Result<Value, Misfit> {
    let misfit = || wanted(kind);
    match kind {
        Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Choice(words) => {
            let near = prd::nearest(text, words.iter().copied());
            let help = near
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            let known = words.contains(&text).then(|| Value::Text(text.to_owned()));
            known.ok_or_else(|| format!("{}{help}", wanted(kind)))
        }
        Kind::Count(at_least) => text
            .parse()
            .ok()
            .filter(|count| *count >= at_least)
            .map(Value::Count)
            .ok_or_else(misfit),
        Kind::Number => {
            let number = text
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite() && *number >= 0.0);
            number.map(Value::Number).ok_or_else(misfit)
        }
        Kind::Seconds => seconds(text).map(Value::Count).ok_or_else(misfit),
        Kind::Subject => home::check_subject(text)
            .map(|()| Value::Text(text.to_owned()))
            .map_err(|error| error.to_string()),
        Kind::Author => {
            let is_author = AUTHORS.contains(&text) || workspace::Signature::parse(text).is_some();
            is_author
                .then(|| Value::Text(text.to_owned()))
                .ok_or_else(misfit)
        }
        Kind::Truth | Kind::Words | Kind::Globs => Err(misfit()),
    }
}

/// `90`, `90s`, `15m` or `2h`; nothing takes no time at all.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = match text.chars().last()? {
        's' => (&text[..text.len() - 1], 1),
        'm' => (&text[..text.len() - 1], 60),
        'h' => (&text[..text.len() - 1], 3600),
        _ => (text, 1),
    };
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
        .filter(|seconds| *seconds > 0)
}

/// What a key wants.
fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => "it wants a text in quotes".to_owned(),
        Kind::Choice(words) => format!("it wants one of {}", words.join(", ")),
        Kind::Count(0) => "it wants a whole number".to_owned(),
        Kind::Count(at_least) => format!("it wants a whole number, at least {at_least}"),
        Kind::Number => "it wants a number that is not negative".to_owned(),
        Kind::Truth => "it wants true or false".to_owned(),
        Kind::Globs => {
            "it wants a list of patterns such as [\"tests/**\", \"**/*.{test,spec}.ts\"]".to_owned()
        }
        Kind::Words => "it wants a list of texts such as [\"one\", \"two\"]".to_owned(),
        Kind::Seconds => {
            "it wants seconds, or a text such as \"90s\", \"15m\" or \"2h\"".to_owned()
        }
        Kind::Subject => "it wants a text such as \"feat: {title} ({story})\"".to_owned(),
        Kind::Author => {
            "it wants \"operator\", \"loopwright\" or a person, \"Name <mail>\"".to_owned()
        }
    }
}

fn a_thing(value: &DeValue<'_>) -> String {
    let word = value.type_str();
    let article = if word.starts_with(['a', 'i']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_as() {
        for (kind, text, expected) in [
            (Kind::Seconds, "90", Some("90")),
            (Kind::Seconds, "90s", Some("90")),
            (Kind::Seconds, "15m", Some("900")),
            (Kind::Seconds, "2h", Some("7200")),
            (Kind::Seconds, "0", None),
            (Kind::Seconds, "1d", None),
            (Kind::Seconds, "m", None),
            (Kind::Seconds, "999999999999999999h", None),
            (Kind::Count(1), "0", None),
            (Kind::Count(0), "0", Some("0")),
            (Kind::Count(0), "-1", None),
            (Kind::Truth, "false", Some("false")),
            (Kind::Truth, "no", None),
            (Kind::Number, "1.5", Some("1.5")),
            (Kind::Number, "nan", None),
            (Kind::Words, "a, b", Some("[\"a\", \"b\"]")),
            (Kind::Words, "[\"a b\", \"c\"]", Some("[\"a b\", \"c\"]")),
            (Kind::Words, "[a", None),
            (
                Kind::Globs,
                "tests/**, **/*.{test,spec}.ts",
                Some("[\"tests/**\", \"**/*.{test,spec}.ts\"]"),
            ),
            (Kind::Globs, "[\"a[0-9].rs\"]", Some("[\"a[0-9].rs\"]")),
            (Kind::Globs, "[ab].rs", Some("[\"[ab].rs\"]")),
            (Kind::Globs, "[]", Some("[]")),
            (Kind::Globs, "*.{test,spec", None),
            (Kind::Globs, "a[b", None),
            (Kind::Subject, "{title}", Some("\"{title}\"")),
            (Kind::Subject, "{name}", None),
            (Kind::Author, "operator", Some("\"operator\"")),
            (Kind::Author, "A B <a@b>", Some("\"A B <a@b>\"")),
            (Kind::Author, "A B", None),
            (Kind::Choice(&["solo", "tdd"]), "solo", Some("\"solo\"")),
            (Kind::Choice(&["solo", "tdd"]), "sole", None),
        ] {
            let read = of_text(text, kind).map(|value| value.to_string());
            assert_eq!(read.ok().as_deref(), expected, "{kind:?} {text}");
        }
    }
}
