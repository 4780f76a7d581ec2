//! The proposal, put together from what each ecosystem shows.

use serde::{Deserialize, Serialize};

use super::ecosystem::Ecosystem;
use super::{node, others, python, rust, tasks};
use crate::tree::Tree;

/// One check that the tree shows.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// What to run, in the project's folder.
    pub command: String,
    /// What shows it.
    pub why: String,
}

/// All checks that the tree shows.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// What kind of project it is.
    pub ecosystems: Vec<Ecosystem>,
    /// Prepares a fresh checkout.
    pub setup: Option<Proposed>,
    /// Finds type errors.
    pub typecheck: Option<Proposed>,
    /// Finds faults of form.
    pub lint: Option<Proposed>,
    /// Runs the tests.
    pub test: Option<Proposed>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Proposed {
    pub(super) fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            why: why.into(),
        }
    }
}

/// Says whether a machine has a program.
pub(super) type Machine<'a> = &'a dyn Fn(&str) -> bool;

/// Proposes checks for a project, on a machine that has every program.
pub fn propose(tree: &dyn Tree) -> Proposal {
    propose_on(tree, &|_| true)
}

/// Proposes checks for a project on a machine that has these programs.
pub fn propose_on(tree: &dyn Tree, machine: &dyn Fn(&str) -> bool) -> Proposal {
    let mut proposal = Proposal::default();
    let found = [
        rust::propose(tree, machine),
        node::propose(tree, machine),
        python::propose(tree, machine),
        others::go(tree, machine),
        others::jvm(tree),
        tasks::make(tree, machine),
        tasks::just(tree, machine),
    ];
    for part in found.into_iter().flatten() {
        proposal.take(part);
    }
    proposal
}

impl Proposal {
    pub(super) fn of(ecosystem: Ecosystem) -> Self {
        Self {
            ecosystems: vec![ecosystem],
            ..Self::default()
        }
    }

    /// Takes over what is not there yet.
    fn take(&mut self, part: Proposal) {
        self.ecosystems.extend(part.ecosystems);
        self.notes.extend(part.notes);
        for (name, mine, new) in [
            ("setup", &mut self.setup, part.setup),
            ("typecheck", &mut self.typecheck, part.typecheck),
            ("lint", &mut self.lint, part.lint),
            ("test", &mut self.test, part.test),
        ] {
            match (&mine, new) {
                (None, new) => *mine = new,
                (Some(_), Some(new)) => {
                    self.notes.push(format!(
                        "not taken for {name}: `{}` ({})",
                        new.command, new.why
                    ));
                }
                (Some(_), None) => {}
            }
        }
    }
}
