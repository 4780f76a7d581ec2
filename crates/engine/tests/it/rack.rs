//! Used checkouts that are put right: whatever was done to one, the next run gets what a fresh checkout
//! would be, and nothing outside is touched.
//!
//! The scripts in `tests/mischief` were written by somebody who had not seen the code. Each is played in a
//! checkout of the first commit, which is then put right for the first or for the second. The oracle is
//! a fresh checkout, compared by names, kinds, rights, owners, attributes and contents.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{IFlags, ioctl_getflags, llistxattr};
use testkit::{git, init, is_soak, number, sample_of};
use workspace::{CommitId, Leftovers, LoopRepo, Rack};

/// Set in the process that plays the scripts, where mounts are seen by nobody else.
const INSIDE: &str = "LOOPWRIGHT_TEST_OWN_MOUNTS";

#[test]
fn i09_nothing_of_a_used_checkout_is_left_in_the_next() {
    let is_alone = std::env::var_os(INSIDE).is_some();
    if !is_alone && rustix::process::geteuid().is_root() {
        return play_with_own_mounts();
    }
    let world = World::new();
    let mut table = Vec::new();
    for (index, script) in scripts().into_iter().enumerate() {
        for target in targets(index) {
            table.push(world.play(&script, target));
        }
    }
    let wrong: Vec<&Played> = table
        .iter()
        .filter(|play| !play.faults.is_empty())
        .collect();
    let n_kept = table.iter().filter(|play| play.is_kept).count();
    println!("{} plays, {n_kept} put right", table.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    // What honest agents leave is put right: a fresh checkout for them would be right, and slow.
    let is_slow = |play: &&Played| {
        let is_honest = play.name.starts_with("honest-");
        is_honest && !play.is_kept && !play.name.contains("chmod")
    };
    let slow: Vec<&Played> = table.iter().filter(is_slow).collect();
    assert!(slow.is_empty(), "made anew: {slow:#?}");
}

/// A mount that a script makes must be gone when its checkout is removed, and when we are killed.
fn play_with_own_mounts() {
    let tests = std::env::current_exe().expect("this program");
    let name = "rack::i09_nothing_of_a_used_checkout_is_left_in_the_next";
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(tests)
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare runs");
    assert!(status.success(), "{status}");
}

/// Both commits in the soak; one of them, by a seed, in CI, which plays two scripts of each class.
fn targets(index: usize) -> Vec<Target> {
    let both = vec![Target::First, Target::Second];
    if is_soak() {
        return both;
    }
    let seed = number("LOOPWRIGHT_SAMPLE_SEED", 1);
    let chosen = (usize::try_from(seed % 2).unwrap_or_default() + index) % 2;
    both.into_iter().skip(chosen).take(1).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    First,
    Second,
}

/// What came of a script.
#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct Played {
    name: String,
    target: Target,
    /// Whether the used checkout was put right, and not made anew.
    is_kept: bool,
    faults: Vec<String>,
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mischief");
    let entries = fs::read_dir(folder).expect("the scripts");
    let mut classes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for script in entries.map(|entry| entry.expect("one").path()) {
        let name = script.file_stem().unwrap_or_default().to_string_lossy();
        let class = name.split('-').next().unwrap_or_default().to_owned();
        classes.entry(class).or_default().push(script);
    }
    for scripts in classes.values_mut() {
        scripts.sort();
    }
    let chosen = |(class, all): (&String, &Vec<PathBuf>)| sample_of(class, 2.min(all.len()), all);
    classes.iter().flat_map(chosen).collect()
}

struct World {
    scratch: tempfile::TempDir,
    repo: LoopRepo,
    first: CommitId,
    second: CommitId,
}

impl World {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let project = scratch.path().join("project");
        fs::create_dir(&project).expect("made");
        make_first(&project);
        init(&project, &["."]);
        let first = commit(&project, "one");
        make_second(&project);
        let second = commit(&project, "two");
        let repo = LoopRepo::create(&project, &scratch.path().join("repo.git"), &second);
        let repo = repo.expect("a loop's repository");
        for (name, commit) in [("fresh-one", &first), ("fresh-two", &second)] {
            let checkout = repo.checkout(commit, &scratch.path().join(name));
            checkout.expect("a fresh checkout");
        }
        Self {
            scratch,
            repo,
            first,
            second,
        }
    }

    fn play(&self, script: &Path, target: Target) -> Played {
        let name = script.file_stem().unwrap_or_default().to_string_lossy();
        let folder = tempfile::Builder::new()
            .prefix("play-")
            .tempdir_in(self.scratch.path())
            .expect("a folder")
            .keep();
        let (is_kept, faults) = self.play_in(&folder, script, target);
        clear_up(&folder);
        Played {
            name: name.into_owned(),
            target,
            is_kept,
            faults,
        }
    }

    /// What is read of a used checkout is the same, whether we go by what nobody has touched or read all
    /// of it.
    fn snapshot_faults(&self, rack: &Rack, used: &Path) -> Vec<String> {
        let whole = self.repo.snapshot(used, &self.first, &[]);
        let known = self
            .repo
            .snapshot_with(rack, "used", used, &self.first, &[]);
        match (whole, known) {
            (Ok(whole), Ok(known)) if whole == known => Vec::new(),
            (Err(whole), Err(known)) if whole.to_string() == known.to_string() => Vec::new(),
            (whole, known) => vec![format!("it is read as {known:?}, not as {whole:?}")],
        }
    }

    fn play_in(&self, folder: &Path, script: &Path, target: Target) -> (bool, Vec<String>) {
        let at = |name: &str| folder.join(name);
        let outside = make_outside(&at("outside"));
        let rack = Rack::at(&at("state/rack")).expect("a rack").of_any_size();
        let used = at("state/checkouts/used");
        let made = self.repo.checkout_with(&self.first, &rack, "used", &used);
        assert_eq!(made.expect("a checkout"), Leftovers::new());
        init(&used, &["."]);
        let number = fs::metadata(&used).expect("the checkout").ino();
        if !run(script, &used, &outside) {
            // The machine has no such thing; others do.
            return (true, Vec::new());
        }
        let mut faults = self.snapshot_faults(&rack, &used);
        let before = seen(&outside, Depth::Outside);
        remove(rack.put_away(&self.repo, "used", &used));
        let (commit, fresh) = match target {
            Target::First => (&self.first, "fresh-one"),
            Target::Second => (&self.second, "fresh-two"),
        };
        let next = at("state/checkouts/next");
        let leftovers = self.repo.checkout_with(commit, &rack, "next", &next);
        remove(leftovers.expect("a checkout"));
        let fresh = seen(&self.scratch.path().join(fresh), Depth::Checkout);
        faults.extend(differences(
            "in the tree",
            &fresh,
            &seen(&next, Depth::Checkout),
        ));
        faults.extend(differences(
            "outside",
            &before,
            &seen(&outside, Depth::Outside),
        ));
        if mounts_below(&next).next().is_some() {
            faults.push("something is mounted in the tree".to_owned());
        }
        let is_kept = fs::metadata(&next).is_ok_and(|found| found.ino() == number);
        (is_kept, faults)
    }
}

fn commit(project: &Path, message: &str) -> CommitId {
    git(project, &["add", "--all"]);
    git(
        project,
        &["commit", "--quiet", "--allow-empty", "-m", message],
    );
    CommitId::parse(git(project, &["rev-parse", "HEAD"]).trim()).expect("a commit")
}

fn put(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    fs::write(file, text).expect("written");
}

fn make_first(project: &Path) {
    for (path, text) in [
        ("README.md", "# sample\n"),
        ("run.sh", "#!/bin/sh\necho run\n"),
        ("src/deep/er/x.txt", "x\n"),
        ("src/deep/er/y.txt", "y\n"),
        ("empty.txt", ""),
        ("tests/t1.sh", "exit 0\n"),
        ("tests/t2.sh", "exit 1\n"),
        ("with space/ü.txt", "u\n"),
        (".gitignore", "*.log\nbuild/\n"),
    ] {
        put(project, path, text);
    }
    for name in ["a", "b", "c", "d", "e"] {
        put(project, &format!("src/{name}.txt"), &format!("{name}\n"));
    }
    symlink("README.md", project.join("link")).expect("linked");
    symlink("src", project.join("dirlink")).expect("linked");
    make_executable(&project.join("run.sh"), true);
}

fn make_second(project: &Path) {
    put(project, "src/b.txt", "B\n");
    fs::remove_file(project.join("src/c.txt")).expect("removed");
    put(project, "src/new.txt", "new\n");
    fs::remove_dir_all(project.join("src/deep")).expect("removed");
    put(project, "src/deep", "a file now\n");
    make_executable(&project.join("run.sh"), false);
    for (path, target) in [("tests/t1.sh", "t2.sh"), ("link", "src/a.txt")] {
        fs::remove_file(project.join(path)).expect("removed");
        symlink(target, project.join(path)).expect("linked");
    }
    fs::remove_file(project.join("empty.txt")).expect("removed");
    put(project, "empty.txt/in.txt", "in\n");
}

fn make_executable(file: &Path, is_so: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if is_so { 0o755 } else { 0o644 };
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("changed");
}

fn make_outside(folder: &Path) -> PathBuf {
    put(folder, "keep", "precious\n");
    put(folder, "dir/old.txt", "old\n");
    folder.to_owned()
}

/// Runs a script; says whether what it needs is there.
fn run(script: &Path, checkout: &Path, outside: &Path) -> bool {
    let output = Command::new("sh")
        .arg("-eu")
        .arg(script)
        .current_dir(checkout)
        .env("OUTSIDE", outside)
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => true,
        Some(77) => false,
        code => panic!("{}: {code:?}: {said}", script.display()),
    }
}

/// What cannot be removed stays: the next checkout does not need its place.
fn remove(leftovers: Leftovers) {
    for leftover in leftovers {
        let _ = home::remove_folder(&leftover);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything that a fresh checkout decides.
    Checkout,
    /// Links to a file from elsewhere may come and go.
    Outside,
}

/// Everything in a folder, and the folder itself. Nothing but plain files is opened.
fn seen(top: &Path, depth: Depth) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        let full = top.join(&path);
        let Ok(data) = fs::symlink_metadata(&full) else {
            found.insert(path, "cannot be looked at".to_owned());
            continue;
        };
        let mut said = format!("{:o} {} {}", data.mode(), data.uid(), data.gid());
        if data.is_symlink() {
            said += &format!(" {:?}", fs::read_link(&full).ok());
        } else if data.is_file() && data.len() < 1 << 20 {
            said += &format!(" {:?}", fs::read(&full).ok());
        } else if data.is_file() {
            said += &format!(" {} bytes", data.len());
        } else if data.is_dir() {
            if depth == Depth::Checkout {
                said += &format!(" flags {:?}", flags(&full));
            }
            let entries = fs::read_dir(&full).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| path.join(entry.file_name())));
        }
        if depth == Depth::Checkout && !data.is_dir() {
            said += &format!(" {} names", data.nlink());
        }
        if depth == Depth::Outside && !data.is_dir() {
            said += &format!(" at {}.{}", data.mtime(), data.mtime_nsec());
        }
        said += &format!(" {}", attributes(&full));
        found.insert(path, said);
    }
    found
}

/// What `chattr` sets, without what a file system sets by itself.
fn flags(folder: &Path) -> Option<IFlags> {
    let folder = fs::File::open(folder).ok()?;
    let flags = ioctl_getflags(&folder).ok()?;
    Some(flags & (IFlags::NOATIME | IFlags::NODUMP | IFlags::SYNC | IFlags::APPEND))
}

fn attributes(path: &Path) -> String {
    let mut names = vec![0_u8; 4096];
    let length = llistxattr(path, &mut names[..]).unwrap_or_default();
    String::from_utf8_lossy(&names[..length]).into_owned()
}

fn differences(
    what: &str,
    expected: &BTreeMap<PathBuf, String>,
    found: &BTreeMap<PathBuf, String>,
) -> Vec<String> {
    let mut paths: Vec<&PathBuf> = expected.keys().chain(found.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = paths
        .iter()
        .filter(|path| expected.get(**path) != found.get(**path));
    let line = |path: &&&PathBuf| {
        let (expected, found) = (expected.get(**path), found.get(**path));
        format!(
            "{what}: `{}` is {found:?}, not {expected:?}",
            path.display()
        )
    };
    differs.map(|path| line(&path)).take(5).collect()
}

fn mounts_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let places = text.lines().filter_map(|line| line.split(' ').nth(4));
    let places: Vec<PathBuf> = places.map(PathBuf::from).collect();
    let folder = folder.to_owned();
    places
        .into_iter()
        .filter(move |place| place.starts_with(&folder))
}

/// Takes away the mounts and flags that a script made, then the folder.
fn clear_up(folder: &Path) {
    let quietly = |command: &mut Command| -> io::Result<()> {
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().map(drop)
    };
    for place in mounts_below(folder).collect::<Vec<_>>().iter().rev() {
        let _ = quietly(Command::new("umount").arg("--lazy").arg(place));
    }
    if home::remove_folder(folder).is_err() {
        let _ = quietly(Command::new("chattr").args(["-R", "-i", "-a"]).arg(folder));
        let _ = home::remove_folder(folder);
    }
}
