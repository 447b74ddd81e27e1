//! Creates a separate bucket for each test.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use cairn_ports::BlobStore;
use cairn_s3::{S3BlobStore, S3Config};
use cairn_servers::given;

/// Returns a name that is unique among all processes that test against one server.
fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("test-{nanoseconds:x}-{}-{number}", process::id())
}

/// Creates a bucket on the configured server and returns its settings. Returns `None` if no server is
/// configured.
pub(crate) async fn new() -> Result<Option<S3Config>> {
    let Some(url) = given::s3_url() else { return Ok(None) };
    let config = S3Config::at(&url, unique_name());
    S3BlobStore::open(&config)?.prepare().await?;
    Ok(Some(config))
}

/// Removes the objects of a test. The empty bucket remains, because services must not delete buckets.
pub(crate) async fn empty(config: &S3Config) -> Result<()> {
    let store = S3BlobStore::open(&S3Config { prefix: String::new(), ..config.clone() })?;
    for object in store.list("").await? {
        store.delete(&object.key).await?;
    }
    Ok(())
}
