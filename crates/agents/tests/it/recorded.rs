//! Streams recorded from the real CLIs, decoys included, each with the outcome it must give.

use std::collections::BTreeSet;

use agents::{Ended, Exit, Tokens};

use crate::replay::{cases, replay, word};

fn code(code: i32) -> Exit {
    Exit::with_code(code)
}

fn stopped(signal: i32) -> Exit {
    Exit::with_signal(signal, Ended::Stopped)
}

/// The end of a program that turned our signal into an exit code.
fn stopped_with(code: i32) -> Exit {
    Exit {
        ended: Ended::Stopped,
        ..Exit::with_code(code)
    }
}

type Row = (&'static str, Exit, &'static str);

fn table() -> Vec<Row> {
    [acp(), claude(), codex(), others()].concat()
}

/// Streams that our ACP client recorded of other agents.
fn acp() -> Vec<Row> {
    vec![
        ("acp.claude_ctxoverflow", code(3), "context overflow"),
        ("acp.claude_decoy", code(0), "done"),
        ("acp.claude_err401", code(3), "not logged in"),
        ("acp.claude_err429", code(3), "rate limited"),
        ("acp.claude_err500", code(3), "overloaded"),
        ("acp.claude_success", code(0), "done"),
        ("acp.codex_ctxoverflow", code(0), "context overflow"),
        ("acp.codex_decoy", code(0), "done"),
        ("acp.codex_err401", code(3), "not logged in"),
        ("acp.codex_err429", code(0), "rate limited"),
        ("acp.codex_err500", code(0), "overloaded"),
        ("acp.codex_late_err429", code(0), "rate limited"),
        ("acp.codex_short_decoy", code(0), "done"),
        ("acp.codex_success", code(0), "done"),
        ("acp.codex_usage_limit", code(3), "usage limit until +6910s"),
        ("acp.gemini_err429", code(3), "rate limited for 5000 ms"),
        ("acp.gemini_success", code(0), "done"),
        ("acp.opencode_asks", code(0), "done"),
        ("acp.opencode_err429", code(3), "rate limited for 8000 ms"),
        ("acp.opencode_success", code(0), "done"),
    ]
}

fn claude() -> Vec<Row> {
    vec![
        ("claude.budget", code(1), "failed"),
        ("claude.ctxoverflow", code(1), "context overflow"),
        ("claude.decoy", code(0), "done"),
        ("claude.down", code(1), "network"),
        ("claude.err401", code(1), "not logged in"),
        ("claude.err429", code(1), "rate limited"),
        ("claude.err429_oauth", code(1), "rate limited"),
        ("claude.err500", code(1), "overloaded"),
        ("claude.maxturns", code(1), "failed"),
        ("claude.nokey", code(1), "not logged in"),
        ("claude.pm_dontAsk", code(0), "permission denied"),
        ("claude.pm_rule", code(0), "permission denied"),
        ("claude.resume", code(0), "done"),
        ("claude.schema", code(0), "done"),
        ("claude.schema_bad", code(0), "done"),
        ("claude.sigint_tool", code(0), "interrupted"),
        ("claude.sigterm_stream", code(143), "interrupted"),
        ("claude.sigterm_tool", code(143), "interrupted"),
        ("claude.success", code(0), "done"),
        ("claude.toolerror", code(0), "done"),
        ("claude.usage_limit_apikey", code(1), "rate limited"),
        (
            "claude.usage_limit_oauth",
            code(1),
            "usage limit until +18890s",
        ),
    ]
}

fn codex() -> Vec<Row> {
    vec![
        ("codex.apply_patch", code(0), "done"),
        ("codex.ctxoverflow", code(1), "context overflow"),
        ("codex.decoy", code(0), "done"),
        (
            "codex.down",
            Exit::with_signal(9, Ended::WallTimeout),
            "network",
        ),
        ("codex.down", Exit::with_signal(9, Ended::Itself), "network"),
        ("codex.err401", code(1), "not logged in"),
        ("codex.err429", code(1), "rate limited"),
        ("codex.err500", code(1), "overloaded"),
        ("codex.nokey", code(1), "not logged in"),
        ("codex.resume", code(0), "done"),
        ("codex.schema_bad", code(0), "done"),
        ("codex.sigint_tool", code(1), "interrupted"),
        ("codex.sigint_tool", stopped_with(1), "interrupted"),
        ("codex.sigterm_stream", stopped(15), "interrupted"),
        (
            "codex.sigterm_tool",
            Exit::with_signal(15, Ended::Itself),
            "interrupted",
        ),
        ("codex.success", code(0), "done"),
        ("codex.toolerror", code(0), "done"),
        ("codex.usage_limit", code(1), "usage limit until +6910s"),
    ]
}

fn others() -> Vec<Row> {
    vec![
        ("gemini.ctxoverflow", code(144), "context overflow"),
        // The exit code shows no failure, and the result does not say why it failed.
        ("gemini.drop", code(0), "network"),
        ("gemini.err401", code(145), "not logged in"),
        ("gemini.err401", code(144), "not logged in"),
        ("gemini.err429", code(173), "rate limited for 5000 ms"),
        ("gemini.err500", code(244), "overloaded"),
        ("gemini.nokey", code(41), "not logged in"),
        ("gemini.resume", code(0), "done"),
        ("gemini.sigint_tool", stopped(9), "interrupted"),
        ("gemini.sigterm_stream", stopped_with(0), "interrupted"),
        ("gemini.sigterm_tool", stopped(9), "interrupted"),
        ("gemini.success", code(0), "done"),
        ("gemini.toolerror", code(0), "done"),
        // It loops forever. It is not done, even if it is ended right after it compacted its
        // session.
        (
            "opencode.ctxoverflow",
            Exit::with_signal(9, Ended::WallTimeout),
            "context overflow",
        ),
        (
            "opencode.ctxoverflow",
            Exit::with_signal(9, Ended::IdleTimeout),
            "context overflow",
        ),
        (
            "opencode.ctxoverflow",
            Exit::with_signal(9, Ended::WentRound),
            "context overflow",
        ),
        ("opencode.ctxoverflow", stopped(15), "interrupted"),
        // After a broken stream the reason is `unknown`, and it retries forever.
        (
            "opencode.drop",
            Exit::with_signal(9, Ended::WallTimeout),
            "network",
        ),
        (
            "opencode.nokey",
            code(1),
            "protocol: ProviderModelNotFoundError: Model not found: openai/gpt-5. Did you mean: gpt-5, gpt-5.6, gpt-5.1?",
        ),
        // It retries silently; only its log shows it.
        (
            "opencode.retrying",
            Exit::with_signal(9, Ended::IdleTimeout),
            "rate limited for 8000 ms",
        ),
        (
            "opencode.overloaded",
            Exit::with_signal(9, Ended::WallTimeout),
            "overloaded",
        ),
        // It compacted its session and then succeeded, but its exit code is 1.
        ("opencode.recovered", code(1), "done"),
        (
            "opencode.recovered",
            Exit::with_signal(15, Ended::Itself),
            "interrupted",
        ),
        ("opencode.err401", code(1), "not logged in"),
        ("opencode.err429", code(1), "rate limited for 8000 ms"),
        ("opencode.err500", code(1), "overloaded"),
        ("opencode.resume", code(0), "done"),
        (
            "opencode.sigint_tool",
            Exit::with_signal(2, Ended::Itself),
            "interrupted",
        ),
        ("opencode.sigterm_stream", stopped(15), "interrupted"),
        ("opencode.sigterm_tool", stopped(15), "interrupted"),
        ("opencode.success", code(0), "done"),
        ("opencode.toolerror", code(0), "done"),
        ("pi.ctxoverflow", code(0), "context overflow"),
        ("pi.decoy", code(0), "done"),
        ("pi.err401", code(0), "not logged in"),
        ("pi.err429", code(0), "rate limited for 8000 ms"),
        ("pi.err500", code(0), "overloaded"),
        ("pi.nokey", code(1), "not logged in"),
        (
            "pi.sigint_tool",
            Exit::with_signal(2, Ended::Itself),
            "interrupted",
        ),
        ("pi.sigterm_stream", code(143), "interrupted"),
        ("pi.sigterm_tool", stopped_with(143), "interrupted"),
        ("pi.success", code(0), "done"),
        ("pi.toolerror", code(0), "done"),
    ]
}

#[test]
fn every_recorded_stream_is_taken_for_what_it_is() {
    for (case, exit, expected) in table() {
        let summary = replay(case, exit.clone());
        assert_eq!(
            word(&summary.outcome),
            expected,
            "{case} with {exit:?}: {:?}",
            summary.message
        );
        assert_eq!(summary.n_unknown_events, 0, "{case}");
        assert_eq!(summary.n_strange_lines, 0, "{case}");
        let names_a_session = ![
            "opencode.sigterm_stream",
            "opencode.retrying",
            "gemini.nokey",
        ]
        .contains(&case);
        assert_eq!(summary.session.is_some(), names_a_session, "{case}");
    }
}

#[test]
fn no_recording_is_left_out() {
    let listed: BTreeSet<String> = table()
        .into_iter()
        .map(|(case, ..)| case.to_owned())
        .collect();
    let entries = std::fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let names = entries.filter_map(|name| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned()));
    let missing: Vec<String> = names.filter(|name| !listed.contains(name)).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_success_tells_what_was_done() {
    let told = |case: &str| {
        let summary = replay(case, code(0));
        let Tokens {
            input,
            cached,
            output,
        } = summary.usage.tokens.unwrap();
        let calls: Vec<String> = summary
            .tool_calls
            .iter()
            .map(|call| format!("{} {:?}", call.tool, call.failed))
            .collect();
        let answer = summary.answer.unwrap_or_default();
        format!(
            "{answer} | {} | {input} {cached} {output} | {:?}",
            calls.join(", "),
            summary.usage.cost_micro_usd
        )
    };
    for (case, expected) in [
        (
            "codex.success",
            "All done: hello.txt created. | command_execution Some(false) | 2000 400 60 | None",
        ),
        (
            "codex.toolerror",
            "The tool failed. | command_execution Some(true) | 2000 400 60 | None",
        ),
        (
            "codex.apply_patch",
            "ok | file_change Some(false) | 2000 400 60 | None",
        ),
        (
            "claude.success",
            "All done: hello.txt created. | Bash Some(false) | 2000 400 60 | Some(7020)",
        ),
        (
            "claude.toolerror",
            "The tool failed. | Bash Some(true) | 2000 400 60 | Some(7020)",
        ),
        (
            "claude.schema",
            "{\"verdict\":\"approve\",\"notes\":\"fine\"} | StructuredOutput Some(false) | 1000 200 30 | Some(3510)",
        ),
        (
            "claude.schema_bad",
            "still not json | StructuredOutput Some(true) | 3000 600 90 | Some(10530)",
        ),
        (
            "acp.codex_success",
            "All done. | exec_command Some(false) | 2000 400 60 | None",
        ),
        (
            "acp.claude_success",
            "All done. | Bash Some(false) | 2000 400 60 | Some(7020)",
        ),
        (
            "acp.gemini_success",
            "All done. | execute Some(false) | 2400 0 60 | None",
        ),
        // Over ACP opencode reports only the tokens of its last request.
        (
            "acp.opencode_success",
            "All done. | execute Some(false) | 1000 200 30 | None",
        ),
        (
            "pi.success",
            "All done: hello.txt created. | bash Some(false) | 2000 400 60 | Some(2160)",
        ),
        (
            "pi.toolerror",
            "The tool failed. | bash Some(true) | 2000 400 60 | Some(2160)",
        ),
        (
            "opencode.success",
            "All done: hello.txt created. | bash Some(false) | 2000 400 60 | None",
        ),
        (
            "opencode.toolerror",
            "The tool failed. | bash Some(true) | 2000 400 60 | None",
        ),
        (
            "gemini.success",
            "All done: hello.txt created. | run_shell_command Some(false) | 2000 400 60 | None",
        ),
    ] {
        assert_eq!(told(case), expected, "{case}");
    }
}

/// Both runs of the resumed session used the same: 1000 input tokens, 200 cached, 30 output.
#[test]
fn a_resumed_session_is_counted_once() {
    for (case, cost) in [("codex", None), ("claude", Some(3510))] {
        let first = match case {
            "codex" => replay("codex.schema_bad", code(0)).usage,
            _ => agents::Usage::default(),
        };
        let second = replay(&format!("{case}.resume"), code(0))
            .usage
            .beyond(&first);
        assert_eq!(
            second.tokens,
            Some(Tokens {
                input: 1000,
                cached: 200,
                output: 30
            }),
            "{case}"
        );
        assert_eq!(second.cost_micro_usd, cost, "{case}");
    }
}

#[test]
fn i02_only_a_run_that_is_done_has_an_answer() {
    for (case, exit, expected) in table() {
        let answer = replay(case, exit).answer;
        assert!(expected == "done" || answer.is_none(), "{case}: {answer:?}");
    }
}
