//! What the verbs do with the service manager.

use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use super::manager::Manager;
use super::texts::Facts;
use crate::args::ServiceCommand;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

pub(crate) fn run(command: &ServiceCommand, output: &mut Output) -> Result<Exit, Failure> {
    let manager = Manager::of_this_system();
    match command {
        ServiceCommand::Install { dry_run } => install(manager, *dry_run, output),
        ServiceCommand::Status => status(manager, output),
        ServiceCommand::Uninstall => uninstall(manager, output),
    }
}

fn install(manager: Manager, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("service install");
    let (file, text) = (manager.file()?, manager.text(&facts()?));
    if dry_run {
        output.talk(&format!("this would be {}\n", file.display()));
        output.data(&text)?;
        output.result(|| json!({ "file": file, "text": text, "installed": false }))?;
        output.next(NextAction::new("loopwright service install", "install it"));
        return Ok(Exit::Done);
    }
    manager.look()?;
    write(&file, &text)?;
    manager.start(&file.to_string_lossy())?;
    let advice = manager.linger();
    output.data(&format!("installed {} and started it\n", file.display()))?;
    if let Some(advice) = &advice {
        output.talk(&format!("note: {advice}\n"));
    }
    output.result(|| json!({ "file": file, "installed": true, "note": advice }))?;
    output.next(NextAction::new(
        "loopwright service status",
        "see whether it is at work",
    ));
    Ok(Exit::Done)
}

fn status(manager: Manager, output: &mut Output) -> Result<Exit, Failure> {
    output.command("service status");
    let file = manager.file()?;
    let is_installed = file.is_file();
    if is_installed {
        manager.look()?;
    }
    let is_active = is_installed && manager.is_active();
    let lingers = is_installed.then(|| manager.lingers()).flatten();
    let words = match (is_installed, is_active) {
        (false, _) => "not installed",
        (true, true) => "installed, at work",
        (true, false) => "installed, not at work",
    };
    output.data(&format!("{words}: {}\n", file.display()))?;
    if lingers == Some(false) {
        output.talk("note: it ends when you log out; `loginctl enable-linger` lets it go on\n");
    }
    output.result(
        || json!({ "file": file, "installed": is_installed, "active": is_active, "lingers": lingers }),
    )?;
    if is_active {
        return Ok(Exit::Done);
    }
    let words = if is_installed {
        "install it anew and start it"
    } else {
        "install it"
    };
    output.next(NextAction::new("loopwright service install", words));
    Ok(Exit::Unfinished)
}

fn uninstall(manager: Manager, output: &mut Output) -> Result<Exit, Failure> {
    output.command("service uninstall");
    let file = manager.file()?;
    if !file.is_file() {
        output.talk("there is no service to remove\n");
        output.result(|| json!({ "file": file, "removed": false }))?;
        return Ok(Exit::Done);
    }
    manager.look()?;
    manager.stop()?;
    std::fs::remove_file(&file).map_err(|error| {
        Failure::environment(&format!("cannot remove `{}`", file.display()), &error)
    })?;
    manager.forget()?;
    output.data(&format!(
        "removed {}; agents go on, and the next worker adopts them\n",
        file.display()
    ))?;
    output.result(|| json!({ "file": file, "removed": true }))?;
    output.next(NextAction::new(
        "loopwright serve",
        "be the worker yourself",
    ));
    Ok(Exit::Done)
}

fn facts() -> Result<Facts, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment("cannot find our own program", &error))?;
    let home = home()?;
    let root = std::path::absolute(home.root())
        .map_err(|error| Failure::environment("cannot find the state folder", &error))?;
    Ok(Facts {
        program: plain(&program.to_string_lossy(), "the program's own path")?,
        home: plain(&root.to_string_lossy(), "the state folder's path")?,
        path: plain(&std::env::var("PATH").unwrap_or_default(), "PATH")?,
    })
}

/// A service's file cannot hold everything that a path can.
fn plain(text: &str, what: &str) -> Result<String, Failure> {
    if text
        .chars()
        .any(|letter| letter.is_control() || letter == char::REPLACEMENT_CHARACTER)
    {
        return Err(Failure::bad_input(format!(
            "{what} has characters that no service file can hold"
        )));
    }
    Ok(text.to_owned())
}

/// Beside its place first, so that the service manager never sees half a file.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let fault = |error: std::io::Error| {
        Failure::environment(&format!("cannot write `{}`", file.display()), &error)
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(fault)?;
    let mut scratch = tempfile::NamedTempFile::new_in(folder).map_err(fault)?;
    scratch.write_all(text.as_bytes()).map_err(fault)?;
    scratch.persist(file).map_err(|error| fault(error.error))?;
    Ok(())
}
