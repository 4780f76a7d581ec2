//! Runs at the same time do not disturb each other: config homes, logins, temporary files, ports.

use std::os::unix::fs::PermissionsExt as _;

use crate::scene::{IMPLEMENT, JUDGE, Scene};

/// An implementor that begins its work only when the other story's has begun too.
const MEETS: &str = "touch \"$STARTS-$LOOPWRIGHT_STORY_ID\"\n\
                     while [ ! -e \"$STARTS-a\" ] || [ ! -e \"$STARTS-b\" ]; do sleep 0.05; done\n";

/// Lines that runs wrote into a file of the scene, each `story stage value`.
fn told(scene: &Scene, name: &str) -> Vec<(String, String)> {
    let lines = scene.env.read(name);
    let pair = |line: &str| {
        let (who, value) = line.rsplit_once(' ').expect("two words");
        (who.to_owned(), value.to_owned())
    };
    lines.lines().map(pair).collect()
}

#[test]
fn runs_on_the_host_have_their_own_temporary_files_and_ports() {
    let tell = "echo \"$LOOPWRIGHT_STORY_ID $TMPDIR\" >> \"$STARTS.tmp\"\n\
                echo \"$LOOPWRIGHT_STORY_ID $PORT_BASE\" >> \"$STARTS.ports\"\n\
                test -d \"$TMPDIR\" && touch \"$TMPDIR/left\"\n";
    let scene = Scene::with_agents(&["a", "b"], &format!("{MEETS}{tell}{IMPLEMENT}"), JUDGE);
    let checked = scene.env.path("checked").display().to_string();
    scene.configure(&format!(
        "[checks]\ntest = \"echo \\\"check $PORT_BASE\\\" >> {checked}; test -d $TMPDIR\"\n"
    ));
    let ended = scene.start(&["--foreground", "--parallel", "2"]);
    assert_eq!(ended.exit, 0, "{}", ended.whole());
    assert!(
        ended.stderr.contains("share this machine's network"),
        "{}",
        ended.whole()
    );
    let folders = told(&scene, "starts.tmp");
    assert_eq!(folders.len(), 2);
    assert_ne!(folders[0].1, folders[1].1, "each has its own");
    for (_, folder) in &folders {
        assert!(folder.starts_with(&scene.home().display().to_string()));
        assert!(!std::path::Path::new(folder).exists(), "{folder} is left");
    }
    let port = |value: &str| value.parse::<u16>().expect("a port");
    let ports = told(&scene, "starts.ports");
    assert!(
        port(&ports[0].1).abs_diff(port(&ports[1].1)) > 10,
        "{ports:?}"
    );
    assert!(
        told(&scene, "checked")
            .iter()
            .all(|(_, base)| port(base) > 1024)
    );
}

#[test]
fn one_story_at_a_time_warns_of_nothing() {
    let scene = Scene::new(&["a"]);
    let started = scene.start(&["--dry-run"]);
    assert!(!started.whole().contains("share this machine's network"));
    scene.configure("[checks]\ntest = \"true\"\nat_once = 2\n");
    let started = scene.start(&["--dry-run"]);
    assert!(
        started.whole().contains("share this machine's network"),
        "{}",
        started.whole()
    );
}

/// Both stories are under way; each leaves a file in `/tmp` and looks for the other's.
#[test]
fn runs_in_a_jail_have_their_own_temporary_files() {
    let implement = format!(
        "{MEETS}cat > /dev/null\necho mine > \"/tmp/of-$LOOPWRIGHT_STORY_ID\"\n\
         touch \"$STARTS-$LOOPWRIGHT_STORY_ID-2\"\n\
         while [ ! -e \"$STARTS-a-2\" ] || [ ! -e \"$STARTS-b-2\" ]; do sleep 0.05; done\n\
         ls /tmp > \"$LOOPWRIGHT_STORY_ID.txt\"\necho \"$TMPDIR $PORT_BASE\" >> \"$LOOPWRIGHT_STORY_ID.txt\"\n"
    );
    let scene = Scene::with_agents(&["a", "b"], &implement, JUDGE);
    let folder = scene.env.path("shared");
    std::fs::create_dir_all(&folder).expect("made");
    let starts = folder.join("starts").display().to_string();
    let config = scene.env.read("project/loopwright.toml");
    let outside = scene.env.path("starts").display().to_string();
    let config = config.replace(&format!("\"{outside}\""), &format!("\"{starts}\""));
    let agents = scene.env.path("agents").display().to_string();
    let sandbox = format!(
        "[sandbox]\nwrite = [\"{}\"]\nread = [\"{agents}\"]\n",
        folder.display()
    );
    scene
        .env
        .write("project/loopwright.toml", config + &sandbox);
    let ended = scene.start(&["--foreground", "--parallel", "2", "--sandbox", "bwrap"]);
    assert_eq!(ended.exit, 0, "{}", ended.whole());
    let status = scene.status();
    let branch = status["branch"].as_str().expect("a branch");
    for story in ["a", "b"] {
        let seen = scene.git(&["show", &format!("{branch}:{story}.txt")]);
        assert_eq!(seen.trim(), format!("of-{story}\n/tmp 20001"), "{story}");
    }
}

/// Speaks as codex does, in a home that the run names. The story `a` refreshes the login; `b` finds
/// its token spent and leaves a file without tokens.
const CODEX: &str = r#"cat > /dev/null
echo "$LOOPWRIGHT_STORY_ID $CODEX_HOME" >> "$STARTS.homes"
touch "$STARTS-$LOOPWRIGHT_STORY_ID"
while [ ! -e "$STARTS-a" ] || [ ! -e "$STARTS-b" ]; do sleep 0.05; done
if [ "$LOOPWRIGHT_STORY_ID" = a ]; then
  echo '{"tokens":{"access_token":"a2","refresh_token":"r2"}}' > "$CODEX_HOME/new"
else
  echo '{"OPENAI_API_KEY":null,"tokens":null}' > "$CODEX_HOME/new"
fi
PUTS
echo work > "$LOOPWRIGHT_STORY_ID.txt"
echo '{"type":"thread.started","thread_id":"s1"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"i0","type":"file_change","changes":[],"status":"completed"}}'
echo '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":0,"output_tokens":1}}'
"#;

/// How CLIs put a login where it belongs: by renaming a new file, or by writing in place.
const PUTS: [&str; 2] = [
    "mv \"$CODEX_HOME/new\" \"$CODEX_HOME/auth.json\"",
    "cat \"$CODEX_HOME/new\" > \"$CODEX_HOME/auth.json\"",
];

#[test]
fn stories_at_once_have_config_homes_of_their_own_and_no_stub_is_given_back() {
    PUTS.into_iter().for_each(no_stub_is_given_back);
}

fn no_stub_is_given_back(puts: &str) {
    let scene = Scene::with_agents(&["a", "b"], "", JUDGE);
    scene.env.write(
        "agents/codex",
        format!("#!/bin/sh\n{}", CODEX.replace("PUTS", puts)),
    );
    let program = scene.env.path("agents/codex");
    let rights = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, rights).expect("set");
    let config = scene.env.read("project/loopwright.toml");
    let (builder, rest) = config.split_once("[agents.judge]").expect("two agents");
    let starts = scene.env.path("starts").display().to_string();
    assert!(builder.contains("[agents.builder]"));
    let builder = format!(
        "[agents.builder]\nkind = \"codex\"\nprogram = \"{}\"\nenv = {{ STARTS = \"{starts}\" }}\n",
        program.display()
    );
    scene.env.write(
        "project/loopwright.toml",
        format!("{builder}[agents.judge]{rest}"),
    );
    let old = r#"{"tokens":{"access_token":"a1","refresh_token":"r1"}}"#;
    scene.env.write(".codex/auth.json", old);
    let login = std::fs::File::options();
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    login
        .clone()
        .write(true)
        .open(scene.env.path(".codex/auth.json"))
        .and_then(|file| file.set_modified(an_hour_ago))
        .expect("set");
    let ended = scene.start(&["--foreground", "--parallel", "2", "--no-preflight"]);
    assert_eq!(ended.exit, 0, "{}", ended.whole());
    let homes = told(&scene, "starts.homes");
    assert_eq!(homes.len(), 2, "{homes:?}");
    assert_ne!(homes[0].1, homes[1].1, "each story has its own");
    let login = scene.env.read(".codex/auth.json");
    assert_eq!(
        login.trim(),
        r#"{"tokens":{"access_token":"a2","refresh_token":"r2"}}"#
    );
}
