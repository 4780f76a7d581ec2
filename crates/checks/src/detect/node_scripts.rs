//! What the scripts of a `package.json` call, so that nothing is run twice.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::runner::{package_script, unwrapped};
use crate::shell::{Call, parse};

/// Deepest chain of scripts that is followed.
const DEPTH_MAX: usize = 6;

/// Programs that run several scripts by their names.
const RUN_ALL: [&str; 4] = ["run-s", "run-p", "npm-run-all", "npm-run-all2"];

/// The scripts of one package.
pub(super) struct Scripts<'a> {
    pub(super) manifest: &'a Value,
}

/// How the tests are run without what other checks do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Alone {
    /// `test` does nothing else.
    Already,
    /// One script that it calls does the testing.
    Script(String),
    /// Only what runs before and after it does other things.
    WithoutHooks,
    /// It cannot be taken apart.
    Never,
}

impl Scripts<'_> {
    /// The text of a script; the one that `npm init` writes counts as none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let text = self.manifest.get("scripts")?.get(name)?.as_str()?;
        (!text.contains("no test specified")).then_some(text)
    }

    /// Every script that running one runs, through its hooks and its calls.
    pub(super) fn reached(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.follow(name, &mut found, 0);
        found.remove(name);
        found
    }

    fn follow(&self, name: &str, found: &mut BTreeSet<String>, depth: usize) {
        if depth > DEPTH_MAX || !found.insert(name.to_owned()) {
            return;
        }
        for part in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            for call in self.calls(&part) {
                for next in named_by(&call) {
                    self.follow(&next, found, depth + 1);
                }
            }
        }
    }

    fn calls(&self, name: &str) -> Vec<Call> {
        self.text(name).map_or(Vec::new(), |text| parse(text).calls)
    }

    /// Whether some script calls this program.
    pub(super) fn call(&self, program: &str) -> bool {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        let mut names = scripts.into_iter().flatten().map(|(name, _)| name);
        names.any(|name| {
            let calls = self.calls(name);
            calls
                .iter()
                .any(|call| unwrapped(&call.words).first() == Some(&program))
        })
    }

    /// How `test` is run without what these scripts do, and without asking a registry for news.
    pub(super) fn test_without(&self, others: &[&str]) -> Alone {
        let mut name = "test".to_owned();
        for _ in 0..DEPTH_MAX {
            let calls = self.calls(&name);
            let own: Vec<&Call> = calls
                .iter()
                .filter(|call| !self.is_other(call, others))
                .collect();
            let hooks = [format!("pre{name}"), format!("post{name}")]
                .map(|hook| self.calls(&hook))
                .concat();
            let has_others = own.len() < calls.len();
            let hooks_are_others = hooks.iter().all(|call| self.is_other(call, others));
            if !has_others && hooks.is_empty() {
                return if name == "test" {
                    Alone::Already
                } else {
                    Alone::Script(name)
                };
            }
            if !hooks_are_others {
                // A hook that builds is part of the tests.
                return if has_others || self.hides(&hooks, others) {
                    Alone::Never
                } else {
                    Alone::Already
                };
            }
            let is_plain = self.text(&name).is_some_and(|text| parse(text).is_plain);
            let next = match own.as_slice() {
                [one] if is_plain => package_script(&unwrapped(&one.words)).map(str::to_owned),
                _ => None,
            };
            match next.filter(|next| self.text(next).is_some()) {
                Some(next) => name = next,
                None if !has_others && name == "test" => return Alone::WithoutHooks,
                None => return Alone::Never,
            }
        }
        Alone::Never
    }

    fn hides(&self, hooks: &[Call], others: &[&str]) -> bool {
        hooks.iter().any(|call| self.is_other(call, others))
    }

    /// Whether a call does what one of these scripts does, or looks for vulnerabilities: that needs
    /// a registry and says nothing about the change.
    fn is_other(&self, call: &Call, others: &[&str]) -> bool {
        let is_audit = call
            .words
            .iter()
            .any(|word| word == "audit" || word == "aud");
        let named = named_by(call);
        let is_named =
            !named.is_empty() && named.iter().all(|name| others.contains(&name.as_str()));
        let is_same = others.iter().any(
            |other| matches!(self.calls(other).as_slice(), [only] if only.words == call.words),
        );
        is_audit || is_named || is_same
    }
}

/// The scripts that a call names.
fn named_by(call: &Call) -> Vec<String> {
    let words = unwrapped(&call.words);
    match words.split_first() {
        Some((program, rest)) if RUN_ALL.contains(program) => rest
            .iter()
            .filter(|word| !word.starts_with('-'))
            .map(|word| (*word).to_owned())
            .collect(),
        _ => package_script(&words)
            .map(str::to_owned)
            .into_iter()
            .collect(),
    }
}
