//! The order in which stories would run.

use prd::{GraphFormat, graph, order};

use crate::support::read_text;

fn runs(stories: &str) -> String {
    let prd = read_text("prd.json", format!("[{stories}]"))
        .prd
        .expect("stories");
    let order = order(&prd);
    let names = |stories: &[&prd::Story]| {
        stories
            .iter()
            .map(|story| story.id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let held: Vec<String> = order
        .held
        .iter()
        .map(|(story, by)| {
            format!(
                "{}<{}",
                story.id,
                by.iter()
                    .map(|id| id.as_str())
                    .collect::<Vec<_>>()
                    .join(",")
            )
        })
        .collect();
    format!(
        "runs {} | held {} | aside {} | passed {}",
        names(&order.runs),
        held.join(" "),
        names(&order.set_aside),
        names(&order.passed)
    )
}

fn story(id: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","title":"T","steps":["c"]{rest}}}"#)
}

#[test]
fn priority_then_file_order_then_dependencies() {
    for (stories, expected) in [
        (
            vec![story("a", ""), story("b", "")],
            "runs a b | held  | aside  | passed ",
        ),
        (
            vec![
                story("a", r#","priority":2"#),
                story("b", r#","priority":1"#),
            ],
            "runs b a | held  | aside  | passed ",
        ),
        (
            vec![story("a", ""), story("b", r#","priority":9"#)],
            "runs b a | held  | aside  | passed ",
        ),
        (
            vec![
                story("a", r#","priority":"low""#),
                story("b", r#","priority":"P0""#),
            ],
            "runs b a | held  | aside  | passed ",
        ),
        (
            vec![
                story("a", r#","priority":1,"deps":["b"]"#),
                story("b", r#","priority":5"#),
            ],
            "runs b a | held  | aside  | passed ",
        ),
        (
            vec![
                story("a", r#","passes":true"#),
                story("b", r#","deps":["a"]"#),
            ],
            "runs b | held  | aside  | passed a",
        ),
        (
            vec![
                story("a", r#","skipped":true"#),
                story("b", r#","deps":["a"]"#),
                story("c", r#","deps":["b"]"#),
            ],
            "runs  | held b<a c<b | aside a | passed ",
        ),
        (
            vec![
                story("a", r#","deps":["b"]"#),
                story("b", r#","deps":["a"]"#),
                story("c", ""),
            ],
            "runs c | held a<b b<a | aside  | passed ",
        ),
        (
            vec![story("a", r#","status":"failed""#), story("b", "")],
            "runs b | held  | aside a | passed ",
        ),
    ] {
        assert_eq!(runs(&stories.join(",")), expected, "{stories:?}");
    }
}

#[test]
fn a_graph_quotes_what_a_graph_program_would_read() {
    let text = r#"[{"id":"a","title":"say \"hi\" #1 <b>","steps":["c"],"passes":true},{"id":"b","title":"B","steps":["c"],"deps":["a"]}]"#;
    let prd = read_text("prd.json", text).prd.expect("stories");
    insta::assert_snapshot!(graph(&prd, GraphFormat::Dot) + &graph(&prd, GraphFormat::Mermaid), @r#"
    digraph prd {
      rankdir=LR;
      node [shape=box, style=rounded];
      s1 [label="a: say \"hi\" #1 <b> [passed]", color=gray, fontcolor=gray];
      s2 [label="b: B"];
      s1 -> s2;
    }
    graph LR
      s1["a: say #quot;hi#quot; #35;1 #lt;b#gt; [passed]"]
      s2["b: B"]
      s1 --> s2
    "#);
}
