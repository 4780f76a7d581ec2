//! Logins that end in the night, and agents in jails that have copies of them: the host renews them,
//! once for all stories, and no jail ever has what renews them.
//!
//! The maker is a server of the test, behind the maker's own name and TLS in a network of the test's own.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kernel::{Event, FaultCause, RunOutcome};
use serde_json::{Value, json};

use crate::internet::Internet;
use crate::real_jail::files_with;
use crate::scene::{JUDGE, Scene};

/// Access tokens: web tokens that ended in 2023, and that end in 2100.
const ENDED: &str = "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.Zk3vQ9xLp2Rt7Wm4Yb8N";
const GOOD: &str = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.c1Hd6Js5Gf0TuXa2Qw9e";

/// Refresh tokens: that of the login, and the one that takes its place.
const FIRST: &str = "rt_first_q8Zt5Kf2LmXv7Np3";
const SECOND: &str = "rt_second_w4Ys9Jd6RbHc1Tg8";

/// What the maker answers: a status and JSON.
type Answers = dyn Fn(usize, &Value) -> (u16, Value) + Send + Sync;

/// The maker of codex, as far as logins go.
struct Maker {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Maker {
    /// A maker that answers by how often it was asked before, and by what it is sent.
    fn answering(answers: impl Fn(usize, &Value) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, list): (Arc<Answers>, _) = (Arc::new(answers), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, list) = (Arc::clone(&answers), Arc::clone(&list));
                thread::spawn(move || serve(&stream, &*answers, &list));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("a list").clone()
    }
}

/// Reads one request, notes it, and answers.
fn serve(stream: &TcpStream, answers: &Answers, list: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first).unwrap_or_default() == 0 {
        return;
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let mut sent: Value = serde_json::from_slice(&body).expect("JSON");
    sent["to"] = json!(first.trim_end());
    let number = {
        let mut list = list.lock().expect("a list");
        list.push(sent.clone());
        list.len() - 1
    };
    let (status, answer) = answers(number, &sent);
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        answer.len()
    );
    let mut stream = stream;
    let _ = stream.write_all((head + &answer).as_bytes());
}

/// A maker that rotates: every refresh token is good for one renewal.
fn rotates(_: usize, sent: &Value) -> (u16, Value) {
    // Long enough for the other stories to come.
    thread::sleep(Duration::from_millis(500));
    if sent["refresh_token"] == FIRST {
        let tokens = json!({ "access_token": GOOD, "refresh_token": SECOND, "id_token": "id-2" });
        return (200, tokens);
    }
    refuses(0, sent)
}

fn refuses(_: usize, _: &Value) -> (u16, Value) {
    (
        400,
        json!({ "error": "invalid_grant", "error_description": FIRST }),
    )
}

/// Speaks as codex does. It works only with a login that has not ended, and fails if anything of its
/// jail has a refresh token.
fn codex() -> String {
    format!(
        r#"#!/bin/sh
cat > /dev/null
echo '{{"type":"thread.started","thread_id":"s1"}}'
echo '{{"type":"turn.started"}}'
if {{ env; cat /proc/*/environ; find "$CODEX_HOME" /workspace -type f -exec cat {{}} +; }} 2> /dev/null | grep -aqs -e {FIRST} -e {SECOND}; then
  echo '{{"type":"turn.failed","error":{{"message":"a refresh token is here"}}}}'; exit 1
fi
if ! grep -qs {GOOD} "$CODEX_HOME/auth.json"; then
  [ "$(date +%s)" -lt "$ENDS" ] && while [ "$(date +%s)" -le "$ENDS" ]; do sleep 0.2; done
  echo '{{"type":"turn.failed","error":{{"message":"unexpected status 401 Unauthorized: token expired"}}}}'; exit 1
fi
echo work > "$LOOPWRIGHT_STORY_ID.txt"
echo '{{"type":"item.completed","item":{{"id":"i0","type":"file_change","changes":[],"status":"completed"}}}}'
echo '{{"type":"item.completed","item":{{"id":"i1","type":"agent_message","text":"Done."}}}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":5,"cached_input_tokens":0,"output_tokens":1}}}}'
"#
    )
}

/// The login of the person, with something in it that nobody knows.
fn login(access: &str, refresh: &str) -> String {
    let login = json!({
        "OPENAI_API_KEY": null,
        "of_a_later_version": { "kept": [1, 2] },
        "tokens": { "id_token": "id-1", "access_token": access, "refresh_token": refresh, "account_id": "acc" },
        "last_refresh": "2023-11-01T00:00:00Z",
    });
    serde_json::to_string_pretty(&login).expect("JSON")
}

/// A web token that ends at a moment.
fn token_until(secs: i64) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let claims = format!("{{\"exp\":{secs}}}").into_bytes();
    let mut text = String::new();
    for part in claims.chunks(3) {
        let byte = |index: usize| u32::from(part.get(index).copied().unwrap_or_default());
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letters = (0..=part.len()).map(|index| (number >> (18 - 6 * index) & 63) as usize);
        text.extend(letters.map(|letter| char::from(LETTERS[letter])));
    }
    format!("eyJhbGciOiJub25lIn0.{text}.Yb8Nc1Hd6Js5Gf0TuXa2")
}

/// A person whose codex is logged in, with its maker in a network of the test's own.
struct Night {
    scene: Scene,
    maker: Maker,
    internet: Internet,
}

impl Night {
    fn with(stories: &[&str], maker: Maker, more: &str) -> Self {
        Self::ending(stories, maker, more, None)
    }

    /// A night in which the login ends at a moment, and not long ago.
    fn ending(stories: &[&str], maker: Maker, more: &str, ends_secs: Option<i64>) -> Self {
        let scene = Scene::with_agents(stories, "", JUDGE);
        scene.env.write("agents/codex", codex());
        let program = scene.env.path("agents/codex");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
        let config = scene.env.read("project/loopwright.toml");
        let (_, rest) = config.split_once("[agents.judge]").expect("two agents");
        let builder = format!(
            "[agents.builder]\nkind = \"codex\"\nprogram = \"{}\"\nenv = {{ ENDS = \"{}\" }}\n",
            program.display(),
            ends_secs.unwrap_or_default()
        );
        let config = format!("{builder}[agents.judge]{rest}{more}");
        scene.env.write("project/loopwright.toml", config);
        let access = ends_secs.map_or(ENDED.to_owned(), token_until);
        scene.env.write(".codex/auth.json", login(&access, FIRST));
        let internet = Internet::before(&scene.env, &format!("http://{}", maker.address));
        Self {
            scene,
            maker,
            internet,
        }
    }

    /// A command of the person in their network.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scene.env.command(arguments);
        command.env("SSL_CERT_FILE", self.internet.authority());
        self.internet.run_in(&command, &self.scene.env.path(""))
    }

    fn run(&self, arguments: &[&str]) -> i32 {
        let mut command = self.command(arguments);
        let output = self.scene.env.output(command.stdin(Stdio::null()));
        output.status.code().unwrap_or(-1)
    }

    fn start(&self, more: &[&str]) -> i32 {
        let start = [
            "start",
            "--project",
            "project",
            "--prd",
            "project/prd.json",
            "--sandbox",
            "bwrap",
            "--no-preflight",
        ];
        self.run(&[&start[..], more].concat())
    }

    fn outcomes(&self) -> Vec<RunOutcome> {
        let journal = journal::Journal::open(&self.scene.home()).expect("a journal");
        let rows = journal.loops().expect("loops");
        let loaded = home::load(&journal, &rows.last().expect("one").loop_id).expect("a loop");
        let ends = loaded
            .records
            .into_iter()
            .filter_map(|record| match record.event {
                Event::RunEnded { outcome, .. } => Some(outcome),
                _ => None,
            });
        ends.collect()
    }

    fn login(&self) -> Value {
        serde_json::from_str(&self.scene.env.read(".codex/auth.json")).expect("JSON")
    }

    /// No file of ours has what renews a login: no run, no config home, no journal, no log.
    fn assert_nothing_renews(&self) {
        for token in [FIRST, SECOND] {
            let found = files_with(&self.scene.home(), token);
            assert!(found.is_empty(), "{token} lies in {found:?}");
        }
    }
}

fn attempts(view: &Value) -> Vec<(&str, u64)> {
    let stories = view["stories"].as_array().expect("stories").iter();
    stories
        .map(|story| {
            let status = story["status"].as_str().expect("a status");
            (status, story["attempts"].as_u64().unwrap_or_default())
        })
        .collect()
}

#[test]
fn i09_a_login_that_has_ended_is_renewed_once_on_the_host_for_all_stories() {
    let night = Night::with(&["a", "b", "c"], Maker::answering(rotates), "");
    let exit = night.start(&["--foreground", "--parallel", "3"]);
    let view = night.scene.status();
    assert_eq!(exit, 0, "{view}");
    assert_eq!(attempts(&view), [("passed", 1); 3], "{view}");
    let asked = night.maker.asked();
    let expected = json!({
        "client_id": "app_EMoamEEZ73f0CkXaXp7hrann",
        "grant_type": "refresh_token",
        "refresh_reason": "proactive_expiry",
        "refresh_token": FIRST,
        "to": "POST /oauth/token HTTP/1.1",
    });
    assert_eq!(asked, [expected]);
    let mut login = night.login();
    let renewed = login["last_refresh"].take();
    assert!(renewed.as_str().is_some_and(|at| at > "2026"), "{renewed}");
    assert_eq!(
        login,
        json!({
            "OPENAI_API_KEY": null,
            "of_a_later_version": { "kept": [1, 2] },
            "tokens": { "id_token": "id-2", "access_token": GOOD, "refresh_token": SECOND, "account_id": "acc" },
            "last_refresh": null,
        })
    );
    let file = fs::metadata(night.scene.env.path(".codex/auth.json")).expect("a file");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let copies = files_with(&night.scene.home().join("loops"), GOOD);
    assert_eq!(copies.len(), 3, "each story has a copy: {copies:?}");
    night.assert_nothing_renews();
    assert_eq!(night.internet.asked(), ["auth.openai.com"]);
}

#[test]
fn a_login_that_cannot_be_renewed_is_asked_about_and_costs_no_attempt() {
    let night = Night::with(&["one"], Maker::answering(refuses), "");
    assert_eq!(night.start(&[]), 0);
    let view = night.scene.wait_for(&["needs_human"]);
    assert_eq!(
        view["reason"],
        "the agent `builder` (codex) is not logged in: its login has ended and cannot be renewed \
         (invalid_grant); run: codex login, or set CODEX_API_KEY or OPENAI_API_KEY in the shell that \
         you answer from; then answer `retry`"
    );
    assert_eq!(night.login()["tokens"]["refresh_token"], FIRST, "as it was");
    night.assert_nothing_renews();
    // They log in again.
    night
        .scene
        .env
        .write(".codex/auth.json", login(GOOD, SECOND));
    let id = view["loopId"].as_str().expect("an id");
    assert_eq!(night.run(&["answer", id, "retry"]), 0);
    let view = night.scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), [("passed", 1)], "{view}");
    assert_eq!(night.maker.asked().len(), 1, "a good login is left alone");
    night.assert_nothing_renews();
}

#[test]
fn a_maker_that_cannot_be_reached_is_waited_for_and_costs_no_attempt() {
    let maker = Maker::answering(|number, sent| match number {
        0 | 1 => (503, json!({ "error": "invalid_grant" })),
        _ => rotates(number, sent),
    });
    let night = Night::with(&["one"], maker, "[retry]\nwait = 1\n");
    let exit = night.start(&["--foreground"]);
    let view = night.scene.status();
    assert_eq!(exit, 0, "{view}");
    assert_eq!(attempts(&view), [("passed", 1)], "{view}");
    let is_network = |outcome: &&RunOutcome| {
        matches!(outcome, RunOutcome::Infrastructure { cause: FaultCause::Network, why, .. }
            if why.starts_with("cannot renew the login of the agent `builder`"))
    };
    let outcomes = night.outcomes();
    let n_waits = outcomes.iter().filter(is_network).count();
    assert_eq!(n_waits, 2, "{outcomes:?}");
    assert_eq!(night.login()["tokens"]["refresh_token"], SECOND);
    night.assert_nothing_renews();
}

/// The maker is silent when the run begins, so that it begins with a login that ends within it.
#[test]
fn a_run_whose_login_ends_under_it_is_tried_again_with_a_renewed_one() {
    let maker = Maker::answering(|number, sent| match number {
        0 => (503, json!({})),
        _ => rotates(number, sent),
    });
    let ends_secs = home::now_ms() / 1000 + 25;
    let night = Night::ending(&["one"], maker, "[retry]\nwait = 1\n", Some(ends_secs));
    let exit = night.start(&["--foreground"]);
    let view = night.scene.status();
    assert_eq!(exit, 0, "{view}");
    assert_eq!(attempts(&view), [("passed", 1)], "{view}");
    let outcomes = night.outcomes();
    let is_ended = |outcome: &RunOutcome| matches!(outcome, RunOutcome::Interrupted { why, .. } if why.contains("its login ended"));
    assert!(outcomes.iter().any(is_ended), "{outcomes:?}");
    assert_eq!(night.maker.asked().len(), 2);
    night.assert_nothing_renews();
}
