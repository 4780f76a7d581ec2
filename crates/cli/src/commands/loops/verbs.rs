//! Verbs whose words are read first: which loop, which story. What they then do is in the file of each.

use std::path::PathBuf;

use kernel::Event;

use super::ask::ask;
use super::{answer, ask, named, reload, story, trace, work};
use crate::args::LogsArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(super) fn story(
    id: Option<&str>,
    wanted: Option<&str>,
    shown: story::Shown,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("story");
    let (id, wanted) = named::last_is_needed(id, wanted);
    let wanted = wanted
        .ok_or_else(|| Failure::bad_input("which story?").hint("loopwright story [ID] STORY"))?;
    let named = named::story(id, wanted)?;
    story::run(&named.loop_id, &named.story, shown, output)
}

pub(super) fn diff(
    id: Option<&str>,
    story: Option<&str>,
    attempt: Option<u32>,
    stat: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("diff");
    let (id, story) = named::loop_or_story(id, story)?;
    let wanted = work::Wanted {
        id: &id,
        story: story.as_deref(),
        attempt,
    };
    work::diff(&wanted, stat, output)
}

pub(super) fn checkout(
    words: (Option<&str>, Option<&str>, Option<PathBuf>),
    attempt: Option<u32>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("checkout");
    let (named, folder) = named::work_and_folder(words)?;
    let wanted = work::Wanted {
        id: &named.loop_id,
        story: Some(&named.story),
        attempt,
    };
    work::checkout(&wanted, folder, output)
}

pub(super) fn run(run_id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("run");
    trace::run(&named::run(run_id)?, output)
}

pub(super) fn logs(mut arguments: LogsArgs, output: &mut Output) -> Result<Exit, Failure> {
    output.command("logs");
    if let Some(story) = arguments.story.take() {
        let named = named::story(arguments.id.as_deref(), &story)?;
        (arguments.id, arguments.story) = (Some(named.loop_id), Some(named.story));
    }
    trace::logs(&arguments, output)
}

pub(super) fn request(
    id: Option<String>,
    event: &Event,
    verb: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command(verb);
    ask(&named::to_change(id, verb)?, event, verb, output)
}

pub(super) fn resume(
    id: Option<String>,
    reload: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("resume");
    let id = named::to_change(id, "resume")?;
    if reload {
        reload::run(&id, output)
    } else {
        ask::resume(&id, output)
    }
}

pub(super) fn answer(
    id: Option<String>,
    choice: Option<String>,
    story: Option<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("answer");
    let (id, choice) = named::last_is_needed(id, choice);
    let (id, choice) = named::to_answer(id, choice)?;
    answer::run(&id, choice, story, output)
}
