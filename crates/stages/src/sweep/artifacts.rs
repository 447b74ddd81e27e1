//! Sweeps artifacts that no live manifest names.

use std::collections::BTreeSet;

use cairn_domain::ArtifactRef;
use cairn_pipeline::StageError;
use cairn_ports::BlobStoreExt;
use rustc_hash::FxHashSet;

use super::failures::Failures;
use super::{Sweep, is_manifest};
use crate::artifacts::{FACTS, FOLDERS, facts_key_of, outlines_key_of};

impl Sweep {
    /// Deletes the artifacts that no live manifest names and that are older than the grace period (mark and
    /// sweep). Returns the number of deleted artifacts.
    ///
    /// This function reads every live manifest. It keeps all artifacts of a repository with a manifest that
    /// cannot be read. It also keeps all artifacts of a repository with a sync or run in progress. Before a
    /// run begins, no manifest names the packs of its sync. Before a run is published, no manifest names its
    /// link state.
    pub async fn artifacts(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        // The repositories in progress are read before the manifests. If a run ends between the two reads,
        // the live manifests include its manifest.
        let in_progress = self.sweeping.at_work(now_ms).await?;
        let mut unknown: BTreeSet<String> = in_progress.iter().map(ToString::to_string).collect();
        let manifests = self.sweeping.live_manifests(now_ms, self.grace_ms).await?;
        let (mut live, mut failures) = (FxHashSet::default(), Failures::default());
        for (_, reference) in &manifests {
            if failures.note(&reference.key, self.mark(reference, &mut live).await).is_none() {
                unknown.insert(repository_of(&reference.key).to_owned());
            }
        }
        let (mut num_deleted, mut facts_died) = (0, false);
        for folder in FOLDERS {
            for blob in self.artifacts.blobs.list(&format!("{folder}/")).await? {
                let is_old = blob.modified_at.saturating_mul(1000).saturating_add(self.grace_ms) <= now_ms;
                let is_dead = is_old && !live.contains(&blob.key) && !unknown.contains(repository_of(&blob.key));
                if !is_dead {
                    continue;
                }
                let deleted = self.artifacts.blobs.delete_listed(&blob).await.map_err(StageError::from);
                if failures.note(&blob.key, deleted) == Some(true) {
                    num_deleted += 1;
                    facts_died |= folder == FACTS;
                }
            }
        }
        failures.note(&"dead letters", self.orphaned_dead_letters().await);
        if facts_died {
            for tenant in manifests.into_iter().map(|(tenant, _)| tenant).collect::<BTreeSet<_>>() {
                failures.note(&tenant, self.vectors(&tenant).await);
            }
        }
        failures.end(num_deleted)
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
            let state = self.artifacts.link_state(links).await?.unwrap_or_default();
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

/// Returns the repository of an artifact. A key consists of folder, repository and hash.
fn repository_of(key: &str) -> &str {
    key.split('/').nth(1).unwrap_or_default()
}
