//! The rules of one run's proxy, read once from its spec: who may be reached, and by which route.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use rustls::ClientConfig;

use super::name::canonical;
use super::refusal::Denied;
use super::tls;
use crate::{Balance, ProxySpec, Refusal, Route};

/// Headers that may carry a key. The program's own never go upstream.
const KEY_HEADERS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "cookie"];

/// Everything that the proxy decides by.
pub(super) struct Rules {
    allowed: BTreeMap<(String, u16), MayBePrivate>,
    routes: BTreeMap<String, Lane>,
    pub(super) upstream_proxy: Option<UpstreamProxy>,
    pub(super) requests_max: Option<u64>,
    pub(super) balance: Option<Balance>,
    needed: Vec<String>,
}

/// Whether a host may have an address that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MayBePrivate {
    Yes,
    No,
}

/// A route with its key.
pub(super) struct Lane {
    pub(super) host: String,
    pub(super) port: u16,
    /// The host as it stands in the `Host` header.
    pub(super) authority: String,
    /// What stands before the path, without a slash at its end.
    pub(super) prefix: String,
    /// TLS, unless the upstream is plain HTTP.
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// The headers that are ours.
    pub(super) headers: Vec<(String, String)>,
    /// Whether one of them is a key.
    has_key: bool,
    paths: Vec<String>,
}

/// The person's own proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UpstreamProxy {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of `Proxy-Authorization`.
    pub(super) credentials: Option<String>,
    direct: Vec<String>,
}

impl Rules {
    /// Reads the rules. `key` looks a variable up.
    pub(super) fn new(spec: &ProxySpec, key: impl Fn(&str) -> Option<String>) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let mut allowed = BTreeMap::new();
        for entry in &spec.allow {
            let host = canonical(&entry.host)
                .map_err(|_| invalid(format!("`{}` is not the name of a host", entry.host)))?;
            let may_be_private = if entry.may_be_private {
                MayBePrivate::Yes
            } else {
                MayBePrivate::No
            };
            allowed.insert((host, entry.port), may_be_private);
        }
        let mut routes = BTreeMap::new();
        for route in &spec.routes {
            let secret = match route.key_variable.as_str() {
                "" => None,
                name => Some(
                    key(name)
                        .ok_or_else(|| invalid(format!("the variable `{name}` has no value")))?,
                ),
            };
            let lane = Lane::new(route, secret.as_deref(), spec)?;
            routes.insert(route.name.clone(), lane);
        }
        let upstream_proxy = spec.upstream_proxy.as_deref();
        Ok(Self {
            allowed,
            routes,
            upstream_proxy: upstream_proxy
                .map(|url| UpstreamProxy::parse(url, &spec.direct))
                .transpose()?,
            requests_max: spec.requests_max,
            balance: spec.balance.as_deref().copied(),
            needed: spec.needed.clone(),
        })
    }

    /// The host that the run cannot do without, if that is what was refused. `asked` is a name, or the
    /// target of a request whose host could not be used.
    pub(super) fn need(&self, asked: &str, why: Refusal) -> Option<&str> {
        let is_about_host = matches!(
            why,
            Refusal::NotListed | Refusal::PrivateAddress | Refusal::IpLiteral
        );
        let whole = asked.split_once("://").map_or(asked, |(_, rest)| rest);
        let authority = whole.split(['/', '?']).next().unwrap_or_default();
        let host = split_port(authority, 0).map_or(authority, |(host, _)| host);
        let mut needed = self.needed.iter().filter(|_| is_about_host);
        needed
            .find(|name| name.eq_ignore_ascii_case(host))
            .map(String::as_str)
    }

    /// Whether a host may be reached at a port.
    pub(super) fn check(&self, host: &str, port: u16) -> Result<MayBePrivate, Denied> {
        let found = self.allowed.get(&(host.to_owned(), port)).copied();
        found.ok_or_else(|| Denied::new(403, Refusal::NotListed))
    }

    /// The route that is asked for, and the whole path to ask it for. `target` has no `/~` any more.
    pub(super) fn route(&self, target: &str) -> Result<(&Lane, String), Denied> {
        let bad = |status| Denied::new(status, Refusal::BadRoute);
        let (name, rest) = target.split_once('/').unwrap_or((target, ""));
        let lane = self.routes.get(name).ok_or_else(|| bad(404))?;
        let path = rest.split('?').next().unwrap_or_default();
        if !lane.allows(path) {
            return Err(bad(403));
        }
        let plain = path.to_ascii_lowercase();
        let is_sly = ["%2e", "%2f", "%5c", "\\", "//", "#"]
            .iter()
            .any(|part| plain.contains(part));
        let has_dots = path
            .split('/')
            .any(|segment| segment == "." || segment == "..");
        if is_sly || has_dots || rest.contains('#') {
            return Err(bad(400));
        }
        Ok((lane, format!("{}/{rest}", lane.prefix)))
    }
}

impl Lane {
    fn new(route: &Route, secret: Option<&str>, spec: &ProxySpec) -> io::Result<Self> {
        let invalid = || {
            let what = format!("the upstream of route `{}` is not a URL", route.name);
            io::Error::new(io::ErrorKind::InvalidInput, what)
        };
        let (scheme, rest) = route.upstream.split_once("://").ok_or_else(invalid)?;
        let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(invalid()),
        };
        let default = if is_tls { 443 } else { 80 };
        let (host, port) = split_port(authority, default).ok_or_else(invalid)?;
        let own = secret.map(|secret| {
            let value = format!("{}{secret}", route.value_prefix);
            (route.header.clone(), value)
        });
        let extra = route.extra_headers.iter();
        let extra = extra.map(|(name, value)| (name.clone(), value.clone()));
        let headers: Vec<(String, String)> = own.into_iter().chain(extra).collect();
        let is_whole = |text: &String| !text.contains(['\r', '\n', '\0']);
        if !headers
            .iter()
            .all(|(name, value)| is_whole(name) && is_whole(value))
        {
            return Err(invalid());
        }
        let prefix = prefix.trim_end_matches('/');
        Ok(Self {
            host: host.to_owned(),
            port,
            authority: authority.to_owned(),
            prefix: if prefix.is_empty() {
                String::new()
            } else {
                format!("/{prefix}")
            },
            tls: is_tls
                .then(|| tls::config(spec.extra_ca.as_deref()))
                .transpose()?,
            headers,
            has_key: secret.is_some(),
            paths: route
                .paths
                .iter()
                .map(|path| path.trim_start_matches('/').to_owned())
                .collect(),
        })
    }

    fn allows(&self, path: &str) -> bool {
        self.paths.is_empty()
            || self
                .paths
                .iter()
                .any(|allowed| match allowed.strip_suffix('*') {
                    Some(start) => path.starts_with(start),
                    None => path == allowed,
                })
    }

    /// The headers of the program that do not go upstream.
    pub(super) fn stripped(&self) -> Vec<&str> {
        let ours = self.headers.iter().map(|(name, _)| name.as_str());
        // Where there is no key of ours, the program's own is meant for the upstream.
        let keys = KEY_HEADERS.into_iter().filter(|_| self.has_key);
        ours.chain(keys).collect()
    }
}

impl UpstreamProxy {
    fn parse(url: &str, direct: &[String]) -> io::Result<Self> {
        let invalid = || {
            let what = "the upstream proxy is not of the form http://host:port";
            io::Error::new(io::ErrorKind::InvalidInput, what)
        };
        let rest = url.strip_prefix("http://").ok_or_else(invalid)?;
        let rest = rest.split('/').next().unwrap_or_default();
        let (user, authority) = match rest.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, rest),
        };
        let (host, port) = split_port(authority, 80).ok_or_else(invalid)?;
        let credentials = user.map(|user| {
            let plain = percent_decoded(user);
            format!("Basic {}", base64(&plain))
        });
        Ok(Self {
            host: host.to_owned(),
            port,
            credentials,
            direct: direct.to_vec(),
        })
    }

    /// Whether a host is reached through it. An exception is a name, which stands for everything
    /// below it too, or a star for all.
    pub(super) fn is_for(&self, host: &str) -> bool {
        !self.direct.iter().any(|entry| {
            let entry = entry
                .trim()
                .trim_start_matches("*.")
                .trim_start_matches('.');
            let below = host
                .strip_suffix(entry)
                .is_some_and(|front| front.ends_with('.'));
            !entry.is_empty() && (entry == "*" || host.eq_ignore_ascii_case(entry) || below)
        })
    }
}

/// Splits `host[:port]`, where the host may be an address in brackets.
fn split_port(authority: &str, default: u16) -> Option<(&str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, after.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = port.map_or(Some(default), |port| port.parse().ok())?;
    (!host.is_empty()).then_some((host, port))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes();
    let mut plain = Vec::new();
    while let Some((first, rest)) = bytes.split_first() {
        let digits = rest
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match decoded.filter(|_| *first == b'%') {
            Some(byte) => {
                plain.push(byte);
                bytes = &rest[2..];
            }
            None => {
                plain.push(*first);
                bytes = rest;
            }
        }
    }
    plain
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let byte = |index: usize| u32::from(part.get(index).copied().unwrap_or_default());
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= part.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_proxy_is_read() {
        let direct = [".corp.example".to_owned(), "localhost".to_owned()];
        let proxy = UpstreamProxy::parse("http://ada:p%40ss@proxy.example:3128/", &direct).unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.credentials.as_deref(), Some("Basic YWRhOnBAc3M="));
        for (host, expected) in [
            ("api.example", true),
            ("corp.example", false),
            ("mirror.corp.example", false),
            ("evilcorp.example", true),
            ("localhost", false),
        ] {
            assert_eq!(proxy.is_for(host), expected, "{host}");
        }
        for bad in [
            "proxy.example:3128",
            "socks5://proxy.example",
            "http://:80",
            "http://h:port",
        ] {
            assert!(UpstreamProxy::parse(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn base64_is_padded() {
        for (plain, expected) in [
            ("", ""),
            ("a", "YQ=="),
            ("ab", "YWI="),
            ("abc", "YWJj"),
            ("abcd", "YWJjZA=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), expected);
        }
    }
}
