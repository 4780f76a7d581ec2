//! The runners of real ecosystems, installed once at pinned versions below the target folder and
//! used from there.
//!
//! What cannot be installed fails the test that asked for it. Whoever cannot install anything leaves
//! these tests out: `cargo nextest run -E 'not test(/ecosystems|real_packages|pytest|verdicts/)'`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::project;

/// The pins, whose content names the folder: a change installs anew.
const PINS: &str = include_str!("pins.toml");

/// One table of the pins: names and versions.
pub(crate) fn pins(table: &str) -> Vec<(String, String)> {
    let all: toml::Table = PINS.parse().expect("the pins are TOML");
    let table = all
        .get(table)
        .and_then(toml::Value::as_table)
        .expect("a table of pins");
    let pair = |(name, version): (&String, &toml::Value)| {
        (
            name.clone(),
            version.as_str().expect("a version").to_owned(),
        )
    };
    table.iter().map(pair).collect()
}

/// npm's packages: a lock file and a cache, from which a project installs without the network.
pub(crate) struct NodeTools {
    pub(crate) lock: String,
    pub(crate) dev_dependencies: String,
    cache: PathBuf,
}

impl NodeTools {
    pub(crate) fn install() -> Self {
        let dev_dependencies = json_of(&pins("npm"));
        let folder = once("npm", |folder| {
            let manifest = format!(
                "{{\n  \"name\": \"tally\",\n  \"version\": \"1.0.0\",\n  \"private\": true,\n  \"type\": \"module\",\n  \"devDependencies\": {dev_dependencies}\n}}\n"
            );
            fs::write(folder.join("package.json"), manifest).expect("written");
            let cache = folder.join("cache");
            let options = [
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--omit-lockfile-registry-resolved=false",
                "--cache",
            ];
            run(Command::new("npm")
                .args(options)
                .arg(cache)
                .current_dir(folder));
            fs::remove_dir_all(folder.join("node_modules")).expect("only the cache is kept");
        });
        let lock = fs::read_to_string(folder.join("package-lock.json")).expect("a lock file");
        Self {
            lock,
            dev_dependencies,
            cache: folder.join("cache"),
        }
    }

    /// The setup command of a project. `npm ci` would be stricter, and refuses locks that lack
    /// packages of other systems.
    pub(crate) fn setup(&self) -> String {
        let cache = self.cache.display();
        format!(
            "npm install --offline --no-save --no-audit --no-fund --ignore-scripts --cache '{cache}'"
        )
    }
}

/// The folder with the programs of a virtual environment.
pub(crate) fn python_tools() -> PathBuf {
    let folder = once("python", |folder| {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder));
        let wanted = pins("python")
            .into_iter()
            .map(|(name, version)| format!("{name}=={version}"));
        run(Command::new(folder.join("bin/pip"))
            .args(["install", "--quiet"])
            .args(wanted));
    });
    folder.join("bin")
}

/// The runners of the verdict cases: `venv/` with pytest, and `npm/node_modules` with vitest, jest
/// and mocha. They are newer than those of the ecosystems, and pinned with all that they need.
pub(crate) fn verdict_runners() -> PathBuf {
    let pinned = ["package.json", "package-lock.json", "requirements.txt"].map(|name| {
        let file = project().join("verdicts/runners").join(name);
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (name, text)
    });
    let texts = pinned.each_ref().map(|(_, text)| text.as_str());
    once_per("verdicts", &texts.concat(), |folder| {
        let (npm, venv) = (folder.join("npm"), folder.join("venv"));
        fs::create_dir_all(&npm).expect("a folder");
        for (name, text) in &pinned {
            fs::write(npm.join(name), text).expect("written");
        }
        // As in `NodeTools::setup`, `npm ci` would refuse the lock.
        run(Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&npm));
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        run(Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet", "--requirement"])
            .arg(npm.join("requirements.txt")));
    })
}

/// Makes a folder below the target folder once; everybody else waits for it, and finds it in later
/// runs.
pub(crate) fn once(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    once_per(name, PINS, make)
}

/// Makes a folder once per content of its pins.
fn once_per(name: &str, pins: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    let tools = target.join("tools/ecosystems");
    fs::create_dir_all(&tools).expect("a folder for tools");
    let lock = fs::File::create(tools.join(format!("{name}.lock"))).expect("a lock file");
    lock.lock().expect("the lock");
    let folder = tools.join(format!("{name}-{:016x}", digest(pins)));
    let ready = folder.join("ready");
    if !ready.exists() {
        // What an interrupted installation left behind is no good to anybody.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        make(&folder);
        fs::write(ready, "").expect("written");
    }
    folder
}

/// Runs a program of an installation with the operator's environment; anything but success stops
/// the test, with the command to try by hand.
pub(crate) fn run(command: &mut Command) -> String {
    let shown = format!("{command:?}");
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {shown}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{shown}\n{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn json_of(pairs: &[(String, String)]) -> String {
    let object: serde_json::Map<_, _> = pairs
        .iter()
        .map(|(name, version)| (name.clone(), version.clone().into()))
        .collect();
    serde_json::Value::from(object).to_string()
}

fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
