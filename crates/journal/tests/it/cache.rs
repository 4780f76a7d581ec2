//! The cache is found again or not at all: whatever happens to its file, nothing wrong is found.

use std::fs;
use std::path::PathBuf;

use journal::{Brief, Cache, Fingerprint, Journal, LoopRow, Remembered};

use crate::support::{Scratch, append};

fn fingerprint(journal: &Journal, loop_id: &str) -> Fingerprint {
    let all = journal.fingerprints().unwrap();
    let found = all.into_iter().find(|(row, _)| row.loop_id == loop_id);
    found.unwrap().1
}

/// A journal of some loops, and what is remembered of them.
fn filled(scratch: &Scratch, n_loops: usize) -> Vec<Remembered> {
    let journal = scratch.open();
    let remembered = |number: usize| {
        let loop_id = format!("loop-{number:02}");
        append(&journal, &loop_id, &["begun", "ended"]).unwrap();
        Remembered {
            fingerprint: fingerprint(&journal, &loop_id),
            at_ms: 1_000 + i64::try_from(number).unwrap(),
            brief: format!("brief of {number}"),
            whole: format!("whole of {number}, {}", "and more ".repeat(number * 40)),
            loop_id,
        }
    };
    (0..n_loops).map(remembered).collect()
}

fn cache(scratch: &Scratch, form: &str) -> Cache {
    Cache::open(&scratch.state_dir(), form).unwrap()
}

fn file(scratch: &Scratch) -> PathBuf {
    scratch.state_dir().join("cache.db")
}

/// Everything that is found of these loops, as it was put in.
fn found(cache: &Cache, all: &[Remembered]) -> Vec<Remembered> {
    let rows: Vec<(LoopRow, Fingerprint)> = all
        .iter()
        .map(|one| (row(&one.loop_id), one.fingerprint))
        .collect();
    let briefs = cache.recall(&rows).briefs;
    let wanted = all
        .iter()
        .map(|one| (one.loop_id.as_str(), one.fingerprint));
    let wholes = cache.wholes(wanted);
    let both = |(one, brief): (&Remembered, Option<Brief>)| {
        let Brief { at_ms, brief } = brief?;
        Some(Remembered {
            loop_id: one.loop_id.clone(),
            fingerprint: one.fingerprint,
            at_ms,
            brief,
            whole: wholes.get(&one.loop_id)?.clone(),
        })
    };
    all.iter().zip(briefs).filter_map(both).collect()
}

fn row(loop_id: &str) -> LoopRow {
    LoopRow {
        loop_id: loop_id.to_owned(),
        last: 2,
        quarantine: None,
    }
}

#[test]
fn what_is_remembered_is_found_by_the_next() {
    let scratch = Scratch::new();
    let all = filled(&scratch, 3);
    let mut first = cache(&scratch, "form 1");
    assert_eq!(found(&first, &all), []);
    first.update(&all, &[]);
    assert_eq!(found(&first, &all), all);
    let mut second = cache(&scratch, "form 1");
    assert_eq!(found(&second, &all), all);
    second.update(&[], &["loop-01".to_owned()]);
    assert_eq!(found(&first, &all), [all[0].clone(), all[2].clone()]);
}

/// Some loops have nothing remembered, and some that are remembered are gone.
#[test]
fn what_nobody_asks_for_is_named() {
    let scratch = Scratch::new();
    let all = filled(&scratch, 6);
    cache(&scratch, "form").update(&[1, 2, 4, 5].map(|at| all[at].clone()), &[]);
    let asked: Vec<(LoopRow, Fingerprint)> = [0, 1, 3, 4]
        .map(|at| (row(&all[at].loop_id), all[at].fingerprint))
        .into();
    let recalled = cache(&scratch, "form").recall(&asked);
    let times: Vec<Option<i64>> = recalled
        .briefs
        .iter()
        .map(|brief| Some(brief.as_ref()?.at_ms))
        .collect();
    assert_eq!(times, [None, Some(1_001), None, Some(1_004)]);
    assert_eq!(recalled.gone, ["loop-02", "loop-05"]);
}

#[test]
fn another_form_or_another_record_finds_nothing() {
    let scratch = Scratch::new();
    let all = filled(&scratch, 2);
    cache(&scratch, "form 1").update(&all, &[]);
    let mut other = cache(&scratch, "form 2");
    assert_eq!(found(&other, &all), []);
    other.update(&all[..1], &[]);
    assert_eq!(found(&other, &all), all[..1]);
    assert_eq!(found(&cache(&scratch, "form 1"), &all), all[1..]);

    let journal = scratch.open();
    append(&journal, "loop-01", &["begun again"]).unwrap();
    let now = fingerprint(&journal, "loop-01");
    assert_ne!(now, all[1].fingerprint);
    assert_eq!(
        cache(&scratch, "form 1").wholes([("loop-01", now)]).len(),
        0
    );
    // A loop of the same id and length, but of other records, is another one.
    journal.remove("loop-01").unwrap();
    append(&journal, "loop-01", &["begun", "ended otherwise"]).unwrap();
    assert_ne!(fingerprint(&journal, "loop-01"), all[1].fingerprint);
}

/// Damages the file at many places. What is found is what was put in, and a new cache can be made.
#[test]
fn a_damaged_file_never_shows_anything_wrong() {
    let scratch = Scratch::new();
    let all = filled(&scratch, 12);
    cache(&scratch, "form").update(&all, &[]);
    let sound = fs::read(file(&scratch)).unwrap();
    let mut n_found = 0;
    for at in (0..sound.len()).step_by(199) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x55;
        fs::write(file(&scratch), &damaged).unwrap();
        let mut opened = cache(&scratch, "form");
        for one in found(&opened, &all) {
            assert!(all.contains(&one), "byte {at} gives {one:?}");
            n_found += 1;
        }
        opened.update(&all, &[]);
        drop(opened);
        // Either the damage was written over or the file was removed.
        cache(&scratch, "form").update(&all, &[]);
        for one in found(&cache(&scratch, "form"), &all) {
            assert!(all.contains(&one), "byte {at} gives {one:?} afterwards");
        }
        fs::remove_file(file(&scratch)).unwrap();
    }
    assert!(n_found > 0, "most damage is to a single entry");
}

#[test]
fn a_file_that_is_gone_empty_or_no_database_is_made_anew() {
    let scratch = Scratch::new();
    let all = filled(&scratch, 2);
    for content in [
        None,
        Some(""),
        Some("this is no database, and long enough to show it"),
    ] {
        cache(&scratch, "form").update(&all, &[]);
        fs::remove_file(file(&scratch)).unwrap();
        if let Some(content) = content {
            fs::write(file(&scratch), content.repeat(100)).unwrap();
        }
        let mut anew = cache(&scratch, "form");
        assert_eq!(found(&anew, &all), [], "{content:?}");
        anew.update(&all, &[]);
        assert_eq!(found(&cache(&scratch, "form"), &all), all, "{content:?}");
    }
}

#[test]
fn where_no_file_can_be_there_is_no_cache() {
    let scratch = Scratch::new();
    assert!(Cache::open(&scratch.state_dir().join("nowhere"), "form").is_none());
}
