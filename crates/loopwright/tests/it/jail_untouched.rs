//! An agent that tries every way out of its jail, in a loop of the whole program: afterwards the
//! operator's repository, home and state folder are byte for byte what they were, but for what a loop
//! may change (I6).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::sample::{is_soak, sample_of};
use crate::scene::Scene;
use crate::support::project;

/// Attempts that CI plays; the soak plays all.
const PLAYED: usize = 14;

/// Plays every attempt of the folder, and then does honest work.
const ATTACKER: &str = r#"cat > /dev/null
here=$(pwd) out=$(mktemp)
for attempt in $(cat "$ATTEMPTS/chosen"); do
  # Some end everything in their jail; the next attempt at the story goes on behind them.
  grep -qx "$attempt" "$HOME/tried" 2> /dev/null && continue
  echo "$attempt" >> "$HOME/tried"
  cd "$here"
  case "$attempt" in
    *.py) timeout 25 python3 "$ATTEMPTS/$attempt" ;;
    *) timeout 25 bash "$ATTEMPTS/$attempt" ;;
  esac < /dev/null > "$out" 2>&1
  echo "$attempt: $(tail -n 1 "$out")"
done
cd "$here"
if [ "$(pwd)" = /workspace ] && [ "$HOME" = /home/agent ]; then
  find . -mindepth 1 -maxdepth 1 ! -name .git ! -name README ! -name prd.json -exec rm -rf {} +
  git checkout -q -- . 2> /dev/null
fi
echo "work of $LOOPWRIGHT_STORY_ID" > "$LOOPWRIGHT_STORY_ID.txt"
"#;

/// What something in a folder is: its kind and rights, and its bytes or where it leads.
type Thing = (u32, Vec<u8>);

/// Everything below a folder, without what `is_left_out`.
fn things(root: &Path, is_left_out: &dyn Fn(&Path) -> bool) -> BTreeMap<PathBuf, Thing> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let below = path.strip_prefix(root).expect("below").to_owned();
            if is_left_out(&below) {
                continue;
            }
            let data = fs::symlink_metadata(&path).expect("there");
            let content = if data.is_file() {
                fs::read(&path).expect("read")
            } else if data.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                target.into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            if data.is_dir() {
                folders.push(path);
            }
            found.insert(below, (data.permissions().mode(), content));
        }
    }
    found
}

/// The scripts of the escape gallery that need nothing of their own harness. Those about limits end
/// their run, and those about terminals have none here.
fn attempts() -> Vec<String> {
    let folder = project().join("crates/sandbox/tests/escape");
    let names = fs::read_dir(folder).expect("the gallery").flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let other = ["limits-", "terminal-", "honest-", "README"];
            !other.iter().any(|start| name.starts_with(start))
        })
        .collect();
    names.sort();
    names
}

fn configure(scene: &Scene, first_loop: &Path) {
    let path = |name: &str| scene.env.path(name).display().to_string();
    let env = [
        ("ATTEMPTS", path("attempts")),
        ("CANARY_DIR", path("documents")),
        ("CANARY_SECRET_FILE", path("documents/secret")),
        ("HOST_PID", std::process::id().to_string()),
        ("HOST_PORT", "9".to_owned()),
        ("HOST_SOCKET", path("socket")),
        ("HOST_ABSTRACT", "nobody-listens".to_owned()),
        ("STATE_DIR", scene.home().display().to_string()),
        ("OTHER_CHECKOUT", first_loop.display().to_string()),
        ("ALLOWED_HOST", "allowed.invalid".to_owned()),
        ("STARTS", "/dev/null".to_owned()),
    ];
    let env = env.map(|(name, value)| format!("{name} = \"{value}\""));
    let agent = |name: &str, script: &str| {
        format!(
            "[agents.{name}]\ncommand = [\"sh\", \"{}\"]\nenv = {{ {} }}\n",
            path(script),
            env.join(", ")
        )
    };
    scene.env.write(
        "project/loopwright.toml",
        format!(
            "{}{}[roles.implementor]\nagent = \"builder\"\n[roles.judge]\nagent = \"judge\"\n\
             [checks]\ntest = \"test -f README\"\n[sandbox]\nread = [\"{}\"]\n",
            agent("builder", "agents/implement.sh"),
            agent("judge", "agents/judge.sh"),
            path("attempts"),
        ),
    );
}

#[test]
fn i06_nothing_of_the_operators_changes_whatever_an_agent_tries() {
    // The first loop is an honest one, whose files must be safe from the second. It also makes what all
    // jails share.
    let scene = Scene::new(&["one", "two"]);
    let started = scene.start(&[
        "--flow",
        "judged",
        "--sandbox",
        "bwrap",
        "--max-iterations",
        "1",
        "--foreground",
    ]);
    assert_eq!(
        scene.status()["stories"][0]["status"],
        "passed",
        "{}",
        started.whole()
    );
    scene.env.write("agents/implement.sh", ATTACKER);
    let first = scene.status()["loopId"]
        .as_str()
        .expect("a loop")
        .to_owned();
    let chosen = sample_of("ways out of a jail", PLAYED, &attempts());
    for name in &chosen {
        let from = project().join("crates/sandbox/tests/escape").join(name);
        scene
            .env
            .write(&format!("attempts/{name}"), fs::read(from).expect("read"));
    }
    scene.env.write("attempts/chosen", chosen.join("\n"));
    scene
        .env
        .write("documents/secret", "the operator's own words\n");
    scene.env.write(".ssh/id_ed25519", "a key\n");
    configure(&scene, &scene.home().join("loops").join(&first));
    let prd = r#"{ "stories": [ { "id": "two", "title": "Two", "acceptance_criteria": ["it is there"], "passes": false } ] }"#;
    scene.env.write("project/second.json", prd);
    let root = scene.env.path("");
    // What a loop writes: its own folder, the journal and its own signs of life, the branch and its
    // objects, and the PRD's marks.
    let may_change = |below: &Path| {
        let state = Path::new(".local/state/loopwright");
        let Ok(inside) = below.strip_prefix(state) else {
            let is_branch = below.starts_with("project/.git/refs/heads/agent-loop")
                || below.starts_with("project/.git/objects");
            return is_branch || below == Path::new("project/second.json");
        };
        let name = inside
            .components()
            .next()
            .map(|part| part.as_os_str().to_owned());
        let is_new_loop =
            inside.starts_with("loops") && !inside.starts_with(Path::new("loops").join(&first));
        let own = ["loops", "jail"];
        let is_own = name.is_some_and(|name| !own.iter().any(|own| name == *own));
        is_own || (is_new_loop && inside != Path::new("loops"))
    };
    let before = things(&root, &may_change);
    let objects = |scene: &Scene| things(&scene.project().join(".git/objects"), &|_| false);
    let objects_before = objects(&scene);
    let started = scene.env.run(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/second.json",
        "--flow",
        "judged",
        "--sandbox",
        "bwrap",
        "--foreground",
    ]);
    let view = scene.status();
    assert_eq!(view["status"], "completed", "{view}\n{}", started.whole());
    assert_eq!(view["isolation"], "bwrap", "{view}\n{}", started.whole());
    let after = things(&root, &may_change);
    let changed: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
    let objects_after = objects(&scene);
    for (path, thing) in &objects_before {
        assert_eq!(objects_after.get(path), Some(thing), "{path:?}");
    }
    let without_state = |text: &str| {
        let mut prd: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let story = prd["stories"][0].as_object_mut().expect("a story");
        story.retain(|key, _| key != "passes" && key != "skipped");
        prd
    };
    let marked = scene.env.read("project/second.json");
    assert_eq!(without_state(&marked), without_state(prd));
    let second = view["loopId"].as_str().expect("a loop");
    assert_tried(&scene, second, chosen.len());
}

/// Most attempts told what came of them. Whether one got through is seen on the host and not by its
/// words: the folder of this test seems to be in the jail's own `/tmp`, where they may write.
fn assert_tried(scene: &Scene, loop_id: &str, n_attempts: usize) {
    let runs = scene.env.run(&["runs", loop_id, "--json"]).json();
    let runs = runs["result"]["runs"].as_array().expect("runs").clone();
    let mut said = String::new();
    for run in runs.iter().filter(|run| run["stage"] == "implement") {
        let id = run["runId"].as_str().expect("an id");
        let run = scene.env.run(&["run", id, "--json"]).json();
        said += run["result"]["stdout"].as_str().expect("text");
    }
    let tried = said.matches("HELD").count() + said.matches("ESCAPED").count();
    assert!(tried * 2 > n_attempts, "{tried} of {n_attempts}: {said}");
    assert!(!is_soak() || n_attempts > 80, "{n_attempts}");
}
