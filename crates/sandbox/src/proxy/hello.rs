//! Reads the server name out of a TLS `ClientHello`, so that a tunnel is used for the host that it
//! was opened for.

use super::refusal::Denied;
use crate::Refusal;

/// How much may come before the hello is complete.
pub(super) const HELLO_BYTES_MAX: usize = 32 * 1024;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// Reads the server name from the first bytes of a tunnel: `None` while they are not complete. A
/// hello without a name, with an encrypted one, or anything that is no hello, is refused.
pub(super) fn server_name(bytes: &[u8]) -> Result<Option<String>, Denied> {
    let refused = || Denied::new(0, Refusal::OtherTlsName);
    let Some(message) = message(bytes).ok_or_else(refused)? else {
        return Ok(None);
    };
    let name = read_name(&message).ok_or_else(refused)?;
    Ok(Some(name))
}

/// Joins the records of the first handshake message. The outer `None` is no handshake, the inner one
/// not complete yet.
#[expect(
    clippy::option_option,
    reason = "not a handshake and not complete are two things"
)]
fn message(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut message = Vec::new();
    let mut rest = bytes;
    loop {
        if let Some([kind, a, b, c]) = message.first_chunk::<4>() {
            if *kind != CLIENT_HELLO {
                return None;
            }
            let n_bytes = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            if message.len() >= 4 + n_bytes {
                message.truncate(4 + n_bytes);
                return Some(Some(message));
            }
        }
        if rest.first().is_some_and(|kind| *kind != HANDSHAKE) {
            return None;
        }
        let Some((header, after)) = rest.split_first_chunk::<5>() else {
            return Some(None);
        };
        let n_bytes = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if n_bytes == 0 || n_bytes > 16_640 {
            return None;
        }
        if after.len() < n_bytes {
            return Some(None);
        }
        message.extend_from_slice(&after[..n_bytes]);
        rest = &after[n_bytes..];
    }
}

/// Walks through the message to its extensions.
fn read_name(message: &[u8]) -> Option<String> {
    // Kind and length, version, random.
    let mut reader = Reader(message.get(4 + 2 + 32..)?);
    reader.part_u8()?;
    reader.part_u16()?;
    reader.part_u8()?;
    let mut extensions = Reader(reader.part_u16()?);
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number_u16()?;
        let content = extensions.part_u16()?;
        match kind {
            ENCRYPTED_HELLO => return None,
            // A second one would be read differently by different servers.
            SERVER_NAME if name.is_some() => return None,
            SERVER_NAME => name = Some(host_name(content)?),
            _ => {}
        }
    }
    name
}

fn host_name(content: &[u8]) -> Option<String> {
    let mut list = Reader(Reader(content).part_u16()?);
    let kind = list.number_u8()?;
    let name = list.part_u16()?;
    let is_alone = kind == 0 && list.0.is_empty();
    is_alone
        .then(|| String::from_utf8(name.to_vec()).ok())
        .flatten()
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number_u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number_u16(&mut self) -> Option<u16> {
        let (first, rest) = self.0.split_first_chunk::<2>()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*first))
    }

    fn part(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(part)
    }

    /// A part with its length before it.
    fn part_u8(&mut self) -> Option<&'a [u8]> {
        let n_bytes = self.number_u8()?;
        self.part(usize::from(n_bytes))
    }

    fn part_u16(&mut self) -> Option<&'a [u8]> {
        let n_bytes = self.number_u16()?;
        self.part(usize::from(n_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
        let n_bytes = u16::try_from(content.len()).unwrap();
        [&kind.to_be_bytes()[..], &n_bytes.to_be_bytes(), content].concat()
    }

    fn named(name: &str) -> Vec<u8> {
        let n_bytes = u16::try_from(name.len()).unwrap();
        let list = [&[0][..], &n_bytes.to_be_bytes(), name.as_bytes()].concat();
        let n_bytes = u16::try_from(list.len()).unwrap();
        extension(SERVER_NAME, &[&n_bytes.to_be_bytes()[..], &list].concat())
    }

    /// A hello with these extensions, in records of at most `record_bytes`.
    fn hello(extensions: &[Vec<u8>], record_bytes: usize) -> Vec<u8> {
        let extensions = extensions.concat();
        let n_bytes = u16::try_from(extensions.len()).unwrap();
        let body = [
            &[3, 3][..],
            &[7; 32],
            &[0],
            &[0, 2, 0x13, 1],
            &[1, 0],
            &n_bytes.to_be_bytes(),
            &extensions,
        ]
        .concat();
        let n_bytes = u32::try_from(body.len()).unwrap().to_be_bytes();
        let message = [&[CLIENT_HELLO][..], &n_bytes[1..], &body].concat();
        let record = |part: &[u8]| {
            let n_bytes = u16::try_from(part.len()).unwrap();
            [&[HANDSHAKE, 3, 1][..], &n_bytes.to_be_bytes(), part].concat()
        };
        message.chunks(record_bytes).flat_map(record).collect()
    }

    #[test]
    fn a_hello_is_read() {
        let other = extension(0x0a, &[0, 2, 0, 29]);
        let plain = hello(&[other.clone(), named("api.example")], 16_000);
        let pieces = hello(&[named("api.example")], 7);
        let ech = extension(ENCRYPTED_HELLO, &[0, 0]);
        let is = |name: &str| Some(Some(name.to_owned()));
        for (what, bytes, expected) in [
            ("plain", plain.clone(), is("api.example")),
            ("in many records", pieces.clone(), is("api.example")),
            (
                "with more behind it",
                [&plain[..], b"more"].concat(),
                is("api.example"),
            ),
            ("nothing yet", Vec::new(), Some(None)),
            ("cut short", plain[..20].to_vec(), Some(None)),
            ("cut in a record", pieces[..30].to_vec(), Some(None)),
            ("without a name", hello(&[other], 16_000), None),
            (
                "two names",
                hello(&[named("a.example"), named("b.example")], 16_000),
                None,
            ),
            (
                "encrypted",
                hello(&[named("api.example"), ech], 16_000),
                None,
            ),
            ("SSH", b"SSH-2.0-x\r\n".to_vec(), None),
            ("HTTP", b"GET / HTTP/1.1\r\n\r\n".to_vec(), None),
            (
                "another message",
                [&[HANDSHAKE, 3, 1, 0, 4], &[2, 0, 0, 0][..]].concat(),
                None,
            ),
            ("an empty record", vec![HANDSHAKE, 3, 1, 0, 0], None),
        ] {
            let found = server_name(&bytes).ok();
            assert_eq!(found, expected, "{what}");
        }
    }
}
