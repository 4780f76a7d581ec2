//! The journal compared with the simplest model of it, a list of records per loop. Both must give
//! the same answers to any sequence of calls.

use std::collections::BTreeMap;

use journal::{AppendError, Journal, LoopRow, NewRecord, Record};
use proptest::prelude::*;

use crate::support::Scratch;

const LOOPS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    Append {
        loop_index: usize,
        expected: Expected,
        records: Vec<(i64, String, String)>,
    },
    Read {
        loop_index: usize,
        after: u64,
    },
    Quarantine {
        loop_index: usize,
        why: String,
    },
    Remove {
        loop_index: usize,
    },
    Reopen,
}

/// The number that the appender expects to be the last.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Right,
    Behind(u64),
    Ahead(u64),
}

#[derive(Debug, Default)]
struct Model {
    loops: BTreeMap<&'static str, ModelLoop>,
}

#[derive(Debug, Default)]
struct ModelLoop {
    records: Vec<Record>,
    quarantine: Option<String>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let loop_index = || 0..LOOPS.len();
    let expected = prop_oneof![
        6 => Just(Expected::Right),
        1 => (1..3_u64).prop_map(Expected::Behind),
        1 => (1..3_u64).prop_map(Expected::Ahead),
    ];
    let records = prop::collection::vec((any::<i64>(), "[A-Z][a-z]{0,5}", ".{0,20}"), 0..4);
    let append = (loop_index(), expected, records).prop_map(|(loop_index, expected, records)| {
        Step::Append {
            loop_index,
            expected,
            records,
        }
    });
    let read =
        (loop_index(), 0..12_u64).prop_map(|(loop_index, after)| Step::Read { loop_index, after });
    let quarantine =
        (loop_index(), ".{0,9}").prop_map(|(loop_index, why)| Step::Quarantine { loop_index, why });
    let remove = loop_index().prop_map(|loop_index| Step::Remove { loop_index });
    let step =
        prop_oneof![20 => append, 6 => read, 1 => quarantine, 1 => remove, 3 => Just(Step::Reopen)];
    prop::collection::vec(step, 0..40)
}

impl Model {
    fn append(
        &mut self,
        loop_id: &'static str,
        expected: u64,
        records: &[NewRecord<'_>],
    ) -> String {
        let (found, quarantine) = self.end(loop_id);
        if let Some(why) = quarantine {
            return format!("quarantined {why}");
        }
        if found != expected {
            return format!("conflict {expected} {found}");
        }
        for (record, number) in records.iter().zip(found + 1..) {
            let NewRecord { at_ms, kind, body } = *record;
            let record = Record {
                number,
                at_ms,
                kind: kind.to_owned(),
                body: body.to_owned(),
            };
            self.loops.entry(loop_id).or_default().records.push(record);
        }
        format!("stored {}", self.end(loop_id).0)
    }

    fn end(&self, loop_id: &str) -> (u64, Option<String>) {
        let known = self.loops.get(loop_id);
        (
            known.map_or(0, |known| known.records.len() as u64),
            known.and_then(|known| known.quarantine.clone()),
        )
    }

    fn read(&self, loop_id: &str, after: u64) -> Vec<Record> {
        let records = self
            .loops
            .get(loop_id)
            .into_iter()
            .flat_map(|known| &known.records);
        records
            .filter(|record| record.number > after)
            .cloned()
            .collect()
    }

    fn rows(&self) -> Vec<LoopRow> {
        let row = |(loop_id, known): (&&str, &ModelLoop)| LoopRow {
            loop_id: (*loop_id).to_owned(),
            last: known.records.len() as u64,
            quarantine: known.quarantine.clone(),
        };
        self.loops.iter().map(row).collect()
    }
}

fn append(journal: &Journal, loop_id: &str, expected: u64, records: &[NewRecord<'_>]) -> String {
    match journal.append(loop_id, expected, None, records) {
        Ok(last) => format!("stored {last}"),
        Err(AppendError::Conflict { expected, found }) => format!("conflict {expected} {found}"),
        Err(AppendError::Quarantined { why }) => format!("quarantined {why}"),
        Err(error @ (AppendError::Fenced | AppendError::DiskFull | AppendError::Journal(_))) => {
            format!("unexpected {error:?}")
        }
    }
}

/// Applies one step to both and compares the answers.
fn play(step: Step, scratch: &Scratch, journal: &mut Journal, model: &mut Model) {
    match step {
        Step::Append {
            loop_index,
            expected,
            records,
        } => {
            let loop_id = LOOPS[loop_index];
            let last = model.end(loop_id).0;
            let expected = match expected {
                Expected::Right => last,
                Expected::Behind(by) => last.saturating_sub(by),
                Expected::Ahead(by) => last + by,
            };
            let records: Vec<_> = records
                .iter()
                .map(|(at_ms, kind, body)| NewRecord {
                    at_ms: *at_ms,
                    kind,
                    body,
                })
                .collect();
            let answer = model.append(loop_id, expected, &records);
            assert_eq!(append(journal, loop_id, expected, &records), answer);
        }
        Step::Read { loop_index, after } => {
            let loop_id = LOOPS[loop_index];
            assert_eq!(
                journal.read(loop_id, after).unwrap(),
                model.read(loop_id, after)
            );
        }
        Step::Quarantine { loop_index, why } => {
            journal.quarantine(LOOPS[loop_index], &why).unwrap();
            model
                .loops
                .entry(LOOPS[loop_index])
                .or_default()
                .quarantine
                .get_or_insert(why);
        }
        Step::Remove { loop_index } => {
            journal.remove(LOOPS[loop_index]).unwrap();
            model.loops.remove(LOOPS[loop_index]);
        }
        Step::Reopen => *journal = scratch.open(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_answers_like_a_list(steps in steps()) {
        let scratch = Scratch::new();
        let mut journal = scratch.open();
        let mut model = Model::default();
        for step in steps {
            play(step, &scratch, &mut journal, &mut model);
        }
        let journal = scratch.open();
        assert_eq!(journal.loops().unwrap(), model.rows());
        for loop_id in LOOPS {
            assert_eq!(journal.read(loop_id, 0).unwrap(), model.read(loop_id, 0));
            assert_eq!(journal.last(loop_id).unwrap(), model.end(loop_id).0);
        }
    }
}
