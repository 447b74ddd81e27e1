//! sweep: removes what no view can see any more, from every store. Takes no input: what is to be swept stands in the
//! catalogue, so a sweep that was stopped is simply done again. Generations cost what is removed of them; artifacts cost
//! a look at every live manifest, and what is younger than the grace stays in any case.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_domain::{ArtifactRef, ContentHash, FileFacts, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::{CatalogueSweep, Clock, Generations, SweepList, VectorCache};
use rustc_hash::FxHashSet;

use crate::artifacts::{Artifacts, facts_key_of, outlines_key_of, slots_by_pack};
use crate::link::link_state;
use crate::sync::blocking;

/// Longer than a cursor lives.
pub const GRACE_MS: i64 = 15 * 60 * 1000;

const FACTS: &str = "facts";
/// Prefixes of artifacts that live while a live manifest names them.
pub(crate) const FOLDERS: [&str; 7] = ["packs", FACTS, "outlines", "manifests", "plans", "links", "patterns"];

pub struct Sweep {
    pub artifacts: Arc<Artifacts>,
    pub sweeping: Arc<dyn CatalogueSweep>,
    pub clock: Arc<dyn Clock>,
    pub cache: Arc<dyn VectorCache>,
    /// Every store with generations.
    pub stores: Vec<Arc<dyn Generations>>,
    /// Since a generation was published; `GRACE_MS` except where nobody can be reading.
    pub grace_ms: i64,
}

impl Sweep {
    /// Removes from the stores what no view can see. Returns how many generations are gone.
    pub async fn generations(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let list = self.sweeping.sweep_list(now_ms, self.grace_ms).await?;
        let mut swept = SweepList { retired: list.retired.clone(), ..SweepList::default() };
        for run in &list.retired {
            for store in &self.stores {
                store.sweep_retired(run.repository, &[run.generation]).await?;
            }
        }
        for run in &list.aborted {
            let mut remaining = 0;
            for store in &self.stores {
                remaining += store.sweep_aborted(run.repository, run.generation).await?;
            }
            if remaining == 0 {
                swept.aborted.push(*run);
            }
        }
        for (tenant, repository, before) in &list.deleted {
            for store in &self.stores {
                store.remove_repository(tenant, *repository, *before).await?;
            }
            swept.deleted.push((tenant.clone(), *repository, *before));
        }
        for tenant in list.deleted.iter().map(|(tenant, ..)| tenant).collect::<BTreeSet<_>>() {
            self.vectors(tenant).await?;
        }
        self.compact(&list).await?;
        self.sweeping.swept(&swept, now_ms, self.grace_ms).await?;
        Ok((swept.retired.len() + swept.aborted.len()) as u64)
    }

    /// What was taken out leaves holes; each store decides whether they are worth moving the rest.
    async fn compact(&self, list: &SweepList) -> Result<(), StageError> {
        let generations = list.retired.iter().chain(&list.aborted).map(|run| run.repository);
        let repositories: BTreeSet<_> = generations.chain(list.deleted.iter().map(|deleted| deleted.1)).collect();
        for repository in repositories {
            for store in &self.stores {
                store.compact(repository).await?;
            }
        }
        Ok(())
    }

    /// Mark and sweep: deletes what no live manifest names, unless it is younger than the grace (a sync that has not
    /// begun its run yet). Returns how many it deleted. Reads every live manifest.
    pub async fn artifacts(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let manifests = self.sweeping.live_manifests(now_ms, self.grace_ms).await?;
        let mut live: FxHashSet<String> = FxHashSet::default();
        for (_, reference) in &manifests {
            self.mark(reference, &mut live).await?;
        }
        let (mut num_deleted, mut facts_died) = (0, false);
        for folder in FOLDERS {
            for blob in self.artifacts.blobs.list(&format!("{folder}/")).await? {
                let is_old = blob.modified_at.saturating_mul(1000).saturating_add(self.grace_ms) <= now_ms;
                if is_old && !live.contains(&blob.key) {
                    self.artifacts.blobs.delete(&blob.key).await?;
                    num_deleted += 1;
                    facts_died |= folder == FACTS;
                }
            }
        }
        if facts_died {
            for tenant in manifests.into_iter().map(|(tenant, _)| tenant).collect::<BTreeSet<_>>() {
                self.vectors(&tenant).await?;
            }
        }
        Ok(num_deleted)
    }

    /// Forgets the vectors of contents that no live manifest of the tenant refers to. Returns how many. Reads the facts
    /// of all files.
    pub async fn vectors(&self, tenant: &Tenant) -> Result<u64, StageError> {
        let manifests = self.sweeping.live_manifests(self.clock.now_ms(), self.grace_ms).await?;
        let own = manifests.iter().filter(|(owner, reference)| owner == tenant && is_manifest(reference));
        let mut contents: FxHashSet<ContentHash> = FxHashSet::default();
        for (_, reference) in own {
            let manifest = self.artifacts.manifest(reference).await?;
            for (pack, slots) in slots_by_pack(&manifest) {
                // A run that is not finished may not have parsed it yet.
                let Some(mut facts) = self.artifacts.facts_pack(pack).await? else { continue };
                let key = facts_key_of(pack);
                let read = move || {
                    let read =
                        slots.into_iter().map(|slot| facts.read::<FileFacts>(slot)).collect::<Result<Vec<_>, _>>();
                    read.map_err(|error| StageError::corrupt(&key, &error))
                };
                let chunks = blocking(read).await?.into_iter().flat_map(|facts| facts.chunks);
                contents.extend(chunks.map(|chunk| chunk.content_hash));
            }
        }
        Ok(self.cache.sweep(tenant, &|key| contents.contains(&key.content)).await?)
    }

    async fn mark(&self, reference: &ArtifactRef, live: &mut FxHashSet<String>) -> Result<(), StageError> {
        live.insert(reference.key.clone());
        if !is_manifest(reference) {
            return Ok(());
        }
        let manifest = self.artifacts.manifest(reference).await?;
        if let Some(links) = &manifest.links
            && live.insert(links.key.clone())
        {
            let state = link_state(&self.artifacts, links).await?.unwrap_or_default();
            live.extend(state.groups.into_iter().map(|group| group.key));
        }
        for slot in manifest.entries.iter().filter_map(|entry| entry.source.as_ref()) {
            if live.insert(slot.artifact.key.clone()) {
                live.insert(facts_key_of(&slot.artifact));
                live.insert(outlines_key_of(&slot.artifact));
            }
        }
        Ok(())
    }
}

/// Plans are listed beside the manifests of unfinished runs; they name no further artifacts than those do.
fn is_manifest(reference: &ArtifactRef) -> bool {
    reference.key.starts_with("manifests/")
}
