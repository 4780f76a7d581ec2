//! What looks like a secret by itself, whoever's it is: tokens with a known beginning, private keys,
//! JSON Web Tokens, credentials in headers and in addresses.
//!
//! A commit id, a ULID, a hash or base64 of something ordinary has no such beginning and stays. So do
//! examples that a person makes up: `sk-xxxxxxxx…`, `AKIAIOSFODNN7EXAMPLE`, `user:password@`.

use std::ops::Range;

/// Bytes of a private key that are looked through for its end.
pub(super) const KEY_BYTES_MAX: usize = 32 * 1024;

/// Base64 characters that make a private key out of its first line.
const KEY_BODY_MIN: usize = 40;

/// A kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token {
    /// A private key in its usual envelope.
    PrivateKey,
    /// A JSON Web Token.
    Jwt,
    /// What an `Authorization` header or one like it holds.
    Header,
    /// The password in an address.
    Password,
    /// A key that begins with `sk-`, as those of most model providers do.
    ApiKey,
    /// A token of GitHub or GitLab.
    Forge,
    /// An access key id of AWS.
    Aws,
    /// A token of Slack.
    Slack,
    /// An API key of Google.
    Google,
    /// A live key of Stripe.
    Stripe,
    /// A token of a package registry or a model hub.
    Registry,
}

impl Token {
    /// What it is called where it was taken out.
    pub fn words(self) -> &'static str {
        match self {
            Self::PrivateKey => "a private key",
            Self::Jwt => "a JSON Web Token",
            Self::Header => "a credential of a header",
            Self::Password => "a password of an address",
            Self::ApiKey => "an API key",
            Self::Forge => "a GitHub or GitLab token",
            Self::Aws => "an AWS key id",
            Self::Slack => "a Slack token",
            Self::Google => "a Google API key",
            Self::Stripe => "a Stripe key",
            Self::Registry => "a registry token",
        }
    }
}

/// Tokens that are known by how they begin.
struct Beginning {
    prefix: &'static [u8],
    may_follow: fn(u8) -> bool,
    length: Range<usize>,
    token: Token,
}

const fn begins(
    prefix: &'static [u8],
    may_follow: fn(u8) -> bool,
    length: Range<usize>,
    token: Token,
) -> Beginning {
    Beginning {
        prefix,
        may_follow,
        length,
        token,
    }
}

const LONG: usize = 1024;

const BEGINNINGS: &[Beginning] = &[
    begins(b"sk-", is_dashed, 20..LONG, Token::ApiKey),
    begins(b"sk_live_", is_plain, 16..LONG, Token::Stripe),
    begins(b"rk_live_", is_plain, 16..LONG, Token::Stripe),
    begins(b"ghp_", is_plain, 36..LONG, Token::Forge),
    begins(b"gho_", is_plain, 36..LONG, Token::Forge),
    begins(b"ghu_", is_plain, 36..LONG, Token::Forge),
    begins(b"ghs_", is_plain, 36..LONG, Token::Forge),
    begins(b"ghr_", is_plain, 36..LONG, Token::Forge),
    begins(b"github_pat_", is_dashed, 40..LONG, Token::Forge),
    begins(b"glpat-", is_dashed, 20..LONG, Token::Forge),
    begins(b"AKIA", is_upper, 16..17, Token::Aws),
    begins(b"ASIA", is_upper, 16..17, Token::Aws),
    begins(b"xoxb-", is_dashed, 20..LONG, Token::Slack),
    begins(b"xoxp-", is_dashed, 20..LONG, Token::Slack),
    begins(b"xoxa-", is_dashed, 20..LONG, Token::Slack),
    begins(b"xoxr-", is_dashed, 20..LONG, Token::Slack),
    begins(b"xoxs-", is_dashed, 20..LONG, Token::Slack),
    begins(b"xapp-", is_dashed, 20..LONG, Token::Slack),
    begins(b"AIza", is_dashed, 35..36, Token::Google),
    begins(b"npm_", is_plain, 36..37, Token::Registry),
    begins(b"pypi-", is_dashed, 50..LONG, Token::Registry),
    begins(b"hf_", is_plain, 30..LONG, Token::Registry),
];

/// Passwords that everybody uses where there is none.
const NO_PASSWORDS: &[&str] = &[
    "password", "passwd", "pass", "pw", "secret", "user", "username", "root", "admin", "test",
    "guest", "example", "changeme", "token", "postgres", "mysql", "mongo", "redis", "rabbitmq",
];

/// Text that only made-up tokens hold.
const MADE_UP: &[&[u8]] = &[
    b"example",
    b"123456",
    b"abcdef",
    b"placeholder",
    b"your",
    b"redacted",
    b"dummy",
    b"fake",
];

/// A token in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) range: Range<usize>,
    pub(super) token: Token,
}

/// The token that begins exactly here, if one does. A header or an address begins here and its
/// credential further on: the range is that of the credential.
pub(super) fn token_at(text: &[u8], at: usize) -> Option<Seen> {
    match text[at] {
        b'-' => private_key_at(text, at),
        b':' => password_at(text, at),
        b'e' => jwt_at(text, at),
        b'a' | b'A' | b'b' | b'B' | b'x' | b'X' => {
            header_at(text, at).or_else(|| beginning_at(text, at))
        }
        b's' | b'r' | b'g' | b'n' | b'p' | b'h' => beginning_at(text, at),
        _ => None,
    }
}

fn beginning_at(text: &[u8], at: usize) -> Option<Seen> {
    let rest = &text[at..];
    let known = BEGINNINGS
        .iter()
        .find(|known| rest.starts_with(known.prefix))?;
    if !is_start(text, at) {
        return None;
    }
    let body = run(&rest[known.prefix.len()..], known.may_follow);
    // Where all keys have one length, a longer word is something else.
    let is_plausible = known.length.contains(&body.len()) && is_random(body);
    // Names in CSS and file names have dashes between short words, keys have long words.
    let has_long_word = body
        .split(|byte| *byte == b'-')
        .any(|word| word.len() >= 16);
    let is_dashed_word = known.token == Token::ApiKey && !has_long_word;
    (is_plausible && !is_dashed_word).then(|| Seen {
        range: at..at + known.prefix.len() + body.len(),
        token: known.token,
    })
}

/// Three parts of base64, of which the first two are JSON objects.
fn jwt_at(text: &[u8], at: usize) -> Option<Seen> {
    let rest = &text[at..];
    if !rest.starts_with(b"eyJ") || !is_start(text, at) {
        return None;
    }
    let header = run(rest, is_dashed);
    let claims = rest.get(header.len()..)?.strip_prefix(b".")?;
    let claims_run = run(claims, is_dashed);
    let signature = claims.get(claims_run.len()..)?.strip_prefix(b".")?;
    let signature = run(signature, is_dashed);
    let is_jwt = header.len() >= 12
        && claims_run.starts_with(b"eyJ")
        && claims_run.len() >= 12
        && signature.len() >= 16;
    is_jwt.then(|| Seen {
        range: at..at + header.len() + claims_run.len() + signature.len() + 2,
        token: Token::Jwt,
    })
}

/// A private key from its first line to its last. One whose end is missing ends where it stops looking
/// like one. A first line alone is no key.
fn private_key_at(text: &[u8], at: usize) -> Option<Seen> {
    let label_from = at + begin_of_key(&text[at..])?;
    let body_from = label_from;
    let whole = &text[body_from..text.len().min(at + KEY_BYTES_MAX)];
    let end = find(whole, b"-----END ");
    let body = match end {
        Some(end) => &whole[..end],
        None => run(whole, is_key_text),
    };
    // In JSON a line break is written as `\n`, whose letter is no part of the key, and does no harm.
    let n_key = body.iter().filter(|byte| is_base64(**byte)).count();
    if n_key < KEY_BODY_MIN || !body.iter().all(|byte| is_key_text(*byte)) {
        return None;
    }
    let last_line = |end: usize| {
        let line = &whole[end + b"-----END ".len()..];
        let close = find(line, b"-----").map_or(line.len(), |close| close + b"-----".len());
        body_from + end + b"-----END ".len() + close
    };
    let to = end.map_or(body_from + body.len(), last_line);
    Some(Seen {
        range: at..to,
        token: Token::PrivateKey,
    })
}

/// How long the first line of a private key is that a text begins with.
pub(super) fn begin_of_key(text: &[u8]) -> Option<usize> {
    const LABEL_MAX: usize = 60;
    const BEGIN: &[u8] = b"-----BEGIN ";
    let label = text.strip_prefix(BEGIN)?;
    let label = &label[..label.len().min(LABEL_MAX)];
    let end = find(label, b"-----")?;
    let label = &label[..end];
    let is_label = label
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    let is_key = is_label && find(label, b"PRIVATE KEY").is_some();
    is_key.then_some(BEGIN.len() + end + b"-----".len())
}

/// `Authorization: Bearer …`, `Bearer …` and `x-api-key: …`, also as JSON and as code write them.
fn header_at(text: &[u8], at: usize) -> Option<Seen> {
    if !is_start(text, at) {
        return None;
    }
    let rest = &text[at..];
    let (skipped, length_min, is_drawn) = if let Some(after) = word(rest, b"authorization") {
        let (gap, scheme) = separated(after)?;
        let scheme_length = [&b"bearer"[..], b"basic", b"token"]
            .iter()
            .find_map(|name| word(scheme, name).map(|_| name.len()))?;
        let skipped = rest.len() - after.len() + gap + scheme_length;
        (skipped, 8, is_mixed as fn(&[u8]) -> bool)
    } else if word(rest, b"bearer").is_some() {
        (b"bearer".len(), 20, is_random as fn(&[u8]) -> bool)
    } else {
        let after = word(rest, b"x-api-key").or_else(|| word(rest, b"api-key"))?;
        let (gap, _) = separated(after)?;
        let skipped = rest.len() - after.len() + gap;
        (skipped, 16, is_random as fn(&[u8]) -> bool)
    };
    let from = at + skipped;
    let spaces = run(&text[from..], |byte| byte == b' ').len();
    let from = from + spaces;
    let credential = run(&text[from..], is_credential);
    (credential.len() >= length_min && is_drawn(credential)).then(|| Seen {
        range: from..from + credential.len(),
        token: Token::Header,
    })
}

/// What stands between a header's name and its value: a colon or an equals sign, quotes, spaces.
fn separated(text: &[u8]) -> Option<(usize, &[u8])> {
    const GAP_MAX: usize = 8;
    let gap = run(text, |byte| b"\\\"' :=,>".contains(&byte)).len();
    (1..=GAP_MAX).contains(&gap).then(|| (gap, &text[gap..]))
}

/// `scheme://user:password@host`: the password.
fn password_at(text: &[u8], at: usize) -> Option<Seen> {
    const USERINFO_MAX: usize = 512;
    let rest = text[at..].strip_prefix(b"://")?;
    let rest = &rest[..rest.len().min(USERINFO_MAX)];
    let userinfo = run(rest, |byte| !b"@/?# \t\r\n\"'<>`\\".contains(&byte));
    if rest.get(userinfo.len()) != Some(&b'@') {
        return None;
    }
    let colon = userinfo.iter().position(|byte| *byte == b':')?;
    let (user, password) = (&userinfo[..colon], &userinfo[colon + 1..]);
    let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let is_none = password.len() < 3
        || password == user
        || password.iter().any(|byte| b"${}[]*%".contains(byte))
        || n_distinct(password) < 3
        || NO_PASSWORDS.contains(&text_of(password).as_str());
    let from = at + b"://".len() + colon + 1;
    (!is_none).then(|| Seen {
        range: from..from + password.len(),
        token: Token::Password,
    })
}

/// Whether nothing that belongs to a word stands before this place. In JSON a line break is written as
/// a letter, and so is the end of a terminal's colours.
fn is_start(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let Some(last) = before.last() else {
        return true;
    };
    let is_escape =
        b"nrtbf".contains(last) && before.len() >= 2 && before[before.len() - 2] == b'\\';
    !is_dashed(*last) || is_escape || (*last == b'm' && ends_in_colour(before))
}

fn ends_in_colour(text: &[u8]) -> bool {
    let digits = text[..text.len() - 1]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    let bracket = text.len().checked_sub(digits + 2);
    bracket.is_some_and(|bracket| text[bracket] == b'[')
}

/// Whether somebody drew this by lot: letters and digits, many different ones, and nothing that people
/// write into examples.
pub(super) fn is_random(body: &[u8]) -> bool {
    let has_both = body.iter().any(u8::is_ascii_digit) && body.iter().any(u8::is_ascii_alphabetic);
    has_both && is_no_example(body)
}

/// Where a header says that this is a credential, letters of both cases do too: base64 of a short text
/// may have no digit.
fn is_mixed(body: &[u8]) -> bool {
    let has_cases =
        body.iter().any(u8::is_ascii_uppercase) && body.iter().any(u8::is_ascii_lowercase);
    is_random(body) || (has_cases && is_no_example(body))
}

fn is_no_example(body: &[u8]) -> bool {
    const DISTINCT_MIN: usize = 7;
    let lower = body.to_ascii_lowercase();
    let is_made_up = |made_up: &&[u8]| find(&lower, made_up).is_some();
    n_distinct(body) >= DISTINCT_MIN && !MADE_UP.iter().any(is_made_up)
}

fn n_distinct(body: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in body {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

/// The beginning of a text that consists of such bytes.
fn run(text: &[u8], is: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|byte| !is(*byte));
    &text[..end.unwrap_or(text.len())]
}

/// What follows a word, in whatever case it is written.
fn word<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let start = text.get(..word.len())?;
    start
        .eq_ignore_ascii_case(word)
        .then(|| &text[word.len()..])
}

pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn is_credential(byte: u8) -> bool {
    is_base64(byte) || b"-._~".contains(&byte)
}

/// What stands between the first and the last line of a private key, also in JSON and with headers.
fn is_key_text(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace() || b"\\:,-\"'|+>".contains(&byte)
}
