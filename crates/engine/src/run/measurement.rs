//! What a check's run is asked and what it found, as the files between the worker and the check's
//! own process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use checks::compare::{ChangedFiles, Comparison, Evidence, Measurement, compare};
use home::{CheckSettings, SandboxSettings};
use kernel::{Flag, Mutants};
use serde::{Deserialize, Serialize};

/// The plan's and the report's names in the run's folder.
pub(crate) const PLAN_FILE: &str = "plan.json";
pub(crate) const REPORT_FILE: &str = "measured.json";

/// What a person is asked, where the commands cannot be started at all.
pub(crate) const QUESTION_FILE: &str = "question";

/// What to measure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckPlan {
    /// The loop's repository.
    pub repository: PathBuf,
    /// Where trees may be checked out and measured, the best place first.
    pub lanes: Vec<PathBuf>,
    /// Where trees are written out to be shown in layers; none where each is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
    /// What was measured before, by tree.
    pub cache: PathBuf,
    /// The operator's project folder.
    pub project: PathBuf,
    /// The project's folder inside its repository.
    pub subdir: String,
    /// Files that the project needs and does not track.
    pub copy: Vec<String>,
    /// The project's commands, in order.
    pub checks: Vec<CheckSettings>,
    /// How long one command may take.
    pub timeout_secs: u64,
    /// The environment of every command.
    pub env: BTreeMap<String, String>,
    /// The trees to measure.
    pub trees: Trees,
    /// Who changed which files, and what they are.
    #[serde(default)]
    pub files: ChangedFiles,
    /// What the texts of the change show, for a judge.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// What the measurement is probed with.
    #[serde(default)]
    pub probes: Probes,
    /// The jail that every command is put into; none where they run on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jail: Option<PlannedJail>,
    /// What may be reused of built outputs; none where everything is built from nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<WarmPlan>,
}

/// How built outputs are reused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WarmPlan {
    /// The roots of the project.
    pub roots: PathBuf,
    /// The tree that the loop began with: the only one that a root is made of.
    pub start: String,
    /// Whether outputs are reused now. Where everything must be built from nothing, the results are
    /// compared with earlier ones.
    pub reuses: bool,
    /// A root is made only where a measurement from nothing takes longer than this.
    pub least_ms: u64,
    /// No root is made where the roots of all projects take more than this.
    pub bytes_max: u64,
}

/// The jail of a plan's commands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlannedJail {
    /// What was asked for.
    pub settings: SandboxSettings,
    /// The state folder.
    pub state_folder: PathBuf,
    /// The loop's own folder in it.
    pub loop_folder: PathBuf,
}

/// What a measurement is probed with, to see whether it can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Probes {
    /// Product files of the candidate's that faults can be put into.
    pub code: Vec<String>,
    /// How many small faults are tried.
    pub n_mutants: usize,
    /// Test files that can carry tests of ours: the writer's first, then the base's.
    pub carriers: Vec<String>,
    /// Whether tests of ours are added to a run.
    pub canaries: bool,
    /// What random choices are drawn from.
    pub seed: u64,
}

/// The trees of a measurement, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trees {
    /// The story's base.
    pub base: String,
    /// The base with the new tests.
    pub base_with_tests: Option<String>,
    /// The candidate as it would land; nothing when only the base is looked at.
    pub candidate: Option<String>,
    /// The tree that must prove the story, where it is not the candidate itself.
    pub proof: Option<String>,
    /// The candidate's code with the base's tests and harness alone.
    pub old_form: Option<String>,
    /// What would land, with the base's tests and harness, where that is needed.
    #[serde(default)]
    pub mixed: Option<String>,
    /// Whether the old form is needed in any case.
    #[serde(default)]
    pub needs_old_form: bool,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The story's base.
    pub base: Measurement,
    /// Further runs of it.
    pub base_reruns: Vec<Measurement>,
    /// The base with the new tests.
    pub base_with_tests: Option<Measurement>,
    /// What was red there once more, in the same checkout.
    pub red_looks: Vec<Measurement>,
    /// The same after the candidate was measured.
    pub late_looks: Vec<Measurement>,
    /// Further runs of it, in fresh checkouts.
    pub red_reruns: Vec<Measurement>,
    /// The candidate.
    pub candidate: Option<Measurement>,
    /// Further runs of the candidate.
    pub reruns: Vec<Measurement>,
    /// The story's tests once more in its checkout.
    pub candidate_looks: Vec<Measurement>,
    /// The tree that must prove the story, where it is another one.
    pub proof: Option<Measurement>,
    /// Further runs of it.
    pub proof_reruns: Vec<Measurement>,
    /// The story's tests once more in its checkout.
    pub proof_looks: Vec<Measurement>,
    /// The candidate's code with the base's tests and harness alone.
    pub old_form: Option<Measurement>,
    /// Further runs of it.
    pub old_form_reruns: Vec<Measurement>,
    /// What would land, with the base's tests and harness.
    pub mixed: Option<Measurement>,
    /// What probing showed.
    pub probed: Probed,
    /// Milliseconds that each measurement took; nothing for those that were known.
    pub took_ms: BTreeMap<String, u64>,
    /// Milliseconds of processor time that each measurement took.
    pub cpu_ms: BTreeMap<String, u64>,
    /// Milliseconds that measuring the base took, whenever that was.
    pub baseline_ms: u64,
    /// Whether a tree that counts was measured with built outputs that were there before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
    /// What was reused, or why nothing was, in words.
    pub built: String,
}

/// What probing a measurement showed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Probed {
    /// How many small faults were noticed; nothing where none was tried.
    pub mutants: Option<Mutants>,
    /// Tests that at least one small fault turned red.
    pub sensitive: Vec<String>,
    /// Why the measurement cannot be trusted.
    pub voided: Vec<String>,
    /// What else is worth a note.
    pub notes: Vec<String>,
}

/// A measurement as it is kept for later.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) measurement: Measurement,
    /// Milliseconds that it took.
    #[serde(default)]
    pub(crate) took_ms: u64,
    /// Further runs, where tests were red.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reruns: Vec<Measurement>,
    /// What was red once more in the same checkout, where that may prove something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) looks: Vec<Measurement>,
    /// A story's tests once more in the same checkout, where they may have been green by chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steady: Vec<Measurement>,
    /// The root that it was measured with; none where everything was built from nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<String>,
}

impl Report {
    /// The comparison that follows from it.
    pub(crate) fn comparison(&self, plan: &CheckPlan) -> Option<Comparison> {
        Some(compare(&Evidence {
            base: &self.base,
            base_reruns: &self.base_reruns,
            base_with_tests: self.base_with_tests.as_ref(),
            red_looks: &self.red_looks,
            late_looks: &self.late_looks,
            red_reruns: &self.red_reruns,
            candidate: self.candidate.as_ref()?,
            candidate_reruns: &self.reruns,
            candidate_looks: &self.candidate_looks,
            proof: self.proof.as_ref(),
            proof_reruns: &self.proof_reruns,
            proof_looks: &self.proof_looks,
            old_form: self.old_form.as_ref(),
            old_form_reruns: &self.old_form_reruns,
            mixed: self.mixed.as_ref(),
            files: &plan.files,
        }))
    }
}

/// What is known of a tree from before.
pub(crate) fn known(cache: &Path, tree: &str, checks: &[CheckSettings]) -> Option<Kept> {
    let bytes = fs::read(cache_file(cache, tree, checks)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A tree's results depend on the commands too.
pub(crate) fn cache_file(cache: &Path, tree: &str, checks: &[CheckSettings]) -> PathBuf {
    let lines = checks
        .iter()
        .flat_map(|check| [check.name.as_str(), "\0", check.command.as_str(), "\0"]);
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    for byte in lines.flat_map(str::bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    cache.join(format!("{tree}-{hash:016x}.json"))
}
