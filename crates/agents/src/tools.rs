//! What a tool call changes or plans, by the names that the CLIs give their tools and arguments.

use serde_json::Value;

use crate::json;

/// Tools that change one file and do nothing else, in lower case.
const EDITORS: [&str; 9] = [
    "edit",
    "multiedit",
    "write",
    "notebookedit",
    "patch",
    "replace",
    "write_file",
    "create_file",
    "str_replace",
];

/// Arguments that name the file of such a tool.
const PATH_KEYS: [&str; 4] = ["file_path", "filePath", "path", "notebook_path"];

/// How many files of one call are named.
const FILES_MAX: usize = 50;

/// The file that a call changes, if the tool is one for that.
pub(crate) fn edits(tool: &str, input: &Value) -> Vec<String> {
    if !EDITORS.contains(&tool.to_lowercase().as_str()) {
        return Vec::new();
    }
    let path = PATH_KEYS.iter().find_map(|key| json::text(input, &[key]));
    path.map(str::to_owned).into_iter().collect()
}

/// The files of a list of changes.
pub(crate) fn changed(changes: &[Value]) -> Vec<String> {
    let paths = changes
        .iter()
        .filter_map(|change| json::text(change, &["path"]));
    paths.take(FILES_MAX).map(str::to_owned).collect()
}

/// What a call plans, if the tool is one for that.
pub(crate) fn plan(tool: &str, input: &Value) -> Option<String> {
    match tool.to_lowercase().as_str() {
        "todowrite" | "todo_write" | "write_todos" => steps(json::list(input, &["todos"])),
        "update_plan" => steps(json::list(input, &["plan"])),
        "taskcreate" => json::text(input, &["subject"]).map(str::to_owned),
        _ => None,
    }
}

/// How far a list of steps is, and which one is next. None if there are no steps.
pub(crate) fn steps(steps: &[Value]) -> Option<String> {
    let words = ["content", "text", "description", "step"];
    let n_done = steps.iter().filter(|step| is_done(step)).count();
    let next = steps
        .iter()
        .find(|step| status(step) == "in_progress")
        .or_else(|| steps.iter().find(|step| !is_done(step)));
    let next = next.and_then(|step| words.iter().find_map(|key| json::text(step, &[key])));
    let next = next.map(|next| format!(": {next}")).unwrap_or_default();
    (!steps.is_empty()).then(|| format!("{n_done} of {} done{next}", steps.len()))
}

fn is_done(step: &Value) -> bool {
    matches!(status(step), "completed" | "cancelled")
        || json::boolean(step, &["completed"]) == Some(true)
}

fn status(step: &Value) -> &str {
    json::text(step, &["status"]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_changes_and_plans() {
        for (tool, input, edited, planned) in [
            ("Edit", r#"{"file_path":"a.rs"}"#, "a.rs", ""),
            ("write", r#"{"filePath":"a.rs"}"#, "a.rs", ""),
            ("write", r#"{"path":7}"#, "", ""),
            ("Read", r#"{"file_path":"a.rs"}"#, "", ""),
            (
                "TodoWrite",
                r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"},{"content":"c","status":"in_progress"}]}"#,
                "",
                "1 of 3 done: c",
            ),
            (
                "write_todos",
                r#"{"todos":[{"description":"a","status":"pending"}]}"#,
                "",
                "0 of 1 done: a",
            ),
            (
                "update_plan",
                r#"{"plan":[{"step":"a","status":"completed"}]}"#,
                "",
                "1 of 1 done",
            ),
            ("TodoWrite", r#"{"todos":[]}"#, "", ""),
            ("TodoWrite", "null", "", ""),
            (
                "TaskCreate",
                r#"{"subject":"look around"}"#,
                "",
                "look around",
            ),
        ] {
            let input: Value = serde_json::from_str(input).unwrap();
            assert_eq!(edits(tool, &input).join(" "), edited, "{tool} {input}");
            assert_eq!(
                plan(tool, &input).unwrap_or_default(),
                planned,
                "{tool} {input}"
            );
        }
    }
}
