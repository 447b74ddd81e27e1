//! Faults that a test plants in vector stores. Each wrapper adds exactly one fault.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, ChunkRecord, RepositoryId, Scope, View};
use cairn_ports::{
    ChunkFilter, ChunkPage, ChunkPlace, ChunkPlaces, Hit, HitLists, IncludeTests, ListsRequest, StagedPoints, Staging,
    VectorStore, VectorStoreError,
};

use crate::faulty::{Faulty, StoreFault, WithStoreFaults, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Store(StoreFault),
    LosesPoints,
    LosesRetirements,
    IgnoresTests,
    IgnoresSince,
    ReversesHits,
    LosesTheLastHit,
    ShiftsScores,
    SaturatesScores,
    LosesRecordsOfHits,
    ReversesRecordsOfHits,
    AlwaysGivesText,
    FetchesInItsOwnOrder,
    LosesPages,
    RepeatsChunks,
    ReversesPlaces,
}

const ALL: [(&str, Fault, &str); 23] = [
    ("loses a point", Fault::LosesPoints, "staged_chunks_are_visible_once_published"),
    ("loses retirements", Fault::LosesRetirements, "retired_chunks_stay_visible_to_earlier_views"),
    ("ignores the filter on tests", Fault::IgnoresTests, "every_filter_restricts"),
    ("ignores the filter on time", Fault::IgnoresSince, "every_filter_restricts"),
    ("answers hits backwards", Fault::ReversesHits, "dense_scores_are_exact_sums"),
    ("loses the last hit", Fault::LosesTheLastHit, "staged_chunks_are_visible_once_published"),
    ("shifts scores", Fault::ShiftsScores, "dense_scores_are_exact_sums"),
    ("saturates scores at 16 bits", Fault::SaturatesScores, "dense_scores_are_exact_sums"),
    ("loses a record of a hit", Fault::LosesRecordsOfHits, "first_hits_have_records"),
    ("answers records of hits backwards", Fault::ReversesRecordsOfHits, "first_hits_have_records"),
    ("always returns the text", Fault::AlwaysGivesText, "chunks_are_read_as_written"),
    (
        "returns fetched chunks in another order than requested",
        Fault::FetchesInItsOwnOrder,
        "chunks_are_read_as_written",
    ),
    ("loses later pages", Fault::LosesPages, "pages_are_complete"),
    ("answers places backwards", Fault::ReversesPlaces, "places_are_sorted"),
    ("repeats chunks", Fault::RepeatsChunks, "staged_chunks_are_visible_once_published"),
    ("sees staged generations", Fault::Store(StoreFault::SeesStaged), "staged_chunks_are_visible_once_published"),
    ("sees hidden repositories", Fault::Store(StoreFault::SeesHidden), "hidden_repositories_are_invisible"),
    ("ignores the scope", Fault::Store(StoreFault::IgnoresScope), "scope_is_tested_before_limits"),
    ("sweeps nothing", Fault::Store(StoreFault::SweepsNothing), "sweeping_retired_chunks_changes_no_view"),
    ("sweeps visible records", Fault::Store(StoreFault::SweepsTheOpen), "sweeping_retired_chunks_changes_no_view"),
    ("sweeps records in use", Fault::Store(StoreFault::SweepsTheSeen), "sweeping_unseen_chunks_changes_no_used_view"),
    ("keeps aborted records", Fault::Store(StoreFault::KeepsAborted), "sweeping_an_aborted_generation_undoes_it"),
    (
        "removes records that began later",
        Fault::Store(StoreFault::RemovesTooMuch),
        "removing_a_repository_keeps_later_runs",
    ),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn VectorStore>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl Faulty<dyn VectorStore, Fault> {
    fn filter(&self, filter: &ChunkFilter) -> ChunkFilter {
        let mut filter = filter.clone();
        match self.fault {
            Fault::IgnoresTests => filter.include_tests = IncludeTests::Include,
            Fault::IgnoresSince => filter.since = None,
            _ => {}
        }
        filter
    }

    fn hits(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        match self.fault {
            Fault::ReversesHits => hits.reverse(),
            Fault::LosesTheLastHit => drop(hits.pop()),
            Fault::ShiftsScores => hits.iter_mut().for_each(|hit| hit.score += 1),
            Fault::SaturatesScores => {
                hits.iter_mut().for_each(|hit| hit.score = hit.score.clamp(i64::from(i16::MIN), i64::from(i16::MAX)));
            }
            _ => {}
        }
        hits
    }
}

#[async_trait]
impl ChunkPlaces for Faulty<dyn VectorStore, Fault> {
    async fn places(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, VectorStoreError> {
        let mut places = self.inner.places(&self.view(view), &self.scope(scope), &self.filter(filter)).await?;
        if self.fault == Fault::ReversesPlaces {
            places.reverse();
        }
        Ok(places)
    }
}

#[async_trait]
impl VectorStore for Faulty<dyn VectorStore, Fault> {
    async fn stage(&self, staging: &Staging, mut staged: StagedPoints) -> Result<(), VectorStoreError> {
        match self.fault {
            Fault::LosesPoints => drop(staged.points.pop()),
            Fault::LosesRetirements => staged.retired.clear(),
            _ => {}
        }
        self.inner.stage(staging, staged).await
    }

    async fn search(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        lists: ListsRequest<'_>,
    ) -> Result<HitLists, VectorStoreError> {
        let (view, scope, filter) = (self.view(view), self.scope(scope), self.filter(filter));
        let mut lists = self.inner.search(&view, &scope, &filter, lists).await?;
        match self.fault {
            Fault::LosesRecordsOfHits => drop(lists.records.pop()),
            Fault::ReversesRecordsOfHits => lists.records.reverse(),
            _ => {}
        }
        let HitLists { dense, sparse, records } = lists;
        Ok(HitLists { dense: self.hits(dense), sparse: self.hits(sparse), records })
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError> {
        let with_text = with_text || self.fault == Fault::AlwaysGivesText;
        let mut chunks = self.inner.fetch(&self.view(view), &self.scope(scope), keys, with_text).await?;
        if self.fault == Fault::FetchesInItsOwnOrder {
            chunks.sort_by_key(|chunk| chunk.key);
        }
        Ok(chunks)
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError> {
        let mut page = self.inner.scroll(&self.view(view), &self.scope(scope), repository, from).await?;
        match self.fault {
            Fault::LosesPages => {
                page.next = None;
                page.chunks.truncate(1000);
            }
            Fault::RepeatsChunks => page.chunks.extend(page.chunks.first().cloned()),
            _ => {}
        }
        Ok(page)
    }

    async fn count(&self, view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError> {
        self.inner.count(&self.view(view), &self.scope(scope), &self.filter(filter)).await
    }
}
