//! What an agent does, as `logs` and `watch` show it while it comes.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::scene::{JUDGE, Scene, wait_until};

/// A codex that works a little, then waits at a gate, then says that it is done. What it says would
/// clear a terminal.
const CODEX: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo codex-cli 0.166.0; exit 0; }
cat > /dev/null
say() { printf '%s\n' "$1"; }
say '{"type":"thread.started","thread_id":"01a1e0b9-c25c-7213-8d00-b6392e5d8d71"}'
say '{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"I look \u001b[2Jaround.\nThen I write."}}'
say '{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls \u001b]0;owned\u0007 src"}}'
say '{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","exit_code":0,"status":"completed"}}'
say "{\"type\":\"item.started\",\"item\":{\"id\":\"i2\",\"type\":\"file_change\",\"changes\":[{\"path\":\"$PWD/new.txt\",\"kind\":\"add\"}]}}"
echo new > new.txt
say "{\"type\":\"item.completed\",\"item\":{\"id\":\"i2\",\"type\":\"file_change\",\"changes\":[{\"path\":\"$PWD/new.txt\",\"kind\":\"add\"}],\"status\":\"completed\"}}"
while [ -e "$GATE" ]; do sleep 0.05; done
printf 'a \033[31mwarning\033[0m\n' >&2
say '{"type":"item.completed","item":{"id":"i3","type":"agent_message","text":"Done."}}'
say '{"type":"turn.completed","usage":{"input_tokens":2400,"cached_input_tokens":400,"output_tokens":60}}'
"#;

/// A project whose implementor is that codex. It waits while `gate` is there.
pub(crate) fn scene(codex: &str) -> Scene {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::with_agents(&["one"], "", JUDGE);
    scene.env.write("agents/codex", codex);
    let program = scene.env.path("agents/codex");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let agent = format!(
        "[agents.coder]\nkind = \"codex\"\nprogram = \"{}\"\nenv = {{ GATE = \"{}\" }}\n",
        program.display(),
        scene.env.path("gate").display()
    );
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        config.replace("agent = \"builder\"", "agent = \"coder\"") + &agent,
    );
    scene
}

fn start(scene: &Scene) -> String {
    let started = scene.start(&["--no-preflight", "--flow", "judged", "--json"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let id = &started.json()["result"]["loopId"];
    id.as_str().expect("an id").to_owned()
}

const LINES: &str = "said    I look \\x1b[2Jaround.
        Then I write.
tool    command_execution ls \\x1b]0;owned\\x07 src
done    command_execution
tool    file_change new.txt
done    file_change
edited  new.txt
";

#[test]
fn logs_say_what_an_agent_did() {
    let scene = scene(CODEX);
    let id = start(&scene);
    scene.wait_for(&["completed"]);
    let logs = |words: &[&str]| {
        let answer = scene.env.run(&[&["logs", &id], words].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        answer.stdout
    };
    let all = logs(&["--role", "implementor"]);
    let end = "said    Done.\nused    2460 tokens\na warning\n";
    assert!(all.ends_with(&format!("{LINES}{end}")), "{all}");
    let tail = logs(&["--role", "implementor", "--tail", "1"]);
    let last = "\nused    2460 tokens\na warning\n";
    assert!(tail.ends_with(last) && !tail.contains("said"), "{tail}");
    let raw = logs(&["--role", "implementor", "--raw"]);
    assert!(
        raw.contains("\"text\":\"Done.\"") && raw.contains("a \u{1b}[31mwarning\u{1b}[0m"),
        "{raw}"
    );
    assert!(!all.contains("verdict") && logs(&["--story", "one"]).contains("\"verdict\""));
}

#[test]
fn logs_follow_what_an_agent_does() {
    let scene = scene(CODEX);
    scene.env.write("gate", "");
    let id = start(&scene);
    let seen = std::fs::File::create(scene.env.path("seen")).expect("made");
    let mut following = scene.env.command(&["logs", &id, "-f"]);
    let mut following = following
        .stdout(seen)
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    wait_until("what it did first", || {
        scene.env.read("seen").contains(LINES).then_some(())
    });
    assert!(!scene.env.read("seen").contains("Done."));
    std::fs::remove_file(scene.env.path("gate")).expect("there");
    assert!(following.wait().expect("ended").success());
    let seen = scene.env.read("seen");
    // What it prints on its two streams may come in any order.
    for line in ["said    Done.\n", "used    2460 tokens\n", "a warning\n"] {
        assert!(seen.contains(line), "{seen}");
    }
    assert!(!seen.contains('\u{1b}'), "{seen}");
}

/// A stream is kept in several files, of which the first has a mebibyte.
#[test]
fn logs_follow_a_long_stream_to_its_end() {
    let long = r#"cat > /dev/null
awk 'BEGIN { for (n = 0; n < 30000; n++) printf "line %d of a stream that is longer than one file\n", n }'
echo new > new.txt
"#;
    let scene = Scene::with_agents(&["one"], long, JUDGE);
    let id = start(&scene);
    let followed = scene.env.run(&["logs", &id, "-f", "--role", "implementor"]);
    assert_eq!(followed.exit, 0, "{}", followed.stderr);
    let lines = followed.stdout.lines();
    let numbers: Vec<usize> = lines
        .filter_map(|line| line.strip_prefix("line ")?.split(' ').next()?.parse().ok())
        .collect();
    assert!(followed.stdout.len() > 1024 * 1024);
    assert_eq!(numbers, (0..30_000).collect::<Vec<_>>());
}

/// Starts a command whose standard output goes to a file.
fn printing(command: &mut Command, file: &Path) -> Child {
    let file = std::fs::File::create(file).expect("made");
    let command = command.stdout(file).stderr(Stdio::null());
    command.stdin(Stdio::null()).spawn().expect("started")
}

fn json_lines(text: &str) -> Vec<Value> {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

#[test]
fn events_are_lines_of_json_while_they_come() {
    let scene = scene(CODEX);
    scene.env.write("gate", "");
    let id = start(&scene);
    let follow =
        |words: &[&str], file: &str| printing(&mut scene.env.command(words), &scene.env.path(file));
    let mut watch = follow(&["watch", &id, "--json"], "watch");
    let mut events = follow(&["events", &id, "-f", "--json"], "events");
    for file in ["watch", "events"] {
        let text = wait_until("the implementor's event", || {
            let text = scene.env.read(file);
            let is_whole = text.ends_with('\n') && text.contains("agent/loop.implement\"");
            is_whole.then_some(text)
        });
        let seen = json_lines(&text);
        assert!(
            seen.iter().all(|event| event["name"].is_string()),
            "{seen:?}"
        );
    }
    std::fs::remove_file(scene.env.path("gate")).expect("there");
    assert!(watch.wait().expect("ended").success());
    assert!(events.wait().expect("ended").success());
    let events = json_lines(&scene.env.read("events"));
    let whole = scene.env.run(&["events", &id, "--json"]).json();
    assert_eq!(Value::from(events.clone()), whole["result"]["events"]);
    let mut watched = json_lines(&scene.env.read("watch"));
    let result = watched.pop().expect("a result");
    assert_eq!(watched, events);
    assert_eq!(
        (
            &result["ok"],
            &result["command"],
            &result["result"]["status"]
        ),
        (&true.into(), &"watch".into(), &"completed".into())
    );
    let text = scene.env.run(&["events", &id, "-f"]).stdout;
    assert_eq!(text, scene.env.run(&["events", &id]).stdout);
    let unknown = scene.env.run(&["events", "nobody", "-f", "--json"]);
    assert_eq!((unknown.exit, json_lines(&unknown.stdout).len()), (2, 1));
}

#[test]
fn who_follows_events_is_left_where_a_loop_asks() {
    // A program that ends with this code is not logged in.
    let scene = Scene::with_agents(&["one"], "exit 77\n", JUDGE);
    let id = start(&scene);
    let followed = scene.env.run(&["events", &id, "-f", "--json"]);
    assert_eq!(followed.exit, 4, "{}", followed.whole());
    let last = json_lines(&followed.stdout).pop().expect("an event");
    assert!(last["data"]["question"].is_string(), "{last}");
}

/// What a terminal shows in the end, line by line, of what our program and the shell write to it.
fn shown(bytes: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![String::new()], 0_usize, 0_usize);
    let mut rest = bytes;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                let end = rest.find(char::is_alphabetic).expect("a whole sequence");
                let (number, what) = (&rest[1..end], &rest[end..=end]);
                assert!(rest.starts_with('['), "{rest:.20}");
                match what {
                    "A" => row -= number.parse::<usize>().expect("a number"),
                    "K" => lines[row].truncate(column),
                    "J" => lines.truncate(row + 1),
                    other => panic!("a sequence that we never send: {number}{other}"),
                }
                rest = &rest[end + 1..];
            }
            plain => {
                let line = &mut lines[row];
                let mut letters: Vec<char> = line.chars().collect();
                letters.resize(letters.len().max(column + 1), ' ');
                letters[column] = plain;
                *line = letters.into_iter().collect();
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), String::new());
    }
    lines
}

/// Runs a command in a terminal of its own.
fn in_terminal(scene: &Scene, words: &str, file: &str) -> Child {
    let program = env!("CARGO_BIN_EXE_loopwright");
    let mut command = Command::new("script");
    let inside = format!("stty cols 100 rows 30; exec {program} {words}");
    command
        .args(["-qec", &inside, "/dev/null"])
        .current_dir(scene.env.path(""))
        .env_clear()
        .env("HOME", scene.env.path(""))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .env("TERM", if file == "dumb" { "dumb" } else { "xterm" });
    printing(&mut command, &scene.env.path(file))
}

#[test]
fn a_terminal_shows_a_loop_as_it_is_now() {
    let scene = scene(CODEX);
    scene.env.write("gate", "");
    let id = start(&scene);
    let mut watch = in_terminal(&scene, &format!("watch {id}"), "screen");
    let now = wait_until("what the agent did last", || {
        let bytes = std::fs::read(scene.env.path("screen")).expect("read");
        let text = String::from_utf8_lossy(&bytes);
        // The drawing after this one may be there in part.
        let whole = &text[..text.rfind("\u{1b}[J")? + 3];
        let now = shown(whole).join("\n");
        now.contains("edited new.txt").then_some(now)
    });
    let story = "running  one  Story one";
    assert!(
        now.contains(&format!("loop {id}  running, 0 of 1 stories over")),
        "{now}"
    );
    assert!(
        now.contains(story) && now.contains("implement by coder  edited new.txt"),
        "{now}"
    );
    std::fs::remove_file(scene.env.path("gate")).expect("there");
    assert_eq!(watch.wait().expect("ended").code(), Some(0));
    let screen = scene.env.read("screen");
    let end = shown(&screen).join("\n");
    // All drawings are gone, and the result is shown once.
    assert!(
        !end.contains("stories over") && !end.contains("edited new.txt"),
        "{end}"
    );
    assert!(end.contains(&format!("loop {id}  completed\n")), "{end}");
    assert_eq!(end.matches("Story one  ").count(), 1, "{end}");
    assert!(end.contains("used    2460 tokens\n"), "{end}");
    assert!(
        !screen.contains("\u{1b}[2J") && !screen.contains("\u{1b}]"),
        "{screen}"
    );

    let mut dumb = in_terminal(&scene, &format!("watch {id}"), "dumb");
    assert_eq!(dumb.wait().expect("ended").code(), Some(0));
    let lines = scene.env.read("dumb");
    assert!(
        lines.contains("agent/loop.start") && !lines.contains('\u{1b}'),
        "{lines}"
    );
}

/// Calls the same command many times. At the first attempt nothing ever comes of it; at the second
/// one every call has another result.
const ROUND: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo codex-cli 0.166.0; exit 0; }
cat > /dev/null
say() { printf '%s\n' "$1"; }
say '{"type":"thread.started","thread_id":"01a1e0b9-c25c-7213-8d00-b6392e5d8d71"}'
for n in $(seq 40); do
  [ "$LOOPWRIGHT_ATTEMPT" = 1 ] && result=same || result="line $n"
  say "{\"type\":\"item.started\",\"item\":{\"id\":\"i$n\",\"type\":\"command_execution\",\"command\":\"ls\"}}"
  say "{\"type\":\"item.completed\",\"item\":{\"id\":\"i$n\",\"type\":\"command_execution\",\"command\":\"ls\",\"aggregated_output\":\"$result\",\"exit_code\":0,\"status\":\"completed\"}}"
done
[ "$LOOPWRIGHT_ATTEMPT" = 1 ] && exec sleep 600
echo new > new.txt
# Long enough to be looked at.
sleep 1
say '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Done."}}'
say '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

#[test]
fn an_agent_that_goes_round_is_ended_and_the_story_goes_on() {
    let scene = scene(ROUND);
    let config = scene.env.read("project/loopwright.toml");
    // The next attempt is the same agent's.
    let config = format!("{config}\n[retry]\nladder = [\"coder\"]\n");
    scene.env.write("project/loopwright.toml", config);
    let id = start(&scene);
    let view = scene.wait_for(&["completed", "needs_human", "failed"]);
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&"passed".into(), &2.into()),
        "{view}"
    );
    let runs = scene.env.run(&["runs", &id]).stdout;
    let first = runs.lines().find(|line| line.contains("implement-1"));
    let first = first.expect("the first attempt");
    for part in [
        "coder  failed",
        "codex: gave up: it made the same call again and again",
    ] {
        assert!(first.contains(part), "{runs}");
    }
}
