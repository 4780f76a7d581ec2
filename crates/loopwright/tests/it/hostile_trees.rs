//! Agents that leave files which no tree should hold: the loop goes on, the next attempt is told, and
//! nothing outside the checkout changes.

use serde_json::Value;

use crate::scene::{IMPLEMENT, JUDGE, Scene};

/// Everything that costs only itself, then honest work.
const ODD_FILES: &str = r#"mkfifo pipe
truncate -s 10G huge
truncate -s 1 setuid && chmod 4755 setuid
mkdir .GIT && echo x > .GIT/config && echo x > 'git~1'
echo x > readme
ln -s /etc out && ln -s ../../../keys.json up
ln "$STARTS" hard
touch "$(printf 'new\nline')" "$(printf 'latin-\351')"
mkdir deep && (cd deep; i=0; while [ $i -lt 300 ]; do mkdir d && cd d; i=$((i+1)); done; touch f)
"#;

/// The first attempt fills its checkout with rules of 20 GB; further ones are honest.
const TOO_MUCH: &str = r#"if [ "$LOOPWRIGHT_ATTEMPT" = 1 ]; then
  for i in $(seq 200); do mkdir "d$i" && truncate -s 99M "d$i/.gitignore"; done
fi
"#;

/// The first attempt leaves a link where its checkout was.
const LINK_INSTEAD: &str = r#"if [ "$LOOPWRIGHT_ATTEMPT" = 1 ]; then
  here=$(pwd); cd ..; mv "$here" "$here-moved"; ln -s "$here-moved" "$here"; exit 0
fi
"#;

fn notes_of(scene: &Scene, id: &str) -> String {
    let events = scene.env.run(&["story", id, "one", "--json"]).json();
    events["result"].to_string()
}

fn id_of(view: &Value) -> &str {
    view["loopId"].as_str().expect("an id")
}

#[test]
fn i09_files_that_no_tree_should_hold_cost_only_themselves() {
    let scene = Scene::with_agents(&["one"], &format!("{ODD_FILES}{IMPLEMENT}"), JUDGE);
    scene.start(&[]);
    let view = scene.wait_for(&["completed"]);
    let branch = format!("agent-loop/{}", id_of(&view));
    let landed = scene.git(&["ls-tree", "-r", "--name-only", "-z", &branch]);
    let mut landed: Vec<&str> = landed.split('\0').filter(|name| !name.is_empty()).collect();
    landed.sort_unstable();
    assert_eq!(
        landed,
        [
            "README",
            "hard",
            "latin-\u{fffd}",
            "new\nline",
            "one.txt",
            "prd.json",
            "setuid"
        ]
    );
    let modes = scene.git(&["ls-tree", &branch, "setuid"]);
    assert!(modes.starts_with("100755"), "{modes}");
    let notes = notes_of(&scene, id_of(&view));
    for expected in [
        "`pipe` was left out: a pipe, a socket or a device",
        "`huge` was left out: too large",
        "`.GIT` was left out: a name of git's own",
        "`git~1` was left out: a name of git's own",
        "`readme` was left out: beside it is a name that differs only in upper and lower case",
        "`out` was left out: a link that leads out of the project (/etc)",
        "`up` was left out: a link that leads out of the project (../../../keys.json)",
        "was left out: it lies in too many folders inside each other",
        "`hard` is a hard link with a further name elsewhere",
        "`setuid` had a setuid, setgid or sticky bit, which is not kept",
    ] {
        assert!(notes.contains(expected), "{expected}: {notes}");
    }
}

/// The story passes at its second attempt, which was told why the first one failed.
fn fails_once(first: &str, reason: &str) {
    let tell = "cat > \"$STARTS-told-$LOOPWRIGHT_ATTEMPT\" < /dev/stdin\n";
    let implement = format!("{tell}{first}{IMPLEMENT}");
    let scene = Scene::with_agents(&["one"], &implement, JUDGE);
    scene.start(&[]);
    let view = scene.wait_for(&["completed"]);
    let story = &view["stories"][0];
    let seen = (story["status"].as_str(), story["attempts"].as_u64());
    assert_eq!(seen, (Some("passed"), Some(2)), "{view}");
    let told = scene.env.read("starts-told-2");
    assert!(told.contains(reason), "{told}");
}

#[test]
fn i09_files_that_are_too_much_altogether_are_a_failed_attempt_and_no_stall() {
    fails_once(
        TOO_MUCH,
        "its new `.gitignore` files have more than 8388608 bytes altogether",
    );
}

#[test]
fn i09_a_link_where_the_checkout_was_is_a_failed_attempt() {
    fails_once(
        LINK_INSTEAD,
        "the project's folder is gone, and something else is in its place",
    );
}
