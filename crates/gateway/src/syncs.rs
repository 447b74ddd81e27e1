//! How it stands with the sync of a repository that somebody asked for: what runs do not tell, because none has begun.

use cairn_domain::SyncProgress;
use cairn_ports::{RepositoryRecord, SourceError};
use cairn_search::KnownRepository;
use serde_json::{Value, json};

use crate::time::rfc3339;

/// Why the last sync failed, as callers may read it: causes that are theirs to mend in full, of others the code.
pub(crate) fn failure(record: &RepositoryRecord) -> Option<String> {
    const OF_THE_SOURCE: [&str; 4] = ["not_found", "forbidden", "invalid", "too_large"];
    let (code, chain) = record.last_sync.as_ref()?.failure.as_ref()?;
    // Stores have the same codes, and their causes name buckets and accounts.
    let is_of_the_source = OF_THE_SOURCE.contains(&code.as_str()) && SourceError::begins(chain);
    let is_theirs = code == "invalid_settings" || is_of_the_source;
    Some(if is_theirs { format!("{code}: {chain}") } else { code.clone() })
}

/// How the last sync that was asked for came out; null if none was, as in local mode.
pub(crate) fn last(record: &RepositoryRecord) -> Option<Value> {
    let last = record.last_sync.as_ref()?;
    Some(json!({ "at": rfc3339(last.at_ms), "failure": failure(record) }))
}

/// How far a sync is that was asked for; null if none is.
pub(crate) fn pending(record: &RepositoryRecord) -> Option<Value> {
    let SyncProgress { fetched_bytes, num_files_read } = record.pending_sync?;
    Some(json!({ "fetched_bytes": fetched_bytes, "num_files_read": num_files_read }))
}

/// What is worth saying of a sync: that it has not ended and how far it is, how the one before it failed, or both; none if all is
/// well.
pub fn news(failure: Option<&str>, pending: Option<SyncProgress>) -> Option<String> {
    let failed = failure.map(|failure| format!("the last sync failed ({failure})"));
    let waits = pending.map(|progress| format!("a sync is asked for and has not ended yet{}", so_far(progress)));
    let news: Vec<String> = failed.into_iter().chain(waits).collect();
    (!news.is_empty()).then(|| news.join("; "))
}

/// What its worker last told. Nothing before one has begun, and of a repository on a disk nothing of fetching.
fn so_far(SyncProgress { fetched_bytes, num_files_read }: SyncProgress) -> String {
    let fetched = (fetched_bytes > 0).then(|| format!("{} kB fetched", fetched_bytes.div_ceil(1000)));
    let read = (num_files_read > 0).then(|| format!("{num_files_read} files read"));
    let so_far: Vec<String> = fetched.into_iter().chain(read).collect();
    if so_far.is_empty() { String::new() } else { format!(" ({})", so_far.join(", ")) }
}

/// The news of a repository's sync.
pub(crate) fn news_of(record: &RepositoryRecord) -> Option<String> {
    news(failure(record).as_deref(), record.pending_sync)
}

/// The repositories of which there is news, at most so many.
pub(crate) fn unsettled(known: &[KnownRepository], limit: usize) -> Vec<Value> {
    let unsettled = known.iter().map(|known| &known.record).filter(|record| news_of(record).is_some()).take(limit);
    let sync = |record: &RepositoryRecord| {
        json!({
            "repository": record.name.as_str(),
            "pending_sync": pending(record),
            "last_sync": last(record),
        })
    };
    unsettled.map(sync).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_tell_how_far_a_sync_is() {
        let check = |failure: Option<&str>, pending: Option<(u64, u64)>, expected: Option<&str>| {
            let pending = pending.map(|(fetched_bytes, num_files_read)| SyncProgress { fetched_bytes, num_files_read });
            assert_eq!(news(failure, pending).as_deref(), expected);
        };
        check(None, None, None);
        check(Some("timeout"), None, Some("the last sync failed (timeout)"));
        check(None, Some((0, 0)), Some("a sync is asked for and has not ended yet"));
        check(None, Some((1_234_567, 0)), Some("a sync is asked for and has not ended yet (1235 kB fetched)"));
        let both =
            "the last sync failed (timeout); a sync is asked for and has not ended yet (1 kB fetched, 3 files read)";
        check(Some("timeout"), Some((1, 3)), Some(both));
    }
}
