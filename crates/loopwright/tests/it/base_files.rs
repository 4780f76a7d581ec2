//! Submodules and files that go through a filter: as people see them in every checkout, as git
//! records them on the branch, or refused at `start`.

use crate::scene::Scene;

/// Writes a new file that goes through the filter, after looking at what it was given.
const IMPLEMENT: &str = r"cat > /dev/null
grep -qx one a.bin && grep -qx content lib/near || exit 9
echo new > new.bin
";

/// A project with a submodule in `lib` and a filter for `*.bin`.
fn scene() -> Scene {
    let scene = Scene::with_agents(&["a"], IMPLEMENT, crate::scene::JUDGE);
    scene.configure(
        "[loop]\nflow = \"solo\"\n\n[checks]\ntest = \"grep -qx one a.bin && grep -qx content lib/near\"\n",
    );
    scene.env.write("lib/near", "content\n");
    testkit::init(&scene.env.path("lib"), &["near"]);
    let lib = scene.env.path("lib").display().to_string();
    scene.git(&["submodule", "--quiet", "add", &lib, "lib"]);
    scene.git(&["config", "filter.box.clean", "sed 's/^/boxed: /'"]);
    scene.git(&["config", "filter.box.smudge", "sed 's/^boxed: //'"]);
    scene
        .env
        .write("project/.gitattributes", "*.bin filter=box\n");
    scene.env.write("project/a.bin", "one\n");
    scene.git(&["add", ".gitattributes", "a.bin"]);
    scene.git(&["commit", "-q", "-m", "a submodule and a filter"]);
    scene
}

#[test]
fn a_loop_has_submodules_and_filtered_files_as_a_clone_has_them() {
    let scene = scene();
    let answer = scene.start(&["--foreground"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let branch = scene.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/heads/agent-loop",
    ]);
    let recorded = |path: &str| scene.git(&["show", &format!("{branch}:{path}")]);
    assert_eq!(recorded("new.bin"), "boxed: new");
    assert_eq!(recorded("a.bin"), "boxed: one");
    let changed = scene.git(&["diff", "--name-only", "main", &branch]);
    assert_eq!(changed, "new.bin", "the submodule stays where it was");
}

#[test]
fn a_base_whose_files_cannot_be_had_is_refused_at_start() {
    let scene = scene();
    let refused = |words: &str, help: &str| {
        let answer = scene.start(&[]);
        assert_eq!(answer.exit, 3, "{}", answer.whole());
        for text in [words, help] {
            assert!(answer.stderr.contains(text), "{text}: {}", answer.whole());
        }
        let loops = scene.env.run(&["list", "--json"]).json();
        assert_eq!(loops["result"]["loops"], serde_json::json!([]));
    };
    scene.git(&["config", "--remove-section", "filter.box"]);
    refused("`a.bin` goes through the filter `box`", "filter.box.smudge");
    scene.git(&["config", "filter.box.smudge", "cat"]);
    std::fs::remove_dir_all(scene.project().join(".git/modules")).expect("removed");
    refused("the submodule `lib`", "git submodule update --init");
    let doctor = scene.env.run(&["doctor", "--project", "project"]);
    assert!(
        doctor.stdout.contains("the submodule `lib`"),
        "{}",
        doctor.whole()
    );
}
