//! The path rules of one project: which files are tests.

use std::path::Path;

use checks::detect::{Ecosystem, propose};
use checks::rules::{TestPaths, declared};
use home::Settings;
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::{Repository, TreeFiles};
use crate::run::project_tree::{ProjectTree, local};

/// Bytes of a test file that are looked at.
const TEST_BYTES_MAX: usize = 1024 * 1024;

/// Which files are tests.
pub(crate) struct TestRules {
    paths: TestPaths,
    ecosystems: Vec<Ecosystem>,
    /// Where the project's own runners look, beside the usual places.
    declared: Vec<String>,
    settings: Settings,
}

impl TestRules {
    /// The rules of the ecosystem that the base shows, or those that the project configures.
    pub(crate) fn of(
        repository: &dyn Repository,
        settings: &Settings,
        base: &TreeId,
    ) -> Result<Self, Fault> {
        let project = ProjectTree::of(repository, base, &settings.subdir)?;
        let ecosystems = propose(&project).ecosystems;
        let checks = settings.checks.iter();
        let commands: Vec<&str> = checks.map(|check| check.command.as_str()).collect();
        let declared = declared(&commands, &project);
        let paths = TestPaths::of(&ecosystems, &settings.test_paths).with_declared(&declared);
        Ok(Self {
            paths,
            declared,
            ecosystems,
            settings: settings.clone(),
        })
    }

    /// The rules by themselves.
    pub(crate) fn paths(&self) -> &TestPaths {
        &self.paths
    }

    /// Whether a path of the repository is a test file. What is no UTF-8 is none.
    pub(crate) fn is_test(&self, path: &Path) -> bool {
        path.to_str()
            .is_some_and(|path| self.paths.is_test(local(&self.settings.subdir, path)))
    }

    /// Where tests belong, in words.
    pub(crate) fn words(&self) -> String {
        if !self.settings.test_paths.is_empty() {
            return self.settings.test_paths.join(", ");
        }
        let of = |ecosystem: &Ecosystem| match ecosystem {
            Ecosystem::Cargo => Some("`tests/`, never `src/`"),
            Ecosystem::Node => Some("`*.test.*`, `*.spec.*`, `__tests__/`, `test/`, `tests/`"),
            Ecosystem::Python => Some("`test_*.py`, `*_test.py`, `tests/`"),
            Ecosystem::Go => Some("`*_test.go`, `testdata/`"),
            Ecosystem::Jvm => Some("`src/test/`"),
            Ecosystem::Make | Ecosystem::Just => None,
        };
        let mut known: Vec<String> = self
            .ecosystems
            .iter()
            .filter_map(of)
            .map(str::to_owned)
            .collect();
        if known.is_empty() {
            known.push("`tests/`, `test/`, `test_*`, `*_test.*`".to_owned());
        }
        if !self.declared.is_empty() {
            let own = self.declared.iter();
            let own: Vec<String> = own
                .map(|pattern| format!("`{}`", pattern.trim_start_matches('/')))
                .collect();
            known.push(format!("by the project's own settings: {}", own.join(", ")));
        }
        known.join("; ")
    }
}

/// The text of a file; what is no text is empty.
pub(crate) fn read_text(files: &dyn TreeFiles, path: &Path) -> String {
    let bytes = files.read(path, TEST_BYTES_MAX).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
