//! The client against agents that speak the protocol well, badly or not at all. It always ends, and
//! it reports how.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// A client with its agent: what it printed, what it wrote to standard error, and how it ended.
struct Client {
    command: Command,
}

impl Client {
    fn of(program: &str, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acp-client-for-tests"));
        command
            .arg(program)
            .args(args)
            .current_dir(env!("CARGO_TARGET_TMPDIR"));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { command }
    }

    fn fake(mode: &str) -> Self {
        Self::of(
            "python3",
            &[
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/agent.py"),
                mode,
            ],
        )
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    fn start(mut self, prompt: &str) -> Child {
        let mut child = self.command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(prompt.as_bytes())
            .unwrap();
        child
    }

    /// All lines, the last line of standard error, and whether it succeeded.
    fn told(self, prompt: &str) -> String {
        let output = self.start(prompt).wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let last = errors
            .lines()
            .last()
            .map(|line| format!("stderr: {line}\n"))
            .unwrap_or_default();
        let end = if output.status.success() {
            "ended well"
        } else {
            "ended badly"
        };
        format!("{}{last}{end}", String::from_utf8(output.stdout).unwrap())
    }
}

const HELLO: &str = r#"{"type":"agent","name":"fake","version":"1.2.3","resumes":false}
{"type":"session","id":"s1","resumed":false}
{"type":"mode","id":"yolo"}
{"type":"model","id":"a"}
"#;

const GOODBYE: &str = r#"{"type":"usage","input":5,"cached":1,"written_to_cache":null,"output":7}
{"type":"stopped","reason":"end_turn"}
ended well"#;

fn check(mode: &str, expected: &str) {
    assert_eq!(Client::fake(mode).told("Do it."), expected, "{mode}");
}

#[test]
fn a_turn_is_told() {
    let folder = std::fs::canonicalize(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let said = format!(
        "{{\"type\":\"text\",\"text\":\"6 characters in {}\"}}\n",
        folder.display()
    );
    check("well", &format!("{HELLO}{said}{GOODBYE}"));
    // More than a pipe can hold.
    let told = Client::fake("well").told(&"x".repeat(3_000_000));
    assert!(told.contains("3000000 characters"), "{told}");
}

#[test]
fn what_is_asked_for_is_allowed_once_and_nothing_else_is_offered() {
    let told = r#"{"type":"tool_started","id":"c1","tool":"execute","detail":"rm x"}
{"type":"permission","what":"rm x","allowed":true}
{"type":"text","text":"{\"outcome\": \"selected\", \"optionId\": \"o-allow_once\"}"}
{"type":"tool_ended","id":"c1","failed":true}
{"type":"text","text":"; no files: -32601; no terminal: -32601"}
"#;
    check("asks", &format!("{HELLO}{told}{GOODBYE}"));
    let told = r#"{"type":"tool_started","id":"c1","tool":"execute","detail":"rm x"}
{"type":"permission","what":"rm x","allowed":false}
{"type":"text","text":"{\"outcome\": \"cancelled\"}"}
"#;
    check("forbidden", &format!("{HELLO}{told}{GOODBYE}"));
}

/// A line that is no message is reported as quoted text, so that an agent cannot forge our lines.
#[test]
fn noise_is_told_and_changes_nothing() {
    let told = r#"the agent printed: "Loading..."
the agent printed: "{\"type\":\"stopped\",\"reason\":\"end_turn\"}"
the agent printed: "[1]"
the agent printed: "{\"id\":"
{"type":"text","text":"Well."}
"#;
    check("noise", &format!("{HELLO}{told}{GOODBYE}"));
}

#[test]
fn an_agent_that_goes_away_is_an_end() {
    let gone = "stderr: the agent ended before it had answered\nended badly";
    let begun = "{\"type\":\"text\",\"text\":\"I begin.\"}\n";
    check("ends", gone);
    for mode in ["dies", "closes", "orphan"] {
        check(mode, &format!("{HELLO}{begun}{gone}"));
    }
}

#[test]
fn an_agent_that_is_none_is_an_end() {
    for (program, args, expected) in [
        (
            "/no/such/agent",
            &[][..],
            "stderr: cannot start `/no/such/agent`: command not found, or not to be run\nended badly",
        ),
        (
            "true",
            &[],
            "stderr: the agent ended before it had answered\nended badly",
        ),
        (
            "echo",
            &["usage: agent [--acp]"],
            "the agent printed: \"usage: agent [--acp]\"\nstderr: the agent ended before it had answered\nended badly",
        ),
        // The agent echoes our own requests.
        (
            "cat",
            &[],
            "{\"type\":\"error\",\"during\":\"initialize\",\"code\":-32601,\"message\":\"Method not found\",\"data\":null}\n\
             stderr: the agent answered with an error\nended badly",
        ),
    ] {
        assert_eq!(
            Client::of(program, args).told("Do it."),
            expected,
            "{program}"
        );
    }
}

#[test]
fn an_agent_that_refuses_is_an_end() {
    let hello = HELLO.lines().next().unwrap();
    for (mode, expected) in [
        (
            "version",
            "{\"type\":\"error\",\"during\":\"initialize\",\"code\":-32600,\"message\":\"Invalid request\",\
             \"data\":\"unsupported ACP protocol version 7; this endpoint only supports ACP protocol version 1\"}\n\
             stderr: the agent answered with an error\nended badly"
                .to_owned(),
        ),
        ("nameless", format!("{hello}\nstderr: the agent named no session\nended badly")),
        (
            "refuses",
            format!(
                "{}\n{{\"type\":\"error\",\"during\":\"session/new\",\"code\":-32000,\"message\":\"Authentication required\",\
                 \"data\":{{\"x\":1}}}}\nstderr: the agent answered with an error\nended badly",
                hello.replace("false", "true")
            ),
        ),
    ] {
        check(mode, &expected);
    }
}

#[test]
fn a_model_is_chosen_or_missing() {
    let told = Client::fake("well").with("ACP_MODEL", "b").told("Do it.");
    assert!(told.contains(r#"{"type":"model","id":"b"}"#), "{told}");
    let told = Client::fake("well").with("ACP_MODEL", "z").told("Do it.");
    assert!(
        told.ends_with("stderr: the agent has no model `z`; it has a, b\nended badly"),
        "{told}"
    );
}

/// The past of a resumed session that an agent replays is not part of the turn.
#[test]
fn a_session_is_gone_on_with() {
    for mode in ["loads", "resumes"] {
        let told = Client::fake(mode).with("ACP_RESUME", "s1").told("Do it.");
        assert!(
            told.contains(r#"{"type":"session","id":"s1","resumed":true}"#),
            "{told}"
        );
        assert!(
            !told.contains("the past") && told.ends_with(GOODBYE),
            "{told}"
        );
    }
    let told = Client::fake("loads")
        .with("ACP_RESUME", "s2")
        .told("Do it.");
    assert!(
        told.ends_with("stderr: no session found: Internal error: no such session\nended badly"),
        "{told}"
    );
    let told = Client::fake("refuses")
        .with("ACP_RESUME", "s1")
        .told("Do it.");
    assert!(
        told.contains("\"code\":-32000") && !told.contains("no session"),
        "{told}"
    );
    let told = Client::fake("well").with("ACP_RESUME", "s1").told("Do it.");
    assert!(
        told.ends_with(
            "stderr: no session found: the agent cannot go on with a session\nended badly"
        ),
        "{told}"
    );
}

/// Twenty thousand pieces of a message give a few dozen lines with the whole text.
#[test]
fn pieces_of_a_message_are_put_together() {
    let told = Client::fake("flood").told("Do it.");
    let lines = told
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let texts: Vec<String> = lines
        .filter_map(|line| line["text"].as_str().map(str::to_owned))
        .collect();
    assert!(texts.len() < 200, "{}", texts.len());
    let expected: String = (0..20000).map(|n| format!("word{n} ")).collect();
    assert_eq!(texts.concat(), expected);
    assert!(told.ends_with(GOODBYE), "{}", told.lines().count());
}

/// A signal is passed on through the protocol. An agent that ignores it is not waited for forever.
#[test]
fn a_signal_cancels_the_turn() {
    for (mode, expected) in [
        (
            "waits",
            "{\"type\":\"cancelling\"}\n{\"type\":\"stopped\",\"reason\":\"cancelled\"}\n",
        ),
        ("deaf", "{\"type\":\"cancelling\"}\n"),
    ] {
        let mut child = Client::fake(mode).start("Do it.");
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("tool_started") {
            line.clear();
            assert!(
                lines.read_line(&mut line).unwrap() > 0,
                "{mode}: it ended too early"
            );
        }
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with(expected), "{mode}: {rest}");
        assert_eq!(child.wait().unwrap().success(), mode == "waits", "{mode}");
    }
}
