//! Trees that are written out once and shown in layers: they look like a checkout, what was changed in
//! them is what a snapshot of a checkout finds, and nothing half-made or touched is ever used.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::git;
use workspace::{CommitId, LoopRepo, Snapshot, TreeStore};

use crate::support::{AT_SECS, World, listed, write};

/// A tree in layers, as a run has it.
struct Layered {
    lower: Vec<PathBuf>,
    place: PathBuf,
}

impl Layered {
    fn new(world: &World, name: &str, lower: Vec<PathBuf>) -> Self {
        let place = world.at("state").join(name);
        for name in ["upper", "work", "at"] {
            fs::create_dir_all(place.join(name)).expect("made");
        }
        Self { lower, place }
    }

    fn upper(&self) -> PathBuf {
        self.place.join("upper")
    }

    /// Runs a script in the tree, as the kernel shows it, and returns what it printed.
    fn run(&self, script: &str) -> String {
        let lower: Vec<String> = self.lower.iter().map(|path| text(path)).collect();
        let place = text(&self.place);
        let options = format!(
            "userxattr,lowerdir={},upperdir={place}/upper,workdir={place}/work",
            lower.join(":")
        );
        let mount = r#"mount -t overlay overlay -o "$1" "$2" && cd "$2" && exec sh -c "$3""#;
        let output = Command::new("unshare")
            .args(["-Urm", "sh", "-c", mount, "sh", &options])
            .arg(self.place.join("at"))
            .arg(script)
            .stdin(Stdio::null())
            .output()
            .expect("unshare runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn store(world: &World) -> TreeStore {
    TreeStore::at(&world.at("state/trees")).expect("a store")
}

fn written(repo: &LoopRepo, commit: &CommitId, world: &World) -> Vec<PathBuf> {
    let tree = repo.tree_of(commit).expect("a tree");
    let written = repo.write_out(&tree, &store(world)).expect("written");
    written.expect("no filters").layers
}

/// Everything in the working folder: kinds, rights, targets and contents.
const LOOK: &str = "find . -path ./.git -prune -o -printf '%P %y %m %l\\n' | sort; \
    find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 -r sha256sum";

fn shell(folder: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    let output = command.args(["-c", script]).current_dir(folder).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{script}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn project() -> World {
    let world = World::with(&[
        (".gitignore", "*.log\nout/\n"),
        ("a.txt", "one\n"),
        ("src/lib.rs", "pub fn one() {}\n"),
        ("src/deep/er/x.rs", "x\n"),
        ("src/deep/er/y.rs", "y\n"),
        ("only/here.txt", "alone\n"),
        ("Cargo.toml", "[package]\n"),
        ("tests/.gitignore", "made\n"),
        ("tests/t.rs", "t\n"),
    ]);
    symlink("a.txt", world.project().join("link")).expect("linked");
    write(&world.project().join("run.sh"), "#!/bin/sh\n");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.project().join("run.sh"), mode).expect("changed");
    world.add(&[]);
    world
}

/// What a snapshot says, but for the paths of scratch folders.
fn seen(repo: &LoopRepo, snapshot: &Snapshot) -> String {
    format!(
        "{:?}\nleft out {:?}\nnewly ignored {:?}\nodd {:?}\nbad links {:?}\nchanged {}",
        listed(repo, &snapshot.tree),
        snapshot.left_out,
        snapshot.newly_ignored,
        snapshot.odd,
        snapshot.bad_links,
        snapshot.changed
    )
}

/// What agents do to their files: the same as in a checkout of their own must be found.
const DEEDS: &[(&str, &str)] = &[
    ("nothing", "true"),
    ("an edit", "echo two > a.txt"),
    (
        "the same bytes again",
        "cp a.txt b && cat b > a.txt && rm b",
    ),
    ("a new file", "mkdir -p new/folder && echo x > new/folder/x"),
    ("a file is gone", "rm src/lib.rs"),
    ("all files of a folder are gone", "rm src/deep/er/*"),
    ("a folder is gone", "rm -rf src/deep"),
    ("everything is gone", "rm -rf ./* .gitignore .git"),
    (
        "a folder is made anew",
        "rm -rf src && mkdir src && echo z > src/new.rs",
    ),
    (
        "a folder is made anew and empty",
        "rm -rf src && mkdir -p src/deep",
    ),
    ("a folder is moved away and back", "mv src s && mv s src"),
    ("a folder is renamed", "mv src moved"),
    (
        "a file becomes a folder",
        "rm a.txt && mkdir a.txt && echo x > a.txt/x",
    ),
    ("a folder becomes a file", "rm -rf only && echo x > only"),
    ("a folder becomes a link", "rm -rf only && ln -s src only"),
    (
        "a link out",
        "ln -s /etc/passwd out-link && ln -s nowhere dangling",
    ),
    ("a link is turned", "ln -sf run.sh link"),
    (
        "rights",
        "chmod +x a.txt && chmod -x run.sh && chmod 400 src/lib.rs",
    ),
    ("special bits", "chmod u+s run.sh && chmod g+s src"),
    (
        "ignored files",
        "echo x > x.log && mkdir out && echo x > out/x && echo x > tests/made",
    ),
    (
        "rules that are new",
        "echo '*.rs' >> .gitignore && echo n > src/n.rs && echo n > n.rs",
    ),
    ("rules that are gone", "rm .gitignore && echo x > x.log"),
    (
        "rules of a folder are gone",
        "rm tests/.gitignore && echo x > tests/made",
    ),
    (
        "a build folder",
        "mkdir -p target && echo x > target/CACHEDIR.TAG && echo x > target/x",
    ),
    (
        "an installed folder",
        "mkdir -p node_modules/a && echo x > node_modules/a/index.js",
    ),
    (
        "a source folder by an odd name",
        "mkdir -p src/out && echo x > src/out/x.rs",
    ),
    (
        "a repository inside",
        "mkdir in && cd in && git init -q . && echo x > f",
    ),
    ("a pipe", "mkfifo pipe && mkfifo src/pipe"),
    (
        "names that differ in case",
        "echo x > A.TXT && mkdir SRC && echo x > SRC/x",
    ),
    ("names of git's own", "mkdir .GIT && echo x > .GIT/config"),
    ("hard links", "ln a.txt b.txt && ln src/lib.rs src/lib2.rs"),
    (
        "odd names",
        "touch -- '-n' 'a b' \"$(printf 'new\\nline')\" \"$(printf '\\377')\"",
    ),
    (
        "marks of another overlay",
        "echo x > .wh.a.txt && echo x > src/.wh..wh..opq",
    ),
    (
        "old and future times",
        "echo q > a.txt && touch -d 1970-01-02 a.txt && echo q > src/lib.rs && touch -d 2200-01-01 src/lib.rs",
    ),
    (
        "a reset",
        "rm -rf src a.txt && git checkout -q . && git status --porcelain",
    ),
    (
        "a commit and a cleanup",
        "echo x > n && git add -A && git commit -q -m x && git gc -q --prune=now && git stash -q || true",
    ),
];

#[test]
fn what_was_changed_in_layers_is_what_a_checkout_shows() {
    let world = project();
    let (repo, base) = (world.repo(), world.head());
    let lower = repo
        .write_out_for_agent(&base, &store(&world))
        .expect("written");
    let lower = lower.expect("no filters");
    for (number, (what, script)) in DEEDS.iter().enumerate() {
        let dir = world.at(&format!("state/plain-{number}"));
        repo.checkout(&base, &dir).expect("checked out");
        repo.make_agent_repo(&base, None, &dir).expect("made");
        shell(&dir, script);
        let plain = repo.snapshot(&dir, &base, &[]).expect("a snapshot");
        let layers = Layered::new(&world, &format!("layers-{number}"), lower.clone());
        layers.run(script);
        let found = repo
            .snapshot_of_changes(&layers.upper(), &base, &[])
            .expect(what);
        assert_eq!(seen(&repo, &found), seen(&repo, &plain), "{what}");
        assert_eq!(found.tree, plain.tree, "{what}");
    }
    let names: Vec<_> = fs::read_dir(world.at("state")).expect("a folder").collect();
    assert_eq!(names.len(), 2 + 2 * DEEDS.len(), "no scratch is left");
}

/// Each commit changes what layers find hard, and looks as in a checkout.
#[test]
fn a_tree_in_layers_looks_like_a_checkout() {
    let world = project();
    let repo = world.repo();
    let first = world.head();
    let steps: &[(&str, &str)] = &[
        ("mode only", "chmod +x a.txt"),
        ("case only", "mv a.txt A.txt"),
        (
            "a file becomes a folder",
            "rm A.txt && mkdir A.txt && echo x > A.txt/x",
        ),
        ("a folder becomes a link", "rm -r A.txt && ln -s src A.txt"),
        ("a link becomes a file", "rm A.txt && echo x > A.txt"),
        ("a folder is emptied", "rm src/deep/er/*"),
        (
            "the old name is a folder",
            "mv run.sh ran.sh && mkdir run.sh && echo x > run.sh/x",
        ),
        (
            "odd names",
            "touch -- '-n' \"$(printf 'new\\nline')\" \"$(printf '\\377')\"",
        ),
        ("attributes", "printf '* text eol=crlf\\n' > .gitattributes"),
        (
            "all is gone but one",
            "rm -rf only src tests link Cargo.toml .gitignore",
        ),
        (
            "all is back",
            "git checkout -q HEAD~10 -- . || git checkout -q $(git rev-list --max-parents=0 HEAD) -- .",
        ),
    ];
    written(&repo, &first, &world);
    for (number, (what, script)) in steps.iter().enumerate() {
        shell(&world.project(), script);
        let commit = world.add(&[]);
        let repo = LoopRepo::create(&world.project(), repo.path(), &commit).expect("imported");
        let plain = world.at(&format!("state/plain-{number}"));
        repo.checkout(&commit, &plain).expect("checked out");
        let layers = Layered::new(
            &world,
            &format!("layers-{number}"),
            written(&repo, &commit, &world),
        );
        assert_eq!(layers.run(LOOK), shell(&plain, LOOK), "{what}");
    }
}

#[test]
fn only_the_difference_is_written_and_each_tree_once() {
    let world = project();
    let (repo, first) = (world.repo(), world.head());
    let whole = written(&repo, &first, &world);
    let made = fs::metadata(&whole[0]).expect("there").ino();
    let second = world.add(&[("src/lib.rs", "pub fn two() {}\n")]);
    let repo = LoopRepo::create(&world.project(), repo.path(), &second).expect("imported");
    let layers = written(&repo, &second, &world);
    assert_eq!(shell(&layers[0], "find . -type f"), "./src/lib.rs\n");
    assert_eq!(layers[1..], whole[..]);
    assert_eq!(written(&repo, &first, &world), whole);
    assert_eq!(fs::metadata(&whole[0]).expect("there").ino(), made);
    assert_eq!(written(&repo, &second, &world), layers);
}

/// Whoever can reach the store can change it; a tree that was touched is made anew by the next process
/// that asks for it.
#[test]
fn a_tree_that_was_touched_is_made_anew() {
    let deeds = [
        "echo forged > src/lib.rs",
        "touch -r src/lib.rs /tmp/.t$$; echo 'pub fn 0ne() {}' > src/lib.rs; touch -r /tmp/.t$$ src/lib.rs; rm /tmp/.t$$",
        "rm src/lib.rs",
        "echo x > src/added.rs",
        "chmod -x run.sh",
        "ln src/lib.rs ../../../kept",
        "truncate -s 0 a.txt",
    ];
    for deed in deeds {
        let world = project();
        let (repo, base) = (world.repo(), world.head());
        let plain = world.at("state/plain");
        repo.checkout(&base, &plain).expect("checked out");
        let before = written(&repo, &base, &world);
        shell(&before[0], deed);
        let next = LoopRepo::open(repo.path()).expect("a repository");
        let after = written(&next, &base, &world);
        assert_eq!(after, before, "at the same place");
        assert_eq!(shell(&after[0], LOOK), shell(&plain, LOOK), "{deed}");
    }
}

/// What a crash leaves is never used: what is half-made, what another boot made, a tree whose lower one
/// is gone.
#[test]
fn a_tree_that_is_not_whole_is_made_anew() {
    for deed in [
        "rm sealed",
        "rm boot",
        "echo another > boot",
        "rm -rf files/src sealed",
        "rm -rf ../WHOLE",
        "rm ../WHOLE/sealed",
    ] {
        let world = project();
        let (repo, first) = (world.repo(), world.head());
        let whole = repo.tree_of(&first).expect("a tree").to_string();
        written(&repo, &first, &world);
        let second = world.add(&[("a.txt", "two\n")]);
        let repo = LoopRepo::create(&world.project(), repo.path(), &second).expect("imported");
        let plain = world.at("state/plain");
        repo.checkout(&second, &plain).expect("checked out");
        let before = written(&repo, &second, &world);
        let place = before[0].parent().expect("a place");
        shell(place, "touch marker");
        shell(place, &deed.replace("WHOLE", &whole));
        let layers = Layered::new(&world, "layers", written(&repo, &second, &world));
        assert_eq!(layers.run(LOOK), shell(&plain, LOOK), "{deed}");
        assert!(
            !place.join("marker").exists(),
            "{deed}: it was used all the same"
        );
        let names = shell(&world.at("state/trees"), "ls -A | grep new || true");
        assert_eq!(names, "", "{deed}: nothing is left");
    }
}

#[test]
fn a_tree_that_nobody_needs_is_taken_away() {
    let world = project();
    let (repo, first) = (world.repo(), world.head());
    written(&repo, &first, &world);
    let mut layers = Vec::new();
    for number in 0..3 {
        let commit = world.add(&[("a.txt", &format!("{number}\n"))]);
        let repo = LoopRepo::create(&world.project(), repo.path(), &commit).expect("imported");
        let lower = repo.write_out_for_agent(&commit, &store(&world));
        layers.push(lower.expect("written").expect("no filters"));
    }
    let trash = world.at("state/trash");
    let take = |age: u64| {
        let age = std::time::Duration::from_secs(age);
        let taken = store(&world).take_unused(&layers[1], age, &trash);
        taken.expect("taken").len()
    };
    assert_eq!(take(3600), 0, "all are young");
    assert_eq!(take(0), 4, "two trees with their repositories");
    let is_there = |layers: &Vec<PathBuf>| layers.iter().all(|layer| layer.is_dir());
    let there: Vec<bool> = layers.iter().map(is_there).collect();
    assert_eq!(there, [false, true, false]);
    assert_eq!(take(0), 0);
}

/// The agent's repository shows one commit and the state of its files; what an agent does to it is its
/// own, and the next agent finds it as it was.
#[test]
fn an_agents_repository_is_shared_and_nobody_elses() {
    let world = project();
    let (repo, first) = (world.repo(), world.head());
    let base = repo
        .write_out_for_agent(&first, &store(&world))
        .expect("written");
    let second = world.add(&[("a.txt", "two\n"), ("new.txt", "new\n")]);
    git(&world.project(), &["rm", "-q", "only/here.txt"]);
    let third = world.add(&[]);
    let repo = LoopRepo::create(&world.project(), repo.path(), &third).expect("imported");
    let over = repo
        .write_out_for_agent(&third, &store(&world))
        .expect("written");
    let states = "git status --porcelain; git log --format=%s; git branch --format='%(refname)'; git fsck --no-dangling 2>&1";
    let quiet = "The project as it is\nrefs/heads/main\n";
    for (number, lower) in [base, over].into_iter().enumerate() {
        let lower = lower.expect("no filters");
        let mine = Layered::new(&world, &format!("mine-{number}"), lower.clone());
        assert_eq!(mine.run(states), quiet);
        assert_eq!(
            mine.run("echo x > n.txt; echo q > a.txt; git status --porcelain"),
            " M a.txt\n?? n.txt\n"
        );
        mine.run(
            "git add -A && git commit -q -m mine && git gc -q --prune=now && rm -rf .git/logs",
        );
        let next = Layered::new(&world, &format!("next-{number}"), lower);
        assert_eq!(next.run(states), quiet);
    }
    // Former work is a branch on top of the files that it was made from.
    let tree = repo.tree_of(&second).expect("a tree");
    let former = repo
        .commit(&tree, &first, "code: x\n", AT_SECS)
        .expect("made");
    let lower = repo
        .write_out_for_agent(&third, &store(&world))
        .expect("written");
    let shown = Layered::new(&world, "former", lower.expect("no filters"));
    repo.show_former(&third, &former, &shown.upper())
        .expect("shown");
    assert_eq!(
        shown.run("git log --format=%s former; git diff --stat main former | tail -1; git status --porcelain"),
        "What you made before\nThe project as it is\n 1 file changed, 1 insertion(+)\n"
    );
}

/// No mark of the kernel's can be forged from inside.
#[test]
fn nobody_can_forge_a_removal() {
    let world = project();
    let (repo, base) = (world.repo(), world.head());
    let layers = Layered::new(&world, "layers", written(&repo, &base, &world));
    layers.run("mkdir evil; mknod evil/mark c 0 0 2>/dev/null; mknod a.log c 0 0 2>/dev/null; \
        python3 -c 'import os; os.setxattr(\"src\", \"user.overlay.opaque\", b\"y\")' 2>/dev/null; true");
    let found = repo
        .snapshot_of_changes(&layers.upper(), &base, &[])
        .expect("a snapshot");
    assert_eq!(found.tree, repo.tree_of(&base).expect("a tree"));
    // In a checkout of its own a program can make such a file, where it is just a device.
    let dir = world.at("state/plain");
    repo.checkout(&base, &dir).expect("checked out");
    shell(&dir, "rm a.txt && mknod a.txt c 0 0");
    let found = repo.snapshot(&dir, &base, &[]).expect("a snapshot");
    assert_eq!(found.left_out.len(), 1, "{:?}", found.left_out);
}
