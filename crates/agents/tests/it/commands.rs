//! The whole command line that each CLI gets for a task.

use std::path::PathBuf;

use agents::{CommandSpec, Kind, Session, SessionId, StopSignal, Task};

fn task(session: Session) -> Task {
    Task {
        prompt: "Do it.\n".to_owned(),
        model: Some("provider/model-1".to_owned()),
        effort: Some("high".to_owned()),
        schema: Some("{\"type\":\"object\"}".to_owned()),
        session,
        checkout: PathBuf::from("/state/checkouts/a"),
        config_home: PathBuf::from("/state/agents/a"),
        program: None,
        client: "/bin/loopwright".into(),
        extra_args: vec!["--more".to_owned()],
    }
}

fn id() -> SessionId {
    SessionId::parse("8a8fb6ce-63c9-4459-8b21-abd68df754b1").unwrap()
}

fn spec(kind: Kind, session: Session) -> CommandSpec {
    kind.command(&task(session))
}

#[test]
fn a_fresh_session_is_started_by() {
    for (kind, expected) in [
        (
            Kind::Codex,
            "codex exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check --disable plugins \
             -c analytics.enabled=false -c check_for_update_on_startup=false \
             -c 'projects={\"/state/checkouts/a\"={trust_level=\"untrusted\"}}' -m provider/model-1 \
             -c 'model_reasoning_effort=\"high\"' --output-schema /state/agents/a/schema-9cdd4c929f357a54.json --more -",
        ),
        (
            Kind::Claude,
            "claude -p --output-format stream-json --verbose --dangerously-skip-permissions --strict-mcp-config \
             --setting-sources user --model provider/model-1 --effort high --json-schema '{\"type\":\"object\"}' --more",
        ),
        (
            Kind::Pi,
            "pi -p --mode json --no-approve --no-extensions --provider provider --model model-1 --thinking high --more",
        ),
        (
            Kind::Opencode,
            "opencode run --format json --print-logs --log-level ERROR --model provider/model-1 --variant high --more",
        ),
        (
            Kind::Gemini,
            "gemini --output-format stream-json --yolo --skip-trust --allowed-mcp-server-names=none -m provider/model-1 --more",
        ),
        (
            Kind::Acp,
            "/bin/loopwright acp-client --model provider/model-1 --effort high -- '' --more",
        ),
        (Kind::Command, "'' --more"),
    ] {
        assert_eq!(spec(kind, Session::Fresh).shown(), expected, "{kind:?}");
    }
}

#[test]
fn a_session_is_named_or_resumed_by() {
    let uuid = "8a8fb6ce-63c9-4459-8b21-abd68df754b1";
    for (kind, named, resumed) in [
        (
            Kind::Codex,
            String::new(),
            format!("--more resume {uuid} -"),
        ),
        (
            Kind::Claude,
            format!("--session-id {uuid} --more"),
            format!("--resume {uuid} --more"),
        ),
        (
            Kind::Pi,
            format!("--session-id {uuid} --more"),
            format!("--session-id {uuid} --more"),
        ),
        (
            Kind::Opencode,
            String::new(),
            format!("--session {uuid} --more"),
        ),
        (
            Kind::Gemini,
            String::new(),
            format!("--resume {uuid} --more"),
        ),
        (
            Kind::Acp,
            String::new(),
            format!("--resume {uuid} -- '' --more"),
        ),
    ] {
        let fresh = spec(kind, Session::Fresh).shown();
        let shown = spec(kind, Session::FreshAs(id())).shown();
        assert!(
            if named.is_empty() {
                shown == fresh
            } else {
                shown.ends_with(&named)
            },
            "{kind:?}: {shown}"
        );
        let shown = spec(kind, Session::Resume(id())).shown();
        assert!(shown.ends_with(&resumed), "{kind:?}: {shown}");
    }
}

/// The prompt is passed on standard input, which is then closed. It is not an argument, because
/// those are limited in length and visible to every user of the machine.
#[test]
fn the_prompt_is_on_standard_input() {
    for kind in Kind::ALL {
        let spec = spec(kind, Session::Fresh);
        assert_eq!(spec.stdin, "Do it.\n", "{kind:?}");
        assert!(
            !spec.args.iter().any(|arg| arg.contains("Do it.")),
            "{kind:?}"
        );
    }
}

/// Every CLI has a config home of ours, into which one file with the operator's credentials is
/// linked.
#[test]
fn i09_credentials_are_used_in_place() {
    let shown = |kind| {
        let spec = spec(kind, Session::Fresh);
        let homes = spec
            .env
            .values()
            .filter(|value| value.starts_with("/state/agents/a"))
            .count();
        let links: Vec<String> = spec
            .links
            .iter()
            .map(|link| format!("{} to {}/{}", link.at, link.folder, link.file))
            .collect();
        assert!(homes > 0, "{kind:?}");
        links.join(", ")
    };
    for (kind, expected) in [
        (Kind::Codex, "auth.json to .codex/auth.json"),
        (
            Kind::Claude,
            ".credentials.json to .claude/.credentials.json",
        ),
        (Kind::Pi, "auth.json to .pi/agent/auth.json"),
        (
            Kind::Opencode,
            "data/opencode/auth.json to .local/share/opencode/auth.json",
        ),
        (
            Kind::Gemini,
            ".gemini/oauth_creds.json to .gemini/oauth_creds.json",
        ),
        (Kind::Acp, ""),
    ] {
        assert_eq!(shown(kind), expected, "{kind:?}");
    }
}

#[test]
fn the_facts_are() {
    for (kind, signal, wall_minutes, version) in [
        (Kind::Codex, StopSignal::Int, 15, "codex-cli 0.166.0"),
        (Kind::Claude, StopSignal::Term, 20, "2.1.325 (Claude Code)"),
        (Kind::Pi, StopSignal::Term, 20, "0.87.1"),
        (Kind::Opencode, StopSignal::Term, 20, "1.18.33"),
        (Kind::Gemini, StopSignal::Term, 20, "0.61.0"),
    ] {
        let facts = kind.facts();
        let spec = spec(kind, Session::Fresh);
        assert_eq!(
            (facts.stop_signal, facts.wall_secs),
            (signal, wall_minutes * 60),
            "{kind:?}"
        );
        assert_eq!(
            (spec.stop_signal, spec.wall_secs, spec.idle_secs),
            (signal, facts.wall_secs, facts.idle_secs)
        );
        let version = agents::Version::find(version).unwrap();
        assert_eq!(
            facts.judge(version),
            agents::VersionVerdict::Tried,
            "{kind:?}"
        );
        assert_eq!(Kind::of_word(kind.word()), Some(kind));
    }
}

#[test]
fn two_schemas_are_two_files() {
    let file = |schema: &str| {
        let task = Task {
            schema: Some(schema.to_owned()),
            ..task(Session::Fresh)
        };
        Kind::Codex
            .command(&task)
            .files
            .pop()
            .map(|file| file.path)
            .unwrap()
    };
    assert_ne!(file("{}"), file("{ }"));
    assert_eq!(file("{}"), file("{}"));
}
