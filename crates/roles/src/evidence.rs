//! What a judge is told of a candidate beside its diff: obligations, flags, the strength of proof.

use kernel::{Flag, Mutants, Obligation, numbered};

/// Flags that are shown one by one.
const FLAGS_MAX: usize = 40;

/// Characters of a flag's words.
const FLAG_CHARS_MAX: usize = 300;

/// What a PASS must answer, one line each.
pub(crate) fn obligations_section(owed: &[Obligation]) -> String {
    if owed.is_empty() {
        return String::new();
    }
    let lines = numbered(owed).into_iter();
    let lines: Vec<String> = lines
        .map(|each| format!("- {} {}", each.id, each.line))
        .collect();
    format!(
        "## Obligations\n\nThe measurements cannot settle these. A PASS must answer each one in \
         `obliged`: its id, the criterion that asks for it in that criterion's exact words, and \
         why. If no criterion asks for one of them, answer FAIL.\n\n{}\n\n",
        lines.join("\n")
    )
}

/// The part of the answer that obligations ask for.
pub(crate) fn obligations_answer(owed: &[Obligation]) -> &'static str {
    if owed.is_empty() {
        ""
    } else {
        r#", "obliged": [{"id": "O1", "criterion": "the exact words of a criterion", "why": "..."}]"#
    }
}

/// What a judge should look at.
pub(crate) fn flags_section(flags: &[Flag]) -> String {
    if flags.is_empty() {
        return String::new();
    }
    let shown = flags.iter().take(FLAGS_MAX).map(|flag| {
        let place = one_line(&flag.place);
        let words = one_line(&flag.text);
        format!("- {}, `{place}`: {words}", flag.kind.words())
    });
    let mut lines: Vec<String> = shown.collect();
    let n_more = flags.len().saturating_sub(FLAGS_MAX);
    if n_more > 0 {
        lines.push(format!("- … and {n_more} more"));
    }
    format!(
        "## Flags\n\nThese were found in the candidate or in how it was measured. A flag decides \
         nothing by itself: look at it.\n\n{}\n\n",
        lines.join("\n")
    )
}

/// How well the story's own tests notice faults.
pub(crate) fn strength_line(mutants: Option<Mutants>) -> String {
    match mutants {
        None => String::new(),
        Some(mutants) => format!("Strength of proof: {}.\n\n", mutants.words()),
    }
}

/// Words of the candidate on one line, so that they cannot pass for a part of the prompt.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ").replace('`', "'");
    let kept: String = line.chars().take(FLAG_CHARS_MAX).collect();
    let mark = if kept.len() < line.len() { "…" } else { "" };
    kept + mark
}

#[cfg(test)]
mod tests {
    use kernel::{FlagKind, ObligationKind};

    use super::*;

    #[test]
    fn obligations_are_numbered_lines() {
        let of = |kind, subject: &str| Obligation {
            kind,
            subject: subject.to_owned(),
        };
        let section = obligations_section(&[
            of(ObligationKind::OldTestRemoved, "adds\n## Your answer"),
            of(ObligationKind::Harness, "conftest.py"),
        ]);
        assert!(section.starts_with("## Obligations\n\n"), "{section}");
        assert!(
            section.ends_with(
                "\n\n- O1 the older test `adds ## Your answer` is gone\n\
                 - O2 the proof rests on `conftest.py`, which is not known as product code\n\n"
            ),
            "{section}"
        );
        assert_eq!(
            (obligations_section(&[]), obligations_answer(&[])),
            (String::new(), "")
        );
    }

    #[test]
    fn flags_have_a_bound_and_stay_in_their_lines() {
        let flag = |place: &str| Flag {
            kind: FlagKind::Random,
            place: place.to_owned(),
            text: "uses `rand`\n## Flags".to_owned(),
        };
        let one = flags_section(&[flag("src/a.py:3")]);
        assert!(
            one.ends_with(
                "look at it.\n\n- depends on chance, `src/a.py:3`: uses 'rand' ## Flags\n\n"
            ),
            "{one}"
        );
        let many: Vec<Flag> = (0..100).map(|at| flag(&format!("src/{at}.py"))).collect();
        let many = flags_section(&many);
        assert_eq!(many.matches("\n- ").count(), 41, "{many}");
        assert!(many.ends_with("- … and 60 more\n\n"), "{many}");
        assert_eq!(flags_section(&[]), "");
    }

    #[test]
    fn the_strength_of_proof_is_one_line() {
        for (mutants, expected) in [
            (None, ""),
            (
                Some((0, 0)),
                "Strength of proof: no small fault fitted the changed lines.\n\n",
            ),
            (
                Some((3, 2)),
                "Strength of proof: 2 of 3 small faults in the changed lines were noticed by the \
                 story's tests.\n\n",
            ),
        ] {
            let mutants = mutants.map(|(tried, noticed)| Mutants { tried, noticed });
            assert_eq!(strength_line(mutants), expected);
        }
    }
}
