//! The live view in a terminal: it gathers what a loop and its agents do, and draws it in place of
//! the drawing before.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use agents::{Activity, Kind, Reader};
use home::{Home, Loaded, Redacting};
use sandbox::Stream;
use views::{LoopView, QuestionView, StoryView, WaitView, was_sent_back};

use super::answer_words;
use super::hiding::redactor_of;
use super::live::{Clock, LiveRun, LiveStory, LiveView, LiveWait, Used, render};
use super::live_asked::LiveQuestion;
use super::live_paper::Screen;
use super::look::seen;
use super::rendering::in_view;
use super::story_table::detail_of;
use super::trace::{Trace, traces};
use crate::output::Output;

/// The shortest time between two drawings.
const PAUSE: Duration = Duration::from_millis(200);

/// How often the loop is looked at while nothing is recorded: its disk or its worker may be in
/// trouble.
const LOOK: Duration = Duration::from_secs(1);

/// Bytes of a run's output that are read at once.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// A terminal on which a loop is drawn.
pub(super) struct LiveScreen {
    runs: BTreeMap<String, RunReader>,
    traces: Vec<Trace>,
    /// The number of the last record when the runs were listed.
    listed_at: Option<u64>,
    view: Option<(LoopView, Instant)>,
    drawn: String,
    drawn_at: Option<Instant>,
}

/// What one run did so far.
struct RunReader {
    /// Comes before the reader, which shortens what it shows.
    redacting: Redacting,
    reader: Reader,
    offset: u64,
    folder: String,
    activity: String,
    used: Used,
}

impl LiveScreen {
    /// A screen, if both streams are a terminal that can move its cursor, and nobody wants JSON.
    pub(super) fn if_possible(output: &Output) -> Option<Self> {
        let term = std::env::var("TERM").unwrap_or_default();
        let is_possible = !output.is_json()
            && std::io::stdout().is_terminal()
            && std::io::stderr().is_terminal()
            && !matches!(term.as_str(), "" | "dumb");
        is_possible.then(|| Self {
            runs: BTreeMap::new(),
            traces: Vec::new(),
            listed_at: None,
            view: None,
            drawn: String::new(),
            drawn_at: None,
        })
    }

    /// Draws the loop, unless it was drawn just now or nothing changed.
    pub(super) fn draw(&mut self, home: &Home, loaded: &Loaded, output: &mut Output) {
        if self.drawn_at.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.draw_now(home, loaded, output);
        }
    }

    /// Draws the loop, however soon after the last drawing, unless nothing changed.
    pub(super) fn draw_now(&mut self, home: &Home, loaded: &Loaded, output: &mut Output) {
        let is_news = self.listed_at != Some(loaded.last);
        if is_news {
            self.traces = traces(home, loaded);
            self.traces.retain(|trace| trace.outcome.is_none());
            let live: Vec<&str> = self.traces.iter().map(|trace| &trace.id[..]).collect();
            self.runs.retain(|id, _| live.contains(&id.as_str()));
            self.listed_at = Some(loaded.last);
        }
        let is_stale = |at: &Instant| is_news || at.elapsed() >= LOOK;
        if self.view.as_ref().is_none_or(|(_, at)| is_stale(at)) {
            self.view = Some((seen(home, &loaded.state), Instant::now()));
        }
        for trace in &self.traces {
            let run = self.runs.entry(trace.id.clone());
            run.or_insert_with(|| RunReader::new(home, trace))
                .read_on(trace);
        }
        let view = self.live_view(loaded);
        let text = render(&view, home::now_ms(), screen(output));
        if text != self.drawn {
            output.talk(&over(&self.drawn, &text));
            self.drawn = text;
            self.drawn_at = Some(Instant::now());
        }
    }

    /// Takes the drawing away: what is shown next says all of it again.
    pub(super) fn wipe(&mut self, output: &mut Output) {
        if !self.drawn.is_empty() {
            output.talk(&over(&self.drawn, ""));
            self.drawn.clear();
        }
    }

    fn live_view(&self, loaded: &Loaded) -> LiveView {
        let Some((view, _)) = &self.view else {
            return LiveView::default();
        };
        let stories = view.stories.iter();
        let stories: Vec<LiveStory> = stories.map(|story| self.story(story, loaded)).collect();
        let spent = Used {
            tokens: view.tokens,
            cost_micro_usd: loaded.state.spent().known_micro_usd(),
        };
        let live = self.runs.values().map(|run| run.used);
        let warning = view.prd_fault.as_ref();
        LiveView {
            loop_id: view.loop_id.clone(),
            status: view.status,
            reason: view.reason.clone(),
            started_at_ms: view.started_at_ms,
            warning: warning.map(|fault| format!("the PRD {}: {fault}", view.prd_path)),
            questions: view
                .questions
                .iter()
                .map(|asked| question(asked, view))
                .collect(),
            stories,
            waits: view.waits.iter().map(wait).collect(),
            used: live.fold(spent, Used::and),
            budget_used_percent: view.budget_used_percent,
        }
    }

    fn story(&self, story: &StoryView, loaded: &Loaded) -> LiveStory {
        let progress = loaded.state.story(&story.id);
        let began = progress.and_then(|progress| progress.began_at_ms);
        let clock = match (story.duration_ms, began) {
            (Some(took_ms), _) => Clock::Took(took_ms),
            (None, Some(began_ms)) if story.status == "running" => Clock::Since(began_ms),
            (None, _) => Clock::NotStarted,
        };
        let runs = self.traces.iter();
        let runs = runs.filter(|trace| trace.key.story == *story.id);
        let runs: Vec<LiveRun> = runs.map(|trace| self.run(trace)).collect();
        let is_working = !runs.is_empty();
        LiveStory {
            id: story.id.clone(),
            title: story.title.clone(),
            status: story.status,
            detail: if is_working {
                let attempt = progress.and_then(|progress| Some((progress, progress.attempt()?)));
                let is_back = attempt.is_some_and(|(story, attempt)| was_sent_back(story, attempt));
                match attempt {
                    Some((_, attempt)) if attempt.has_landed() => "landed, confirming".to_owned(),
                    _ => place_of(story, is_back),
                }
            } else {
                detail_of(story)
            },
            clock,
            used: Used {
                tokens: story.tokens,
                cost_micro_usd: progress.and_then(|progress| progress.spent.known_micro_usd()),
            },
            runs,
        }
    }

    fn run(&self, trace: &Trace) -> LiveRun {
        let reader = self.runs.get(&trace.id);
        LiveRun {
            stage: trace.key.stage.word(),
            agent: if trace.key.stage.is_check() {
                String::new()
            } else {
                trace.agent.clone()
            },
            started_at_ms: trace.started_at_ms,
            activity: reader.map(|run| run.activity.clone()).unwrap_or_default(),
            used: reader.map(|run| run.used).unwrap_or_default(),
        }
    }
}

/// Where a story stands whose runs are shown below it.
fn place_of(story: &StoryView, is_sent_back: bool) -> String {
    let words = match (story.queue_place, is_sent_back) {
        (Some(1), false) => "landing",
        (Some(1), true) => "landing, sent back before",
        (_, true) => "sent back before",
        (_, false) => "",
    };
    words.to_owned()
}

impl RunReader {
    fn new(home: &Home, trace: &Trace) -> Self {
        Self {
            redacting: redactor_of(home, &trace.loop_id).stream(),
            reader: Reader::new(trace.kind),
            offset: 0,
            folder: trace.work_folder(),
            activity: String::new(),
            used: Used::default(),
        }
    }

    /// Takes what is new, and remembers the last thing that the agent did.
    fn read_on(&mut self, trace: &Trace) {
        // A run whose keeper is just being started has no folder yet.
        let piece = sandbox::output_from(&trace.folder, Stream::Stdout, self.offset, CHUNK_BYTES);
        let Some(piece) = piece.ok().flatten() else {
            return;
        };
        if piece.from > self.offset {
            // A line that was cut must not be joined with the rest of another one.
            self.reader.feed(&self.redacting.finish());
            self.reader.feed(b"\n");
        }
        self.offset = piece.from + piece.bytes.len() as u64;
        if self.folder.is_empty() {
            self.folder = trace.work_folder();
        }
        let bytes = self.redacting.push(&piece.bytes);
        for activity in self.reader.feed(&bytes) {
            if let Activity::Used {
                tokens,
                cost_micro_usd,
            } = activity
            {
                self.used = Used {
                    tokens,
                    cost_micro_usd,
                };
            } else {
                self.activity = match &activity {
                    // What a check or another program prints is no talk.
                    Activity::Said { text } if trace.kind == Kind::Command => text.clone(),
                    other => in_view(other, &self.folder),
                };
            }
        }
    }
}

fn question(asked: &QuestionView, view: &LoopView) -> LiveQuestion {
    LiveQuestion {
        story: asked.story_id.clone(),
        text: asked.text.clone(),
        command: answer_words::command(&view.loop_id, asked, &answer_words::typed(asked)),
    }
}

fn wait(wait: &WaitView) -> LiveWait {
    let agent = wait.agent.as_ref();
    let agent = agent.map(|agent| format!(" by {agent}"));
    LiveWait {
        story: wait.story_id.clone(),
        what: format!("{}{}", wait.stage, agent.unwrap_or_default()),
        until_ms: wait.until_ms,
        cause: wait.cause.clone(),
    }
}

/// The terminal as it is now: people make it wider and narrower.
fn screen(output: &Output) -> Screen {
    const COLUMNS: usize = 80;
    const ROWS: usize = 24;
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    // A terminal that nobody told its size says zero.
    let told = |cells: Option<u16>, otherwise| match cells {
        Some(0) | None => otherwise,
        Some(cells) => usize::from(cells),
    };
    Screen {
        columns: told(size.map(|size| size.ws_col), COLUMNS),
        rows: told(size.map(|size| size.ws_row), ROWS),
        colours: output.paint() == prd::Paint::Ansi,
    }
}

/// What puts one drawing in the place of another: back to its first line, each line cleared behind
/// its new text, and everything below cleared.
fn over(before: &str, now: &str) -> String {
    let mut out = String::new();
    let n_lines = before.lines().count();
    if n_lines > 0 {
        out.push_str(&format!("\x1b[{n_lines}A\r"));
    }
    for line in now.lines() {
        out.push_str(line);
        out.push_str("\x1b[K\n");
    }
    if now.is_empty() {
        out.push_str("\x1b[K");
    }
    out.push_str("\x1b[J");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_takes_the_place_of_the_one_before() {
        assert_eq!(over("", "a\nb\n"), "a\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(over("a\nb\n", "c\n"), "\x1b[2A\rc\x1b[K\n\x1b[J");
        assert_eq!(over("a\nb\n", ""), "\x1b[2A\r\x1b[K\x1b[J");
    }
}
