//! What failed, in one line: the first thing that a person wants to know of a story that did not
//! pass.

use kernel::{CriterionVerdict, Doubt, Doubted, Facts, Setup, Verdict};

/// So many names of tests are shown; the rest is counted.
const NAMES_MAX: usize = 3;

const LINE_CHARS_MAX: usize = 240;

/// Why an attempt was rejected, by what was measured, what the judge said and what the next attempt
/// is told.
pub(crate) fn cause(facts: Option<&Facts>, verdict: Option<&Verdict>, feedback: &str) -> String {
    let judged = verdict.filter(|verdict| !verdict.pass);
    let measured = facts.filter(|_| verdict.is_none());
    let words = judged
        .map(of_verdict)
        .or_else(|| measured.and_then(of_facts))
        .unwrap_or_else(|| feedback.lines().next().unwrap_or_default().to_owned());
    one_line(&words)
}

fn of_verdict(verdict: &Verdict) -> String {
    let mut unmet = verdict.criteria.iter().filter(|criterion| !criterion.pass);
    let Some(first) = unmet.next() else {
        return format!("the judge said no: {}", verdict.reason);
    };
    let CriterionVerdict {
        criterion,
        evidence,
        ..
    } = first;
    let because = if evidence.is_empty() {
        &verdict.reason
    } else {
        evidence
    };
    let more = match unmet.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("not met: {criterion} ({because}){more}")
}

/// What was measured and red; nothing where the measurement does not say.
fn of_facts(facts: &Facts) -> Option<String> {
    // What makes everything else red comes first.
    if facts.setup == Setup::Failed {
        return Some("the project cannot be prepared with this change: its setup fails".to_owned());
    }
    if let Some(why) = facts.voided.first() {
        return Some(format!("the measurement cannot be trusted: {why}"));
    }
    let lists = [
        ("red", &facts.failed_checks),
        ("green before and not any more", &facts.broken),
        ("the story's own tests are red", &facts.failing),
        ("no longer stable", &facts.unstable),
    ];
    let mut parts: Vec<String> = lists
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(words, names)| format!("{words}: {}", listed(names)))
        .collect();
    if facts.demands_proof && facts.proven.is_empty() && !facts.doubted.is_empty() {
        parts.extend(of_doubts(&facts.doubted));
    }
    if facts.unfit_tests {
        parts.push("the story's tests do not fit the change".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Why tests prove nothing, each reason once.
fn of_doubts(doubted: &[Doubted]) -> Vec<String> {
    let reasons = [
        "not surely red before the story",
        "not green each time",
        "older tests that only the new files made red",
        "turned green by comments alone",
    ];
    let reason = |doubt: Doubt| match doubt {
        Doubt::RedByChance | Doubt::NotSeenAgain => 0,
        Doubt::NotGreenAgain => 1,
        Doubt::OlderTest => 2,
        Doubt::SourceText => 3,
    };
    let of = |(index, words): (usize, &&str)| {
        let found = doubted.iter().filter(|each| reason(each.doubt) == index);
        let tests: Vec<String> = found.map(|each| each.test.clone()).collect();
        (!tests.is_empty()).then(|| format!("{words}: {}", listed(&tests)))
    };
    reasons.iter().enumerate().filter_map(of).collect()
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A text in one line that a page can begin with.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LINE_CHARS_MAX {
        return line;
    }
    let kept: String = line.chars().take(LINE_CHARS_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn verdict(pass: bool, criteria: &[(&str, bool, &str)]) -> Verdict {
        let criterion = |(criterion, pass, evidence): &(&str, bool, &str)| CriterionVerdict {
            criterion: (*criterion).to_owned(),
            pass: *pass,
            evidence: (*evidence).to_owned(),
        };
        Verdict {
            pass,
            commit: kernel::Commit::new(&"a".repeat(40)).expect("an id"),
            reason: "too\nslow".to_owned(),
            criteria: criteria.iter().map(criterion).collect(),
            guidance: Vec::new(),
            obliged: Vec::new(),
        }
    }

    #[test]
    fn an_attempt_failed_because() {
        let red = |change: fn(&mut Facts)| {
            let mut facts = Facts {
                measured: true,
                ..Facts::default()
            };
            change(&mut facts);
            Some(facts)
        };
        for (facts, verdict, expected) in [
            (None, None, "first"),
            (red(|_| {}), None, "first"),
            (
                red(|facts| {
                    facts.failing = names(&["a", "b", "c", "d", "e"]);
                    facts.broken = names(&["old"]);
                    facts.failed_checks = names(&["lint"]);
                }),
                None,
                "red: `lint`; green before and not any more: `old`; the story's own tests are red: \
                 `a`, `b`, `c` and 2 more",
            ),
            (
                red(|facts| {
                    facts.setup = Setup::Failed;
                    facts.failing = names(&["a"]);
                }),
                None,
                "the project cannot be prepared with this change: its setup fails",
            ),
            (
                red(|facts| facts.voided = names(&["it was cut off"])),
                None,
                "the measurement cannot be trusted: it was cut off",
            ),
            (
                red(|facts| facts.unfit_tests = true),
                None,
                "the story's tests do not fit the change",
            ),
            (
                None,
                Some(verdict(false, &[])),
                "the judge said no: too slow",
            ),
            (
                // A judge sees only what is green, so that what it says is what counts.
                red(|facts| facts.failing = names(&["a"])),
                Some(verdict(
                    false,
                    &[
                        ("fine", true, "x"),
                        ("fast", false, "4 s"),
                        ("kind", false, ""),
                    ],
                )),
                "not met: fast (4 s), and 1 more",
            ),
            (
                None,
                Some(verdict(false, &[("fast", false, "")])),
                "not met: fast (too slow)",
            ),
            (None, Some(verdict(true, &[])), "first"),
        ] {
            let found = cause(facts.as_ref(), verdict.as_ref(), "first\nsecond");
            assert_eq!(found, expected);
        }
        assert_eq!(one_line(&"word ".repeat(100)).chars().count(), 240);
    }

    #[test]
    fn tests_that_are_red_by_chance_are_named_where_nothing_else_proves_the_story() {
        let doubted = kernel::Doubted {
            test: "now and then".to_owned(),
            doubt: kernel::Doubt::RedByChance,
        };
        for (proven, expected) in [
            (
                names(&[]),
                "not surely red before the story: `now and then`",
            ),
            (names(&["each time"]), "first"),
        ] {
            let facts = Facts {
                measured: true,
                demands_proof: true,
                doubted: vec![doubted.clone()],
                proven,
                ..Facts::default()
            };
            assert_eq!(cause(Some(&facts), None, "first\nsecond"), expected);
        }
    }
}
