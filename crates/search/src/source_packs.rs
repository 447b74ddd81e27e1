//! The source packs that were read last, so that a question reads a pack only once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_ports::BlobStore;
use cairn_wire::{ArtifactKind, Pack};

use crate::QueryError;
use crate::code::{damaged, missing_artifact};

/// Maximum memory of the packs.
const MAX_BYTES: usize = 512 << 20;

/// Opened packs by key, up to a memory limit.
#[derive(Default)]
pub struct SourcePacks(Mutex<Opened>);

#[derive(Default)]
struct Opened {
    packs: BTreeMap<String, (Arc<Pack>, u64)>,
    num_bytes: usize,
    clock: u64,
}

impl SourcePacks {
    fn opened(&self) -> MutexGuard<'_, Opened> {
        // No method leaves the packs inconsistent, so they can be used after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pack of a key. The error is `NotFound` if the pack does not exist.
    pub(crate) async fn get(&self, blobs: &dyn BlobStore, key: &str) -> Result<Arc<Pack>, QueryError> {
        if let Some(pack) = self.opened().get(key) {
            return Ok(pack);
        }
        let bytes = blobs.get(key).await.map_err(missing_artifact)?;
        let pack = Pack::open(ArtifactKind::SourcePack, bytes).map_err(|error| damaged(key, &error))?;
        let pack = Arc::new(pack);
        self.opened().add(key, &pack);
        Ok(pack)
    }
}

impl Opened {
    fn get(&mut self, key: &str) -> Option<Arc<Pack>> {
        self.clock += 1;
        let (pack, used) = self.packs.get_mut(key)?;
        *used = self.clock;
        Some(Arc::clone(pack))
    }

    fn add(&mut self, key: &str, pack: &Arc<Pack>) {
        self.clock += 1;
        self.num_bytes += pack.size_bytes();
        if let Some((old, _)) = self.packs.insert(key.to_owned(), (Arc::clone(pack), self.clock)) {
            self.num_bytes -= old.size_bytes();
        }
        while self.num_bytes > MAX_BYTES && self.packs.len() > 1 {
            let oldest = self.packs.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            let Some((removed, _)) = oldest.and_then(|key| self.packs.remove(&key)) else { return };
            self.num_bytes -= removed.size_bytes();
        }
    }
}
