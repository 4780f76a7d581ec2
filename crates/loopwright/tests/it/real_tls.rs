//! Whole loops with the real agent CLIs in jails, with the model where it really is: behind the proxy,
//! by its maker's name and TLS. The person's own authority (as a company has one) enters the jail by
//! their environment.

use testkit::ModelServer;

use crate::internet::Internet;
use crate::real_agents::{Stage, mind};
use crate::real_jail::{assert_confined, files_with};
use crate::sample::thrifty_sample;

/// The keys in the person's shell.
const KEYS: [(&str, &str); 3] = [
    ("CODEX_API_KEY", "sk-proj-the-real-key-for-openai"),
    ("ANTHROPIC_API_KEY", "sk-ant-the-real-key-for-anthropic"),
    ("GEMINI_API_KEY", "AIza-the-real-key-for-google"),
];

/// Who speaks TLS with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    /// The proxy, which adds the key.
    Proxy,
    /// The CLI itself, through a tunnel of the proxy.
    Cli,
}

/// A quartet, by implementor, reviewer and judge.
type Cast = (&'static str, &'static str, &'static str);

const PLAYS: [(Cast, Speaks); 5] = [
    (("codex", "claude", "pi"), Speaks::Proxy),
    (("codex", "claude", "pi"), Speaks::Cli),
    (("opencode", "gemini", "codex"), Speaks::Proxy),
    (("opencode", "gemini", "codex"), Speaks::Cli),
    (("pi", "opencode", "claude"), Speaks::Proxy),
];

/// An agent as a person has it who uses its maker's own service.
fn plain_agent(stage: &Stage, name: &str) -> String {
    let model = match name {
        "codex" => "gpt-5.5",
        "claude" => "claude-sonnet-4-5",
        "gemini" => "gemini-2.5-pro",
        // The others use another maker's model.
        _ => "anthropic/claude-sonnet-4-5",
    };
    format!(
        "[agents.{name}]\nkind = \"{name}\"\nprogram = \"{}\"\nmodel = \"{model}\"\nenv = {{ PATH = \"{}\" }}\n",
        stage.program(name),
        stage.path_with_node()
    )
}

fn play((implementor, reviewer, judge): Cast, speaks: Speaks) {
    let stage = Stage::new();
    let server = ModelServer::answering(0, mind);
    let internet = Internet::before(&stage.env, &server.url());
    let agents = [implementor, reviewer, judge].map(|name| plain_agent(&stage, name));
    let sandbox = format!("[sandbox]\ninject_keys = {}\n", speaks == Speaks::Proxy);
    stage.cast(implementor, reviewer, judge, &agents, &sandbox);
    let arguments = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--sandbox",
        "bwrap",
        "--foreground",
        "--json",
    ];
    let mut command = stage.env.command(&arguments);
    command
        .envs(KEYS)
        .env("SSL_CERT_FILE", internet.authority());
    let mut command = internet.run_in(&command, &stage.env.path(""));
    let output = stage.env.output(&mut command);
    let view = stage.view();
    let what = format!("{implementor}, {reviewer}, {judge}, {speaks:?}: {view}\n{output:?}");
    assert_eq!(view["status"], "completed", "{what}");
    assert_eq!(view["isolation"], "bwrap", "{what}");
    assert_eq!(view["stories"][0]["status"], "passed", "{what}");
    assert_eq!(view["stories"][0]["attempts"], 2, "{what}");
    assert_confined(&stage);
    assert_keys(&stage, &server, speaks, &what);
    let asked = internet.asked();
    assert!(!asked.is_empty(), "{what}");
    for name in [implementor, reviewer, judge] {
        let host = match name {
            "codex" => "api.openai.com",
            "gemini" => "generativelanguage.googleapis.com",
            _ => "api.anthropic.com",
        };
        assert!(asked.iter().any(|asked| asked == host), "{host}: {what}");
    }
    stage.assert_nothing_left();
}

/// The model got the real keys and nothing else. Where the proxy holds them, no file of the loop has one.
fn assert_keys(stage: &Stage, server: &ModelServer, speaks: Speaks, what: &str) {
    let requests = server.requests();
    assert!(requests.len() > 5, "{what}");
    for request in &requests {
        let is_real = |key: &String| KEYS.iter().any(|(_, real)| key.ends_with(real));
        assert!(!request.keys.is_empty(), "{what}");
        assert!(
            request.keys.iter().all(is_real),
            "{:?}: {what}",
            request.keys
        );
    }
    for (name, key) in KEYS {
        let found = files_with(&stage.home().join("loops"), key);
        let is_elsewhere = found.iter().any(|path| !path.ends_with("keys.json"));
        assert!(
            speaks == Speaks::Cli || !is_elsewhere,
            "{name} lies in {found:?}"
        );
    }
}

#[test]
fn i09_a_quartet_with_its_model_behind_the_proxy_by_name_and_tls() {
    // The others take seconds for every start.
    let is_cheap = |(cast, _): &(Cast, Speaks)| *cast == PLAYS[0].0;
    for (cast, speaks) in thrifty_sample("models by name and TLS", &PLAYS, is_cheap) {
        play(cast, speaks);
    }
}
