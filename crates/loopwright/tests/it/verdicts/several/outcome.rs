//! What came of a case with several stories, and everything that is wrong about it.

use std::path::Path;

use journal::Journal;
use kernel::{Event, State, StoryStatus};

use super::case::Case;
use super::scene::Scene;
use crate::sample::is_soak;

/// Plays a case and says all that is wrong, one line each.
pub(super) fn play(case: &Case, runners: &Path) -> Vec<String> {
    let scene = Scene::new(case, runners);
    let Some(answer) = scene.start() else {
        return vec!["the loop did not end in time".to_owned()];
    };
    let journal = Journal::open(&scene.state_folder()).expect("a journal");
    let Some(row) = journal.loops().expect("loops").pop() else {
        return vec![format!("no loop: {}", answer.whole())];
    };
    let loaded = match home::load(&journal, &row.loop_id) {
        Ok(loaded) => loaded,
        Err(error) => return vec![format!("the loop cannot be read: {error}")],
    };
    let mut landed = Vec::new();
    for record in &loaded.records {
        if let Event::Integrated { story, commit, .. } = &record.event {
            landed.push((story.to_string(), commit.to_string()));
        }
    }
    let ending = Ending {
        case,
        state: &loaded.state,
        order: landed.iter().map(|(story, _)| story.clone()).collect(),
    };
    let mut faults = ending.faults();
    faults.extend(red_landings(case, &scene, &landed));
    if let Some((_, head)) = landed.last() {
        let untrue = scene.untrue(head);
        faults.extend(untrue.map(|why| format!("the truth does not hold: {why}")));
    }
    if !faults.is_empty() {
        let stories = case.stories.iter();
        faults.extend(stories.map(|story| scene.report(&story.id)));
    }
    faults
}

/// Nothing that is red together may land. In CI the last head tells; the soak looks at every one.
fn red_landings(case: &Case, scene: &Scene<'_>, landed: &[(String, String)]) -> Vec<String> {
    let n_looked_at = if is_soak() { landed.len() } else { 1 };
    let looked_at = landed.iter().rev().take(n_looked_at);
    let tries = case.expect.head_tries.unwrap_or(1);
    let red = looked_at.filter_map(|(story, commit)| {
        let mut red = None;
        for _ in 0..tries {
            red = scene.red(commit);
            if red.is_none() {
                break;
            }
        }
        red.map(|why| format!("the head is red after {story} landed: {why}"))
    });
    red.collect()
}

/// How a loop ended.
struct Ending<'a> {
    case: &'a Case,
    state: &'a State,
    order: Vec<String>,
}

impl Ending<'_> {
    fn faults(&self) -> Vec<String> {
        let expect = &self.case.expect;
        let mut faults = Vec::new();
        let asking = self.state.questions();
        for progress in self.state.stories() {
            let id = progress.spec.id.to_string();
            let has_passed = progress.has_passed();
            if expect.passed.contains(&id) && !has_passed {
                faults.push(format!("{id} has not passed: {:?}", progress.status));
            }
            if expect.not_passed.contains(&id) && has_passed {
                faults.push(format!("{id} has passed"));
            }
            let is_open = matches!(
                progress.status,
                StoryStatus::Pending | StoryStatus::Active { .. }
            );
            let asks = asking.iter().any(|asked| *asked.story == *id);
            if is_open && !asks {
                faults.push(format!("{id} is neither landed nor named"));
            }
            let is_wrong = |returns: &u32| *returns != progress.returns;
            if expect.returns.get(&id).is_some_and(is_wrong) {
                faults.push(format!("{id} was sent back {} times", progress.returns));
            }
        }
        faults.extend(self.wrong_order());
        if asking.len() != expect.asks {
            faults.push(format!("it asks {asking:?}"));
        }
        faults
    }

    fn wrong_order(&self) -> Vec<String> {
        let expect = &self.case.expect;
        let mut faults = Vec::new();
        let stories = self.state.stories().iter();
        let mut back: Vec<String> = stories
            .filter(|story| story.returns > 0)
            .map(|story| story.spec.id.to_string())
            .collect();
        back.sort();
        let mut wanted = expect.sent_back.clone();
        if let Some(wanted) = &mut wanted {
            wanted.sort();
        }
        if wanted.is_some_and(|wanted| wanted != back) {
            faults.push(format!("sent back: {back:?}"));
        }
        if expect
            .order
            .as_ref()
            .is_some_and(|order| *order != self.order)
        {
            faults.push(format!("landed in the order {:?}", self.order));
        }
        let place = |id: &String| self.order.iter().position(|landed| landed == id);
        for (first, later) in &expect.before {
            if let (Some(first_at), Some(later_at)) = (place(first), place(later))
                && first_at > later_at
            {
                faults.push(format!("{later} landed before {first}"));
            }
        }
        faults
    }
}
