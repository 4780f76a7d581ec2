//! Every key that there is, and what its value must look like. Nothing else decides whether a key
//! is known.

use prd::nearest;

/// What a value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number, at least as large as this.
    Count(u64),
    /// Any number that is not negative.
    Number,
    /// `true` or `false`.
    Truth,
    /// A list of texts.
    Words,
    /// A list of patterns over paths.
    Globs,
    /// A length of time, kept in seconds.
    Seconds,
    /// The template of a commit's subject.
    Subject,
    /// Whose the commits are.
    Author,
}

/// One key; `*` in its path stands for any one name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
}

const fn key(path: &'static str, kind: Kind) -> Key {
    Key { path, kind }
}

pub(crate) const POLICIES: &[&str] = &["flag", "ask"];

/// Authors with a meaning; anybody else is a `Name <mail>`.
pub(crate) const AUTHORS: &[&str] = &["operator", "loopwright"];

/// Whether built outputs are reused.
pub(crate) const WARM: &[&str] = &["auto", "off"];

/// How the files of runs are made.
pub(crate) const TREES: &[&str] = &["auto", "overlay", "copy"];

/// The kinds of jail.
pub(crate) const JAILS: &[&str] = &["auto", "bwrap", "podman", "docker", "host"];

/// What a run may reach.
pub(crate) const NETWORKS: &[&str] = &["none", "model", "open"];

pub(crate) const ON_LIMIT: &[&str] = &["wait", "failover"];

pub(crate) const FLOWS: &[&str] = &["quartet", "tdd", "proof", "solo", "judged"];

/// The list. `[agents.NAME]` has more keys once there are agents that are not plain commands.
pub(crate) const KEYS: &[Key] = &[
    key("loop.flow", Kind::Choice(FLOWS)),
    key("loop.max_retries", Kind::Count(0)),
    key("loop.max_iterations", Kind::Count(1)),
    key("loop.parallel", Kind::Count(1)),
    key("loop.write_progress", Kind::Truth),
    key("roles.implementor.agent", Kind::Text),
    key("roles.implementor.model", Kind::Text),
    key("roles.implementor.effort", Kind::Text),
    key("roles.implementor.timeout", Kind::Seconds),
    key("roles.implementor.network", Kind::Choice(NETWORKS)),
    key("roles.reviewer.agent", Kind::Text),
    key("roles.reviewer.model", Kind::Text),
    key("roles.reviewer.effort", Kind::Text),
    key("roles.reviewer.timeout", Kind::Seconds),
    key("roles.reviewer.network", Kind::Choice(NETWORKS)),
    key("roles.judge.agent", Kind::Text),
    key("roles.judge.model", Kind::Text),
    key("roles.judge.effort", Kind::Text),
    key("roles.judge.timeout", Kind::Seconds),
    key("roles.judge.network", Kind::Choice(NETWORKS)),
    key("roles.prover.agent", Kind::Text),
    key("roles.prover.model", Kind::Text),
    key("roles.prover.effort", Kind::Text),
    key("roles.prover.timeout", Kind::Seconds),
    key("roles.prover.network", Kind::Choice(NETWORKS)),
    key("retry.ladder", Kind::Words),
    key("retry.wait", Kind::Seconds),
    key("agents.*.command", Kind::Words),
    key("agents.*.kind", Kind::Choice(agents::Kind::WORDS)),
    key("agents.*.program", Kind::Text),
    key("agents.*.args", Kind::Words),
    key("agents.*.model", Kind::Text),
    key("agents.*.effort", Kind::Text),
    key("agents.*.files.*", Kind::Text),
    key("agents.*.pass_env", Kind::Words),
    key("agents.*.env.*", Kind::Text),
    key("agents.*.timeout", Kind::Seconds),
    key("agents.*.idle", Kind::Seconds),
    key("agents.*.at_once", Kind::Count(1)),
    key("checks.setup", Kind::Text),
    key("checks.typecheck", Kind::Text),
    key("checks.lint", Kind::Text),
    key("checks.test", Kind::Text),
    key("checks.timeout", Kind::Seconds),
    key("checks.mutants", Kind::Count(0)),
    key("checks.detect", Kind::Truth),
    key("checks.at_once", Kind::Count(1)),
    key("checks.warm", Kind::Choice(WARM)),
    key("checks.test_paths", Kind::Globs),
    key("policy.check_config", Kind::Choice(POLICIES)),
    key("policy.agent_config", Kind::Choice(POLICIES)),
    key("policy.on_limit", Kind::Choice(ON_LIMIT)),
    key(
        "policy.on_question",
        Kind::Choice(&kernel::OnQuestion::WORDS),
    ),
    key("policy.rejudge", Kind::Choice(&kernel::Rejudge::WORDS)),
    key("policy.secrets_allow", Kind::Globs),
    key("sandbox.kind", Kind::Choice(JAILS)),
    key("sandbox.network", Kind::Choice(NETWORKS)),
    key("sandbox.allow", Kind::Words),
    key("sandbox.read", Kind::Words),
    key("sandbox.write", Kind::Words),
    key("sandbox.image", Kind::Text),
    key("sandbox.inject_keys", Kind::Truth),
    key("sandbox.memory_mb", Kind::Count(64)),
    key("sandbox.processes", Kind::Count(16)),
    key("sandbox.cpu", Kind::Seconds),
    key("sandbox.open_files", Kind::Count(64)),
    key("sandbox.disk_mb", Kind::Count(16)),
    key("workspace.copy", Kind::Words),
    key("workspace.trees", Kind::Choice(TREES)),
    key("prd.write_back", Kind::Truth),
    key("commit.subject", Kind::Subject),
    key("commit.author", Kind::Author),
    key("commit.sign_off", Kind::Truth),
    key("commit.co_author", Kind::Truth),
    key("budget.usd", Kind::Number),
    key("budget.tokens", Kind::Count(1)),
    key("budget.hours", Kind::Number),
    key("budget.run_usd", Kind::Number),
    key("budget.run_tokens", Kind::Count(1)),
    key("prices.*.input", Kind::Number),
    key("prices.*.cached", Kind::Number),
    key("prices.*.output", Kind::Number),
    key("retention.keep_checkouts", Kind::Truth),
    key("retention.days", Kind::Count(0)),
    key("retention.trees", Kind::Count(64)),
    key("worker.max_agents", Kind::Count(1)),
    key("worker.max_checks", Kind::Count(1)),
];

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A key with a value of this kind.
    Leaf(Kind),
    /// A table of further keys.
    Table,
    /// Nothing that is known; what was probably meant, and what is known at that place.
    Unknown {
        near: Option<&'static str>,
        known: Vec<&'static str>,
    },
}

/// Looks a path up.
pub(crate) fn look_up(path: &[String]) -> Named {
    let fits = |key: &Key| fits(key, path);
    if let Some(key) = KEYS
        .iter()
        .filter(|key| fits(key))
        .find(|key| depth(key) == path.len())
    {
        return Named::Leaf(key.kind);
    }
    if KEYS.iter().any(fits) {
        return Named::Table;
    }
    let Some((last, parent)) = path.split_last() else {
        return Named::Table;
    };
    let known = children(parent);
    Named::Unknown {
        near: probably_meant(last, &known),
        known,
    }
}

/// The word that differs by a slip of the hand, else the one that begins the same way for most of
/// its length.
pub(crate) fn probably_meant<'w>(wanted: &str, known: &[&'w str]) -> Option<&'w str> {
    const SAME_LETTERS_MIN: usize = 4;
    let same = |word: &str| {
        wanted
            .chars()
            .zip(word.chars())
            .take_while(|(one, other)| one == other)
            .count()
    };
    let longest = || known.iter().copied().max_by_key(|word| same(word));
    let enough = |word: &&str| same(word) >= SAME_LETTERS_MIN.max(wanted.chars().count() / 2);
    nearest(wanted, known.iter().copied()).or_else(|| longest().filter(enough))
}

/// The names that may stand below a path, those that anybody may choose left out.
fn children(parent: &[String]) -> Vec<&'static str> {
    let below = KEYS
        .iter()
        .filter(|key| depth(key) > parent.len() && fits(key, parent));
    let mut names: Vec<&str> = below
        .filter_map(|key| key.path.split('.').nth(parent.len()))
        .collect();
    names.retain(|name| *name != "*");
    names.dedup();
    names
}

fn depth(key: &Key) -> usize {
    key.path.split('.').count()
}

/// Whether a key is what the path names, or lies below it.
fn fits(key: &Key, path: &[String]) -> bool {
    depth(key) >= path.len()
        && key
            .path
            .split('.')
            .zip(path)
            .all(|(wanted, found)| wanted == "*" || wanted == found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names() {
        let unknown = |near| (None, near);
        for (path, expected) in [
            ("loop.max_retries", (Some("Count(0)"), None)),
            ("agents.any.command", (Some("Words"), None)),
            ("agents.any.env.ANY", (Some("Text"), None)),
            ("agents.any", (Some("a table"), None)),
            ("loop.max_retry", unknown(Some("max_retries"))),
            ("lopo", unknown(Some("loop"))),
            ("agents.any.commands", unknown(Some("command"))),
            ("loop.max_retries.more", unknown(None)),
            ("nonsense", unknown(None)),
        ] {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            let found = match look_up(&path) {
                Named::Leaf(kind) => (Some(format!("{kind:?}")), None),
                Named::Table => (Some("a table".to_owned()), None),
                Named::Unknown { near, .. } => (None, near),
            };
            assert_eq!((found.0.as_deref(), found.1), expected, "{path:?}");
        }
    }

    /// Lists that live where the compiler cannot compare them.
    #[test]
    fn every_list_of_clis_and_flows_is_whole() {
        let flows: Vec<&str> = kernel::Flow::CHOICES
            .iter()
            .map(|flow| flow.word())
            .collect();
        assert_eq!(flows, FLOWS);
        let clis = agents::Kind::ALL
            .into_iter()
            .filter(|kind| !kind.is_any_program());
        let installed = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../xtask/src/agents.rs"
        ))
        .expect("the list of what CI installs");
        for kind in clis {
            let word = kind.word();
            assert!(prd::is_known_tool(word), "`TOOLS` in `prd` lacks {word}");
            let entry = format!("(\"{word}\", ");
            assert!(
                installed.contains(&entry),
                "`PACKAGES` in `xtask` lacks {word}"
            );
        }
    }
}
