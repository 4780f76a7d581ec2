//! One spelling per host, or a refusal.
//!
//! Only names can be on the list, so an address in any spelling is refused: dotted, short, decimal,
//! octal, hexadecimal, or in brackets.

use super::refusal::Denied;
use crate::Refusal;

/// The longest name of a host, with a dot at its end.
const HOST_BYTES_MAX: usize = 254;

const LABEL_BYTES_MAX: usize = 63;

/// Brings a host into its one spelling.
pub(super) fn canonical(host: &str) -> Result<String, Denied> {
    let bad = || Denied::new(400, Refusal::BadHost);
    if host.is_empty() || host.len() > HOST_BYTES_MAX {
        return Err(bad());
    }
    if host
        .bytes()
        .any(|byte| !byte.is_ascii_graphic() || b"@%\\/?#<>\"'`{}|^".contains(&byte))
    {
        return Err(bad());
    }
    if host.starts_with('[') || host.contains(':') {
        return Err(Denied::new(403, Refusal::IpLiteral));
    }
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let labels: Vec<&str> = host.split('.').collect();
    if !labels.iter().all(|label| is_label(label)) {
        return Err(bad());
    }
    // Every spelling of an IPv4 address ends in a number, and no top-level domain is one.
    let is_address = labels.last().is_some_and(|last| {
        let hexadecimal = last.strip_prefix("0x");
        last.bytes().all(|byte| byte.is_ascii_digit())
            || hexadecimal.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    if is_address {
        return Err(Denied::new(403, Refusal::IpLiteral));
    }
    Ok(host.to_owned())
}

fn is_label(label: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !label.is_empty()
        && label.len() <= LABEL_BYTES_MAX
        && label.bytes().all(is_allowed)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Reads `host[:port]`. Without a default the port must be there.
pub(super) fn authority(text: &str, default: Option<u16>) -> Result<(String, u16), Denied> {
    let bad = || Denied::new(400, Refusal::BadHost);
    if text.contains('@') {
        return Err(bad());
    }
    if text.starts_with('[') {
        return Err(Denied::new(403, Refusal::IpLiteral));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, read_port(port).ok_or_else(bad)?),
        None => (text, default.ok_or_else(bad)?),
    };
    Ok((canonical(host)?, port))
}

fn read_port(text: &str) -> Option<u16> {
    let is_number = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = is_number.then(|| text.parse::<u16>().ok()).flatten();
    port.filter(|port| *port > 0)
}
