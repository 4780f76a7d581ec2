//! `task complete` from inside a jail, where no state folder is: a request in a folder that whoever
//! keeps the jail looks at. It answers for the task that the agent holds, and for nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tasks::Force;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Names the folder, in a jail only.
const VARIABLE: &str = "LOOPWRIGHT_TASK_REQUESTS";

/// How long an answer may take. Whoever keeps the jail looks several times a second.
const WAIT_MAX: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);

/// The folder for requests, if we are in a jail.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(VARIABLE)?;
    Some(PathBuf::from(folder)).filter(|folder| folder.is_dir())
}

/// What needs the store cannot be done in a jail.
pub(super) fn refuse_inside_jail() -> Result<(), Failure> {
    match folder() {
        None => Ok(()),
        Some(_) => Err(Failure::bad_input(
            "inside a jail only `loopwright task complete ID` works, for the task that you hold",
        )),
    }
}

pub(super) fn complete(
    folder: &Path,
    id: &str,
    force: Force,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if force == Force::Yes {
        return Err(Failure::bad_input("an agent in a jail cannot force"));
    }
    let failed = |error: std::io::Error| Failure::environment("cannot ask for it", &error);
    let name = format!("complete-{}", std::process::id());
    let (request, answer) = (
        folder.join(format!("{name}.request")),
        folder.join(format!("{name}.answer")),
    );
    let scratch = folder.join(format!("{name}.new"));
    fs::write(&scratch, json!({ "task": id }).to_string())
        .and_then(|()| fs::rename(&scratch, &request))
        .map_err(failed)?;
    let began = Instant::now();
    while began.elapsed() < WAIT_MAX {
        if let Ok(text) = fs::read_to_string(&answer) {
            let _ = fs::remove_file(&answer);
            return answered(id, &text, output);
        }
        thread::sleep(PAUSE);
    }
    let _ = fs::remove_file(&request);
    Err(Failure {
        exit: Exit::Environment,
        message: "nobody answers: the `ralph` that keeps this jail is gone or busy".to_owned(),
        hints: Vec::new(),
    })
}

fn answered(id: &str, text: &str, output: &mut Output) -> Result<Exit, Failure> {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let message = answer["message"].as_str().unwrap_or("it was refused");
    if answer["ok"] == true {
        output.data(&format!("{message}\n"))?;
        output.result(|| json!({ "task": id, "message": message }))?;
        return Ok(Exit::Done);
    }
    Err(Failure {
        exit: Exit::Unfinished,
        message: message.to_owned(),
        hints: Vec::new(),
    })
}
