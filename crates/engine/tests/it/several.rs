//! What scenarios with several stories at once expect of a play, beside its end.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use kernel::{Event, RestackClass, Restackable, RunOutcome, Stamped, State};

use crate::marks::run_name;
use crate::play::Play;
use crate::scenario::Expect;

/// What is not as expected.
pub(crate) fn complaints(play: &Play, expect: &Expect) -> Vec<String> {
    let records = play.records();
    let state = State::replay(&records).expect("it replays");
    let look = Look {
        play,
        expect,
        records: &records,
        state: &state,
        words: play.marks.all(),
    };
    let mut complaints = look.of_landings();
    complaints.extend(look.of_order());
    complaints.extend(look.of_returns());
    complaints.extend(look.of_files());
    complaints.extend(look.of_moments());
    complaints
}

struct Look<'a> {
    play: &'a Play,
    expect: &'a Expect,
    records: &'a [Stamped],
    state: &'a State,
    words: Vec<String>,
}

fn compare<T: PartialEq + Debug + ?Sized>(
    what: &str,
    found: &T,
    wanted: &T,
    complaints: &mut Vec<String>,
) {
    if found != wanted {
        complaints.push(format!("{what}: {found:?}, expected {wanted:?}"));
    }
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words
}

impl Look<'_> {
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().map(|record| &record.event)
    }

    fn place(&self, word: &str) -> Option<usize> {
        self.words.iter().position(|known| known == word)
    }

    /// The stories of which a record of this kind tells, in their order.
    fn told(&self, story: impl Fn(&Event) -> Option<String>) -> Vec<String> {
        self.events().filter_map(story).collect()
    }

    fn of_landings(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let landed = self.told(|event| match event {
            Event::Integrated { story, .. } => Some(story.to_string()),
            _ => None,
        });
        let published = self.told(|event| match event {
            Event::Announced { story, .. } => Some(story.to_string()),
            _ => None,
        });
        for (what, found, wanted) in [
            ("landed", &landed, &self.expect.landed),
            ("published", &published, &self.expect.published),
        ] {
            if let Some(wanted) = wanted {
                compare(what, found, wanted, &mut complaints);
            }
        }
        for (story, wanted) in &self.expect.judged {
            let found = self.judged(story).unwrap_or("nobody");
            compare(
                &format!("{story} was judged"),
                found,
                wanted.as_str(),
                &mut complaints,
            );
        }
        let named = self.named();
        if let Some(wanted) = &self.expect.named {
            compare(
                "named",
                &sorted(named.clone()),
                &sorted(wanted.clone()),
                &mut complaints,
            );
        }
        if let Some(wanted) = &self.expect.unconfirmed {
            let found = self.state.unconfirmed();
            let found: Vec<String> = found.iter().map(|(story, _)| story.to_string()).collect();
            compare("unconfirmed", &found, wanted, &mut complaints);
        }
        for story in &self.expect.landed_or_named {
            if !landed.contains(story) && !named.contains(story) {
                complaints.push(format!("{story} neither landed nor is it named"));
            }
        }
        complaints
    }

    fn named(&self) -> Vec<String> {
        let unlanded = self.state.unlanded();
        unlanded
            .iter()
            .map(|(story, _)| story.to_string())
            .collect()
    }

    /// Whether a story landed by a PASS on the landed commit, or on the one before its restack.
    fn judged(&self, story: &str) -> Option<&'static str> {
        let landed = self.events().find_map(|event| match event {
            Event::Integrated {
                story: id, commit, ..
            } if *id == *story => Some(commit),
            _ => None,
        })?;
        let is_named = self.events().any(|event| match event {
            Event::RunEnded {
                run,
                outcome: RunOutcome::Judged(verdict),
                ..
            } => run.story == *story && verdict.pass && verdict.commit == *landed,
            _ => false,
        });
        Some(if is_named { "itself" } else { "former" })
    }

    fn of_order(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut last = None;
        for word in &self.expect.order {
            let at = self.place(word);
            if at.is_none() || at < last {
                complaints.push(format!(
                    "`{word}` is not in its place: {:?}",
                    self.expect.order
                ));
            }
            last = at;
        }
        for (late, early) in &self.expect.not_before {
            let late_at = self.words.iter().position(|known| known == late);
            if late_at.is_some() && late_at < Some(self.place(early).unwrap_or(usize::MAX)) {
                complaints.push(format!("`{late}` came before `{early}`"));
            }
        }
        for [one, other] in &self.expect.never_at_once {
            if self.were_at_once(one, other) {
                complaints.push(format!("`{one}` and `{other}` were under way at once"));
            }
        }
        complaints
    }

    fn were_at_once(&self, one: &str, other: &str) -> bool {
        let mut running: Vec<String> = Vec::new();
        for event in self.events() {
            match event {
                Event::RunStarted { run } => running.push(run_name(run)),
                Event::RunEnded { run, .. } => running.retain(|known| *known != run_name(run)),
                _ => {}
            }
            let is_there = |name: &str| {
                let mut running = running.iter();
                running.any(|known| known == name || known.starts_with(&format!("{name} ")))
            };
            if is_there(one) && is_there(other) {
                return true;
            }
        }
        false
    }

    fn of_returns(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if let Some(wanted) = &self.expect.restacks {
            let found = sorted(self.told(restack_words));
            compare("restacks", &found, &sorted(wanted.clone()), &mut complaints);
        }
        if let Some(wanted) = &self.expect.refused {
            let found = sorted(self.told(refusal_words));
            compare("refused", &found, &sorted(wanted.clone()), &mut complaints);
        }
        if let Some(wanted) = &self.expect.sent_back {
            let mut found: BTreeMap<String, usize> = BTreeMap::new();
            for word in &self.words {
                if let Some((story, _)) = word.split_once(" sent back ") {
                    *found.entry(story.to_owned()).or_default() += 1;
                }
            }
            compare("sent back", &found, wanted, &mut complaints);
        }
        for (story, wanted) in &self.expect.returns {
            let found = self.state.story(story).map(|story| story.returns);
            compare(
                &format!("returns of {story}"),
                &found,
                &Some(*wanted),
                &mut complaints,
            );
        }
        if let Some(wanted) = &self.expect.open {
            let questions = self.state.questions();
            let mut found: Vec<String> =
                questions.iter().map(|one| one.story.to_string()).collect();
            found.dedup();
            compare(
                "open",
                &sorted(found),
                &sorted(wanted.clone()),
                &mut complaints,
            );
        }
        for run in &self.expect.not_landed_by {
            if self.landed_by(run) {
                complaints.push(format!("the verdict of {run} landed something"));
            }
        }
        complaints
    }

    fn landed_by(&self, name: &str) -> bool {
        let commit = self.events().find_map(|event| match event {
            Event::RunEnded {
                run,
                outcome: RunOutcome::Judged(verdict),
                ..
            } if run_name(run) == name => Some(&verdict.commit),
            _ => None,
        });
        self.events().any(|event| match event {
            Event::Integrated { commit: landed, .. } => Some(landed) == commit,
            _ => false,
        })
    }

    fn of_files(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let head = self.play.files_at(self.state.head().as_str());
        for (path, wanted) in &self.expect.head_has {
            let found = head
                .get(Path::new(path))
                .map(|text| text.trim_end().to_owned());
            let wanted = Some(wanted.trim_end().to_owned());
            compare(
                &format!("`{path}` on the branch"),
                &found,
                &wanted,
                &mut complaints,
            );
        }
        for path in &self.expect.head_lacks {
            if head.contains_key(Path::new(path)) {
                complaints.push(format!("`{path}` is on the branch"));
            }
        }
        for path in self.expect.former_lacks.values().flatten() {
            let formers = self.play.formers();
            if formers.is_empty() {
                complaints.push("nobody was given former work".to_owned());
            }
            if formers
                .iter()
                .any(|files| files.contains_key(Path::new(path)))
            {
                complaints.push(format!("`{path}` is in the former work"));
            }
        }
        complaints
    }

    fn of_moments(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let seen = self.play.seen();
        for case in self.play.looks() {
            let Some(found) = seen.iter().find(|seen| seen.when == case.when) else {
                complaints.push(format!("`{}` never came", case.when));
                continue;
            };
            if let Some(status) = &case.status {
                let what = format!("status {}", case.when);
                compare(&what, &found.status, status, &mut complaints);
            }
            if let Some(questions) = &case.questions {
                let what = format!("questions {}", case.when);
                let (found, wanted) = (found.questions.clone(), questions.clone());
                compare(&what, &sorted(found), &sorted(wanted), &mut complaints);
            }
        }
        complaints
    }
}

fn restack_words(event: &Event) -> Option<String> {
    match event {
        Event::Restacked {
            story,
            attempt,
            round,
            what: Restackable::Candidate,
            class,
            ..
        } => {
            let class = match class {
                RestackClass::Disjoint => "disjoint",
                RestackClass::Mixed => "mixed",
            };
            Some(format!("{story} {attempt} on-{round} {class}"))
        }
        _ => None,
    }
}

fn refusal_words(event: &Event) -> Option<String> {
    match event {
        Event::RestackRefused {
            story,
            attempt,
            round,
            what: Restackable::Candidate,
            paths,
            ..
        } => Some(format!("{story} {attempt} on-{round} {}", paths.join(" "))),
        _ => None,
    }
}
