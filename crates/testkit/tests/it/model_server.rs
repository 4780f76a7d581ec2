//! The scripted model server, tested over a plain socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::{Fault, ModelServer, Step};

fn address(server: &ModelServer) -> String {
    server.url().strip_prefix("http://").unwrap().to_owned()
}

/// Sends a request and returns everything that comes back.
fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(address(server)).unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages?beta=true";
const GEMINI: &str = "/v1beta/models/m:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

/// A request that declares a shell tool, in each API.
fn request(path: &str, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tools = match path {
        CHAT => json!([{"type": "function", "function": {"name": "bash", "parameters": schema}}]),
        MESSAGES => json!([{"name": "Bash", "input_schema": schema}]),
        GEMINI | GEMINI_STREAM => {
            json!([{"functionDeclarations": [{"name": "run_shell_command", "parameters": schema}]}])
        }
        _ => {
            json!([{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}}])
        }
    };
    json!({"model": "m", "stream": stream, "tools": tools})
}

#[test]
fn every_language_is_spoken() {
    for (path, stream, call) in [
        (RESPONSES, true, "{\\\"cmd\\\":\\\"ls\\\"}"),
        (RESPONSES, false, "{\\\"cmd\\\":\\\"ls\\\"}"),
        (CHAT, true, "{\\\"command\\\":\\\"ls\\\"}"),
        (CHAT, false, "{\\\"command\\\":\\\"ls\\\"}"),
        (MESSAGES, true, "{\\\"command\\\":\\\"ls\\\"}"),
        (MESSAGES, false, "{\"command\":\"ls\"}"),
        (GEMINI, false, "{\"command\":\"ls\"}"),
        (GEMINI_STREAM, false, "{\"command\":\"ls\"}"),
    ] {
        let server = ModelServer::start(vec![
            Step::shell("ls"),
            Step::text("all well").using(7, 2, 5),
        ]);
        let first = post(&server, path, &request(path, stream));
        assert!(first.contains(call), "{path}: {first}");
        let second = post(&server, path, &request(path, stream));
        assert!(
            second.starts_with("HTTP/1.1 200 ") && second.contains("all well"),
            "{path}: {second}"
        );
        let is_stream = stream || path == GEMINI_STREAM;
        assert_eq!(second.contains("text/event-stream"), is_stream, "{path}");
        let third = post(&server, path, &request(path, stream));
        assert!(third.contains("done."), "{path}: after the script");
        let taken: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.step_index)
            .collect();
        assert_eq!(taken, [Some(0), Some(1), None], "{path}");
    }
}

#[test]
fn a_failure_is_put_as_its_maker_puts_it() {
    for (path, fault, status, words) in [
        (RESPONSES, Fault::Unauthorized, 401, "invalid_api_key"),
        (
            RESPONSES,
            Fault::UsageLimit { resets_at_secs: 77 },
            429,
            "\"resets_at\":77",
        ),
        (CHAT, Fault::RateLimit, 429, "try again in 8s"),
        (CHAT, Fault::ContextOverflow, 400, "context_length_exceeded"),
        (MESSAGES, Fault::Overloaded, 529, "overloaded_error"),
        (
            MESSAGES,
            Fault::UsageLimit { resets_at_secs: 77 },
            429,
            "anthropic-ratelimit-unified-reset: 77",
        ),
        (MESSAGES, Fault::Quota, 400, "credit balance"),
        (GEMINI, Fault::RateLimit, 429, "retryDelay"),
        (GEMINI, Fault::Unauthorized, 400, "API_KEY_INVALID"),
    ] {
        let server = ModelServer::start(vec![
            Step::fault(fault)
                .with_header("retry-after", "9")
                .repeated(),
        ]);
        for _ in 0..2 {
            let answer = post(&server, path, &request(path, true));
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{path}: {answer}"
            );
            assert!(
                answer.contains(words) && answer.contains("retry-after: 9"),
                "{path}: {answer}"
            );
        }
    }
}

#[test]
fn a_stream_breaks() {
    for (path, begun) in [
        (RESPONSES, "response.created"),
        (CHAT, "chat.completion.chunk"),
        (MESSAGES, "message_start"),
    ] {
        let steps = vec![Step::cut(), Step::stream_fault(Fault::Overloaded)];
        let server = ModelServer::start(steps);
        let cut = post(&server, path, &request(path, true));
        assert!(
            cut.contains(begun) && !cut.contains("overloaded"),
            "{path}: {cut}"
        );
        let failed = post(&server, path, &request(path, true));
        assert!(
            failed.contains("200 OK") && failed.contains(begun) && failed.contains("overloaded"),
            "{path}: {failed}"
        );
    }
}

#[test]
fn a_request_without_tools_takes_no_step() {
    let server = ModelServer::start(vec![Step::status(418, "short and stout")]);
    let aside = post(&server, CHAT, &json!({"model": "m"}));
    assert!(aside.contains("scripted"), "{aside}");
    assert!(post(&server, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
    let answer = post(&server, CHAT, &request(CHAT, false));
    assert!(
        answer.starts_with("HTTP/1.1 418 ") && answer.ends_with("short and stout"),
        "{answer}"
    );
}

#[test]
fn a_file_is_written_by_the_clients_own_tool_or_by_its_shell() {
    let server = ModelServer::start(vec![Step::write("a.txt", "it's").repeated()]);
    let shell = post(&server, CHAT, &request(CHAT, false));
    assert!(shell.contains("printf %s"), "{shell}");
    let writer = json!([{"name": "Write", "input_schema": {"properties": {"file_path": {}}}}]);
    let written = post(&server, MESSAGES, &json!({"tools": writer}));
    assert!(written.contains("\"file_path\":\"a.txt\""), "{written}");
}

#[test]
fn a_hanging_answer_ends_with_the_server() {
    let server = ModelServer::start(vec![Step::hang()]);
    let mut stream = TcpStream::connect(address(&server)).unwrap();
    let body = request(MESSAGES, true).to_string();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 64];
    assert!(stream.read(&mut first).unwrap() > 0);
    let at = address(&server);
    drop(server);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(
        rest.contains(": ping") || rest.contains("message_start"),
        "{rest}"
    );
    // The port is free again once the accepting thread has ended.
    while TcpStream::connect(&at).is_ok() {
        std::thread::yield_now();
    }
}

#[test]
fn a_body_in_chunks_is_read() {
    let server = ModelServer::start(vec![Step::text("all well")]);
    let mut stream = TcpStream::connect(address(&server)).unwrap();
    let body = request(CHAT, false).to_string();
    let (first, second) = body.split_at(10);
    let chunks = format!(
        "{:x}\r\n{first}\r\n{:x};x=y\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    let head = format!("POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("all well"), "{answer}");
}
