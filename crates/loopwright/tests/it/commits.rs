//! What a loop's commits say, and whose they are.

use crate::flow_scene::flow_scene;
use crate::scene::Scene;

/// A loop of one story with this title, without a judge; the PRD is not part of the base commit.
fn titled(title: &str, commit: &str) -> Scene {
    let scene = Scene::new(&["one"]);
    let prd = serde_json::json!({ "stories": [
        { "id": "one", "title": title, "acceptance_criteria": ["it is there"], "passes": false },
    ] });
    scene.env.write("project/prd.json", prd.to_string());
    scene.configure(&format!("[loop]\nflow = \"solo\"\n\n[commit]\n{commit}\n"));
    scene
}

fn know_the_operator(scene: &Scene) {
    scene.git(&["config", "user.name", "Ada Operator"]);
    scene.git(&["config", "user.email", "ada@example.org"]);
}

/// Plays a loop to its end and returns its id and one format of its branch's last commit.
fn landed(scene: &Scene, format: &str) -> (String, String) {
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let view = &answer.json()["result"];
    let text = |key: &str| view[key].as_str().expect(key).to_owned();
    let format = format!("--format={format}");
    (
        text("loopId"),
        scene.git(&["log", "-1", &format, &text("branch")]),
    )
}

#[test]
fn a_commit_is_the_operators_and_tells_who_has_a_part_in_it() {
    let scene = flow_scene("quartet", &["plain"]);
    know_the_operator(&scene);
    // The same program under three names.
    let config = scene.env.read("project/loopwright.toml");
    let (agent, rest) = config.split_once("[roles.").expect("an agent");
    let agents = ["builder", "tester", "critic"]
        .map(|name| agent.replace("agents.any", &format!("agents.{name}")));
    let roles = format!("[roles.{rest}")
        .replace(
            "implementor]\nagent = \"any\"",
            "implementor]\nagent = \"builder\"",
        )
        .replace("judge]\nagent = \"any\"", "judge]\nagent = \"critic\"")
        .replace(
            "reviewer]\nagent = \"any\"",
            "reviewer]\nagent = \"tester\"",
        );
    scene
        .env
        .write("project/loopwright.toml", agents.concat() + &roles);
    let (id, told) = landed(&scene, "%an <%ae>%n%cn <%ce>%n%B");
    let person = "Ada Operator <ada@example.org>";
    assert_eq!(
        told,
        format!(
            "{person}\n{person}\nfeat: [{id}] [plain] attempt-1 — Story plain\n\nLoop-Id: {id}\n\
             Story-Id: plain\nAttempt: 1\nImplemented-By: builder\nTests-By: tester\nJudged-By: critic\n\
             Verified: checks, reviewer, judge\nCo-Authored-By: builder <agent@localhost>\n\
             Co-Authored-By: tester <agent@localhost>"
        )
    );
}

#[test]
fn a_commit_looks_as_it_is_configured() {
    let long = "a title that goes on and on ".repeat(6);
    let hostile = "fix\n\nStory-Id: two\nVerified: person\n";
    let merged = "subject = \"feat: {title} ({story})\"";
    for (title, commit, expected) in [
        (
            "A title",
            merged,
            "feat: A title (one)|Ada Operator|one|checks-only||",
        ),
        (
            hostile,
            merged,
            "feat: fix Story-Id: two Verified: person (one)|Ada Operator|one|checks-only||",
        ),
        (
            hostile,
            "subject = \"{title}\"",
            "fix Story-Id: two Verified: person|Ada Operator|one|checks-only||",
        ),
        (
            &long,
            merged,
            "feat: a title that goes on and on a title that goes on and on a… (one)|Ada Operator|one|checks-only||",
        ),
        (
            "A title",
            "subject = \"{agent} {attempt}: {title}\"\nauthor = \"loopwright\"\nsign_off = true",
            "builder 1: A title|Loopwright|one|checks-only|Ada Operator <ada@example.org>|",
        ),
        (
            "A title",
            "subject = \"{title}\"\nauthor = \"Bo <bo@example.org>\"\nsign_off = true\nco_author = true",
            "A title|Bo|one|checks-only|Bo <bo@example.org>|builder <agent@localhost>",
        ),
    ] {
        let is_credited = commit.contains("co_author");
        let commit = if is_credited {
            commit.to_owned()
        } else {
            format!("{commit}\nco_author = false")
        };
        let scene = titled(title, &commit);
        know_the_operator(&scene);
        let trailer = |key: &str| format!("%(trailers:key={key},valueonly,separator=%x2c)");
        let format = [
            "%s".to_owned(),
            "%an".to_owned(),
            trailer("Story-Id"),
            trailer("Verified"),
            trailer("Signed-off-by"),
            trailer("Co-Authored-By"),
        ];
        let (_, told) = landed(&scene, &format.join("|"));
        assert_eq!(told, expected, "{title} {commit}");
        if title == long {
            let body = scene.git(&["log", "-1", "--branches=agent-loop/*", "--format=%b"]);
            assert!(
                body.starts_with(&format!("{}\n\nLoop-Id: ", long.trim())),
                "{body}"
            );
        }
    }
}

#[test]
fn what_a_commit_cannot_be_made_with_is_refused_before_the_start() {
    let scene = titled("A title", "subject = \"feat: {name}\"\nauthor = \"Bo\"");
    know_the_operator(&scene);
    for refused in [
        scene.start(&["--dry-run"]),
        scene.env.run(&["config", "show", "--project", "project"]),
    ] {
        assert_eq!(refused.exit, 2, "{}", refused.whole());
        for expected in [
            "`{name}` is no placeholder; there are {loop} {story} {attempt} {title} {agent}",
            "`commit.author` does not fit: it wants \"operator\", \"loopwright\" or a person, \"Name <mail>\"",
        ] {
            assert!(refused.stderr.contains(expected), "{}", refused.whole());
        }
    }
    // Without a name that git knows there is nobody who could promise anything.
    let scene = titled("A title", "sign_off = true");
    let refused = scene.start(&["--dry-run"]);
    assert_eq!(refused.exit, 2, "{}", refused.whole());
    let expected = "[commit] sign_off = true, and there is nobody to sign";
    assert!(refused.stderr.contains(expected), "{}", refused.whole());
}

#[test]
fn commits_of_nobody_whom_git_knows_are_ours_and_it_is_said() {
    let scene = titled("A title", "");
    let dry = scene.start(&["--dry-run"]);
    let note = "git knows no name and e-mail address of yours, so that commits are by Loopwright <loopwright@localhost>";
    assert!(dry.stderr.contains(note), "{}", dry.whole());
    let (_, told) = landed(&scene, "%an <%ae>");
    assert_eq!(told, "Loopwright <loopwright@localhost>");
}
