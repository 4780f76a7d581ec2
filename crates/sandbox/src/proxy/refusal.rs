//! Why a request is not carried out, as the program inside is told.

use std::io;

use crate::Refusal;

/// A request that is not carried out.
#[derive(Debug)]
pub(super) enum Denied {
    /// A rule refuses it. The status is what the program is answered; inside a tunnel there is none.
    Refused { status: u16, why: Refusal },
    /// Nothing refuses it, but it did not work.
    Broken(io::Error),
    /// The upstream could not be reached.
    Unreachable(io::Error),
}

impl Denied {
    pub(super) fn new(status: u16, why: Refusal) -> Self {
        Self::Refused { status, why }
    }
}

impl From<io::Error> for Denied {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// What the program inside is told, in the form in which model servers report errors.
pub(super) fn answer(denied: &Denied) -> Option<Vec<u8>> {
    let (status, message) = match denied {
        Denied::Refused { status: 0, .. } | Denied::Broken(_) => return None,
        Denied::Refused { status, why } => (*status, words(*why).to_owned()),
        Denied::Unreachable(error) => (502, format!("the host cannot be reached: {error}")),
    };
    let body = serde_json::json!({
        "error": {
            "type": "sandbox_refused",
            "message": format!("the sandbox refuses this: {message}"),
        }
    });
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} Refused\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    Some([head, body].concat().into_bytes())
}

fn words(why: Refusal) -> &'static str {
    match why {
        Refusal::BadRequest => "the request is malformed or ambiguous",
        Refusal::BadHost => "this is not the name of a host",
        Refusal::IpLiteral => "only names may be asked for, not addresses",
        Refusal::NotListed => "this host and port are not on the list of allowed hosts",
        Refusal::PrivateAddress => "this name leads to a private address",
        Refusal::BadRoute => "there is no such route, or the path is not one of its paths",
        Refusal::OtherTlsName => "the tunnel is for another host",
        Refusal::RequestsUsedUp => "the requests of this run, or its budget, are used up",
    }
}
