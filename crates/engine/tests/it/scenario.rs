//! Scenarios as files: what agents and people do in one loop, and how it must end. `scenarios/*.toml`
//! holds them; `scenarios/README.md` describes the format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernel::{Allowance, Flow, OnQuestion, Rejudge, Stage, Together};
use serde::Deserialize;

/// One case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    #[serde(skip)]
    pub(crate) name: String,
    #[expect(dead_code, reason = "for whoever reads the file")]
    pub(crate) about: String,
    pub(crate) class: String,
    pub(crate) flow: String,
    #[serde(default = "two")]
    pub(crate) max_retries: u32,
    pub(crate) max_iterations: Option<u32>,
    #[serde(default = "sixty")]
    pub(crate) retry_wait_secs: i64,
    #[serde(default)]
    pub(crate) failover: bool,
    #[serde(default)]
    pub(crate) ladder: Vec<String>,
    #[serde(default)]
    pub(crate) publish_refusals: u32,
    #[serde(default = "one")]
    pub(crate) parallel: u32,
    pub(crate) rejudge: Option<String>,
    pub(crate) on_question: Option<String>,
    #[serde(default = "one")]
    pub(crate) checks_at_once: u32,
    #[serde(default)]
    pub(crate) at_once: BTreeMap<String, u32>,
    /// Tokens of all agents together, and those that are reserved for a run.
    pub(crate) tokens: Option<u64>,
    pub(crate) run_tokens: Option<u64>,
    /// More files of the project's first commit.
    #[serde(default)]
    pub(crate) project: BTreeMap<String, String>,
    pub(crate) reload: Option<ReloadCase>,
    #[serde(default)]
    pub(crate) publish: Vec<PublishCase>,
    #[serde(default)]
    pub(crate) look: Vec<LookCase>,
    pub(crate) story: Vec<StoryCase>,
    #[serde(default)]
    pub(crate) run: Vec<RunCase>,
    #[serde(default)]
    pub(crate) person: Vec<PersonCase>,
    pub(crate) expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoryCase {
    pub(crate) id: String,
    #[serde(default = "it_works")]
    pub(crate) criteria: Vec<String>,
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

/// What a reload brings in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReloadCase {
    pub(crate) parallel: Option<u32>,
    #[serde(default)]
    pub(crate) drop: Vec<String>,
    #[serde(default)]
    pub(crate) story: Vec<StoryCase>,
}

/// Until when the operator's branch cannot be moved to a story's commit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishCase {
    pub(crate) story: String,
    pub(crate) free_after: String,
}

/// What people see at a moment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookCase {
    pub(crate) when: String,
    pub(crate) status: Option<String>,
    pub(crate) questions: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCase {
    pub(crate) stage: String,
    pub(crate) story: Option<String>,
    pub(crate) attempt: Option<u32>,
    #[serde(rename = "try")]
    pub(crate) try_number: Option<u32>,
    pub(crate) agent: Option<String>,
    pub(crate) write: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) remove: Vec<String>,
    pub(crate) says: Option<String>,
    #[serde(default)]
    pub(crate) exit: i32,
    #[serde(default)]
    pub(crate) ends: Option<String>,
    pub(crate) session: Option<String>,
    /// Whether a check reuses a build, which hides what is red with the candidate.
    #[serde(default)]
    pub(crate) warm: bool,
    /// The records after which it ends; `never` until it is stopped.
    pub(crate) ends_after: Option<String>,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "the clock of a play stands still while agents work"
    )]
    pub(crate) takes_secs: Option<i64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonCase {
    pub(crate) when: String,
    pub(crate) does: String,
    pub(crate) story: Option<String>,
    /// What is said with it: a hint, or a reason.
    pub(crate) words: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) flow: Option<String>,
    /// The files that a person hands in.
    #[serde(default)]
    pub(crate) write: BTreeMap<String, String>,
    /// The question that is answered, by its text, where no story is named.
    pub(crate) to: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) status: Option<String>,
    pub(crate) passed: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) skipped: Vec<String>,
    #[serde(default)]
    pub(crate) blocked: Vec<String>,
    /// The stories that landed, and whose landing was announced, in their order.
    pub(crate) landed: Option<Vec<String>>,
    pub(crate) published: Option<Vec<String>>,
    /// Records that came in this order.
    #[serde(default)]
    pub(crate) order: Vec<String>,
    /// Records that came after others.
    #[serde(default)]
    pub(crate) not_before: BTreeMap<String, String>,
    /// Stories or runs that were never under way at the same time.
    #[serde(default)]
    pub(crate) never_at_once: Vec<[String; 2]>,
    pub(crate) restacks: Option<Vec<String>>,
    pub(crate) refused: Option<Vec<String>>,
    /// Whose PASS a story landed by: on the landed commit itself, or on the former one.
    #[serde(default)]
    pub(crate) judged: BTreeMap<String, String>,
    pub(crate) sent_back: Option<BTreeMap<String, usize>>,
    #[serde(default)]
    pub(crate) returns: BTreeMap<String, u32>,
    /// Proven stories that did not land and are named at the end.
    pub(crate) named: Option<Vec<String>>,
    /// Stories that landed, are not confirmed and are named at the end, in their order.
    pub(crate) unconfirmed: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) landed_or_named: Vec<String>,
    /// Stories whose question is open at the end.
    pub(crate) open: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) head_has: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) head_lacks: Vec<String>,
    #[serde(default)]
    pub(crate) former_lacks: BTreeMap<String, Vec<String>>,
    /// Runs of judges whose verdict landed nothing.
    #[serde(default)]
    pub(crate) not_landed_by: Vec<String>,
    #[serde(default)]
    pub(crate) runs: Vec<String>,
    #[serde(default)]
    pub(crate) not_runs: Vec<String>,
    pub(crate) asked: Option<usize>,
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

fn sixty() -> i64 {
    60
}

fn it_works() -> Vec<String> {
    vec!["it works".to_owned()]
}

/// A run, as a scenario's entries select it.
pub(crate) struct Wanted<'a> {
    pub(crate) stage: Stage,
    pub(crate) story: &'a str,
    pub(crate) attempt: u32,
    pub(crate) try_number: u32,
    pub(crate) agent: &'a str,
}

impl RunCase {
    /// Whether it says nothing of what the run writes or answers.
    pub(crate) fn is_silent(&self) -> bool {
        self.write.is_none() && self.remove.is_empty() && self.says.is_none()
    }
}

impl Scenario {
    pub(crate) fn parse(name: &str, text: &str) -> Self {
        let scenario = toml::from_str::<Self>(text);
        let mut scenario = scenario.unwrap_or_else(|error| panic!("{name}: {error}"));
        name.clone_into(&mut scenario.name);
        scenario
    }

    pub(crate) fn flow(&self) -> Flow {
        Flow::named(&self.flow).unwrap_or_else(|| panic!("{}: no flow", self.name))
    }

    /// What the loop's agents may use. The clock of a play stands still, so it is tokens that run out:
    /// agents that report none are charged what was reserved for them.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        self.tokens.map(|tokens| Allowance {
            tokens: Some(tokens),
            run_tokens: self.run_tokens,
            ..Allowance::default()
        })
    }

    /// What the loop does with several stories.
    pub(crate) fn together(&self) -> Together {
        let at_once = self.at_once.iter();
        let on_question = self.on_question.as_deref().and_then(OnQuestion::named);
        let rejudge = self.rejudge.as_deref().and_then(Rejudge::named);
        Together {
            parallel: self.parallel,
            on_question: on_question.unwrap_or_default(),
            rejudge: rejudge.unwrap_or_default(),
            checks_at_once: self.checks_at_once,
            agents_at_once: at_once
                .map(|(agent, places)| (agent.as_str().into(), *places))
                .collect(),
        }
    }

    /// What a run does: of all entries that fit, the last one.
    pub(crate) fn case(&self, wanted: &Wanted<'_>) -> Option<&RunCase> {
        let fits = |case: &&RunCase| {
            case.stage == wanted.stage.word()
                && case
                    .story
                    .as_deref()
                    .is_none_or(|story| story == wanted.story)
                && case.attempt.is_none_or(|attempt| attempt == wanted.attempt)
                && case
                    .try_number
                    .is_none_or(|number| number == wanted.try_number)
                && case
                    .agent
                    .as_deref()
                    .is_none_or(|agent| agent == wanted.agent)
        };
        self.run.iter().rfind(fits)
    }

    /// Agents that are CLIs with sessions, by the stages that name a session.
    pub(crate) fn has_sessions(&self, stages: &[&str]) -> bool {
        let named = self.run.iter().filter(|case| case.session.is_some());
        named
            .into_iter()
            .any(|case| stages.contains(&case.stage.as_str()))
    }
}

/// All scenarios of the project, by name.
pub(crate) fn all() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let listed = |folder: &Path| std::fs::read_dir(folder).expect("the folder of scenarios");
    let mut paths: Vec<PathBuf> = listed(&folder)
        .chain(listed(&folder.join("several")))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy();
        Scenario::parse(&name, &std::fs::read_to_string(path).expect("read"))
    };
    paths.iter().map(read).collect()
}
