//! Sweeps cached vectors.

use cairn_domain::{ArtifactRef, ContentHash, FileFacts, Scope, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::ErrorClass;
use rustc_hash::FxHashSet;

use super::{Sweep, is_manifest};
use crate::aggregate::published_patterns;
use crate::artifacts::{facts_key_of, slots_by_pack};
use crate::pattern_chunk::pattern_chunk;
use crate::threads::blocking;

impl Sweep {
    /// Removes a cached vector if no live manifest and no published pattern of the tenant refers to its
    /// content. Returns the number of removed vectors. This method reads the facts of all files. If some
    /// facts are damaged, the contents of their files are unknown, and no vector is removed.
    pub async fn vectors(&self, tenant: &Tenant) -> Result<u64, StageError> {
        let contents = match self.contents(tenant).await {
            Err(error) if error.class == ErrorClass::Permanent => {
                tracing::warn!(%tenant, "no cached vectors of the tenant are removed in this sweep: {}", error.chain());
                return Ok(0);
            }
            contents => contents?,
        };
        Ok(self.cache.sweep(tenant, &|key| contents.contains(&key.content)).await?)
    }

    /// Returns the contents that the live manifests and the patterns of a tenant refer to.
    async fn contents(&self, tenant: &Tenant) -> Result<FxHashSet<ContentHash>, StageError> {
        let (mut contents, mut read) = (FxHashSet::default(), FxHashSet::default());
        // Reading the facts of a large tenant takes minutes. The second pass reads the facts that were
        // written during the first pass.
        for _ in 0..2 {
            let manifests = self.sweeping.live_manifests(self.clock.now_ms(), self.grace_ms).await?;
            for (_, reference) in manifests.iter().filter(|(owner, live)| owner == tenant && is_manifest(live)) {
                if !read.contains(&reference.key) && self.contents_of(reference, &mut contents).await? {
                    read.insert(reference.key.clone());
                }
            }
        }
        let view = self.catalogue.view().await?;
        for repository in self.catalogue.repositories(&Scope::all(tenant.clone())).await? {
            let patterns = published_patterns(self.graph.as_ref(), &view, tenant, repository.id).await?;
            contents.extend(patterns.iter().filter_map(pattern_chunk).map(|chunk| chunk.content_hash));
        }
        Ok(contents)
    }

    /// Adds the contents of a manifest. Returns false if some packs have no facts, because an unfinished run
    /// may not have parsed them yet.
    async fn contents_of(
        &self,
        manifest: &ArtifactRef,
        contents: &mut FxHashSet<ContentHash>,
    ) -> Result<bool, StageError> {
        let manifest = match self.artifacts.manifest(manifest).await {
            Err(error) if self.was_removed(manifest, &error).await? => return Ok(true),
            manifest => manifest?,
        };
        let mut is_parsed = true;
        for (pack, slots) in slots_by_pack(&manifest) {
            let Some(mut facts) = self.artifacts.facts_pack(pack).await? else {
                is_parsed = false;
                continue;
            };
            let key = facts_key_of(pack);
            let read = move || {
                let read = slots.into_iter().map(|slot| facts.read::<FileFacts>(slot)).collect::<Result<Vec<_>, _>>();
                read.map_err(|error| StageError::corrupt(&key, &error))
            };
            let chunks = blocking(read).await?.into_iter().flat_map(|facts| facts.chunks);
            contents.extend(chunks.map(|chunk| chunk.content_hash));
        }
        Ok(is_parsed)
    }
}
