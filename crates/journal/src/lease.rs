//! Leases: who may act, for how long, and the proof that an append comes from the one who still
//! may.
//!
//! The time comes from the caller and only says when somebody else may take over. What keeps two
//! owners from both writing is the token, which every take-over raises and every append can be
//! checked against: a holder whose clock is wrong, or who slept through its lease, cannot do harm.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::{During, JournalError};
use crate::journal::Journal;

/// The proof of having been given a lease; an append with it fails once a newer one was given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    name: String,
    token: i64,
}

impl Fence {
    /// Says which lease it is for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says how many times the lease had been given out when it was, this time included.
    pub fn token(&self) -> u64 {
        self.token.unsigned_abs()
    }
}

impl Journal {
    /// Takes a lease until `now_ms + ttl_ms`, or says `None` when somebody else holds it and it has
    /// not expired.
    ///
    /// Taking raises the token, so that whoever held the lease before is fenced off. That is also
    /// so for an owner who holds it already: a restarted process may take over from its former self
    /// at once.
    pub fn take_lease(
        &self,
        name: &str,
        owner: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Option<Fence>, JournalError> {
        const DOING: &str = "take the lease";
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

    /// Extends a lease until `now_ms + ttl_ms`; `false` when it was given to somebody else or
    /// released.
    ///
    /// A lease that has expired but was taken by nobody is extended: its holder is still the only
    /// one.
    pub fn renew_lease(
        &self,
        fence: &Fence,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<bool, JournalError> {
        const DOING: &str = "renew the lease";
        let sql = "UPDATE leases SET expires_ms = ?3 WHERE name = ?1 AND token = ?2 AND owner IS NOT NULL";
        let expires_ms = now_ms.saturating_add(ttl_ms);
        self.write(DOING, |transaction| {
            let changed = transaction
                .execute(sql, params![fence.name, fence.token, expires_ms])
                .during(DOING)?;
            Ok(changed == 1)
        })
    }

    /// Gives a lease back, so that the next one need not wait; does nothing if it was given to
    /// somebody else.
    ///
    /// The token is kept: the next one to take the lease gets a higher one.
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

/// Says whether no newer token was given out. A fence of another journal is not the newest of this
/// one.
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
