//! Secrets: a type that does not show them, what the loop's secrets are, what looks like one, and the
//! redactor that takes both out of text.
//!
//! Everything that is journalled, logged, shown or put into a prompt goes through [`Redactor`]. It is
//! no wall against an agent that wants to tell a secret: whoever has one can spell it in a thousand
//! ways. It keeps a secret that was printed by the way from being kept and passed on.

mod known;
mod redactor;
mod secret;
mod seen;
mod stream;
mod tokens;

pub use known::{Known, keep_tokens_in_mind, secrets_seen};
pub use redactor::{Found, Redactor};
pub use secret::Secret;
pub use stream::Redacting;
pub use tokens::Token;

pub(crate) use seen::note_seen;
