//! The proxy of a jail, in its keeper: the only way out, to a list of hosts.
//!
//! It speaks HTTP/1 on a unix socket: `CONNECT host:port`, plain `http://` requests, and `/~route/…`
//! to fixed upstreams to which it adds the key that the jailed program never sees.

mod address;
mod ask;
mod head;
mod hello;
mod log;
mod meter;
mod name;
mod reach;
mod refusal;
mod rules;
mod serve;
#[cfg(test)]
mod tests;
mod tls;
mod world;

pub use ask::{Answered, ask};
pub(crate) use log::Traffic;
pub(crate) use serve::Proxy;
pub(crate) use world::world;
pub use world::{TestHost, use_test_hosts};
