//! What agents did, read from their streams while they come: the same whatever the CLI, and however
//! the bytes are cut.

use std::fmt::Write as _;

use agents::{Activity, Kind, Reader};
use testkit::Random;

use crate::replay::{cases, kind, stdout};

fn streams() -> Vec<(String, Kind, Vec<u8>)> {
    let entries = std::fs::read_dir(cases()).unwrap();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".jsonl").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let bytes = stdout(&name);
            (name.clone(), kind(&name), bytes)
        })
        .collect()
}

fn read(kind: Kind, chunks: &[&[u8]]) -> Vec<Activity> {
    let mut reader = Reader::new(kind);
    let mut all: Vec<Activity> = chunks.iter().flat_map(|chunk| reader.feed(chunk)).collect();
    all.extend(reader.finish());
    all
}

fn line(activity: &Activity) -> String {
    match activity {
        Activity::Said { text } => format!("said {text:?}"),
        Activity::ToolStarted { tool, target } => format!("started {tool} {target:?}"),
        Activity::ToolEnded { tool, ok } => format!("ended {tool} ok={ok}"),
        Activity::Edited { path } => format!("edited {path}"),
        Activity::Planned { text } => format!("planned {text:?}"),
        Activity::Used {
            tokens,
            cost_micro_usd,
        } => format!("used {tokens:?} {cost_micro_usd:?}"),
        Activity::Troubled { why } => format!("troubled {why:?}"),
    }
}

fn lines(activities: &[Activity]) -> String {
    activities
        .iter()
        .map(|activity| line(activity) + "\n")
        .collect()
}

#[test]
fn every_recorded_stream_is_read() {
    let mut told = String::new();
    for (name, kind, bytes) in streams() {
        let _ = writeln!(told, "== {name}\n{}", lines(&read(kind, &[&bytes])));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn how_the_bytes_are_cut_makes_no_difference() {
    for (index, (name, kind, bytes)) in streams().into_iter().enumerate() {
        let whole = read(kind, &[&bytes]);
        let mut random = Random::new(index as u64);
        for bytes_max in [1, 7, 100, 4000] {
            let mut chunks: Vec<&[u8]> = Vec::new();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at((1 + random.below(bytes_max)).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            let cut = read(kind, &chunks);
            assert_eq!(
                lines(&cut),
                lines(&whole),
                "{name} in pieces of {bytes_max}"
            );
        }
    }
}

/// Edits and plans are in no recording of the real CLIs but codex; these lines follow their sources.
#[test]
fn edits_and_plans_are_told() {
    let rows = [
        (
            Kind::Claude,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/a.rs"}},{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"/w/b.rs"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true},{"type":"tool_result","tool_use_id":"t1"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t3","name":"TodoWrite","input":{"todos":[{"content":"look","status":"in_progress"}]}}]}}"#,
            "started Edit \"/w/a.rs\"\nstarted Write \"/w/b.rs\"\nended Write ok=false\nended Edit ok=true\nedited /w/a.rs\nstarted TodoWrite \"\"\nplanned \"0 of 1 done: look\"\n",
        ),
        (
            Kind::Codex,
            r#"{"type":"item.started","item":{"id":"i1","type":"todo_list","items":[{"text":"look","completed":false}]}}
{"type":"item.updated","item":{"id":"i1","type":"todo_list","items":[{"text":"look","completed":true}]}}"#,
            "planned \"0 of 1 done: look\"\nplanned \"1 of 1 done\"\n",
        ),
        (
            Kind::Pi,
            r#"{"type":"tool_execution_start","toolCallId":"c","toolName":"edit","args":{"path":"a.rs"}}
{"type":"tool_execution_end","toolCallId":"c","toolName":"edit","isError":false}"#,
            "started edit \"a.rs\"\nended edit ok=true\nedited a.rs\n",
        ),
        (
            Kind::Opencode,
            r#"{"type":"tool_use","part":{"tool":"write","state":{"status":"completed","input":{"filePath":"a.rs"}}}}
{"type":"tool_use","part":{"tool":"todowrite","state":{"status":"completed","input":{"todos":[{"content":"look","status":"completed"}]}}}}"#,
            "started write \"a.rs\"\nended write ok=true\nedited a.rs\nstarted todowrite \"\"\nplanned \"1 of 1 done\"\nended todowrite ok=true\n",
        ),
        (
            Kind::Gemini,
            r#"{"type":"message","role":"assistant","content":"I wr","delta":true}
{"type":"message","role":"assistant","content":"ite.","delta":true}
{"type":"tool_use","tool_name":"write_file","tool_id":"w","parameters":{"file_path":"a.rs"}}
{"type":"tool_result","tool_id":"w","status":"success"}"#,
            "said \"I write.\"\nstarted write_file \"a.rs\"\nended write_file ok=true\nedited a.rs\n",
        ),
        (
            Kind::Acp,
            r#"{"type":"planned","steps":[{"content":"look","status":"pending"}]}
{"type":"tool_started","id":"1","tool":"edit","detail":"Edit a.rs","edits":["a.rs"]}
{"type":"tool_started","id":"2","tool":"execute","detail":"ls"}
{"type":"tool_ended","id":"2","failed":false}
{"type":"tool_ended","id":"1","failed":false}"#,
            "planned \"0 of 1 done: look\"\nstarted edit \"Edit a.rs\"\nstarted execute \"ls\"\nended execute ok=true\nended edit ok=true\nedited a.rs\n",
        ),
        (
            Kind::Command,
            "{\"type\":\"text\"}\n\nplain \u{1b}[2J words\nand no end",
            "said \"{\\\"type\\\":\\\"text\\\"}\"\nsaid \"plain \\u{1b}[2J words\"\nsaid \"and no end\"\n",
        ),
        (
            Kind::Claude,
            "Error: cannot find module\n{\"half\":",
            "said \"Error: cannot find module\"\nsaid \"{\\\"half\\\":\"\n",
        ),
    ];
    for (kind, stream, expected) in rows {
        let told = lines(&read(kind, &[stream.as_bytes()]));
        assert_eq!(told, expected, "{}", kind.word());
    }
}

/// Every CLI's own lines for one call, `{n}` being what differs between calls, and its result `{r}`.
#[test]
fn an_agent_that_goes_round_is_noticed() {
    let rows = [
        (
            Kind::Claude,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t{n}","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t{n}","content":"{r}"}]}}
"#,
        ),
        (
            Kind::Codex,
            r#"{"type":"item.started","item":{"id":"i{n}","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"i{n}","type":"command_execution","command":"ls","aggregated_output":"{r}","status":"completed"}}
"#,
        ),
        (
            Kind::Pi,
            r#"{"type":"tool_execution_start","toolCallId":"c{n}","toolName":"bash","args":{"command":"ls"}}
{"type":"tool_execution_end","toolCallId":"c{n}","result":{"content":[{"text":"{r}"}]},"isError":false}
"#,
        ),
        (
            Kind::Opencode,
            r#"{"type":"tool_use","timestamp":{n},"part":{"id":"p{n}","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"{r}"}}}
"#,
        ),
        (
            Kind::Gemini,
            r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"w{n}","parameters":{"command":"ls"}}
{"type":"tool_result","tool_id":"w{n}","status":"success","output":"{r}"}
"#,
        ),
    ];
    for (kind, lines) in rows {
        let goes_round = |n_calls: usize, result: &dyn Fn(usize) -> String| {
            let mut reader = Reader::new(kind);
            for n in 0..n_calls {
                let lines = lines.replace("{n}", &n.to_string());
                reader.feed(lines.replace("{r}", &result(n)).as_bytes());
            }
            reader.goes_round()
        };
        let same = |_| "same".to_owned();
        assert!(
            goes_round(30, &same) && !goes_round(29, &same),
            "{}",
            kind.word()
        );
        assert!(!goes_round(60, &|n| n.to_string()), "{}", kind.word());
        // All arguments count; of a command codex tells only one.
        let other = match kind {
            Kind::Codex => "\"ls {n}\"",
            _ => "\"ls\",\"more\":\"{n}\"",
        };
        let edits = lines.replace("\"ls\"", other);
        let mut reader = Reader::new(kind);
        for n in 0..60 {
            let lines = edits.replace("{n}", &n.to_string());
            reader.feed(lines.replace("{r}", "same").as_bytes());
        }
        assert!(!reader.goes_round(), "{} with other arguments", kind.word());
    }
    // What it does when its session is too long for the model, without end.
    let overflow = stdout("opencode.ctxoverflow");
    let mut reader = Reader::new(Kind::Opencode);
    for _ in 0..6 {
        assert!(!reader.goes_round());
        reader.feed(&overflow);
    }
    assert!(reader.goes_round());
}

#[test]
fn no_recorded_stream_goes_round() {
    for (name, kind, bytes) in streams() {
        let mut reader = Reader::new(kind);
        reader.feed(&bytes);
        assert!(!reader.goes_round(), "{name}");
    }
}

#[test]
fn a_huge_line_is_left_out_and_huge_words_are_cut() {
    const BYTES: usize = 3 * 1024 * 1024;
    let huge = "x".repeat(BYTES);
    let stream = format!("{{\"type\":\"agent_end\",\"all\":\"{huge}\"}}\nafter\n");
    assert_eq!(
        lines(&read(Kind::Pi, &[stream.as_bytes()])),
        "said \"after\"\n"
    );
    let words = format!(
        "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{}\"}}}}\n",
        &huge[..BYTES / 3]
    );
    let told = read(Kind::Codex, &[words.as_bytes()]);
    let [Activity::Said { text }] = &told[..] else {
        panic!("{}", told.len());
    };
    assert!(text.len() < 20_000 && text.ends_with('…'));
}
