//! Which trees tell about an attempt: the plan that a check's own process carries out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use checks::compare::ChangedFiles;
use checks::flags::has_hiding_bytes;
use checks::wording::{Wording, wording};
use home::Warm;
use kernel::{Flag, FlagKind, Stage, Tests};
use workspace::{Restacked, TreeId};

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::layered::can_layer;
use crate::run::measurement::{CheckPlan, PlannedJail, Probes, Trees, WarmPlan};
use crate::run::preparing::Preparing;
use crate::run::sorted::{Proving, Sorted};
use crate::run::test_rules::{TestRules, read_text};
use crate::run::trees::{all_files, commit_id, with_files_of};

/// What a check's run measures.
#[derive(Default)]
struct Measuring {
    trees: Trees,
    files: ChangedFiles,
    flags: Vec<Flag>,
    probes: Probes,
}

/// Makes the plan of a check's run.
pub(crate) fn check_plan(
    preparing: &Preparing<'_>,
    env: BTreeMap<String, String>,
) -> Result<CheckPlan, Fault> {
    let measuring = measuring(preparing)?;
    let settings = preparing.settings;
    let home = &preparing.ports.home;
    Ok(CheckPlan {
        repository: preparing.repository.path().to_owned(),
        lanes: home.lanes(&preparing.order.loop_id),
        store: can_layer(settings, preparing.ports).then(|| home.trees(&preparing.order.loop_id)),
        cache: home.measured(&preparing.order.loop_id),
        project: PathBuf::from(&preparing.order.project),
        subdir: settings.subdir.clone(),
        copy: settings.copy.clone(),
        checks: settings.checks.clone(),
        timeout_secs: settings.check_timeout_secs,
        env,
        trees: measuring.trees,
        files: measuring.files,
        flags: measuring.flags,
        probes: measuring.probes,
        jail: settings.jail().map(|jail| PlannedJail {
            settings: jail.clone(),
            state_folder: home.root().to_owned(),
            loop_folder: home.loop_folder(&preparing.order.loop_id),
        }),
        warm: warm_plan(preparing)?,
    })
}

/// What may be reused. Only a jail shows every tree at one path, and outputs know the path that they
/// were built at.
fn warm_plan(preparing: &Preparing<'_>) -> Result<Option<WarmPlan>, Fault> {
    let settings = preparing.settings;
    if settings.warm == Warm::Off || !can_layer(settings, preparing.ports) {
        return Ok(None);
    }
    let Some(first) = preparing.repository.first_commit()? else {
        return Ok(None);
    };
    let project = Path::new(&preparing.order.project);
    Ok(Some(WarmPlan {
        roots: preparing.ports.home.roots(project),
        start: preparing.repository.tree_of(&first)?.to_string(),
        reuses: !preparing.run.cold,
        least_ms: least_ms(),
        bytes_max: settings.trees_mb.saturating_mul(1024 * 1024),
    }))
}

/// Below this a root saves less than it costs. Tests want one of the smallest projects too.
fn least_ms() -> u64 {
    const LEAST_MS: u64 = 10_000;
    let told = std::env::var("LOOPWRIGHT_WARM_LEAST_MS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(LEAST_MS)
}

fn measuring(preparing: &Preparing<'_>) -> Result<Measuring, Fault> {
    let (run, repository) = (preparing.run, preparing.repository);
    let base = repository.tree_of(&commit_id(&run.base)?)?;
    let candidate = match &run.candidate {
        Some(candidate) if run.place.run.stage != Stage::Baseline => candidate,
        _ => {
            let trees = Trees {
                base: base.to_string(),
                ..Trees::default()
            };
            return Ok(Measuring {
                trees,
                ..Measuring::default()
            });
        }
    };
    let candidate = repository.tree_of(&commit_id(candidate)?)?;
    let written = match tests_commit(run.tests.as_ref()) {
        Some(commit) if run.landing.is_some() => moved(repository, &run.base, base, commit)?,
        Some(commit) => {
            let commit = commit_id(commit)?;
            // The tests stand on the base that they were written for, which a recheck's head has
            // left behind.
            let base = repository.tree_of(&repository.parent_of(&commit)?)?;
            Written::of(repository, base, repository.tree_of(&commit)?)?
        }
        None => Written {
            base,
            tests: None,
            files: Vec::new(),
        },
    };
    // The branch has none of a skipped story's own tests: a recheck lays them over it.
    let candidate = match &written.tests {
        Some(tests) if run.is_recheck => {
            let is_written = |path: &Path| written.files.iter().any(|known| known == path);
            let laid = repository.overlay(&written.base, &candidate, tests, &is_written)?;
            laid.tree
        }
        Some(_) | None => candidate,
    };
    Candidate {
        preparing,
        written: &written,
        tree: &candidate,
    }
    .measuring()
}

/// The story's tests on top of what landed since they were written. The candidate has them in it, so
/// they fit there wherever it does; where nobody can tell, its own tests are not told from others.
fn moved(
    repository: &dyn Repository,
    onto: &kernel::Commit,
    base: TreeId,
    tests: &kernel::Commit,
) -> Result<Written, Fault> {
    let (tests, onto) = (commit_id(tests)?, commit_id(onto)?);
    let written_on = repository.parent_of(&tests)?;
    match repository.restack(&written_on, &tests, &onto)? {
        Restacked::Clean { tree, .. } => Written::of(repository, base, tree),
        Restacked::Conflict(_) => Ok(Written {
            base,
            tests: None,
            files: Vec::new(),
        }),
    }
}

/// The commit of the tests that stand for a story.
pub(crate) fn tests_commit(tests: Option<&Tests>) -> Option<&kernel::Commit> {
    tests?.commit.as_ref()
}

/// What the test writer made, and of what.
struct Written {
    base: TreeId,
    tests: Option<TreeId>,
    files: Vec<PathBuf>,
}

impl Written {
    fn of(repository: &dyn Repository, base: TreeId, tests: TreeId) -> Result<Self, Fault> {
        let changes = repository.tree_changes(&base, &tests)?;
        Ok(Self {
            base,
            tests: Some(tests),
            files: changes.into_iter().map(|change| change.path).collect(),
        })
    }
}

/// A candidate that is to be measured.
struct Candidate<'a> {
    preparing: &'a Preparing<'a>,
    written: &'a Written,
    tree: &'a TreeId,
}

impl Candidate<'_> {
    fn measuring(&self) -> Result<Measuring, Fault> {
        let (repository, settings) = (self.preparing.repository, self.preparing.settings);
        let written = self.written;
        // What landed since a skipped story was judged: all of it is the base of a recheck.
        let is_recheck = self.preparing.run.is_recheck;
        let sorted = if is_recheck {
            Sorted::default()
        } else {
            Sorted::of(
                repository,
                settings,
                &written.base,
                self.tree,
                &written.files,
            )?
        };
        let before = repository.reader(&written.base)?;
        let is_old = |path: &&PathBuf| before.entry(path).is_some();
        let writer_edited: Vec<PathBuf> = written.files.iter().filter(is_old).cloned().collect();
        // What is new in the story was proven where it was made. Which older tests its writer changed
        // is seen on the base with the new tests alone.
        let is_landing = self.preparing.run.landing.is_some();
        let needs_tests = !is_landing || !writer_edited.is_empty();
        let mut trees = Trees {
            base: written.base.to_string(),
            base_with_tests: written
                .tests
                .as_ref()
                .filter(|_| needs_tests)
                .map(ToString::to_string),
            candidate: Some(self.tree.to_string()),
            ..Trees::default()
        };
        let mut files = self.files(&sorted, &writer_edited)?;
        files.writer_removed = texts(&self.removed_by_writer(&writer_edited)?);
        if is_recheck {
            files.edited_code = texts(&self.landed_since()?);
        } else {
            let proving = Proving {
                repository,
                base: &written.base,
                candidate: self.tree,
                sorted: &sorted,
            };
            let proof = proving.tree(written.tests.as_ref(), &written.files)?;
            trees.proof = Some(proof.tree)
                .filter(|tree| tree != self.tree)
                .map(|tree| tree.to_string());
            trees.needs_old_form = !writer_edited.is_empty();
            trees.old_form = Some(proof.old_form.to_string());
            let harness = sorted.harness();
            if !harness.is_empty() {
                let mixed = with_files_of(repository, &written.base, self.tree, &harness)?;
                trees.mixed = Some(mixed.to_string());
                files.harness = texts(&harness);
            }
            files.edited = texts(&proof.edited);
            files.edited_code = texts(&proof.edited_code);
            files.changed_tests = proof.changed_tests;
        }
        let flags = self.flags(&sorted)?;
        Ok(Measuring {
            probes: self.probes(&files, &flags),
            trees,
            flags,
            files,
        })
    }

    /// How the measurement itself is looked at: always by small faults, and by tests of ours where
    /// something is suspect, and now and then where nothing is.
    fn probes(&self, files: &ChangedFiles, flags: &[Flag]) -> Probes {
        const ONE_IN: u64 = 5;
        let seed = u64::from_str_radix(&self.tree.as_str()[..16], 16).unwrap_or_default();
        let is_recheck = self.preparing.run.is_recheck;
        // Where nobody else wrote tests, nobody else would notice tests that cannot fail.
        let is_alone = self.written.tests.is_none();
        let has_doubts = is_alone || !flags.is_empty() || !files.suspects.is_empty();
        let is_landing = self.preparing.run.landing.is_some();
        let n_mutants = if is_recheck || is_landing {
            0
        } else {
            self.preparing.settings.mutants
        };
        Probes {
            code: files.code.clone(),
            n_mutants,
            carriers: files.tests.clone(),
            canaries: n_mutants > 0 && (has_doubts || seed.is_multiple_of(ONE_IN)),
            seed,
        }
    }

    /// Files that other stories changed since a skipped one was judged. What became of the tests in
    /// them was answered for when those stories landed.
    fn landed_since(&self) -> Result<Vec<PathBuf>, Fault> {
        let written = self.written;
        let repository = self.preparing.repository;
        let changes = repository.tree_changes(&written.base, self.tree)?;
        let others = changes
            .into_iter()
            .filter(|change| change.before.is_some() && !written.files.contains(&change.path));
        Ok(others.map(|change| change.path).collect())
    }

    fn files(&self, sorted: &Sorted, writer_edited: &[PathBuf]) -> Result<ChangedFiles, Fault> {
        let run = self.preparing.run;
        let review = run.tests.as_ref().map(|tests| &tests.review);
        let coverage = review
            .map(|review| &review.criteria[..])
            .unwrap_or_default();
        let named = |is_it: &dyn Fn(&kernel::Coverage) -> bool| -> Vec<String> {
            let covering = coverage.iter().filter(|coverage| is_it(coverage));
            covering
                .flat_map(|coverage| coverage.tests.clone())
                .collect()
        };
        let acceptance = named(&|_| true);
        let paths = |changes: &[workspace::Change]| -> Vec<PathBuf> {
            changes.iter().map(|change| change.path.clone()).collect()
        };
        let suspects = sorted.suspects().into_iter().map(|suspect| suspect.path);
        let mut support = paths(&sorted.tests);
        support.extend(self.edited_by_both()?);
        Ok(ChangedFiles {
            tests: texts(&self.test_files()?),
            demands_tests: run.landing.is_none()
                && (self.written.tests.is_some() || !acceptance.is_empty()),
            writer: texts(&self.written.files),
            writer_edited: texts(writer_edited),
            suites: texts(&self.suites()?),
            shaky: texts(&self.shaky()?),
            is_without_code: self.wordings(sorted)? == Some(Wording::Comments),
            code: texts(&paths(&sorted.code)),
            support: texts(&support),
            suspects: suspects.collect(),
            preserving: named(&|coverage| coverage.preserves || coverage.untestable.is_some()),
            acceptance,
            ..ChangedFiles::default()
        })
    }

    /// The writer's files and the base's tests.
    fn test_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let (repository, settings) = (self.preparing.repository, self.preparing.settings);
        let rules = TestRules::of(repository, settings, &self.written.base)?;
        let before = repository.reader(&self.written.base)?;
        let olds = all_files(&*before).into_iter();
        let olds = olds.filter(|path| rules.is_test(path) && !self.written.files.contains(path));
        Ok(self.written.files.iter().cloned().chain(olds).collect())
    }

    /// Files of the writer's that are not as it left them, since the implementor changed them too.
    fn edited_by_both(&self) -> Result<Vec<PathBuf>, Fault> {
        let Some(tests) = &self.written.tests else {
            return Ok(Vec::new());
        };
        let repository = self.preparing.repository;
        let (written, landing) = (repository.reader(tests)?, repository.reader(self.tree)?);
        let differs = |path: &&PathBuf| written.entry(path) != landing.entry(path);
        Ok(self.written.files.iter().filter(differs).cloned().collect())
    }

    fn removed_by_writer(&self, edited: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
        let Some(tests) = &self.written.tests else {
            return Ok(Vec::new());
        };
        let written = self.preparing.repository.reader(tests)?;
        let is_gone = |path: &&PathBuf| written.entry(path).is_none();
        Ok(edited.iter().filter(is_gone).cloned().collect())
    }

    /// The writer's files that hold single tests, as the tests of node do.
    fn suites(&self) -> Result<Vec<PathBuf>, Fault> {
        const CALLS: [&str; 4] = ["test(", "it(", "describe(", "suite("];
        let Some(tests) = &self.written.tests else {
            return Ok(Vec::new());
        };
        let reader = self.preparing.repository.reader(tests)?;
        let has_tests = |path: &&PathBuf| {
            let text = read_text(&*reader, path);
            CALLS.iter().any(|call| text.contains(call))
        };
        let files = self.written.files.iter().filter(has_tests);
        Ok(files.cloned().collect())
    }

    /// The writer's files that take something from chance, from the clock or from their surroundings.
    fn shaky(&self) -> Result<Vec<PathBuf>, Fault> {
        let Some(tests) = &self.written.tests else {
            return Ok(Vec::new());
        };
        let reader = self.preparing.repository.reader(tests)?;
        let is_shaky = |path: &&PathBuf| {
            let text = read_text(&*reader, path);
            checks::flags::takes_chance(&path.to_string_lossy(), &text)
        };
        let files = self.written.files.iter().filter(is_shaky);
        Ok(files.cloned().collect())
    }

    /// What the changes of product files consist of; nothing where there are none.
    fn wordings(&self, sorted: &Sorted) -> Result<Option<Wording>, Fault> {
        let repository = self.preparing.repository;
        let (before, after) = (
            repository.reader(&self.written.base)?,
            repository.reader(self.tree)?,
        );
        let of = |change: &workspace::Change| {
            let mode =
                |entry: &Option<_>| entry.as_ref().map(|entry: &workspace::Entry| entry.mode);
            let is_same_mode =
                change.before.is_none() || mode(&change.before) == mode(&change.after);
            if change.after.is_none() || !is_same_mode {
                return Wording::Code;
            }
            let old = change.before.as_ref();
            let old = old.map(|_| read_text(&*before, &change.path));
            let new = read_text(&*after, &change.path);
            let path = change.path.to_string_lossy();
            wording(&path, &old.unwrap_or_default(), &new)
        };
        let found: Vec<Wording> = sorted.code.iter().map(of).collect();
        Ok(if found.is_empty() {
            None
        } else if found.contains(&Wording::Code) {
            Some(Wording::Code)
        } else if found.contains(&Wording::Unsure) {
            Some(Wording::Unsure)
        } else {
            Some(Wording::Comments)
        })
    }

    /// A change in which no small fault can be put, since it has no code.
    fn flag_of_wording(&self, sorted: &Sorted) -> Result<Option<Flag>, Fault> {
        let text = match self.wordings(sorted)? {
            Some(Wording::Comments) => {
                "only comments and blank lines differ, so the change has no code"
            }
            Some(Wording::Unsure) => {
                "what differs looks like comments, so the change may have no code"
            }
            Some(Wording::Code) | None => return Ok(None),
        };
        let first = sorted.code.first();
        Ok(first.map(|first| Flag {
            kind: FlagKind::Measurement,
            place: first.path.to_string_lossy().into_owned(),
            text: text.to_owned(),
        }))
    }

    /// What only a judge can weigh.
    fn flags(&self, sorted: &Sorted) -> Result<Vec<Flag>, Fault> {
        let repository = self.preparing.repository;
        let suspects = sorted.suspects().into_iter().map(|suspect| Flag {
            kind: FlagKind::Harness,
            text: suspect.why.words().to_owned(),
            place: suspect.path,
        });
        let mut flags: Vec<Flag> = suspects.collect();
        flags.extend(self.flag_of_wording(sorted)?);
        let n_changed = sorted.code.len() + sorted.tests.len() + sorted.suspects.len();
        if n_changed > SHOWN_FILES_MAX {
            flags.push(Flag {
                kind: FlagKind::Unreadable,
                place: ".".to_owned(),
                text: format!("{n_changed} files changed, more than a judge is shown"),
            });
        }
        let (before, after) = (
            repository.reader(&self.written.base)?,
            repository.reader(self.tree)?,
        );
        let tests = sorted.tests.iter();
        for change in sorted.code.iter().chain(tests.clone()) {
            let path = change.path.to_string_lossy();
            let Some(bytes) = after.read(&change.path, FILE_BYTES_MAX) else {
                continue;
            };
            let was = before.read(&change.path, FILE_BYTES_MAX);
            let hiding = has_hiding_bytes(&bytes);
            let is_new = was.as_deref().and_then(has_hiding_bytes).is_none();
            if let Some(what) = hiding.filter(|_| is_new) {
                flags.push(Flag {
                    kind: FlagKind::Unreadable,
                    place: path.to_string(),
                    text: format!("it has {what}"),
                });
            }
        }
        for change in &sorted.code {
            let Some(new) = change
                .after
                .as_ref()
                .map(|_| read_text(&*after, &change.path))
            else {
                continue;
            };
            let old = change
                .before
                .as_ref()
                .map(|_| read_text(&*before, &change.path));
            let path = change.path.to_string_lossy();
            flags.extend(checks::flags::flags(&path, old.as_deref(), &new));
        }
        flags.truncate(FLAGS_MAX);
        Ok(flags)
    }
}

/// Bytes of a file that are searched for what hides text, and flags that are kept.
const FILE_BYTES_MAX: usize = 4 << 20;
const FLAGS_MAX: usize = 200;

/// Changed files beyond which no judge sees every patch.
const SHOWN_FILES_MAX: usize = 200;

fn texts(paths: &[PathBuf]) -> Vec<String> {
    let text = |path: &PathBuf| Path::to_string_lossy(path).into_owned();
    paths.iter().map(text).collect()
}
