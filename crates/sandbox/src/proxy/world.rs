//! What the proxy needs of the world: names and connections. Tests give it another one, and see what
//! would have been dialled.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How long a connection may take to be made.
const DIAL_SECS_MAX: u64 = 10;

/// Resolves names and dials addresses.
pub(crate) trait World: Send + Sync {
    /// The addresses of a host.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Connects to one address.
    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
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
