//! Lays a tree out where it is measured: in layers where they work, else as files of its own. What is
//! then measured in it is the meter's.

use workspace::TreeId;

use super::command::{Commands, say};
use super::confined::{self, Fetched};
use super::meter::Meter;
use crate::fault::Fault;
use crate::run::untracked::{copy_untracked, is_plain};

impl Meter<'_> {
    /// Makes a fresh checkout of a tree at the one place.
    pub(super) fn check_out(&self, tree: &TreeId) -> Result<(), Fault> {
        let fetched = match self.commands.store {
            Some(_) => Fetched::Shown,
            None => Fetched::Copied,
        };
        self.check_out_with(tree, fetched)
    }

    /// Makes a fresh checkout of a tree at the one place, with a home of which nothing is elsewhere.
    pub(super) fn check_out_whole(&self, tree: &TreeId) -> Result<(), Fault> {
        self.check_out_with(tree, Fetched::Copied)
    }

    fn check_out_with(&self, tree: &TreeId, fetched: Fetched) -> Result<(), Fault> {
        let (plan, lane) = (self.plan(), self.commands.lane);
        lane.clear()?;
        let folder = lane.tree();
        if !self.show_layers(tree)? {
            lane.check_out(tree)?;
        }
        let inner = folder.join(&plan.subdir);
        if is_plain(&folder, &inner) && inner.is_dir() {
            copy_untracked(&plan.copy, &plan.project, &folder, &plan.subdir);
        }
        confined::fill_home(plan, lane, self.root.as_ref(), fetched)
    }

    /// Shows a tree in layers, the uppermost of which is empty; says whether that could be done.
    fn show_layers(&self, tree: &TreeId) -> Result<bool, Fault> {
        let Commands {
            repository,
            lane,
            store,
            ..
        } = &self.commands;
        let Some(store) = store else {
            return Ok(false);
        };
        let Some(mut layers) = repository.write_out(tree, store)? else {
            return Ok(false);
        };
        let Some(root) = &self.root else {
            return lane.show(layers);
        };
        let names = self.reused(tree.as_str());
        if let Some(own) = root.note.own.as_ref().filter(|_| !names.is_empty()) {
            let with_own = [layers.clone(), vec![root.own(), root.tree()]].concat();
            match lane
                .show(with_own)?
                .then(|| self.show_only(root, own, names))
            {
                Some(Ok(())) => return Ok(true),
                Some(Err(error)) => say(&format!("== own packages are built: {error}")),
                None => {}
            }
            lane.remove_tree();
        }
        layers.push(root.tree());
        lane.show(layers)
    }
}
