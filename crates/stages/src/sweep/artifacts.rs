//! Sweeps artifacts that no live manifest names.

use std::collections::BTreeSet;

use cairn_domain::{ArtifactRef, RepositoryId, View};
use cairn_pipeline::StageError;
use cairn_ports::{BlobStoreExt, FailureCode};
use rustc_hash::FxHashSet;

use super::failures::Failures;
use super::{Sweep, is_manifest};
use crate::artifacts::{FACTS, FOLDERS, facts_key_of, outlines_key_of};

impl Sweep {
    /// Deletes the artifacts that are older than the grace period and that no live manifest names (mark and
    /// sweep). Returns the number of deleted artifacts.
    ///
    /// This function reads every live manifest. If a manifest of a repository cannot be read, all artifacts
    /// of this repository are kept. Only a superseded manifest may be missing. If a sync or run of a
    /// repository is in progress, all artifacts of the repository are kept too. The reason is that no
    /// manifest names the packs of a sync before its run begins, or the link state of a run before the run
    /// is published.
    pub async fn artifacts(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        // The repositories with a sync or run in progress are read before the manifests. If a run ends
        // between the two reads, the live manifests then include its manifest.
        let in_progress = self.sweeping.at_work(now_ms).await?;
        let manifests = self.sweeping.live_manifests(now_ms, self.grace_ms).await?;
        let mut failures = Failures::default();
        let live = Live { current: manifests.iter().map(|(_, reference)| reference).collect(), old: BTreeSet::new() };
        let deleted = self.dead(live, in_progress, now_ms - self.grace_ms, &mut failures).await?;
        failures.note(&"dead letters", self.orphaned_dead_letters().await);
        if deleted.iter().any(|key| key.starts_with(FACTS)) {
            for tenant in manifests.into_iter().map(|(tenant, _)| tenant).collect::<BTreeSet<_>>() {
                failures.note(&tenant, self.vectors(&tenant).await);
            }
        }
        failures.end(deleted.len() as u64)
    }

    /// Does the same as `artifacts` without a grace period: `views` must therefore contain all views that
    /// readers use, and the newest view. Artifacts younger than `YOUNG_MS` are not deleted, because a sync
    /// that has just begun may refer to them. `repositories` must contain all repositories. This method does
    /// not sweep vectors, because it would have to read the facts of all files.
    pub async fn artifacts_unseen_by(&self, views: &[View], repositories: &[RepositoryId]) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let in_progress = self.sweeping.at_work(now_ms).await?;
        let current = self.sweeping.live_manifests(now_ms, 0).await?;
        let mut seen = Vec::new();
        for view in views {
            seen.extend(self.catalogue.published_of(view, repositories).await?);
        }
        let live = Live {
            current: current.iter().map(|(_, reference)| reference).collect(),
            old: seen.iter().map(|published| &published.manifest).collect(),
        };
        let mut failures = Failures::default();
        let young_ms = YOUNG_MS.min(self.grace_ms);
        let deleted = self.dead(live, in_progress, now_ms - young_ms, &mut failures).await?;
        failures.end(deleted.len() as u64)
    }

    /// Deletes the artifacts that were written before `until_ms` and that no live manifest names. Returns the
    /// keys of the deleted artifacts.
    async fn dead(
        &self,
        manifests: Live<'_>,
        in_progress: BTreeSet<RepositoryId>,
        until_ms: i64,
        failures: &mut Failures,
    ) -> Result<Vec<String>, StageError> {
        let mut unknown: BTreeSet<String> = in_progress.iter().map(ToString::to_string).collect();
        let mut live = FxHashSet::default();
        let current = manifests.current.iter().map(|reference| (*reference, true));
        let old = manifests.old.difference(&manifests.current).map(|reference| (*reference, false));
        for (reference, with_links) in current.chain(old) {
            if failures.note(&reference.key, self.mark(reference, with_links, &mut live).await).is_none() {
                unknown.insert(repository_of(&reference.key).to_owned());
            }
        }
        let mut dead = Vec::new();
        for folder in FOLDERS {
            for blob in self.artifacts.blobs.list(&format!("{folder}/")).await? {
                let is_old = blob.modified_at.saturating_mul(1000) <= until_ms;
                if !is_old || live.contains(&blob.key) || unknown.contains(repository_of(&blob.key)) {
                    continue;
                }
                let deleted = self.artifacts.blobs.delete_listed(&blob).await.map_err(StageError::from);
                if failures.note(&blob.key, deleted) == Some(true) {
                    dead.push(blob.key);
                }
            }
        }
        Ok(dead)
    }

    /// Whether a manifest cannot be read because it is superseded, and a sweep without a grace period has
    /// removed it.
    pub(super) async fn was_removed(&self, manifest: &ArtifactRef, error: &StageError) -> Result<bool, StageError> {
        if error.code != FailureCode::NotFound {
            return Ok(false);
        }
        let current = self.sweeping.live_manifests(self.clock.now_ms(), 0).await?;
        Ok(current.iter().all(|(_, reference)| reference != manifest))
    }

    async fn mark(
        &self,
        reference: &ArtifactRef,
        with_links: bool,
        live: &mut FxHashSet<String>,
    ) -> Result<(), StageError> {
        live.insert(reference.key.clone());
        if !is_manifest(reference) {
            return Ok(());
        }
        let manifest = match self.artifacts.manifest(reference).await {
            // If `with_links` is false, readers use the manifest, so the manifest must exist.
            Err(error) if with_links && self.was_removed(reference, &error).await? => return Ok(()),
            manifest => manifest?,
        };
        live.extend(manifest.terms.iter().map(|layer| layer.key.clone()));
        if let Some(links) = manifest.links.as_ref().filter(|_| with_links)
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

/// The manifests whose artifacts are kept.
struct Live<'a> {
    current: BTreeSet<&'a ArtifactRef>,
    /// Manifests that only readers use. Their link states are not kept, because only the next run reads a
    /// link state.
    old: BTreeSet<&'a ArtifactRef>,
}

/// Without a grace period, only artifacts of at least this age are deleted. A sync that begins during the
/// sweep is safe: it writes its artifacts later, or writes existing artifacts again, which renews their
/// modification time. The age is large enough for stores that round times to seconds.
const YOUNG_MS: i64 = 2_000;

/// Returns the repository of an artifact. A key consists of a folder, a repository and a hash.
fn repository_of(key: &str) -> &str {
    key.split('/').nth(1).unwrap_or_default()
}
