//! The collections that one test has in Qdrant.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use qdrant_client::Qdrant;

/// The timeout of requests. Debug builds are slow on a busy machine, and a real server creates and deletes
/// collections one after the other.
pub const QDRANT_PATIENCE: Duration = Duration::from_secs(90);

/// All collections whose names begin with a prefix. The collections are deleted when this value is dropped,
/// even after a failed test. The deletion is needed because a shared server can have only a few hundred
/// collections (`vm.max_map_count`).
#[derive(Debug)]
pub struct Collections {
    url: String,
    prefix: String,
}

impl Collections {
    /// Sends no request until this value is dropped.
    pub fn under(url: &str, prefix: &str) -> Self {
        Self { url: url.to_owned(), prefix: prefix.to_owned() }
    }

    /// A Qdrant client with the timeout for tests.
    pub fn client(url: &str) -> Result<Qdrant> {
        Ok(Qdrant::from_url(url).skip_compatibility_check().timeout(QDRANT_PATIENCE).build()?)
    }

    /// Deletes the collections now, and returns their names.
    pub async fn delete(&self) -> Result<Vec<String>> {
        let client = Self::client(&self.url)?;
        let mut deleted = Vec::new();
        for collection in client.list_collections().await?.collections {
            if collection.name.starts_with(&self.prefix) {
                client.delete_collection(&collection.name).await?;
                deleted.push(collection.name);
            }
        }
        Ok(deleted)
    }
}

impl Drop for Collections {
    /// Uses a separate thread, because this value may be dropped on a thread of the test's runtime, and a
    /// second runtime cannot run on such a thread.
    fn drop(&mut self) {
        let deleting = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(self.delete())
        };
        let deleted = thread::scope(|scope| scope.spawn(deleting).join());
        if let Ok(Err(error)) = deleted {
            eprintln!("the collections `{}…` could not be deleted from Qdrant: {error:#}", self.prefix);
        }
    }
}
