//! Questions say what they can be answered with: words of one's own, where an agent listens.

use crate::scene::{IMPLEMENT, JUDGE, Scene};

#[test]
fn a_question_of_an_agent_takes_ones_own_words_and_says_so() {
    // It asks until its prompt holds the answer.
    let asks = format!(
        "cat > \"$STARTS-prompt\"\nif ! grep -q 'spaces, please' \"$STARTS-prompt\"; then\n  echo '{{\"question\": \"tabs or spaces?\"}}'; exit\nfi\n{IMPLEMENT}"
    );
    let scene = Scene::with_agents(&["one"], &asks, JUDGE);
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    let status = scene.status();
    let id = status["loopId"].as_str().expect("an id");
    let offered = "answer  retry, skip, cancel, or your own words, which the agent is told: loopwright answer";
    assert!(ended.stdout.contains(offered), "{}", ended.whole());
    let empty = scene.env.run(&["answer", id]);
    assert_eq!(
        empty.whole(),
        format!(
            "exit 2\n----- stdout\n----- stderr\nerror: loop {id}: an answer is missing to: tabs or spaces?\n\
             help: loopwright answer {id} --story one retry|skip|cancel|\"your own words\"\n"
        )
    );
    let answered = scene.env.run(&["answer", id, "spaces, please"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    scene.wait_for(&["completed"]);
}

#[test]
fn a_question_that_nobody_could_read_an_answer_to_offers_its_choices_alone() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 77\n", JUDGE);
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    assert!(
        ended
            .stdout
            .contains("answer  retry, skip, cancel: loopwright answer"),
        "{}",
        ended.whole()
    );
    let status = scene.status();
    let id = status["loopId"].as_str().expect("an id");
    let refused = scene.env.run(&["answer", id, "spaces, please"]);
    assert_eq!(
        refused.whole(),
        format!(
            "exit 2\n----- stdout\n----- stderr\nerror: loop {id}: `spaces, please` is none of retry, skip, cancel\n\
             help: loopwright answer {id} --story one retry|skip|cancel\n"
        )
    );
    assert_eq!(scene.env.run(&["cancel", id]).exit, 0);
    scene.wait_for(&["cancelled"]);
    let over = scene.env.run(&["answer", id]);
    assert!(
        over.exit == 2 && over.stderr.contains("is over"),
        "{}",
        over.whole()
    );
}
