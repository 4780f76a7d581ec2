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
    let choices = "retry, skip, cancel, or your own words, which the agent is told";
    let last = format!(
        "asks    one: tabs or spaces?\nanswer  {choices}\n        loopwright answer {id} --story one WORD\n"
    );
    assert!(ended.stdout.ends_with(&last), "{}", ended.whole());
    let empty = scene.env.run(&["answer", id]);
    let command = format!("  loopwright answer {id} --story one");
    assert_eq!(
        empty.whole(),
        format!(
            "exit 4\n----- stdout\nloop {id} asks 1 question\n\none: tabs or spaces?\n{command} retry\n{command} skip\n\
             {command} cancel\n{command} \"your own words\"\n----- stderr\n"
        )
    );
    let nobody = scene.env.run(&["story", id, "one"]).stdout;
    assert!(nobody.contains("not answered yet"), "{nobody}");
    let answered = scene.env.run(&["answer", id, "spaces, please"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    scene.wait_for(&["completed"]);
    let told = "questions\n  implement by builder (attempt 1): tabs or spaces?\n    answered: spaces, please\n";
    let page = scene.env.run(&["story", id, "one"]).stdout;
    assert!(page.contains(told), "{page}");
    let page = scene.env.run(&["story", id, "one", "--markdown"]).stdout;
    assert!(
        page.contains("(attempt 1): tabs or spaces? **answered: spaces, please**"),
        "{page}"
    );
    let asked = scene.env.run(&["story", id, "one", "--json"]).json();
    let asked = &asked["result"]["questions"][0];
    assert_eq!(asked["answer"], "spaces, please", "{asked}");
    assert_eq!(asked["agent"], "builder", "{asked}");
}

/// Two stories ask, each its own, and at length.
#[test]
fn every_open_question_is_shown_with_what_answers_it_and_whole() {
    let asks = "cat > /dev/null\necho \"{\\\"question\\\": \\\"$LOOPWRIGHT_STORY_ID: $(printf 'word %.0s' $(seq 60))end?\\\"}\"\n";
    let scene = Scene::with_agents(&["one", "two"], asks, JUDGE);
    let ended = scene.start(&["--foreground", "--parallel", "2"]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    let status = scene.status();
    let id = status["loopId"].as_str().expect("an id");
    let empty = scene.env.run(&["answer", id]);
    assert_eq!(empty.exit, 4, "{}", empty.whole());
    let json = scene.env.run(&["answer", id, "--json"]);
    assert_eq!(json.exit, 4, "{}", json.whole());
    let json = json.json();
    let questions = json["result"]["questions"].as_array().expect("questions");
    assert_eq!((questions.len(), &json["ok"]), (2, &true.into()), "{json}");
    for (at, story) in ["one", "two"].into_iter().enumerate() {
        let command = format!("loopwright answer {id} --story {story} skip");
        assert!(empty.stdout.contains(&command), "{}", empty.whole());
        assert!(
            empty.stdout.contains(&format!("{story}: {story}: word")),
            "{}",
            empty.whole()
        );
        assert_eq!(questions[at]["storyId"], story, "{json}");
        assert_eq!(questions[at]["commands"][1], *command, "{json}");
    }
    // Nothing is cut in a pipe, neither of what is followed nor of what is read afterwards.
    let events = scene.env.run(&["events", id]).stdout;
    for text in [&events, &ended.stderr] {
        assert_eq!(text.matches("word end?\n").count(), 2, "{text}");
    }
    // One of them alone.
    let one = scene.env.run(&["answer", id, "--story", "two"]).stdout;
    assert!(one.contains("two: ") && !one.contains("one: "), "{one}");
    assert_eq!(
        scene
            .env
            .run(&["answer", id, "--story", "two", "skip"])
            .exit,
        0
    );
    let none = scene.env.run(&["answer", id, "--story", "two"]);
    assert!(
        none.exit == 2 && none.stderr.contains("story `two` asks nothing"),
        "{}",
        none.whole()
    );
}

#[test]
fn a_question_that_nobody_could_read_an_answer_to_offers_its_choices_alone() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 77\n", JUDGE);
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    let status = scene.status();
    let id = status["loopId"].as_str().expect("an id");
    let offered = format!("answer  retry, skip, cancel\n        loopwright answer {id}");
    assert!(ended.stdout.contains(&offered), "{}", ended.whole());
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
