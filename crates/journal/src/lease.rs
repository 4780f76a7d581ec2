//! Leases: who may act and for how long, and the fencing token that proves it with every append.
//!
//! The time comes from the caller. It only decides when somebody else may take the lease. The token
//! is what keeps two owners from both writing: every take-over raises it, and an append can be
//! checked against it. So an owner with a wrong clock, or one that slept through its lease, can do
//! no harm.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::{During, JournalError};
use crate::journal::Journal;

/// The proof of having taken a lease. An append with it fails once the lease was taken again, by
/// anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    name: String,
    token: i64,
}

impl Fence {
    /// The name of the lease.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fencing token: how many times the lease had been taken by then, this time included.
    pub fn token(&self) -> u64 {
        self.token.unsigned_abs()
    }
}

impl Journal {
    /// Takes a lease until `now_ms + ttl_ms`. Returns `None` if somebody else holds it and it has
    /// not expired.
    ///
    /// Taking raises the token, which fences off the previous holder. An owner who holds the lease
    /// already may take it again at once: a restarted process fences off its former self that way.
    pub fn take_lease(
        &self,
        name: &str,
        owner: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Option<Fence>, JournalError> {
        const DOING: &str = "take the lease";
        // One statement, so that nobody can get in between the check and the update. If the
        // condition fails, no row comes back.
        let sql = "INSERT INTO leases (name, token, owner, expires_ms) VALUES (?1, 1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE
            SET token = token + 1, owner = excluded.owner, expires_ms = excluded.expires_ms
            WHERE owner IS NULL OR owner = excluded.owner OR expires_ms <= ?4
            RETURNING token";
        let expires_ms = now_ms.saturating_add(ttl_ms);
        self.write(DOING, |transaction| {
            let token =
                transaction.query_row(sql, params![name, owner, expires_ms, now_ms], |row| {
                    row.get(0)
                });
            Ok(token.optional().during(DOING)?.map(|token| Fence {
                name: name.to_owned(),
                token,
            }))
        })
    }

    /// Extends a lease until `now_ms + ttl_ms`. Returns `false` if somebody else has taken it, or
    /// if it was released.
    ///
    /// A lease that has expired and was not taken by anybody is extended: its holder is still the
    /// only one.
    pub fn renew_lease(
        &self,
        fence: &Fence,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<bool, JournalError> {
        const DOING: &str = "renew the lease";
        // A lease without an owner was released, and must be taken again.
        let sql = "UPDATE leases SET expires_ms = ?3 WHERE name = ?1 AND token = ?2 AND owner IS NOT NULL";
        let expires_ms = now_ms.saturating_add(ttl_ms);
        self.write(DOING, |transaction| {
            let changed = transaction
                .execute(sql, params![fence.name, fence.token, expires_ms])
                .during(DOING)?;
            Ok(changed == 1)
        })
    }

    /// Releases a lease, so that the next owner need not wait for it to expire. Does nothing if
    /// somebody else has taken it.
    ///
    /// The row stays, with its token: if the count restarted at 1, an old fence could become valid
    /// again.
    pub fn release_lease(&self, fence: &Fence) -> Result<(), JournalError> {
        const DOING: &str = "release the lease";
        let sql = "UPDATE leases SET owner = NULL WHERE name = ?1 AND token = ?2";
        self.write(DOING, |transaction| {
            transaction
                .execute(sql, params![fence.name, fence.token])
                .during(DOING)?;
            Ok(())
        })
    }
}

/// Whether this is the newest token of its lease. A fence from another journal is not, unless both
/// name and token happen to be equal.
pub(crate) fn is_newest(
    transaction: &Transaction<'_>,
    fence: &Fence,
) -> Result<bool, JournalError> {
    let sql = "SELECT token FROM leases WHERE name = ?1";
    let newest = transaction
        .query_row(sql, [&fence.name], |row| row.get::<_, i64>(0))
        .optional();
    Ok(newest.during("check the lease")? == Some(fence.token))
}
