//! Leases: who can take one and when, and that an owner who lost one can no longer write.

use journal::{AppendError, Fence, Journal, NewRecord};

use crate::support::{Scratch, bodies, shown};

#[test]
fn a_lease_held_by_anna_until_110_goes_to() {
    for (owner, now_ms, token) in [
        ("bert", 10, None),
        ("bert", 109, None),
        ("bert", 110, Some(2)),
        ("bert", i64::MAX, Some(2)),
        ("anna", 11, Some(2)),
        ("anna", 500, Some(2)),
    ] {
        let scratch = Scratch::new();
        let journal = scratch.open();
        assert_eq!(take(&journal, "anna", 10).token(), 1);
        let other = journal.take_lease("other", "bert", now_ms, 100).unwrap();
        assert_eq!(other.unwrap().token(), 1, "another name is another lease");
        let seen = journal.take_lease("worker", owner, now_ms, 100).unwrap();
        assert_eq!(
            seen.map(|fence| fence.token()),
            token,
            "{owner} at {now_ms}"
        );
    }
}

#[test]
fn a_renewed_lease_lasts_longer() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let anna = take(&journal, "anna", 10);
    assert!(journal.renew_lease(&anna, 60, 100).unwrap());
    assert_eq!(
        journal.take_lease("worker", "bert", 159, 100).unwrap(),
        None
    );
    assert!(
        journal.renew_lease(&anna, 300, 100).unwrap(),
        "expired, but nobody took it"
    );
    let bert = take(&journal, "bert", 400);
    assert!(!journal.renew_lease(&anna, 401, 100).unwrap());
    assert!(journal.renew_lease(&bert, 401, i64::MAX).unwrap());
}

#[test]
fn a_released_lease_is_free_at_once_and_its_token_still_rises() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let anna = take(&journal, "anna", 10);
    journal.release_lease(&anna).unwrap();
    assert!(!journal.renew_lease(&anna, 11, 100).unwrap());
    let bert = take(&journal, "bert", 11);
    assert_eq!((bert.name(), bert.token()), ("worker", 2));
    journal.release_lease(&anna).unwrap();
    assert_eq!(
        journal.take_lease("worker", "anna", 12, 100).unwrap(),
        None,
        "an old fence releases nothing"
    );
}

/// The old worker slept through its lease. It must not write, even if the expected number fits.
#[test]
fn an_old_fence_cannot_append_after_a_new_lease_was_taken() {
    let scratch = Scratch::new();
    let (old, new) = (scratch.open(), scratch.open());
    let old_fence = take(&old, "anna", 10);
    assert_eq!(shown(note(&old, "one", 0, &old_fence, "by anna")), "1");
    assert_eq!(
        shown(note(&old, "one", 1, &old_fence, "expired, but still hers")),
        "2"
    );
    let new_fence = take(&new, "bert", 200);
    for (loop_id, expected, fence, answer) in [
        (
            "one",
            2,
            &old_fence,
            "the lease was taken over by somebody else",
        ),
        (
            "one",
            0,
            &old_fence,
            "the lease was taken over by somebody else",
        ),
        (
            "two",
            0,
            &old_fence,
            "the lease was taken over by somebody else",
        ),
        ("one", 2, &new_fence, "3"),
    ] {
        assert_eq!(
            shown(note(&old, loop_id, expected, fence, "by bert")),
            answer,
            "{loop_id} {expected} {fence:?}"
        );
    }
    assert_eq!(
        bodies(&new, "one"),
        ["by anna", "expired, but still hers", "by bert"]
    );
}

#[test]
fn a_fence_of_another_journal_is_no_fence_here() {
    let (here, there) = (Scratch::new(), Scratch::new());
    let fence = take(&there.open(), "anna", 10);
    let error = note(&here.open(), "one", 0, &fence, "a").unwrap_err();
    assert!(matches!(error, AppendError::Fenced), "{error:?}");
}

/// A lease and its token outlive the process that took it.
#[test]
fn a_lease_survives_reopening() {
    let scratch = Scratch::new();
    let fence = take(&scratch.open(), "anna", 10);
    let journal = scratch.open();
    assert_eq!(journal.take_lease("worker", "bert", 50, 100).unwrap(), None);
    assert_eq!(shown(note(&journal, "one", 0, &fence, "a")), "1");
    assert_eq!(take(&journal, "bert", 110).token(), 2);
}

fn take(journal: &Journal, owner: &str, now_ms: i64) -> Fence {
    journal
        .take_lease("worker", owner, now_ms, 100)
        .unwrap()
        .unwrap()
}

fn note(
    journal: &Journal,
    loop_id: &str,
    expected: u64,
    fence: &Fence,
    body: &str,
) -> Result<u64, AppendError> {
    journal.append(
        loop_id,
        expected,
        Some(fence),
        &[NewRecord {
            at_ms: 7,
            kind: "Noted",
            body,
        }],
    )
}
