//! Go and the JVM.

use super::ecosystem::Ecosystem;
use super::propose::{Machine, Proposal, Proposed};
use crate::tree::Tree;

pub(super) fn go(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    tree.read("go.mod")?;
    let mut proposal = Proposal::of(Ecosystem::Go);
    if tree.has("go.sum") {
        proposal.setup = Some(Proposed::new("go mod download", "go.sum"));
    }
    proposal.typecheck = Some(Proposed::new("go vet ./...", "go.mod"));
    let names = tree.list("");
    if let Some(file) = names.iter().find(|name| name.starts_with(".golangci.")) {
        if machine("golangci-lint") {
            proposal.lint = Some(Proposed::new("golangci-lint run", file.as_str()));
        } else {
            proposal.notes.push(format!(
                "golangci-lint is not installed here, so {file} is not used"
            ));
        }
    }
    proposal.test = Some(Proposed::new("go test ./...", "go.mod"));
    Some(proposal)
}

pub(super) fn jvm(tree: &dyn Tree) -> Option<Proposal> {
    let mut proposal = Proposal::of(Ecosystem::Jvm);
    if tree.has("pom.xml") {
        let maven = if tree.has("mvnw") { "./mvnw" } else { "mvn" };
        proposal.test = Some(Proposed::new(format!("{maven} -B test"), "pom.xml"));
        return Some(proposal);
    }
    let file = [
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
    ]
    .into_iter()
    .find(|file| tree.has(file))?;
    let gradle = if tree.has("gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    proposal.test = Some(Proposed::new(format!("{gradle} test --continue"), file));
    Some(proposal)
}
