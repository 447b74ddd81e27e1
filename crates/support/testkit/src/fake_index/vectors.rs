//! The chunks of a fake index.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, ChunkRecord, RepositoryId, Scope, SparseVector, View};
use cairn_ports::{
    ChunkFilter, ChunkPage, ChunkPlace, ChunkPlaces, ErrorKind, Hit, HitLists, IncludeTests, ListsRequest,
    StagedPoints, Staging, VectorStore, VectorStoreError,
};
use cairn_ranking::{PassageFields, passage_terms};
use globset::GlobBuilder;

use super::{FakeIndex, vector_digest};

/// Whether the chunk matches the filter.
fn fits(filter: &ChunkFilter, chunk: &ChunkRecord) -> bool {
    let any =
        |wanted: &[String], is: &dyn Fn(&str) -> bool| wanted.is_empty() || wanted.iter().any(|wanted| is(wanted));
    let below = |prefix: &str| {
        chunk.module_path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let glob = |pattern: &str| {
        let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() else { return false };
        let matcher = glob.compile_matcher();
        // A pattern without `/` also matches base names.
        matcher.is_match(chunk.path.as_str()) || !pattern.contains('/') && matcher.is_match(chunk.path.file_name())
    };
    any(&filter.languages, &|language| language == chunk.language)
        && (filter.kinds.is_empty() || filter.kinds.contains(&chunk.kind))
        && any(&filter.paths, &glob)
        && any(&filter.module_prefixes, &below)
        && match filter.include_tests {
            IncludeTests::Include => true,
            IncludeTests::Exclude => !chunk.is_test,
            IncludeTests::Only => chunk.is_test,
        }
        && filter.tags.iter().all(|tag| chunk.tags.contains(tag))
        && filter.since.is_none_or(|since| chunk.changed_at.is_none_or(|at| at >= since))
}

impl FakeIndex {
    fn chunks_in<'a>(&'a self, scope: &'a Scope, filter: &'a ChunkFilter) -> impl Iterator<Item = &'a ChunkRecord> {
        self.within(scope).flat_map(|repository| &repository.chunks).filter(|chunk| fits(filter, chunk))
    }
}

pub(super) fn terms_of(chunk: &ChunkRecord) -> SparseVector {
    let symbol = chunk.symbol.as_deref().unwrap_or_default();
    passage_terms(&PassageFields {
        name: symbol.rsplit('.').next().unwrap_or_default(),
        symbol_path: symbol,
        file_path: chunk.path.as_str(),
        header: &chunk.header,
        text: &chunk.text,
    })
}

fn best(mut hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    hits.sort_by_key(|hit| (std::cmp::Reverse(hit.score), hit.repository, hit.key));
    hits.truncate(limit);
    hits
}

#[async_trait]
impl ChunkPlaces for FakeIndex {
    async fn places(
        &self,
        _view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, VectorStoreError> {
        let place = |chunk: &ChunkRecord| ChunkPlace {
            repository: chunk.repository,
            path: chunk.path.clone(),
            span: chunk.span,
            key: chunk.key,
        };
        let mut places: Vec<ChunkPlace> = self.chunks_in(scope, filter).map(place).collect();
        places.sort();
        Ok(places)
    }
}

#[async_trait]
impl VectorStore for FakeIndex {
    async fn stage(&self, staging: &Staging, _: StagedPoints) -> Result<(), VectorStoreError> {
        Err(VectorStoreError::new(ErrorKind::Forbidden, "stage", staging.run.to_string()))
    }

    async fn search(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        lists: ListsRequest<'_>,
    ) -> Result<HitLists, VectorStoreError> {
        let ListsRequest { dense, sparse: (terms, limit), num_records } = lists;
        let equal = |chunk: &ChunkRecord| Hit { repository: chunk.repository, key: chunk.key, score: 1 };
        let dense = dense.map(|(_, limit)| best(self.chunks_in(scope, filter).map(equal).collect(), limit));
        let hit = |chunk: &ChunkRecord| {
            let passage = terms_of(chunk).0;
            let weight = |term: u32| passage.binary_search_by_key(&term, |(term, _)| *term).map(|at| passage[at].1);
            let shared =
                terms.iter().filter_map(|(term, wanted)| Some(i64::from(*wanted) * i64::from(weight(*term).ok()?)));
            Hit { repository: chunk.repository, key: chunk.key, score: shared.sum() }
        };
        let sparse = self.chunks_in(scope, filter).map(hit).filter(|hit| hit.score > 0).collect();
        let lists = HitLists { dense: dense.unwrap_or_default(), sparse: best(sparse, limit), records: Vec::new() };
        let records = self.fetch(view, scope, &lists.first_hits(num_records), false).await?;
        Ok(HitLists { records, ..lists })
    }

    async fn fetch(
        &self,
        _view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError> {
        let all = ChunkFilter::default();
        let mut found = Vec::new();
        for (repository, key) in keys {
            let chunk = self.chunks_in(scope, &all).find(|chunk| chunk.repository == *repository && chunk.key == *key);
            let text = |chunk: &ChunkRecord| if with_text { chunk.text.clone() } else { String::new() };
            found.extend(chunk.map(|chunk| ChunkRecord { text: text(chunk), ..chunk.clone() }));
        }
        Ok(found)
    }

    async fn scroll(
        &self,
        _view: &View,
        scope: &Scope,
        repository: RepositoryId,
        _from: u64,
    ) -> Result<ChunkPage, VectorStoreError> {
        let all = ChunkFilter::default();
        let chunks = self.chunks_in(scope, &all).filter(|chunk| chunk.repository == repository);
        Ok(ChunkPage { chunks: chunks.map(|chunk| (chunk.clone(), vector_digest())).collect(), next: None })
    }

    async fn count(&self, _view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError> {
        Ok(self.chunks_in(scope, filter).count() as u64)
    }
}
