//! `loopwright demo`

use crate::support::TestEnv;

#[test]
fn demo_runs_a_real_loop() {
    let env = TestEnv::new();
    let answer = env.run(&["demo", "--keep", "show", "--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let view = &answer.json()["result"];
    let stories: Vec<String> = view["stories"]
        .as_array()
        .expect("stories")
        .iter()
        .map(|story| format!("{} {} {}", story["id"], story["status"], story["attempts"]))
        .collect();
    assert_eq!(
        stories,
        [
            r#""greet" "passed" 1"#,
            r#""shout" "passed" 2"#,
            r#""fly" "skipped" 2"#
        ]
    );
    assert!(
        env.read("show/project/prd.json")
            .contains("\"skipped\": true")
    );
    let again = env.run(&["demo", "--keep", "show"]);
    assert!(
        again.exit == 3
            && again
                .stderr
                .contains("name a folder that does not exist yet"),
        "{}",
        again.whole()
    );
}
