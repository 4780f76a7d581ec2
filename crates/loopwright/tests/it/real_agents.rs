//! Whole loops with the real agent CLIs against a scripted model: real processes, real tools, real
//! edits, and a model that answers by what it is asked. `cargo xtask ci --only agents` installs the
//! CLIs. Whoever cannot install them leaves these tests out: `cargo nextest run -E 'not test(/real_/)'`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use journal::Journal;
use kernel::{Event, RunOutcome, Stage as Part};
use rustix::process::Pid;
use serde_json::{Value, json};
use testkit::{ModelServer, Request, Step};

use crate::sample::{is_soak, sample};
use crate::scene::{TAP_RUNNER, newest_view, processes_with, show_log, wait_for_view};
use crate::support::{Answer, TestEnv};

const CALC: &str = "case \"$1\" in\n  add) echo $(($2 + $3)) ;;\n  *) exit 2 ;;\nesac\n";

const PRD: &str = r#"{ "stories": [ { "id": "double", "title": "Double a number", "acceptance_criteria": [
  "double 4 prints 8", "double of a negative number is right" ], "passes": false } ] }
"#;

/// What the judge does not like about the first attempt.
const CLUMSY: &str = "sed -i 's/^  \\*) exit 2 ;;/  double) echo $(($2 + $2)) ;;\\n&/' calc.sh";
pub(crate) const RIGHT: &str =
    "sed -i 's/^  \\*) exit 2 ;;/  double) echo $(($2 * 2)) ;;\\n&/' calc.sh";
const REJECTION: &str = "multiply instead of adding";

/// CLIs that start in a moment.
pub(crate) const QUICK: [&str; 3] = ["codex", "claude", "pi"];

/// CLIs that take seconds of a processor for every start.
pub(crate) const SLOW: [&str; 2] = ["opencode", "gemini"];

/// The folder with the CLIs.
fn installed() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_loopwright"))
        .ancestors()
        .nth(2)
        .expect("a target folder");
    let folder = target.join("tools").join("agents");
    assert!(
        folder.join("installed.txt").exists(),
        "the real agents are not installed in `{}`; install them: cargo xtask ci --only agents",
        folder.display()
    );
    folder
}

/// Claude has a tool for answers with a schema and asks again until it is used; other CLIs want
/// plain words.
pub(crate) fn answer(request: &Request, answer: &Value) -> Step {
    const TOOL: &str = "StructuredOutput";
    if request.body["messages"].to_string().contains(TOOL) {
        return Step::text("That was my answer.");
    }
    let tools = request.body["tools"].as_array();
    let has_tool = tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == TOOL));
    if has_tool {
        Step::tool(TOOL, answer.clone())
    } else {
        Step::text(answer.to_string())
    }
}

/// A model that plays every role well, but for the first attempt, which the judge does not like.
pub(crate) fn mind(request: &Request) -> Step {
    let (text, n_results) = (request.text(), request.n_tool_results());
    let role = ["implementor", "test writer", "reviewer", "judge"]
        .into_iter()
        .find(|role| text.contains(&format!("You are the {role}.")));
    let review = |criteria: Value| json!({"summary": "seen", "criteria": criteria, "findings": []});
    match (role.unwrap_or_default(), n_results) {
        ("implementor", 0) => Step::shell(if text.contains(REJECTION) {
            RIGHT
        } else {
            CLUMSY
        }),
        ("implementor", _) => Step::text("Done: calc.sh doubles."),
        ("test writer", 0) => {
            Step::shell(r#"echo '[ "$(sh calc.sh double 4)" = 8 ]' > tests/double.sh"#)
        }
        ("test writer", 1) => {
            Step::shell(r#"echo '[ "$(sh calc.sh double -3)" = -6 ]' > tests/negative.sh"#)
        }
        ("test writer", _) => answer(
            request,
            &review(json!([
            {"criterion": "double 4 prints 8", "tests": ["double"], "held_back": [], "untestable": null},
            {"criterion": "double of a negative number is right", "tests": ["negative"], "held_back": ["negative"],
             "untestable": null}])),
        ),
        ("reviewer", 0) => Step::shell("cat calc.sh"),
        ("reviewer", _) => answer(request, &review(json!([]))),
        ("judge", 0) => Step::shell("sh calc.sh double 21"),
        ("judge", _) => answer(request, &verdict(&text)),
        _ => Step::text("I do not know what I am."),
    }
}

/// The same model, whose first attempt lands: for CLIs of which every start costs seconds.
pub(crate) fn mind_at_once(request: &Request) -> Step {
    let begins =
        request.text().contains("You are the implementor.") && request.n_tool_results() == 0;
    if begins {
        Step::shell(RIGHT)
    } else {
        mind(request)
    }
}

fn verdict(text: &str) -> Value {
    let commit: String = text
        .split("## Candidate ")
        .nth(1)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .collect();
    let word = if text.contains("echo $(($2 + $2))") {
        "FAIL"
    } else {
        "PASS"
    };
    let criteria = [
        "double 4 prints 8",
        "double of a negative number is right",
    ]
    .map(|criterion| json!({"criterion": criterion, "pass": word == "PASS", "evidence": "sh calc.sh double 21"}));
    json!({"verdict": word, "commit": commit, "reason": "looked at it", "criteria": criteria, "guidance": [REJECTION],
        "obliged": []})
}

/// How many runs of a stage have ended, by the journal of the one loop that is there. A model that
/// asks this knows which run it serves: an end is recorded before the next run begins.
pub(crate) fn n_ended(home: &Path, part: Part) -> usize {
    let Ok(journal) = Journal::open(home) else {
        return 0;
    };
    let loops = journal.loops().expect("a journal");
    let Some(first) = loops.first() else { return 0 };
    let records = home::load(&journal, &first.loop_id)
        .expect("a loop")
        .records;
    let is_end = |event: &Event| matches!(event, Event::RunEnded { run, .. } if run.stage == part);
    records
        .iter()
        .filter(|record| is_end(&record.event))
        .count()
}

/// The variable that puts every loop with real CLIs into jails of this kind.
const JAIL: &str = "LOOPWRIGHT_TEST_JAIL";

/// One project and the agents that it names.
pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    agents: PathBuf,
    /// The kind of jail that its loops run in; on the host where there is none.
    jail: Option<String>,
    /// The addresses of the models that its agents are told.
    models: RefCell<BTreeSet<String>>,
}

impl Stage {
    /// A committed project.
    pub(crate) fn new() -> Self {
        Self::made(std::env::var(JAIL).ok().filter(|kind| !kind.is_empty()))
    }

    /// A committed project whose loops run in jails.
    pub(crate) fn jailed(kind: &str) -> Self {
        Self::made(Some(kind.to_owned()))
    }

    /// Whether its loops run in jails.
    pub(crate) fn is_jailed(&self) -> bool {
        self.jail.is_some()
    }

    fn made(jail: Option<String>) -> Self {
        let agents = installed();
        let env = TestEnv::new();
        for (path, text) in [
            ("calc.sh", CALC),
            ("run-tests.sh", TAP_RUNNER),
            ("tests/add.sh", "[ \"$(sh calc.sh add 1 2)\" = 3 ]\n"),
            ("prd.json", PRD),
        ] {
            env.write(&format!("project/{path}"), text);
        }
        testkit::init(
            &env.path("project"),
            &["calc.sh", "run-tests.sh", "tests/add.sh", "prd.json"],
        );
        Self {
            env,
            agents,
            jail,
            models: RefCell::default(),
        }
    }

    /// The roles by agent, and each agent with where its model is.
    pub(crate) fn cast(
        &self,
        implementor: &str,
        reviewer: &str,
        judge: &str,
        agents: &[String],
        more: &str,
    ) {
        let config = format!(
            "{}\n[roles.implementor]\nagent = \"{implementor}\"\n[roles.reviewer]\nagent = \"{reviewer}\"\n\
             [roles.judge]\nagent = \"{judge}\"\n[checks]\ntest = \"sh run-tests.sh\"\n{more}",
            agents.join("\n")
        );
        self.configure(config);
    }

    /// Writes the configuration, with the models' addresses for a jail that has no rules of its own.
    fn configure(&self, mut config: String) {
        if let Some(kind) = self.jail.as_ref().filter(|_| !config.contains("[sandbox]")) {
            let models: Vec<String> = self.models.borrow().iter().cloned().collect();
            config += &format!("[sandbox]\nkind = \"{kind}\"\nallow = {models:?}\n");
        }
        self.env.write("project/loopwright.toml", config);
    }

    /// One agent that does all of the work alone; what it makes is judged by the checks.
    pub(crate) fn solo(&self, agent: &str) {
        self.configure(
            format!(
                "[loop]\nflow = \"solo\"\n[retry]\nwait = 1\n[checks]\ntest = \"sh run-tests.sh\"\n{agent}"
            ),
        );
    }

    /// One agent that does the work and judges it.
    pub(crate) fn judged(&self, name: &str, agent: &str) {
        self.configure(
            format!(
                "[loop]\nflow = \"judged\"\n[roles.implementor]\nagent = \"{name}\"\n[roles.judge]\nagent = \"{name}\"\n\
                 [checks]\ntest = \"sh run-tests.sh\"\n{agent}"
            ),
        );
    }

    pub(crate) fn program(&self, name: &str) -> String {
        let modules = self.agents.join(name).join("node_modules");
        let vendored =
            modules.join("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
        let program = if name == "codex" && vendored.exists() {
            vendored
        } else {
            modules.join(".bin").join(name)
        };
        program.display().to_string()
    }

    /// The path by which the CLIs find the node that they were installed with.
    pub(crate) fn path_with_node(&self) -> String {
        let node = self.agents.join("node22/node_modules/.bin");
        format!(
            "{}:{}",
            node.display(),
            std::env::var("PATH").unwrap_or_default()
        )
    }

    /// The whole entry of an agent, as an operator with a gateway writes it.
    pub(crate) fn agent(&self, name: &str, url: &str) -> String {
        let address = url.trim_start_matches("http://").to_owned();
        self.models.borrow_mut().insert(address);
        let path = self.path_with_node();
        let common = |model: &str| {
            format!(
                "[agents.{name}]\nkind = \"{name}\"\nprogram = \"{}\"\nmodel = \"{model}\"\n",
                self.program(name)
            )
        };
        match name {
            "codex" => format!(
                "{}args = ['-c', 'model_provider=\"scripted\"', '-c', 'model_providers.scripted={{name=\"scripted\",\
                 base_url=\"{url}/v1\",env_key=\"SCRIPTED_KEY\",wire_api=\"responses\",request_max_retries=0,\
                 stream_max_retries=0}}']\nenv = {{ SCRIPTED_KEY = \"dummy\", PATH = \"{path}\" }}\n",
                common("gpt-5.5")
            ),
            "claude" => format!(
                "{}env = {{ ANTHROPIC_BASE_URL = \"{url}\", CLAUDE_CODE_OAUTH_TOKEN = \"sk-ant-dummy\", \
                 CLAUDE_CODE_MAX_RETRIES = \"1\" }}\n",
                common("claude-sonnet-4-5")
            ),
            "gemini" => {
                // Its own settings, but that nothing is asked for twice.
                let settings = json!({"general": {"enableAutoUpdate": false, "maxAttempts": 1},
                    "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
                    "security": {"auth": {"selectedType": "gemini-api-key"}}});
                self.env.write("gemini.json", settings.to_string());
                format!(
                    "{}env = {{ GOOGLE_GEMINI_BASE_URL = \"{url}\", GEMINI_API_KEY = \"dummy\", PATH = \"{path}\" }}\n\
                     files = {{ \".gemini/settings.json\" = \"{}\" }}\n",
                    common("gemini-2.5-pro"),
                    self.env.path("gemini.json").display()
                )
            }
            "opencode" => {
                let limit = json!({"context": 128_000, "output": 8000});
                let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "scripted",
                    "options": {"baseURL": format!("{url}/v1"), "apiKey": "dummy"},
                    "models": {"scripted-model": {"name": "scripted", "limit": limit}}});
                let config = json!({"small_model": "scripted/scripted-model", "provider": {"scripted": provider}});
                self.env.write("opencode.json", config.to_string());
                format!(
                    "{}files = {{ \"config/opencode/opencode.json\" = \"{}\" }}\n",
                    common("scripted/scripted-model"),
                    self.env.path("opencode.json").display()
                )
            }
            _ => {
                let model = json!({"id": "scripted-model", "name": "scripted", "reasoning": true, "input": ["text"],
                    "contextWindow": 128_000, "maxTokens": 8000,
                    "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0}});
                let models = json!({"providers": {"scripted": {"baseUrl": format!("{url}/v1"),
                    "api": "openai-completions", "apiKey": "dummy", "models": [model]}}});
                self.env.write("pi-models.json", models.to_string());
                self.env
                    .write("pi-settings.json", "{\"retry\":{\"enabled\":false}}");
                format!(
                    "{}env = {{ PATH = \"{path}\" }}\nfiles = {{ \"models.json\" = \"{}\", \"settings.json\" = \"{}\" }}\n",
                    common("scripted/scripted-model"),
                    self.env.path("pi-models.json").display(),
                    self.env.path("pi-settings.json").display()
                )
            }
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.env.path(".local/state/loopwright")
    }

    pub(crate) fn start(&self, more: &[&str]) -> Answer {
        let start = ["start", "--project", "project", "--prd", "project/prd.json"];
        let jail = self.jail.as_deref().map(|kind| ["--sandbox", kind]);
        let jail = jail.as_ref().map_or(&[][..], |words| &words[..]);
        self.env.run(&[&start[..], jail, more].concat())
    }

    pub(crate) fn view(&self) -> Value {
        newest_view(&Journal::open(&self.home()).expect("a journal"))
    }

    pub(crate) fn loop_id(&self) -> String {
        self.view()["loopId"].as_str().expect("a loop").to_owned()
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        let answer = self.env.run(&["runs", &self.loop_id(), "--json"]).json();
        answer["result"]["runs"].as_array().expect("runs").clone()
    }

    pub(crate) fn wait_for(&self, status: &str) -> Value {
        wait_for_view(&self.home(), status, |view| {
            let is_lost = view["status"] == "failed"
                || (view["status"] == "needs_human" && status != "needs_human");
            assert!(!is_lost, "{view}");
            view["status"] == status
        })
    }

    /// Waits for a status, whatever comes before it.
    pub(crate) fn wait_until_status(&self, status: &str) -> Value {
        wait_for_view(&self.home(), status, |view| view["status"] == status)
    }

    /// The ends of runs that the journal has.
    pub(crate) fn outcomes(&self) -> Vec<RunOutcome> {
        let journal = Journal::open(&self.home()).expect("a journal");
        let records = home::load(&journal, &self.loop_id())
            .expect("a loop")
            .records;
        let ends = records.into_iter().filter_map(|record| match record.event {
            Event::RunEnded { outcome, .. } => Some(outcome),
            _ => None,
        });
        ends.collect()
    }

    pub(crate) fn waits(&self) -> usize {
        self.outcomes()
            .iter()
            .filter(|outcome| matches!(outcome, RunOutcome::Infrastructure { .. }))
            .count()
    }

    pub(crate) fn workers(&self) -> Vec<Pid> {
        let is_worker = |pid: &Pid| {
            let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()))
                .unwrap_or_default();
            line.split(|byte| *byte == 0).nth(1) == Some(b"serve".as_slice())
        };
        processes_with(&self.env.path(""))
            .into_iter()
            .filter(is_worker)
            .collect()
    }

    /// Nothing of any CLI or of its tools is left: each has a path of the loop in its environment,
    /// whoever adopted it.
    pub(crate) fn assert_nothing_left(&self) {
        let left = processes_with(&self.home().join("loops"));
        let words = |pid: &Pid| {
            let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()))
                .unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        assert!(
            left.is_empty(),
            "i11: processes are left: {:?}",
            left.iter().map(words).collect::<Vec<_>>()
        );
    }
}

impl Drop for Stage {
    /// Shows the worker's log of a test that failed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            show_log(&self.home());
        }
    }
}

/// A loop with a different CLI in each role: an attempt that the judge rejects, and one that lands.
#[expect(clippy::print_stdout, reason = "what each run took is worth a look")]
fn quartet(implementor: &str, reviewer: &str, judge: &str) {
    let stage = Stage::new();
    let server = ModelServer::answering(0, mind);
    let agents = [implementor, reviewer, judge].map(|name| stage.agent(name, &server.url()));
    stage.cast(implementor, reviewer, judge, &agents, "");
    let answer = stage.start(&["--foreground", "--json"]);
    let view = stage.view();
    let report = stage.env.run(&["story", &stage.loop_id(), "double"]).stdout;
    assert_eq!(
        view["status"],
        "completed",
        "{view}\n{report}\n{}",
        answer.whole()
    );
    assert_eq!(
        (
            &view["stories"][0]["status"],
            &view["stories"][0]["attempts"]
        ),
        (&json!("passed"), &json!(2)),
        "{report}"
    );
    assert!(
        report.contains(&format!("judge ({judge}): FAIL")),
        "{report}"
    );
    assert!(
        report.contains(&format!("judge ({judge}): PASS")),
        "{report}"
    );
    let branch = view["branch"].as_str().expect("a branch");
    let landed = testkit::git(
        &stage.env.path("project"),
        &["show", &format!("{branch}:calc.sh")],
    );
    assert!(landed.contains("$2 * 2"), "{landed}");
    assert!(
        view["tokens"].as_u64().is_some_and(|tokens| tokens > 1000),
        "{view}"
    );
    for run in stage.runs().iter().filter(|run| run["agent"] != "-") {
        let took_ms = run["durationMs"].as_i64().unwrap_or_default();
        println!(
            "{:9} {:12} {took_ms:6} ms {}",
            run["agent"].as_str().unwrap_or_default(),
            run["stage"].as_str().unwrap_or_default(),
            run["usage"]
        );
        assert!(
            run["usage"]["inputTokens"]
                .as_u64()
                .is_some_and(|tokens| tokens >= 1200),
            "{run}"
        );
        assert!(run["usage"]["sessionId"].is_string(), "{run}");
    }
    stage.assert_nothing_left();
    let listed = stage
        .env
        .run(&["agents", "--project", "project", "--json"])
        .json();
    for agent in listed["result"]["agents"]
        .as_array()
        .expect("agents")
        .iter()
        .filter(|agent| agent["configured"] == true)
    {
        let record = &agent["record"];
        assert!(
            record["runs"].as_u64() >= Some(2) && record["runs"] == record["worked"],
            "{agent}"
        );
        assert!(
            record["tokens"]
                .as_u64()
                .is_some_and(|tokens| tokens > 1000),
            "{agent}"
        );
    }
    assert!(tells_versions(&stage), "{listed}");
}

/// Whether every configured agent tells its version. On a busy machine a CLI may take longer than the
/// program waits for it, so it is asked again.
fn tells_versions(stage: &Stage) -> bool {
    const ASKED_MAX: usize = 20;
    (0..ASKED_MAX).any(|_| {
        let asked = ["agents", "--project", "project", "--json"];
        let listed = stage.env.run(&asked).json();
        let agents = listed["result"]["agents"].as_array().expect("agents");
        let mut configured = agents.iter().filter(|agent| agent["configured"] == true);
        configured.all(|agent| agent["version"].is_string())
    })
}

#[test]
fn doctor_sees_real_agents_and_what_they_lack() {
    let stage = Stage::new();
    let plain = |name: &str| {
        format!(
            "[agents.{name}]\nkind = \"{name}\"\nprogram = \"{}\"\n",
            stage.program(name)
        )
    };
    let gateway = stage.agent("pi", "http://127.0.0.1:9");
    let agents = [
        plain("codex"),
        plain("claude"),
        gateway,
        "[agents.gone]\nkind = \"codex\"\nprogram = \"gone\"\n".to_owned(),
    ];
    stage.cast("codex", "claude", "pi", &agents, "");
    let answer = stage.env.run(&["doctor", "--project", "project"]);
    for expected in [
        "bad  agent: codex is codex 0.166.0, not logged in\n     run: codex login, or set CODEX_API_KEY or OPENAI_API_KEY in this shell\n",
        "bad  agent: claude is claude 2.1.325, not logged in\n     run: claude auth login, or set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN in this shell\n",
        "ok   agent: pi is pi 0.87.1; a login cannot be seen\n",
        "bad  agent: gone: there is no program `gone`\n     install it: npm install -g @openai/codex",
    ] {
        assert!(
            answer.stdout.contains(expected),
            "`{expected}` is not in {}",
            answer.whole()
        );
    }
    assert_eq!(answer.exit, 3);
    // Credentials of the operator are seen, and stay where they are.
    stage
        .env
        .write(".codex/auth.json", "{\"OPENAI_API_KEY\": \"sk-dummy\"}");
    let answer = stage.env.run(&["doctor", "--project", "project"]);
    assert!(
        answer
            .stdout
            .contains("ok   agent: codex is codex 0.166.0, logged in"),
        "{}",
        answer.whole()
    );
}

#[test]
fn a_quartet_of_real_agents_completes() {
    let quick = [
        ("codex", "claude", "pi"),
        ("claude", "pi", "codex"),
        ("pi", "codex", "claude"),
    ];
    for (implementor, reviewer, judge) in sample("quartets of real agents", &quick) {
        quartet(implementor, reviewer, judge);
    }
    // CI plays the slow ones in jails.
    if is_soak() {
        quartet("opencode", "gemini", "codex");
    }
}
