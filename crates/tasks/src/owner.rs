//! Who holds a task.

use std::path::PathBuf;

use sandbox::ProcessMark;
use serde::{Deserialize, Serialize};

/// Who holds a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// What kind of holder it is.
    pub kind: OwnerKind,
    /// The person, as `name@host`.
    pub name: String,
    /// The machine.
    pub host: String,
    /// The process that holds it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessMark>,
    /// The work tree that it is worked on in.
    pub worktree: PathBuf,
}

/// What kind of holder it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OwnerKind {
    /// A `ralph` process, which must be alive.
    Ralph,
    /// A loop, which must not be over. Its worker may die and come again.
    Loop {
        /// The loop's id.
        loop_id: String,
    },
    /// Somebody who claimed it by hand.
    Person,
}

impl Owner {
    /// The holder in a few words.
    pub fn words(&self) -> String {
        let place = self.worktree.display();
        match (&self.kind, &self.process) {
            (OwnerKind::Loop { loop_id }, _) => format!("loop {loop_id}"),
            (OwnerKind::Ralph, Some(process)) => {
                format!("ralph {} of {} in {place}", process.pid, self.name)
            }
            (OwnerKind::Ralph, None) => format!("ralph of {} in {place}", self.name),
            (OwnerKind::Person, _) => format!("{} in {place}", self.name),
        }
    }
}

/// The machine's name.
pub(crate) fn this_host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.or_else(|_| std::fs::read_to_string("/etc/hostname"));
    name.map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned())
}

/// The person, as `name@host`.
pub(crate) fn person() -> String {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "somebody".to_owned());
    format!("{name}@{}", this_host())
}
