//! `loopwright demo`

use crate::support::TestEnv;

#[test]
fn demo_shows_the_real_commands_at_work() {
    let env = TestEnv::new();
    let answer = env.run(&["demo"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(answer.stdout.contains("+       \"passes\": true"), "{}", answer.whole());
    assert!(answer.stderr.contains("error[PRD011]"), "{}", answer.whole());
    let kept = env.run(&["demo", "--keep", "shelf", "--json"]);
    assert_eq!((kept.exit, kept.json()["ok"].as_bool()), (0, Some(true)), "{}", kept.whole());
    assert!(env.read("shelf/prd.json").contains("\"dependsOn\": [1],\n      \"passes\": true"));
    let again = env.run(&["demo", "--keep", "shelf"]);
    assert!(
        again.exit == 3 && again.stderr.contains("name a folder that does not exist yet"),
        "{}",
        again.whole()
    );
}
