//! TLS to the upstream of a route.
//!
//! It trusts the authorities of this machine and those that the spec names. Tunnels need none of
//! this: there the program inside speaks TLS itself.

use std::env;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Where systems keep their authorities in one file.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];

/// Reads the authorities.
pub(super) fn config(extra: Option<&Path>) -> io::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    let named = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let mut of_system = BUNDLES.iter().map(PathBuf::from);
    let bundle = named.or_else(|| of_system.find(|file| file.exists()));
    for file in bundle.iter().map(PathBuf::as_path).chain(extra) {
        let certificates = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
        // One that cannot be read, or that is none, is not trusted; the others are.
        roots.add_parsable_certificates(certificates.flatten());
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A connection to an upstream.
pub(super) enum Upstream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Upstream {
    /// Speaks TLS with a host over a connection.
    pub(super) fn secure(
        config: &Arc<ClientConfig>,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<Self> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(config), name);
        let connection = connection.map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, stream))))
    }
}

impl Read for Upstream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => match stream.read(buffer) {
                // Many servers close without saying so in TLS. Lengths and chunks tell whether
                // something is missing.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                result => result,
            },
        }
    }
}

impl Write for Upstream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
