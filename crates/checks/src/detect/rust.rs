//! Rust with Cargo.

use super::ecosystem::Ecosystem;
use super::propose::{Proposal, Proposed};
use crate::tree::Tree;

pub(super) fn propose(tree: &dyn Tree) -> Option<Proposal> {
    let manifest = tree.read("Cargo.toml")?;
    let is_workspace = manifest.lines().any(|line| line.trim() == "[workspace]");
    let all = if is_workspace { " --workspace" } else { "" };
    let mut proposal = Proposal::of(Ecosystem::Cargo);
    if tree.has("Cargo.lock") {
        proposal.setup = Some(Proposed::new("cargo fetch --locked", "Cargo.lock"));
    }
    proposal.typecheck = Some(Proposed::new(
        format!("cargo check{all} --all-targets"),
        "Cargo.toml",
    ));
    let has_lints = manifest
        .lines()
        .any(|line| line.starts_with("[lints") || line.starts_with("[workspace.lints"));
    if has_lints || tree.has("clippy.toml") || tree.has(".clippy.toml") {
        let why = if has_lints {
            "lints in Cargo.toml"
        } else {
            "clippy.toml"
        };
        proposal.lint = Some(Proposed::new(
            format!("cargo clippy{all} --all-targets -- -D warnings"),
            why,
        ));
    }
    let test = if tree.has(".config/nextest.toml") {
        Proposed::new(format!("cargo nextest run{all}"), ".config/nextest.toml")
    } else {
        Proposed::new(format!("cargo test{all}"), "Cargo.toml")
    };
    proposal.test = Some(test);
    Some(proposal)
}
