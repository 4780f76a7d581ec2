//! The program as a person runs it: exit code, stdout and stderr of whole commands.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod acp;
mod baseline;
mod config;
mod crash;
mod crash_flows;
mod crash_limits;
mod crash_writes;
mod demo;
mod docs;
mod ecosystems;
mod events;
mod failover;
mod full_disk;
mod gallery;
mod keeping;
mod loops;
mod many;
mod passed;
mod prd;
mod real_acp;
mod real_agents;
mod real_answers;
mod real_faults;
mod real_matrix;
mod real_packages;
mod real_sessions;
mod real_troubles;
mod reload;
mod scene;
mod service;
mod sessions;
mod sigkill;
mod support;
