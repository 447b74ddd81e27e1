//! sweep: removes what no view can see any more, from every store. Takes no input: what is to be swept stands in the
//! catalogue, so a sweep that was stopped is simply done again. Generations cost what is removed of them; artifacts cost
//! a look at every live manifest, and what is younger than the grace stays in any case.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use cairn_domain::{ArtifactRef, ContentHash, FileFacts, GenerationId, MessageId, RepositoryId, RunId, Scope, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::{
    BlobStoreExt, Catalogue, CatalogueSweep, Clock, DeadLetters, ErrorClass, Generations, GraphStore, SweepList,
    VectorCache,
};
use cairn_wire::Job;
use rustc_hash::FxHashSet;

use crate::aggregate::published_patterns;
use crate::artifacts::{Artifacts, facts_key_of, outlines_key_of, slots_by_pack};
use crate::embed_patterns::pattern_chunk;
use crate::link::link_state;
use crate::sync::blocking;

/// Longer than a cursor lives.
pub const GRACE_MS: i64 = 15 * 60 * 1000;

const FACTS: &str = "facts";
/// Prefixes of artifacts that live while a live manifest names them.
pub(crate) const FOLDERS: [&str; 7] = ["packs", FACTS, "outlines", "manifests", "plans", "links", "patterns"];

pub struct Sweep {
    pub artifacts: Arc<Artifacts>,
    pub catalogue: Arc<dyn Catalogue>,
    pub sweeping: Arc<dyn CatalogueSweep>,
    pub graph: Arc<dyn GraphStore>,
    pub clock: Arc<dyn Clock>,
    pub cache: Arc<dyn VectorCache>,
    /// Every store with generations.
    pub stores: Vec<Arc<dyn Generations>>,
    /// Where jobs that were given up are kept. None where none are.
    pub letters: Option<Arc<dyn DeadLetters>>,
    /// Since a generation was published; `GRACE_MS` except where nobody can be reading.
    pub grace_ms: i64,
}

impl Sweep {
    /// Removes from the stores what no view can see. Returns how many generations are gone. What cannot be removed stays on
    /// the list and holds up nothing else; the error is the first of all.
    pub async fn generations(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let list = self.sweeping.sweep_list(now_ms, self.grace_ms).await?;
        let (mut swept, mut failures) = (SweepList::default(), Failures::default());
        for run in &list.retired {
            if failures.is_away {
                break;
            }
            if failures.note(run, self.retired(*run).await).is_some() {
                swept.retired.push(*run);
            }
        }
        for run in &list.aborted {
            if failures.is_away {
                break;
            }
            if failures.note(run, self.aborted(*run).await) == Some(0) {
                swept.aborted.push(*run);
            }
        }
        let tenants: BTreeSet<&Tenant> = list.deleted.iter().map(|(tenant, ..)| tenant).collect();
        let mut removed = Vec::new();
        for deleted in &list.deleted {
            if failures.is_away {
                break;
            }
            if failures.note(&deleted.1, self.deleted(deleted).await).is_some() {
                removed.push(deleted.clone());
            }
        }
        // Without a look at them a deletion is not forgotten.
        if failures.is_away || failures.note(&"dead letters", self.dead_letters(&removed).await).is_none() {
            removed.clear();
        }
        for tenant in tenants {
            if failures.note(&tenant, self.vectors(tenant).await).is_some() {
                swept.deleted.extend(removed.iter().filter(|(owner, ..)| owner == tenant).cloned());
            }
        }
        self.compact(&list, &mut failures).await;
        self.sweeping.swept(&swept, now_ms, self.grace_ms).await?;
        failures.end((swept.retired.len() + swept.aborted.len()) as u64)
    }

    async fn retired(&self, run: RunId) -> Result<(), StageError> {
        for store in &self.stores {
            store.sweep_retired(run.repository, &[run.generation]).await?;
        }
        Ok(())
    }

    /// Returns how many records still name it.
    async fn aborted(&self, run: RunId) -> Result<u64, StageError> {
        let mut remaining = 0;
        for store in &self.stores {
            remaining += store.sweep_aborted(run.repository, run.generation).await?;
        }
        Ok(remaining)
    }

    async fn deleted(&self, (tenant, repository, before): &Deleted) -> Result<(), StageError> {
        for store in &self.stores {
            store.remove_repository(tenant, *repository, *before).await?;
        }
        Ok(())
    }

    /// Nobody will decide about what was given up before a deletion, and what it tells is a trace of what was deleted.
    async fn dead_letters(&self, deleted: &[Deleted]) -> Result<(), StageError> {
        let Some(kept) = self.letters.as_ref().filter(|_| !deleted.is_empty()) else { return Ok(()) };
        let mut dead = Vec::new();
        for letter in kept.dead_letters(usize::MAX).await? {
            let Some(job) = &letter.job else { continue };
            let Some((tenant, repository, before)) = deleted.iter().find(|deleted| deleted.1 == job.repository())
            else {
                continue;
            };
            let is_dead = match job {
                Job::Part(job) => job.run.generation < *before,
                // Of which life of the repository it is only a deletion without another life tells.
                Job::Sync(_) => {
                    let scope = Scope::only(tenant.clone(), [*repository]);
                    self.catalogue.repositories(&scope).await?.is_empty()
                }
            };
            if is_dead {
                dead.push(letter.id);
            }
        }
        if !dead.is_empty() {
            kept.take(&dead).await?;
        }
        Ok(())
    }

    /// Takes the dead letters of repositories that are not there: somebody looked at them, and so kept them from the sweep, when the
    /// deletion was forgotten.
    async fn orphaned_dead_letters(&self) -> Result<(), StageError> {
        let Some(kept) = &self.letters else { return Ok(()) };
        let letters = kept.dead_letters(usize::MAX).await?;
        let jobs = || letters.iter().filter_map(|letter| Some((letter.id, letter.job.as_ref()?)));
        let mut known = FxHashSet::default();
        for tenant in jobs().map(|(_, job)| job.tenant()).collect::<BTreeSet<_>>() {
            let registered = self.catalogue.repositories(&Scope::all(tenant.clone())).await?;
            known.extend(registered.into_iter().map(|record| record.id));
        }
        let of_nobody = jobs().filter(|(_, job)| !known.contains(&job.repository()));
        let dead: Vec<MessageId> = of_nobody.map(|(id, _)| id).collect();
        if !dead.is_empty() {
            kept.take(&dead).await?;
        }
        Ok(())
    }

    /// What was taken out leaves holes; each store decides whether they are worth moving the rest.
    async fn compact(&self, list: &SweepList, failures: &mut Failures) {
        let generations = list.retired.iter().chain(&list.aborted).map(|run| run.repository);
        let repositories: BTreeSet<_> = generations.chain(list.deleted.iter().map(|deleted| deleted.1)).collect();
        for repository in repositories {
            for store in &self.stores {
                if failures.is_away {
                    return;
                }
                let compacted = store.compact(repository).await.map_err(StageError::from);
                failures.note(&repository, compacted);
            }
        }
    }

    /// Mark and sweep: deletes what no live manifest names, unless it is younger than the grace. Returns how many it deleted. Reads
    /// every live manifest; of a repository with one that cannot be read everything stays, and of one that somebody is at work
    /// for: the packs of a long sync are named when its run begins, the link state of a run when it is published.
    pub async fn artifacts(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        // Asked before the manifests are: what ends in between has its manifest among them.
        let at_work = self.sweeping.at_work(now_ms).await?;
        let mut unknown: BTreeSet<String> = at_work.iter().map(ToString::to_string).collect();
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

    /// Forgets the vectors of contents that neither a live manifest nor a published pattern of the tenant refers to. Returns how
    /// many. Reads the facts of all files; where some are damaged or gone nobody knows what they refer to, and all vectors stay.
    pub async fn vectors(&self, tenant: &Tenant) -> Result<u64, StageError> {
        let contents = match self.contents(tenant).await {
            Err(error) if error.class == ErrorClass::Permanent => {
                tracing::warn!(%tenant, "its vectors are kept: {}", error.chain());
                return Ok(0);
            }
            contents => contents?,
        };
        Ok(self.cache.sweep(tenant, &|key| contents.contains(&key.content)).await?)
    }

    /// What the live manifests and the patterns of a tenant refer to.
    async fn contents(&self, tenant: &Tenant) -> Result<FxHashSet<ContentHash>, StageError> {
        let (mut contents, mut read) = (FxHashSet::default(), FxHashSet::default());
        // Facts of a large tenant take minutes to read: what was begun and parsed meanwhile is read after them.
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

    /// False if some of its packs have no facts: a run that is not finished may not have parsed them yet.
    async fn contents_of(
        &self,
        manifest: &ArtifactRef,
        contents: &mut FxHashSet<ContentHash>,
    ) -> Result<bool, StageError> {
        let manifest = self.artifacts.manifest(manifest).await?;
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

/// Of an artifact: keys are a folder, the repository, a hash.
fn repository_of(key: &str) -> &str {
    key.split('/').nth(1).unwrap_or_default()
}

type Deleted = (Tenant, RepositoryId, GenerationId);

/// Goes on after failures, and remembers the first.
#[derive(Default)]
struct Failures {
    first: Option<StageError>,
    /// A store is not there: it would fail each time, and take its time.
    is_away: bool,
}

impl Failures {
    fn note<T>(&mut self, what: &(dyn Display + Sync), outcome: Result<T, StageError>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(what = %what, code = error.code, "not swept: {}", error.chain());
                self.is_away |= matches!(error.class, ErrorClass::Pause { .. });
                self.first.get_or_insert(error);
                None
            }
        }
    }

    fn end<T>(self, value: T) -> Result<T, StageError> {
        self.first.map_or(Ok(value), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::{Mutex, PoisonError};

    use async_trait::async_trait;
    use bytes::Bytes;
    use cairn_domain::{
        BlobId, DenseVector, EntryKind, Key128, Lane, ManifestEntry, ModelId, Outcome, PartId, RepoPath,
        RepositoryName, Slot, StageName, VectorKey,
    };
    use cairn_ports::{
        BlobMeta, BlobStore, BlobStoreError, BrokerError, CatalogueError, DeadLetter, ErrorKind, MaintenanceError, Put,
        Sought, VectorCacheError,
    };
    use cairn_testkit::{FakeContent, FakeIndex, ManualClock, MemoryBlobs};
    use cairn_wire::{Manifest, PartJob, SyncJob};

    use super::*;
    use crate::embed_patterns::fixture::pattern;

    /// A catalogue with a list, and what it was told to be swept.
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

    /// A store in which one generation is damaged.
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

        async fn compact(&self, _: RepositoryId) -> Result<(), MaintenanceError> {
            Ok(())
        }

        async fn verify(&self, _: RepositoryId) -> Result<(), MaintenanceError> {
            Ok(())
        }
    }

    /// Counts how often it is swept; holds contents.
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
    async fn what_is_damaged_holds_up_nothing_else() {
        let (sweep, catalogue, vectors) = sweep(listed(), ErrorKind::Corrupt);
        let error = sweep.generations().await.expect_err("one is damaged");
        assert_eq!(error.code, "corrupt");
        let swept = catalogue.swept.lock().expect("no panic");
        assert_eq!((swept.retired.as_slice(), swept.aborted.as_slice()), (&[run(1), run(3)][..], &[run(4)][..]));
        assert_eq!(swept.deleted, [catalogue.list.deleted[1].clone()]);
        assert_eq!(*vectors.num_sweeps.lock().expect("no panic"), 1, "once for the tenant");
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
        let (code, message, body) = ("poison".to_owned(), String::new(), String::new());
        let (stage, lane) = (StageName::Parse, Lane::Bulk);
        DeadLetter { id, stage, lane, job, body, code, message, num_failed_attempts: 6 }
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
    async fn what_was_given_up_before_a_deletion_is_forgotten() {
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
    async fn orphaned_dead_letters_are_removed_with_artifacts() {
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
    async fn a_store_that_is_away_is_asked_no_further_and_what_was_swept_is_told() {
        let (sweep, catalogue, _) = sweep(listed(), ErrorKind::Unavailable);
        assert_eq!(sweep.generations().await.expect_err("it is away").code, "unavailable");
        assert_eq!(catalogue.swept.lock().expect("no panic").retired, [run(1)]);
    }

    #[tokio::test]
    async fn of_a_repository_with_a_damaged_manifest_all_stays_and_of_others_only_what_lives() {
        let damaged = repository("damaged");
        let manifest = ArtifactRef { key: format!("manifests/{damaged}/m"), size_bytes: 3, hash: [0; 32] };
        let listed = Listed { manifests: vec![(Tenant::local(), manifest)], ..Listed::default() };
        let (sweep, _, _) = sweep(listed, ErrorKind::Corrupt);
        let (kept, dead) = (format!("packs/{damaged}/p"), format!("packs/{}/p", repository("other")));
        for key in [&kept, &dead, &format!("manifests/{damaged}/m")] {
            sweep.artifacts.blobs.put(key, Bytes::from_static(b"...")).await.expect("written");
        }
        assert_eq!(sweep.artifacts().await.expect_err("it is damaged").code, "corrupt");
        let left: Vec<String> =
            sweep.artifacts.blobs.list("packs/").await.expect("listed").into_iter().map(|blob| blob.key).collect();
        assert_eq!(left, [kept]);
    }

    /// A sync that takes longer than the grace has packs that nothing names yet, a run a link state.
    #[tokio::test]
    async fn of_a_repository_that_somebody_is_at_work_for_all_stays() {
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
            tags: Vec::new(),
            changed_at: None,
            module: None,
        };
        let manifest = Manifest { entries: vec![entry], ..Manifest::default() };
        let manifest = sweep.artifacts.put_manifest(repository("r"), manifest).await.expect("written");
        sweep.artifacts.blobs.put(&facts_key_of(&pack), Bytes::from_static(b"no facts")).await.expect("written");
        sweep.sweeping = Arc::new(Listed { manifests: vec![(Tenant::local(), manifest)], ..Listed::default() });
        assert_eq!(sweep.vectors(&Tenant::local()).await.expect("nothing to do"), 0);
        assert_eq!(*vectors.num_sweeps.lock().expect("no panic"), 0);
    }

    #[tokio::test]
    async fn vectors_of_patterns_stay_while_the_tenant_has_them() {
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
    async fn an_artifact_that_is_put_again_while_the_sweep_goes_on_stays() {
        let (mut sweep, ..) = sweep(Listed::default(), ErrorKind::Corrupt);
        let key = format!("packs/{}/p", repository("r"));
        sweep.artifacts = Artifacts::new(Arc::new(PutAgain { inner: MemoryBlobs::new(), num_lists: Mutex::default() }));
        sweep.artifacts.blobs.put(&key, Bytes::from_static(b"...")).await.expect("written");
        assert_eq!(sweep.artifacts().await.expect("swept"), 0);
        assert_eq!(sweep.artifacts.blobs.get(&key).await.expect("it is there"), "...");
    }

    /// Objects that somebody puts once more after each time that they are listed.
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
}
