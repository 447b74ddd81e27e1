//! Caches the source packs that were read last, so that a question reads a pack only once.

use std::sync::Arc;

use cairn_ports::BlobStore;
use cairn_recent::SharedRecent;
use cairn_wire::{ArtifactKind, Pack};

use crate::QueryError;
use crate::code::{damaged, missing_artifact};

/// Maximum memory of the packs.
const MAX_BYTES: usize = 512 << 20;

/// Opened packs by key, up to a memory limit.
pub struct SourcePacks(SharedRecent<String, Arc<Pack>>);

impl Default for SourcePacks {
    fn default() -> Self {
        Self(SharedRecent::new(MAX_BYTES))
    }
}

impl SourcePacks {
    /// The pack with this key. The error is `NotFound` if the pack does not exist.
    pub(crate) async fn get(&self, blobs: &dyn BlobStore, key: &str) -> Result<Arc<Pack>, QueryError> {
        if let Some(pack) = self.0.lock().get(key) {
            return Ok(pack);
        }
        let bytes = blobs.get(key).await.map_err(missing_artifact)?;
        let pack = Pack::open(ArtifactKind::SourcePack, bytes).map_err(|error| damaged(key, &error))?;
        let pack = Arc::new(pack);
        self.0.lock().add_always(key.to_owned(), Arc::clone(&pack), pack.size_bytes());
        Ok(pack)
    }
}
