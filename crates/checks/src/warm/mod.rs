//! What of a project's built outputs other trees of it may reuse, and on what that depends.
//!
//! Reused is what installers and compilers made of third-party code, and of the project's own only what
//! cargo made of packages that nothing has touched. Everything that could make the two differ without anybody noticing is either part of
//! what a root is known by, or a reason to build from nothing. Unknown tools are such a reason.

mod cargo;
mod lock;
mod model;
mod node;
mod own;
mod python;

use crate::shell::parse;
use crate::tree::Tree;

pub use lock::lock_only_grew;
use model::Files;
pub use model::{Cold, Named, Recipe};
pub use own::{OwnPackage, OwnPackages, files_read, may_read_more};

/// How the outputs of a project's checks can be reused. The tree is the whole repository, and the
/// commands run in the folder `subdir` of it.
pub fn recipe(tree: &dyn Tree, subdir: &str, checks: &[Named<'_>]) -> Result<Recipe, Cold> {
    let files = Files::of(tree)?;
    let setup = checks.iter().find(|check| check.name == "setup");
    let mut recipe = Recipe::default();
    let installed = setup.map(|setup| installer(tree, &files, subdir, setup.command, &mut recipe));
    let built = cargo::add(tree, &files, subdir, checks, &mut recipe);
    match (installed, built) {
        (Some(Ok(())), built) => {
            recipe.skips_setup = true;
            // What cargo would reuse beside an installer is left out where it cannot be told.
            built.or_else(|why| match why {
                Cold::NothingToReuse => Ok(()),
                other => Err(other),
            })?;
        }
        (Some(Err(_)) | None, Ok(())) => {}
        (Some(Err(why)), Err(_)) | (None, Err(why)) => return Err(why),
    }
    // A setup that nobody knows may write sources, with any time.
    let is_setup_known =
        recipe.skips_setup || setup.is_none_or(|setup| cargo::is_fetch(setup.command));
    recipe.keeps_own &= is_setup_known;
    Ok(recipe)
}

fn installer(
    tree: &dyn Tree,
    files: &Files,
    subdir: &str,
    command: &str,
    recipe: &mut Recipe,
) -> Result<(), Cold> {
    let line = parse(command);
    let unknown = || Cold::UnknownTool(command.to_owned());
    if !line.is_plain || line.calls.is_empty() {
        return Err(unknown());
    }
    if node::is_installer(&line.calls) {
        node::add(tree, files, subdir, recipe)
    } else if let Some(needs) = python::needs(&line.calls) {
        python::add(tree, files, subdir, &needs, recipe)
    } else {
        Err(unknown())
    }
}

#[cfg(test)]
mod tests;
