//! Samples that were not recorded but may well occur: other wordings, other time formats, decoys,
//! damaged streams.

use agents::{Ended, Exit, Kind};
use serde_json::{Value, json};

use crate::replay::{read, stdout, word};

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn seen(kind: Kind, text: &str, exit: &Exit) -> String {
    word(&read(kind, text.as_bytes(), exit).outcome)
}

/// Compares all rows before it fails, so that one run shows every mismatch.
fn check<Row: std::fmt::Debug>(rows: impl IntoIterator<Item = (Row, String, &'static str)>) {
    let differs = |(row, seen, expected): (Row, String, &str)| {
        (seen != expected).then(|| format!("{row:?}\n  is      {seen}\n  must be {expected}"))
    };
    let wrong: Vec<String> = rows.into_iter().filter_map(differs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn claude(result: Value) -> String {
    lines(&[
        json!({"type": "system", "subtype": "init", "session_id": "s1"}),
        merged(
            json!({"type": "result", "subtype": "success", "is_error": true, "session_id": "s1"}),
            result,
        ),
    ])
}

fn merged(mut event: Value, more: Value) -> Value {
    if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
        event.extend(more);
    }
    event
}

fn codex(message: &str) -> String {
    lines(&[
        json!({"type": "thread.started", "thread_id": "t1"}),
        json!({"type": "turn.started"}),
        json!({"type": "turn.failed", "error": {"message": message}}),
    ])
}

fn pi(message: &str) -> String {
    lines(&[
        json!({"type": "session", "id": "s1"}),
        json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "error", "errorMessage": message}}),
        json!({"type": "agent_settled"}),
    ])
}

/// The current time is 2026-11-15 19:31:50 UTC.
#[test]
fn claude_words_its_limits() {
    let rows = [
        (
            "5-hour limit reached ∙ resets 3am",
            "usage limit until +26950s",
        ),
        (
            "5-hour limit reached · resets 3pm (UTC)",
            "usage limit until +70150s",
        ),
        (
            "You've hit your session limit · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "You’ve hit your session limit · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "You've hit your weekly limit · resets Mon 12:00am (UTC)",
            "usage limit until +16150s",
        ),
        (
            "Weekly limit reached ∙ resets Nov 18 at 5pm (UTC)",
            "usage limit until +250150s",
        ),
        (
            "You've hit your Opus limit · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "Opus weekly limit reached ∙ resets Nov 18, 5pm",
            "usage limit until +250150s",
        ),
        (
            "You've hit your limit · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "You've hit your limit · resets Nov 20 at 12am (UTC)",
            "usage limit until +361750s",
        ),
        (
            "You're out of extra usage · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "You’re out of extra usage · resets 9pm (UTC)",
            "usage limit until +5350s",
        ),
        (
            "Claude AI usage limit reached|1794790000",
            "usage limit until +18890s",
        ),
        (
            "Claude AI usage limit reached|1794790000000",
            "usage limit until +18890s",
        ),
        (
            "Claude usage limit reached. Your limit will reset at 9pm (UTC).",
            "usage limit until +5350s",
        ),
        (
            "Your limit will reset at 9 PM UTC. usage limit reached",
            "usage limit until +5350s",
        ),
        (
            "You've reached your usage limit for Claude. Resets in 2 hours 5 minutes.",
            "usage limit until +7500s",
        ),
        (
            "You've hit your usage limit. It resets in 2h 5m",
            "usage limit until +7500s",
        ),
        (
            "Limit reached · resets 2026-11-15T21:00:00Z · /upgrade",
            "usage limit until +5350s",
        ),
        ("You've hit your monthly spend limit", "billing"),
        (
            "You've hit your monthly spend limit · resets Dec 1 at 12am (UTC)",
            "usage limit until +1312150s",
        ),
        (
            "Usage limit reached for this account. Come back tomorrow at 6:00 AM UTC",
            "usage limit until +37750s",
        ),
    ];
    for status in [Some(429), None] {
        check(rows.map(|(said, expected)| {
            let text = claude(json!({"api_error_status": status, "result": said}));
            (
                (said, status),
                seen(Kind::Claude, &text, &Exit::with_code(1)),
                expected,
            )
        }));
    }
}

/// An earlier event about the plan's allowance counts unless the result is more specific.
#[test]
fn claude_is_told_of_its_allowance() {
    let told = |status: &str| {
        let info =
            json!({"status": status, "resetsAt": 1_794_778_310, "rateLimitType": "seven_day"});
        json!({"type": "rate_limit_event", "rate_limit_info": info})
    };
    let begin = json!({"type": "system", "subtype": "init", "session_id": "s1"});
    let end = |more: Value| {
        merged(
            json!({"type": "result", "subtype": "success", "session_id": "s1"}),
            more,
        )
    };
    let said =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "on"}]}});
    let idle = Exit {
        ended: Ended::IdleTimeout,
        ..Exit::with_code(143)
    };
    let limit = "usage limit until +7200s";
    check(
        [
            (vec![told("rejected"), end(json!({"is_error": true, "result": ""}))], Exit::with_code(1), limit),
            (
                vec![
                    told("rejected"),
                    end(json!({"is_error": true, "api_error_status": 429, "result": "?"})),
                ],
                Exit::with_code(1),
                limit,
            ),
            (
                vec![
                    told("rejected"),
                    end(json!({"is_error": true, "api_error_status": 500, "result": "?"})),
                ],
                Exit::with_code(1),
                "overloaded",
            ),
            (
                vec![told("rejected"), told("allowed"), end(json!({"is_error": true, "result": "?"}))],
                Exit::with_code(1),
                "protocol: ?",
            ),
            (
                vec![told("rejected"), end(json!({"is_error": false, "result": "ok"}))],
                Exit::with_code(0),
                "done",
            ),
            // Paid usage beyond the plan answered, and then the connection broke.
            (
                vec![
                    told("rejected"),
                    said.clone(),
                    end(json!({"is_error": true, "result": "API Error: Unable to connect to API (ECONNRESET)"})),
                ],
                Exit::with_code(1),
                "network",
            ),
            (vec![told("rejected")], Exit::with_code(1), limit),
            (vec![told("rejected")], idle.clone(), limit),
            (vec![told("rejected"), said], idle, "network"),
        ]
        .map(|(events, exit, expected)| {
            let events = [vec![begin.clone()], events].concat();
            let seen = seen(Kind::Claude, &lines(&events), &exit);
            (events, seen, expected)
        }),
    );
}

#[test]
fn codex_words_its_limits() {
    check(
        [
        (
            "You’ve hit your usage limit. Upgrade to Pro (https://x.y/z), visit https://x.y/u to purchase more credits or try again at 9:26 PM.",
            "usage limit until +6910s",
        ),
        (
            "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://x.y/z), or try again in 2 hours 5 minutes.",
            "usage limit until +7500s",
        ),
        (
            "You've hit your usage limit. Upgrade to Pro or try again in 3 days 2 hours 14 minutes.",
            "usage limit until +267240s",
        ),
        ("You’ve hit your usage limit. Try again at Nov 29th, 2026 12:55 AM.", "usage limit until +1142650s"),
        ("You’ve hit your usage limit. Try again at Dec 1st, 2026 1:05 PM.", "usage limit until +1359250s"),
        (
            "You’ve hit your usage limit for gpt-5.5. Switch to another model, or try again at 11:00 PM.",
            "usage limit until +12550s",
        ),
        ("You've hit your usage limit. Try again later.", "usage limit"),
        ("You've reached your 5-hour message limit. Try again in 42 minutes.", "usage limit until +2520s"),
        ("Your workspace is out of credits. Add credits to continue.", "billing"),
        ("You hit your spend cap set in the workspace. Ask an admin to raise it.", "billing"),
        (
            "Usage not included in your plan. To use Codex with your ChatGPT plan, upgrade to Plus: https://x.y/z.",
            "billing",
        ),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate limited"),
        ("exceeded retry limit, last status: 429 Too Many Requests, request id: 500", "rate limited"),
        ("exceeded retry limit, last status: 503 Service Unavailable", "overloaded"),
        ("stream error: exceeded retry limit, last status: 401 Unauthorized", "not logged in"),
        ("We’re currently experiencing high demand, which may cause temporary errors.", "overloaded"),
        (
            "stream disconnected before completion: Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 1, Used 1, Requested 1. Please try again in 11.054s. Visit https://x.y",
            "rate limited for 11054 ms",
        ),
        (
            "stream disconnected before completion: error sending request for url (https://x.y/v1/responses)",
            "network",
        ),
        (
            "Your authentication session could not be refreshed automatically. Please log out and sign in again.",
            "not logged in",
        ),
    ].map(|(said, expected)| (said, seen(Kind::Codex, &codex(said), &Exit::with_code(1)), expected)),
    );
}

#[test]
fn pi_words_its_failures() {
    check(
        [
        (
            "429: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed your account's rate limit. Please try again later.\"}}",
            "rate limited",
        ),
        (
            "429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Number of request tokens has exceeded your per-minute rate limit\"}}",
            "rate limited",
        ),
        (
            "You have hit your ChatGPT usage limit (plus plan). Try again in ~125 min.",
            "usage limit until +7500s",
        ),
        ("401: {\"error\":{\"message\":\"User not found.\",\"code\":401}}", "not logged in"),
        (
            "402: {\"error\":{\"message\":\"Insufficient credits. Add more using https://x.y\",\"code\":402}}",
            "billing",
        ),
        (
            "403: {\"error\":{\"message\":\"Key limit exceeded (total limit). Manage it using https://x.y\",\"code\":403}}",
            "billing",
        ),
        ("404 model not found", "protocol: 404 model not found"),
        (
            "503: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}",
            "overloaded",
        ),
        ("520: <html><head><title>cloudflare</title></head></html>", "overloaded"),
        ("fetch failed", "network"),
        ("terminated", "network"),
        ("Request timed out.", "network"),
        ("connect ECONNREFUSED 127.0.0.1:9", "network"),
        ("OAuth refresh failed for anthropic: invalid_grant", "not logged in"),
        ("No API key found for openai.", "not logged in"),
    ].map(|(said, expected)| (said, seen(Kind::Pi, &pi(said), &Exit::with_code(0)), expected)),
    );
}

#[test]
fn opencode_words_its_failures() {
    let open = |data: Value| {
        lines(&[
            json!({"type": "error", "sessionID": "s1", "error": {"name": "APIError", "data": data}}),
        ])
    };
    check(
        [
        (
            json!({"statusCode": 429, "message": "slow", "responseHeaders": {"retry-after": "Sun, 15 Nov 2026 19:33:50 GMT"}}),
            "rate limited for 120000 ms",
        ),
        (
            json!({"statusCode": 429, "message": "slow", "responseHeaders": {"retry-after-ms": "1500"}}),
            "rate limited for 1500 ms",
        ),
        (
            json!({"statusCode": 429, "message": "slow", "responseHeaders": {"Retry-After": "1.5"}}),
            "rate limited for 1500 ms",
        ),
        (
            json!({"statusCode": 429, "message": "Too Many Requests", "responseHeaders": {"anthropic-ratelimit-unified-reset": "1794778310", "anthropic-ratelimit-unified-status": "rejected"}}),
            "usage limit until +7200s",
        ),
        (json!({"statusCode": 402, "message": "Payment Required"}), "billing"),
        (json!({"statusCode": 403, "message": "Your credit balance is too low"}), "billing"),
        (json!({"statusCode": 529, "message": "Overloaded"}), "overloaded"),
        (json!({"message": "Unable to connect. Is the computer able to access the url?"}), "network"),
        (json!({"message": "Free usage exceeded, subscribe to Go"}), "usage limit"),
    ].map(|(data, expected)| {
            let seen = seen(Kind::Opencode, &open(data.clone()), &Exit::with_code(1));
            (data, seen, expected)
        }),
    );
}

#[test]
fn gemini_words_its_failures() {
    let gemini = |message: &str| {
        lines(&[
            json!({"type": "result", "status": "error", "error": {"type": "unknown", "message": message}}),
        ])
    };
    check(
        [
        (
            "You have exhausted your capacity on this model. Your quota will reset after 2h5m0s.",
            173,
            "usage limit until +7500s",
        ),
        ("You have exhausted your daily quota on this model.", 173, "usage limit"),
        ("[API Error: Resource has been exhausted (e.g. check quota).]", 173, "rate limited"),
        (
            "[API Error: Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Requests per day per user' of service 'x'. Please retry in 34.07s.]",
            173,
            "rate limited for 34070 ms",
        ),
        ("[API Error: The model is overloaded. Please try again later.]", 247, "overloaded"),
        ("[API Error: exception TypeError: fetch failed sending request]", 1, "network"),
        ("[API Error: Permission denied on resource project x.]", 147, "permission denied"),
        ("[API Error: Model stream ended without a finish reason.]", 1, "network"),
    ].map(|(said, code, expected)| (said, seen(Kind::Gemini, &gemini(said), &Exit::with_code(code)), expected)),
    );
}

/// Tool output, model text and standard error never turn a success or another failure into a limit.
#[test]
fn decoys_are_not_taken() {
    let loud = "You've hit your usage limit. Try again at 9:26 PM. 429 Too Many Requests. Not logged in · Please run /login. \
        Prompt is too long. Claude AI usage limit reached|1794790000";
    let tool = |text: &str| json!({"type": "user", "message": {"content": [{"type": "tool_result", "is_error": true, "content": text}]}});
    let said =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": loud}]}});
    let begin = json!({"type": "system", "subtype": "init", "session_id": "s1"});
    let end = |more: Value| {
        merged(
            json!({"type": "result", "session_id": "s1", "subtype": "success"}),
            more,
        )
    };
    let loudly = |code: i32| Exit {
        stderr_tail: loud.to_owned(),
        ..Exit::with_code(code)
    };
    let codex_tool = json!({"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": loud, "exit_code": 1, "status": "failed"}});
    let codex_error = json!({"type": "item.completed", "item": {"type": "error", "message": loud}});
    let thread = json!({"type": "thread.started", "thread_id": "t1"});
    let turn = json!({"type": "turn.completed", "usage": {"input_tokens": 1}});
    let failed = json!({"type": "turn.failed", "error": {"message": "unexpected status 500 Internal Server Error"}});
    let notice = json!({"type": "error", "message": format!("Reconnecting... 1/5 ({loud})")});
    let message =
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": loud}});
    for (kind, events, exit, expected) in [
        (
            Kind::Claude,
            vec![
                begin.clone(),
                tool(loud),
                said.clone(),
                end(json!({"is_error": false, "result": loud})),
            ],
            loudly(0),
            "done",
        ),
        (
            Kind::Claude,
            vec![
                begin.clone(),
                tool(loud),
                said.clone(),
                end(json!({"is_error": true, "api_error_status": 500, "result": "API Error: 500"})),
            ],
            loudly(1),
            "overloaded",
        ),
        // The turn was cut off, and nothing in the stream shows why.
        (
            Kind::Claude,
            vec![begin.clone(), tool(loud), said.clone()],
            loudly(1),
            "interrupted",
        ),
        (
            Kind::Claude,
            vec![begin, said, tool(loud)],
            Exit {
                ended: Ended::WallTimeout,
                ..loudly(143)
            },
            "failed",
        ),
        (
            Kind::Codex,
            vec![
                thread.clone(),
                codex_tool.clone(),
                codex_error.clone(),
                notice.clone(),
                message.clone(),
                turn.clone(),
            ],
            loudly(0),
            "done",
        ),
        // Nothing came between the retry notice and the end, yet the run succeeded.
        (
            Kind::Codex,
            vec![thread.clone(), message.clone(), notice, turn],
            loudly(0),
            "done",
        ),
        (
            Kind::Codex,
            vec![
                thread.clone(),
                codex_tool,
                codex_error,
                message.clone(),
                failed,
            ],
            loudly(1),
            "overloaded",
        ),
        (Kind::Codex, vec![thread, message], loudly(1), "interrupted"),
    ] {
        assert_eq!(
            seen(kind, &lines(&events), &exit),
            expected,
            "{kind:?}: {events:?}"
        );
    }
}

/// If a stream has two results, the last one counts.
#[test]
fn the_last_of_two_ends_counts() {
    let end = |more: Value| {
        merged(
            json!({"type": "result", "session_id": "s1", "subtype": "success"}),
            more,
        )
    };
    let good = || end(json!({"is_error": false, "result": "ok"}));
    let bad = || {
        end(
            json!({"is_error": true, "api_error_status": 529, "result": "API Error: 529 Overloaded"}),
        )
    };
    let turn = || json!({"type": "turn.completed", "usage": {"input_tokens": 1}});
    let failed = || json!({"type": "turn.failed", "error": {"message": "unexpected status 500 Internal Server Error"}});
    for (kind, events, code, expected) in [
        (Kind::Claude, vec![bad(), good()], 0, "done"),
        (Kind::Claude, vec![good(), bad()], 1, "overloaded"),
        (Kind::Codex, vec![failed(), turn()], 0, "done"),
        (Kind::Codex, vec![turn(), failed()], 1, "overloaded"),
    ] {
        assert_eq!(
            seen(kind, &lines(&events), &Exit::with_code(code)),
            expected,
            "{events:?}"
        );
    }
}

/// The same streams with other line ends, a byte order mark, unknown events and noise in between,
/// and a torn last line give the same results.
#[test]
fn damage_around_a_stream_changes_nothing() {
    for (case, code, expected) in [
        ("claude.success", 0, "done"),
        ("claude.usage_limit_oauth", 1, "usage limit until +18890s"),
        ("claude.pm_rule", 0, "permission denied"),
        ("codex.success", 0, "done"),
        ("codex.usage_limit", 1, "usage limit until +6910s"),
        ("pi.success", 0, "done"),
        ("pi.err429", 0, "rate limited for 8000 ms"),
        ("opencode.success", 0, "done"),
        ("opencode.err500", 1, "overloaded"),
        ("gemini.success", 0, "done"),
        ("gemini.err429", 173, "rate limited for 5000 ms"),
    ] {
        let kind = crate::replay::kind(case);
        let clean = String::from_utf8(stdout(case)).unwrap();
        let noise = "(node:7) Warning: usage limit reached|1794790000\n{\"type\":\"novel_event\",\"error\":\"rate_limit\"}\n";
        let torn = "{\"type\":\"result\",\"is_error\":tr";
        for (name, text) in [
            ("as it is", clean.clone()),
            ("returns", clean.replace('\n', "\r\n")),
            ("a mark", format!("\u{feff}{clean}")),
            (
                "noise",
                clean
                    .lines()
                    .map(|line| format!("{noise}{line}\n"))
                    .collect(),
            ),
            ("a torn line", format!("{clean}{torn}")),
            ("no last newline", clean.trim_end().to_owned()),
            ("empty lines", clean.replace('\n', "\n\n\n")),
        ] {
            assert_eq!(
                seen(kind, &text, &Exit::with_code(code)),
                expected,
                "{case}, {name}"
            );
        }
    }
}

/// Messages for the same few failures, as providers, gateways and libraries word them.
#[test]
fn troubles_go_by_many_names() {
    let rows = [
        (
            "Client network socket disconnected before secure TLS connection was established",
            "network",
        ),
        ("other side closed", "network"),
        ("UND_ERR_SOCKET", "network"),
        ("Headers Timeout Error", "network"),
        ("The operation was aborted due to timeout", "network"),
        ("request ended without sending any chunks", "network"),
        (
            "upstream connect error or disconnect/reset before headers",
            "network",
        ),
        ("write EPIPE: broken pipe", "network"),
        ("tls handshake: unexpected EOF", "network"),
        (
            "peer closed connection without sending complete message body",
            "network",
        ),
        ("getaddrinfo ENOTFOUND api.example.com", "network"),
        (
            "No capacity available for this model on the server",
            "overloaded",
        ),
        (
            "The engine is currently overloaded, please try again later",
            "overloaded",
        ),
        (
            "You're out of usage for today. Your limit will reset at 9pm UTC",
            "usage limit until +5350s",
        ),
        (
            "Daily limit reached, resets in 1 hour",
            "usage limit until +3600s",
        ),
        (
            "Your quota has been exhausted until 2026-11-15T21:00:00Z",
            "usage limit until +5350s",
        ),
        (
            "You have exceeded your monthly included credits. Subscribe to PRO.",
            "billing",
        ),
        ("User is not authenticated", "not logged in"),
        ("Your session has expired, please log in", "not logged in"),
        (
            "API key expired. Please renew the API key.",
            "not logged in",
        ),
        (
            "This model's maximum context length is 128000 tokens. However, you requested 130000.",
            "context overflow",
        ),
        (
            "prompt is too long: 208310 tokens > 200000 maximum",
            "context overflow",
        ),
    ];
    check(rows.map(|(said, expected)| {
        (
            said,
            seen(Kind::Pi, &pi(said), &Exit::with_code(0)),
            expected,
        )
    }));
    check(rows.map(|(said, expected)| {
        (
            said,
            seen(Kind::Codex, &codex(said), &Exit::with_code(1)),
            expected,
        )
    }));
    let failing = |said: &str| claude(json!({"result": said}));
    check(rows.map(|(said, expected)| {
        (
            said,
            seen(Kind::Claude, &failing(said), &Exit::with_code(1)),
            expected,
        )
    }));
}
