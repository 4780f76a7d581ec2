//! The numbers by which a judge answers obligations.
//!
//! They are made anew from what is owed wherever somebody needs them, and are never recorded: the
//! journal knows an obligation by kind and subject.

use crate::facts::Obligation;
use crate::obliged::shown;

/// Lines that a judge is asked to answer one by one; more than that are grouped.
const LINES_MAX: usize = 20;

/// Subjects that the line of a group names.
const SUBJECTS_MAX: usize = 5;

/// One line that a judge answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// What an answer names it by: `O1`, `O2` and so on.
    pub id: String,
    /// What it is about, in a plain sentence.
    pub line: String,
    /// The obligations that one answer to it answers.
    pub obligations: Vec<Obligation>,
}

/// How far apart the obligations of one group may be, finest first.
#[derive(Debug, Clone, Copy)]
enum Grain {
    Each,
    /// The same kind in the same file of tests or the same folder.
    Place,
    /// The same kind below the same folder of the project.
    TopFolder,
    Kind,
}

/// Numbers what is owed; what would be too many lines is grouped, as finely as there is room.
pub fn numbered(owed: &[Obligation]) -> Vec<Numbered> {
    let grains = [Grain::Each, Grain::Place, Grain::TopFolder, Grain::Kind];
    let grouped = grains.map(|grain| groups(owed, grain));
    let fits = |groups: &&Vec<Group>| groups.len() <= LINES_MAX;
    let groups = grouped.iter().find(fits).unwrap_or(&grouped[3]);
    let lines = groups.iter().zip(1..).map(|(group, number)| Numbered {
        id: format!("O{number}"),
        line: group.line(),
        obligations: group.obligations.clone(),
    });
    lines.collect()
}

struct Group {
    key: String,
    obligations: Vec<Obligation>,
}

/// The groups in the order of their first obligations.
fn groups(owed: &[Obligation], grain: Grain) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for obligation in owed {
        let place = place(&obligation.subject);
        let key = match grain {
            Grain::Each => obligation.subject.clone(),
            Grain::Place => place.to_owned(),
            Grain::TopFolder => place.split('/').next().unwrap_or_default().to_owned(),
            Grain::Kind => String::new(),
        };
        let known = groups.iter_mut().find(|group| {
            let first = group.obligations.first();
            first.is_some_and(|first| first.kind == obligation.kind) && group.key == key
        });
        match known {
            Some(group) => group.obligations.push(obligation.clone()),
            None => groups.push(Group {
                key,
                obligations: vec![obligation.clone()],
            }),
        }
    }
    groups
}

impl Group {
    fn line(&self) -> String {
        let (first, count) = match &self.obligations[..] {
            [] => return String::new(),
            [one] => return one.words(),
            [first, ..] => (first, self.obligations.len()),
        };
        let named = self.obligations.iter().take(SUBJECTS_MAX);
        let named: Vec<String> = named.map(|each| shown(&each.subject)).collect();
        let place = match self.key.as_str() {
            "" => String::new(),
            place => format!(" in {}", shown(place)),
        };
        let rest = match count.saturating_sub(SUBJECTS_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = first.kind.words_for(count);
        format!("{words}{place}: {}{rest}", named.join(", "))
    }
}

/// The file of a test's name, or the folder of a file's; empty where the name tells none.
fn place(subject: &str) -> &str {
    let in_brackets = subject
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once(" ("));
    if let Some((_, place)) = in_brackets {
        return place;
    }
    if let Some((place, _)) = subject.split_once("::") {
        return place;
    }
    match subject.rsplit_once('/') {
        Some((folder, _)) if !subject.contains(char::is_whitespace) => folder,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ObligationKind;

    fn obligations(
        kind: ObligationKind,
        subjects: impl Iterator<Item = String>,
    ) -> Vec<Obligation> {
        subjects
            .map(|subject| Obligation { kind, subject })
            .collect()
    }

    fn check(owed: &[Obligation], n_lines: usize, first: &str) {
        let lines = numbered(owed);
        assert_eq!(lines.len(), n_lines, "{lines:#?}");
        assert_eq!(format!("{} {}", lines[0].id, lines[0].line), first);
        let mut answered: Vec<Obligation> = lines
            .iter()
            .flat_map(|line| line.obligations.clone())
            .collect();
        answered.sort();
        let mut all = owed.to_vec();
        all.sort();
        assert_eq!(answered, all, "each stands under one number");
    }

    #[test]
    fn a_few_are_numbered_one_by_one_and_many_by_group() {
        use ObligationKind::{Harness, OldTestRed, OldTestRemoved};
        check(
            &obligations(OldTestRemoved, (0..20).map(|at| format!("t{at}"))),
            20,
            "O1 the older test `t0` is gone",
        );
        check(
            &obligations(OldTestRemoved, (0..21).map(|at| format!("t{at}"))),
            1,
            "O1 21 older tests are gone: `t0`, `t1`, `t2`, `t3`, `t4` and 16 more",
        );
        let in_files = (0..40).map(|at| format!("t{at} (tests/{}.rs)", at / 10));
        check(
            &obligations(OldTestRed, in_files),
            4,
            "O1 10 older tests are red in their old form in `tests/0.rs`: `t0 (tests/0.rs)`, \
             `t1 (tests/0.rs)`, `t2 (tests/0.rs)`, `t3 (tests/0.rs)`, `t4 (tests/0.rs)` and 5 more",
        );
        let in_folders = (0..60).map(|at| format!("{}/{at}/setup.cfg", ["a", "b"][at / 30]));
        check(
            &obligations(Harness, in_folders),
            2,
            "O1 the proof rests on 30 files that are not known as product code in `a`: \
             `a/0/setup.cfg`, `a/1/setup.cfg`, `a/2/setup.cfg`, `a/3/setup.cfg`, `a/4/setup.cfg` \
             and 25 more",
        );
        let everywhere = (0..60).map(|at| format!("{at}/{at}.py::t"));
        let mut mixed = obligations(OldTestRed, everywhere);
        mixed.extend(obligations(OldTestRemoved, ["last".to_owned()].into_iter()));
        check(
            &mixed,
            2,
            "O1 60 older tests are red in their old form: `0/0.py::t`, `1/1.py::t`, `2/2.py::t`, \
             `3/3.py::t`, `4/4.py::t` and 55 more",
        );
        assert_eq!(numbered(&mixed)[1].line, "the older test `last` is gone");
        assert_eq!(numbered(&[]), []);
    }
}
