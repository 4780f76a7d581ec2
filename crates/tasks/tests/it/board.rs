//! Which task is ready, which is next, and what a move leads to.

use std::fs;

use tasks::{Caller, Force, OwnerKind, Then};

use crate::support::{CHAIN, Scene, claim, next, states, words};

fn person() -> Caller {
    Caller::Person {
        name: "ann@here".to_owned(),
    }
}

#[test]
fn moves_lead_to() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    assert_eq!(states(&tasks), "A ready, B blocked, C blocked, D ready");
    assert_eq!(next(&tasks), "A");
    assert_eq!(claim(&tasks, "B").expect_err("blocked"), "`B` waits for A");
    assert_eq!(
        claim(&tasks, "E").expect_err("unknown"),
        "there is no task `E`"
    );
    claim(&tasks, "A").expect("claimed");
    assert_eq!(next(&tasks), "D", "A is held");
    let refused = claim(&tasks, "A").expect_err("held");
    assert!(refused.starts_with("`A` is held by "), "{refused}");
    tasks.complete("A", &person(), Force::No).expect("complete");
    assert_eq!(states(&tasks), "A complete, B ready, C blocked, D ready");
    assert_eq!(next(&tasks), "B", "a low number comes first");
    let early = tasks.complete("C", &person(), Force::No);
    assert_eq!(
        early.map_err(|error| words(&error)).expect_err("early"),
        "`C` waits for B"
    );
    tasks.reset("A", &person(), Force::No).expect("reset");
    assert_eq!(states(&tasks), "A ready, B blocked, C blocked, D ready");
    tasks.complete("C", &person(), Force::Yes).expect("forced");
    assert_eq!(states(&tasks), "A ready, B blocked, C complete, D ready");
}

/// Why there is no next task: only what is complete, or set aside for good, is over.
#[test]
fn there_is_no_next_task_because() {
    let plan = |status: &str| format!("nodes:\n  - {{id: A, title: T, status: {status}}}\n");
    for (status, expected) in [
        ("complete", "all_complete"),
        ("skipped", "all_complete"),
        ("wont-fix", "all_complete"),
        ("blocked", "all_blocked"),
        ("stuck", "all_blocked"),
        ("failed", "all_blocked"),
        ("in_progress", "A"),
    ] {
        let scene = Scene::new();
        assert_eq!(
            next(&scene.tree("one", &plan(status))),
            expected,
            "{status}"
        );
    }
    let scene = Scene::new();
    let tasks = scene.tree("one", &plan("ready"));
    let number = claim(&tasks, "A").expect("claimed");
    assert_eq!(next(&tasks), "all_blocked", "somebody works on it");
    tasks.fail("A", number, "it broke", 0).expect("kept");
    assert_eq!(next(&tasks), "all_blocked", "it waits for a person");
    tasks.complete("A", &person(), Force::No).expect("complete");
    assert_eq!(next(&tasks), "all_complete");
}

#[test]
fn a_failure_is_kept_or_given_back() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    for (n_before, tries_more, expected) in
        [(0, 2, Then::Open), (1, 2, Then::Open), (2, 2, Then::Keep)]
    {
        let claim = claim(&tasks, "A").expect("claimed");
        let then = tasks.fail("A", claim, "it broke", tries_more);
        assert_eq!(then.expect("noted"), expected, "after {n_before} failures");
    }
    assert_eq!(states(&tasks), "A failed, B blocked, C blocked, D ready");
    assert_eq!(next(&tasks), "D", "nobody takes it by itself");
    claim(&tasks, "A").expect("whoever asks for it by name gets it");
}

#[test]
fn what_a_task_must_make_is_looked_at() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let out = scene.root("one").join("out.md");
    let complete = || {
        tasks
            .complete("D", &person(), Force::No)
            .map_err(|error| words(&error))
    };
    let missing = complete().expect_err("missing");
    assert_eq!(missing, "`D` must produce `out.md`, which does not exist");
    fs::write(&out, "").expect("written");
    let empty = complete().expect_err("empty");
    assert_eq!(empty, "`D` must produce `out.md`, which is empty");
    fs::remove_file(&out).expect("removed");
    std::os::unix::fs::symlink("/etc/hostname", &out).expect("linked");
    let outside = complete().expect_err("outside");
    assert_eq!(
        outside,
        "`D` must produce `out.md`, which is outside the work tree"
    );
    fs::remove_file(&out).expect("removed");
    fs::write(&out, "it").expect("written");
    complete().expect("complete");
}

/// A claim that is not held any more completes nothing.
#[test]
fn a_lost_claim_completes_nothing() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let number = claim(&tasks, "A").expect("claimed");
    let holder = Caller::Holder { claim: number };
    let other = tasks
        .complete("D", &holder, Force::No)
        .map_err(|error| words(&error));
    let lost = "`D` is not yours any more: its claim was released, reset or taken over";
    assert_eq!(other.expect_err("another's"), lost);
    tasks.reset("A", &person(), Force::Yes).expect("reset");
    let late = tasks
        .complete("A", &holder, Force::Yes)
        .map_err(|error| words(&error));
    assert_eq!(late.expect_err("late"), lost.replace("`D`", "`A`"));
    assert_eq!(next(&tasks), "A");
}

/// Where checks are known, an agent's word is noted, and only green checks complete the task.
#[test]
fn a_submitted_task_waits_for_its_checks() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let mut lease = tasks.lease(OwnerKind::Ralph).expect("a lease");
    lease.verify = true;
    let lease = tasks.claim("A", &lease).expect("claimed").lease;
    let holder = Caller::Holder {
        claim: lease.number,
    };
    let done = tasks.complete("A", &holder, Force::No).expect("noted");
    assert!(done.is_submitted);
    assert_eq!(
        states(&tasks),
        "A in_progress, B blocked, C blocked, D ready"
    );
    let claimed = CHAIN.replacen("status: ready", "status: in_progress", 1);
    assert_eq!(scene.text("one"), claimed, "nothing more is written yet");
    tasks.accept("A", lease.number).expect("accepted");
    assert_eq!(states(&tasks), "A complete, B ready, C blocked, D ready");
}
