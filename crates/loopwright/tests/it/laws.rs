//! The laws of several stories (Q1 to Q9), checked on the journal of a loop that was really played:
//! every record in turn, with the state before and after it. The kernel's seeded world checks the same
//! laws with invented outcomes.

use kernel::{Commit, Event, RestackClass, RunOutcome, Stage, Stamped, State, Step, StoryStatus};

/// Looks at the git of the play.
pub(crate) trait Branch {
    /// The parent of a commit.
    fn parent(&self, commit: &str) -> String;
    /// Whether the project's own tests are green on a commit.
    fn is_green(&self, commit: &str) -> bool;
}

/// Checks a whole journal; what fails names the law.
pub(crate) fn check(records: &[Stamped], branch: &dyn Branch) {
    let (first, rest) = records.split_first().expect("a journal");
    let mut state = State::begin(first).expect("a first state");
    for (at, record) in rest.iter().enumerate() {
        let before = state.clone();
        state.apply(record).expect("a legal journal");
        let earlier = &records[..=at];
        if let Event::Integrated { story, commit, .. } = &record.event {
            check_landing(&before, story, commit, earlier, branch);
        }
        if let Event::Announced { story, .. } = &record.event {
            check_announced(&before, story, branch);
        }
        check_others(&before, &state, &record.event);
        check_bounds(&state);
        check_reservations(&state, &record.event);
    }
    let nothing_goes_on = state.ended().is_some() || kernel::needs_person(&state);
    assert!(nothing_goes_on, "q5: it stands still");
    check_named(&state);
}

/// Q1 to Q4.
fn check_landing(
    before: &State,
    story: &str,
    commit: &Commit,
    earlier: &[Stamped],
    branch: &dyn Branch,
) {
    let parent = branch.parent(commit.as_str());
    assert_eq!(
        parent,
        before.head().as_str(),
        "q1: {story} stands elsewhere"
    );
    let landed = |record: &Stamped| match &record.event {
        Event::Integrated { story: other, .. } => **other == *story,
        _ => false,
    };
    // What stood on a commit that was taken back lands again.
    let is_back = |record: &Stamped| matches!(record.event, Event::Retracted { .. });
    let again = earlier[..earlier.len() - 1].iter().rposition(landed);
    let is_again = again.is_some_and(|at| !earlier[at..].iter().any(is_back));
    assert!(!is_again, "q1: {story} lands twice");
    let attempt = before.attempt(story).expect("an attempt");
    let candidate = attempt.candidate().expect("a candidate");
    let checked = candidate.checked.as_ref().expect("it was measured");
    assert_eq!(
        checked.commit, *commit,
        "q2: {story} was measured elsewhere"
    );
    if attempt.flow.has(Stage::Judge) {
        check_verdict(story, commit, earlier);
    }
    // A reused build may have hidden something: then nobody is shown it.
    let is_warm = candidate.facts().is_some_and(|facts| facts.warm);
    let is_green = is_warm || branch.is_green(commit.as_str());
    assert!(is_green, "q3: red after {story}");
    let front = before.front().map(|front| front.spec.id.as_str());
    assert_eq!(front, Some(story), "q4: {story} lands out of turn");
}

/// Q2: the PASS is about that commit, or carried to it over disjoint restacks.
fn check_verdict(story: &str, commit: &Commit, earlier: &[Stamped]) {
    let passed = |commit: &Commit| {
        earlier.iter().any(|record| match &record.event {
            Event::RunEnded {
                run,
                outcome: RunOutcome::Judged(verdict),
                ..
            } => *run.story == *story && verdict.pass && verdict.commit == *commit,
            _ => false,
        })
    };
    let mut at = commit.clone();
    while !passed(&at) {
        let from = earlier.iter().find_map(|record| match &record.event {
            Event::Restacked {
                commit,
                from,
                class,
                ..
            } if *commit == at => Some((from, class)),
            _ => None,
        });
        let (from, class) = from.unwrap_or_else(|| panic!("q2: nobody passed {story}"));
        assert_eq!(*class, RestackClass::Disjoint, "q2: carried over a merge");
        at = from.clone();
    }
}

/// Q3 and Q4: the operator is shown what is green, in the order of the landings.
fn check_announced(before: &State, story: &str, branch: &dyn Branch) {
    let attempt = before.attempt(story).expect("an attempt");
    if let Step::Announce {
        commit,
        landed: Some(landed),
    } = &attempt.step
        && landed.facts().is_some_and(|facts| facts.warm)
    {
        // Everything else was looked at when it landed.
        let is_green = branch.is_green(commit.as_str());
        assert!(is_green, "q3: {story} is shown and red");
    }
    let unconfirmed = before.unconfirmed();
    let is_confirmed = !unconfirmed.iter().any(|(id, _)| ***id == *story);
    assert!(is_confirmed, "{story} is shown and not confirmed");
    let own = before.story(story).and_then(|story| story.ticket);
    for (other, attempt) in before.attempts() {
        let is_owed = matches!(attempt.step, Step::Announce { .. }) && !attempt.is_recheck;
        assert!(
            !is_owed || other.ticket >= own,
            "q4: {story} is announced before {}",
            other.spec.id
        );
    }
}

/// Q6: what happens to one story changes nothing of another.
fn check_others(before: &State, after: &State, event: &Event) {
    let about = match event {
        Event::RunStarted { run } | Event::RunEnded { run, .. } | Event::WaitEnded { run } => {
            &run.story
        }
        Event::StoryPlanned { story, .. }
        | Event::CandidateMade { story, .. }
        | Event::Restacked { story, .. }
        | Event::RestackRefused { story, .. }
        | Event::Integrated { story, .. }
        | Event::Announced { story, .. } => story,
        _ => return,
    };
    for other in before.stories().iter().filter(|one| one.spec.id != *about) {
        let now = after.story(&other.spec.id);
        assert_eq!(now, Some(other), "q6: {about} changed another story");
    }
    for asked in after.questions() {
        let story = after.story(&asked.story).expect("a story");
        let has_landed = story.attempt().is_some_and(kernel::Attempt::has_landed);
        let is_in_lane = story.ticket.is_some() && !has_landed;
        assert!(!is_in_lane, "q6: {} asks in the lane", asked.story);
    }
}

/// Q7.
fn check_bounds(state: &State) {
    for story in state.stories() {
        let free = story.returns + story.extra_attempts;
        let worked = story.attempts - free.min(story.attempts);
        let is_bounded = story.returns <= 2 && worked <= state.spec().max_retries + 1;
        assert!(is_bounded, "q7: {} has had too much", story.spec.id);
    }
}

/// Q8.
fn check_reservations(state: &State, event: &Event) {
    let (Some(budget), Some(left)) = (&state.spec().budget, state.left_ms()) else {
        return;
    };
    let cap = |stage: Stage| {
        if stage.is_check() {
            budget.check_cap_ms
        } else if stage == Stage::Judge {
            budget.judge_cap_ms
        } else {
            budget.implement_cap_ms
        }
    };
    let running = state.running();
    let reserved: i64 = running.iter().map(|run| cap(run.stage)).sum();
    let has_begun = match event {
        Event::RunStarted { run } => run.stage != Stage::Confirm || !state.was_asked_to_confirm(),
        _ => false,
    };
    assert!(
        !has_begun || reserved <= left,
        "q8: {reserved} of {left} ms"
    );
}

/// Q9: whoever is proven and has not landed is named.
fn check_named(state: &State) {
    let mut named = state.unlanded();
    named.extend(state.unconfirmed());
    for story in state.stories() {
        let StoryStatus::Active(attempt) = &story.status else {
            continue;
        };
        let is_proven = attempt.is_queued() || attempt.judged.is_some() || attempt.has_landed();
        let is_named = named.iter().any(|(id, _)| **id == story.spec.id);
        assert!(!is_proven || is_named, "q9: {} is lost", story.spec.id);
    }
}
