//! One store for all work trees: who gets a task, and when it is anybody's again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

use tasks::{Caller, Force, OwnerKind, Tasks};

use crate::support::{CHAIN, Scene, claim, dead_lease, is_file, next, states};

#[test]
fn b1_looking_never_claims() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    for _ in 0..5 {
        assert_eq!(next(&tasks), "A");
    }
    assert_eq!(tasks.claims().expect("read").leases().count(), 0);
    assert_eq!(scene.text("one"), CHAIN);
    let elsewhere = scene.tree("two", CHAIN);
    claim(&elsewhere, "A").expect("nobody has it");
}

#[test]
fn b2_all_worktrees_share_one_store() {
    let scene = Scene::new();
    let (one, two) = (scene.tree("one", CHAIN), scene.tree("two", CHAIN));
    claim(&one, "A").expect("claimed");
    claim(&two, "A").expect_err("held in the other work tree");
    assert_eq!(next(&two), "D");
    let caller = Caller::person();
    one.complete("A", &caller, Force::No).expect("complete");
    // The other work tree's file still says that A is open.
    assert_eq!(scene.text("two"), CHAIN);
    assert_eq!(states(&two), "A complete, B ready, C blocked, D ready");
}

/// Many at once, each with a store of its own, as processes have: every task goes to exactly one.
#[test]
fn b2_many_at_once_never_claim_one_task_twice() {
    const TASKS: usize = 24;
    let nodes: String = (0..TASKS)
        .map(|n| format!("  - {{id: T{n}, title: T, status: ready}}\n"))
        .collect();
    let plan = format!("nodes:\n{nodes}edges: []\n");
    let scene = Scene::new();
    let taken = Mutex::new(BTreeMap::new());
    std::thread::scope(|threads| {
        for name in ["one", "two", "three", "four"] {
            let (scene, plan, taken) = (&scene, &plan, &taken);
            threads.spawn(move || {
                let tasks = scene.tree(name, plan);
                let lease = tasks.lease(OwnerKind::Person).expect("a lease");
                while let Ok(claimed) = tasks.claim_next(&lease, &|_| true).expect("claimed") {
                    let mut taken = taken.lock().expect("not poisoned");
                    *taken.entry(claimed.task.id).or_insert(0) += 1;
                }
            });
        }
    });
    let taken = taken.into_inner().expect("not poisoned");
    assert_eq!(taken.len(), TASKS);
    assert!(taken.values().all(|times| *times == 1), "{taken:?}");
}

/// A lease of somebody who is dead is nobody's, and who takes it is told whose it was.
#[test]
fn b4_a_dead_owner_holds_nothing() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let alive = tasks.lease(OwnerKind::Ralph).expect("a lease");
    let dead = tasks
        .claim("A", &dead_lease(&tasks))
        .expect("claimed")
        .lease;
    assert_eq!(states(&tasks), "A ready, B blocked, C blocked, D ready");
    let claimed = tasks.claim("A", &alive).expect("taken over");
    let taken = claimed.lease;
    assert_eq!(claimed.stale.map(|stale| stale.number), Some(dead.number));
    // The dead one's agent comes too late.
    let late = Caller::Holder { claim: dead.number };
    tasks.complete("A", &late, Force::No).expect_err("fenced");
    let own = Caller::Holder {
        claim: taken.number,
    };
    tasks.complete("A", &own, Force::No).expect("complete");
}

/// A living ralph's task is taken away by force only.
#[test]
fn b4_a_living_owner_keeps_its_task() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let lease = tasks.lease(OwnerKind::Ralph).expect("a lease");
    let lease = tasks.claim("A", &lease).expect("claimed").lease;
    let person = Caller::person();
    for (verb, refused) in [
        (
            "release",
            tasks.release("A", &person, Force::No, "").is_err(),
        ),
        ("reset", tasks.reset("A", &person, Force::No).is_err()),
        ("complete", tasks.complete("A", &person, Force::No).is_err()),
        ("claim", claim(&tasks, "A").is_err()),
    ] {
        assert!(refused, "{verb}");
    }
    tasks.reset("A", &person, Force::Yes).expect("by force");
    let own = Caller::Holder {
        claim: lease.number,
    };
    tasks.complete("A", &own, Force::No).expect_err("lost");
}

/// Words that somebody writes into the file later change nothing: the store has seen the tasks.
#[test]
fn a_word_in_the_file_completes_nothing() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    claim(&tasks, "D").expect("claimed");
    let lied = CHAIN.replace("status: ready", "status: complete");
    fs::write(scene.root("one").join("task-graph.yaml"), lied).expect("written");
    assert_eq!(
        states(&tasks),
        "A ready, B blocked, C blocked, D in_progress"
    );
    let fresh = Tasks::open(&scene.home(), scene.place("one")).expect("a store");
    assert_eq!(next(&fresh), "A");
    // A task that the store has not seen is what its file says.
    let more = CHAIN.replace(
        "nodes:\n",
        "nodes:\n  - {id: Z, title: Z, status: complete}\n",
    );
    fs::write(scene.root("one").join("task-graph.yaml"), more).expect("written");
    assert!(states(&fresh).starts_with("Z complete, A ready"));
}

/// A loop takes what nobody else has, and nothing is left when it was not recorded.
#[test]
fn a_loop_and_a_ralph_never_hold_one_task() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let ids = ["A", "B", "C", "D"].map(str::to_owned);
    let refused = tasks.claim_for_loop(&ids, "L1", |_| Err::<(), _>("no"));
    assert_eq!(refused.expect("tried"), Err("no"));
    assert_eq!(states(&tasks), "A ready, B blocked, C blocked, D ready");
    claim(&tasks, "A").expect("free");
    let person = Caller::person();
    tasks.complete("D", &person, Force::Yes).expect("complete");
    let share = tasks.claim_for_loop(&ids, "L1", |share| Ok::<_, ()>(share.clone()));
    let share = share.expect("tried").expect("recorded");
    let held: Vec<&str> = share.held.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(held, ["A"]);
    assert_eq!(share.complete, ["D"]);
    assert_eq!(share.taken, ["B", "C"]);
    tasks.complete_for_loop("A", "L1").expect("nothing to note");
    // No journal knows the loop, so that it counts as over.
    assert_eq!(
        states(&tasks),
        "A in_progress, B blocked, C blocked, D complete"
    );
    assert!(is_file(&scene.place("one").graph));
}

/// Older versions named runs after their claims alone, and claims are numbered per plan: a name that fits is
/// another's run unless it waits for the same process.
#[test]
fn the_runs_of_a_claim_are_those_of_its_process() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let mut place = scene.place("one");
    "graph:other.yaml".clone_into(&mut place.key);
    let other = Tasks::open(&scene.home(), place).expect("a store");
    let dead = dead_lease(&tasks);
    let lease = tasks.claim("A", &dead).expect("claimed").lease;
    let wait_for = |folder: &std::path::Path, lease: &tasks::Lease| {
        let spec = serde_json::json!({ "ends_with": lease.owner.process });
        fs::create_dir_all(folder).expect("made");
        fs::write(folder.join("spec.json"), spec.to_string()).expect("written");
    };
    let new = tasks.make_run_folder(lease.number).expect("made");
    let runs = new.parent().expect("a folder");
    let second = tasks.make_run_folder(lease.number).expect("made");
    let others = other.make_run_folder(lease.number).expect("made");
    let [old, olds_other] = [1, 2].map(|n| runs.join(format!("{}-{n}", lease.number)));
    let alive = tasks.lease(OwnerKind::Ralph).expect("a lease");
    for (folder, of) in [
        (&new, &lease),
        (&others, &lease),
        (&old, &lease),
        (&olds_other, &alive),
    ] {
        wait_for(folder, of);
    }
    let mut found = tasks.runs_of(&lease);
    found.sort();
    let mut expected = [old, new];
    expected.sort();
    assert_eq!(found, expected, "{second:?} was never begun");
}

/// Whoever took a claim over may die before it has ended what was left; the next one ends that too.
#[test]
fn b4_what_the_dead_left_is_found_whoever_held_the_claim_last() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let mut place = scene.place("one");
    "graph:other.yaml".clone_into(&mut place.key);
    let other = Tasks::open(&scene.home(), place).expect("a store");
    let (dead, alive) = (
        dead_lease(&tasks),
        tasks.lease(OwnerKind::Ralph).expect("a lease"),
    );
    let run = |tasks: &Tasks, number: u64, lease: &tasks::Lease| {
        let folder = tasks.make_run_folder(number).expect("made");
        let spec = serde_json::json!({ "ends_with": lease.owner.process });
        fs::write(folder.join("spec.json"), spec.to_string()).expect("written");
        folder
    };
    let (first, second) = (run(&tasks, 1, &dead), run(&tasks, 7, &dead));
    let ended = run(&tasks, 2, &dead);
    fs::write(ended.join("exit.json"), "{}").expect("written");
    run(&tasks, 3, &alive);
    run(&other, 1, &dead);
    let mut found = tasks.runs_of_the_dead();
    found.sort();
    assert_eq!(found, [first, second]);
}
