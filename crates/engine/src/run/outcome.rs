//! What a run's end means: its exit, its output, its measurements, read into one outcome.

use std::fs;

use home::Settings;
use kernel::{FaultCause, InterruptCause, Order, RunOrder, RunOutcome, RunUsage, Stage};
use sandbox::{ExitCause, ExitRecord, Stream};
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::Ports;
use crate::run::agent_end::{resumable, summarize, summary_so_far, unhappy, usage_of};
use crate::run::check_gate::{baseline_outcome, check_outcome, surface_of};
use crate::run::files::RunFiles;
use crate::run::login;
use crate::run::measurement::{CheckPlan, PLAN_FILE, QUESTION_FILE, REPORT_FILE, Report, known};
use crate::run::renewal::LOGIN_ENDS;
use crate::run::test_rules::TestRules;
use crate::run::trees::commit_id;
use crate::run::walls::limit_words;

/// Bytes of an output's end that are looked at for an answer or for the last words.
const ANSWER_BYTES: usize = 256 * 1024;
const LAST_WORDS_BYTES: usize = 4 * 1024;

/// What an agent's exit code says.
const EXIT_TRY_LATER: i32 = 75;
const EXIT_NOT_LOGGED_IN: i32 = 77;

/// A run that is over.
pub(crate) struct EndedRun<'a> {
    pub(crate) order: &'a Order,
    pub(crate) run: &'a RunOrder,
    pub(crate) files: &'a RunFiles,
    pub(crate) settings: &'a Settings,
    pub(crate) ports: &'a Ports,
}

impl EndedRun<'_> {
    /// What its end means, and what it used. A run that failed on a full disk failed for a reason of
    /// ours, and costs no attempt.
    pub(crate) fn outcome(&self, exit: &ExitRecord) -> (RunOutcome, Option<RunUsage>) {
        if let ExitCause::CannotStart {
            why,
            is_passing: true,
        } = &exit.cause
        {
            return (RunOutcome::fault(FaultCause::Ours, home::plain(why)), None);
        }
        let (outcome, usage) = match self.cli() {
            Some(kind) => self.cli_outcome(kind, exit),
            None => (self.plain_outcome(exit), None),
        };
        let usage = usage.or_else(|| self.metered(exit));
        if let Some(host) = &exit.refused_need {
            return (self.refused_model(host), usage);
        }
        let has_failed = matches!(
            outcome,
            RunOutcome::Failed { .. }
                | RunOutcome::BadAnswer { .. }
                | RunOutcome::Checked { passed: false, .. }
        );
        if let Some(limit) = exit.limit
            && (has_failed || is_trouble(&outcome))
        {
            let why = limit_words(limit);
            return (RunOutcome::Failed { why }, usage);
        }
        if has_failed && exit.found_full {
            let fault = RunOutcome::fault(FaultCause::DiskFull, "the disk was full");
            return (fault, usage);
        }
        (outcome, usage)
    }

    /// The known CLI that the run is of, if it is of one.
    pub(crate) fn cli(&self) -> Option<agents::Kind> {
        let name = self.run.agent.as_ref()?;
        let kind = self.settings.agents.get(name.as_str())?.cli();
        (kind != agents::Kind::Command).then_some(kind)
    }

    /// What a run that was cut short with its keeper leaves to resume.
    pub(crate) fn session_so_far(&self) -> Option<RunUsage> {
        let kind = self.cli()?;
        let summary = summary_so_far(kind, &*self.ports.runs, &self.files.folder);
        let session = resumable(kind, &summary, self.files)?;
        Some(RunUsage {
            session: Some(session),
            resumable: true,
            ..RunUsage::default()
        })
    }

    /// A base that was measured before needs no run.
    pub(crate) fn known_baseline(&self) -> Result<Option<RunOutcome>, Fault> {
        let repository = self.ports.repositories.open(&self.order.loop_id)?;
        let tree = repository.tree_of(&commit_id(&self.run.base)?)?;
        let cache = self.ports.home.measured(&self.order.loop_id);
        let known = known(&cache, tree.as_str(), &self.settings.checks);
        Ok(known.map(|known| baseline_outcome(&known.measurement)))
    }

    /// What a known CLI's stream says; only a run that is done has an answer.
    fn cli_outcome(&self, kind: agents::Kind, exit: &ExitRecord) -> (RunOutcome, Option<RunUsage>) {
        let now_ms = (self.ports.clock)();
        let summary = summarize(kind, &*self.ports.runs, &self.files.folder, exit, now_ms);
        let before = self.run.resume.as_ref().map(|resume| resume.used.clone());
        let model = self.model();
        let prices = &self.settings.prices;
        let used = usage_of(
            &summary,
            &before.unwrap_or_default(),
            model.as_deref(),
            prices,
        );
        let Some(outcome) = unhappy(kind, &summary, self.run, now_ms, &|said| self.login(said))
        else {
            let said = summary.answer.unwrap_or_default();
            return (self.answer_in(&said), used);
        };
        let outcome = match summary.outcome {
            agents::Outcome::NotLoggedIn if self.login_has_ended(now_ms) => {
                let why = "the copy of its login ended, which is renewed for the next try";
                RunOutcome::interrupted(InterruptCause::CutOff, why)
            }
            _ => outcome,
        };
        let is_cut_short = matches!(
            outcome,
            RunOutcome::Interrupted { .. }
                | RunOutcome::Infrastructure { .. }
                | RunOutcome::NeedsHuman { .. }
        );
        let session = resumable(kind, &summary, self.files).filter(|_| is_cut_short);
        match session {
            Some(session) => {
                let resumed = RunUsage {
                    session: Some(session),
                    resumable: true,
                    ..used.unwrap_or_default()
                };
                (outcome, Some(resumed))
            }
            None => (outcome, used),
        }
    }

    /// Whether the login that the run began with, of which it had a copy that cannot be renewed, has
    /// ended by now.
    fn login_has_ended(&self, now_ms: i64) -> bool {
        let text = fs::read_to_string(self.files.folder.join(LOGIN_ENDS));
        let ends_ms = text.ok().and_then(|text| text.parse::<i64>().ok());
        ends_ms.is_some_and(|ends_ms| ends_ms <= now_ms)
    }

    /// What the proxy counted of a run that tells nothing itself.
    fn metered(&self, exit: &ExitRecord) -> Option<RunUsage> {
        let used = exit.tokens?;
        let tokens = agents::Tokens {
            input: used.input,
            cached: used.cached,
            output: used.output,
        };
        let model = self.model();
        let prices = agents::Prices::new(self.settings.prices.clone());
        let cost = model.as_deref();
        let cost_micro_usd = cost.and_then(|model| prices.cost_micro_usd(model, &tokens));
        Some(RunUsage {
            model,
            input_tokens: Some(tokens.input),
            cached_tokens: Some(tokens.cached),
            output_tokens: Some(tokens.output),
            cost_micro_usd,
            ..RunUsage::default()
        })
    }

    /// A run that was ended because the sandbox does not let it reach its model.
    fn refused_model(&self, host: &str) -> RunOutcome {
        let name = self.run.agent.as_ref().map_or("", |name| name.as_str());
        RunOutcome::NeedsHuman {
            question: format!(
                "the sandbox does not let the agent `{name}` reach its model at `{host}`; add it to \
                 your own configuration (`[sandbox] allow = [\"{host}\"]`), run `loopwright resume \
                 --reload`, then answer `retry`"
            ),
            free: false,
        }
    }

    /// What a person is asked where the agent is not logged in.
    fn login(&self, said: Option<&str>) -> String {
        let name = self.run.agent.as_ref().map_or("", |name| name.as_str());
        let agent = self.settings.agents.get(name);
        let kept = home::read_keys(&self.ports.home, &self.order.loop_id);
        let keys = kept.ok().flatten().unwrap_or_default();
        let kind = agent.map_or(agents::Kind::Command, home::AgentSettings::cli);
        let pass_env = agent.map(|agent| &agent.pass_env[..]).unwrap_or_default();
        login::question(name, kind, pass_env, &keys, said)
    }

    /// The model that was asked for.
    fn model(&self) -> Option<String> {
        let name = self.run.agent.as_ref()?;
        let role_agent = self.run.role_agent.as_ref();
        let agent =
            self.settings
                .agent_in_role(self.run.row.role, role_agent, name, &self.run.story)?;
        agent.model
    }

    fn plain_outcome(&self, exit: &ExitRecord) -> RunOutcome {
        let stage = self.run.place.run.stage;
        if let ExitCause::CannotStart { why, .. } = &exit.cause {
            let why = home::plain(why);
            return RunOutcome::NeedsHuman {
                question: format!(
                    "the program of `{}` cannot be started ({why}); mend that, then answer `retry`",
                    stage.word()
                ),
                free: false,
            };
        }
        if stage.is_check() {
            return self.checked(exit).unwrap_or_else(|fault| {
                let asked = self.question().or_else(|| self.damage());
                asked.unwrap_or_else(|| {
                    let why = format!("the checks could not be made: {}", fault.words());
                    RunOutcome::fault(FaultCause::Checks, why)
                })
            });
        }
        match (&exit.cause, exit.exit_code) {
            (ExitCause::Exited, Some(EXIT_TRY_LATER)) => RunOutcome::Infrastructure {
                why: "the agent asked to try again later".to_owned(),
                until_ms: None,
                elsewhere: true,
                cause: FaultCause::AskedToWait,
            },
            (ExitCause::Exited, Some(EXIT_NOT_LOGGED_IN)) => RunOutcome::NeedsHuman {
                question: self.login(None),
                free: false,
            },
            (ExitCause::Exited, Some(0)) => self.answer(exit),
            _ => RunOutcome::Failed {
                why: self.failure_words(exit),
            },
        }
    }

    /// What the process that measures leaves where only a person can help.
    fn question(&self) -> Option<RunOutcome> {
        let question = fs::read_to_string(self.files.folder.join(QUESTION_FILE)).ok()?;
        Some(RunOutcome::NeedsHuman {
            question,
            free: false,
        })
    }

    /// What people are asked where the loop's repository is damaged, so that no check can be made.
    fn damage(&self) -> Option<RunOutcome> {
        let repository = self.ports.repositories.open(&self.order.loop_id);
        let fault = match repository {
            Ok(repository) => repository.damage()?,
            Err(fault) => fault,
        };
        let question = fault.question()?;
        Some(RunOutcome::NeedsHuman {
            question,
            free: false,
        })
    }

    /// What an agent that ended well says.
    fn answer(&self, exit: &ExitRecord) -> RunOutcome {
        let output = self.ports.runs.output(&self.files.folder, Stream::Stdout);
        let stage = self.run.place.run.stage;
        let works = stage == Stage::Implement;
        // The answer is at the end of the output: where that is not kept to its last byte, nothing
        // was said.
        if output.end() != exit.stdout_bytes + exit.stdout_dropped && !works {
            return RunOutcome::BadAnswer {
                why: "the end of its output is not kept".to_owned(),
            };
        }
        self.answer_in(&String::from_utf8_lossy(output.tail(ANSWER_BYTES)))
    }

    /// The answer that a stage needs, in what its agent said.
    fn answer_in(&self, said: &str) -> RunOutcome {
        if let Some(question) = roles::read_question(said) {
            return RunOutcome::NeedsHuman {
                question,
                free: true,
            };
        }
        let answer = match self.run.place.run.stage {
            Stage::Implement => Ok(RunOutcome::Worked {
                learned: roles::read_learned(said),
                proof: None,
            }),
            Stage::Prove => roles::read_proof(said).map(|proof| RunOutcome::Worked {
                learned: roles::read_learned(said),
                proof: Some(Box::new(proof)),
            }),
            Stage::WriteTests => roles::read_coverage(said).map(RunOutcome::TestsWritten),
            Stage::Review => roles::read_review(said).map(RunOutcome::Reviewed),
            Stage::Arbitrate => roles::read_ruling(said).map(|ruling| RunOutcome::Ruled {
                fresh_tests: ruling.fresh_tests,
                reason: ruling.reason,
            }),
            Stage::Judge => match &self.run.candidate {
                Some(candidate) => {
                    let asked = roles::Asked {
                        candidate,
                        criteria: &self.run.story.criteria,
                        obligations: &self.run.told.obligations,
                    };
                    roles::read_verdict(said, &asked).map(RunOutcome::Judged)
                }
                None => Err("there is no candidate to judge".to_owned()),
            },
            Stage::Baseline | Stage::Check | Stage::Confirm => {
                Err("no agent runs the checks".to_owned())
            }
        };
        answer.unwrap_or_else(|why| RunOutcome::BadAnswer { why })
    }

    /// What the measurements of a check's run mean; a fault costs no attempt.
    fn checked(&self, exit: &ExitRecord) -> Result<RunOutcome, Fault> {
        if matches!(exit.cause, ExitCause::WallTimeout | ExitCause::IdleTimeout) {
            return Ok(RunOutcome::Checked {
                passed: false,
                report: "the checks ran out of time".to_owned(),
                facts: None,
            });
        }
        if exit.cause != ExitCause::Exited || exit.exit_code != Some(0) {
            return Err(Fault::transient("measure", self.failure_words(exit)));
        }
        let plan: CheckPlan = self.read_json(PLAN_FILE)?;
        let report: Report = self.read_json(REPORT_FILE)?;
        if self.run.place.run.stage == Stage::Baseline {
            return Ok(baseline_outcome(&report.base));
        }
        let surface = || self.surface(&plan).unwrap_or_default();
        check_outcome(&plan, &report, self.run, surface)
            .ok_or_else(|| Fault::transient("measure", "the candidate was not measured"))
    }

    fn read_json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, Fault> {
        let path = self.files.folder.join(name);
        let bytes = fs::read(&path).map_err(|error| Fault::io("read", &path, error))?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// The names that the candidate's code has, for a test writer who never sees the code.
    fn surface(&self, plan: &CheckPlan) -> Result<String, Fault> {
        let repository = self.ports.repositories.open(&self.order.loop_id)?;
        let base = TreeId::parse(&plan.trees.base)?;
        let code = TreeId::parse(plan.trees.old_form.as_deref().unwrap_or_default())?;
        let rules = TestRules::of(&*repository, self.settings, &base)?;
        surface_of(&*repository, &base, &code, &rules)
    }

    fn failure_words(&self, exit: &ExitRecord) -> String {
        let how = match (&exit.cause, exit.exit_code, exit.signal) {
            (ExitCause::WallTimeout, _, _) => "it ran out of time".to_owned(),
            (ExitCause::IdleTimeout, _, _) => "it said nothing for too long".to_owned(),
            (ExitCause::WentRound, _, _) => "it did the same again and again".to_owned(),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, None, Some(signal)) => format!("ended by signal {signal}"),
            (_, None, None) => "it ended in an unknown way".to_owned(),
        };
        let output = self.ports.runs.output(&self.files.folder, Stream::Stderr);
        let errors = String::from_utf8_lossy(output.tail(LAST_WORDS_BYTES)).into_owned();
        let mut lines = errors.lines().rev();
        match lines.find(|line| !line.trim().is_empty()) {
            Some(last) => format!("{how}: {last}"),
            None => how,
        }
    }
}

/// Whether a run seems to have failed by no fault of its own.
fn is_trouble(outcome: &RunOutcome) -> bool {
    matches!(
        outcome,
        RunOutcome::Infrastructure { .. }
            | RunOutcome::Interrupted { .. }
            | RunOutcome::NeedsHuman { free: false, .. }
    )
}
