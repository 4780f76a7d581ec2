//! The configuration in its layers, as a person sees it.

use crate::scene::{IMPLEMENT, JUDGE, Scene, wait_until};
use crate::support::TestEnv;

fn with_variables(
    env: &TestEnv,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (i32, String, String) {
    let mut command = env.command(arguments);
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn config_show_says_where_each_value_comes_from() {
    let env = TestEnv::new();
    env.write(
        ".config/loopwright/config.toml",
        "[worker]\nmax_agents = 2\nmax_checks = 1\n\n[agents.a]\ncommand = [\"x\"]\nenv = { API_TOKEN = \"hunter2\", MODE = \"loop\" }\n",
    );
    env.write(
        "project/loopwright.toml",
        "[loop]\nflow = \"solo\"\nmax_retries = 5\n\n[agents.a]\ntimeout = \"15m\"\n",
    );
    let show = [
        "config",
        "show",
        "--project",
        "project",
        "--set",
        "retry.wait=2m",
    ];
    let (exit, stdout, stderr) =
        with_variables(&env, &show, &[("LOOPWRIGHT_LOOP_MAX_RETRIES", "7")]);
    let home = env.path("");
    let seen = format!("exit {exit}\n{stdout}{stderr}").replace(&home.display().to_string(), "~/");
    insta::assert_snapshot!(seen, @r#"
    exit 0
    agents.a.command         = ["x"]          # user ~/.config/loopwright/config.toml:6
    agents.a.env.API_TOKEN   = "***"          # user ~/.config/loopwright/config.toml:7
    agents.a.env.MODE        = "loop"         # user ~/.config/loopwright/config.toml:7
    agents.a.timeout         = 900            # project project/loopwright.toml:6
    checks.at_once           = 1              # default
    checks.detect            = true           # default
    checks.timeout           = 3600           # default
    checks.warm              = "auto"         # default
    commit.author            = "operator"     # default
    commit.co_author         = true           # default
    commit.sign_off          = false          # default
    commit.subject           = "feat: [{loop}] [{story}] attempt-{attempt} — {title}"  # default
    loop.flow                = "solo"         # project project/loopwright.toml:2
    loop.max_retries         = 7              # env LOOPWRIGHT_LOOP_MAX_RETRIES
    loop.parallel            = 1              # default
    policy.agent_config      = "ask"          # default
    policy.check_config      = "flag"         # default
    policy.on_question       = "go-on"        # default
    policy.rejudge           = "when-needed"  # default
    prd.write_back           = true           # default
    retention.days           = 30             # default
    retention.keep_checkouts = false          # default
    retention.trees          = 20480          # default
    retry.wait               = 120            # flag --set retry.wait
    sandbox.disk_mb          = 20480          # default
    sandbox.inject_keys      = true           # default
    sandbox.kind             = "host"         # env LOOPWRIGHT_SANDBOX_KIND
    sandbox.network          = "model"        # default
    sandbox.open_files       = 65536          # default
    sandbox.processes        = 4096           # default
    worker.max_agents        = 2              # user ~/.config/loopwright/config.toml:2
    worker.max_checks        = 1              # user ~/.config/loopwright/config.toml:3
    your own file: ~/.config/loopwright/config.toml
    the project's file: project/loopwright.toml
    "#);
    let (_, json, _) = with_variables(&env, &[&show[..], &["--json"]].concat(), &[]);
    assert!(!json.contains("hunter2"), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let row = |key: &str| {
        let rows = json["result"]["values"].as_array().expect("values");
        rows.iter()
            .find(|row| row["key"] == key)
            .map(|row| format!("{} {}", row["value"], row["origin"]["layer"]))
    };
    for (key, expected) in [
        ("loop.max_retries", r#"5 "project""#),
        ("worker.max_agents", r#"2 "user""#),
        ("agents.a.env.API_TOKEN", r#""***" "user""#),
        ("agents.a.timeout", r#"900 "project""#),
        ("retry.wait", r#"120 "flag""#),
        ("retention.days", r#"30 "default""#),
    ] {
        assert_eq!(row(key).as_deref(), Some(expected), "{key}");
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_place() {
    let env = TestEnv::new();
    env.write(
        ".config/loopwright/config.toml",
        "[worker]\nmax_agent = 2\n",
    );
    env.write(
        "project/loopwright.toml",
        "[loop]\nmax_retry = 3\nparallel = 0\nflow = \"sole\"\n\n[agents.a]\ntimeout = \"1d\"\n\n[worker]\nmax_agents = 9\n",
    );
    let show = [
        "config",
        "show",
        "--project",
        "project",
        "--set",
        "loop.max_retries=many",
    ];
    let (exit, stdout, stderr) = with_variables(&env, &show, &[("LOOPWRIGHT_LOOP_MAX_RETRY", "7")]);
    let seen =
        format!("exit {exit}\n{stdout}{stderr}").replace(&env.path("").display().to_string(), "~/");
    insta::assert_snapshot!(seen, @r#"
    exit 2
    error: unknown key `max_agent` in [worker]
     --> ~/.config/loopwright/config.toml:2:1
      |
    2 | max_agent = 2
      | ^^^^^^^^^
      |
    help: did you mean `max_agents`?

    error: unknown key `max_retry` in [loop]
     --> project/loopwright.toml:2:1
      |
    2 | max_retry = 3
      | ^^^^^^^^^
      |
    help: did you mean `max_retries`?

    error: `loop.parallel` does not fit: it wants a whole number, at least 1
     --> project/loopwright.toml:3:12
      |
    3 | parallel = 0
      |            ^
      |

    error: `loop.flow` does not fit: it wants one of quartet, tdd, proof, solo, judged; did you mean `solo`?
     --> project/loopwright.toml:4:8
      |
    4 | flow = "sole"
      |        ^^^^^^
      |

    error: `agents.a.timeout` does not fit: it wants seconds, or a text such as "90s", "15m" or "2h"
     --> project/loopwright.toml:7:11
      |
    7 | timeout = "1d"
      |           ^^^^
      |

    error: [worker] is not a project's to set
     --> project/loopwright.toml:9:2
      |
    9 | [worker]
      |  ^^^^^^
      |
    help: one worker serves all projects: put it into your own file

    error: unknown variable `LOOPWRIGHT_LOOP_MAX_RETRY`
     --> LOOPWRIGHT_LOOP_MAX_RETRY
    help: did you mean `LOOPWRIGHT_LOOP_MAX_RETRIES`?

    error: `many` does not fit `loop.max_retries`: it wants a whole number
     --> --set loop.max_retries

    error: the agent `a` has no command
     --> project/loopwright.toml:6:9
      |
    6 | [agents.a]
      |         ^
      |
    help: give it one: command = ["program", "argument"]
    help: `loopwright explain config` lists every table and key
    "#);
    let json = env.run(&["config", "show", "--project", "project", "--json"]);
    assert_eq!(json.exit, 2);
    assert_eq!(
        json.json()["result"]["complaints"].as_array().map(Vec::len),
        Some(7),
        "{}",
        json.whole()
    );
    assert_eq!(json.json()["error"]["kind"], "bad_input");
}

/// A pattern that nobody can use matched nothing, without a word.
#[test]
fn a_bad_pattern_is_shown_where_it_stands() {
    let env = TestEnv::new();
    let config = "[checks]\ntest_paths = [\"tests/**\", \"*.{test,spec\"]\n";
    env.write("project/loopwright.toml", config);
    let (exit, _, stderr) = with_variables(&env, &["config", "show", "--project", "project"], &[]);
    let seen = format!("exit {exit}\n{stderr}");
    insta::assert_snapshot!(seen, @r#"
    exit 2
    error: `checks.test_paths` does not fit: `*.{test,spec` is no pattern that can be used: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
     --> project/loopwright.toml:2:14
      |
    2 | test_paths = ["tests/**", "*.{test,spec"]
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
    help: `loopwright explain config` lists every table and key
    "#);
}

/// Both are drawn by the same function: a wide character before the marker shows it.
#[test]
fn a_place_in_the_configuration_is_drawn_like_one_in_a_prd() {
    let env = TestEnv::new();
    env.write("project/loopwright.toml", "[prices]\n\"漢\" = 1\n");
    let shown = with_variables(&env, &["config", "show", "--project", "project"], &[]).2;
    env.write(
        "p.json",
        "{\"stories\": [{\"title\": \"漢\", \"tool\": \"cluade\"}]}",
    );
    let prd = env.run(&["prd", "check", "p.json"]).stderr;
    for (text, columns, marked) in [(&shown, 7, 1), (&prd, 37, 8)] {
        let marker = format!("\n  | {}{}", " ".repeat(columns), "^".repeat(marked));
        assert!(text.contains(&marker), "{text}");
    }
}

#[test]
fn a_file_that_is_no_toml_is_shown_where_it_breaks() {
    let env = TestEnv::new();
    env.write("project/loopwright.toml", "[loop\nmax_retries = \n");
    let (exit, _, stderr) = with_variables(&env, &["config", "show", "--project", "project"], &[]);
    let seen = format!("exit {exit}\n{stderr}");
    insta::assert_snapshot!(seen, @r#"
    exit 2
    error: not TOML: unclosed table, expected `]`
     --> project/loopwright.toml:1:6
      |
    1 | [loop
      |      ^
      |
    help: `loopwright explain config` lists every table and key
    "#);
}

#[test]
fn no_file_at_all_is_fine_and_what_agents_are_given_is_no_mistake() {
    let env = TestEnv::new();
    let variables = [
        ("LOOPWRIGHT_LOOP_ID", "x"),
        ("LOOPWRIGHT_STORY_ID", "y"),
        ("LOOPWRIGHT_ANYTHING", "z"),
    ];
    let (exit, stdout, stderr) = with_variables(&env, &["config", "show"], &variables);
    assert_eq!(exit, 0, "{stdout}{stderr}");
    assert!(
        stdout.contains("loop.max_retries") && stderr.contains("(not there)"),
        "{stdout}{stderr}"
    );
}

#[test]
fn a_role_gives_its_agent_model_effort_and_a_limit() {
    let implement = "echo \"$LOOPWRIGHT_MODEL $LOOPWRIGHT_EFFORT\" > seen.txt\ncat > /dev/null\n";
    let scene = Scene::with_agents(&["one"], implement, JUDGE);
    let config = scene.env.read("project/loopwright.toml");
    let with_role = config.replace(
        "agent = \"builder\"",
        "agent = \"builder\"\nmodel = \"large\"\ntimeout = \"77s\"",
    );
    scene.env.write("project/loopwright.toml", with_role);
    let mut command = scene.env.command(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--foreground",
    ]);
    command.env("LOOPWRIGHT_ROLES_IMPLEMENTOR_EFFORT", "high");
    assert!(command.output().expect("ran").status.success());
    let view = scene.status();
    assert_eq!(
        scene.git(&[
            "show",
            &format!("{}:seen.txt", view["branch"].as_str().expect("a branch"))
        ]),
        "large high"
    );
    let id = view["loopId"].as_str().expect("an id");
    let spec = std::fs::read_to_string(
        scene
            .home()
            .join("loops")
            .join(id)
            .join("runs/0001-1-implement-1/spec.json"),
    );
    assert!(spec.expect("a spec").contains("\"wall_secs\": 77"));
}

#[test]
fn flags_and_variables_reach_the_loop_and_a_misspelt_agent_is_named() {
    let scene = Scene::new(&["one"]);
    let start = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--dry-run",
        "--json",
    ];
    let variables = [
        ("LOOPWRIGHT_LOOP_MAX_RETRIES", "7"),
        ("LOOPWRIGHT_RETRY_LADDER", "judge,builder"),
    ];
    let (_, stdout, _) = with_variables(&scene.env, &start, &variables);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    let spec = &json["result"]["spec"];
    assert_eq!(
        (&spec["maxRetries"], &spec["ladder"]),
        (&7.into(), &serde_json::json!(["judge", "builder"]))
    );
    let flag = [&start[..], &["--max-retries", "1"]].concat();
    let (_, stdout, _) = with_variables(&scene.env, &flag, &variables);
    assert!(stdout.contains("\"maxRetries\":1,"), "{stdout}");
    let (exit, _, stderr) = with_variables(
        &scene.env,
        &start[..6],
        &[("LOOPWRIGHT_ROLES_JUDGE_AGENT", "jugde")],
    );
    assert_eq!(
        (exit, stderr.as_str()),
        (
            3,
            "error: a loop would not get far; nothing was started:\n  roles: [roles.judge] names `jugde`, which is no agent\nhelp: did you mean `judge`?\nhelp: `--no-preflight` starts it all the same\n"
        )
    );
}

#[test]
fn a_misspelt_command_is_one_complaint_and_doctor_names_all_of_them() {
    let env = TestEnv::new();
    env.write(
        "project/loopwright.toml",
        "[agents.a]\ncommands = [\"x\"]\n[agents.b]\n",
    );
    let json = env
        .run(&["config", "show", "--project", "project", "--json"])
        .json();
    let complaints: Vec<&str> = json["result"]["complaints"]
        .as_array()
        .expect("complaints")
        .iter()
        .filter_map(|complaint| complaint["message"].as_str())
        .collect();
    assert_eq!(
        complaints,
        [
            "unknown key `commands` in [agents.a]",
            "the agent `b` has no command"
        ]
    );
    let doctor = env.run(&["doctor", "--project", "project"]).stdout;
    for expected in [
        "bad  configuration: project/loopwright.toml:2:1: unknown key `commands` in [agents.a]\n",
        "bad  configuration: project/loopwright.toml:3:9: the agent `b` has no command\n",
    ] {
        assert!(doctor.contains(expected), "{doctor}");
    }
}

#[test]
fn the_workers_limit_is_the_persons_and_holds_over_all_loops() {
    let scene = Scene::new(&["one"]);
    scene.env.write(
        ".config/loopwright/config.toml",
        "[worker]\nmax_agents = 1\n",
    );
    let gate = scene.env.path("gate");
    let script = format!(
        "while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", script);
    scene
        .env
        .write("project/other.json", scene.env.read("project/prd.json"));
    let start = |prd: &str| {
        let answer = scene
            .env
            .run(&["start", "--project", "project", "--prd", prd, "--json"]);
        answer.json()["result"]["loopId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let ids = [start("project/prd.json"), start("project/other.json")];
    let story =
        |id: &str| scene.env.run(&["status", id, "--json"]).json()["result"]["stories"][0].clone();
    wait_until("both to be planned", || {
        ids.iter()
            .all(|id| story(id)["status"] == "running")
            .then_some(())
    });
    std::fs::write(&gate, "").expect("written");
    wait_until("both to pass", || {
        ids.iter()
            .all(|id| story(id)["status"] == "passed")
            .then_some(())
    });
    // Every run of an agent, as an interval: no two of them overlap.
    let mut agents: Vec<(String, String)> = Vec::new();
    for id in &ids {
        let runs = scene.env.run(&["runs", id, "--json"]).json()["result"]["runs"].clone();
        let of_agents = runs.as_array().expect("runs").iter();
        let of_agents = of_agents
            .filter(|run| run["stage"] != "check" && run["stage"] != "baseline")
            .cloned();
        agents.extend(of_agents.map(|run| {
            let moment = |key: &str| run[key].as_str().expect("a moment").to_owned();
            (moment("startedAt"), moment("endedAt"))
        }));
    }
    agents.sort_unstable();
    assert!(
        agents.len() == 4 && agents.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        "{agents:?}"
    );
}
