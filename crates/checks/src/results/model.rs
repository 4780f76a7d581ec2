//! The results of one check.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How one test ended. The order is that of goodness, worst first.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// It ran and was not content, or it never came to an end.
    Failed,
    /// It did not run, or its outcome was declared not to matter (an ignored test, `xfail`,
    /// `it.skip`, a TAP directive).
    Skipped,
    /// It ran and was content.
    Passed,
}

/// One appearance of a test.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The file, target or package, where the runner says it.
    pub place: Option<String>,
    /// How it ended.
    pub status: TestStatus,
    /// A bounded excerpt of the failure.
    pub message: Option<String>,
}

/// What one run of one check said.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Results {
    /// The tests by name. A name may stand in several places.
    pub tests: BTreeMap<String, Vec<Occurrence>>,
    /// Something did not compile, could not be imported or collected: a bounded excerpt. It means
    /// something only where the exit code is not zero.
    pub build_failure: Option<String>,
    /// The files that could not be compiled, imported or collected, where they are named.
    pub broken_files: Vec<String>,
    /// Places whose test program ended before its own summary, so that not all of their tests were
    /// heard.
    pub crashed: Vec<String>,
    /// Not everything was read, since it was too long or cut off.
    pub truncated: bool,
    /// The runner's own summary and its lines do not agree: a reason to look twice, no reason to
    /// fail.
    pub doubt: Option<String>,
}

/// How many tests ended how.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that were skipped.
    pub skipped: usize,
}

impl Results {
    /// Says whether single tests are known, and not the exit code alone.
    pub fn is_per_test(&self) -> bool {
        !self.tests.is_empty()
    }

    /// The worst outcome among the occurrences of a name.
    pub fn status(&self, name: &str) -> Option<TestStatus> {
        self.tests
            .get(name)?
            .iter()
            .map(|occurrence| occurrence.status)
            .min()
    }

    /// Counts occurrences.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for occurrence in self.tests.values().flatten() {
            match occurrence.status {
                TestStatus::Passed => counts.passed += 1,
                TestStatus::Failed => counts.failed += 1,
                TestStatus::Skipped => counts.skipped += 1,
            }
        }
        counts
    }

    /// Says whether any test failed.
    pub fn has_failed(&self) -> bool {
        self.tests
            .values()
            .flatten()
            .any(|occurrence| occurrence.status == TestStatus::Failed)
    }
}
