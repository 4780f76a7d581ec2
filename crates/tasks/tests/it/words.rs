//! What a plan's file says while somebody works on a task, and afterwards.

use std::fs;

use tasks::{Caller, Force, OwnerKind, Place, Tasks};

use crate::support::{CHAIN, Scene, claim, dead_lease, states};

/// The plan with another word for the task A.
fn with_a(word: &str) -> String {
    CHAIN.replacen("status: ready", &format!("status: {word}"), 1)
}

fn holder(number: u64) -> Caller {
    Caller::Holder { claim: number }
}

#[test]
fn a_claim_is_seen_in_the_file_and_taken_back_byte_by_byte() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let person = Caller::person();
    let number = claim(&tasks, "A").expect("claimed");
    assert_eq!(scene.text("one"), with_a("in_progress"));
    tasks
        .release("A", &holder(number), Force::No, "enough")
        .expect("released");
    assert_eq!(scene.text("one"), CHAIN, "released");
    let number = claim(&tasks, "A").expect("claimed");
    tasks.fail("A", number, "it broke", 1).expect("noted");
    assert_eq!(scene.text("one"), CHAIN, "tried again later");
    let number = claim(&tasks, "A").expect("claimed");
    tasks.fail("A", number, "it broke", 1).expect("noted");
    assert_eq!(scene.text("one"), with_a("in_progress"), "for a person");
    tasks.put_right().expect("nothing is owed");
    assert_eq!(scene.text("one"), with_a("in_progress"), "it stays so");
    tasks.reset("A", &person, Force::No).expect("reset");
    assert_eq!(scene.text("one"), CHAIN, "reset");
    claim(&tasks, "A").expect("claimed");
    tasks.complete("A", &person, Force::No).expect("complete");
    assert_eq!(scene.text("one"), with_a("complete"));
    tasks.reset("A", &person, Force::No).expect("reset");
    assert_eq!(scene.text("one"), CHAIN, "the word that stood there first");
}

/// Looking changes nothing for a living claim, and puts right what the dead left, in whichever work tree
/// they died.
#[test]
fn the_word_of_the_dead_is_put_right() {
    let scene = Scene::new();
    let (one, two) = (scene.tree("one", CHAIN), scene.tree("two", CHAIN));
    let living = two.lease(OwnerKind::Ralph).expect("a lease");
    let living = two.claim("D", &living).expect("claimed").lease;
    one.claim("A", &dead_lease(&one)).expect("claimed");
    let of_living = CHAIN.replace(
        "status: ready, priority: 3",
        "status: in_progress, priority: 3",
    );
    assert_eq!(scene.text("one"), with_a("in_progress"));
    assert_eq!(scene.text("two"), of_living);
    // The word alone is no claim.
    assert_eq!(states(&one), "A ready, B blocked, C blocked, D in_progress");
    two.put_right().expect("put right");
    assert_eq!(scene.text("one"), CHAIN, "from the other work tree");
    assert_eq!(scene.text("two"), of_living, "a living claim stays");
    two.complete("D", &holder(living.number), Force::Yes)
        .expect("complete");
}

/// Whoever takes over writes the word in its own work tree, and remembers what stood there at first.
#[test]
fn a_takeover_moves_the_word() {
    let scene = Scene::new();
    let (one, two) = (scene.tree("one", CHAIN), scene.tree("two", CHAIN));
    one.claim("A", &dead_lease(&one)).expect("claimed");
    let number = claim(&two, "A").expect("taken over");
    assert_eq!(scene.text("one"), CHAIN);
    assert_eq!(scene.text("two"), with_a("in_progress"));
    two.release("A", &holder(number), Force::No, "enough")
        .expect("released");
    assert_eq!(scene.text("two"), CHAIN);
    // A failure that is kept in this very file is taken over with its word.
    let number = claim(&two, "A").expect("claimed");
    two.fail("A", number, "it broke", 0).expect("kept");
    let number = claim(&two, "A").expect("taken over by name");
    assert_eq!(scene.text("two"), with_a("in_progress"));
    two.release("A", &holder(number), Force::No, "enough")
        .expect("released");
    assert_eq!(scene.text("two"), CHAIN);
}

/// A task that is completed from elsewhere is complete in the file of its claim too.
#[test]
fn a_completion_from_another_work_tree_reaches_the_claims_file() {
    let scene = Scene::new();
    let (one, two) = (scene.tree("one", CHAIN), scene.tree("two", CHAIN));
    claim(&one, "A").expect("claimed");
    let person = Caller::person();
    two.complete("A", &person, Force::No).expect("complete");
    assert_eq!(scene.text("one"), with_a("complete"));
    assert_eq!(scene.text("two"), with_a("complete"));
}

/// Somebody was killed after the store had it and before the file had it.
#[test]
fn a_completion_that_was_cut_short_is_written_later() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    claim(&tasks, "A").expect("claimed");
    let person = Caller::person();
    tasks.complete("A", &person, Force::No).expect("complete");
    let file = scene.root("one").join("task-graph.yaml");
    fs::write(&file, with_a("in_progress")).expect("as it was");
    tasks.put_right().expect("put right");
    assert_eq!(scene.text("one"), with_a("complete"));
    // What somebody else wrote there is theirs.
    fs::write(&file, with_a("wip")).expect("another word");
    tasks.put_right().expect("nothing is owed");
    assert_eq!(scene.text("one"), with_a("wip"));
}

/// A plan that an agent broke cannot be written to; its word is put right when it can be read again.
#[test]
fn a_word_in_a_broken_file_is_owed() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let number = claim(&tasks, "A").expect("claimed");
    let file = scene.root("one").join("task-graph.yaml");
    fs::write(&file, "nodes: [\n").expect("broken");
    tasks
        .release("A", &holder(number), Force::No, "enough")
        .expect("released all the same");
    fs::write(&file, with_a("in_progress")).expect("mended");
    tasks.put_right().expect("put right");
    assert_eq!(scene.text("one"), CHAIN);
    // Somebody restored the file meanwhile: nothing is left to be put right.
    let number = claim(&tasks, "A").expect("claimed");
    fs::write(&file, CHAIN).expect("restored");
    tasks
        .release("A", &holder(number), Force::No, "enough")
        .expect("released");
    assert_eq!(scene.text("one"), CHAIN);
}

/// A refresh keeps the word of a claim on the graph, so that it can be taken back.
#[test]
fn a_refresh_keeps_the_word_of_a_claim() {
    let scene = Scene::new();
    let tasks = scene.tree("one", CHAIN);
    let folder = scene.root("one").join("tickets");
    fs::create_dir_all(&folder).expect("a folder");
    for id in ["A", "D"] {
        let text = format!("---\nid: {id}\ntitle: {id}\nstatus: ready\n---\ntext\n");
        fs::write(folder.join(format!("{id}.md")), text).expect("a ticket");
    }
    let number = claim(&tasks, "A").expect("claimed");
    tasks.refresh(&folder).expect("refreshed");
    let text = scene.text("one");
    assert_eq!(text.matches("status: in_progress").count(), 1, "{text}");
    assert_eq!(states(&tasks), "A in_progress, D ready");
    tasks
        .release("A", &holder(number), Force::No, "enough")
        .expect("released");
    assert_eq!(scene.text("one").matches("status: ready").count(), 2);
}

/// A claim, a completion and a reset in each kind of file, in its own words; what has no word for work in
/// progress stays as it is.
#[test]
fn each_file_has_its_own_words() {
    let json = |status: &str| {
        format!(
            "{{\"stories\": [{{\"id\": \"a\", \"title\": \"T\", {status}}}, {{\"id\": \"b\", \"title\": \"U\"}}]}}\n"
        )
    };
    let graph = |status: &str| {
        format!(
            "nodes:\n  - {{id: z, title: Z, status: done}}\n  - {{id: y, title: Y, status: wip}}\n  - {{id: a, title: T, status: {status}}}\n"
        )
    };
    let ticket = |status: &str| format!("---\nid: a\ntitle: T\nstatus: {status}\n---\ntext\n");
    let boxes = |tick: &str| format!("# Plan\n\n- [{tick}] a\n- [ ] b\n");
    let (open, passed) = ("\"passes\": false", "\"passes\": true");
    let with_status = |word: &str, passes: &str| json(&format!("\"status\": \"{word}\", {passes}"));
    for (name, before, claimed, complete) in [
        ("g.yaml", graph("queued"), graph("wip"), graph("done")),
        (
            "tickets/a.md",
            ticket("ready"),
            ticket("in_progress"),
            ticket("complete"),
        ),
        (
            "board/a.md",
            ticket("To Do"),
            ticket("In Progress"),
            ticket("Done"),
        ),
        ("flags.json", json(open), json(open), json(passed)),
        (
            "prd.json",
            with_status("not-started", open),
            with_status("in-progress", open),
            with_status("done", passed),
        ),
        ("plan.md", boxes(" "), boxes(" "), boxes("x")),
    ] {
        let scene = Scene::new();
        let root = scene.root("one");
        let file = root.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, &before).expect("a plan");
        let folder = file.parent().filter(|folder| *folder != root);
        let place = Place {
            graph: folder.map_or_else(|| file.clone(), ToOwned::to_owned),
            key: format!("graph:{name}"),
            ..scene.place("one")
        };
        let tasks = Tasks::open(&scene.home(), place).expect("a store");
        let text = || fs::read_to_string(&file).expect("a plan");
        claim(&tasks, "a").expect("claimed");
        assert_eq!(text(), claimed, "{name}, claimed");
        let person = Caller::person();
        tasks.complete("a", &person, Force::No).expect("complete");
        assert_eq!(text(), complete, "{name}, complete");
        tasks.reset("a", &person, Force::No).expect("reset");
        assert_eq!(text(), before, "{name}, reset");
    }
}

/// The published graph and every real PRD file: what a claim and a completion write is taken back byte
/// by byte, wherever the file has words.
#[test]
fn real_files_come_back_byte_by_byte() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/prds");
    let Ok(entries) = fs::read_dir(folder) else {
        return println!("passed over: the folder of real PRD files is not beside the project");
    };
    let mut n_claims = 0;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = fs::read(entry.path()).expect("a file");
        let scene = Scene::new();
        let place = Place {
            graph: scene.root("one").join(&name),
            ..scene.place("one")
        };
        fs::create_dir_all(&place.root).expect("a work tree");
        fs::write(&place.graph, &bytes).expect("a plan");
        let graph = place.graph.clone();
        let tasks = Tasks::open(&scene.home(), place).expect("a store");
        let Ok(view) = tasks.look() else {
            continue;
        };
        let ready: Vec<String> = view
            .board
            .ready()
            .iter()
            .map(|task| task.id.clone())
            .collect();
        for id in ready.iter().take(3) {
            let number = claim(&tasks, id).expect("ready");
            tasks
                .release(id, &holder(number), Force::No, "enough")
                .expect("released");
            assert!(fs::read(&graph).expect("a plan") == bytes, "{name}: {id}");
            n_claims += 1;
        }
    }
    println!("{n_claims} claims");
    assert!(n_claims > 50, "{n_claims}");
}
