//! How it stands with the sync of a repository that somebody asked for: what runs do not tell, because none has begun.

use cairn_ports::RepositoryRecord;
use cairn_search::KnownRepository;
use serde_json::{Value, json};

use crate::time::rfc3339;

/// Why the last sync failed, as callers may read it: causes that are theirs to mend in full, of others the code.
pub(crate) fn failure(record: &RepositoryRecord) -> Option<String> {
    const OF_THE_REPOSITORY: [&str; 5] = ["invalid_settings", "not_found", "forbidden", "invalid", "too_large"];
    let (code, chain) = record.last_sync.as_ref()?.failure.as_ref()?;
    let is_theirs = OF_THE_REPOSITORY.contains(&code.as_str());
    Some(if is_theirs { format!("{code}: {chain}") } else { code.clone() })
}

/// How the last sync that was asked for came out; null if none was, as in local mode.
pub(crate) fn last(record: &RepositoryRecord) -> Option<Value> {
    let last = record.last_sync.as_ref()?;
    Some(json!({ "at": rfc3339(last.at_ms), "failure": failure(record) }))
}

/// What is worth saying of a sync: that it waits, how the one before it failed, or both; none if all is well.
pub fn news(failure: Option<&str>, is_pending: bool) -> Option<String> {
    let failed = failure.map(|failure| format!("the last sync failed ({failure})"));
    let waits = is_pending.then(|| "a sync is asked for and has not ended yet".to_owned());
    let news: Vec<String> = failed.into_iter().chain(waits).collect();
    (!news.is_empty()).then(|| news.join("; "))
}

/// The news of a repository's sync.
pub(crate) fn news_of(record: &RepositoryRecord) -> Option<String> {
    news(failure(record).as_deref(), record.sync_pending)
}

/// The repositories of which there is news, at most so many.
pub(crate) fn unsettled(known: &[KnownRepository], limit: usize) -> Vec<Value> {
    let unsettled = known.iter().map(|known| &known.record).filter(|record| news_of(record).is_some()).take(limit);
    let sync = |record: &RepositoryRecord| {
        json!({
            "repository": record.name.as_str(),
            "pending": record.sync_pending,
            "last_sync": last(record),
        })
    };
    unsettled.map(sync).collect()
}
