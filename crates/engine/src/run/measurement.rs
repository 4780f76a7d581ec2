//! What a check's run is asked and what it found, as the files between the worker and the check's
//! own process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use checks::compare::{Comparison, Evidence, Measurement, compare};
use home::CheckSettings;
use serde::{Deserialize, Serialize};

/// The plan's and the report's names in the run's folder.
pub(crate) const PLAN_FILE: &str = "plan.json";
pub(crate) const REPORT_FILE: &str = "measured.json";

/// What to measure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckPlan {
    /// The loop's repository.
    pub repository: PathBuf,
    /// Where checkouts are made.
    pub scratch: PathBuf,
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
    /// Test files of the writer's.
    pub writer_files: Vec<String>,
    /// Those of them that hold single tests.
    #[serde(default)]
    pub suite_files: Vec<String>,
    /// Older test files that the implementor changed.
    pub edited_files: Vec<String>,
}

/// The trees of a measurement, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trees {
    /// The story's base.
    pub base: String,
    /// The base with the new tests.
    pub base_with_tests: Option<String>,
    /// The candidate as it is measured; nothing when only the base is looked at.
    pub candidate: Option<String>,
    /// The candidate without the new tests.
    pub without_tests: Option<String>,
    /// The candidate with older tests as they are in the base, where the candidate changed any.
    pub with_base_tests: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The story's base.
    pub base: Measurement,
    /// The base with the new tests.
    pub base_with_tests: Option<Measurement>,
    /// The candidate.
    pub candidate: Option<Measurement>,
    /// Further runs of a candidate that was red.
    pub reruns: Vec<Measurement>,
    /// The candidate without the new tests.
    pub without_tests: Option<Measurement>,
    /// The candidate with the older tests as they were.
    pub with_base_tests: Option<Measurement>,
    /// Milliseconds that each measurement took; nothing for those that were known.
    pub took_ms: BTreeMap<String, u64>,
    /// Milliseconds that measuring the base took, whenever that was.
    pub baseline_ms: u64,
}

/// A measurement as it is kept for later.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) measurement: Measurement,
    /// Milliseconds that it took.
    #[serde(default)]
    pub(crate) took_ms: u64,
}

impl Report {
    /// The comparison that follows from it.
    pub(crate) fn comparison(&self, plan: &CheckPlan) -> Option<Comparison> {
        Some(compare(&Evidence {
            base: &self.base,
            base_with_tests: self.base_with_tests.as_ref(),
            candidate: self.candidate.as_ref()?,
            candidate_reruns: &self.reruns,
            candidate_without_tests: self.without_tests.as_ref(),
            candidate_with_base_tests: self.with_base_tests.as_ref(),
            writer_files: &plan.writer_files,
            suite_files: &plan.suite_files,
            edited_files: &plan.edited_files,
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
