//! Checkouts on the host that are kept and put right for the next run, through the whole program: no run
//! sees what another one left, the files are the ones of before, nothing is left at the end, and a kill at
//! any moment in between changes nothing.

use std::collections::BTreeSet;
use std::fs;

use kernel::Event;
use testkit::CrashSwitch;

use crate::crash_writes::{Nth, by_kind, served, worker};
use crate::prepared::{CLOCK_MS, prepared_with, records};
use crate::sample::sample;
use crate::scene::{Scene, processes_with, wait_until};

const LOOP: &str = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/// Enough for a checkout to be kept.
const FILES: usize = 600;

/// Works, and leaves a mess: files that git ignores, a changed file that is put back with its old time, a
/// folder without rights, a link in the place of a file.
const IMPLEMENT: &str = r#"cat > /dev/null
ls -di . | sed 's/ .*//' >> "$STARTS.folders"
[ -e build ] && exit 3
[ "$(cat part-1/150.txt)" = "text of 150" ] || exit 4
[ -z "$(git status --porcelain)" ] || exit 5
mkdir -p build/deep && echo x > build/deep/out.log && chmod 000 build/deep
touch -r part-1/150.txt "$STARTS.time" && echo 'text of 999' > part-1/150.txt && touch -r "$STARTS.time" part-1/150.txt
git checkout -q part-1/150.txt
echo "work of $LOOPWRIGHT_STORY_ID" > "$LOOPWRIGHT_STORY_ID.txt"
"#;

/// Passes where it sees the candidate and nothing else, and spoils it for whoever comes next.
const JUDGE: &str = concat!(
    testkit::criteria_of_prompt!(),
    r#"word=PASS
[ -e build ] && word=FAIL
[ -f "$LOOPWRIGHT_STORY_ID.txt" ] || word=FAIL
[ -z "$(git status --porcelain --ignored)" ] || word=FAIL
[ "$(cat part-2/200.txt)" = "text of 200" ] || word=FAIL
rm part-2/200.txt && ln -s /etc/hostname part-2/200.txt
echo 'not what it was' > "$LOOPWRIGHT_STORY_ID.txt"
echo "{\"verdict\": \"$word\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA], \"guidance\": []}"
"#
);

/// Green where nothing was left by an earlier command, and leaves something itself.
const CHECK: &str = "test ! -e left && test ! -e .git && test ! -e build && \
    test \\\"$(cat part-3/300.txt)\\\" = 'text of 300' && echo spoilt > part-3/300.txt && mkdir left";

/// What must be the same, whoever died.
#[derive(Debug, PartialEq)]
struct Ending {
    published: String,
    prd: String,
    last: String,
}

struct Played {
    ending: Ending,
    moments: Vec<String>,
    /// The numbers of the folders that implementors worked in.
    folders: Vec<String>,
}

fn play(at: Option<&Nth>) -> Played {
    let scene = Scene::with_agents(&["one", "two", "three"], IMPLEMENT, JUDGE);
    for number in 0..FILES {
        let path = format!("project/part-{}/{number}.txt", number / 100);
        scene.env.write(&path, format!("text of {number}\n"));
    }
    scene.one_after_the_other("one", "two");
    scene.one_after_the_other("two", "three");
    scene.env.write("project/.gitignore", "build/\n");
    // Without the configuration, which holds paths of this play.
    scene.git(&["add", "--", ".", ":!loopwright.toml"]);
    scene.git(&["commit", "--quiet", "-m", "many files"]);
    scene.configure(&format!(
        "[checks]\ntest = \"{CHECK}\"\n[retry]\nwait = 1\n"
    ));
    prepared_with(&scene, LOOP, &["--flow", "judged", "--sandbox", "host"]);
    let at = at.map(|(words, nth)| (words.as_str(), *nth));
    let switch = CrashSwitch::new(&scene.env.path("switch"), at, CLOCK_MS);
    let mut worker = worker(&scene, &switch);
    worker.env(CrashSwitch::OF_CHECKS, switch.folder());
    served(&scene, worker);
    wait_until("i11: the end of every process", || {
        let folder = scene.home().join("loops");
        processes_with(&folder).is_empty().then_some(())
    });
    let last = records(&scene, LOOP).pop().map(|record| record.event);
    let Some(Event::LoopEnded { reason, .. }) = last else {
        panic!("the loop has not ended: {last:?}");
    };
    for name in ["checkouts", "rack"] {
        let folder = scene.home().join("loops").join(LOOP).join(name);
        assert!(!folder.exists(), "{name} is left");
    }
    let folders = fs::read_to_string(scene.env.path("starts.folders")).unwrap_or_default();
    Played {
        ending: Ending {
            published: scene.git(&["log", "--format=%s %T", &format!("agent-loop/{LOOP}")]),
            prd: scene.env.read("project/prd.json"),
            last: format!("{reason:?}"),
        },
        moments: switch.moments(),
        folders: folders.lines().map(str::to_owned).collect(),
    }
}

/// CI kills at one moment, the soak at all of them.
#[test]
fn i04_a_kill_while_a_checkout_is_kept_or_put_right_changes_nothing() {
    let calm = play(None);
    assert!(calm.ending.last.contains("Complete"), "{:?}", calm.ending);
    // Three stories, and the files of one checkout: what the first made is what the last works in.
    assert_eq!(calm.folders.len(), 3, "{:?}", calm.folders);
    let different: BTreeSet<&String> = calm.folders.iter().collect();
    assert!(different.len() < 3, "{:?}", calm.folders);
    let kinds = by_kind(&calm.moments);
    let of_ours = kinds
        .iter()
        .filter(|(kind, _)| kind.contains("checkout is"));
    let moments: Vec<Nth> = of_ours.flat_map(|(_, moments)| moments.clone()).collect();
    assert!(moments.len() >= 12, "{moments:?}");
    for moment in sample("kept checkouts", &moments) {
        let killed = play(Some(&moment));
        let n_passed = killed
            .moments
            .iter()
            .filter(|words| **words == moment.0)
            .count();
        assert!(n_passed >= moment.1, "the program never came to {moment:?}");
        assert_eq!(killed.ending, calm.ending, "killed at {moment:?}");
    }
}
