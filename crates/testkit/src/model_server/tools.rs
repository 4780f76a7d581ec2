//! Finds the tools that a client declared, and builds calls of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::step::Action;

/// The tools of a request by name, each with its declaration.
pub(super) type Declared = BTreeMap<String, Value>;

/// A call of a tool.
pub(super) struct Call {
    pub(super) name: String,
    /// An object, or a string for tools that take free text.
    pub(super) arguments: Value,
}

/// The names that clients have for their shell tool. If a client declares several, the first one
/// here is used.
const SHELLS: [&str; 7] = [
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "Bash",
    "bash",
    "run_shell_command",
];
/// The names that clients have for their tool that writes a file.
const WRITERS: [&str; 4] = ["Write", "write", "write_file", "create_file"];

/// Reads the tools that a request declares, in whichever API: in a flat list, inside `function`,
/// inside `functionDeclarations`, or in the input, where codex puts the tools of models that call
/// them from programs.
pub(super) fn declared(body: &Value) -> Declared {
    let mut found = Declared::new();
    let in_input = list(&body["input"])
        .iter()
        .filter(|item| item["type"] == "additional_tools");
    let sources = std::iter::once(&body["tools"]).chain(in_input.map(|item| &item["tools"]));
    for tool in sources.flat_map(list) {
        collect(tool, &mut found);
    }
    found
}

fn collect(tool: &Value, found: &mut Declared) {
    let inner = ["functionDeclarations", "function_declarations", "tools"]
        .into_iter()
        .find(|key| tool[key].is_array());
    if let Some(key) = inner {
        for tool in list(&tool[key]) {
            collect(tool, found);
        }
        return;
    }
    let tool = if tool["function"].is_object() {
        &tool["function"]
    } else {
        tool
    };
    if let Some(name) = tool["name"].as_str().or_else(|| tool["type"].as_str()) {
        found.entry(name.to_owned()).or_insert_with(|| tool.clone());
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The parameters of a tool, under any of the names that the APIs have for them.
fn parameters(tool: &Value) -> &Value {
    let keys = ["parameters", "parametersJsonSchema", "input_schema"];
    keys.into_iter()
        .map(|key| &tool[key])
        .find(|value| value.is_object())
        .unwrap_or(&Value::Null)
}

/// Whether a tool takes free text.
pub(super) fn is_custom(declared: &Declared, name: &str) -> bool {
    declared
        .get(name)
        .is_some_and(|tool| tool["type"] == "custom")
}

/// Turns a step into a call of one of the client's tools.
pub(super) fn choose(action: &Action, declared: &Declared) -> Option<Call> {
    match action {
        Action::Tool { name, arguments } => Some(Call {
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        Action::Shell(command) => Some(shell(command, declared)),
        Action::Write { path, content } => Some(write(path, content, declared)),
        Action::Text(_)
        | Action::Status { .. }
        | Action::Fault(_)
        | Action::StreamFault(_)
        | Action::Hang
        | Action::Drop => None,
    }
}

fn shell(command: &str, declared: &Declared) -> Call {
    let known = SHELLS.into_iter().find(|name| declared.contains_key(*name));
    // Some models of codex have no shell tool of their own. They call one from a small program,
    // which the free-text tool `exec` runs.
    if known.is_none_or(|name| name != "exec_command") && is_custom(declared, "exec") {
        let program = format!(
            "const r = await tools.exec_command({}); text(r);",
            json!({"cmd": command})
        );
        return Call {
            name: "exec".to_owned(),
            arguments: Value::from(program),
        };
    }
    let name = known.unwrap_or("bash");
    let schema = declared.get(name).map_or(&Value::Null, parameters);
    let properties = &schema["properties"];
    // Clients disagree about the parameter, so the declared schema decides.
    let mut arguments = if name == "local_shell" || properties["command"]["type"] == "array" {
        json!({"command": ["bash", "-lc", command]})
    } else if properties["cmd"].is_object() {
        json!({"cmd": command})
    } else {
        json!({"command": command})
    };
    if list(&schema["required"])
        .iter()
        .any(|name| name == "description")
    {
        arguments["description"] = Value::from("scripted");
    }
    Call {
        name: name.to_owned(),
        arguments,
    }
}

fn write(path: &str, content: &str, declared: &Declared) -> Call {
    let Some(name) = WRITERS
        .into_iter()
        .find(|name| declared.contains_key(*name))
    else {
        // `printf %s` and not `echo`, which would add a newline and may interpret backslashes.
        let command = format!("printf %s {} > {}", quoted(content), quoted(path));
        return shell(&command, declared);
    };
    let properties = &declared.get(name).map_or(&Value::Null, parameters)["properties"];
    let keys = ["file_path", "filePath", "path", "absolute_path"];
    let key = keys
        .into_iter()
        .find(|key| properties[key].is_object())
        .unwrap_or("path");
    Call {
        name: name.to_owned(),
        arguments: json!({ key: path, "content": content }),
    }
}

/// Quotes a text for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
