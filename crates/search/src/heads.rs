//! Reads the current commits of sources on this machine.

use async_trait::async_trait;
use cairn_ports::RepositoryRecord;

/// Reads the heads of sources on this machine. Only local mode has such sources.
#[async_trait]
pub trait Heads: Send + Sync {
    /// The current commit of the source. The result may be up to one second old. `None` if the source has no
    /// commit, is not on this machine, or cannot be read now.
    async fn head(&self, repository: &RepositoryRecord) -> Option<String>;
}
