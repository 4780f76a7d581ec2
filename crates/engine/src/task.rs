//! What a run is given: its files, its prompt, its environment, its limits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agents::{Session, SessionId};
use kernel::{Attempt, Base, Commit, RunKey, Stage, State, StoryProgress, StoryStatus, TestsOrder};
use roles::Context;
use sandbox::{RunSpec, StopSignal};
use workspace::{CommitId, LoopRepo, TreeId};

use crate::candidate::{commit_id, tests_tree, words};
use crate::hands::{Wanted, config_home, equip, kind_of, order};
use crate::measure::{PLAN_FILE, Plan, Trees};
use crate::protect::protect;
use crate::rules::{TestRules, read_text};
use crate::runs::{LaunchFault, Place, remove_folder};
use crate::scrap::{copy_untracked, is_plain};
use crate::settings::{AgentSettings, Settings};

/// Environment variables that every run may see.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "USER", "LANG", "TERM", "TZ", "TMPDIR"];

/// Where toolchains and certificates lie, where that is not where their programs would look. All
/// are places, none is a secret, and without them nothing can be installed or built on such a
/// machine.
const PLACES: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
];

/// Bytes of each output stream that are kept.
const OUTPUT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes of a diff that a judge is shown.
const DIFF_BYTES_MAX: usize = 200 * 1024;

/// Bytes of a guide of the project that are read.
const GUIDE_BYTES_MAX: usize = 64 * 1024;

/// Everything that making a run ready looks at.
pub(crate) struct Task<'a> {
    pub(crate) state: &'a State,
    pub(crate) story: &'a StoryProgress,
    pub(crate) attempt: &'a Attempt,
    pub(crate) run: &'a RunKey,
    pub(crate) settings: &'a Settings,
    pub(crate) repository: &'a LoopRepo,
}

impl Task<'_> {
    /// Makes checkout and prompt of an agent's run; what it gives is the keeper's order but for the
    /// run's name.
    pub(crate) fn agent(
        &self,
        place: &Place,
        homes: &Path,
        program: &Path,
    ) -> Result<RunSpec, LaunchFault> {
        fs::create_dir_all(&place.run_folder).map_err(words)?;
        let session = self.session(place)?;
        if session == Session::Fresh {
            self.make_checkout(place)?;
        }
        let folder = place.checkout.join(&self.settings.subdir);
        if !is_plain(&place.checkout, &folder) || !folder.is_dir() {
            let name = if self.settings.subdir.is_empty() {
                "."
            } else {
                &self.settings.subdir
            };
            return Err(LaunchFault::BadTree(format!(
                "the project's folder `{name}` is gone, or a link"
            )));
        }
        let context = Context {
            goes_on: session != Session::Fresh,
            ..self.context()?
        };
        let prompt = roles::prompt(
            self.run.stage,
            &self.story.spec,
            &context,
            &self.settings.prompts,
        );
        let prompt_file = place.run_folder.join("prompt.md");
        fs::write(&prompt_file, &prompt.text).map_err(words)?;
        if !prompt.cut.is_empty() {
            fs::write(place.run_folder.join("cut.txt"), prompt.cut.join("\n")).map_err(words)?;
        }
        let role = self.attempt.flow.row(self.run.stage).role;
        let name = self
            .attempt
            .agent(self.run.stage)
            .ok_or("the stage has no agent")?;
        let agent = self
            .settings
            .agent_in_role(self.state.spec(), role, name)
            .ok_or_else(|| format!("there is no agent `{name}`"))?;
        let mut spec = agent_spec(name, &agent, prompt_file)?;
        let schema = roles::schema(self.run.stage);
        let home = config_home(homes, name);
        let wanted = Wanted {
            prompt: &prompt.text,
            schema,
            session,
        };
        if let Some(command) = equip(&agent, &wanted, &folder, &home, program)? {
            order(&command, &agent, &mut spec);
            fs::write(place.run_folder.join("prompt.md"), &command.stdin).map_err(words)?;
        }
        remove_what_runs_by_itself(&agent, &place.checkout);
        spec.cwd = folder;
        Ok(spec)
    }

    /// Makes the files that a fresh try works on; half-made ones are made anew.
    fn make_checkout(&self, place: &Place) -> Result<(), LaunchFault> {
        remove_folder(&place.checkout);
        let commit = self.checkout_commit()?;
        self.repository
            .checkout(&commit, &place.checkout)
            .map_err(words)?;
        self.repository
            .make_agent_repo(&commit, &place.checkout)
            .map_err(words)?;
        let project = Path::new(&self.state.spec().project);
        copy_untracked(
            &self.settings.copy,
            project,
            &place.checkout,
            &self.settings.subdir,
        );
        Ok(())
    }

    /// The session that the try goes on in, while the files that it worked on are still there. Once
    /// it was decided to begin anew that stands: a crash in the middle of it must not take
    /// half-made files for an agent's work.
    fn session(&self, place: &Place) -> Result<Session, String> {
        let Some(goes_on) = self.attempt.goes_on(self.run.stage) else {
            return Ok(Session::Fresh);
        };
        let anew = place.run_folder.join("anew");
        let session = SessionId::parse(&goes_on.session)
            .filter(|_| place.checkout.is_dir() && !anew.exists());
        match session {
            Some(session) => Ok(Session::Resume(session)),
            None => fs::write(anew, "").map(|()| Session::Fresh).map_err(words),
        }
    }

    /// Makes the plan of a check's run; what it gives is the keeper's order but for the run's name.
    pub(crate) fn check(
        &self,
        place: &Place,
        program: &Path,
        cache: PathBuf,
        run_id: &str,
    ) -> Result<RunSpec, String> {
        fs::create_dir_all(&place.run_folder).map_err(words)?;
        let Measuring {
            trees,
            writer_files,
            suite_files,
            edited_files,
        } = self.trees()?;
        let mut env = base_environment();
        env.extend(self.environment(run_id));
        let plan = Plan {
            repository: self.repository.path().to_owned(),
            scratch: place.checkout.clone(),
            cache,
            project: PathBuf::from(&self.state.spec().project),
            subdir: self.settings.subdir.clone(),
            copy: self.settings.copy.clone(),
            checks: self.settings.checks.clone(),
            timeout_secs: self.settings.check_timeout_secs,
            env,
            trees,
            writer_files,
            suite_files,
            edited_files,
        };
        let text = serde_json::to_vec_pretty(&plan).map_err(words)?;
        fs::write(place.run_folder.join(PLAN_FILE), text).map_err(words)?;
        let mut spec = empty_spec();
        let folder = place.run_folder.to_string_lossy().into_owned();
        (spec.program, spec.args) = (
            program.to_string_lossy().into_owned(),
            vec!["measure".to_owned(), folder],
        );
        spec.cwd.clone_from(&place.run_folder);
        spec.wall_secs = self.settings.check_timeout_secs;
        Ok(spec)
    }

    /// The trees that tell about the attempt.
    fn trees(&self) -> Result<Measuring, String> {
        let tree = |commit: &Commit| self.repository.tree_of(&commit_id(commit)?).map_err(words);
        if self.run.stage == Stage::Baseline {
            let base = tree(&self.attempt.base)?.to_string();
            return Ok(Measuring {
                trees: Trees {
                    base,
                    ..Trees::default()
                },
                ..Measuring::default()
            });
        }
        let candidate = tree(self.attempt.candidate().ok_or("there is no candidate")?)?;
        let Some(tests) = tests_tree(self.repository, self.story)? else {
            return self.trees_without_writer(&tree(&self.attempt.base)?, &candidate);
        };
        // The tests stand on the base that they were written for, which a recheck's head has left
        // behind.
        let tests_commit = self
            .story
            .tests
            .as_ref()
            .and_then(|tests| tests.commit.as_ref());
        let parent = self
            .repository
            .parent_of(&commit_id(tests_commit.ok_or("there are no tests")?)?);
        let base = self
            .repository
            .tree_of(&parent.map_err(words)?)
            .map_err(words)?;
        let rules = TestRules::of(self.repository, self.settings, &base)?;
        let is_test = |path: &Path| rules.is_test(path);
        let laid = self
            .repository
            .overlay(&base, &candidate, &tests, &is_test)
            .map_err(words)?;
        // What the test writer made counts as the base's: it may change tests and nothing else.
        let measured = protect(self.repository, self.settings, &tests, &laid.tree)?.tree;
        let code = self.code_tree(&base, &candidate, &laid.writer_files)?;
        let edited = self.edited_tests(&base, &measured, &rules, &laid.writer_files)?;
        let before = self.repository.reader(&base).map_err(words)?;
        let is_old = |path: &&PathBuf| before.entry(path).is_ok_and(|entry| entry.is_some());
        // What was green is looked at without the new tests, so that neither of the two can weaken
        // what was there.
        let weakened: Vec<PathBuf> = laid.writer_files.iter().filter(is_old).cloned().collect();
        let trees = Trees {
            base: base.to_string(),
            base_with_tests: Some(tests.to_string()),
            candidate: Some(measured.to_string()),
            without_tests: Some(
                protect(self.repository, self.settings, &base, &code)?
                    .tree
                    .to_string(),
            ),
            with_base_tests: self.with_base_tests(
                &base,
                &measured,
                &[edited.clone(), weakened].concat(),
            )?,
        };
        let suites = self.suites(&tests, &laid.writer_files)?;
        let edited = edited
            .into_iter()
            .filter(|path| is_old(&path))
            .collect::<Vec<_>>();
        let [writer_files, suite_files, edited_files] =
            [&laid.writer_files, &suites, &edited].map(|files| texts(files));
        Ok(Measuring {
            trees,
            writer_files,
            suite_files,
            edited_files,
        })
    }

    fn trees_without_writer(&self, base: &TreeId, candidate: &TreeId) -> Result<Measuring, String> {
        let measured = protect(self.repository, self.settings, base, candidate)?.tree;
        let rules = TestRules::of(self.repository, self.settings, base)?;
        let edited = self.edited_tests(base, &measured, &rules, &[])?;
        let trees = Trees {
            base: base.to_string(),
            candidate: Some(measured.to_string()),
            with_base_tests: self.with_base_tests(base, &measured, &edited)?,
            ..Trees::default()
        };
        Ok(Measuring {
            trees,
            edited_files: texts(&edited),
            ..Measuring::default()
        })
    }

    /// The writer's files that hold single tests, as the tests of node do.
    fn suites(&self, tests: &TreeId, files: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
        let reader = self.repository.reader(tests).map_err(words)?;
        let has_tests = |path: &&PathBuf| {
            let text = read_text(&reader, path);
            ["test(", "it(", "describe(", "suite("]
                .iter()
                .any(|call| text.contains(call))
        };
        Ok(files.iter().filter(has_tests).cloned().collect())
    }

    /// The candidate with every file of the test writer as it is in the base.
    fn code_tree(
        &self,
        base: &TreeId,
        candidate: &TreeId,
        files: &[PathBuf],
    ) -> Result<TreeId, String> {
        crate::trees::with_files_of(self.repository, base, candidate, files)
    }

    /// Existing test files that the implementor changed or removed, and new ones that other tests
    /// may stand on.
    fn edited_tests(
        &self,
        base: &TreeId,
        measured: &TreeId,
        rules: &TestRules,
        writer_files: &[PathBuf],
    ) -> Result<Vec<PathBuf>, String> {
        let changes = self
            .repository
            .tree_changes(base, measured)
            .map_err(words)?;
        let is_support = |path: &Path| checks::rules::is_test_support(&path.to_string_lossy());
        let edited = changes.into_iter().filter(|change| {
            rules.is_test(&change.path) && (change.before.is_some() || is_support(&change.path))
        });
        Ok(edited
            .map(|change| change.path)
            .filter(|path| !writer_files.contains(path))
            .collect())
    }

    /// The candidate with older tests as they are in the base, where the implementor changed any.
    fn with_base_tests(
        &self,
        base: &TreeId,
        measured: &TreeId,
        edited: &[PathBuf],
    ) -> Result<Option<String>, String> {
        if edited.is_empty() {
            return Ok(None);
        }
        let tree = crate::trees::with_files_of(self.repository, base, measured, edited)?;
        Ok(Some(tree.to_string()))
    }

    /// The commit that an agent's checkout holds.
    fn checkout_commit(&self) -> Result<CommitId, String> {
        let tests = self
            .story
            .tests
            .as_ref()
            .and_then(|tests| tests.commit.as_ref());
        let commit = match self.attempt.flow.row(self.run.stage).base {
            Base::Candidate => self.attempt.candidate().ok_or("there is no candidate")?,
            Base::StoryWithTests => tests.unwrap_or(&self.attempt.base),
            // Tests that are mended are there to be mended; fresh ones are written by somebody who
            // never saw the old.
            Base::Story => match (&self.story.tests_order, tests, self.run.stage) {
                (
                    Some(TestsOrder::Repair(_) | TestsOrder::Better(_)),
                    Some(tests),
                    Stage::WriteTests,
                ) => tests,
                _ => &self.attempt.base,
            },
        };
        commit_id(commit)
    }

    fn context(&self) -> Result<Context, String> {
        let base = self
            .repository
            .tree_of(&commit_id(&self.attempt.base)?)
            .map_err(words)?;
        let checked = self.attempt.checked.as_ref();
        let facts = checked.and_then(|checked| checked.facts.as_deref());
        let order = self.story.tests_order.as_ref().map(|order| match order {
            TestsOrder::Repair(why) | TestsOrder::Better(why) | TestsOrder::Fresh(why) => {
                why.clone()
            }
        });
        let lane = self
            .attempt
            .lanes()
            .iter()
            .find(|lane| lane.stage == self.run.stage);
        let sees_tests = self.attempt.flow.row(self.run.stage).base == Base::StoryWithTests;
        Ok(Context {
            base: Some(self.attempt.base.clone()),
            candidate: self.attempt.candidate().cloned(),
            diff: self.diff()?,
            checks: checked
                .map(|checked| checked.report.clone())
                .unwrap_or_default(),
            feedback: self.story.feedback.clone(),
            answers: self.story.answers.clone(),
            tests: if sees_tests {
                self.test_files(&base)?
            } else {
                Vec::new()
            },
            order,
            test_paths: TestRules::of(self.repository, self.settings, &base)?.words(),
            failing: facts.map(|facts| facts.failing.clone()).unwrap_or_default(),
            obliged: facts.map(|facts| facts.obliged.clone()).unwrap_or_default(),
            review: self.attempt.review.clone(),
            notes: self.notes(),
            patterns: self.settings.patterns.clone(),
            guides: self.guides(&base),
            learned: self.learned(),
            inventory: crate::trees::inventory(self.repository, &base, &self.settings.subdir)?,
            repair: lane.is_some_and(|lane| lane.run.bad_answers > 0),
            recheck: self.attempt.recheck,
            goes_on: false,
        })
    }

    /// What is to be known of the candidate, and of the tests, where the stage is about it.
    fn notes(&self) -> Vec<String> {
        let sees = self.attempt.flow.row(self.run.stage).base == Base::Candidate;
        let of_tests = self
            .story
            .tests
            .iter()
            .filter(|_| sees)
            .flat_map(|tests| tests.notes.clone());
        self.attempt.notes.iter().cloned().chain(of_tests).collect()
    }

    /// Exactly base..candidate of this attempt, for those who may see it.
    fn diff(&self) -> Result<String, String> {
        match (
            self.attempt.flow.row(self.run.stage).base,
            self.attempt.candidate(),
        ) {
            (Base::Candidate, Some(candidate)) => self
                .repository
                .diff(
                    &commit_id(&self.attempt.base)?,
                    &commit_id(candidate)?,
                    DIFF_BYTES_MAX,
                )
                .map_err(words),
            _ => Ok(String::new()),
        }
    }

    fn test_files(&self, base: &TreeId) -> Result<Vec<String>, String> {
        let Some(tests) = tests_tree(self.repository, self.story)? else {
            return Ok(Vec::new());
        };
        let changes = self.repository.tree_changes(base, &tests).map_err(words)?;
        Ok(changes
            .iter()
            .map(|change| change.path.to_string_lossy().into_owned())
            .collect())
    }

    /// What the project asks of agents, as the base has it.
    fn guides(&self, base: &TreeId) -> Vec<(String, String)> {
        let read = |name: &str| {
            let path = Path::new(&self.settings.subdir).join(name);
            let bytes = self
                .repository
                .read_blob(base, &path, GUIDE_BYTES_MAX)
                .ok()??;
            let text = String::from_utf8(bytes).ok()?;
            (!text.trim().is_empty()).then(|| (name.to_owned(), text))
        };
        ["AGENTS.md", "CLAUDE.md"]
            .into_iter()
            .filter_map(read)
            .collect()
    }

    /// What the stories that passed in this loop taught.
    fn learned(&self) -> Vec<String> {
        let passed = self
            .state
            .stories()
            .iter()
            .filter(|story| matches!(story.status, StoryStatus::Passed(_)));
        passed.flat_map(|story| story.learned.clone()).collect()
    }

    pub(crate) fn environment(&self, run_id: &str) -> Vec<(String, String)> {
        let row = self.attempt.flow.row(self.run.stage);
        let mut pairs = vec![
            ("LOOPWRIGHT_LOOP_ID", self.state.spec().loop_id.clone()),
            ("LOOPWRIGHT_STORY_ID", self.run.story.clone()),
            ("LOOPWRIGHT_ATTEMPT", self.run.attempt.to_string()),
            ("LOOPWRIGHT_ROLE", row.role.word().to_owned()),
            ("LOOPWRIGHT_STAGE", self.run.stage.word().to_owned()),
            ("LOOPWRIGHT_RUN_ID", run_id.to_owned()),
            ("LOOPWRIGHT_BASE", self.attempt.base.to_string()),
        ];
        // Who does not stand on the candidate does not learn its name either.
        let candidate = self
            .attempt
            .candidate()
            .filter(|_| row.base == Base::Candidate);
        pairs.extend(candidate.map(|candidate| ("LOOPWRIGHT_CANDIDATE", candidate.to_string())));
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// What a check's run measures.
#[derive(Default)]
struct Measuring {
    trees: Trees,
    writer_files: Vec<String>,
    suite_files: Vec<String>,
    edited_files: Vec<String>,
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

fn empty_spec() -> RunSpec {
    RunSpec {
        run_id: String::new(),
        program: String::new(),
        args: Vec::new(),
        cwd: PathBuf::new(),
        env: base_environment(),
        pass_env: Vec::new(),
        stdin: None,
        wall_secs: 0,
        idle_secs: None,
        grace_secs: 10,
        output_bytes_max: OUTPUT_BYTES_MAX,
        stop_signal: StopSignal::Term,
    }
}

fn agent_spec(name: &str, agent: &AgentSettings, prompt: PathBuf) -> Result<RunSpec, String> {
    let mut spec = empty_spec();
    spec.stdin = Some(prompt);
    (spec.wall_secs, spec.idle_secs) = (agent.timeout_secs, agent.idle_secs);
    if kind_of(agent) != agents::Kind::Command {
        return Ok(spec);
    }
    let (program, args) = agent
        .command
        .split_first()
        .ok_or_else(|| format!("agent `{name}` has no command"))?;
    (spec.program, spec.args) = (program.clone(), args.to_vec());
    // By name only: the keeper has the values from us, and nobody writes them down.
    spec.pass_env.clone_from(&agent.pass_env);
    spec.env.extend(agent.env.clone());
    Ok(spec)
}

/// Some CLIs run what they find in certain folders of a repository, whatever they are told. Those
/// folders are not the agent's to see; what the base has there stays in the candidate.
fn remove_what_runs_by_itself(agent: &AgentSettings, checkout: &Path) {
    for folder in kind_of(agent).facts().executes {
        let _ = crate::scrap::remove_folder(&checkout.join(folder));
    }
}

fn base_environment() -> BTreeMap<String, String> {
    let wanted = |name: &str| {
        ENVIRONMENT.contains(&name) || PLACES.contains(&name) || name.starts_with("LC_")
    };
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os()
        .filter_map(text)
        .filter(|(name, _)| wanted(name))
        .collect()
}
