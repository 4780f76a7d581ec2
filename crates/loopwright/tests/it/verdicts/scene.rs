//! The stage of a verdict case: its project under git, its scripted agents, its own home and state
//! folder, and the loop that is played there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::case::Case;
use crate::support::{Answer, TestEnv};

const AGENT: &str = "cat > \"$SCENE/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT\"\n\
                     . \"$SCENE/agents/$LOOPWRIGHT_STAGE.sh\"\n";
const JUDGE: &str = include_str!("judge.py");
const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;
const RULING: &str = r#"echo '{"fresh_tests": false, "reason": "they stand"}'"#;
const GIT_CONFIG: &str = "[user]\n name = Op\n email = op@example.com\n[init]\n defaultBranch = main\n\
                          [protocol \"file\"]\n allow = always\n";

/// Time for one loop, unless the case says otherwise.
const LOOP_SECS: u64 = 240;
/// Time for a command of the case itself, such as its truth.
const SHELL_SECS: u64 = 120;

pub(super) struct Scene<'a> {
    case: &'a Case,
    runners: &'a Path,
    env: TestEnv,
}

impl<'a> Scene<'a> {
    /// A project that is ready to start.
    pub(super) fn new(case: &'a Case, runners: &'a Path) -> Self {
        let env = TestEnv::new();
        let scene = Self { case, runners, env };
        scene.env.write("home/.gitconfig", GIT_CONFIG);
        for (path, text) in &case.files {
            scene.env.write(&format!("proj/{path}"), text);
        }
        let prd = json!({ "title": "t", "stories": case.stories() });
        scene.env.write(&scene.in_project("prd.json"), pretty(&prd));
        scene.write_agents();
        scene.configure();
        if !case.gitless {
            scene.commit();
        }
        if let Some(script) = &case.pre {
            scene.must(script);
        }
        scene
    }

    /// A path in the project, whose folder need not be the repository's top.
    fn in_project(&self, name: &str) -> String {
        let folder = Path::new("proj").join(&self.case.subdir);
        folder.join(name).display().to_string()
    }

    fn write_agents(&self) {
        let case = self.case;
        let criteria = pretty(&json!(case.criteria()));
        self.env.write("criteria.json", criteria);
        self.env.write("agents/any.sh", AGENT);
        self.env.write("agents/judge.py", JUDGE);
        let explains = if case.judge_explains() { "yes" } else { "no" };
        let judge = format!("EXPLAINS={explains} python3 \"$SCENE/agents/judge.py\"");
        let script = |own: &Option<String>, usual: &str| own.as_deref().unwrap_or(usual).to_owned();
        for (stage, body) in [
            ("implement", script(&case.implement, "true")),
            ("write-tests", script(&case.write, "true")),
            ("review", script(&case.review, REVIEW)),
            ("judge", case.own_judge().unwrap_or(&judge).to_owned()),
            ("prove", script(&case.prove, "true")),
            ("arbitrate", script(&case.arbitrate, RULING)),
        ] {
            self.env.write(&format!("agents/{stage}.sh"), body);
        }
    }

    fn configure(&self) {
        let folder = self.folder().display().to_string();
        let timeout = self.case.agent_timeout.as_deref().unwrap_or("60s");
        let checks = self.case.checks().into_iter().map(|(name, command)| {
            let command = toml::Value::String(command);
            format!("{name} = {command}\n")
        });
        let config = format!(
            "[agents.any]\ncommand = [\"bash\", \"{folder}/agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\" }}\n\
             timeout = \"{timeout}\"\n[roles.reviewer]\nagent = \"any\"\n[checks]\n{}{}",
            checks.collect::<String>(),
            self.case.config
        );
        let file = self.in_project("loopwright.toml");
        self.env.write(&file, config);
    }

    /// Commits everything but the configuration, which names folders of this play.
    fn commit(&self) {
        let config = Path::new(&self.case.subdir).join("loopwright.toml");
        self.must(&format!(
            "git init -q && git add -A && git reset -q -- {} && \
             printf 'loopwright.toml\\n' >> .git/info/exclude && git commit -qm base",
            config.display()
        ));
    }

    /// Runs the loop to its end; nothing where it did not end in time.
    pub(super) fn start(&self) -> Option<Answer> {
        let project = self.env.path(&self.in_project(""));
        let prd = self.env.path(&self.in_project("prd.json"));
        let (project, prd) = (project.display().to_string(), prd.display().to_string());
        let retries = format!("loop.max_retries={}", self.case.retries);
        let flow = self.case.flow.as_deref().unwrap_or("quartet");
        let start = ["start", "--project", &project, "--prd", &prd];
        let options = ["--foreground", "--json", "--flow", flow, "--set", &retries];
        let more: Vec<&str> = self.case.args.iter().map(String::as_str).collect();
        let mut command = self.env.command(&[&start[..], &options, &more].concat());
        self.dress(&mut command).current_dir(project);
        run_within(&mut command, self.case.timeout.unwrap_or(LOOP_SECS))
    }

    /// What the program answers to a question about the loop.
    pub(super) fn ask(&self, arguments: &[&str]) -> Option<Answer> {
        let mut command = self.env.command(arguments);
        self.dress(&mut command).current_dir(self.env.path("proj"));
        run_within(&mut command, SHELL_SECS)
    }

    /// The exit code of the case's truth on what landed. A truth that does not end is a failure.
    pub(super) fn truth(&self) -> Option<i32> {
        const FORMAT: &str = "--format='%(refname:short)'";
        let truth = self.case.truth.as_deref()?;
        let branches = self.must(&format!("git for-each-ref {FORMAT} refs/heads/agent-loop"));
        let branch = branches.split_whitespace().next()?;
        let landed = self.env.path("landed");
        let tree = landed.display();
        self.must(&format!("git worktree add -q --detach {tree} {branch}"));
        let mut command = self.shell(truth, &landed.join(&self.case.subdir));
        // What was left in the agents' home must not help.
        command
            .envs(&self.case.truth_env)
            .env("HOME", self.env.path("agents"));
        Some(run_within(&mut command, SHELL_SECS).map_or(-1, |answer| answer.exit))
    }

    /// Runs a script in the repository that cannot fail in a sound case.
    fn must(&self, script: &str) -> String {
        let mut command = self.shell(script, &self.env.path("proj"));
        let answer = run_within(&mut command, SHELL_SECS)
            .unwrap_or_else(|| panic!("{}: `{script}` did not end", self.case.name));
        let name = &self.case.name;
        assert_eq!(answer.exit, 0, "{name}: `{script}`\n{}", answer.whole());
        answer.stdout
    }

    fn shell(&self, script: &str, folder: &Path) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env_clear().current_dir(folder);
        self.dress(&mut command);
        command
    }

    /// Gives a command the environment of this play and of nobody else, but for the toolchains.
    fn dress<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let machine = |name: &str| std::env::var_os(name).unwrap_or_default();
        let path = machine("PATH");
        let folders = std::iter::once(self.runners.join("venv/bin"));
        let folders = folders.chain(std::env::split_paths(&path));
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let usual = || Path::new(&machine("HOME")).join(folder);
            let place = std::env::var_os(name).map_or_else(usual, PathBuf::from);
            command.env(name, place);
        }
        command
            .env("HOME", self.env.path("home"))
            .env("LOOPWRIGHT_HOME", self.env.path("state"))
            .env("LOOPWRIGHT_SANDBOX_KIND", "host")
            .env("PATH", std::env::join_paths(folders).expect("a path"))
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env("SCENE", self.folder())
            .env("GIT_CONFIG_GLOBAL", self.env.path("home/.gitconfig"))
            .envs(&self.case.env)
    }

    /// The folder of this play, without a slash at its end.
    fn folder(&self) -> PathBuf {
        self.env.path("home").parent().expect("a parent").to_owned()
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}

/// Runs a command for at most so many seconds. What it prints goes to files: a process that it
/// leaves behind would keep a pipe open.
fn run_within(command: &mut Command, secs: u64) -> Option<Answer> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file(&stdout))
        .stderr(file(&stderr))
        .spawn()
        .expect("started");
    let (start, limit) = (Instant::now(), Duration::from_secs(secs));
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > limit {
            child.kill().expect("killed");
            child.wait().expect("ended");
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |path: &Path| {
        let bytes = std::fs::read(path).expect("readable");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Some(Answer {
        exit: status.code().unwrap_or(-1),
        stdout: text(&stdout),
        stderr: text(&stderr),
    })
}
