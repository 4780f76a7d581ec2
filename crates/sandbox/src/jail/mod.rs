//! Jails: what one is to be, how a command is rewritten into it, and what of this machine it shows.
//!
//! Nothing here starts the program of a run; the keeper does.

mod bwrap;
mod command;
mod container;
mod etc;
mod find;
mod probe;
mod seccomp;
mod spec;
mod system;
mod wrap;

pub(crate) use command::{ALIVE, NET};
pub use command::{
    Abilities, CommandSpec, FILTER_FD, Jail, LAYERS_COMMAND, OPTIONS_FD, SHIM_COMMAND,
};
pub use container::{CONTAINER_LABEL, DEFAULT_IMAGE, ENGINE_VARIABLES};
pub use find::jail_version;
pub(crate) use find::{abilities, find_program};
pub use probe::{Probed, Unusable, probe};
pub(crate) use seccomp::{Machine, container_profile};
pub use spec::{
    Access, Allowed, Balance, Changes, HOME, JailKind, JailSpec, Layers, LimitHit, Limits, Mount,
    Network, PROXY_PORT, PROXY_URL, ProxySpec, Rates, Refusal, Refused, Route, TokensUsed,
    WORKSPACE, proxy_environment,
};
pub use system::system_mounts;
