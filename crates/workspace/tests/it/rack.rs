//! Used checkouts: several runs take and put them away at the same time, and each has what a fresh
//! checkout would be. What an agent may do to one is played by `engine/tests/it/rack.rs`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;

use workspace::{CommitId, LoopRepo, Rack};

use crate::support::{World, files, write};

/// Makes some commits, each with other files than the one before, and the loop's repository with all of
/// them.
fn commits(world: &World) -> (Vec<CommitId>, LoopRepo) {
    let make = |index: usize| {
        for name in 0..20 {
            let of = if name % 4 == 0 { index } else { 0 };
            let file = world.project().join(format!("part-{}/{name}", name % 3));
            write(&file, &format!("{name} of {of}\n"));
        }
        let only_here = world.project().join("only-in");
        let _ = fs::remove_dir_all(&only_here);
        write(&only_here.join(index.to_string()), "x\n");
        world.add(&[])
    };
    let commits = (0..4).map(make).collect();
    (commits, world.repo())
}

#[test]
fn runs_at_the_same_time_share_a_rack_and_never_a_checkout() {
    let world = World::empty();
    let (commits, repo) = commits(&world);
    let fresh: Vec<_> = commits
        .iter()
        .enumerate()
        .map(|(index, commit)| {
            let folder = world.at(&format!("fresh-{index}"));
            repo.checkout(commit, &folder).expect("a checkout");
            files(&folder)
        })
        .collect();
    let rack = Rack::at(&world.at("state/rack"))
        .expect("a rack")
        .of_any_size();
    thread::scope(|scope| {
        for worker in 0..4_usize {
            let (repo, rack, commits, fresh, world) = (&repo, &rack, &commits, &fresh, &world);
            scope.spawn(move || {
                for round in 0..12 {
                    let index = (worker + round) % commits.len();
                    let name = format!("{worker}-{round}");
                    let folder = world.at("state").join(&name);
                    let left = repo.checkout_with(&commits[index], rack, &name, &folder);
                    left.expect("a checkout")
                        .iter()
                        .for_each(|path| remove(path));
                    assert_eq!(files(&folder), fresh[index], "{name}");
                    write(&folder.join("left/behind"), "x\n");
                    write(&folder.join("part-0/0"), "other\n");
                    rack.put_away(repo, &name, &folder)
                        .iter()
                        .for_each(|path| remove(path));
                    assert!(!folder.exists());
                }
            });
        }
    });
    // Four at the same time need no fifth one; nothing of what was taken is left.
    let mut names: Vec<String> = fs::read_dir(world.at("state/rack"))
        .expect("the rack")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert!((1..=4).contains(&names.len()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains('.')), "{names:?}");
}

fn remove(path: &Path) {
    fs::remove_dir_all(path).expect("removed");
}

/// A place on the rack that cannot be used gives way to a fresh checkout.
#[test]
fn what_cannot_be_put_right_is_made_anew() {
    type Deed = fn(&Path);
    let deeds: [(&str, Deed, bool); 6] = [
        ("nothing", |_| (), true),
        (
            "a list that is cut",
            |place| cut(&place.join("list")),
            false,
        ),
        (
            "a list of a tree that is not known",
            |place| {
                let list = place.join("list");
                let text = fs::read(&list).expect("read");
                let other = [b"0".repeat(40), text[40..].to_vec()].concat();
                fs::write(&list, other).expect("written");
            },
            false,
        ),
        (
            "no files",
            |place| fs::remove_dir_all(place.join("files")).expect("removed"),
            false,
        ),
        (
            "a folder of its own name",
            |place| fs::create_dir(place.join("gone")).expect("made"),
            false,
        ),
        (
            "a file that a power cut emptied",
            |place| fs::write(place.join("files/part-0/3"), "").expect("written"),
            true,
        ),
    ];
    for (what, deed, expected) in deeds {
        let world = World::empty();
        let (commits, repo) = commits(&world);
        let rack = Rack::at(&world.at("state/rack"))
            .expect("a rack")
            .of_any_size();
        let (used, next) = (world.at("state/used"), world.at("state/next"));
        repo.checkout_with(&commits[2], &rack, "used", &used)
            .expect("a checkout");
        // While it is held open, nothing else is given its number.
        let held = fs::File::open(&used).expect("opened");
        let number = held.metadata().expect("there").ino();
        rack.put_away(&repo, "used", &used);
        let entries = fs::read_dir(world.at("state/rack")).expect("the rack");
        let mut places = entries.map(|entry| entry.expect("an entry").path());
        let place = places.find(|place| place.join("list").exists());
        deed(&place.expect("it is kept"));
        repo.checkout_with(&commits[3], &rack, "next", &next)
            .expect("a checkout");
        let fresh = world.at("fresh");
        repo.checkout(&commits[3], &fresh).expect("a checkout");
        assert_eq!(files(&next), files(&fresh), "{what}");
        let is_kept = fs::metadata(&next).expect("there").ino() == number;
        assert_eq!(is_kept, expected, "{what}");
        drop(held);
    }
}

fn cut(file: &Path) {
    let text = fs::read(file).expect("read");
    fs::write(file, &text[..text.len() / 2]).expect("written");
}
