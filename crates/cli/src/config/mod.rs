//! The configuration: shipped defaults, the person's own file, the project's file, the environment,
//! flags. What comes later wins, key by key, and every value knows where it comes from. Unknown
//! keys are errors in every layer, because a misspelt limit is no limit.

mod complaint;
mod keys;
mod layers;
mod places;
mod schema;
mod toml_file;
mod typed;
mod value;
mod variables;
mod worker_limits;

pub(crate) use self::complaint::{Complaint, failure_of};
pub(crate) use self::keys::{FLOWS, JAILS, probably_meant};
pub(crate) use self::layers::{Entry, Flag, Origin, Settled, settle};
pub(crate) use self::places::{PROJECT_FILE, Places, mark};
pub(crate) use self::schema::schema;
pub(crate) use self::typed::{
    AgentConfig, ChecksConfig, CommitConfig, Config, PriceConfig, RoleConfig, SandboxConfig, read,
};
pub(crate) use self::value::Value;
pub use self::worker_limits::{WorkerLimits, read_worker_limits};

/// The dialect of JSON Schema that our schemas are written in.
const SCHEMA_DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
