//! What the proxy needs of the world: names and connections. Tests give it another one, and see what
//! would have been dialled.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;

/// How long a connection may take to be made.
const DIAL_SECS_MAX: u64 = 10;

/// Resolves names and dials addresses.
pub(crate) trait World: Send + Sync {
    /// The addresses of a host.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Connects to one address.
    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// A host that exists in a test only.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TestHost {
    /// Its name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The address that its name has, which is checked and never dialled.
    pub address: IpAddr,
    /// Where a connection really leads to.
    pub leads_to: SocketAddr,
}

static TEST_HOSTS: OnceLock<Vec<TestHost>> = OnceLock::new();

/// Replaces names and connections of every proxy in this process. Other names are unknown then, and
/// no other address but those of the loopback is dialled, so that a test cannot leave the machine.
/// Only the first call has an effect.
pub fn use_test_hosts(hosts: Vec<TestHost>) {
    let _ = TEST_HOSTS.set(hosts);
}

/// The network of this process.
pub(crate) fn world() -> Box<dyn World> {
    match TEST_HOSTS.get() {
        Some(hosts) => Box::new(Scripted(hosts)),
        None => Box::new(Machine),
    }
}

/// The hosts of a test.
struct Scripted(&'static [TestHost]);

impl World for Scripted {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![(address, port).into()]);
        }
        let is_asked = |known: &&TestHost| known.host == host && known.port == port;
        let found = self.0.iter().filter(is_asked);
        let found: Vec<_> = found.map(|known| (known.address, port).into()).collect();
        if found.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(found)
    }

    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let is_it =
            |known: &&TestHost| (known.address, known.port) == (address.ip(), address.port());
        match self.0.iter().find(is_it) {
            Some(known) => TcpStream::connect(known.leads_to),
            None if address.ip().is_loopback() => TcpStream::connect(address),
            None => Err(io::ErrorKind::NetworkUnreachable.into()),
        }
    }
}

/// The network of this machine.
#[derive(Debug)]
pub(crate) struct Machine;

impl World for Machine {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok((host, port).to_socket_addrs()?.collect())
    }

    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&address, Duration::from_secs(DIAL_SECS_MAX))
    }
}
