//! `loopwright watch`, `events -f` and the end of `start --foreground`: following a loop until it is
//! over or asks for a person.

use std::io::IsTerminal as _;
use std::time::Duration;

use home::{Home, Loaded};
use journal::Journal;
use serde_json::json;
use views::{LoopView, PublicEvent, PublicFold};

use super::attendance::Attendance;
use super::follow::has_news;
use super::live_screen::LiveScreen;
use super::look::{Length, event_line, exit_of, result_of, seen};
use super::lookup::{catch_up, find_or_newest, load, open};
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{NextAction, Output};
use crate::state_folder::home;

const REST: Duration = Duration::from_millis(100);

/// How what happens is shown.
enum Face {
    /// A line on stderr for each event; nothing with `--json`.
    Talk,
    /// A line on stdout for each event, of JSON with `--json`.
    Data,
    /// A view that is drawn anew.
    Live(Box<LiveScreen>),
}

pub(super) fn watch(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("watch");
    output.stream();
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find_or_newest(&journal, id)?;
    let mut interrupt = Interrupt::watch()?;
    interrupt.has_something_to_say();
    output.talk(&format!(
        "Ctrl-C leaves it; `loopwright watch {loop_id}` comes back\n"
    ));
    super::serve::ensure_worker(&home)?;
    if output.is_json() {
        return to_its_end(&home, &loop_id, Some(&interrupt), Face::Data, output);
    }
    follow(&home, &loop_id, &interrupt, output)
}

/// Shows what happens until the loop is over or asks for a person, and then where it stands.
pub(super) fn follow(
    home: &Home,
    loop_id: &str,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let live = LiveScreen::if_possible(output);
    let face = live.map_or(Face::Talk, |screen| Face::Live(Box::new(screen)));
    to_its_end(home, loop_id, Some(interrupt), face, output)
}

/// Shows a loop's events as they come, and nothing else.
pub(super) fn events(id: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("events");
    output.stream();
    let home = home()?;
    let loop_id = find_or_newest(&open(&home)?, id)?;
    super::serve::ensure_worker(&home)?;
    to_its_end(&home, &loop_id, None, Face::Data, output)
}

fn to_its_end(
    home: &Home,
    loop_id: &str,
    interrupt: Option<&Interrupt>,
    mut face: Face,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let journal = open(home)?;
    let mut loaded = load(&journal, loop_id)?;
    let mut fold = PublicFold::default();
    let mut n_folded = 0;
    let mut told_fault = None;
    loop {
        for record in &loaded.records[n_folded..] {
            for event in fold.push(record) {
                face.show(&event, output)?;
            }
        }
        n_folded = loaded.records.len();
        let view = seen(home, &loaded.state);
        if matches!(face, Face::Talk) && view.prd_fault.is_some() && view.prd_fault != told_fault {
            let fault = view.prd_fault.as_deref().unwrap_or_default();
            output.talk(&format!("warning: the PRD {}: {fault}\n", view.prd_path));
            told_fault.clone_from(&view.prd_fault);
        }
        let waits_for_person =
            loaded.state.is_with_person() && loaded.state.attempts().next().is_none();
        // While another story goes on, nobody has to answer at once.
        let asks = kernel::needs_person(&loaded.state) || waits_for_person;
        if loaded.state.ended().is_some() || asks {
            face.make_room(output);
            // Who takes the events alone needs no result, and gets its exit code.
            return match interrupt {
                Some(_) => result_of(home, &journal, loop_id, output),
                None => Ok(exit_of(&view)),
            };
        }
        if wait_for_news(home, &journal, &loaded, interrupt, &mut face, output)? {
            face.draw_last(home, &loaded, output);
            // The same Ctrl-C may have met a worker that was just being started and not yet out of
            // its reach.
            super::serve::ensure_worker(home)?;
            return left(&seen(home, &loaded.state), output);
        }
        catch_up(&mut loaded, &journal, loop_id)?;
    }
}

/// Waits until something is recorded; says whether somebody wants to leave instead.
fn wait_for_news(
    home: &Home,
    journal: &Journal,
    loaded: &Loaded,
    interrupt: Option<&Interrupt>,
    face: &mut Face,
    output: &mut Output,
) -> Result<bool, Failure> {
    let mut attendance = Attendance::default();
    let loop_id = &loaded.state.spec().loop_id;
    while !has_news(journal, loop_id, loaded)? {
        attendance.look(home)?;
        if interrupt.is_some_and(Interrupt::is_wanted) {
            return Ok(true);
        }
        if let Face::Live(screen) = face {
            screen.draw(home, loaded, output);
        }
        std::thread::sleep(REST);
    }
    Ok(false)
}

impl Face {
    fn show(&self, event: &PublicEvent, output: &mut Output) -> Result<(), Failure> {
        match self {
            Self::Talk => {
                let length = Length::of(std::io::stderr().is_terminal());
                output.talk(&event_line(event, length));
            }
            Self::Data => {
                output.line(event)?;
                let length = Length::of(output.paper().columns.is_some());
                output.data(&event_line(event, length))?;
            }
            Self::Live(_) => {}
        }
        Ok(())
    }

    /// Takes a drawing away where a page with the same stories follows it.
    fn make_room(&mut self, output: &mut Output) {
        if let Self::Live(screen) = self {
            screen.wipe(output);
        }
    }

    /// The drawing that stays.
    fn draw_last(&mut self, home: &Home, loaded: &Loaded, output: &mut Output) {
        if let Self::Live(screen) = self {
            screen.draw_now(home, loaded, output);
        }
    }
}

/// Says what becomes of a loop that nobody follows any more, and how to end it.
fn left(view: &LoopView, output: &mut Output) -> Result<Exit, Failure> {
    let (id, status) = (&view.loop_id, view.status);
    output.talk(&format!(
        "interrupted: loop {id} ({status}) goes on in the background; `loopwright watch {id}` follows \
         it, `loopwright cancel {id}` ends it\n"
    ));
    output.result(|| json!(view))?;
    output.next(NextAction::new(
        format!("loopwright watch {id}"),
        "follow it",
    ));
    output.next(NextAction::new(format!("loopwright cancel {id}"), "end it"));
    Ok(Exit::Interrupted)
}
