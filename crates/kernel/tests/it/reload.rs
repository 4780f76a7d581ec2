//! What an edited PRD may change in a loop that is under way.

use std::sync::Arc;

use kernel::{Event, State, StorySpec, StoryStart, StoryStatus};

use crate::support::{Played, spec, story};

fn shared(stories: Vec<StorySpec>) -> Vec<Arc<StorySpec>> {
    stories.into_iter().map(Arc::new).collect()
}

#[test]
fn a_reload_changes_what_has_not_begun_and_nothing_else() {
    let mut played = Played::start(spec(vec![
        story("one", 0, &[]),
        story("two", 1, &[]),
        story("three", 2, &[]),
    ]));
    played.go();
    let mut told = vec![
        story("new", 0, &["two"]),
        story("two", 2, &[]),
        story("one", 1, &[]),
    ];
    told[1].title = "Told anew".to_owned();
    told[2].title = "Too late".to_owned();
    played.record(Event::Reloaded {
        settings: "new".into(),
        stories: shared(told),
        together: None,
    });
    let titles: Vec<&str> = played
        .state
        .stories()
        .iter()
        .map(|story| story.spec.title.as_str())
        .collect();
    // Runs are named after a story's position: nothing moves, and a story that the PRD no longer has
    // stays.
    assert_eq!(
        titles,
        ["Story one", "Told anew", "Story three", "Story new"]
    );
    assert_eq!(&*played.state.spec().settings, "new");
    let owed = played.owed();
    assert!(
        owed.iter().all(|order| &*order.settings == "new"),
        "orders carry the new settings: {owed:?}"
    );
    assert_eq!(
        State::replay(&played.journal).expect("it replays"),
        played.state
    );
    for _ in 0..4 {
        played.attempt(true);
        played.settle();
    }
    assert!(
        played
            .state
            .stories()
            .iter()
            .all(|story| matches!(story.status, StoryStatus::Passed(Some(_))))
    );
}

#[test]
fn a_reload_is_refused_for() {
    let mut played = Played::start(spec(vec![story("one", 0, &[])]));
    let reloaded = |stories| Event::Reloaded {
        settings: "".into(),
        stories: shared(stories),
        together: None,
    };
    assert!(
        played
            .try_record(reloaded(vec![story("x", 0, &[]), story("x", 1, &[])]))
            .is_err(),
        "two of one id"
    );
    let mut passed = story("one", 0, &[]);
    passed.start = StoryStart::Passed;
    played.record(reloaded(vec![passed]));
    assert_eq!(
        played.state.stories()[0].status,
        StoryStatus::Passed(None),
        "somebody else did it meanwhile"
    );
    played.settle();
    assert!(
        played.try_record(reloaded(Vec::new())).is_err(),
        "a loop that is over"
    );
}
