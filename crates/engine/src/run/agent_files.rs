//! Files of a change that speak to agents: they would run with, or instruct, whoever opens the
//! project next.

use checks::rules::{is_agent_config, is_agent_guidance};
use workspace::TreeId;

use crate::fault::Fault;
use crate::ports::Repository;

/// Files of a change that configure agents.
pub(crate) fn agent_config(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
) -> Result<Vec<String>, Fault> {
    changed(repository, base, tree, is_agent_config)
}

/// What a judge is told of files that speak to agents: people may want such a change, and it speaks
/// to the next one.
pub(crate) fn guidance(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
) -> Result<Vec<String>, Fault> {
    let paths = changed(repository, base, tree, is_agent_guidance)?;
    Ok(paths
        .into_iter()
        .map(|path| format!("it changes `{path}`, which every agent is given to read"))
        .collect())
}

fn changed(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
    is_it: fn(&str) -> bool,
) -> Result<Vec<String>, Fault> {
    let changes = repository.tree_changes(base, tree)?;
    let paths = changes.iter().filter_map(|change| change.path.to_str());
    Ok(paths
        .filter(|path| is_it(path))
        .map(str::to_owned)
        .collect())
}
