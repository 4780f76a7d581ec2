//! Streams that were not recorded: other wordings, other orders of fields, cut and noisy streams,
//! and decoys.

use agents::{Ended, Exit, Kind};
use serde_json::{Value, json};

use crate::replay::{read, stderr, stdout, word};

fn lines(events: &[Value]) -> Vec<u8> {
    events
        .iter()
        .map(|event| format!("{event}\n"))
        .collect::<String>()
        .into_bytes()
}

fn outcome(kind: Kind, events: &[Value], exit: &Exit) -> String {
    word(&read(kind, &lines(events), exit).outcome)
}

fn codex_failing(message: &str) -> Vec<Value> {
    vec![
        json!({"type": "thread.started", "thread_id": "t1"}),
        json!({"type": "turn.started"}),
        json!({"type": "error", "message": message}),
        json!({"type": "turn.failed", "error": {"message": message}}),
    ]
}

#[test]
fn codex_fails_with() {
    let cases = [
        (
            "You’ve hit your usage limit. Try again at Nov 20th, 2026 12:55 AM.",
            "usage limit until +365050s",
        ),
        // codex would have named another day, so this time is over.
        (
            "You’ve hit your usage limit. Try again at 7:29 PM.",
            "usage limit",
        ),
        (
            "You’ve hit your usage limit. Try again at 7:31 PM.",
            "usage limit until +10s",
        ),
        (
            "You've hit your usage limit. Try again in 3 hours 20 minutes.",
            "usage limit until +12000s",
        ),
        (
            "You’ve hit your usage limit. To get more access now, send a request to your admin.",
            "usage limit",
        ),
        (
            "Your workspace is out of credits. Ask your workspace owner to refill.",
            "billing",
        ),
        (
            "Quota exceeded. Check your plan and billing details.",
            "billing",
        ),
        (
            "Selected model is at capacity. Please try a different model.",
            "overloaded",
        ),
        (
            "Codex ran out of room in the model's context window. Start a new thread.",
            "context overflow",
        ),
        (
            "stream disconnected before completion: stream closed before response.completed",
            "network",
        ),
        (
            "Reconnecting... waiting for network (Connection failed: error sending request)",
            "network",
        ),
        (
            "unexpected status 403 Forbidden: no access to this model",
            "permission denied",
        ),
        (
            "unexpected status 503 Service Unavailable: upstream connect error",
            "overloaded",
        ),
        ("unexpected status 402 Payment Required: ", "billing"),
        (
            "Your access token could not be refreshed because your refresh token was revoked.",
            "not logged in",
        ),
        (
            "Rate limit reached for gpt-5 on tokens per min (TPM). Please try again in 1.5s.",
            "rate limited for 1500 ms",
        ),
        (
            "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1794778310}}",
            "usage limit until +7200s",
        ),
        (
            "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1594778310}}",
            "usage limit",
        ),
        (
            "the moon is in the wrong house",
            "protocol: the moon is in the wrong house",
        ),
        ("", "protocol: "),
    ];
    for (message, expected) in cases {
        for code in [0, 1] {
            let seen = outcome(Kind::Codex, &codex_failing(message), &Exit::with_code(code));
            assert_eq!(seen, expected, "{message}, exit code {code}");
        }
    }
}

fn claude_failing(result: &Value) -> Vec<Value> {
    let mut last =
        json!({"type": "result", "subtype": "success", "is_error": true, "session_id": "s1"});
    if let (Some(last), Some(result)) = (last.as_object_mut(), result.as_object()) {
        last.extend(result.clone());
    }
    vec![
        json!({"type": "system", "subtype": "init", "session_id": "s1"}),
        last,
    ]
}

#[test]
fn claude_fails_with() {
    let text = |status: u16, text: &str| json!({"api_error_status": status, "result": text});
    for (result, expected) in [
        (
            text(
                429,
                "You've hit your weekly limit · resets Nov 20, 3pm (UTC)",
            ),
            "usage limit until +415750s",
        ),
        (
            text(429, "You’re out of extra usage · resets 9pm (UTC)"),
            "usage limit until +5350s",
        ),
        (
            text(429, "5-hour limit reached ∙ resets 3am"),
            "usage limit until +26950s",
        ),
        (
            text(429, "Claude AI usage limit reached|1794790000"),
            "usage limit until +18890s",
        ),
        (
            text(429, "You've hit your org's monthly spend limit"),
            "billing",
        ),
        (
            text(429, "You've hit your limit · resets 1am (Mars/Olympus)"),
            "usage limit",
        ),
        (
            text(
                429,
                "API Error: Request rejected (429) · Too many concurrent connections",
            ),
            "rate limited",
        ),
        (text(529, "API Error: 529 Overloaded. …"), "overloaded"),
        (text(400, "Prompt is too long"), "context overflow"),
        (text(413, "Request too large"), "context overflow"),
        (text(400, "Credit balance is too low"), "billing"),
        (
            text(
                403,
                "OAuth authentication is currently not allowed for this organization.",
            ),
            "not logged in",
        ),
        (
            text(404, "There's an issue with the selected model (claude-x)."),
            "protocol: There's an issue with the selected model (claude-x).",
        ),
        (
            json!({"result": "API Error: Unable to connect to API (ECONNRESET)"}),
            "network",
        ),
        (
            json!({"result": "Not logged in · Please run /login"}),
            "not logged in",
        ),
        (
            json!({"api_error": "connection_failed", "result": "Etwas ging schief"}),
            "network",
        ),
        (
            json!({"api_error": "usage_limit_reached", "result": "…"}),
            "usage limit",
        ),
        (
            json!({"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"}),
            "interrupted",
        ),
        (json!({"subtype": "error_during_execution"}), "interrupted"),
        (
            json!({"subtype": "error_max_turns", "errors": ["Reached maximum number of turns (2)"]}),
            "failed",
        ),
        (json!({"is_error": null, "result": "?"}), "protocol: ?"),
    ] {
        let seen = outcome(Kind::Claude, &claude_failing(&result), &Exit::with_code(1));
        assert_eq!(seen, expected, "{result}");
    }
}

#[test]
fn claude_finishes_with() {
    let end = |extra: Value| {
        let mut events = claude_failing(&json!({"is_error": false, "result": "ok"}));
        let last = events.last_mut().and_then(Value::as_object_mut);
        if let (Some(last), Some(extra)) = (last, extra.as_object()) {
            last.extend(extra.clone());
        }
        events
    };
    let asked = json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which colour?"}]}});
    let denied = json!({"tool_name": "Bash", "tool_input": {}});
    let hung = Exit {
        ended: Ended::IdleTimeout,
        code: None,
        signal: Some(9),
        stderr_tail: String::new(),
    };
    for (events, exit, expected) in [
        (end(json!({})), Exit::with_code(0), "done"),
        (
            end(json!({"permission_denials": [denied, asked]})),
            Exit::with_code(0),
            "needs answer: Which colour?",
        ),
        (
            end(json!({"permission_denials": [denied]})),
            Exit::with_code(0),
            "permission denied",
        ),
        // It had finished but did not exit.
        (end(json!({})), hung, "done"),
        (
            end(json!({})),
            Exit::with_signal(15, Ended::Stopped),
            "interrupted",
        ),
        (
            end(json!({})),
            Exit::with_signal(9, Ended::Itself),
            "interrupted",
        ),
        (
            end(json!({})),
            Exit::with_code(3),
            "protocol: it said that it had finished, but its exit code is 3",
        ),
    ] {
        assert_eq!(
            outcome(Kind::Claude, &events, &exit),
            expected,
            "{events:?}, {exit:?}"
        );
    }
}

#[test]
fn a_warning_on_the_way_is_no_limit() {
    let mut events = claude_failing(&json!({"is_error": false, "result": "ok"}));
    events.insert(
        1,
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1}}),
    );
    events.insert(
        2,
        json!({"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"}),
    );
    events.insert(3, json!({"type": "brand_new_event", "error": "rate_limit"}));
    let summary = read(Kind::Claude, &lines(&events), &Exit::with_code(0));
    assert_eq!(word(&summary.outcome), "done");
    assert_eq!(summary.n_unknown_events, 1);
}

fn pi_ending(message: &Value) -> Vec<Value> {
    vec![
        json!({"type": "session", "id": "s1"}),
        json!({"type": "message_end", "message": message}),
        json!({"type": "agent_end", "willRetry": false}),
        json!({"type": "agent_settled"}),
    ]
}

#[test]
fn pi_ends_with() {
    let error =
        |text: &str| json!({"role": "assistant", "stopReason": "error", "errorMessage": text});
    for (message, expected) in [
        (
            error(
                "429: {\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}",
            ),
            "billing",
        ),
        (
            error("429: {\"error\":{\"type\":\"usage_limit_reached\",\"resets_in_seconds\":7200}}"),
            "usage limit until +7200s",
        ),
        (error("Stream ended without finish_reason"), "network"),
        (error("Connection error."), "network"),
        (error("529: {\"type\":\"overloaded_error\"}"), "overloaded"),
        (
            error("400: {\"message\":\"prompt is too long: 208310 tokens > 200000 maximum\"}"),
            "context overflow",
        ),
        (
            json!({"role": "assistant", "stopReason": "aborted", "errorMessage": "Request was aborted"}),
            "interrupted",
        ),
        (
            json!({"role": "assistant", "stopReason": "length", "content": []}),
            "failed",
        ),
        (
            json!({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": "401"}]}),
            "done",
        ),
        (
            json!({"role": "assistant", "content": []}),
            "protocol: it stopped for the reason ``",
        ),
    ] {
        assert_eq!(
            outcome(Kind::Pi, &pi_ending(&message), &Exit::with_code(0)),
            expected,
            "{message}"
        );
    }
}

#[test]
fn pi_that_recovers_by_itself_is_done() {
    let mut events =
        pi_ending(&json!({"role": "assistant", "stopReason": "error", "errorMessage": "500: {}"}));
    events.pop();
    events.push(json!({"type": "auto_retry_start", "attempt": 1, "errorMessage": "500: {}"}));
    events.extend(pi_ending(
        &json!({"role": "assistant", "stopReason": "stop", "content": []}),
    ));
    assert_eq!(outcome(Kind::Pi, &events, &Exit::with_code(0)), "done");
}

#[test]
fn opencode_and_gemini_fail_with() {
    let open = |error: Value| vec![json!({"type": "error", "sessionID": "s1", "error": error})];
    let gemini = |message: &str| {
        vec![json!({"type": "result", "status": "error", "error": {"message": message}})]
    };
    for (kind, events, code, expected) in [
        (
            Kind::Opencode,
            open(json!({"name": "ContextOverflowError", "data": {"message": "x"}})),
            1,
            "context overflow",
        ),
        (
            Kind::Opencode,
            open(json!({"name": "ProviderAuthError", "data": {"message": "x"}})),
            1,
            "not logged in",
        ),
        (
            Kind::Opencode,
            open(json!({"name": "MessageAbortedError", "data": {}})),
            1,
            "interrupted",
        ),
        (
            Kind::Opencode,
            open(
                json!({"name": "APIError", "data": {"statusCode": 429, "responseHeaders": {"Retry-After": "30"}}}),
            ),
            1,
            "rate limited for 30000 ms",
        ),
        (
            Kind::Gemini,
            gemini("[API Error: fetch failed]"),
            1,
            "network",
        ),
        (
            Kind::Gemini,
            gemini("[API Error: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}]"),
            247,
            "overloaded",
        ),
        (
            Kind::Gemini,
            gemini("You have exhausted your daily quota on this model."),
            173,
            "usage limit",
        ),
        (
            Kind::Gemini,
            gemini("Your quota will reset after 3h20m10s."),
            173,
            "usage limit until +12010s",
        ),
        (Kind::Gemini, gemini("nobody knows"), 17, "overloaded"),
        (Kind::Gemini, vec![], 41, "not logged in"),
        (Kind::Gemini, gemini("max turns"), 53, "failed"),
    ] {
        assert_eq!(
            outcome(kind, &events, &Exit::with_code(code)),
            expected,
            "{events:?}"
        );
    }
}

#[test]
fn a_run_that_never_began_says_why_on_standard_error() {
    for (kind, code, said, expected) in [
        (
            Kind::Codex,
            2,
            "error: unexpected argument '--json' found",
            "too old",
        ),
        (
            Kind::Claude,
            1,
            "error: unknown option '--effort'",
            "too old",
        ),
        (
            Kind::Claude,
            1,
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
            "permission denied",
        ),
        (
            Kind::Codex,
            1,
            "Not inside a trusted directory and --skip-git-repo-check was not specified.",
            "permission denied",
        ),
        (
            Kind::Codex,
            1,
            "Error: no rollout found for thread id 01a1",
            "interrupted",
        ),
        (
            Kind::Pi,
            127,
            "env: 'node': No such file or directory",
            "not installed",
        ),
        (Kind::Pi, 1, "Cannot find module 'x'", "not installed"),
        (
            Kind::Gemini,
            1,
            "Please set an Auth method in your settings.json",
            "not logged in",
        ),
        (Kind::Opencode, 1, "", "protocol: nothing was printed"),
        (Kind::Opencode, 0, "", "protocol: nothing was printed"),
        (
            Kind::Opencode,
            1,
            "thread 'main' panicked",
            "protocol: thread 'main' panicked",
        ),
    ] {
        let exit = Exit {
            stderr_tail: format!("{said}\n"),
            ..Exit::with_code(code)
        };
        let summary = read(kind, b"", &exit);
        assert_eq!(word(&summary.outcome), expected, "{kind:?}: {said}");
        assert_eq!(
            summary.is_session_lost,
            said.contains("no rollout"),
            "{said}"
        );
    }
    let missing = Exit {
        ended: Ended::CannotStart {
            why: "no such program".to_owned(),
        },
        ..Exit::with_code(0)
    };
    assert_eq!(
        word(&read(Kind::Codex, b"", &missing).outcome),
        "not installed"
    );
}

#[test]
fn a_watchdog_blames_whoever_was_waited_for() {
    let begun = [json!({"type": "system", "subtype": "init", "session_id": "s1"})];
    let retry = json!({"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"});
    let unreachable =
        json!({"type": "system", "subtype": "api_retry", "error_status": null, "error": "unknown"});
    let call = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}});
    let result = json!({"type": "user", "message": {"content": [{"type": "tool_result"}]}});
    let stopped = json!({"type": "system", "subtype": "task_notification", "status": "stopped"});
    let with = |more: &[Value]| [&begun[..], more].concat();
    for (events, ended, expected) in [
        (vec![], Ended::IdleTimeout, "network"),
        (with(&[]), Ended::IdleTimeout, "network"),
        (
            with(std::slice::from_ref(&retry)),
            Ended::IdleTimeout,
            "overloaded",
        ),
        (with(&[unreachable]), Ended::WallTimeout, "network"),
        (
            with(&[retry.clone(), call.clone()]),
            Ended::IdleTimeout,
            "failed",
        ),
        (
            with(&[call.clone(), result.clone()]),
            Ended::IdleTimeout,
            "network",
        ),
        (
            with(&[call.clone(), stopped, result.clone()]),
            Ended::IdleTimeout,
            "failed",
        ),
        (
            with(&[call.clone(), result.clone()]),
            Ended::WentRound,
            "failed",
        ),
        (
            with(std::slice::from_ref(&retry)),
            Ended::WentRound,
            "overloaded",
        ),
        (with(&[call, result]), Ended::WallTimeout, "failed"),
    ] {
        let exit = Exit {
            ended: ended.clone(),
            code: None,
            signal: Some(9),
            stderr_tail: String::new(),
        };
        assert_eq!(
            outcome(Kind::Claude, &events, &exit),
            expected,
            "{events:?}, {ended:?}"
        );
    }
}

/// A success stays a success whatever is printed around it, and whatever its tools and its model
/// write about.
#[test]
fn noise_changes_nothing() {
    let loud = "429 Too Many Requests: rate limit, usage limit reached|1794790000, not logged in";
    let noisy = |clean: &[u8]| {
        let text = String::from_utf8_lossy(clean).into_owned();
        let mut all = format!("{loud}\n\n");
        all.extend(
            text.lines()
                .map(|line| format!("{line}\r\n(node:7) Warning: {loud}\n{{\"half\": \n[1,2]\n")),
        );
        all.push_str(&"x".repeat(5_000_000));
        all.into_bytes()
    };
    for case in [
        "codex.decoy",
        "claude.decoy",
        "pi.decoy",
        "opencode.success",
        "gemini.success",
    ] {
        let kind = crate::replay::kind(case);
        let exit = Exit {
            stderr_tail: format!("{}{loud}", stderr(case)),
            ..Exit::with_code(0)
        };
        let clean = read(kind, &stdout(case), &exit);
        let summary = read(kind, &noisy(&stdout(case)), &exit);
        assert_eq!(word(&summary.outcome), "done", "{case}");
        assert_eq!(summary.answer, clean.answer, "{case}");
        assert_eq!(summary.usage, clean.usage, "{case}");
        assert!(
            summary.n_strange_lines > 3 && summary.strange_line.is_some(),
            "{case}"
        );
    }
}

/// The order of fields does not matter, and a stream that ends in the middle of a line is not
/// finished.
#[test]
fn cut_anywhere_a_stream_is_never_done() {
    for case in [
        "codex.success",
        "claude.success",
        "pi.success",
        "opencode.success",
        "gemini.success",
    ] {
        let kind = crate::replay::kind(case);
        let whole = stdout(case);
        let sorted: Vec<u8> = whole
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
            .flat_map(|value| format!("{value}\n").into_bytes())
            .collect();
        assert_eq!(
            word(&read(kind, &sorted, &Exit::with_code(0)).outcome),
            "done",
            "{case}, sorted"
        );
        let last = whole
            .trim_ascii_end()
            .iter()
            .rposition(|&byte| byte == b'\n')
            .unwrap_or_default();
        for end in (0..whole.trim_ascii_end().len()).step_by(97).chain([
            last,
            last + 1,
            whole.trim_ascii_end().len() - 1,
        ]) {
            let outcome = read(kind, &whole[..end], &Exit::with_code(143)).outcome;
            assert_eq!(word(&outcome), "interrupted", "{case}, cut at {end}");
            let outcome = read(kind, &whole[..end], &Exit::with_code(0)).outcome;
            assert_ne!(word(&outcome), "done", "{case}, cut at {end}");
        }
    }
}

#[test]
fn a_session_id_that_is_no_id_is_not_taken() {
    let events = [
        json!({"type": "thread.started", "thread_id": "--dangerous"}),
        json!({"type": "turn.completed"}),
    ];
    assert_eq!(
        read(Kind::Codex, &lines(&events), &Exit::with_code(0)).session,
        None
    );
}
