//! A state folder with small loops in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use home::{Home, load};
use journal::{Journal, NewRecord};
use kernel::{Commit, Deed, Event, Flow, LoopSpec, RunKey, RunOutcome, StorySpec, decide};

pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    pub(crate) home: Home,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let home = Home::at(folder.path());
        Self { folder, home }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::open(self.path()).expect("a journal")
    }
}

/// A loop of one story.
pub(crate) fn spec(loop_id: &str) -> LoopSpec {
    let story = StorySpec {
        id: "one".into(),
        title: "Story one".to_owned(),
        criteria: vec!["it works".to_owned()],
        ..StorySpec::default()
    };
    LoopSpec {
        loop_id: loop_id.to_owned(),
        project: "project".to_owned(),
        prd_path: "prd.json".to_owned(),
        base: Commit::new(&"a".repeat(40)).expect("hexadecimal"),
        branch: format!("agent-loop/{loop_id}"),
        stories: vec![Arc::new(story)],
        implementor: "codex".into(),
        judge: "judge".into(),
        ladder: Vec::new(),
        failover: false,
        max_retries: 0,
        max_iterations: None,
        retry_wait_ms: 60_000,
        budget: None,
        allowance: None,
        flow: Flow::Judged,
        reviewer: "judge".into(),
        prover: "codex".into(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
        together: kernel::Together::default(),
        settings: "{}".into(),
    }
}

/// Records an event whether it makes sense or not.
pub(crate) fn record(journal: &Journal, loop_id: &str, event: &Event) {
    let body = serde_json::to_string(event).expect("JSON");
    record_text(journal, loop_id, event.kind(), &body);
}

pub(crate) fn record_text(journal: &Journal, loop_id: &str, kind: &str, body: &str) {
    let last = journal
        .row(loop_id)
        .expect("read")
        .map_or(0, |row| row.last);
    let new = NewRecord {
        at_ms: 1_000,
        kind,
        body,
    };
    let appended = journal.append(loop_id, last, None, &[new]);
    assert_eq!(appended.expect("appended"), last + 1);
}

/// Plays a loop up to its first run, and gives that run.
pub(crate) fn play_to_first_run(journal: &Journal, loop_id: &str) -> RunKey {
    home::start(journal, spec(loop_id)).expect("started");
    for _ in 0..5 {
        let state = load(journal, loop_id).expect("loaded").state;
        if let Some(run) = state.running().pop() {
            return run;
        }
        let owed = decide(&state)
            .into_iter()
            .next()
            .expect("something is owed");
        let event = match &owed.deed {
            Deed::Prepare { .. } => Event::LoopPrepared,
            deed => deed.decision().expect("a decision"),
        };
        record(journal, loop_id, &event);
    }
    unreachable!("a loop is prepared, planned and begins its first run");
}

pub(crate) fn ended(run: RunKey, outcome: RunOutcome) -> Event {
    Event::RunEnded {
        run,
        outcome,
        usage: None,
        walls: kernel::Walls::default(),
    }
}
