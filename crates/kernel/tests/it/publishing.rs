//! Accepted work is owed to the operator's repository until it is there.

use kernel::{Deed, Event, PublishResult, State, WriteBack, is_over, record_kind};

use crate::support::{Played, spec, story};

fn left_alone(why: &str) -> PublishResult {
    PublishResult::LeftAlone {
        why: why.to_owned(),
    }
}

fn tried(played: &Played, branch: PublishResult) -> Event {
    Event::PublishTried {
        commit: played.state.head().clone(),
        branch,
    }
}

/// A loop with one story that has landed and is about to be announced.
fn landed() -> Played {
    let mut played = Played::start(spec(vec![story("one", 1, &[])]));
    played.attempt(true);
    let order = played.owed().remove(0);
    assert!(matches!(order.deed, Deed::Integrate { .. }));
    played.carry_out(&order);
    played
}

/// The same, announced with this result, and over.
fn ended(branch: PublishResult) -> Played {
    let mut played = landed();
    played.record(Event::Announced {
        story: "one".into(),
        branch,
        prd: WriteBack::Done,
    });
    let owed = played.owed();
    let end = owed
        .iter()
        .find(|order| matches!(order.deed, Deed::End { .. }));
    played.carry_out(end.expect("the end is owed"));
    played
}

fn last_kind(played: &Played) -> &'static str {
    let last = played.journal.last().expect("a record");
    record_kind(&last.event, &played.state)
}

#[test]
fn e02_what_could_not_be_published_is_owed_after_the_end_until_it_is() {
    let mut played = ended(left_alone("a lock"));
    assert!(played.state.ended().is_some());
    let head = played.state.head().as_str()[..4].to_owned();
    assert_eq!(played.owed_words(), [format!("publish {head} (a lock)")]);
    assert_eq!(played.state.unpublished(), Some("a lock"));
    assert!(!is_over(last_kind(&played)), "a new worker must look at it");
    let event = tried(&played, left_alone("the branch is checked out"));
    played.record(event);
    assert_eq!(
        played.owed_words(),
        [format!("publish {head} (the branch is checked out)")]
    );
    assert!(!is_over(last_kind(&played)));
    let event = tried(&played, PublishResult::Done);
    played.record(event.clone());
    assert_eq!(played.owed_words(), Vec::<String>::new());
    assert_eq!(played.state.unpublished(), None);
    assert_eq!(played.state.published(), Some(played.state.head()));
    assert!(is_over(last_kind(&played)));
    played.refused(event);
    let replayed = State::replay(&played.journal).expect("it replays");
    assert_eq!(replayed, played.state);
}

#[test]
fn the_same_obstacle_again_is_no_record() {
    let mut played = ended(left_alone("a lock"));
    let event = tried(&played, left_alone("a lock"));
    assert_eq!(played.refused(event), "people know that already");
}

#[test]
fn a_branch_that_somebody_took_is_theirs_until_they_ask() {
    let mut played = ended(PublishResult::Taken {
        why: "somebody removed the branch".to_owned(),
    });
    assert_eq!(played.owed_words(), Vec::<String>::new());
    assert_eq!(
        played.state.unpublished(),
        Some("somebody removed the branch")
    );
    assert!(is_over(last_kind(&played)), "no worker waits for them");
    played.record(Event::PublishRequested);
    assert!(!is_over(last_kind(&played)));
    let owed = played.owed();
    let [order] = owed.as_slice() else {
        panic!("{owed:?}");
    };
    assert!(matches!(&order.deed, Deed::Publish(order) if order.may_recreate));
    played.carry_out(order);
    assert!(is_over(last_kind(&played)));
}

#[test]
fn nothing_is_asked_for_where_everything_is_published() {
    let mut played = ended(PublishResult::Done);
    assert!(is_over(last_kind(&played)));
    played.refused(Event::PublishRequested);
}

#[test]
fn a_cancelled_loop_shows_what_has_landed_before_it_ends() {
    let mut played = landed();
    played.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    assert_eq!(played.owed_words(), ["announce one"]);
    played.settle();
    assert!(played.state.ended().is_some());
    assert_eq!(played.state.published(), Some(played.state.head()));
}

#[test]
fn a_story_that_could_not_be_marked_is_marked_when_its_work_is_published() {
    let mut played = landed();
    played.record(Event::Announced {
        story: "one".into(),
        branch: left_alone("the folder is away"),
        prd: WriteBack::LeftAlone {
            why: "the folder is away".to_owned(),
        },
    });
    let owed = played.owed();
    let publish = owed.iter().find_map(|order| match &order.deed {
        Deed::Publish(order) => Some(order),
        _ => None,
    });
    let unmarked = &publish.expect("owed").unmarked;
    assert_eq!(unmarked.as_slice(), [kernel::StoryId::from("one")]);
}
