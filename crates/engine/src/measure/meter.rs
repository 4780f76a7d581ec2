//! Carries out a plan: which tree is measured when, and what is looked at once more.

use std::fs;
use std::path::Path;
use std::time::Instant;

use checks::compare::{
    BASE_RERUNS_MAX, Comparison, Measured, Measurement, RED_RERUNS_MAX, RERUNS_MAX, RedLook,
    Wanted, moment_looks, red_looks,
};
use kernel::{Finding, FlagKind};
use workspace::TreeId;

use super::command::{Commands, say};
use super::confined;
use super::tracked::Tracked;
use super::warm_state::Warmth;
use crate::fault::Fault;
use crate::run::measurement::{CheckPlan, Kept, Report, cache_file, known};
use crate::run::roots::Root;

/// How often a base with red tests is run again, to learn which of them are always red.
const RED_BASE_RERUNS: usize = 2;

/// Further runs of code that depends on chance or the time: what is right half of the time is green in
/// all of them once in thirty-two.
const SHAKY_RERUNS_MAX: usize = 4;

pub(super) struct Meter<'a> {
    pub(super) commands: Commands<'a>,
    pub(super) report: Report,
    /// What may be reused.
    pub(super) warmth: Warmth,
    /// Whether a tree was measured both ways.
    pub(super) is_tried: bool,
    /// The root below the tree that is looked at now.
    pub(super) root: Option<Root>,
    /// What of the next tree is looked at once more.
    pub(super) second_look: SecondLook,
}

/// What of a tree is looked at once more in the same checkout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SecondLook {
    /// Nothing.
    #[default]
    None,
    /// What is red with the new tests and was not before, since it may prove something. The checkout
    /// is then set aside, for a look after the candidate.
    Red,
    /// The tests that may prove the story, which must be green again.
    Green,
}

impl<'a> Meter<'a> {
    pub(super) fn plan(&self) -> &'a CheckPlan {
        self.commands.plan
    }

    /// Measures everything. What is red where built outputs were reused is measured from nothing, so that
    /// no story fails because of them.
    pub(super) fn measure_all(&mut self) -> Result<(), Fault> {
        self.look_for_root()?;
        self.measure_trees()?;
        if self.report.warm && !self.is_green() {
            self.measure_anew()?;
        }
        self.report.built = self.built();
        Ok(())
    }

    fn measure_anew(&mut self) -> Result<(), Fault> {
        let warm = std::mem::take(&mut self.report);
        self.warmth = Warmth::Cold("what is red is measured from nothing".to_owned());
        self.measure_trees()?;
        let pairs = [
            ("candidate", &self.plan().trees.candidate, &warm.candidate),
            ("proof", &self.plan().trees.proof, &warm.proof),
        ];
        for (what, tree, warm) in pairs {
            let cold = match what {
                "proof" => self.report.proof.clone(),
                _ => self.report.candidate.clone(),
            };
            if let (Some(tree), Some(warm), Some(cold)) = (tree, warm, cold) {
                self.compare_ways(what, tree, &cold, warm)?;
            }
        }
        Ok(())
    }

    fn measure_trees(&mut self) -> Result<(), Fault> {
        let trees = &self.plan().trees;
        self.measure_base(&trees.base)?;
        let Some(candidate) = &trees.candidate else {
            return Ok(());
        };
        if let Some(tree) = &trees.base_with_tests {
            self.second_look = SecondLook::Red;
            let found = self.known_or_measured("base with the new tests", tree)?;
            self.second_look = SecondLook::None;
            self.report.base_with_tests = Some(found.measurement);
            self.report.red_looks = found.looks;
            self.report.red_reruns = found.reruns;
        }
        if let Some(tree) = &trees.proof {
            self.measure_proof(tree)?;
        }
        self.second_look = SecondLook::Green;
        let mut measured = self.measure("candidate", candidate)?;
        self.report.candidate_looks = std::mem::take(&mut measured.steady);
        self.report.candidate = Some(measured.measurement.clone());
        if let Some(tree) = trees.old_form.as_ref().filter(|_| trees.needs_old_form) {
            self.measure_old_form(tree)?;
        }
        if let Some(tree) = &trees.mixed {
            let found = self.known_or_measured("candidate with the base's harness", tree)?;
            self.report.mixed = Some(found.measurement);
        }
        self.settle(candidate)?;
        self.commands.lane.forget_aside();
        self.compare_with_earlier("candidate", candidate)?;
        if self.is_clean() {
            self.keep_for_later(candidate, &measured)?;
        }
        Ok(())
    }

    /// The base, with the tests that are red there looked at again: what is always red is known,
    /// and what is red now and then excuses nothing.
    fn measure_base(&mut self, tree: &str) -> Result<(), Fault> {
        let base = match self.known(tree) {
            Some(known) => {
                // Whoever measured it may have died before its root was whole.
                if self.is_root_half_made() {
                    self.make_root_of_base(&known)?;
                }
                known
            }
            None => {
                let mut base = self.measure("base", tree)?;
                while base.reruns.len() < RED_BASE_RERUNS && has_red_tests(&base.measurement) {
                    base.reruns
                        .push(self.measure("base, again", tree)?.measurement);
                }
                self.keep_for_later(tree, &base)?;
                self.make_root_of_base(&base)?;
                base
            }
        };
        self.report.base = base.measurement;
        self.report.base_reruns = base.reruns;
        self.report.baseline_ms = base.took_ms;
        Ok(())
    }

    /// The tree that must prove the story. What is known of it from before counts only if its tests were
    /// looked at twice then.
    fn measure_proof(&mut self, tree: &str) -> Result<(), Fault> {
        let needs_look = !self.moments().is_empty();
        let known = self
            .known(tree)
            .filter(|known| !needs_look || !known.steady.is_empty());
        let found = match known {
            Some(known) => known,
            None => {
                self.second_look = SecondLook::Green;
                let measured = self.measure("proof", tree)?;
                self.keep_for_later(tree, &measured)?;
                measured
            }
        };
        self.report.proof = Some(found.measurement);
        self.report.proof_looks = found.steady;
        Ok(())
    }

    /// The tests that may prove the story and could be decided by a moment.
    fn moments(&self) -> Vec<RedLook> {
        let (base, files) = (&self.report.base, &self.plan().files);
        let with_tests = self.report.base_with_tests.as_ref();
        with_tests
            .map(|with_tests| moment_looks(base, with_tests, files))
            .unwrap_or_default()
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
        let n_steps_max = 1 + RERUNS_MAX + SHAKY_RERUNS_MAX + BASE_RERUNS_MAX + RED_RERUNS_MAX;
        for _ in 0..=n_steps_max {
            let Some(comparison) = self.comparison() else {
                break;
            };
            if comparison.wants(Wanted::OldForm)
                && self.report.old_form.is_none()
                && let Some(tree) = &trees.old_form
            {
                self.measure_old_form(tree)?;
            } else if (self.n_reruns() < RERUNS_MAX && comparison.wants(Wanted::Rerun))
                || self.n_reruns() < self.n_shaky_reruns(&comparison)
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
            } else if comparison.wants(Wanted::RedAgain)
                && self.report.late_looks.is_empty()
                && let Some(tree) = &trees.base_with_tests
                && !self.moments().is_empty()
            {
                self.look_late(tree)?;
            } else if comparison.wants(Wanted::RedAgain)
                && self.report.red_reruns.len() < RED_RERUNS_MAX
                && let Some(tree) = &trees.base_with_tests
            {
                self.see_red_again(tree)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Measures the base with the new tests in a fresh checkout once more. Further attempts with the
    /// same tests need not do so again.
    fn see_red_again(&mut self, tree: &str) -> Result<(), Fault> {
        let again = self.measure("base with the new tests, again", tree)?;
        self.report.red_reruns.push(again.measurement);
        if let Some(mut kept) = self.known(tree) {
            kept.reruns.clone_from(&self.report.red_reruns);
            self.keep_for_later(tree, &kept)?;
        }
        Ok(())
    }

    /// Looks at the base with the new tests after the candidate: what waited for a moment is green now.
    /// The checkout of before is used, where there is one.
    fn look_late(&mut self, tree: &str) -> Result<(), Fault> {
        let id = TreeId::parse(tree)?;
        let what = "base with the new tests, after the candidate";
        if !self.commands.lane.bring_back()? && !self.get_ready(what, &id)? {
            // Nothing can be heard there: whole runs in fresh checkouts must tell.
            self.report.late_looks.push(Measurement::default());
            return Ok(());
        }
        let look = self.run_looks(what, &id, &self.moments())?;
        self.commands.lane.remove_tree();
        self.report.late_looks.push(look);
        Ok(())
    }

    /// Checks a tree out and sets the project up; says whether that could be done.
    fn get_ready(&mut self, what: &str, tree: &TreeId) -> Result<bool, Fault> {
        let root = self.root_for(tree.as_str())?;
        self.root = root.filter(|_| self.is_trusted(tree.as_str()));
        self.check_out(tree)?;
        self.commands.fetch(what)?;
        let mut checks = self.plan().checks.iter();
        match checks.find(|check| check.name == "setup") {
            Some(setup) if !self.has_setup() => {
                Ok(self.commands.run(what, tree, setup)?.is_green())
            }
            Some(_) | None => Ok(true),
        }
    }

    fn n_reruns(&self) -> usize {
        match self.plan().trees.proof {
            Some(_) => self.report.proof_reruns.len(),
            None => self.report.reruns.len(),
        }
    }

    /// Code that depends on chance or on the time may be green once by luck, and so may tests that do.
    fn n_shaky_reruns(&self, comparison: &Comparison) -> usize {
        let is_shaky = |kind: FlagKind| matches!(kind, FlagKind::Random | FlagKind::WaitsForDate);
        if comparison.finding() != Finding::Green {
            0
        } else if self.plan().flags.iter().any(|flag| is_shaky(flag.kind)) {
            SHAKY_RERUNS_MAX
        } else if self.plan().files.shaky.is_empty() {
            0
        } else {
            RERUNS_MAX
        }
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        self.report.comparison(self.plan())
    }

    fn is_green(&self) -> bool {
        self.comparison()
            .is_some_and(|comparison| comparison.finding() == Finding::Green)
    }

    /// What is known of a tree from before. What was measured over a root counts only while that root
    /// does.
    fn known(&mut self, tree: &str) -> Option<Kept> {
        let known = known(&self.plan().cache, tree, &self.plan().checks)?;
        let counts = match (&known.root, &self.warmth) {
            (None, _) => true,
            (Some(root), Warmth::Ready(ready)) => *root == ready.name(),
            (Some(_), _) => false,
        };
        self.report.warm |= counts && known.root.is_some();
        counts.then_some(known)
    }

    /// The next story's base inherits clean results only.
    fn is_clean(&self) -> bool {
        self.is_green() && self.report.reruns.is_empty() && self.report.proof_reruns.is_empty()
    }

    fn known_or_measured(&mut self, what: &str, tree: &str) -> Result<Kept, Fault> {
        if let Some(known) = self.known(tree) {
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
        let earlier = known(&self.plan().cache, tree, &self.plan().checks);
        let is_better = earlier.is_some_and(|earlier| earlier.root.is_none());
        if is_better && measured.root.is_some() {
            // What was built from nothing says more.
            return Ok(());
        }
        let bytes = serde_json::to_vec(measured)?;
        let path = cache_file(&self.plan().cache, tree, &self.plan().checks);
        write_atomically(&path, &bytes)
    }

    /// Measures a tree, over a root where that is believed, and both ways until it is.
    fn measure(&mut self, what: &str, tree: &str) -> Result<Kept, Fault> {
        match self.root_for(tree)? {
            Some(root) if self.is_trusted(tree) => {
                self.report.warm = true;
                self.measure_over(what, tree, Some(root))
            }
            Some(root) => {
                let cold = self.measure_over(what, tree, None)?;
                self.try_both_ways(what, tree, &cold, root)?;
                Ok(cold)
            }
            None => self.measure_over(what, tree, None),
        }
    }

    /// Measures a tree in a fresh checkout, over a root or from nothing.
    pub(super) fn measure_over(
        &mut self,
        what: &str,
        tree: &str,
        root: Option<Root>,
    ) -> Result<Kept, Fault> {
        let (began, cpu_before) = (Instant::now(), cpu_ms_of_children());
        let id = TreeId::parse(tree)?;
        self.root = root;
        if let Some(root) = &self.root {
            let names = self.reused(tree).join(", ");
            let own = (!names.is_empty()).then(|| format!(", with the own packages {names}"));
            let own = own.unwrap_or_default();
            say(&format!("== {what}: over the root {}{own}", root.name()));
        }
        self.check_out(&id)?;
        let checked_out = began.elapsed();
        self.commands.fetch(what)?;
        let measurement = self.run_checks(what, &id)?;
        let is_soon_made = began.elapsed() < checked_out * 2;
        if tree == self.plan().trees.base && self.root.is_none() {
            confined::keep_downloads(self.plan(), self.commands.lane);
        }
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report.took_ms.insert(what.to_owned(), took_ms);
        let cpu_ms = cpu_ms_of_children().saturating_sub(cpu_before);
        self.report.cpu_ms.insert(what.to_owned(), cpu_ms);
        let second = std::mem::take(&mut self.second_look);
        let (mut looks, mut steady) = (Vec::new(), Vec::new());
        let mut is_needed_later = false;
        match second {
            SecondLook::None => {}
            SecondLook::Red => {
                let (base, files) = (&self.report.base, &self.plan().files);
                let red = red_looks(base, &measurement, files);
                is_needed_later = !moment_looks(base, &measurement, files).is_empty();
                looks = self.look_again(what, &id, &red)?;
            }
            SecondLook::Green => steady = self.look_again(what, &id, &self.moments())?,
        }
        // A tree whose commands take less time than its files is made again when it is needed: while it is
        // set aside, the next tree must be written from nothing.
        if is_needed_later && !is_soon_made {
            self.commands.lane.set_aside()?;
        } else {
            self.commands.lane.remove_tree();
        }
        Ok(Kept {
            measurement,
            took_ms,
            reruns: Vec::new(),
            looks,
            steady,
            root: self.root.as_ref().map(Root::name),
        })
    }

    /// Looks once more at some tests of the tree, while everything is built.
    fn look_again(
        &mut self,
        what: &str,
        tree: &TreeId,
        wanted: &[RedLook],
    ) -> Result<Vec<Measurement>, Fault> {
        let look = self.run_looks(&format!("{what}, a second look"), tree, wanted)?;
        Ok(Some(look)
            .filter(|look| !look.checks.is_empty())
            .into_iter()
            .collect())
    }

    fn run_looks(
        &mut self,
        what: &str,
        tree: &TreeId,
        wanted: &[RedLook],
    ) -> Result<Measurement, Fault> {
        let began = Instant::now();
        let mut look = Measurement::default();
        for red in wanted {
            let mut checks = self.plan().checks.iter();
            if let Some(check) = checks.find(|check| check.name == red.check) {
                let again = self.commands.run_some(what, tree, check, &red.files)?;
                look.checks.push(again);
            }
        }
        if !look.checks.is_empty() {
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.report.took_ms.insert(what.to_owned(), took_ms);
        }
        Ok(look)
    }

    /// Whether the tree that is looked at has what its setup would install.
    pub(super) fn has_setup(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.note.skips_setup)
    }

    /// Runs all commands in the checkout, and watches what they do to its files.
    pub(super) fn run_checks(&mut self, what: &str, tree: &TreeId) -> Result<Measurement, Fault> {
        let tracked = Tracked::of(self.commands.lane);
        let files = self.commands.repository.reader(tree)?;
        let mut measurement = Measurement::default();
        for check in &self.plan().checks {
            if check.name == "setup" && self.has_setup() {
                measurement.checks.push(Measured {
                    name: check.name.clone(),
                    exit_code: Some(0),
                    excerpt: "what it installs was there".to_owned(),
                    ..Measured::default()
                });
                continue;
            }
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

/// Processor time of all commands so far, with everything that they started.
fn cpu_ms_of_children() -> u64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name, which may hold anything: the times of children are the 14th and 15th.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 1000 / rustix::param::clock_ticks_per_second()
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
