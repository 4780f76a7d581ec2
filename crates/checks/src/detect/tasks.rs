//! Task runners: make and just.

use super::ecosystem::Ecosystem;
use super::propose::{Machine, Proposal, Proposed};
use crate::tree::Tree;

pub(super) fn make(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    let file = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find(|file| tree.read(file).is_some())?;
    let text = tree.read(file)?;
    Some(by_targets(
        Ecosystem::Make,
        "make",
        file,
        machine,
        &|target| {
            text.lines().any(|line| {
                let head = line.split(':').next().unwrap_or("");
                let is_rule = line.contains(':') && !line.contains(":=") && !line.contains("::=");
                is_rule
                    && !line.starts_with(['\t', ' ', '#'])
                    && head.split_whitespace().any(|word| word == target)
            })
        },
    ))
}

pub(super) fn just(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    let file = ["justfile", "Justfile", ".justfile"]
        .into_iter()
        .find(|file| tree.read(file).is_some())?;
    let text = tree.read(file)?;
    Some(by_targets(
        Ecosystem::Just,
        "just",
        file,
        machine,
        &|target| {
            text.lines().any(|line| {
                let head = line.split(':').next().unwrap_or("");
                let is_recipe = line.contains(':') && !line.contains(":=");
                is_recipe && head.trim_start_matches('@').split_whitespace().next() == Some(target)
            })
        },
    ))
}

fn by_targets(
    ecosystem: Ecosystem,
    program: &str,
    file: &str,
    machine: Machine<'_>,
    has: &dyn Fn(&str) -> bool,
) -> Proposal {
    if !machine(program) {
        let mut proposal = Proposal::of(ecosystem);
        proposal.notes.push(format!(
            "{program} is not installed here, so {file} is not used"
        ));
        return proposal;
    }
    let first = |targets: &[&str]| {
        let target = targets.iter().find(|target| has(target))?;
        Some(Proposed::new(
            format!("{program} {target}"),
            format!("the target `{target}` in {file}"),
        ))
    };
    Proposal {
        setup: first(&["setup", "bootstrap", "deps"]),
        typecheck: first(&["typecheck", "type-check"]),
        lint: first(&["lint"]),
        test: first(&["test", "tests", "check"]),
        ..Proposal::of(ecosystem)
    }
}
