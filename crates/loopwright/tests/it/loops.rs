//! Whole loops through the program, with scripted agents, real git and real checks.

use rustix::process::{Signal, kill_process};
use testkit::git;

use crate::prepared::prepared_as;
use crate::scene::{IMPLEMENT, JUDGE, Scene, processes_with, wait_until};
use crate::sigkill::ours;

fn statuses(view: &serde_json::Value) -> Vec<String> {
    let stories = view["stories"].as_array().cloned().unwrap_or_default();
    stories
        .iter()
        .map(|story| {
            format!(
                "{} {} {}",
                story["id"].as_str().unwrap_or(""),
                story["status"].as_str().unwrap_or(""),
                story["attempts"]
            )
        })
        .collect()
}

#[test]
fn a_loop_passes_retries_and_skips() {
    let scene = Scene::new(&["one", "retry-two", "never-three"]);
    let answer = scene.start(&["--foreground", "--json", "--max-retries", "1"]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    let view = &answer.json()["result"];
    assert_eq!(
        statuses(view),
        [
            "one passed 1",
            "retry-two passed 2",
            "never-three skipped 2"
        ]
    );
    assert_eq!(view["status"], "completed");
    let branch = view["branch"].as_str().expect("a branch");
    let subjects = scene.git(&["log", "--format=%s", branch]);
    let id = view["loopId"].as_str().expect("an id");
    let expected = format!(
        "feat: [{id}] [retry-two] attempt-2 — Story retry-two\nfeat: [{id}] [one] attempt-1 — Story one\nstart"
    );
    assert_eq!(subjects, expected);
    assert_eq!(
        scene.git(&["show", "--format=", "--name-only", branch]),
        "retry-two.txt",
        "the diff is exactly this attempt's"
    );
    let prd = scene.env.read("project/prd.json");
    assert_eq!(
        (
            prd.matches("\"passes\": true").count(),
            prd.matches("\"skipped\": true").count()
        ),
        (2, 1),
        "{prd}"
    );
    let events = scene.env.run(&["events", &id[..12], "--json"]).json();
    let names: Vec<&str> = events["result"]["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert_eq!(names.first(), Some(&"agent/loop.start"));
    assert_eq!(
        names
            .iter()
            .filter(|name| **name == "agent/loop.story.fail")
            .count(),
        1
    );
    assert_eq!(names.last(), Some(&"agent/loop.complete"));
}

#[test]
fn every_run_can_be_traced_and_a_loop_that_is_over_removed() {
    let scene = Scene::new(&["retry-one"]);
    scene.start(&["--foreground"]);
    let id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    let runs = scene.env.run(&["runs", &id, "--json"]).json();
    let stages: Vec<String> = runs["result"]["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|run| {
            format!(
                "{} {} {}",
                run["attempt"],
                run["stage"].as_str().unwrap_or(""),
                run["outcome"]["outcome"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(
        stages,
        [
            "1 baseline checked",
            "1 implement worked",
            "1 check checked",
            "1 judge judged",
            "2 implement worked",
            "2 check checked",
            "2 judge judged"
        ]
    );
    let second = runs["result"]["runs"][4]["runId"].as_str().expect("an id");
    let trace = scene.env.run(&["run", second]);
    assert!(
        trace.stdout.contains(
            "### Attempt 1 was rejected\n\nscripted\nmet: it is there (seen)\ndo: do better"
        ),
        "{}",
        trace.whole()
    );
    let logs = scene
        .env
        .run(&["logs", &id, "--story", "retry-one", "--attempt", "2"])
        .stdout;
    assert!(
        logs.contains("== candidate: test ended: exit code 0")
            && logs.contains("\"verdict\": \"PASS\""),
        "{logs}"
    );
    assert_eq!(scene.env.run(&["run", "run_X_1"]).exit, 2);
    assert_eq!(scene.env.run(&["nuke", &id]).exit, 0);
    assert_eq!(scene.env.run(&["list"]).stdout, "");
    assert!(!scene.home().join("loops").join(&id).exists());
    assert!(
        !scene
            .git(&["for-each-ref", "refs/heads/agent-loop"])
            .is_empty(),
        "the operator keeps the branch"
    );
}

#[test]
fn i06_the_operators_checkout_is_theirs() {
    let scene = Scene::new(&["one"]);
    // A dirty tree, a staged change, a stash, and a hook that must not run.
    scene.env.write("project/README", "stashed\n");
    scene.git(&["stash", "--quiet"]);
    scene.env.write("project/README", "dirty\n");
    scene.env.write("project/staged", "staged\n");
    scene.git(&["add", "staged"]);
    let hook = format!(
        "#!/bin/sh\ntouch {}\n",
        scene.env.path("hook-ran").display()
    );
    for name in [
        "post-commit",
        "reference-transaction",
        "post-checkout",
        "update",
        "post-receive",
    ] {
        scene
            .env
            .write(&format!("project/.git/hooks/{name}"), &hook);
        std::fs::set_permissions(
            scene.env.path(&format!("project/.git/hooks/{name}")),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .expect("mode");
    }
    let look = || {
        let read = |name: &str| {
            std::fs::read(scene.env.path(&format!("project/.git/{name}"))).unwrap_or_default()
        };
        let refs = scene
            .git(&["for-each-ref"])
            .lines()
            .filter(|line| !line.contains("refs/heads/agent-loop/"))
            .collect::<Vec<_>>()
            .join("\n");
        let status: Vec<String> = scene
            .git(&["status", "--porcelain"])
            .lines()
            .filter(|line| !line.contains("prd.json"))
            .map(str::to_owned)
            .collect();
        (
            read("index"),
            read("HEAD"),
            read("config"),
            read("logs/refs/stash"),
            read("FETCH_HEAD"),
            refs,
            status,
            scene.env.read("project/README"),
        )
    };
    let before = look();
    let _ = std::fs::remove_file(scene.env.path("hook-ran"));
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(
        !scene.env.path("hook-ran").exists(),
        "no hook of the operator's runs"
    );
    assert_eq!(look(), before);
    assert_eq!(answer.json()["result"]["stories"][0]["status"], "passed");
}

#[test]
fn i01_rejected_work_never_reaches_the_branch() {
    let scene = Scene::new(&["never-one"]);
    let answer = scene.start(&["--foreground", "--json"]);
    let view = &answer.json()["result"];
    assert_eq!(statuses(view), ["never-one skipped 3"]);
    assert_eq!(
        view["headSha"],
        scene.git(&["rev-parse", "main"]),
        "the head is where it began"
    );
    assert!(
        scene
            .git(&["for-each-ref", "refs/heads/agent-loop"])
            .is_empty(),
        "nothing is published"
    );
    let repository = scene
        .home()
        .join("loops")
        .join(view["loopId"].as_str().expect("an id"))
        .join("repo.git");
    let kept = git(
        &repository,
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/loopwright/candidates",
        ],
    );
    assert_eq!(
        kept.lines().count(),
        3,
        "rejected work is kept for people: {kept}"
    );
}

#[test]
fn i02_a_judge_without_a_verdict_lets_nothing_land() {
    for (name, judge) in [
        ("prose", "cat > /dev/null\necho PASS\n"),
        (
            "wrong commit",
            "cat > /dev/null\necho '{\"verdict\": \"PASS\", \"commit\": \"0000000000000000000000000000000000000000\", \"criteria\": [{\"criterion\": \"it is there\", \"pass\": true, \"evidence\": \"seen\"}]}'\n",
        ),
        ("crash", "exit 9\n"),
        (
            "cut off",
            "cat > /dev/null\nprintf '{\"verdict\": \"PASS\", \"commit\": \"%s\"' \"$LOOPWRIGHT_CANDIDATE\"\n",
        ),
        (
            "no criteria",
            "cat > /dev/null\necho \"{\\\"verdict\\\": \\\"PASS\\\", \\\"commit\\\": \\\"$LOOPWRIGHT_CANDIDATE\\\"}\"\n",
        ),
        ("approval file", "cat > /dev/null\necho PASS > VERDICT\n"),
    ] {
        let scene = Scene::with_agents(&["one"], IMPLEMENT, judge);
        let answer = scene.start(&["--foreground", "--json", "--max-retries", "0"]);
        assert_eq!(
            statuses(&answer.json()["result"]),
            ["one skipped 1"],
            "{name}"
        );
        assert!(
            scene
                .git(&["for-each-ref", "refs/heads/agent-loop"])
                .is_empty(),
            "{name}"
        );
    }
}

#[test]
fn red_checks_reject_and_their_words_reach_the_next_attempt() {
    // The command itself is in every prompt, so it must not hold the words that it says.
    let implement = "task=$(cat)\ncase \"$task\" in *'want more'*) echo more > one.txt ;; *) echo less > one.txt ;; esac\n";
    let scene = Scene::with_agents(&["one"], implement, JUDGE);
    scene.configure("[checks]\ntest = \"if [ -f one.txt ]; then grep -q more one.txt || { echo want' 'more; exit 1; }; fi\"\n");
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(
        statuses(&answer.json()["result"]),
        ["one passed 2"],
        "{}",
        answer.whole()
    );
}

#[test]
fn i05_an_agent_that_asks_for_time_or_a_login_costs_no_attempt() {
    let implement = format!(
        "n=$(cat \"$STARTS\" | wc -l)\n[ $n -le 1 ] && exit 75\n[ $n -le 2 ] && exit 77\n{IMPLEMENT}"
    );
    let scene = Scene::with_agents(&["one"], &implement, JUDGE);
    scene.configure("[retry]\nwait = 1\n");
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(answer.exit, 4, "{}", answer.whole());
    let view = answer.json()["result"].clone();
    assert_eq!(
        (view["status"].as_str(), statuses(&view)),
        (Some("needs_human"), vec!["one running 1".to_owned()])
    );
    let id = view["loopId"].as_str().expect("an id").to_owned();
    assert_eq!(
        scene.env.run(&["answer", &id, "perhaps"]).exit,
        2,
        "not one of the choices"
    );
    assert_eq!(scene.env.run(&["answer", &id, "retry"]).exit, 0);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(statuses(&view), ["one passed 1"]);
    let names: Vec<String> = scene
        .env
        .run(&["events", &id])
        .stdout
        .lines()
        .map(|line| line.split(' ').next().unwrap_or("").to_owned())
        .collect();
    assert!(
        names.contains(&"agent/loop.waiting".to_owned())
            && names.contains(&"agent/loop.needs_human".to_owned()),
        "{names:?}"
    );
}

#[test]
fn a_loop_goes_on_without_the_terminal_and_can_be_paused() {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo x >> \"$STARTS\"\nwhile [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let answer = scene.start(&["--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let id = answer.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_until("the first agent", || {
        (!scene.starts().is_empty()).then_some(())
    });
    assert_eq!(scene.env.run(&["pause", &id]).exit, 0);
    std::fs::write(&gate, "").expect("written");
    scene.wait_for_view("the pause to take hold", |view| {
        view["status"] == "paused" && view["stories"][0]["detail"] == "attempt 1, check"
    });
    assert_eq!(scene.env.run(&["resume", &id]).exit, 0);
    assert_eq!(
        statuses(&scene.wait_for(&["completed"])),
        ["one passed 1", "two passed 1"]
    );
}

#[test]
fn a_second_worker_is_refused() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    let script = format!(
        "echo x >> \"$STARTS\"\nwhile [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", script);
    scene.start(&[]);
    // An agent runs, so there is a worker, and it stays until the gate opens.
    wait_until("the first agent", || {
        (!scene.starts().is_empty()).then_some(())
    });
    let refused = scene.env.run(&["serve", "--until-idle"]);
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    assert!(
        refused.stderr.contains("another worker is at work"),
        "{}",
        refused.whole()
    );
    std::fs::write(&gate, "").expect("written");
    scene.wait_for(&["completed"]);
}

#[test]
fn i12_a_damaged_loop_is_set_apart_and_the_others_go_on() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 77\n", JUDGE);
    scene.start(&["--foreground"]);
    let view = scene.wait_for(&["needs_human"]);
    let first = view["loopId"].as_str().expect("an id");
    wait_until("no process", || {
        let all = processes_with(&scene.home());
        for process in &all {
            let _ = kill_process(*process, Signal::KILL);
        }
        all.is_empty().then_some(())
    });
    // Whoever is the last to close the journal leaves all of it in one file.
    drop(journal::Journal::open(&scene.home()).expect("a journal"));
    let database = scene.home().join("journal.db");
    let bytes = std::fs::read(&database).expect("the journal");
    // One letter of each such record of the first loop is another one now; some pages may hold old
    // copies.
    let known = b"\"story\":\"one\",\"at";
    let places: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at..].starts_with(known))
        .collect();
    assert!(!places.is_empty(), "no record was found");
    let mut damaged = bytes;
    for at in places {
        damaged[at + 9] = b'x';
    }
    std::fs::write(&database, damaged).expect("written");
    scene.env.write("agents/implement.sh", IMPLEMENT);
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(
        statuses(&answer.json()["result"]),
        ["one passed 1"],
        "{}",
        answer.whole()
    );
    let list = scene.env.run(&["list"]).stdout;
    assert!(
        list.lines().any(|line| line.starts_with(first)
            && line.contains("quarantined")
            && line.contains("record")),
        "{list}"
    );
}

#[test]
fn an_agent_sees_its_task_and_little_else() {
    let implement = "env | sort > seen.txt\ncat >> seen.txt\npwd >> seen.txt\n";
    let scene = Scene::with_agents(&["one"], implement, JUDGE);
    scene.configure("");
    let mut command = scene.env.command(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--foreground",
    ]);
    command.env("SECRET_TOKEN", "hunter2").env("LC_ALL", "C");
    assert!(command.output().expect("ran").status.success());
    let view = scene.status();
    let seen = scene.git(&[
        "show",
        &format!("{}:seen.txt", view["branch"].as_str().expect("a branch")),
    ]);
    assert!(!seen.contains("hunter2"), "{seen}");
    for wanted in [
        "LC_ALL=C",
        "LOOPWRIGHT_ATTEMPT=1",
        "LOOPWRIGHT_ROLE=implementor",
        "LOOPWRIGHT_STAGE=implement",
        "LOOPWRIGHT_STORY_ID=one",
        "LOOPWRIGHT_BASE=",
        "## Story one: Story one",
        "- it is there",
    ] {
        assert!(seen.contains(wanted), "{wanted} in {seen}");
    }
    assert!(
        seen.lines()
            .last()
            .is_some_and(|folder| !folder.starts_with(&scene.project().display().to_string())),
        "it works elsewhere"
    );
}

#[test]
fn i09_a_secret_reaches_the_agent_that_may_have_it_and_no_file() {
    let implement = "[ \"$SECRET_TOKEN\" = hunter2 ] && echo yes > seen.txt\ncat > /dev/null\n";
    let scene = Scene::with_agents(&["one"], implement, JUDGE);
    let config = scene.env.read("project/loopwright.toml").replacen(
        "env = {",
        "pass_env = [\"SECRET_TOKEN\"]\nenv = {",
        1,
    );
    scene.env.write("project/loopwright.toml", config);
    let mut command = scene.env.command(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--foreground",
    ]);
    assert!(
        command
            .env("SECRET_TOKEN", "hunter2")
            .output()
            .expect("ran")
            .status
            .success()
    );
    let branch = scene.status()["branch"]
        .as_str()
        .expect("a branch")
        .to_owned();
    assert_eq!(scene.git(&["show", &format!("{branch}:seen.txt")]), "yes");
    let found = std::process::Command::new("grep")
        .args(["-r", "-l", "-a", "hunter2"])
        .arg(scene.home())
        .output()
        .expect("grep runs");
    assert_eq!(
        String::from_utf8_lossy(&found.stdout),
        "",
        "the secret is in no file of ours"
    );
}

#[test]
fn what_cannot_be_started_is_said_before_anything_is_recorded() {
    let scene = Scene::new(&["one"]);
    let start = |more: &[&str]| scene.env.run(&[&["start"][..], more].concat());
    let missing = start(&["--project", "project", "--prd", "none.json"]);
    assert!(
        missing.exit == 2 && missing.stderr.contains("cannot find `none.json`"),
        "{}",
        missing.whole()
    );
    scene
        .env
        .write("plain/prd.json", scene.env.read("project/prd.json"));
    let no_repository = start(&["--project", "plain", "--prd", "plain/prd.json"]);
    assert_eq!(no_repository.exit, 3, "{}", no_repository.whole());
    scene
        .env
        .write("project/loopwright.toml", "[loop]\nmax_retry = 3\n");
    let misspelt = scene.start(&[]);
    assert!(
        misspelt.exit == 2 && misspelt.stderr.contains("max_retry"),
        "{}",
        misspelt.whole()
    );
    scene.env.write("project/loopwright.toml", "");
    let no_agent = scene.start(&[]);
    assert!(
        no_agent.exit == 3 && no_agent.stderr.contains("agents: none is configured"),
        "{}",
        no_agent.whole()
    );
    assert_eq!(scene.env.run(&["list"]).stdout, "");
}

#[test]
fn i10_a_time_budget_is_one_falling_balance() {
    let implement = format!("sleep 1\n{IMPLEMENT}");
    let scene = Scene::with_agents(
        &["one", "two", "three", "four", "five", "six"],
        &implement,
        JUDGE,
    );
    let agents = scene
        .env
        .read("project/loopwright.toml")
        .replace("env = {", "timeout = 3\nenv = {");
    scene.env.write(
        "project/loopwright.toml",
        agents.replace("[checks]\n", "[checks]\ntimeout = 3\n") + "\n[budget]\nhours = 0.0015\n",
    );
    let answer = scene.start(&["--foreground", "--json"]);
    let view = answer.json()["result"].clone();
    assert_eq!(
        (view["status"].as_str(), view["reason"].as_str()),
        (Some("failed"), Some("budget_exhausted")),
        "{}",
        answer.whole()
    );
    let passed = view["stories"]
        .as_array()
        .expect("stories")
        .iter()
        .filter(|story| story["status"] == "passed")
        .count();
    assert!((1..6).contains(&passed), "{view}");
    assert!(
        view["spentMs"].as_i64().expect("a number") <= 5_400,
        "{view}"
    );
    for (budget, expected) in [
        ("usd = 5.0", "does not say what it costs"),
        ("hours = 0.0001", "so none could start"),
        ("dollars = 1", "dollars"),
    ] {
        scene.configure(&format!("[budget]\n{budget}\n"));
        let refused = scene.start(&[]);
        assert!(
            refused.exit == 2 && refused.stderr.contains(expected),
            "{}",
            refused.whole()
        );
    }
}

#[test]
fn init_makes_a_configuration_and_doctor_names_what_is_missing() {
    let scene = Scene::new(&["one"]);
    let refused = scene.env.run(&["init", "--project", "project"]);
    assert!(
        refused.exit == 2
            && refused
                .stderr
                .contains("are there already, and nothing was changed")
            && !refused.stderr.contains("--project ."),
        "{}",
        refused.whole()
    );
    let well = scene.env.run(&["doctor", "--project", "project", "--json"]);
    assert!(
        well.exit == 0 && well.json()["ok"] == true,
        "{}",
        well.whole()
    );
    std::fs::remove_file(scene.env.path("project/loopwright.toml")).expect("removed");
    // Whoever runs this may have agents of their own: only git is on the path here.
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("git"))
        .find(|program| program.is_file())
        .expect("git");
    std::fs::create_dir(scene.env.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(git, scene.env.path("bin/git")).expect("a link");
    let mut init = scene.env.command(&["init", "--project", "project"]);
    let made = init.env("PATH", scene.env.path("bin")).output();
    assert!(made.expect("started").status.success());
    let mut doctor = scene.env.command(&["doctor", "--project", "project"]);
    let no_agents = doctor
        .env("PATH", scene.env.path("bin"))
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&no_agents.stdout);
    let is_told = said.contains("bad  agents: none is configured");
    assert!(no_agents.status.code() == Some(3) && is_told, "{said}");
    scene.env.write(
        "project/loopwright.toml",
        "[agents.x]\ncommand = [\"no-such-agent\"]\n",
    );
    let missing = scene.env.run(&["doctor", "--project", "project"]);
    assert!(
        missing
            .stdout
            .contains("bad  agent: x: there is no program `no-such-agent`"),
        "{}",
        missing.whole()
    );
    let elsewhere = scene.env.run(&["doctor", "--project", "agents"]);
    assert!(
        elsewhere.stdout.contains("bad  repository:"),
        "{}",
        elsewhere.whole()
    );
}

#[test]
fn doctor_sees_a_clock_that_was_set_back_and_says_that_there_is_no_sandbox() {
    let scene = Scene::new(&["one"]);
    let doctor = || scene.env.run(&["doctor", "--project", "project"]);
    assert!(
        doctor().stdout.contains("ok   clock: 20"),
        "{}",
        doctor().whole()
    );
    assert!(
        doctor()
            .stdout
            .contains("warning sandbox: none, as configured")
            && doctor().exit == 0,
        "{}",
        doctor().whole()
    );
    let loop_id = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    let event = kernel::Event::PauseRequested;
    let body = serde_json::to_string(&event).expect("JSON");
    let in_the_year_2100 = 4_102_444_800_000;
    let record = journal::NewRecord {
        at_ms: in_the_year_2100,
        kind: event.kind(),
        body: &body,
    };
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    journal
        .append(&loop_id, 1, None, &[record])
        .expect("recorded");
    let answer = doctor();
    assert!(
        answer.exit == 3 && answer.stdout.contains("bad  clock:"),
        "{}",
        answer.whole()
    );
    assert!(
        answer.stdout.contains("2100-01-01 00:00 UTC"),
        "{}",
        answer.whole()
    );
}

#[test]
fn a_missing_agent_program_asks_for_a_person() {
    let scene = Scene::new(&["one"]);
    scene.configure("");
    let config =
        scene
            .env
            .read("project/loopwright.toml")
            .replacen("\"sh\"", "\"no-such-agent\"", 1);
    scene.env.write("project/loopwright.toml", config);
    let answer = scene.start(&["--foreground", "--json", "--no-preflight"]);
    assert_eq!(answer.exit, 4, "{}", answer.whole());
    assert!(
        answer.json()["result"]["reason"]
            .as_str()
            .expect("a reason")
            .contains("cannot be started"),
        "{}",
        answer.whole()
    );
}

#[test]
fn i02_an_answer_whose_end_cannot_be_read_lets_nothing_land() {
    let quoted = r#"cat > /dev/null
echo "At first I thought {\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\"} but no:"
echo "{\"verdict\": \"FAIL\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"it says \"no\"\"}"
"#;
    let endless = r#"cat > /dev/null
echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\"}"
head -c 5000000 /dev/zero | tr '\0' 'x'
echo "{\"verdict\": \"FAIL\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\"}"
"#;
    let cut = r#"cat > /dev/null
printf '{"verdict": "FAIL", "commit": "%s", "reason": "' "$LOOPWRIGHT_CANDIDATE"
head -c 5000000 /dev/zero | tr '\0' 'x'
printf '", "criteria": [], "before": {"verdict": "PASS", "commit": "%s"}}' "$LOOPWRIGHT_CANDIDATE"
"#;
    for judge in [quoted, endless, cut] {
        let scene = Scene::with_agents(&["one"], IMPLEMENT, judge);
        let answer = scene.start(&["--foreground", "--json", "--max-retries", "0"]);
        assert_eq!(
            statuses(&answer.json()["result"]),
            ["one skipped 1"],
            "{judge}"
        );
        assert!(
            scene
                .git(&["for-each-ref", "refs/heads/agent-loop"])
                .is_empty(),
            "{judge}"
        );
    }
}

#[test]
fn a_judge_that_prints_much_is_heard_and_the_gap_is_shown() {
    let endless = concat!(
        testkit::criteria_of_prompt!(),
        r#"echo "{\"verdict\": \"FAIL\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"criteria\": [$CRITERIA]}"
head -c 5000000 /dev/zero | tr '\0' 'x'
echo
echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"criteria\": [$CRITERIA]}"
"#
    );
    let scene = Scene::with_agents(&["one"], IMPLEMENT, endless);
    let answer = scene.start(&["--foreground", "--json", "--max-retries", "0"]);
    assert_eq!(
        statuses(&answer.json()["result"]),
        ["one passed 1"],
        "{}",
        answer.whole()
    );
    let id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    let runs = scene.env.run(&["runs", &id, "--json"]).json();
    let runs = runs["result"]["runs"].as_array().expect("runs");
    let judge = runs
        .iter()
        .find(|run| run["stage"] == "judge")
        .expect("a judge");
    let judge = judge["runId"].as_str().expect("an id");
    let trace = scene.env.run(&["run", judge, "--json"]).json()["result"].clone();
    let (kept, dropped) = (
        trace["exit"]["stdoutBytes"].as_u64().expect("bytes"),
        trace["exit"]["stdoutDropped"].as_u64(),
    );
    // Two lines of the verdict, five million, one line break.
    let verdicts = 2 * format!(
        "{{\"verdict\": \"FAIL\", \"commit\": \"{}\", \"criteria\": [{{\"criterion\": \"it is there\", \"pass\": true, \"evidence\": \"seen\"}}]}}\n",
        "c".repeat(40)
    )
    .len() as u64;
    assert_eq!(Some(5_000_001 + verdicts - kept), dropped);
    let shown = trace["stdout"].as_str().expect("text");
    assert!(shown.ends_with("}\n"), "the end is shown");
    let missing = format!("not shown, {} of them missing]\n", dropped.expect("bytes"));
    assert!(
        shown
            .lines()
            .next()
            .is_some_and(|line| missing.starts_with(&line[line.find("not").unwrap_or(0)..])),
        "{}",
        &shown[..100]
    );
}

#[test]
fn i09_copied_files_are_not_published_and_nothing_is_written_through_a_link() {
    let scene = Scene::new(&["one"]);
    let victim = scene.env.path("victim");
    std::fs::write(&victim, "precious").expect("written");
    scene.env.write("project/.env.test", "SECRET=1\n");
    scene.configure("[workspace]\ncopy = [\".env.test\"]\n");
    let answer = scene.start(&["--foreground", "--json"]);
    let view = answer.json()["result"].clone();
    let branch = view["branch"].as_str().expect("a branch");
    assert_eq!(
        scene.git(&["ls-tree", "-r", "--name-only", branch]),
        "README\none.txt\nprd.json",
        "the copy is not in the commit"
    );
    // The next implementor puts a link where the copy would go.
    scene.git(&["checkout", "--quiet", "prd.json"]);
    scene.env.write(
        "agents/implement.sh",
        format!(
            "cat > /dev/null\nrm -f .env.test\nln -s {} .env.test\necho x > one.txt\n",
            victim.display()
        ),
    );
    scene.start(&["--foreground"]);
    assert_eq!(std::fs::read_to_string(&victim).expect("read"), "precious");
}

#[test]
fn i06_checks_never_run_in_the_operators_folder_through_a_link() {
    let scene = Scene::new(&["never-one"]);
    scene.env.write("project/sub/keep", "");
    scene.env.write(
        "project/sub/loopwright.toml",
        scene
            .env
            .read("project/loopwright.toml")
            .replace("test -f README", "touch made-by-check"),
    );
    scene.git(&["add", "sub/keep"]);
    scene.git(&["commit", "--quiet", "-m", "sub"]);
    let theirs = scene.env.path("project/sub");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "cat > /dev/null\ncd ..\nrm -rf sub\nln -s {} sub\n",
            theirs.display()
        ),
    );
    let answer = scene.env.run(&[
        "start",
        "--project",
        "project/sub",
        "--prd",
        "project/prd.json",
        "--foreground",
        "--json",
        "--max-retries",
        "0",
    ]);
    assert_eq!(
        statuses(&answer.json()["result"]),
        ["never-one skipped 1"],
        "{}",
        answer.whole()
    );
    assert!(
        !theirs.join("made-by-check").exists(),
        "a check ran in the operator's folder"
    );
}

#[test]
fn a_branch_that_could_not_be_published_is_said_and_its_commits_are_not_thrown_away() {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "[ \"$LOOPWRIGHT_STORY_ID\" = two ] && while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let branch = format!("agent-loop/{id}");
    wait_until("the first story", || {
        (!scene
            .git(&["for-each-ref", &format!("refs/heads/{branch}")])
            .is_empty())
        .then_some(())
    });
    wait_until("the PRD", || {
        scene
            .env
            .read("project/prd.json")
            .contains("true")
            .then_some(())
    });
    // The operator takes the branch for themselves in mid-loop.
    scene.git(&["checkout", "--quiet", "--force", &branch]);
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    assert!(
        view["unpublished"]
            .as_str()
            .is_some_and(|why| why.contains("checked out")),
        "{view}"
    );
    let status = scene.env.run(&["status", &id]);
    assert!(
        status.stdout.contains("not in your repository"),
        "{}",
        status.whole()
    );
    assert_eq!(
        scene.git(&["log", "--format=%s", &branch]).lines().count(),
        2,
        "the branch is left where it is"
    );
    let refused = scene.env.run(&["nuke", &id]);
    assert!(
        refused.exit == 2 && refused.stderr.contains("nowhere else"),
        "{}",
        refused.whole()
    );
    assert_eq!(scene.env.run(&["nuke", ""]).exit, 2);
    assert_eq!(scene.env.run(&["nuke", &id, "--force"]).exit, 0);
}

#[test]
fn an_agent_that_destroys_its_checkout_or_its_keeper_cannot_stall_or_spin_a_loop() {
    let scene = Scene::with_agents(&["one"], "rm -rf \"$PWD\"\n", JUDGE);
    let answer = scene.start(&["--foreground", "--json", "--max-retries", "0"]);
    let view = answer.json()["result"].clone();
    assert!(
        view["status"] == "completed" && view["stories"][0]["attempts"] == 1,
        "{}",
        answer.whole()
    );

    let spinning = Scene::with_agents(&["one"], "kill -9 $PPID\nsleep 60\n", JUDGE);
    spinning.start(&[]);
    let view = spinning.wait_for(&["waiting"]);
    assert_eq!(view["reason"], "its keeper died");
    assert_eq!(
        spinning.starts().len(),
        4,
        "after a few tries in a row it waits"
    );
}

#[test]
fn a_loop_that_counted_on_another_terminals_worker_goes_on() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo x >> \"$STARTS\"\nwhile [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let mut first = scene.env.command(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--foreground",
    ]);
    let mut first = first
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("started");
    scene.wait_for(&["running"]);
    let second = scene.start(&["--json", "--again"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_until("both agents", || (scene.starts().len() == 2).then_some(()));
    // The first terminal is closed, and the worker that it had started dies too.
    first.kill().expect("killed");
    first.wait().expect("ended");
    for worker in ours(&scene, "serve") {
        let _ = kill_process(worker, Signal::KILL);
    }
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["loopId"], second.as_str(), "the second loop");
}
