use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{
    ArtifactRef, BlobId, ContentHash, DenseVector, EntryKind, GenerationId, Key128, Lane, ManifestEntry, MessageId,
    ModelId, Outcome, PartId, RepoPath, RepositoryId, RepositoryName, RunId, Slot, StageName, Tenant, VectorKey,
};
use cairn_ports::{
    BlobMeta, BlobStore, BlobStoreError, BrokerError, CatalogueError, CatalogueSweep, DeadLetter, DeadLetters,
    ErrorKind, FailureCode, Generations, MaintenanceError, Put, Sought, SweepList, VectorCache, VectorCacheError,
};
use cairn_testkit::{FakeContent, FakeIndex, ManualClock, MemoryBlobs};
use cairn_wire::{Job, Manifest, PartJob, SyncJob};

use super::{GRACE_MS, Sweep};
use crate::artifacts::{Artifacts, facts_key_of};
use crate::pattern_chunk::fixture::pattern;
use crate::pattern_chunk::pattern_chunk;

/// A catalogue with a fixed sweep list. The catalogue records the generations that are reported as swept.
#[derive(Default)]
struct Listed {
    list: SweepList,
    manifests: Vec<(Tenant, ArtifactRef)>,
    at_work: BTreeSet<RepositoryId>,
    swept: Mutex<SweepList>,
}

#[async_trait]
impl CatalogueSweep for Listed {
    async fn sweep_list(&self, _: i64, _: i64) -> Result<SweepList, CatalogueError> {
        Ok(self.list.clone())
    }

    async fn swept(&self, swept: &SweepList, _: i64, _: i64) -> Result<(), CatalogueError> {
        *self.swept.lock().unwrap_or_else(PoisonError::into_inner) = swept.clone();
        Ok(())
    }

    async fn at_work(&self, _: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError> {
        Ok(self.at_work.clone())
    }

    async fn live_manifests(&self, _: i64, _: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError> {
        Ok(self.manifests.clone())
    }
}

/// A store in which one generation cannot be swept.
struct Damaged {
    generation: GenerationId,
    kind: ErrorKind,
}

impl Damaged {
    fn swept(&self, generation: GenerationId) -> Result<(), MaintenanceError> {
        let error = MaintenanceError::new(self.kind, "sweep", generation.to_string());
        if generation == self.generation { Err(error) } else { Ok(()) }
    }
}

#[async_trait]
impl Generations for Damaged {
    async fn sweep_retired(&self, _: RepositoryId, of: &[GenerationId]) -> Result<u64, MaintenanceError> {
        of.iter().try_for_each(|generation| self.swept(*generation))?;
        Ok(0)
    }

    async fn sweep_aborted(&self, _: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        self.swept(aborted).map(|()| 0)
    }

    async fn remove_repository(
        &self,
        _: &Tenant,
        _: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        self.swept(before)
    }

    async fn compact(&self, _: RepositoryId) -> Result<bool, MaintenanceError> {
        Ok(false)
    }

    async fn verify(&self, _: RepositoryId) -> Result<(), MaintenanceError> {
        Ok(())
    }
}

/// A cache that counts its sweeps.
#[derive(Default)]
struct Vectors {
    num_sweeps: Mutex<usize>,
    contents: Mutex<Vec<ContentHash>>,
}

#[async_trait]
impl VectorCache for Vectors {
    async fn get(&self, _: &Tenant, _: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        Ok(Vec::new())
    }

    async fn put(&self, _: &Tenant, _: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
        Ok(())
    }

    async fn sweep(
        &self,
        _: &Tenant,
        is_kept: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        *self.num_sweeps.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let before = contents.len();
        let model = ModelId { name: "m".to_owned(), dimensions: 1 };
        contents.retain(|content| is_kept(&VectorKey { model: model.clone(), content: *content }));
        Ok((before - contents.len()) as u64)
    }
}

fn repository(name: &str) -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name))
}

fn run(generation: u64) -> RunId {
    RunId { repository: repository("r"), generation: GenerationId(generation) }
}

fn sweep(listed: Listed, kind: ErrorKind) -> (Sweep, Arc<Listed>, Arc<Vectors>) {
    let (listed, cache) = (Arc::new(listed), Arc::new(Vectors::default()));
    let index = Arc::new(FakeIndex::empty());
    let sweep = Sweep {
        artifacts: Artifacts::new(Arc::new(MemoryBlobs::new())),
        catalogue: index.clone(),
        sweeping: listed.clone(),
        graph: index,
        clock: Arc::new(ManualClock::new(i64::MAX / 2)),
        cache: cache.clone(),
        stores: vec![Arc::new(Damaged { generation: GenerationId(2), kind })],
        letters: None,
        grace_ms: GRACE_MS,
        unfinished: Mutex::default(),
    };
    (sweep, listed, cache)
}

fn listed() -> Listed {
    let deleted = |name: &str, at| (Tenant::local(), repository(name), GenerationId(at));
    let list = SweepList {
        retired: [1, 2, 3].map(run).to_vec(),
        aborted: [2, 4].map(run).to_vec(),
        deleted: vec![deleted("x", 2), deleted("y", 5)],
    };
    Listed { list, ..Listed::default() }
}

#[tokio::test]
async fn damaged_generation_does_not_delay_others() {
    let (sweep, catalogue, vectors) = sweep(listed(), ErrorKind::Corrupt);
    let error = sweep.generations().await.expect_err("one is damaged");
    assert_eq!(error.code, FailureCode::Corrupt);
    let swept = catalogue.swept.lock().expect("no panic");
    assert_eq!((swept.retired.as_slice(), swept.aborted.as_slice()), (&[run(1), run(3)][..], &[run(4)][..]));
    assert_eq!(swept.deleted, [catalogue.list.deleted[1].clone()]);
    assert_eq!(*vectors.num_sweeps.lock().expect("no panic"), 1, "the vectors of the tenant are swept once");
}

struct Letters(Mutex<Vec<DeadLetter>>);

#[async_trait]
impl DeadLetters for Letters {
    async fn dead_letters(&self, _: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        Ok(self.0.lock().expect("no panic").clone())
    }

    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError> {
        let (mut letters, mut sought) = (self.0.lock().expect("no panic"), Sought::new(ids));
        Ok(letters.extract_if(.., |letter| sought.found(letter.id)).collect())
    }
}

fn letter(job: Option<Job>) -> DeadLetter {
    let id = job.as_ref().map_or(MessageId(Key128([9; 16])), Job::id);
    let (code, message, body) = (FailureCode::Crash, String::new(), String::new());
    let (stage, lane) = (StageName::Parse, Lane::Bulk);
    DeadLetter { id, stage, lane, job, body, code, message, num_failed_attempts: 6, num_unanswered: 0 }
}

fn part(name: &str, generation: u64) -> Option<Job> {
    let run = RunId { repository: repository(name), generation: GenerationId(generation) };
    let plan = ArtifactRef { key: "plans/p".to_owned(), size_bytes: 0, hash: [0; 32] };
    let part = PartId { stage: StageName::Parse, number: 0 };
    Some(Job::Part(PartJob { tenant: Tenant::local(), run, part, plan }))
}

fn sync(name: &str) -> Option<Job> {
    Some(Job::Sync(SyncJob { tenant: Tenant::local(), repository: repository(name), request: 1 }))
}

#[tokio::test]
async fn sweep_removes_dead_letters_older_than_a_deletion() {
    let (mut sweep, ..) = sweep(listed(), ErrorKind::Corrupt);
    let of_the_deleted = [part("y", 4), sync("y"), sync("y")];
    let others = [part("y", 6), part("other", 1), sync("other"), None];
    let all = of_the_deleted.into_iter().chain(others.clone()).map(letter).collect();
    let letters = Arc::new(Letters(Mutex::new(all)));
    sweep.letters = Some(letters.clone());
    sweep.generations().await.expect_err("one is damaged");
    assert_eq!(*letters.0.lock().expect("no panic"), others.map(letter));
}

#[tokio::test]
async fn sweep_removes_orphaned_dead_letters() {
    let (mut sweep, ..) = sweep(Listed::default(), ErrorKind::Corrupt);
    let content = FakeContent::new("kept", "0123456789012345678901234567890123456789");
    sweep.catalogue = Arc::new(FakeIndex::new(vec![content]).await.expect("an index"));
    let kept = [part("kept", 1), sync("kept"), None];
    let all = [sync("gone"), part("gone", 3)].into_iter().chain(kept.clone()).map(letter).collect();
    let letters = Arc::new(Letters(Mutex::new(all)));
    sweep.letters = Some(letters.clone());
    sweep.artifacts().await.expect("swept");
    assert_eq!(*letters.0.lock().expect("no panic"), kept.map(letter));
}

#[tokio::test]
async fn unavailable_store_stops_sweep_but_keeps_progress() {
    let (sweep, catalogue, _) = sweep(listed(), ErrorKind::Unavailable);
    assert_eq!(sweep.generations().await.expect_err("the store is unavailable").code, FailureCode::Unavailable);
    assert_eq!(catalogue.swept.lock().expect("no panic").retired, [run(1)]);
}

#[tokio::test]
async fn artifacts_of_a_repository_with_a_damaged_manifest_are_kept() {
    let damaged = repository("damaged");
    let manifest = ArtifactRef { key: format!("manifests/{damaged}/m"), size_bytes: 3, hash: [0; 32] };
    let listed = Listed { manifests: vec![(Tenant::local(), manifest)], ..Listed::default() };
    let (sweep, _, _) = sweep(listed, ErrorKind::Corrupt);
    let (kept, dead) = (format!("packs/{damaged}/p"), format!("packs/{}/p", repository("other")));
    for key in [&kept, &dead, &format!("manifests/{damaged}/m")] {
        sweep.artifacts.blobs.put(key, Bytes::from_static(b"...")).await.expect("written");
    }
    assert_eq!(sweep.artifacts().await.expect_err("it is damaged").code, FailureCode::Corrupt);
    let left: Vec<String> =
        sweep.artifacts.blobs.list("packs/").await.expect("listed").into_iter().map(|blob| blob.key).collect();
    assert_eq!(left, [kept]);
}

/// During a sync or run, no manifest names the new packs or the new link state yet. These artifacts must be
/// kept even if they are older than the grace period.
#[tokio::test]
async fn running_sync_keeps_artifacts_of_its_repository() {
    let listed = Listed { at_work: [repository("long")].into(), ..Listed::default() };
    let (sweep, _, _) = sweep(listed, ErrorKind::Corrupt);
    for (name, folder) in [("long", "packs"), ("long", "links"), ("idle", "packs")] {
        let key = format!("{folder}/{}/p", repository(name));
        sweep.artifacts.blobs.put(&key, Bytes::from_static(b"...")).await.expect("written");
    }
    assert_eq!(sweep.artifacts().await.expect("swept"), 1);
    assert!(sweep.artifacts.blobs.get(&format!("packs/{}/p", repository("idle"))).await.is_err());
}

#[tokio::test]
async fn damaged_facts_keep_the_vectors() {
    let (mut sweep, _, vectors) = sweep(Listed::default(), ErrorKind::Corrupt);
    let pack = ArtifactRef { key: format!("packs/{}/p", repository("r")), size_bytes: 1, hash: [0; 32] };
    let entry = ManifestEntry {
        path: RepoPath::parse("a").expect("a path"),
        kind: EntryKind::File,
        blob: BlobId([1; 20]),
        size_bytes: 1,
        outcome: Outcome::Indexed(None),
        language: None,
        facts_key: None,
        source: Some(Slot { artifact: pack.clone(), index: 0 }),
        num_secrets: 0,
        num_lines: 1,
        low_weight: false,
        navigation: false,
        tags: Arc::default(),
        changed_at: None,
        module: None,
    };
    let manifest = Manifest { entries: vec![entry], ..Manifest::default() };
    let manifest = sweep.artifacts.put_manifest(repository("r"), manifest.into()).await.expect("written");
    sweep.artifacts.blobs.put(&facts_key_of(&pack), Bytes::from_static(b"no facts")).await.expect("written");
    sweep.sweeping = Arc::new(Listed { manifests: vec![(Tenant::local(), manifest)], ..Listed::default() });
    assert_eq!(sweep.vectors(&Tenant::local()).await.expect("nothing to do"), 0);
    assert_eq!(*vectors.num_sweeps.lock().expect("no panic"), 0);
}

#[tokio::test]
async fn sweep_keeps_vectors_of_the_tenants_own_patterns() {
    let (mut sweep, _, vectors) = sweep(Listed::default(), ErrorKind::Corrupt);
    let own = FakeContent::new("r", "c").pattern(pattern("Importer"));
    let other = Tenant::new("other");
    let others = FakeContent::of(other.clone(), "x", "c").pattern(pattern("Exporter"));
    let index = Arc::new(FakeIndex::new(vec![own, others]).await.expect("an index"));
    (sweep.catalogue, sweep.graph) = (index.clone(), index);
    let content = |name| pattern_chunk(&pattern(name)).expect("it has members").content_hash;
    let both = ["Importer", "Exporter"].map(content);
    for (tenant, kept) in [(Tenant::local(), both[0]), (other, both[1])] {
        *vectors.contents.lock().expect("no panic") = both.to_vec();
        assert_eq!(sweep.vectors(&tenant).await.expect("swept"), 1);
        assert_eq!(*vectors.contents.lock().expect("no panic"), [kept], "{tenant}");
    }
}

#[tokio::test]
async fn artifact_rewritten_during_the_sweep_is_kept() {
    let (mut sweep, ..) = sweep(Listed::default(), ErrorKind::Corrupt);
    let key = format!("packs/{}/p", repository("r"));
    sweep.artifacts = Artifacts::new(Arc::new(PutAgain { inner: MemoryBlobs::new(), num_lists: Mutex::default() }));
    sweep.artifacts.blobs.put(&key, Bytes::from_static(b"...")).await.expect("written");
    assert_eq!(sweep.artifacts().await.expect("swept"), 0);
    assert_eq!(sweep.artifacts.blobs.get(&key).await.expect("it exists"), "...");
}

/// A blob store that simulates a writer: after each listing, the listed objects are written again.
struct PutAgain {
    inner: MemoryBlobs,
    num_lists: Mutex<i64>,
}

#[async_trait]
impl BlobStore for PutAgain {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        self.inner.put(key, bytes).await
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        self.inner.get(key).await
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        self.inner.get_range(key, range).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        let mut found = self.inner.list(prefix).await?;
        let mut num_lists = self.num_lists.lock().unwrap_or_else(PoisonError::into_inner);
        *num_lists += 1;
        found.iter_mut().for_each(|blob| blob.modified_at += *num_lists);
        Ok(found)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        self.inner.delete(key).await
    }
}
