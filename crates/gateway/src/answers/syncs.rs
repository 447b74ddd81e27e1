//! Reports how the last sync of a repository ended, and the progress of its pending sync. A pending or failed
//! sync has no run that could report its state.

use cairn_domain::{FailureCode, SyncProgress};
use cairn_ports::{RepositoryRecord, SourceError};
use cairn_search::KnownRepository;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::rfc3339;

/// The end of the last sync.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LastSync {
    pub at: String,
    /// Null if the sync succeeded.
    pub failure: Option<String>,
}

/// The progress of a requested sync.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PendingSync {
    pub fetched_bytes: u64,
    pub num_files_read: u64,
    /// Set if an attempt has failed and another attempt is scheduled; `last_sync` contains the failure.
    pub next_attempt_at: Option<String>,
}

/// A repository whose sync has not ended or has failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepositorySync {
    pub repository: String,
    pub pending_sync: Option<PendingSync>,
    pub last_sync: Option<LastSync>,
}

impl LastSync {
    /// `None` if no sync has ended.
    pub(crate) fn of(record: &RepositoryRecord) -> Option<Self> {
        let last = record.last_sync.as_ref()?;
        Some(Self { at: rfc3339(last.at_ms), failure: sync_failure(record) })
    }
}

impl PendingSync {
    pub(crate) fn of(record: &RepositoryRecord) -> Option<Self> {
        let SyncProgress { fetched_bytes, num_files_read } = record.pending_sync?;
        Some(Self { fetched_bytes, num_files_read, next_attempt_at: record.next_attempt_at_ms.map(rfc3339) })
    }

    /// The last progress that the worker reported, as text. Empty if no worker has begun. A sync of a
    /// repository on a local disk fetches no bytes.
    fn so_far(&self) -> String {
        let Self { fetched_bytes, num_files_read, .. } = *self;
        let fetched = (fetched_bytes > 0).then(|| format!("{} kB fetched", fetched_bytes.div_ceil(1000)));
        let read = (num_files_read > 0).then(|| format!("{num_files_read} files read"));
        let so_far: Vec<String> = fetched.into_iter().chain(read).collect();
        if so_far.is_empty() { String::new() } else { format!(" ({})", so_far.join(", ")) }
    }
}

/// The reason why the last sync failed, in the form that callers may read: the full cause if callers can
/// correct it, otherwise only the error code.
pub(crate) fn sync_failure(record: &RepositoryRecord) -> Option<String> {
    let (code, chain) = record.last_sync.as_ref()?.failure.as_ref()?;
    // Store errors use the same codes as source errors. Their causes are not shown, because they contain
    // names of buckets and accounts.
    let is_callers = match code {
        FailureCode::InvalidSettings | FailureCode::OverBudget => true,
        FailureCode::NotFound | FailureCode::Forbidden | FailureCode::Invalid | FailureCode::TooLarge => {
            SourceError::begins(chain)
        }
        _ => false,
    };
    Some(if is_callers { format!("{code}: {chain}") } else { code.to_string() })
}

/// A note about the syncs of a repository: the progress of the pending sync, the failure of the last sync, or
/// both. `None` if the last sync succeeded and no sync is pending.
pub fn sync_note(last: Option<&LastSync>, pending: Option<&PendingSync>) -> Option<String> {
    let failure = |last: &LastSync| Some(format!("the last sync failed at {} ({})", last.at, last.failure.as_ref()?));
    let failed = last.and_then(failure);
    let waits = pending.map(|pending| {
        let retry = pending.next_attempt_at.as_ref().map(|at| format!("; its next attempt is at {at}"));
        format!("a sync was requested and has not ended yet{}{}", pending.so_far(), retry.unwrap_or_default())
    });
    let notes: Vec<String> = failed.into_iter().chain(waits).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

pub(crate) fn sync_note_of(record: &RepositoryRecord) -> Option<String> {
    sync_note(LastSync::of(record).as_ref(), PendingSync::of(record).as_ref())
}

/// The repositories whose sync has not ended or has failed, at most `limit`.
pub(crate) fn unsettled(known: &[KnownRepository], limit: usize) -> Vec<RepositorySync> {
    let unsettled = known.iter().map(|known| &known.record).filter(|record| sync_note_of(record).is_some()).take(limit);
    let sync = |record: &RepositoryRecord| RepositorySync {
        repository: record.name.to_string(),
        pending_sync: PendingSync::of(record),
        last_sync: LastSync::of(record),
    };
    unsettled.map(sync).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_reports_the_progress_of_a_sync() {
        let check = |failure: Option<&str>, pending: Option<(u64, u64)>, expected: Option<&str>| {
            let last = failure.map(|failure| LastSync { at: "T".to_owned(), failure: Some(failure.to_owned()) });
            let next_attempt_at = None;
            let pending = pending.map(|(fetched_bytes, num_files_read)| PendingSync {
                fetched_bytes,
                num_files_read,
                next_attempt_at,
            });
            assert_eq!(sync_note(last.as_ref(), pending.as_ref()).as_deref(), expected);
        };
        check(None, None, None);
        check(Some("timeout"), None, Some("the last sync failed at T (timeout)"));
        check(None, Some((0, 0)), Some("a sync was requested and has not ended yet"));
        check(None, Some((1_234_567, 0)), Some("a sync was requested and has not ended yet (1235 kB fetched)"));
        let both = "the last sync failed at T (timeout); a sync was requested and has not ended yet (1 kB fetched, 3 files read)";
        check(Some("timeout"), Some((1, 3)), Some(both));
    }

    #[test]
    fn note_reports_the_next_attempt() {
        let at = "2026-11-24T12:00:00Z".to_owned();
        let pending = PendingSync { fetched_bytes: 0, num_files_read: 0, next_attempt_at: Some(at) };
        let expected = "a sync was requested and has not ended yet; its next attempt is at 2026-11-24T12:00:00Z";
        assert_eq!(sync_note(None, Some(&pending)).as_deref(), Some(expected));
    }
}
