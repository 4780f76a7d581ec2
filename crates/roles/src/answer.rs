//! Reads what roles answer beside verdicts: reviews, rulings, questions and lessons.
//!
//! The JSON of agents comes in many shapes, so names are read with some patience; what is missing
//! is never made up.

use kernel::{Coverage, Proof, Review};
use serde_json::{Map, Value};

use crate::verdict::last_json_object;

/// Bytes of one sentence of an agent that are kept, and how many of a list.
const SENTENCE_BYTES_MAX: usize = 2_000;
const LIST_MAX: usize = 200;

/// What the arbiter said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Whether the tests ask for what no criterion says.
    pub fresh_tests: bool,
    /// Why.
    pub reason: String,
}

/// The review of a candidate; without one that fits, there is none.
pub fn read_review(output: &str) -> Result<Review, String> {
    let object = closing_object(output)?;
    if !object.contains_key("summary")
        && !object.contains_key("criteria")
        && !object.contains_key("findings")
    {
        return Err("the answer has neither `summary` nor `criteria` nor `findings`".to_owned());
    }
    let criteria = match object.get("criteria") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items
            .iter()
            .take(LIST_MAX)
            .map(coverage)
            .collect::<Result<Vec<_>, String>>()?,
        Some(_) => return Err("`criteria` is no list".to_owned()),
    };
    let findings = match object.get("findings") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().take(LIST_MAX).map(sentence).collect(),
        Some(Value::String(one)) => vec![bounded(one)],
        Some(_) => return Err("`findings` is no list".to_owned()),
    };
    let summary = match object.get("summary") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => bounded(text),
        Some(_) => return Err("`summary` is no text".to_owned()),
    };
    Ok(Review {
        summary,
        criteria,
        findings,
    })
}

/// What a test writer says of its tests. The files are the answer, and it may say nothing of them;
/// what it says must fit.
pub fn read_coverage(output: &str) -> Result<Review, String> {
    let speaks_of_tests = |object: &Map<String, Value>| {
        ["summary", "criteria", "findings"]
            .iter()
            .any(|key| object.contains_key(*key))
    };
    match last_json_object(output).map(serde_json::from_str::<Map<String, Value>>) {
        Some(Ok(object)) if speaks_of_tests(&object) => read_review(output),
        _ => Ok(Review::default()),
    }
}

/// What a prover shows of its work. It may have found and mended nothing, but it has checked
/// something, and says how to see it.
pub fn read_proof(output: &str) -> Result<Proof, String> {
    let object = closing_object(output)?;
    let list = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value @ (Value::Array(_) | Value::String(_))) => Ok(names(value)
            .into_iter()
            .filter(|line| !line.trim().is_empty())
            .collect::<Vec<String>>()),
        Some(_) => Err(format!("`{key}` is no list")),
    };
    let proof = Proof {
        checked: list("checked")?,
        found: list("found")?,
        mended: list("mended")?,
        see: list("see")?,
    };
    if proof.checked.is_empty() {
        return Err("the answer does not say what was `checked`".to_owned());
    }
    if proof.see.is_empty() {
        return Err("the answer does not say in `see` how to see it".to_owned());
    }
    Ok(proof)
}

/// The arbiter's ruling.
pub fn read_ruling(output: &str) -> Result<Ruling, String> {
    let object = closing_object(output)?;
    let reason = object.get("reason").map(sentence).unwrap_or_default();
    match object
        .get("fresh_tests")
        .or_else(|| object.get("freshTests"))
    {
        Some(Value::Bool(fresh_tests)) => Ok(Ruling {
            fresh_tests: *fresh_tests,
            reason,
        }),
        _ => Err("the answer has no `fresh_tests` that is true or false".to_owned()),
    }
}

/// The question that an agent ended with, if it ended with one.
pub fn read_question(output: &str) -> Option<String> {
    let object = closing_object(output).ok()?;
    let question = object.get("question")?.as_str()?.trim();
    (!question.is_empty()).then(|| bounded(question))
}

/// What an agent says that others should know.
pub fn read_learned(output: &str) -> Vec<String> {
    const LEARNED_MAX: usize = 5;
    let Ok(object) = closing_object(output) else {
        return Vec::new();
    };
    let Some(Value::Array(items)) = object.get("learned") else {
        return Vec::new();
    };
    let texts = items
        .iter()
        .filter_map(Value::as_str)
        .map(str::trim)
        .filter(|text| !text.is_empty());
    texts
        .take(LEARNED_MAX)
        .map(|text| bounded(text).chars().take(300).collect())
        .collect()
}

/// The object that an output ends with; prose may stand before and behind it, another object may
/// not.
pub(crate) fn closing_text(output: &str) -> Result<&str, String> {
    let object = last_json_object(output).ok_or("there is no JSON object in the answer")?;
    // A broken object behind a whole one may be the true answer: what stands last cannot be read,
    // so nothing was said.
    let behind = output
        .rfind(object)
        .map_or("", |at| &output[at + object.len()..]);
    if behind.contains(['{', '}']) {
        return Err("there is something like an object behind the last JSON object".to_owned());
    }
    Ok(object)
}

fn closing_object(output: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(closing_text(output)?)
        .map_err(|error| format!("the answer does not fit: {error}"))
}

fn coverage(item: &Value) -> Result<Coverage, String> {
    let item = match item {
        Value::Object(item) => item,
        Value::String(criterion) => {
            return Ok(Coverage {
                criterion: bounded(criterion),
                ..Coverage::default()
            });
        }
        _ => return Err("an entry of `criteria` is no object".to_owned()),
    };
    let first = |names: &[&str]| names.iter().find_map(|name| item.get(*name));
    let tests = first(&["tests", "test", "covered_by", "coveredBy"])
        .map(names)
        .unwrap_or_default();
    let held_back = match first(&["held_back", "heldBack"]) {
        Some(Value::Bool(true)) => tests.clone(),
        Some(list) => names(list),
        None => Vec::new(),
    };
    let untestable = first(&["untestable", "not_testable", "why_not"]).map(sentence);
    Ok(Coverage {
        criterion: first(&["criterion", "id", "name"])
            .map(sentence)
            .unwrap_or_default(),
        tests,
        held_back,
        untestable: untestable
            .filter(|why| !why.trim().is_empty() && why != "false" && why != "null"),
        preserves: matches!(first(&["preserves"]), Some(Value::Bool(true))),
    })
}

fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().take(LIST_MAX).map(sentence).collect(),
        Value::String(one) => vec![bounded(one)],
        _ => Vec::new(),
    }
}

/// A value as a sentence: objects keep their JSON form, since nobody knows their keys.
fn sentence(value: &Value) -> String {
    match value {
        Value::String(text) => bounded(text),
        other => bounded(&other.to_string()),
    }
}

fn bounded(text: &str) -> String {
    let mut end = text.len().min(SENTENCE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i02_a_review_must_fit() {
        for (output, fits) in [
            (r#"{"summary":"fine","criteria":[],"findings":[]}"#, true),
            (r#"prose {"summary":"fine"} prose"#, true),
            (
                r#"{"criteria":[{"criterion":"c","tests":["t"],"held_back":["t"]}]}"#,
                true,
            ),
            (r#"{"findings":[{"severity":"high","text":"x"}]}"#, true),
            (r#"{"summary":"fine","findings":"none"}"#, true),
            (r#"{"summary":"fine","findings":7}"#, false),
            ("LGTM", false),
            ("", false),
            ("{}", false),
            (r#"{"verdict":"PASS"}"#, false),
            (r#"{"summary":1}"#, false),
            (r#"{"summary":"x","criteria":"all"}"#, false),
            (r#"{"summary":"x","criteria":[1]}"#, false),
            (r#"{"summary":"x"} {"summary":"#, false),
        ] {
            assert_eq!(read_review(output).is_ok(), fits, "{output}");
        }
    }

    #[test]
    fn coverage_may_be_missing_and_may_not_be_wrong() {
        assert_eq!(read_coverage("I wrote two tests."), Ok(Review::default()));
        assert_eq!(read_coverage(r#"{"done":true}"#), Ok(Review::default()));
        assert!(read_coverage(r#"{"summary":"s","criteria":"all"}"#).is_err());
        let review = read_coverage(
            r#"{"summary":"s","criteria":[{"criterion":"c","tests":["a","b"],"held_back":["b"]},{"criterion":"d","tests":[],"untestable":"looks"},{"criterion":"e","test":"z","held_back":true}]}"#,
        )
        .expect("a review");
        let seen: Vec<_> = review
            .criteria
            .iter()
            .map(|each| {
                (
                    each.criterion.as_str(),
                    each.tests.len(),
                    each.held_back.len(),
                    each.untestable.is_some(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [("c", 2, 1, false), ("d", 0, 0, true), ("e", 1, 1, false)]
        );
    }

    #[test]
    fn a_prover_says_what_it_checked_found_and_mended_and_how_to_see_it() {
        let whole = r#"Done. {"checked":["empty input"],"found":["it fell over"],"mended":["none is none"],"see":["sh run.sh"],"learned":["x"]}"#;
        let proof = read_proof(whole).expect("a proof");
        assert_eq!(
            (proof.checked, proof.found, proof.mended, proof.see),
            (
                vec!["empty input".to_owned()],
                vec!["it fell over".to_owned()],
                vec!["none is none".to_owned()],
                vec!["sh run.sh".to_owned()]
            )
        );
        for (output, fits) in [
            (
                r#"{"checked":["a"],"found":[],"mended":[],"see":["b"]}"#,
                true,
            ),
            (r#"{"checked":"a","see":"b"}"#, true),
            (r#"{"checked":["a"],"found":[],"mended":[]}"#, false),
            (
                r#"{"checked":[],"found":[],"mended":[],"see":["b"]}"#,
                false,
            ),
            (r#"{"checked":[" "],"see":["b"]}"#, false),
            (r#"{"checked":["a"],"found":7,"see":["b"]}"#, false),
            ("I checked everything.", false),
            ("", false),
        ] {
            assert_eq!(read_proof(output).is_ok(), fits, "{output}");
        }
    }

    #[test]
    fn rulings_questions_and_lessons() {
        let ruling = Ruling {
            fresh_tests: true,
            reason: "r".to_owned(),
        };
        assert_eq!(
            read_ruling(r#"{"fresh_tests":true,"reason":"r"}"#),
            Ok(ruling)
        );
        assert!(read_ruling(r#"{"verdict":"PASS"}"#).is_err());
        assert!(read_ruling(r#"{"fresh_tests":"yes"}"#).is_err());
        assert_eq!(
            read_question(r#"{"question":"Which?"}"#).as_deref(),
            Some("Which?")
        );
        assert_eq!(
            read_question(r#"I asked {"question":"Which?"} and then did it {"learned":[]}"#),
            None
        );
        assert_eq!(read_learned(r#"{"learned":["a"," ",1,"b"]}"#), ["a", "b"]);
        assert_eq!(read_learned("nothing"), Vec::<String>::new());
    }
}
