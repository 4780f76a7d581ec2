//! Watches the measurement itself: small faults that the story's tests must notice, and tests of
//! ours that must be seen to fail and to pass.
//!
//! Both run in a copy of the tree that is thrown away, so that no exit code and no result of the real
//! runs is disturbed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use checks::canary::{Canary, canary};
use checks::compare::{Comparison, Measured};
use checks::mutants::{Mutant, mutants};
use checks::results::TestStatus;
use home::CheckSettings;
use kernel::{Finding, FlagKind, Mutants, ObligationKind};
use workspace::TreeId;

use super::meter::Meter;
use crate::fault::Fault;
use crate::run::test_rules::read_text;

/// Faults that are tried at most before it is said that none is noticed.
const FAULTS_MAX: usize = 8;

/// What is noted of a runner that told both of our tests as they are.
const SOUND: &str =
    "the runner was tried with a failing and a passing test of our own, and reported both";

/// What a run with a fault is called in the log.
const FAULT: &str = "fault";

/// Least time for one run with a fault, before it counts as one that does not end.
const FAULT_SECS_MIN: u64 = 20;

/// Least time for small faults, however quick the candidate's own measurement was.
const LEAST_TIME: Duration = Duration::from_secs(10);

/// Looks at a green measurement; a red one needs no second look.
pub(super) fn probe(meter: &mut Meter<'_>) -> Result<(), Fault> {
    let plan = meter.plan();
    let Some(comparison) = meter.comparison() else {
        return Ok(());
    };
    // Where the proof rests on what the implementor made of tests and harness, only the tree that has
    // it shows anything.
    let rests = comparison.obligations.iter().any(|each| {
        matches!(
            each.kind,
            ObligationKind::Harness | ObligationKind::TestSupport | ObligationKind::OldTestRed
        )
    });
    let proof = plan.trees.proof.as_ref().filter(|_| !rests);
    let tree = proof.or(plan.trees.candidate.as_ref());
    let is_green = comparison.finding() == Finding::Green || !comparison.preserved.is_empty();
    let (Some(tree), Some(test)) = (tree, plan.checks.iter().find(|check| check.name == "test"))
    else {
        return Ok(());
    };
    if !is_green || plan.probes.n_mutants == 0 {
        return Ok(());
    }
    let mut probing = Probing {
        tree: TreeId::parse(tree)?,
        test,
        meter,
        is_ready: false,
        n_written: 0,
    };
    probing.try_faults(&comparison)?;
    let mutants = probing.meter.report.probed.mutants.unwrap_or_default();
    let noticed_few = mutants.noticed * 2 < mutants.tried;
    if plan.probes.canaries || noticed_few {
        probing.try_canaries()?;
    }
    let is_sound = probing
        .meter
        .report
        .probed
        .notes
        .iter()
        .any(|note| note == SOUND);
    probing.judge_silence(mutants, is_sound);
    Ok(())
}

struct Probing<'a, 'b> {
    meter: &'a mut Meter<'b>,
    tree: TreeId,
    test: &'a CheckSettings,
    /// Whether the tree lies in the lane, set up.
    is_ready: bool,
    /// How often a file was written.
    n_written: u64,
}

impl Probing<'_, '_> {
    /// Checks the tree out and sets the project up, once.
    fn get_ready(&mut self) -> Result<bool, Fault> {
        if self.is_ready {
            return Ok(true);
        }
        // Nothing that is seen here lets a story pass.
        let root = self.meter.root_for(self.tree.as_str())?;
        self.meter.root = root.filter(|_| self.meter.is_trusted(self.tree.as_str()));
        self.meter.check_out(&self.tree)?;
        self.meter.commands.fetch("probe")?;
        for check in &self.meter.plan().checks {
            if check.name == "setup"
                && !self.meter.has_setup()
                && !self
                    .meter
                    .commands
                    .run("probe", &self.tree, check)?
                    .is_green()
            {
                return Ok(false);
            }
        }
        self.is_ready = true;
        Ok(true)
    }

    /// Runs the tests with one file's text replaced, and puts the file back.
    fn run_with(&mut self, what: &str, path: &str, text: &str) -> Result<Measured, Fault> {
        let whole = self.meter.commands.lane.tree().join(path);
        let was = fs::read(&whole).map_err(|error| Fault::io("read", &whole, error))?;
        self.write(&whole, text.as_bytes())?;
        // A fault may make a loop that never ends.
        let took = self.meter.report.took_ms.get("candidate");
        let usual_secs = took.copied().unwrap_or_default() / 1000;
        let is_fault = what == FAULT;
        self.meter.commands.wall_secs = is_fault.then_some((5 * usual_secs).max(FAULT_SECS_MIN));
        let measured = self.meter.commands.run(what, &self.tree, self.test);
        self.meter.commands.wall_secs = None;
        self.write(&whole, &was)?;
        measured
    }

    /// Writes a file with a time that it never had: tools that believe in times, as Python and cargo
    /// do, would otherwise take what they built of one text for another.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        self.n_written += 1;
        let write = || -> std::io::Result<()> {
            fs::write(path, bytes)?;
            let at = SystemTime::now() + Duration::from_secs(2 * self.n_written);
            fs::File::options().write(true).open(path)?.set_modified(at)
        };
        write().map_err(|error| Fault::io("write", path, error))
    }

    /// Puts small faults into the changed lines, within the time of one measurement. Tests that say
    /// that behaviour stays must each notice one, so for them it goes on: further lines of the same
    /// files, up to eight faults in all.
    fn try_faults(&mut self, comparison: &Comparison) -> Result<(), Fault> {
        let own: Vec<&String> = comparison
            .fail_to_pass
            .iter()
            .chain(&comparison.preserved)
            .collect();
        // Where nobody wrote tests for the story there are none that could notice.
        if own.is_empty() {
            return Ok(());
        }
        let enough = u32::try_from(self.meter.plan().probes.n_mutants).unwrap_or(u32::MAX);
        let took = self.meter.report.took_ms.get("candidate");
        let limit = Duration::from_millis(took.copied().unwrap_or_default()).max(LEAST_TIME);
        let began = Instant::now();
        let mut mutants = Mutants::default();
        for (path, fault) in
            self.faults(FAULTS_MAX.max(self.meter.plan().probes.n_mutants), false)?
        {
            let is_late = mutants.tried > 0 && began.elapsed() > limit;
            if (is_late && !self.has_insensitive(comparison)) || !self.get_ready()? {
                break;
            }
            let Some(is_noticed) = self.try_fault(&path, &fault, &own)? else {
                continue;
            };
            mutants.tried += 1;
            mutants.noticed += u32::from(is_noticed);
            // Where none is noticed, a few more are tried: some faults change nothing.
            let is_enough = mutants.tried >= enough || !comparison.preserved.is_empty();
            if is_enough && mutants.noticed > 0 && !self.has_insensitive(comparison) {
                break;
            }
        }
        self.meter.report.probed.mutants = Some(mutants);
        let mut n_tried = mutants.tried as usize;
        for (path, fault) in self.faults(2 * FAULTS_MAX, true)? {
            if n_tried >= FAULTS_MAX || !self.has_insensitive(comparison) || !self.get_ready()? {
                break;
            }
            n_tried += usize::from(self.try_fault(&path, &fault, &own)?.is_some());
        }
        Ok(())
    }

    /// Whether a test that says that behaviour stays has noticed no fault yet.
    fn has_insensitive(&self, comparison: &Comparison) -> bool {
        let sensitive = &self.meter.report.probed.sensitive;
        comparison
            .preserved
            .iter()
            .any(|test| !sensitive.contains(test))
    }

    /// Tries one fault, and says whether a test noticed; nothing where it does not build.
    fn try_fault(
        &mut self,
        path: &str,
        fault: &Mutant,
        own: &[&String],
    ) -> Result<Option<bool>, Fault> {
        let measured = self.run_with(FAULT, path, &fault.text)?;
        if measured.did_not_build() {
            return Ok(None);
        }
        let red: Vec<String> = own
            .iter()
            .filter(|test| is_missed(&measured, test))
            .map(|test| (*test).clone())
            .collect();
        let is_noticed = !red.is_empty();
        let probed = &mut self.meter.report.probed;
        probed.sensitive.extend(red);
        let word = if is_noticed { "noticed" } else { "not noticed" };
        probed.notes.push(format!(
            "small fault in {path}:{}: `{}` for `{}`: {word}",
            fault.line_number, fault.becomes, fault.was
        ));
        Ok(Some(is_noticed))
    }

    /// Small faults, spread over the changed product files: in changed lines, or in any.
    fn faults(&self, max: usize, anywhere: bool) -> Result<Vec<(String, Mutant)>, Fault> {
        let plan = self.meter.plan();
        let repository = self.meter.commands.repository;
        let before = repository.reader(&TreeId::parse(&plan.trees.base)?)?;
        let after = repository.reader(&self.tree)?;
        let mut by_file = Vec::new();
        for path in &plan.probes.code {
            let place = Path::new(path);
            let text = read_text(&*after, place);
            let old = before
                .entry(place)
                .filter(|_| !anywhere)
                .map(|_| read_text(&*before, place));
            if text.is_empty() {
                continue;
            }
            // A fault in a line that reaches for runners would only break the reaching.
            let is_flagged = |fault: &Mutant| {
                let place = format!("{path}:{}", fault.line_number);
                plan.flags.iter().any(|flag| flag.place == place)
            };
            let wanted = max + plan.flags.len();
            let found = mutants(path, old.as_deref(), &text, plan.probes.seed, wanted);
            let faults: Vec<(String, Mutant)> = found
                .into_iter()
                .filter(|fault| !is_flagged(fault))
                .map(|fault| (path.clone(), fault))
                .collect();
            by_file.push(faults.into_iter());
        }
        let mut faults = Vec::new();
        while faults.len() < max {
            let n_before = faults.len();
            for file in &mut by_file {
                faults.extend(file.next());
            }
            if faults.len() == n_before {
                break;
            }
        }
        faults.truncate(max);
        Ok(faults)
    }

    /// Adds two tests of ours to a test file: one that must fail and one that must pass.
    fn try_canaries(&mut self) -> Result<(), Fault> {
        let Some((path, canary)) = self.carrier(&self.tree, 0)? else {
            self.note(
                "no test file could be used to try the runner with a failing test of our own",
            );
            return Ok(());
        };
        if !self.get_ready()? {
            return Ok(());
        }
        let measured = self.run_with("own tests", &path, &canary.text)?;
        if !measured.results.is_per_test() {
            // Only the exit code speaks: it must say no, as it does on the base.
            if measured.is_green() && self.base_shows_canaries(&path)? {
                self.void(&format!(
                    "a test of ours in `{path}` that must fail leaves the command green"
                ));
            }
            return Ok(());
        }
        let (red, green) = (seen(&measured, &canary.red), seen(&measured, &canary.green));
        match (red, green) {
            (Some(TestStatus::Failed), Some(TestStatus::Passed)) => {
                self.note(SOUND);
            }
            (Some(TestStatus::Passed | TestStatus::Skipped), _) => self.void(&format!(
                "a test of ours in `{path}` that must fail did not: something changes what an \
                 assertion or a runner says"
            )),
            (_, _) if self.base_shows_canaries(&path)? => self.void(&format!(
                "tests of ours in `{path}` are not reported as they are on the base"
            )),
            (_, _) => {
                self.note(
                    "the runner was tried with tests of our own, and reports them on no tree",
                );
            }
        }
        Ok(())
    }

    /// Whether the base's runs show tests of ours, in the same file or, if that is new, in an older
    /// one.
    fn base_shows_canaries(&mut self, path: &str) -> Result<bool, Fault> {
        let plan = self.meter.plan();
        let base = TreeId::parse(&plan.trees.base)?;
        let files = self.meter.commands.repository.reader(&base)?;
        let is_old = files.entry(Path::new(path)).is_some();
        let text = read_text(&*files, Path::new(path));
        let same = is_old
            .then(|| canary(path, &text, plan.probes.seed))
            .flatten()
            .map(|canary| (path.to_owned(), canary));
        let carrier = match same {
            Some(same) => Some(same),
            None => self.carrier(&base, plan.files.writer.len())?,
        };
        let Some((path, canary)) = carrier else {
            return Ok(false);
        };
        self.tree = base;
        self.is_ready = false;
        if !self.get_ready()? {
            return Ok(false);
        }
        let measured = self.run_with("own tests on the base", &path, &canary.text)?;
        self.is_ready = false;
        if !measured.results.is_per_test() {
            return Ok(!measured.is_green());
        }
        Ok(seen(&measured, &canary.red) == Some(TestStatus::Failed)
            && seen(&measured, &canary.green) == Some(TestStatus::Passed))
    }

    /// The first test file that can carry tests of ours.
    fn carrier(&self, tree: &TreeId, from: usize) -> Result<Option<(String, Canary)>, Fault> {
        let plan = self.meter.plan();
        let files = self.meter.commands.repository.reader(tree)?;
        let carriers = plan.probes.carriers.iter().skip(from);
        for path in carriers.filter(|path| self.is_reported(path)) {
            let text = read_text(&*files, Path::new(path));
            if let Some(canary) = canary(path, &text, plan.probes.seed) {
                return Ok(Some((path.clone(), canary)));
            }
        }
        Ok(None)
    }

    /// Whether a run was seen to report tests of a file; a helper among the tests carries none. Some
    /// runners tell no places, and then any file will do. Tests that others inherit are reported
    /// where their text stands, which need not be a file that is collected.
    fn is_reported(&self, path: &str) -> bool {
        if path.ends_with("__init__.py") {
            return false;
        }
        let report = &self.meter.report;
        let runs = [
            report.candidate.as_ref(),
            report.proof.as_ref(),
            Some(&report.base),
        ];
        let checks = runs.into_iter().flatten().flat_map(|run| &run.checks);
        let mut places = checks
            .flat_map(|check| check.results.tests.values().flatten())
            .filter_map(|found| found.place.as_deref())
            .peekable();
        places.peek().is_none()
            || places.any(|place| path.ends_with(place) || place.ends_with(path))
    }

    /// Tests that can say nothing, since the code reaches for runners, equality or its own end.
    fn judge_silence(&mut self, mutants: Mutants, is_sound: bool) {
        let is_silent = mutants.noticed == 0;
        let is_reaching = |kind: FlagKind| match kind {
            // A value that is equal to anything passes whatever test compares it.
            FlagKind::OverridesEquality => true,
            FlagKind::PatchesRunner => is_silent,
            // Programs end, and that alone says nothing; nor does it keep a runner from telling a
            // failing test from a passing one.
            FlagKind::EndsProcess => is_silent && mutants.tried > 0 && !is_sound,
            _ => false,
        };
        let flags = &self.meter.plan().flags;
        if let Some(flag) = flags.iter().find(|flag| is_reaching(flag.kind)) {
            let why = format!(
                "the code reaches for what judges it, so that its tests say nothing ({}: {})",
                flag.place, flag.text
            );
            self.void(&why);
        }
    }

    fn note(&mut self, note: &str) {
        self.meter.report.probed.notes.push(note.to_owned());
    }

    fn void(&mut self, why: &str) {
        self.meter.report.probed.voided.push(why.to_owned());
    }
}

/// How a test of ours went, by its name within whatever a runner puts around it.
fn seen(measured: &Measured, name: &str) -> Option<TestStatus> {
    let tests = measured.results.tests.iter();
    let mut found = tests
        .filter(|(known, _)| known.contains(name))
        .flat_map(|(_, found)| found.iter().map(|found| found.status));
    found.next()
}

/// Whether a test is not green any more.
fn is_missed(measured: &Measured, label: &str) -> bool {
    if !measured.results.is_per_test() {
        return !measured.is_green();
    }
    let name = label.split(" (").next().unwrap_or(label);
    let status = measured
        .results
        .status(label)
        .or_else(|| measured.results.status(name));
    status != Some(TestStatus::Passed)
}
