//! Reading the trailers of commits in the operator's repository.

use std::collections::BTreeSet;

use testkit::git;
use workspace::{BranchTrailers, trailers_beyond, trailers_of};

use crate::support::{World, files};

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn trailers_are_found_in_a_history_and_on_branches_beyond_it() {
    let world = World::with(&[("a.txt", "one\n")]);
    let project = world.project();
    let commit = |message: &str| {
        git(
            &project,
            &["commit", "--quiet", "--allow-empty", "-m", message],
        )
    };
    commit("feat: one\n\nLoop-Id: L\nStory-Id: one\nAttempt: 1");
    // A key in running text is not a trailer, and a value is not a pattern.
    commit("docs: Story-Id: two\n\nStory-Id: three is only spoken of here.\n\nThe end.");
    let base = world.head();
    git(&project, &["branch", "agent-loop/merged"]);
    git(&project, &["checkout", "--quiet", "-b", "agent-loop/ahead"]);
    commit("feat: four\n\nStory-Id: .*\nStory-Id: four");
    git(&project, &["checkout", "--quiet", "-b", "other"]);
    commit("feat: five\n\nStory-Id: five");
    // The operator's configuration has no effect.
    git(&project, &["config", "log.showSignature", "true"]);
    git(&project, &["config", "grep.patternType", "perl"]);
    let before = files(&project);
    assert_eq!(
        trailers_of(&project, &base, "Story-Id").expect("read"),
        set(&["one"])
    );
    let beyond = trailers_beyond(&project, &base, "agent-loop/", "Story-Id").expect("read");
    assert_eq!(
        beyond,
        [BranchTrailers {
            branch: "agent-loop/ahead".to_owned(),
            values: set(&[".*", "four"])
        }]
    );
    assert_eq!(files(&project), before, "looking changes nothing");
}
