//! Whether a claim still holds. The machine is asked through values.

use sandbox::ProcessMark;

use crate::lease::Lease;
use crate::owner::{OwnerKind, this_host};

/// What is known of the world, for who asks whether a lease holds.
pub(crate) struct World<'a> {
    pub(crate) now_ms: i64,
    pub(crate) host: &'a str,
    pub(crate) is_alive: &'a dyn Fn(&ProcessMark) -> bool,
    pub(crate) is_loop_over: &'a dyn Fn(&str) -> bool,
}

impl World<'_> {
    /// Whether a lease holds. A process of this machine is asked for itself: a dead one holds nothing,
    /// whatever its lease says, and a living one that slept through its lease still works on the
    /// task. Whom nobody can ask is believed until the lease expires.
    pub(crate) fn is_holding(&self, lease: &Lease) -> bool {
        match (&lease.owner.kind, &lease.owner.process) {
            (OwnerKind::Loop { loop_id }, _) if lease.owner.host == self.host => {
                !(self.is_loop_over)(loop_id)
            }
            (OwnerKind::Ralph, Some(process)) if lease.owner.host == self.host => {
                (self.is_alive)(process)
            }
            _ => self.now_ms < lease.until_ms,
        }
    }
}

/// Whether a lease holds, as far as this machine can tell.
pub fn is_holding(lease: &Lease, now_ms: i64, is_loop_over: &dyn Fn(&str) -> bool) -> bool {
    let host = this_host();
    let world = World {
        now_ms,
        host: &host,
        is_alive: &sandbox::is_alive,
        is_loop_over,
    };
    world.is_holding(lease)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::owner::Owner;

    #[test]
    fn a_lease_holds() {
        let mark = ProcessMark {
            pid: 7,
            start_time: 1,
            boot_id: "b".to_owned(),
        };
        let a_loop = OwnerKind::Loop {
            loop_id: "L".to_owned(),
        };
        for (kind, host, is_alive, now_ms, expected) in [
            (OwnerKind::Ralph, "here", true, 5, true),
            (OwnerKind::Ralph, "here", true, 15, true),
            (OwnerKind::Ralph, "here", false, 5, false),
            (OwnerKind::Ralph, "there", false, 5, true),
            (OwnerKind::Ralph, "there", true, 15, false),
            (OwnerKind::Person, "here", false, 5, true),
            (OwnerKind::Person, "here", true, 10, false),
            (a_loop.clone(), "here", true, 15, true),
            (a_loop.clone(), "here", false, 5, false),
            (a_loop, "there", false, 5, true),
        ] {
            let owner = Owner {
                kind: kind.clone(),
                name: "a".to_owned(),
                host: host.to_owned(),
                process: (kind != OwnerKind::Person).then(|| mark.clone()),
                worktree: PathBuf::from("w"),
            };
            let lease = Lease::new(owner, 0, 10);
            let world = World {
                now_ms,
                host: "here",
                is_alive: &|_| is_alive,
                is_loop_over: &|_| !is_alive,
            };
            let what = format!("{kind:?} on {host}, alive {is_alive}, at {now_ms}");
            assert_eq!(world.is_holding(&lease), expected, "{what}");
        }
    }
}
