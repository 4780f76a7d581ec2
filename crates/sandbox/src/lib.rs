//! The keeper: a small process, detached from the worker, that owns one running program and its
//! whole process tree.
//!
//! Everything about a run is in its run folder. So nothing is lost when the worker dies: the
//! program keeps running, and the next worker adopts it through the same files.
//!
//! | file | written by | content |
//! |---|---|---|
//! | `spec.json` | worker, [`prepare`] | what to run, and its limits |
//! | `keeper.lock` | keeper | empty; locked with `flock` as long as the keeper lives |
//! | `keeper.json` | keeper | which process the keeper is; written before the program starts |
//! | `stdout`, `stderr` | keeper | the beginning of the captured output, bounded |
//! | `stdout.N`, `stderr.N` | keeper | its end, from byte `N` on, bounded; [`output()`] reads both
//! |
//! | `stop` | worker, [`request_stop`] | its existence asks for a stop; the content is the reason |
//! | `jail.json` | keeper | the first process of the run's jail; written before the program starts |
//! | `network.jsonl` | keeper | what the proxy of the run's jail refused, a line each, bounded |
//! | `exit.json` | keeper | how the run ended; written once, when the whole tree is gone |
//!
//! A run folder is for one run. Once `keeper.json` exists, no keeper starts the program again,
//! whatever happened to the first one: a new try gets a new folder. This crate does not decide
//! about retries, and does not interpret output (a [`Watch`] that it is given may). It works on Linux
//! only; elsewhere it refuses with [`KeeperError::Unsupported`].
//!
//! With a [`JailSpec`] the program runs in a jail. Our own program, as [`shim()`], is the first process
//! in it.

mod error;
mod files;
mod jail;
mod moments;
mod output;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only keepers take ports")
)]
mod ports;
#[cfg(target_os = "linux")]
mod proxy;
mod records;
mod request;
mod room;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    Answered, ask, enter_namespace, is_alive, is_at_work, keep, launch, layers_command, look,
    mount_layers, our_mark, shim, sweep, try_layers, unmount_layers,
};
pub use error::KeeperError;
pub use jail::{
    Abilities, Access, Allowed, Balance, CONTAINER_LABEL, Changes, CommandSpec, DEFAULT_IMAGE,
    ENGINE_VARIABLES, FILTER_FD, HOME, Jail, JailKind, JailSpec, LAYERS_COMMAND, Layers, LimitHit,
    Limits, Mount, Network, OPTIONS_FD, PROXY_PORT, PROXY_URL, Probed, ProxySpec, Rates, Refusal,
    Refused, Route, SHIM_COMMAND, TokensUsed, Unusable, WORKSPACE, jail_version, probe,
    proxy_environment, system_mounts,
};
#[cfg(target_os = "linux")]
pub use linux::{
    Stray, enter_namespace, is_alive, is_at_work, keep, launch, layers_command, look, mount_layers,
    our_mark, remove_stray, shim, strays, sweep, try_layers, unmount_layers,
};
pub use moments::watch_writes;
pub use output::{Output, Piece, Stream, output, output_from};
pub use ports::{OWN_NETWORK_PORT_BASE, PORT_BASE_VARIABLE, PORTS_PER_RUN};
#[cfg(target_os = "linux")]
pub use proxy::{Answered, TestHost, ask, use_test_hosts};
pub use records::{
    ExitCause, ExitOutcome, ExitRecord, JailRecord, KeeperRecord, ProcessMark, REFUSED_MAX,
    RUN_DIR_VARIABLE, RunSpec, RunView, StopSignal, Watch,
};
pub use request::{prepare, request_stop};
pub use room::has_room;
