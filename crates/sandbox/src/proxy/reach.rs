//! Connects to hosts that the rules allow: directly, or through the person's own proxy.

use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use super::address::{is_host, is_public};
use super::head::{Buffered, Head};
use super::refusal::Denied;
use super::rules::{Lane, MayBePrivate, Rules, UpstreamProxy};
use super::tls::Upstream;
use super::world::World;
use crate::Refusal;

/// The rules, and the world that they are about.
pub(super) struct Reach {
    pub(super) rules: Rules,
    pub(super) world: Box<dyn World>,
    /// How long an upstream may say nothing. A model may think for as long as it likes.
    pub(super) patience: Option<Duration>,
}

impl Reach {
    /// Reaches the upstream of a route.
    pub(super) fn lane(&self, lane: &Lane) -> Result<Upstream, Denied> {
        // The person chose the upstream, so it may be anywhere.
        let through = self.rules.upstream_proxy.as_ref();
        let stream = match through.filter(|proxy| proxy.is_for(&lane.host)) {
            Some(_) => self.through_proxy(&lane.host, lane.port)?,
            None => self.dial(&lane.host, lane.port, |_| true)?,
        };
        match &lane.tls {
            Some(config) => {
                Upstream::secure(config, &lane.host, stream).map_err(Denied::Unreachable)
            }
            None => Ok(Upstream::Plain(stream)),
        }
    }

    /// Reaches a host for a tunnel.
    pub(super) fn tunnel(&self, host: &str, port: u16) -> Result<TcpStream, Denied> {
        let may_be_private = self.rules.check(host, port)?;
        let through = self.rules.upstream_proxy.as_ref();
        match through.filter(|proxy| proxy.is_for(host)) {
            Some(_) => self.through_proxy(host, port),
            None => self.dial_allowed(host, port, may_be_private),
        }
    }

    /// Reaches a host for plain HTTP: an upstream proxy is asked for the whole address then.
    pub(super) fn plain(&self, host: &str, port: u16) -> Result<Reached<'_>, Denied> {
        let may_be_private = self.rules.check(host, port)?;
        let through = self.rules.upstream_proxy.as_ref();
        let through = through.filter(|proxy| proxy.is_for(host));
        let stream = match through {
            Some(proxy) => self.dial(&proxy.host, proxy.port, |_| true)?,
            None => self.dial_allowed(host, port, may_be_private)?,
        };
        Ok(Reached { stream, through })
    }

    fn dial_allowed(
        &self,
        host: &str,
        port: u16,
        may_be_private: MayBePrivate,
    ) -> Result<TcpStream, Denied> {
        match may_be_private {
            MayBePrivate::Yes => self.dial(host, port, is_host),
            MayBePrivate::No => self.dial(host, port, is_public),
        }
    }

    /// Resolves a name here and dials the address that was checked, never the name again.
    fn dial(
        &self,
        host: &str,
        port: u16,
        is_allowed: impl Fn(IpAddr) -> bool,
    ) -> Result<TcpStream, Denied> {
        let found = self
            .world
            .resolve(host, port)
            .map_err(Denied::Unreachable)?;
        let allowed: Vec<SocketAddr> = found
            .into_iter()
            .filter(|found| is_allowed(found.ip()))
            .collect();
        let mut last = Denied::new(403, Refusal::PrivateAddress);
        for address in allowed {
            match self.world.dial(address) {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    let timed = stream.set_read_timeout(self.patience);
                    let timed = timed.and_then(|()| stream.set_write_timeout(self.patience));
                    return timed.map(|()| stream).map_err(Denied::Unreachable);
                }
                Err(error) => last = Denied::Unreachable(error),
            }
        }
        Err(last)
    }

    /// Opens a tunnel through the person's own proxy, which resolves the name itself.
    fn through_proxy(&self, host: &str, port: u16) -> Result<TcpStream, Denied> {
        let Some(proxy) = &self.rules.upstream_proxy else {
            return Err(Denied::Unreachable(io::ErrorKind::NotFound.into()));
        };
        let stream = self.dial(&proxy.host, proxy.port, |_| true)?;
        let credentials = proxy
            .credentials
            .as_deref()
            .map(|value| format!("Proxy-Authorization: {value}\r\n"));
        let request = format!(
            "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{}\r\n",
            credentials.unwrap_or_default()
        );
        let failed = |denied: Denied| match denied {
            Denied::Broken(error) => Denied::Unreachable(error),
            other => other,
        };
        (&stream)
            .write_all(request.as_bytes())
            .map_err(Denied::Unreachable)?;
        let mut answer = Buffered::new(&stream);
        let head = answer.head().map_err(failed)?.unwrap_or_default();
        let head = Head::parse(&head)
            .map_err(|_| unreachable_by("the upstream proxy answered nothing"))?;
        if !head.first[1].starts_with('2') || !answer.take_ahead().is_empty() {
            return Err(unreachable_by(&format!(
                "the upstream proxy answered {}",
                head.first[1]
            )));
        }
        Ok(stream)
    }
}

/// A connection, and the proxy that it leads to.
pub(super) struct Reached<'a> {
    pub(super) stream: TcpStream,
    pub(super) through: Option<&'a UpstreamProxy>,
}

/// An upstream that did not answer as it should.
pub(super) fn unreachable_by(why: &str) -> Denied {
    Denied::Unreachable(io::Error::other(why.to_owned()))
}
