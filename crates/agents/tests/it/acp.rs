//! Events of our ACP client: ends, errors that agents report in odd places, and answers that merely
//! talk about errors.

use agents::{CommandSpec, Ended, Exit, Kind, Task};
use serde_json::{Value, json};

use crate::replay::{read, word};

fn turn(events: &[Value], end: &Value) -> Vec<u8> {
    let begin = [
        json!({"type": "agent", "name": "a", "version": "1", "resumes": true}),
        json!({"type": "session", "id": "s1", "resumed": false}),
    ];
    let all = begin.iter().chain(events).chain([end]);
    all.map(|event| format!("{event}\n"))
        .collect::<String>()
        .into_bytes()
}

fn stopped(reason: &str) -> Value {
    json!({"type": "stopped", "reason": reason})
}

fn outcome(events: &[Value], end: &Value) -> String {
    word(&read(Kind::Acp, &turn(events, end), &Exit::with_code(0)).outcome)
}

fn failed(error: &Value) -> String {
    let mut event = json!({"type": "error", "during": "session/prompt"});
    event
        .as_object_mut()
        .unwrap()
        .extend(error.as_object().unwrap().clone());
    word(&read(Kind::Acp, &turn(&[], &event), &Exit::with_code(3)).outcome)
}

#[test]
fn a_turn_that_stopped_is() {
    for (reason, expected) in [
        ("end_turn", "done"),
        ("max_tokens", "failed"),
        ("max_turn_requests", "failed"),
        ("refusal", "failed"),
        ("cancelled", "interrupted"),
        ("mood", "protocol: it stopped with `mood`"),
        ("", "protocol: it stopped with ``"),
    ] {
        assert_eq!(outcome(&[], &stopped(reason)), expected, "{reason}");
    }
}

#[test]
fn an_error_means() {
    for (error, expected) in [
        (
            json!({"code": -32000, "message": "Authentication required"}),
            "not logged in",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"errorKind": "rate_limit"}}),
            "rate limited",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"errorKind": "overloaded"}}),
            "overloaded",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"errorKind": "authentication_failed"}}),
            "not logged in",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"errorKind": "billing_error"}}),
            "billing",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"codexErrorInfo": "contextWindowExceeded"}}),
            "context overflow",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"codexErrorInfo": "unauthorized"}}),
            "not logged in",
        ),
        // gemini gives the HTTP status of its request as the code.
        (
            json!({"code": 429, "message": "Please retry in 5.0s.\nSuggested retry after 5s."}),
            "rate limited for 5000 ms",
        ),
        (
            json!({"code": 500, "message": "An internal error has occurred."}),
            "overloaded",
        ),
        (json!({"code": 503, "message": "?"}), "overloaded"),
        // opencode gives only a message.
        (
            json!({"code": -32603, "message": "Internal error: Rate limit reached. Please try again in 8s.",
                "data": {"service": "session", "errorName": "APIError"}}),
            "rate limited for 8000 ms",
        ),
        // `Internal error` is what every such error is called; it does not mean a server failed.
        (
            json!({"code": -32603, "message": "Internal error"}),
            "protocol: error -32603 without a word",
        ),
        (
            json!({"code": -32603, "message": "Internal error: x is null"}),
            "protocol: x is null",
        ),
        (
            json!({"code": -32601, "message": "Method not found"}),
            "protocol: Method not found",
        ),
        (
            json!({"code": -32600, "message": "Invalid request", "data": "unsupported ACP protocol version 7"}),
            "protocol: Invalid request: unsupported ACP protocol version 7",
        ),
        (json!({}), "protocol: error 0 without a word"),
    ] {
        assert_eq!(failed(&error), expected, "{error}");
    }
}

#[test]
fn an_error_in_the_chat_is_one_where_nothing_else_was_done() {
    let limit = "exceeded retry limit, last status: 429 Too Many Requests\n\n";
    let text = |text: &str| json!({"type": "text", "text": text});
    let tool = [
        json!({"type": "tool_started", "tool": "Bash", "detail": "ls"}),
        json!({"type": "tool_ended", "failed": false}),
    ];
    let used =
        json!({"type": "usage", "input": 10, "cached": 0, "written_to_cache": 0, "output": 3});
    let failing = |is: bool| json!({"type": "failing", "is": is});
    let with_tool = |said: &str| [&tool[..], &[text(said)]].concat();
    for (name, events, expected) in [
        (
            "the agent says that it fails",
            vec![failing(true), text(limit)],
            "rate limited",
        ),
        (
            "it fails after work",
            [&tool[..], &[failing(true), text(limit), used.clone()]].concat(),
            "rate limited",
        ),
        (
            "it failed, and went on",
            vec![
                failing(true),
                failing(false),
                text("All is well."),
                used.clone(),
            ],
            "done",
        ),
        (
            "it fails without a word",
            vec![failing(true)],
            "protocol: its turn failed",
        ),
        ("a line that is an error", vec![text(limit)], "rate limited"),
        (
            "a limit",
            vec![text("You’ve hit your usage limit. Try again at 9:26 PM.")],
            "usage limit until +6910s",
        ),
        (
            "trouble",
            vec![text(
                "We’re currently experiencing high demand, which may cause temporary errors.",
            )],
            "overloaded",
        ),
        (
            "a body",
            vec![text(
                r#"{"error": {"code": "context_length_exceeded", "message": "too long"}}"#,
            )],
            "context overflow",
        ),
        (
            "a status",
            vec![text("unexpected status 401 Unauthorized: bad key")],
            "not logged in",
        ),
        (
            "a model that used tokens",
            vec![text("Rate limit reached means 429."), used.clone()],
            "done",
        ),
        (
            "a model that used tools",
            with_tool("Rate limit reached means 429."),
            "done",
        ),
        (
            "a model that answers as it was asked",
            vec![text(
                r#"{"verdict": "PASS", "reason": "a 429 rate limit is handled"}"#,
            )],
            "done",
        ),
        (
            "a model that says more",
            vec![text("Rate limit reached means 429.\nThe retry is right.")],
            "done",
        ),
        (
            "a model that speaks at length",
            vec![text(&"A rate limit is handled. ".repeat(20))],
            "done",
        ),
        (
            "a model that speaks of itself",
            vec![text("I handle the rate limit now.")],
            "done",
        ),
        (
            "loose words",
            vec![text(
                "Done: the request that timed out asks for authentication again.",
            )],
            "done",
        ),
        ("nothing", vec![], "done"),
    ] {
        assert_eq!(outcome(&events, &stopped("end_turn")), expected, "{name}");
    }
}

#[test]
fn what_is_not_told_is_not_known() {
    let usage = |event: Value| {
        let usage = read(
            Kind::Acp,
            &turn(&[event], &stopped("end_turn")),
            &Exit::with_code(0),
        )
        .usage;
        (
            usage.tokens.map(|tokens| tokens.total()),
            usage.cost_micro_usd,
        )
    };
    for (event, expected) in [
        (json!({"type": "alive"}), (None, None)),
        (
            json!({"type": "usage", "input": 5, "cached": null, "written_to_cache": 2, "output": 3}),
            (Some(10), None),
        ),
        (
            json!({"type": "usage", "input": 5, "cached": null, "written_to_cache": null, "output": null}),
            (None, None),
        ),
        (json!({"type": "cost", "usd": 0.25}), (None, Some(250_000))),
        (json!({"type": "cost", "usd": 0.0}), (None, None)),
    ] {
        assert_eq!(usage(event.clone()), expected, "{event}");
    }
}

#[test]
fn what_could_not_be_allowed_is_told() {
    let asked =
        |allowed: bool| json!({"type": "permission", "what": "rm -rf /", "allowed": allowed});
    assert_eq!(outcome(&[asked(true)], &stopped("end_turn")), "done");
    assert_eq!(
        outcome(&[asked(false)], &stopped("end_turn")),
        "permission denied"
    );
}

/// An agent that never starts its turn: the only evidence is what our client says and what the
/// agent printed.
#[test]
fn a_turn_that_never_began_is() {
    let quiet = |stderr: &str| {
        let exit = Exit {
            stderr_tail: stderr.to_owned(),
            ..Exit::with_code(3)
        };
        word(&read(Kind::Acp, b"", &exit).outcome)
    };
    for (stderr, expected) in [
        (
            "error: the turn failed: cannot start `gone`: command not found, or not to be run: No such file",
            "not installed",
        ),
        (
            "error: the turn failed: the agent has no model `x`; it has a, b",
            "protocol: error: the turn failed: the agent has no model `x`; it has a, b",
        ),
        (
            "error: the turn failed: no session found: gone",
            "interrupted",
        ),
        (
            "Not logged in; run `agent login`\nerror: the turn failed: the agent ended before it had answered",
            "not logged in",
        ),
    ] {
        assert_eq!(quiet(stderr), expected, "{stderr}");
    }
    let noise =
        b"the agent printed: \"{\\\"type\\\":\\\"stopped\\\",\\\"reason\\\":\\\"end_turn\\\"}\"\n";
    let summary = read(Kind::Acp, noise, &Exit::with_code(3));
    assert!(
        word(&summary.outcome).starts_with("protocol"),
        "{summary:?}"
    );
    assert_eq!(summary.n_strange_lines, 1);
}

#[test]
fn a_turn_that_was_cut_off_is() {
    let text = json!({"type": "text", "text": "I begin."});
    let retrying = json!({"type": "retrying", "why": "Reconnecting... waiting for network (Connection failed)"});
    let tool = json!({"type": "tool_started", "tool": "Bash", "detail": "sleep"});
    let idle = Exit::with_signal(9, Ended::IdleTimeout);
    for (name, last, exit, expected) in [
        (
            "the agent died",
            text.clone(),
            Exit::with_code(3),
            "interrupted",
        ),
        (
            "a signal of somebody's",
            text.clone(),
            Exit::with_code(130),
            "interrupted",
        ),
        (
            "we stopped it",
            text,
            Exit::with_signal(15, Ended::Stopped),
            "interrupted",
        ),
        (
            "nothing more came",
            json!({"type": "alive"}),
            idle.clone(),
            "network",
        ),
        (
            "it waits for its server",
            retrying,
            Exit::with_signal(9, Ended::WallTimeout),
            "network",
        ),
        ("its tool hangs", tool, idle, "failed"),
    ] {
        assert_eq!(
            word(&read(Kind::Acp, &turn(&[], &last), &exit).outcome),
            expected,
            "{name}"
        );
    }
}

/// An agent that is asked to end stops its tools and answers `cancelled`. Why it was asked decides
/// the outcome.
#[test]
fn a_turn_that_was_cancelled_is() {
    let tool = json!({"type": "tool_started", "tool": "Bash", "detail": "sleep"});
    let cancelling = json!({"type": "cancelling"});
    let ended = json!({"type": "tool_ended", "failed": true});
    let said = json!({"type": "text", "text": "Stopped."});
    let idle = Exit {
        ended: Ended::IdleTimeout,
        ..Exit::with_code(0)
    };
    for (name, before, exit, expected) in [
        (
            "somebody's signal",
            vec![],
            Exit::with_code(0),
            "interrupted",
        ),
        (
            "our own",
            vec![],
            Exit {
                ended: Ended::Stopped,
                ..Exit::with_code(0)
            },
            "interrupted",
        ),
        ("it was silent", vec![], idle.clone(), "network"),
        ("its tool was silent", vec![tool], idle, "failed"),
    ] {
        let events = [
            &before[..],
            &[cancelling.clone(), ended.clone(), said.clone()],
        ]
        .concat();
        for end in ["cancelled", "end_turn"] {
            let summary = read(Kind::Acp, &turn(&events, &stopped(end)), &exit);
            assert_eq!(word(&summary.outcome), expected, "{name}, {end}");
        }
    }
}

/// The operator's arguments and variables may name the agent's config home.
#[test]
fn the_config_home_is_filled_in() {
    let command = |kind: Kind| -> CommandSpec {
        kind.command(&Task {
            config_home: "/state/a".into(),
            extra_args: vec!["--home={config_home}/x".to_owned()],
            ..Task::default()
        })
    };
    let env = [("HOME_OF_IT".to_owned(), "{config_home}".to_owned())].into();
    let acp = command(Kind::Acp);
    assert_eq!(acp.args.last().unwrap(), "--home=/state/a/x");
    assert_eq!(acp.filled_in(&env)["HOME_OF_IT"], "/state/a");
    assert_eq!(acp.env["LOOPWRIGHT_CONFIG_HOME"], "/state/a");
    assert_eq!(
        command(Kind::Codex).filled_in(&env)["HOME_OF_IT"],
        "{config_home}"
    );
}
