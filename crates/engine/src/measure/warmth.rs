//! Which trees are measured over a root, and whether such a measurement is believed.
//!
//! The first trees of a project are measured both ways. What is red over a root is measured from nothing,
//! so that no story fails because of it. A difference that two cold measurements do not show turns
//! reuse off for the project.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use checks::compare::{Measured, Measurement};
use checks::results::TestStatus;
use checks::warm::{Cold, Named, Recipe, lock_only_grew, recipe};
use home::WarmTrust;
use workspace::TreeId;

use super::command::say;
use super::meter::Meter;
use super::warm_state::{Fit, Ready, Warmth};
use crate::fault::Fault;
use crate::ports::TreeFiles;
use crate::run::measurement::{Kept, Probed, WarmPlan, known};
use crate::run::project_tree::ProjectTree;
use crate::run::roots::{Root, RootNote, Roots, TRIALS, hash, name_root};

/// What the tools that a project is built with say of themselves.
const VERSIONS: &str = "for tool in 'rustc -vV' 'cargo -V' 'node -v' 'npm -v' 'python3 -VV' 'uv --version'; \
                        do $tool 2>/dev/null; done; true";

/// The lock file of a workspace with a thousand packages takes a few hundred kilobytes.
const LOCK_BYTES_MAX: usize = 8 << 20;

impl Meter<'_> {
    /// Looks for a root of the tree that the loop began with.
    pub(super) fn look_for_root(&mut self) -> Result<(), Fault> {
        let Some(plan) = &self.plan().warm else {
            self.warmth = Warmth::Cold("reuse of built outputs is off".to_owned());
            return Ok(());
        };
        let roots = Roots::at(&plan.roots);
        self.warmth = match roots.trust().off {
            _ if !plan.reuses => Warmth::Cold("it confirms what was measured before".to_owned()),
            Some(why) => Warmth::Cold(why),
            None if self.commands.store.is_none() => {
                Warmth::Cold("trees are not shown in layers".to_owned())
            }
            None => match self.recipe_of(&TreeId::parse(&plan.start)?)? {
                Err(why) => Warmth::Cold(why.to_string()),
                Ok(_) if roots.is_empty() => Warmth::Wanted,
                Ok(recipe) => self.find_root(plan, &recipe)?,
            },
        };
        Ok(())
    }

    fn find_root(&mut self, plan: &WarmPlan, recipe: &Recipe) -> Result<Warmth, Fault> {
        let start = TreeId::parse(&plan.start)?;
        let tools = self.tools(&start)?;
        let wanted = self.note(&start, recipe, &tools)?;
        Ok(match Roots::at(&plan.roots).find(&wanted) {
            Some(root) => self.ready(root, tools),
            None => Warmth::Wanted,
        })
    }

    fn ready(&self, root: Root, tools: String) -> Warmth {
        name_root(&self.plan().cache, &root);
        Warmth::Ready(Box::new(Ready {
            root,
            tools,
            fits: BTreeMap::new(),
        }))
    }

    pub(super) fn is_root_half_made(&self) -> bool {
        let plan = self.plan().warm.as_ref();
        plan.is_some_and(|plan| Roots::at(&plan.roots).is_half_made())
    }

    /// Makes a root of the base, where that is what the loop began with and building it takes long.
    pub(super) fn make_root_of_base(&mut self, base: &Kept) -> Result<(), Fault> {
        let Some(plan) = &self.plan().warm else {
            return Ok(());
        };
        let is_wanted = matches!(self.warmth, Warmth::Wanted);
        if !is_wanted || self.plan().trees.base != plan.start {
            return Ok(());
        }
        if base.took_ms < plan.least_ms {
            let secs = base.took_ms / 1000;
            let why = format!("a measurement from nothing takes only {secs} s");
            self.warmth = Warmth::Cold(why);
            return Ok(());
        }
        if Roots::at(&plan.roots).are_full(plan.bytes_max) {
            let why = "what is kept of builds takes all the room that it may (`[retention] trees`)";
            self.warmth = Warmth::Cold(why.to_owned());
            return Ok(());
        }
        let start = TreeId::parse(&plan.start)?;
        let Ok(recipe) = self.recipe_of(&start)? else {
            return Ok(());
        };
        let tools = self.tools(&start)?;
        let wanted = self.note(&start, &recipe, &tools)?;
        let made = self.make_root(&start, &recipe, wanted, &Roots::at(&plan.roots))?;
        self.warmth = match made {
            Ok(root) => self.ready(root, tools),
            Err(why) => Warmth::Cold(why),
        };
        if let Some(root) = self.root_for(&plan.start)? {
            self.try_both_ways("base", &plan.start, base, root)?;
        }
        Ok(())
    }

    /// The root that a tree can be measured over.
    pub(super) fn root_for(&mut self, tree: &str) -> Result<Option<Root>, Fault> {
        let Warmth::Ready(ready) = &self.warmth else {
            return Ok(None);
        };
        if let Some(fit) = ready.fits.get(tree) {
            return Ok((*fit != Fit::Not).then(|| ready.root.clone()));
        }
        let (root, tools) = (ready.root.clone(), ready.tools.clone());
        let id = TreeId::parse(tree)?;
        let fits = match self.recipe_of(&id)? {
            Ok(recipe) => {
                let note = self.note(&id, &recipe, &tools)?;
                note.fixed == root.note.fixed
                    && self.has_what_it_locked(&id, &root.note)?
                    && !self.tracks_any(&id, &root.note.folders)?
            }
            Err(_) => false,
        };
        let fit = if fits {
            Fit::With(self.untouched(&id, &root))
        } else {
            Fit::Not
        };
        if let Warmth::Ready(ready) = &mut self.warmth {
            ready.fits.insert(tree.to_owned(), fit);
        }
        Ok(fits.then_some(root))
    }

    /// The own packages whose outputs a tree has from the root, if it is measured over it.
    pub(super) fn reused(&self, tree: &str) -> &[String] {
        match &self.warmth {
            Warmth::Ready(ready) => match ready.fits.get(tree) {
                Some(Fit::With(names)) => names,
                Some(Fit::Not) | None => &[],
            },
            Warmth::Unknown | Warmth::Cold(_) | Warmth::Wanted => &[],
        }
    }

    /// Whether measurements of this project over a root are believed: those with outputs of its own
    /// packages have to show it for themselves.
    pub(super) fn is_trusted(&self, tree: &str) -> bool {
        let Some(plan) = &self.plan().warm else {
            return false;
        };
        let trust = Roots::at(&plan.roots).trust();
        let has_own = !self.reused(tree).is_empty();
        trust.equal >= TRIALS && (!has_own || trust.equal_with_own >= TRIALS)
    }

    /// Whether probing over a root found what would count against the story.
    pub(super) fn has_doubts_over_a_root(&self) -> bool {
        let probed = &self.report.probed;
        let is_silent = probed
            .mutants
            .is_some_and(|mutants| mutants.tried > 0 && mutants.noticed == 0);
        self.root.is_some() && (is_silent || !probed.voided.is_empty())
    }

    /// Probes from nothing, as if nothing had been probed.
    pub(super) fn forget_root(&mut self, why: &str) {
        self.warmth = Warmth::Cold(why.to_owned());
        self.root = None;
        self.report.probed = Probed::default();
    }

    /// Measures a tree over a root too, and compares.
    pub(super) fn try_both_ways(
        &mut self,
        what: &str,
        tree: &str,
        cold: &Kept,
        root: Root,
    ) -> Result<(), Fault> {
        self.is_tried = true;
        let warm = self.measure_over(&format!("{what}, warm"), tree, Some(root))?;
        self.compare_ways(what, tree, &cold.measurement, &warm.measurement)
    }

    /// Learns from a tree that was measured over a root before and is measured from nothing now.
    pub(super) fn compare_with_earlier(&mut self, what: &str, tree: &str) -> Result<(), Fault> {
        let Some(plan) = self.plan().warm.as_ref().filter(|plan| !plan.reuses) else {
            return Ok(());
        };
        let earlier = known(&self.plan().cache, tree, &self.plan().checks);
        let earlier = earlier.filter(|earlier| earlier.root.is_some());
        let (Some(warm), Some(cold)) = (earlier, self.report.candidate.clone()) else {
            return Ok(());
        };
        if Roots::at(&plan.roots).trust().off.is_some() {
            return Ok(());
        }
        self.compare_ways(what, tree, &cold, &warm.measurement)
    }

    /// Learns from a tree that was measured both ways.
    pub(super) fn compare_ways(
        &mut self,
        what: &str,
        tree: &str,
        cold: &Measurement,
        warm: &Measurement,
    ) -> Result<(), Fault> {
        let Some(plan) = &self.plan().warm else {
            return Ok(());
        };
        let roots = Roots::at(&plan.roots);
        let mut trust = roots.trust();
        let Some(difference) = difference(cold, warm) else {
            trust.equal += 1;
            trust.equal_with_own += u32::from(!self.reused(tree).is_empty());
            return keep_trust(&roots, &trust);
        };
        let again = self.measure_over(&format!("{what}, cold again"), tree, None)?;
        if self::difference(cold, &again.measurement).is_some() {
            say(&format!(
                "== {what}: it differs from run to run ({difference})"
            ));
            return Ok(());
        }
        let why = format!("{difference} was otherwise when built outputs were reused ({what})");
        say(&format!("== reuse of built outputs is off: {why}"));
        trust.off = Some(why.clone());
        self.warmth = Warmth::Cold(why);
        keep_trust(&roots, &trust)
    }

    /// What was reused, in words.
    pub(super) fn built(&self) -> String {
        match &self.warmth {
            Warmth::Cold(why) => format!("cold: {why}"),
            Warmth::Unknown | Warmth::Wanted => "cold: nothing was kept from before".to_owned(),
            Warmth::Ready(ready) if self.report.warm => {
                let folders = ready.root.note.folders.join(", ");
                format!("warm: {folders} of the first commit{}", self.own_words())
            }
            Warmth::Ready(_) if self.is_tried => "cold: reuse is still being tried".to_owned(),
            Warmth::Ready(_) => "cold: what it is installed or built with has changed".to_owned(),
        }
    }

    /// What of the project's own was reused, in words.
    fn own_words(&self) -> String {
        let trees = &self.plan().trees;
        let n_reused = self
            .reused(trees.candidate.as_ref().unwrap_or(&trees.base))
            .len();
        match &self.warmth {
            Warmth::Ready(ready) if n_reused > 0 => {
                let own = ready.root.note.own.as_ref();
                let n_own = own.map_or(n_reused, |own| own.packages.n_packages());
                format!(", with {n_reused} of {n_own} own packages")
            }
            Warmth::Ready(_) | Warmth::Unknown | Warmth::Cold(_) | Warmth::Wanted => String::new(),
        }
    }

    fn recipe_of(&self, tree: &TreeId) -> Result<Result<Recipe, Cold>, Fault> {
        let plan = self.plan();
        let project = ProjectTree::of(self.commands.repository, tree, "")?;
        let checks: Vec<Named<'_>> = plan
            .checks
            .iter()
            .map(|check| Named {
                name: &check.name,
                command: &check.command,
            })
            .collect();
        let found = recipe(&project, &plan.subdir, &checks);
        let files = self.commands.repository.reader(tree)?;
        Ok(found.and_then(|recipe| match link_in(&*files, &recipe) {
            // What it leads to may change while the link stays as it is.
            Some(link) => Err(Cold::Depends(format!("what the link {link} leads to"))),
            None => Ok(recipe),
        }))
    }

    /// What the tools say of themselves in a tree, which may choose them.
    fn tools(&mut self, tree: &TreeId) -> Result<String, Fault> {
        self.root = None;
        self.check_out(tree)?;
        let said = self.commands.ask("tools", VERSIONS)?;
        self.commands.lane.remove_tree();
        Ok(said)
    }

    /// What a root of this tree would stand for.
    fn note(&self, tree: &TreeId, recipe: &Recipe, tools: &str) -> Result<RootNote, Fault> {
        let plan = self.plan();
        let files = self.commands.repository.reader(tree)?;
        let mut fixed = format!("in {}\n{tools}\n{}\n", plan.subdir, recipe.also);
        for check in &plan.checks {
            let _ = writeln!(fixed, "{}: {}", check.name, check.command);
        }
        for (name, value) in &plan.env {
            if name != sandbox::PORT_BASE_VARIABLE {
                let _ = writeln!(fixed, "{name}={value}");
            }
        }
        for name in &plan.copy {
            let text = fs::read(plan.project.join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let _ = writeln!(fixed, "{name} {:016x} {}", hash(&[&text]), text.len());
        }
        for line in recipe.builds.iter().chain(&recipe.installs) {
            let _ = writeln!(fixed, "{line}");
        }
        fixed += &ids(&*files, &recipe.fixed);
        Ok(RootNote {
            fixed,
            noticed: ids(&*files, &recipe.noticed),
            folders: Vec::new(),
            skips_setup: recipe.skips_setup,
            own: None,
        })
    }

    /// Whether a tree's lock files of cargo name all that those of the root's tree do.
    fn has_what_it_locked(&self, tree: &TreeId, root: &RootNote) -> Result<bool, Fault> {
        let Some(plan) = &self.plan().warm else {
            return Ok(false);
        };
        let repository = self.commands.repository;
        let before = repository.reader(&TreeId::parse(&plan.start)?)?;
        let after = repository.reader(tree)?;
        let text = |files: &dyn TreeFiles, path: &Path| {
            let bytes = files.read(path, LOCK_BYTES_MAX).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(root.lock_files().all(|path| {
            let path = Path::new(&path);
            let is_same = before.entry(path) == after.entry(path);
            is_same || lock_only_grew(&text(&*before, path), &text(&*after, path))
        }))
    }

    /// Whether a commit has files where a root has its own.
    fn tracks_any(&self, tree: &TreeId, folders: &[String]) -> Result<bool, Fault> {
        let files = self.commands.repository.reader(tree)?;
        let is_tracked = |folder: &String| {
            let path = Path::new(folder);
            files.entry(path).is_some() || !files.list(path).is_empty()
        };
        Ok(folders.iter().any(is_tracked))
    }
}

fn keep_trust(roots: &Roots, trust: &WarmTrust) -> Result<(), Fault> {
    let kept = roots.set_trust(trust);
    kept.map_err(|error| Fault::transient("note what was learned of built outputs", error))
}

fn ids(files: &dyn TreeFiles, paths: &[String]) -> String {
    let mut lines = String::new();
    for path in paths {
        let entry = files.entry(Path::new(path));
        let entry = entry.map(|entry| format!("{} {}", entry.mode.as_str(), entry.id));
        let _ = writeln!(lines, "{path} {}", entry.unwrap_or_default());
    }
    lines
}

/// The first file of those that a root is made from that is a link.
fn link_in<'r>(files: &dyn TreeFiles, recipe: &'r Recipe) -> Option<&'r str> {
    let mut paths = recipe.fixed.iter().chain(&recipe.noticed);
    let found = paths.find(|path| files.link(Path::new(path)).is_some());
    found.map(String::as_str)
}

/// The first thing that two measurements of one tree tell differently: a test, if one does.
fn difference(one: &Measurement, other: &Measurement) -> Option<String> {
    if one.checks.len() != other.checks.len() {
        return Some("the number of checks".to_owned());
    }
    let mut pairs = one.checks.iter().zip(&other.checks);
    pairs.find_map(|(one, other)| {
        let (tests, others) = (endings(one), endings(other));
        let mut names = tests.keys().chain(others.keys());
        let differing = names.find(|name| tests.get(*name) != others.get(*name));
        let is_other = one.exit_code != other.exit_code || one.timed_out != other.timed_out;
        match differing {
            Some(name) => Some(format!("the test `{name}`")),
            None => is_other.then(|| format!("`{}`", one.name)),
        }
    })
}

/// How each test ended, at each of its places.
fn endings(measured: &Measured) -> BTreeMap<&str, Vec<(Option<&str>, TestStatus)>> {
    let tests = measured.results.tests.iter();
    tests
        .map(|(name, found)| {
            let each = found
                .iter()
                .map(|each| (each.place.as_deref(), each.status));
            let mut each: Vec<_> = each.collect();
            each.sort_unstable();
            (name.as_str(), each)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use checks::results::Occurrence;

    use super::*;

    fn measured(exit_code: i32, tests: &[(&str, TestStatus)]) -> Measurement {
        let mut check = Measured {
            name: "test".to_owned(),
            exit_code: Some(exit_code),
            ..Measured::default()
        };
        for (name, status) in tests {
            let found = Occurrence {
                place: None,
                status: *status,
                message: Some(format!("at {name}")),
            };
            check.results.tests.insert((*name).to_owned(), vec![found]);
        }
        Measurement {
            checks: vec![check],
        }
    }

    #[test]
    fn two_measurements_are_compared_test_by_test() {
        use TestStatus::{Failed, Passed, Skipped};
        let one = measured(0, &[("a", Passed), ("b", Skipped)]);
        for (other, expected) in [
            (measured(0, &[("a", Passed), ("b", Skipped)]), None),
            (
                measured(1, &[("a", Passed), ("b", Skipped)]),
                Some("`test`"),
            ),
            (
                measured(0, &[("a", Failed), ("b", Skipped)]),
                Some("the test `a`"),
            ),
            (measured(0, &[("a", Passed)]), Some("the test `b`")),
            (
                measured(0, &[("a", Passed), ("b", Skipped), ("c", Passed)]),
                Some("the test `c`"),
            ),
            (Measurement::default(), Some("the number of checks")),
        ] {
            assert_eq!(difference(&one, &other).as_deref(), expected);
        }
    }
}
