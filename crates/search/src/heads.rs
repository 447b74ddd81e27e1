//! Reads the commits that sources on this machine are at now.

use async_trait::async_trait;
use cairn_ports::RepositoryRecord;

/// Reads the heads of sources on this machine. Only local mode has such sources.
#[async_trait]
pub trait Heads: Send + Sync {
    /// The commit that the source is at, at most a second ago. `None` if the source has no commit, is not on
    /// this machine, or cannot be read now.
    async fn head(&self, repository: &RepositoryRecord) -> Option<String>;
}
