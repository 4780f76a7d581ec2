//! Everything about one run: its files, what it is given, and what its end means.

pub(crate) mod agent_cli;
pub(crate) mod agent_end;
pub(crate) mod agent_files;
pub(crate) mod beneath;
pub(crate) mod cell;
pub(crate) mod check_gate;
pub(crate) mod check_plan;
pub(crate) mod context;
pub(crate) mod credentials;
pub(crate) mod downloads;
pub(crate) mod files;
pub(crate) mod jail;
pub(crate) mod jailed_login;
pub(crate) mod local_time;
pub(crate) mod login;
pub(crate) mod measurement;
pub(crate) mod outcome;
pub(crate) mod preparing;
pub(crate) mod project_tree;
pub(crate) mod run_spec;
pub(crate) mod shown_tests;
pub(crate) mod sorted;
pub(crate) mod test_rules;
pub(crate) mod trees;
pub(crate) mod untracked;
pub(crate) mod walls;
