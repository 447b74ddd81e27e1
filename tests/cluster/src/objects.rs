//! Compares the objects in the bucket with the references of live records.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use cairn_domain::{ArtifactRef, ContentHash, GenerationId, RepositoryId, RepositoryScope, RunState, Scope, Tenant};
use cairn_ports::{Catalogue, LedgerRead, VectorStore};
use cairn_stages::Sweep;
use cairn_wire::{ArtifactKind, LinkState, decode};

use crate::Inside;

/// The grace period of the sweep. No sync is in progress when the objects are checked, so this period only
/// has to cover the difference between clocks.
const GRACE_MS: i64 = 2_000;
/// If a service is killed while it tests the bucket, its test objects stay in the bucket. A service that
/// starts later removes them when they are this old.
const TESTS_KEPT_MS: i64 = 3_600_000;
/// The maximum number of runs of a repository that are read; no test case starts so many.
const MANY_RUNS: usize = 1000;

/// The bucket of a cluster in which no work is in progress.
pub(crate) struct Objects<'a> {
    inside: &'a Inside,
    sweep: Sweep,
}

/// The objects to which live records refer: the keys of artifacts, and the published generations.
#[derive(Default)]
struct Live {
    keys: BTreeSet<String>,
    published: BTreeSet<(RepositoryId, GenerationId)>,
}

impl<'a> Objects<'a> {
    pub fn new(inside: &'a Inside) -> Self {
        let cluster = &inside.cluster;
        let sweep = Sweep {
            artifacts: cluster.artifacts.clone(),
            catalogue: cluster.runs.clone(),
            sweeping: cluster.runs.clone(),
            graph: cluster.graph.clone(),
            clock: cluster.clock.clone(),
            cache: inside.stores.cache.clone(),
            stores: inside.stores.generations(cluster),
            letters: None,
            grace_ms: GRACE_MS,
            unfinished: Default::default(),
        };
        Self { inside, sweep }
    }

    /// Sweeps the artifacts. Returns the keys of the remaining objects that are old enough and to which no
    /// live record refers.
    pub async fn orphans(&self) -> Result<Vec<String>> {
        self.sweep.artifacts().await?;
        let live = self.live().await?;
        let now_ms = self.inside.cluster.clock.now_ms();
        let is_old = |modified_at: i64, kept_ms: i64| modified_at * 1000 + kept_ms < now_ms;
        let mut orphans = Vec::new();
        for object in self.inside.cluster.blobs.list("").await? {
            let kept_ms = if object.key.starts_with("self-test/") { TESTS_KEPT_MS } else { GRACE_MS };
            if is_old(object.modified_at, kept_ms) && !live.has(&object.key)? {
                orphans.push(object.key);
            }
        }
        Ok(orphans)
    }

    /// The number of objects in the bucket. Fails if a cached vector belongs to no visible chunk after the
    /// sweep.
    pub async fn count(&self) -> Result<usize> {
        let blobs = &self.inside.cluster.blobs;
        self.sweep.vectors(&Tenant::local()).await?;
        let before = blobs.list("").await?.len();
        let seen = self.contents().await?;
        let cache = &self.inside.stores.cache;
        let num_cached = cache.sweep(&Tenant::local(), &|key| seen.contains(&key.content)).await?;
        ensure!(num_cached == 0, "{num_cached} vectors without a chunk were in the cache after sweeping");
        let num_objects = blobs.list("").await?.len();
        ensure!(
            num_objects == before,
            "{} objects contained vectors without a chunk after sweeping",
            before - num_objects
        );
        Ok(num_objects)
    }

    /// The artifacts that readers of the published generations need. Reads each artifact completely to verify
    /// it.
    async fn live(&self) -> Result<Live> {
        let cluster = &self.inside.cluster;
        let (view, repositories) = (cluster.runs.view().await?, cluster.runs.all_repositories().await?);
        let mut live = Live::default();
        for published in cluster.runs.published_of(&view, &repositories).await? {
            cluster.artifacts.verify(&published.manifest).await?;
            self.refer(&published.manifest, &mut live.keys).await?;
        }
        for repository in repositories {
            for run in cluster.runs.runs(Some(repository), MANY_RUNS).await? {
                if matches!(run.state, RunState::Published | RunState::Partial) {
                    live.published.insert((repository, run.id.generation));
                }
            }
        }
        Ok(live)
    }

    async fn refer(&self, manifest: &ArtifactRef, keys: &mut BTreeSet<String>) -> Result<()> {
        let artifacts = &self.inside.cluster.artifacts;
        keys.insert(manifest.key.clone());
        let manifest = artifacts.manifest(manifest).await?;
        if let Some(links) = &manifest.links {
            keys.insert(links.key.clone());
            if let Some(bytes) = artifacts.kept_artifact(links).await? {
                let state: LinkState = decode(ArtifactKind::LinkState, &bytes)?;
                keys.extend(state.groups.into_iter().map(|group| group.key));
            }
        }
        keys.extend(manifest.terms.iter().map(|layer| layer.key.clone()));
        keys.extend(manifest.entries.iter().filter_map(|entry| Some(entry.source.as_ref()?.artifact.key.clone())));
        Ok(())
    }

    /// The content hashes of all visible chunks.
    async fn contents(&self) -> Result<BTreeSet<ContentHash>> {
        let Inside { cluster, stores, .. } = self.inside;
        let view = cluster.runs.view().await?;
        let scope = Scope { tenant: Tenant::local(), repositories: RepositoryScope::All };
        let mut contents = BTreeSet::new();
        for repository in cluster.runs.all_repositories().await? {
            let mut from = Some(0);
            while let Some(at) = from {
                let page = stores.vectors.scroll(&view, &scope, repository, at).await?;
                contents.extend(page.chunks.into_iter().map(|(chunk, _)| chunk.content_hash));
                from = page.next;
            }
        }
        Ok(contents)
    }
}

impl Live {
    fn has(&self, key: &str) -> Result<bool> {
        let (folder, rest) = key.split_once('/').with_context(|| format!("{key} is not in a folder"))?;
        Ok(match folder {
            // An artifact that is derived from a pack is kept as long as the pack.
            "facts" => self.keys.contains(&format!("packs/{rest}")),
            "outlines" => rest.rsplit_once('-').is_some_and(|(pack, _)| self.keys.contains(&format!("packs/{pack}"))),
            "names" | "texts" => self.has_layer(key, rest)?,
            // The keys of these objects are hashes of their contents and refer to no record, so they are not
            // checked here; `count` checks the vectors in these objects.
            "vectors" => true,
            _ => self.keys.contains(key),
        })
    }

    /// Whether a layer of names or texts is live. The layer `REPOSITORY/GENERATION-HASH` is live if the
    /// generation is published. The layer `REPOSITORY/merged-HASH` is live if any generation of the
    /// repository is published.
    fn has_layer(&self, key: &str, rest: &str) -> Result<bool> {
        let (repository, name) = rest.split_once('/').with_context(|| format!("{key} belongs to no repository"))?;
        let of_repository =
            self.published.iter().filter(|(published, _)| published.to_string() == repository).map(|(_, of)| of.0);
        let generation = name.split_once('-').and_then(|(generation, _)| u64::from_str_radix(generation, 16).ok());
        let mut of_repository = of_repository.filter(|published| generation.is_none_or(|named| named == *published));
        Ok(of_repository.next().is_some())
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::RepositoryName;

    use super::*;

    #[test]
    fn derived_objects_are_live_with_their_source() -> Result<()> {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let keys = BTreeSet::from([format!("packs/{repository}/a"), format!("manifests/{repository}/m")]);
        let live = Live { keys, published: BTreeSet::from([(repository, GenerationId(258))]) };
        for (key, expect) in [
            (format!("packs/{repository}/a"), true),
            (format!("packs/{repository}/b"), false),
            (format!("facts/{repository}/a"), true),
            (format!("facts/{repository}/b"), false),
            (format!("outlines/{repository}/a-7"), true),
            (format!("outlines/{repository}/b-7"), false),
            (format!("manifests/{repository}/m"), true),
            (format!("plans/{repository}/m"), false),
            (format!("names/{repository}/0000000000000102-abc"), true),
            (format!("names/{repository}/0000000000000103-abc"), false),
            (format!("names/{repository}/merged-abc"), true),
            ("names/other/merged-abc".to_owned(), false),
            (format!("texts/{repository}/0000000000000102-abc"), true),
            (format!("texts/{repository}/0000000000000103-abc"), false),
        ] {
            assert_eq!(live.has(&key)?, expect, "{key}");
        }
        assert!(live.has("stray").is_err());
        Ok(())
    }
}
