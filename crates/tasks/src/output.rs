//! Whether a task has made what it must make. Links that lead out of the work tree count for nothing.

use std::fs;
use std::path::{Component, Path};

use crate::board::Task;
use crate::error::Refusal;

/// The first output of a task that is missing, empty or elsewhere.
pub fn missing_output(root: &Path, task: &Task) -> Option<Refusal> {
    let found = |output: &String| {
        Some(Refusal::Output {
            task: task.id.clone(),
            output: output.clone(),
            why: trouble(root, output)?,
        })
    };
    task.outputs.iter().find_map(found)
}

fn trouble(root: &Path, output: &str) -> Option<&'static str> {
    const OUTSIDE: &str = "which is outside the work tree";
    const MISSING: &str = "which does not exist";
    let path = Path::new(output);
    let mut parts = path.components();
    if !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Some(OUTSIDE);
    }
    let Ok(whole) = fs::canonicalize(root.join(path)) else {
        return Some(MISSING);
    };
    if !whole.starts_with(root) {
        return Some(OUTSIDE);
    }
    let Ok(found) = fs::metadata(&whole) else {
        return Some(MISSING);
    };
    if found.is_dir() {
        let is_empty = fs::read_dir(&whole).map_or(true, |mut entries| entries.next().is_none());
        return is_empty.then_some("which is an empty folder");
    }
    // Whether a device or a pipe is empty cannot be told without waiting for it.
    if !found.is_file() {
        return Some("which is neither a file nor a folder");
    }
    (found.len() == 0).then_some("which is empty")
}
