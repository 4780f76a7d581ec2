//! The rewrite of a command into the one that runs it in a jail.
//!
//! Pure: the same jail and command give the same rewrite, and nothing is read or started. So each
//! kind of jail can be shown whole in a test.

use super::command::{CommandSpec, Jail};
use super::spec::JailKind;
use super::{bwrap, container};

impl Jail<'_> {
    /// Rewrites a command, given in inside terms, into the one that runs it in this jail.
    pub fn wrap(&self, command: CommandSpec) -> CommandSpec {
        match self.spec.kind {
            JailKind::Bwrap => bwrap::wrap(self, command),
            JailKind::Podman | JailKind::Docker => container::wrap(self, command),
        }
    }
}
