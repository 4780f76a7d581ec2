//! A range of ports for a run that shares this machine's network, so that two servers of two runs do
//! not meet on one port.
//!
//! The keeper holds the port before the range for as long as it lives. So the reservation counts for
//! every state folder and every user of the machine, and nothing is left of it after a `kill -9`.

use std::net::{Ipv4Addr, TcpListener};

/// The variable that names the first port of the range.
pub const PORT_BASE_VARIABLE: &str = "PORT_BASE";

/// Ports of a range.
pub const PORTS_PER_RUN: u16 = 10;

/// The range of a run that has a network of its own: it is the same in all of them.
pub const OWN_NETWORK_PORT_BASE: u16 = FIRST + 1;

/// Above the ports that services are known by, and below those that the system hands out.
const FIRST: u16 = 20_000;
const BLOCK: u16 = 16;
const BLOCKS: u16 = 750;

/// A range that is ours until it is dropped.
#[derive(Debug)]
pub(crate) struct PortRange {
    base: u16,
    _held: TcpListener,
}

impl PortRange {
    /// Takes a range of which every port is free; none where there is none, which costs nobody but a
    /// run that needs ports.
    pub(crate) fn take() -> Option<Self> {
        // Whoever begins in the middle seldom meets another.
        let start = u16::try_from(std::process::id() % u32::from(BLOCKS)).unwrap_or_default();
        (0..BLOCKS).find_map(|step| Self::take_block((start + step) % BLOCKS))
    }

    fn take_block(block: u16) -> Option<Self> {
        let first = FIRST + block * BLOCK;
        let held = bind(first)?;
        let base = first + 1;
        // A process that outlived its run may still listen on one of them.
        let is_free = (base..base + PORTS_PER_RUN).all(|port| bind(port).is_some());
        is_free.then_some(Self { base, _held: held })
    }

    /// The first port of the range.
    pub(crate) fn base(&self) -> u16 {
        self.base
    }
}

/// On all addresses: a server that listens on one of them counts.
fn bind(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap() {
        let taken: Vec<PortRange> = (0..20).filter_map(|_| PortRange::take()).collect();
        assert_eq!(taken.len(), 20);
        let mut bases: Vec<u16> = taken.iter().map(PortRange::base).collect();
        bases.sort_unstable();
        for pair in bases.windows(2) {
            assert!(pair[1] - pair[0] > PORTS_PER_RUN, "{bases:?}");
        }
    }

    #[test]
    fn a_range_with_a_port_in_use_is_passed_over() {
        let taken = PortRange::take().expect("a range");
        let block = (taken.base - FIRST) / BLOCK;
        drop(taken);
        let _server = bind(FIRST + block * BLOCK + 3).expect("it is free");
        assert!(PortRange::take_block(block).is_none());
    }
}
