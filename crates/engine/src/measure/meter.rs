//! Carries out a plan: which tree is measured when, and what is looked at once more.

use std::fs;
use std::path::Path;
use std::time::Instant;

use checks::compare::{BASE_RERUNS_MAX, Comparison, Measured, Measurement, RERUNS_MAX, Wanted};
use kernel::{Finding, FlagKind};
use workspace::TreeId;

use super::command::Commands;
use super::confined;
use super::tracked::Tracked;
use crate::fault::Fault;
use crate::run::measurement::{CheckPlan, Kept, Report, cache_file, known};
use crate::run::untracked::{copy_untracked, is_plain};

/// How often a base with red tests is run again, to learn which of them are always red.
const RED_BASE_RERUNS: usize = 2;

/// Further runs of code that depends on chance or the time: what is right half of the time is green in
/// all of them once in thirty-two.
const SHAKY_RERUNS_MAX: usize = 4;

pub(super) struct Meter<'a> {
    pub(super) commands: Commands<'a>,
    pub(super) report: Report,
}

impl<'a> Meter<'a> {
    pub(super) fn plan(&self) -> &'a CheckPlan {
        self.commands.plan
    }

    pub(super) fn measure_all(&mut self) -> Result<(), Fault> {
        let trees = &self.plan().trees;
        self.measure_base(&trees.base)?;
        let Some(candidate) = &trees.candidate else {
            return Ok(());
        };
        if let Some(tree) = &trees.base_with_tests {
            let found = self.known_or_measured("base with the new tests", tree)?;
            self.report.base_with_tests = Some(found.measurement);
        }
        if let Some(tree) = &trees.proof {
            let found = self.known_or_measured("proof", tree)?;
            self.report.proof = Some(found.measurement);
        }
        let measured = self.measure("candidate", candidate)?;
        self.report.candidate = Some(measured.measurement.clone());
        if let Some(tree) = trees.old_form.as_ref().filter(|_| trees.needs_old_form) {
            self.measure_old_form(tree)?;
        }
        if let Some(tree) = &trees.mixed {
            let found = self.known_or_measured("candidate with the base's harness", tree)?;
            self.report.mixed = Some(found.measurement);
        }
        self.settle(candidate)?;
        if self.is_clean() {
            self.keep_for_later(candidate, &measured)?;
        }
        Ok(())
    }

    /// The base, with the tests that are red there looked at again: what is always red is known,
    /// and what is red now and then excuses nothing.
    fn measure_base(&mut self, tree: &str) -> Result<(), Fault> {
        let known = known(&self.plan().cache, tree, &self.plan().checks);
        let base = match known {
            Some(known) => known,
            None => {
                let mut base = self.measure("base", tree)?;
                while base.reruns.len() < RED_BASE_RERUNS && has_red_tests(&base.measurement) {
                    base.reruns
                        .push(self.measure("base, again", tree)?.measurement);
                }
                self.keep_for_later(tree, &base)?;
                base
            }
        };
        self.report.base = base.measurement;
        self.report.base_reruns = base.reruns;
        self.report.baseline_ms = base.took_ms;
        Ok(())
    }

    fn measure_old_form(&mut self, tree: &str) -> Result<(), Fault> {
        let found = self.known_or_measured("candidate with the older tests", tree)?;
        // A test that is red by chance would otherwise count against its old form.
        if has_red_tests(&found.measurement) {
            let again = self.measure("candidate with the older tests, again", tree)?;
            self.report.old_form_reruns.push(again.measurement);
        }
        self.report.old_form = Some(found.measurement);
        Ok(())
    }

    /// Measures what would make the comparison surer, until nothing does.
    fn settle(&mut self, candidate: &str) -> Result<(), Fault> {
        let trees = &self.plan().trees;
        let proving = trees.proof.as_deref().unwrap_or(candidate);
        for _ in 0..=(RERUNS_MAX + SHAKY_RERUNS_MAX + BASE_RERUNS_MAX) {
            let Some(comparison) = self.comparison() else {
                break;
            };
            if comparison.wants(Wanted::OldForm)
                && self.report.old_form.is_none()
                && let Some(tree) = &trees.old_form
            {
                self.measure_old_form(tree)?;
            } else if (self.n_reruns() < RERUNS_MAX && comparison.wants(Wanted::Rerun))
                || (self.n_reruns() < SHAKY_RERUNS_MAX && self.is_shaky_by_looks(&comparison))
            {
                let again = self.measure("proof, again", proving)?.measurement;
                match trees.proof {
                    Some(_) => self.report.proof_reruns.push(again),
                    None => self.report.reruns.push(again),
                }
            } else if comparison.wants(Wanted::RerunAsIs) && self.report.reruns.len() < RERUNS_MAX {
                let again = self.measure("candidate, again", candidate)?;
                self.report.reruns.push(again.measurement);
            } else if comparison.wants(Wanted::BaseRerun)
                && self.report.base_reruns.len() < BASE_RERUNS_MAX
            {
                let again = self.measure("base, again", &trees.base)?;
                self.report.base_reruns.push(again.measurement);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn n_reruns(&self) -> usize {
        match self.plan().trees.proof {
            Some(_) => self.report.proof_reruns.len(),
            None => self.report.reruns.len(),
        }
    }

    /// Code that depends on chance or on the time may be green once by luck.
    fn is_shaky_by_looks(&self, comparison: &Comparison) -> bool {
        let is_shaky = |kind: FlagKind| matches!(kind, FlagKind::Random | FlagKind::WaitsForDate);
        comparison.finding() == Finding::Green
            && self.plan().flags.iter().any(|flag| is_shaky(flag.kind))
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        self.report.comparison(self.plan())
    }

    /// The next story's base inherits clean results only.
    fn is_clean(&self) -> bool {
        let is_green = self
            .comparison()
            .is_some_and(|comparison| comparison.finding() == Finding::Green);
        is_green && self.report.reruns.is_empty() && self.report.proof_reruns.is_empty()
    }

    fn known_or_measured(&mut self, what: &str, tree: &str) -> Result<Kept, Fault> {
        if let Some(known) = known(&self.plan().cache, tree, &self.plan().checks) {
            return Ok(known);
        }
        let measured = self.measure(what, tree)?;
        self.keep_for_later(tree, &measured)?;
        Ok(measured)
    }

    /// What ran out of time, or could not be set up, may go otherwise the next time.
    fn keep_for_later(&self, tree: &str, measured: &Kept) -> Result<(), Fault> {
        let is_uncertain = |check: &Measured| {
            check.timed_out
                || check.exit_code.is_none()
                || (check.name == "setup" && !check.is_green())
        };
        if measured.measurement.checks.iter().any(is_uncertain) {
            return Ok(());
        }
        let bytes = serde_json::to_vec(measured)?;
        let path = cache_file(&self.plan().cache, tree, &self.plan().checks);
        write_atomically(&path, &bytes)
    }

    /// Makes a fresh checkout of a tree at the one place.
    pub(super) fn check_out(&self, tree: &TreeId) -> Result<(), Fault> {
        let (plan, lane) = (self.plan(), self.commands.lane);
        lane.clear()?;
        let folder = lane.tree();
        if !self.show_layers(tree)? {
            self.commands.repository.checkout_tree(tree, &folder)?;
        }
        let inner = folder.join(&plan.subdir);
        if is_plain(&folder, &inner) && inner.is_dir() {
            copy_untracked(&plan.copy, &plan.project, &folder, &plan.subdir);
        }
        confined::fill_home(plan, lane);
        Ok(())
    }

    /// Shows a tree in layers, the uppermost of which is empty; says whether that could be done.
    fn show_layers(&self, tree: &TreeId) -> Result<bool, Fault> {
        let Commands {
            repository,
            lane,
            store,
            ..
        } = &self.commands;
        let Some(store) = store else {
            return Ok(false);
        };
        match repository.write_out(tree, store)? {
            Some(layers) => lane.show(layers),
            None => Ok(false),
        }
    }

    /// Measures a tree in a fresh checkout.
    fn measure(&mut self, what: &str, tree: &str) -> Result<Kept, Fault> {
        let began = Instant::now();
        let id = TreeId::parse(tree)?;
        self.check_out(&id)?;
        self.commands.fetch(what)?;
        let measurement = self.run_checks(what, &id)?;
        if tree == self.plan().trees.base {
            confined::keep_downloads(self.plan(), self.commands.lane);
        }
        self.commands.lane.remove_tree();
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report.took_ms.insert(what.to_owned(), took_ms);
        Ok(Kept {
            measurement,
            took_ms,
            reruns: Vec::new(),
        })
    }

    /// Runs all commands in the checkout, and watches what they do to its files.
    pub(super) fn run_checks(&mut self, what: &str, tree: &TreeId) -> Result<Measurement, Fault> {
        let tracked = Tracked::of(self.commands.lane);
        let files = self.commands.repository.reader(tree)?;
        let mut measurement = Measurement::default();
        for check in &self.plan().checks {
            let mut measured = self.commands.run(what, tree, check)?;
            let touched = tracked.touched(&*files);
            measured.changed_files = touched.changed;
            measured.touched_files = touched.rewritten;
            let stop = check.name == "setup" && measured.exit_code != Some(0);
            measurement.checks.push(measured);
            // Without its setup a project cannot be checked, and what its commands then say means
            // nothing.
            if stop {
                break;
            }
        }
        Ok(measurement)
    }
}

fn has_red_tests(measurement: &Measurement) -> bool {
    let checks = measurement.checks.iter();
    checks
        .into_iter()
        .any(|check| check.name != "setup" && check.results.has_failed())
}

pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let scratch = path.with_extension(format!("new-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        fs::write(&scratch, bytes)?;
        fs::rename(&scratch, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&scratch);
        Fault::io("write", path, error)
    })
}
