//! The program as a person runs it: exit code, stdout and stderr of whole commands.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]
#![expect(
    clippy::too_many_lines,
    reason = "a table of cases does not get harder to read as it grows"
)]

mod acp;
mod activity;
mod answering;
mod apart;
mod base_files;
mod baseline;
mod commits;
mod completion;
mod config;
mod confirming;
mod containers;
mod crash_writes;
mod demo;
mod docs;
mod ecosystems;
// The engines of containers are those of `sandbox`'s own tests.
#[expect(clippy::unwrap_used, reason = "its own crate lets tests unwrap")]
#[path = "../../../sandbox/tests/it/engines.rs"]
mod engines;
mod events;
mod explain;
mod failover;
mod flow_scene;
mod found_checks;
mod full_disk;
mod gallery;
mod hostile_trees;
mod ids;
mod init;
mod internet;
mod jail;
mod jail_untouched;
mod json_schema;
mod keeping;
mod kept_checkouts;
mod keys;
mod laws;
mod leaving;
mod logins;
mod loops;
mod many;
mod old_journals;
mod overview;
mod passed;
mod plans;
mod prd;
mod preflight;
mod prepared;
mod promised;
mod publishing;
mod ralph;
mod ralph_bridge;
mod ralph_cases;
mod ralph_real;
mod ralph_world;
mod real_acp;
mod real_agents;
mod real_answers;
mod real_containers;
mod real_faults;
mod real_jail;
mod real_matrix;
mod real_packages;
mod real_sessions;
mod real_tls;
mod real_troubles;
mod reload;
mod review_notes;
mod sample;
mod scene;
mod schema;
mod screens;
mod secrets;
mod service;
mod sessions;
mod several;
mod sigkill;
mod sigkill_several;
mod stalls;
mod starting;
mod steering;
mod story_page;
mod support;
mod trees;
mod verdicts;
mod version;
mod warm_roots;
mod words;
mod work;
mod worker;
