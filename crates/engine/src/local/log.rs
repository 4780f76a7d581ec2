//! The journal as the worker's log.

use journal::{AppendError, Fence, Journal, JournalError, LoopHead, NewRecord, ReadError, Record};

use crate::ports::Log;

/// The lease's name. One name for all workers of a folder lets the next one take it over at once.
const LEASE: &str = "worker";
const OWNER: &str = "the worker of this folder";

impl Log for Journal {
    fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: &Fence,
        record: NewRecord<'_>,
    ) -> Result<u64, AppendError> {
        Journal::append(self, loop_id, expected, Some(fence), &[record])
    }

    fn read(&self, loop_id: &str, after: u64) -> Result<Vec<Record>, ReadError> {
        Journal::read(self, loop_id, after)
    }

    fn heads(&self) -> Result<Vec<LoopHead>, JournalError> {
        Journal::heads(self)
    }

    fn change_mark(&self) -> Result<i64, JournalError> {
        Journal::change_mark(self)
    }

    fn quarantine(&self, loop_id: &str, why: &str) -> Result<(), JournalError> {
        Journal::quarantine(self, loop_id, why)
    }

    fn take_lease(&self, now_ms: i64, ttl_ms: i64) -> Result<Option<Fence>, JournalError> {
        Journal::take_lease(self, LEASE, OWNER, now_ms, ttl_ms)
    }

    fn renew_lease(&self, fence: &Fence, now_ms: i64, ttl_ms: i64) -> Result<bool, JournalError> {
        Journal::renew_lease(self, fence, now_ms, ttl_ms)
    }

    fn release_lease(&self, fence: &Fence) -> Result<(), JournalError> {
        Journal::release_lease(self, fence)
    }
}
