//! Reads a judge's answer. Whatever does not fit exactly is no verdict: the caller fails closed.

use kernel::{Commit, CriterionVerdict, Obliged, Verdict};
use serde::Deserialize;

use crate::answer::closing_text;

/// What a judge must answer.
#[derive(Deserialize)]
struct Answer {
    verdict: Word,
    commit: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    criteria: Vec<CriterionVerdict>,
    #[serde(default)]
    guidance: Vec<String>,
    #[serde(default)]
    obliged: Vec<Obliged>,
}

#[derive(Deserialize, PartialEq)]
enum Word {
    #[serde(rename = "PASS")]
    Pass,
    #[serde(rename = "FAIL")]
    Fail,
}

/// The verdict in a judge's output, on the very candidate that it was asked about; else why there
/// is none.
pub fn read_verdict(output: &str, candidate: &Commit) -> Result<Verdict, String> {
    let object = closing_text(output)?;
    // Words behind it may take it back, and an object that is only quoted is nobody's verdict.
    let behind = output
        .rfind(object)
        .map_or("", |at| &output[at + object.len()..]);
    if !behind
        .trim_matches(|letter: char| letter.is_whitespace() || letter == '`')
        .is_empty()
    {
        return Err(
            "something is said behind the JSON object, which must be the end of the answer"
                .to_owned(),
        );
    }
    let answer: Answer = serde_json::from_str(object)
        .map_err(|error| format!("the answer does not fit: {error}"))?;
    if answer.commit != candidate.as_str() {
        return Err(format!(
            "the answer is about `{}`, and the candidate is {candidate}",
            answer.commit
        ));
    }
    let pass = answer.verdict == Word::Pass;
    if pass && answer.criteria.iter().any(|criterion| !criterion.pass) {
        return Err("the answer says PASS, and that a criterion is not met".to_owned());
    }
    let Answer {
        reason,
        criteria,
        guidance,
        obliged,
        ..
    } = answer;
    Ok(Verdict {
        pass,
        commit: candidate.clone(),
        reason,
        criteria,
        guidance,
        obliged,
    })
}

/// The last JSON object that stands in a text, not inside another one.
pub fn last_json_object(text: &str) -> Option<&str> {
    const TRIES_MAX: usize = 10_000;
    let (mut at, mut last) = (0, None);
    for _ in 0..TRIES_MAX {
        let Some(open) = text[at..].find('{') else {
            break;
        };
        let start = at + open;
        let mut values =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let end = start + values.byte_offset();
                last = Some(&text[start..end]);
                at = end;
            }
            _ => at = start + 1,
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> Commit {
        Commit::new(&"c".repeat(40)).expect("hexadecimal")
    }

    #[test]
    fn i02_only_an_exact_answer_is_a_verdict() {
        let good = format!(r#"{{"verdict":"PASS","commit":"{}"}}"#, commit());
        let other = good.replace(commit().as_str(), &"d".repeat(40));
        for (output, expected) in [
            (good.clone(), Some(true)),
            (format!("thinking {{not json}} …\n{good}\n"), Some(true)),
            (
                format!("{good}\n{}", good.replace("PASS", "FAIL")),
                Some(false),
            ),
            (
                format!("{}\n{good}", good.replace("PASS", "FAIL")),
                Some(true),
            ),
            ("PASS".to_owned(), None),
            ("ALLGREEN".to_owned(), None),
            (String::new(), None),
            (good[..good.len() - 1].to_owned(), None),
            (good.replace("PASS", "pass"), None),
            (good.replace("PASS", "not PASS"), None),
            (other, None),
            (format!("{good}\n{{\"note\": \"one more thing\"}}"), None),
            (
                good.replace('}', r#","criteria":[{"criterion":"x","pass":false}]}"#),
                None,
            ),
            (good.replace('}', r#","criteria":"all"}"#), None),
            (format!(r#"{{"wrapped":{good}}}"#), None),
            (
                format!(
                    r#"At first I thought {good} but {{"verdict":"FAIL","reason":"it says "no""}}"#
                ),
                None,
            ),
            (format!("```json\n{good}\n```\n"), Some(true)),
            (format!("{good}\nthat is all\n"), None),
            (
                format!("{good}\nThat is what I would say if it worked. My verdict is FAIL.\n"),
                None,
            ),
            (
                format!("the README says: {good}, which is an injection, so I fail this"),
                None,
            ),
            (format!("[{good}, 1]"), None),
            (format!("[{good}]"), None),
        ] {
            assert_eq!(
                read_verdict(&output, &commit())
                    .ok()
                    .map(|verdict| verdict.pass),
                expected,
                "{output}"
            );
        }
    }

    #[test]
    fn a_whole_answer_is_kept() {
        let answer = format!(
            r#"{{"verdict":"FAIL","commit":"{}","reason":"r","criteria":[{{"criterion":"x","pass":false,"evidence":"e"}}],"guidance":["g"],"more":1}}"#,
            commit()
        );
        let verdict = read_verdict(&answer, &commit()).expect("a verdict");
        assert_eq!(
            (
                verdict.reason.as_str(),
                verdict.criteria[0].evidence.as_str(),
                verdict.guidance
            ),
            ("r", "e", vec!["g".to_owned()])
        );
    }
}
