//! Asks questions of a local index in this process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_local_blobs::LocalBlobs;
use cairn_local_embedding::LocalEmbedder;
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_ports::{Catalogue, ChunkFilter};
use cairn_ranking::Signals;
use cairn_search::{Caller, CursorKey, Found, RepositorySelection, SearchRequest, SearchStores, Searcher, Target};
use cairn_testkit::ManualClock;
use cairn_texts::TextIndex;

use crate::grade::Shown;

/// Number of candidates whose best order is graded.
const CANDIDATES: usize = 100;

/// An open index and the names of its repositories.
pub(crate) struct Index {
    searcher: Searcher,
    /// The name of each repository by the folder of its sources.
    names: BTreeMap<String, String>,
}

/// The answer to one question.
pub(crate) struct Answered {
    /// The places of each result.
    pub(crate) results: Vec<Vec<Shown>>,
    /// The score of the relevance, if it was needed.
    pub(crate) score: Option<i64>,
    pub(crate) took: Duration,
}

impl Index {
    pub(crate) async fn open(home: &Path) -> anyhow::Result<Self> {
        let store = Arc::new(LocalStore::open(home).context("opening the index")?);
        let runs = Arc::new(Metastore::new(store.clone()));
        let blobs = Arc::new(LocalBlobs::open(&home.join("artifacts"))?);
        let stores = SearchStores {
            catalogue: runs.clone(),
            ledger: runs.clone(),
            vectors: Arc::new(SegmentStore::new(home.join("segments"))),
            graph: store,
            names: Arc::new(NameIndex::new(blobs.clone())),
            texts: Arc::new(TextIndex::new(blobs.clone())),
            blobs,
        };
        let embedder = Arc::new(LocalEmbedder::shipped()?);
        let searcher =
            Searcher::new(Caller::local(), stores, embedder, Arc::new(ManualClock::default()), CursorKey([0; 32]));
        let known = searcher.repositories(&runs.view().await?).await?;
        let named = |known: cairn_search::KnownRepository| {
            (known.record.source.location().to_owned(), known.record.name.to_string())
        };
        Ok(Self { searcher, names: known.into_iter().map(named).collect() })
    }

    /// The same index with other parts of the ranking.
    pub(crate) fn with(&self, signals: Signals) -> Self {
        Self { searcher: Searcher { signals, ..self.searcher.clone() }, names: self.names.clone() }
    }

    /// The name of the repository that was indexed from the folder.
    pub(crate) fn name_of(&self, source: &Path) -> anyhow::Result<String> {
        let location = source.to_str().and_then(|source| self.names.get(source));
        location.cloned().with_context(|| format!("{} is not indexed", source.display()))
    }

    /// Asks one question. `within` restricts the search to one repository. Results of other repositories than
    /// `about` have no places, because they cannot be right.
    pub(crate) async fn ask(&self, text: &str, within: Option<&str>, about: &str) -> anyhow::Result<Answered> {
        let request = SearchRequest {
            query: text.to_owned(),
            repositories: RepositorySelection(within.map(str::to_owned).into_iter().collect()),
            filter: ChunkFilter::default(),
            query_type: None,
            limit: Some(CANDIDATES),
            max_tokens: usize::MAX / 4,
            cursor: None,
            target: Target::default(),
        };
        let started = Instant::now();
        let answer = self.searcher.search(&request).await.with_context(|| format!("asking `{text}`"))?;
        let took = started.elapsed();
        let results = answer.found.iter().map(|found| places(found, about)).collect();
        Ok(Answered { results, score: answer.relevance.score, took })
    }
}

/// The places of a result that are in the repository.
fn places(found: &Found, about: &str) -> Vec<Shown> {
    let span_of =
        |path: &str, span: cairn_domain::LineSpan| Shown { path: path.to_owned(), first: span.start, last: span.end };
    let mut places = Vec::new();
    if found.repository == about {
        places.push(span_of(found.hit.chunk.path.as_str(), found.hit.chunk.span));
    }
    for (place, repository) in found.hit.also_at.iter().zip(&found.also_at_repositories) {
        if repository == about {
            places.push(span_of(place.path.as_str(), place.span));
        }
    }
    places
}
