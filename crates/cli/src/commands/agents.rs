//! `loopwright agents`: who is there, which version, and how each one did so far.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use kernel::{RunOutcome, RunUsage};
use serde_json::{Value, json};

use super::agent_entries::entries;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::words::counted;

/// How an agent did, over all loops that the journal has.
#[derive(Default)]
struct Record {
    runs: u64,
    worked: u64,
    failed: u64,
    tokens: Option<u64>,
    cost_micro_usd: Option<u64>,
}

impl Record {
    fn add(&mut self, outcome: Option<&RunOutcome>, usage: Option<&RunUsage>) {
        self.runs += 1;
        match outcome {
            Some(
                RunOutcome::Worked { .. }
                | RunOutcome::TestsWritten(_)
                | RunOutcome::Reviewed(_)
                | RunOutcome::Ruled { .. }
                | RunOutcome::Judged(_),
            ) => self.worked += 1,
            Some(RunOutcome::Failed { .. } | RunOutcome::BadAnswer { .. }) => self.failed += 1,
            // Still under way, or ended by something that is not the agent's doing.
            _ => {}
        }
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        add(&mut self.tokens, usage.and_then(RunUsage::tokens));
        add(
            &mut self.cost_micro_usd,
            usage.and_then(|usage| usage.cost_micro_usd),
        );
    }

    fn words(&self) -> String {
        let mut text = format!(
            "{}, {} worked, {} failed",
            counted(
                usize::try_from(self.runs).unwrap_or(usize::MAX),
                "run",
                "runs"
            ),
            self.worked,
            self.failed
        );
        if let Some(tokens) = self.tokens {
            let _ = write!(text, ", {tokens} tokens");
        }
        if let Some(dollars) = self.dollars() {
            let _ = write!(text, ", ${dollars:.2}");
        }
        text
    }

    #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
    fn dollars(&self) -> Option<f64> {
        self.cost_micro_usd.map(|micro| micro as f64 / 1e6)
    }

    fn json(&self) -> Value {
        json!({
            "runs": self.runs, "worked": self.worked, "failed": self.failed, "tokens": self.tokens,
            "costUsd": self.dollars(),
        })
    }
}

pub(crate) fn run(project: &Path, output: &mut Output) -> Result<Exit, Failure> {
    output.command("agents");
    let entries = entries(&config::read(project, &[])?);
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for trace in super::loops::all_traces(&home()?)? {
        records
            .entry(trace.agent.clone())
            .or_default()
            .add(trace.outcome.as_ref(), trace.usage.as_ref());
    }
    let none = Record::default();
    let (mut text, mut all) = (String::new(), Vec::new());
    for entry in &entries {
        let record = records.get(&entry.name).unwrap_or(&none);
        let version = entry.version();
        let family = entry
            .kind
            .family(entry.config.model.as_deref())
            .map(agents::Family::name);
        let what = match (&entry.found, version) {
            (None, _) => format!("`{}` is not there", entry.program),
            (Some(_), Some(version)) => format!("{} {version}", entry.kind.word()),
            (Some(_), None) => format!("{} `{}`", entry.kind.word(), entry.program),
        };
        let model = entry.config.model.as_deref().unwrap_or("its own model");
        let maker = family
            .map(|family| format!(" of {family}"))
            .unwrap_or_default();
        let from = if entry.is_configured {
            ""
        } else {
            " (found on this machine)"
        };
        let _ = writeln!(
            text,
            "{}{from}: {what}, {model}{maker}; {}",
            entry.name,
            record.words()
        );
        all.push(json!({
            "name": entry.name, "configured": entry.is_configured, "kind": entry.kind.word(),
            "program": entry.program, "found": entry.found, "version": version.map(|version| version.to_string()),
            "model": entry.config.model, "effort": entry.config.effort, "family": family, "record": record.json(),
        }));
    }
    if entries.is_empty() {
        text.push_str("none is configured, and this machine has none that is known\n");
    }
    output.data(&text)?;
    output.result(|| json!({ "agents": all }))?;
    output.next(NextAction::new(
        "loopwright doctor",
        "see whether they can work",
    ));
    Ok(Exit::Done)
}
