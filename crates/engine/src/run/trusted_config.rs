//! What a candidate may not decide about its own verdict: check, CI and lint configuration come
//! from the base, and files that would run in a runner's place are taken away, before anything is
//! measured. The candidate itself stays as it is.

use std::path::PathBuf;

use checks::Tree as _;
use checks::rules::{
    CheckConfig, is_agent_config, is_agent_guidance, is_mixed, shadows, with_base_config,
};
use home::Settings;
use workspace::{Edit, Entry, TreeId};

use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::project_tree::{ProjectTree, placed, seen_from};

/// A candidate as it is measured.
pub(crate) struct Trusted {
    /// The tree to measure.
    pub(crate) tree: TreeId,
    /// What was taken from the base instead, or taken away, for people and judges.
    pub(crate) flags: Vec<String>,
    /// Files that a check command runs and the candidate changed: its own word on itself.
    pub(crate) own_checks: Vec<String>,
}

/// Gives the tree that a verdict on `tree` is made with.
pub(crate) fn with_trusted_config(
    repository: &dyn Repository,
    settings: &Settings,
    base: &TreeId,
    tree: &TreeId,
) -> Result<Trusted, Fault> {
    let (before, after) = (
        ProjectTree::of(repository, base, &settings.subdir)?,
        ProjectTree::of(repository, tree, &settings.subdir)?,
    );
    let commands: Vec<&str> = settings
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    let config = CheckConfig::of(&commands, &before);
    let changes = repository.tree_changes(base, tree)?;
    let mut restoring = Restoring {
        before: &before,
        after: &after,
        edits: Vec::new(),
        flags: Vec::new(),
    };
    let (mut others, mut own_checks) = (Vec::new(), Vec::new());
    for change in &changes {
        let Some(path) = change.path.to_str() else {
            continue;
        };
        let local = seen_from(&settings.subdir, path);
        let local = local.as_str();
        if config.is_config(local) {
            restoring.restore(path, change.before.as_ref());
        } else if is_mixed(local) {
            restoring.mix(&config, path, local);
        } else {
            if config.runs(local) {
                restoring
                    .flags
                    .push(format!("it changes `{path}`, which a check command runs"));
                own_checks.push(path.to_owned());
            }
            others.push(local.to_owned());
        }
    }
    for shadow in shadows(&commands, &before, &others) {
        let path = placed(&settings.subdir, &shadow.path);
        restoring.flags.push(format!(
            "`{path}` is not used for the verdict: {}",
            shadow.why
        ));
        restoring.edits.push(Edit::Remove {
            path: PathBuf::from(path),
        });
    }
    let Restoring { edits, flags, .. } = restoring;
    let tree = if edits.is_empty() {
        tree.clone()
    } else {
        repository.compose(tree, &edits)?
    };
    Ok(Trusted {
        tree,
        flags,
        own_checks,
    })
}

/// Files of a change that configure agents: they would run with whoever opens the project next.
pub(crate) fn agent_config(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
) -> Result<Vec<String>, Fault> {
    let changes = repository.tree_changes(base, tree)?;
    let paths = changes.iter().filter_map(|change| change.path.to_str());
    Ok(paths
        .filter(|path| is_agent_config(path))
        .map(str::to_owned)
        .collect())
}

/// What a judge is told of files that speak to agents: people may want such a change, and it speaks
/// to the next one.
pub(crate) fn guidance(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
) -> Result<Vec<String>, Fault> {
    let changes = repository.tree_changes(base, tree)?;
    let paths = changes
        .iter()
        .filter_map(|change| change.path.to_str())
        .filter(|path| is_agent_guidance(path));
    Ok(paths
        .map(|path| format!("it changes `{path}`, which every agent is given to read"))
        .collect())
}

struct Restoring<'a> {
    before: &'a ProjectTree,
    after: &'a ProjectTree,
    edits: Vec<Edit>,
    flags: Vec<String>,
}

impl Restoring<'_> {
    fn restore(&mut self, path: &str, before: Option<&Entry>) {
        self.flags.push(format!(
            "it changes `{path}`, which configures checks: the verdict uses the base's"
        ));
        self.edits.push(match before {
            Some(Entry { mode, id }) => Edit::Put {
                path: PathBuf::from(path),
                mode: *mode,
                id: id.clone(),
            },
            None => Edit::Remove {
                path: PathBuf::from(path),
            },
        });
    }

    /// A file that holds check configuration among other things keeps the other things.
    fn mix(&mut self, config: &CheckConfig, path: &str, local: &str) {
        let Some(candidate) = self.after.read(local) else {
            return;
        };
        let mixed = with_base_config(
            config,
            local,
            self.before.read(local).as_deref(),
            &candidate,
        );
        if mixed.text == candidate {
            return;
        }
        let what = if mixed.restored.is_empty() {
            "check configuration".to_owned()
        } else {
            mixed.restored.join(", ")
        };
        self.flags.push(format!(
            "it changes {what} in `{path}`: the verdict uses the base's"
        ));
        self.edits.push(Edit::Write {
            path: PathBuf::from(path),
            mode: workspace::Mode::File,
            bytes: mixed.text.into_bytes(),
        });
    }
}
