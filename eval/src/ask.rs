//! Asks questions about a local index in this process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use cairn_domain::{RepositoryId, Scope, SymbolEntry, Tenant, View};
use cairn_local_blobs::LocalBlobs;
use cairn_local_embedding::{LocalEmbedder, WordTable};
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_ports::{Catalogue, ChunkFilter, Names};
use cairn_ranking::Signals;
use cairn_search::{
    Caller, CodeRequest, CursorKey, Found, QueryErrorCode, RepositorySelection, SearchRequest, SearchStores, Searcher,
    Target, TargetType,
};
use cairn_testkit::ManualClock;
use cairn_texts::TextIndex;

use crate::choices::Way;
use crate::grade::Shown;
use crate::names::last_part;

/// Maximum number of results that are requested; the best order of these results is also graded.
pub(crate) const CANDIDATES: usize = 100;

/// Maximum number of names that are requested from the resolver, nearest first.
const NEAREST: usize = 5;

/// An open index and the names of its repositories.
pub(crate) struct Index {
    searcher: Searcher,
    /// The name of each repository, by the folder of its sources.
    names: BTreeMap<String, String>,
    /// The id of each repository, by its name.
    ids: BTreeMap<String, RepositoryId>,
    symbols: Arc<NameIndex>,
    view: View,
}

/// The kind of answer to a request for a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answered {
    /// The answer reports that the name is absent.
    Absent,
    /// The answer is about a different name, and has a label that reports the difference.
    Labelled,
    /// The answer contains code, and has no label that reports a different name.
    Unlabelled,
}

/// The answer to one question.
pub(crate) struct Ranked {
    /// The places of each result.
    pub(crate) results: Vec<Vec<Shown>>,
    /// The relevance score, if it was computed.
    pub(crate) score: Option<i64>,
    pub(crate) took: Duration,
}

impl Index {
    pub(crate) async fn open(home: &Path) -> anyhow::Result<Self> {
        let store = Arc::new(LocalStore::open(home).context("cannot open the index")?);
        let runs = Arc::new(Metastore::new(store.clone()));
        let blobs = Arc::new(LocalBlobs::open(&home.join("artifacts"))?);
        let symbols = Arc::new(NameIndex::new(blobs.clone()));
        let stores = SearchStores {
            catalogue: runs.clone(),
            ledger: runs.clone(),
            vectors: Arc::new(SegmentStore::new(home.join("segments"))),
            graph: store,
            names: symbols.clone(),
            texts: Arc::new(TextIndex::new(blobs.clone())),
            blobs,
        };
        let (embedder, words) = (Arc::new(LocalEmbedder::shipped()?), Arc::new(WordTable::shipped()?));
        let searcher = Searcher::new(
            Caller::local(),
            stores,
            embedder,
            words,
            Arc::new(ManualClock::default()),
            CursorKey([0; 32]),
        );
        let view = runs.view().await?;
        let known = searcher.repositories(&view).await?;
        let ids = known.iter().map(|known| (known.record.name.to_string(), known.record.id)).collect();
        let named = |known: cairn_search::KnownRepository| {
            (known.record.source.location().to_owned(), known.record.name.to_string())
        };
        Ok(Self { searcher, names: known.into_iter().map(named).collect(), ids, symbols, view })
    }

    /// The same index, with the given parts of the ranking switched on.
    pub(crate) fn with(&self, signals: Signals) -> Self {
        Self {
            searcher: Searcher { signals, ..self.searcher.clone() },
            names: self.names.clone(),
            ids: self.ids.clone(),
            symbols: self.symbols.clone(),
            view: self.view.clone(),
        }
    }

    fn scope(&self, within: Option<&str>) -> Scope {
        match within.and_then(|name| self.ids.get(name)) {
            Some(id) => Scope::only(Tenant::local(), [*id]),
            None => Scope::all(Tenant::local()),
        }
    }

    /// All symbols of a repository.
    pub(crate) async fn symbols(&self, repository: &str) -> anyhow::Result<Vec<SymbolEntry>> {
        let id = *self.ids.get(repository).with_context(|| format!("{repository} is not indexed"))?;
        let (scope, mut symbols, mut from) = (self.scope(Some(repository)), Vec::new(), Some(0));
        while let Some(at) = from {
            let page = self.symbols.scroll(&self.view, &scope, id, at).await?;
            symbols.extend(page.items);
            from = page.next;
        }
        Ok(symbols)
    }

    /// The names that are returned for the requested name, best first, each with the reason why it was
    /// returned.
    pub(crate) async fn names_for(
        &self,
        asked: &str,
        within: Option<&str>,
        way: Way,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let mut names: Vec<(String, String)> = match way {
            Way::Resolver => {
                let hits = self.symbols.resolve(&self.view, &self.scope(within), asked, &[], NEAREST).await?;
                hits.into_iter().map(|hit| (hit.symbol.name, format!("{} {}", hit.score, hit.reasons))).collect()
            }
            Way::Read => self.names_read(asked, within).await?,
            Way::Search => self.names_searched(asked, within, TargetType::Auto).await?,
            Way::Symbol => self.names_searched(asked, within, TargetType::Symbol).await?,
        };
        names.dedup_by(|later, earlier| later.0 == earlier.0);
        Ok(names)
    }

    /// The name that `read_code` shows, then the names that it suggests.
    async fn names_read(&self, asked: &str, within: Option<&str>) -> anyhow::Result<Vec<(String, String)>> {
        let (shown, similar) = match self.searcher.read_code(&code_of(asked, within)).await {
            Ok(code) => {
                let shown = code.symbol.map(|symbol| symbol.name);
                (shown, code.substitution.map_or(Vec::new(), |substitution| substitution.similar))
            }
            Err(error) if error.code == QueryErrorCode::NotFound => (None, error.similar_symbols),
            Err(error) => return Err(error).with_context(|| format!("reading `{asked}`")),
        };
        let shown = shown.into_iter().map(|name| (name, "shown".to_owned()));
        let similar = similar.iter().map(|name| (last_part(name).to_owned(), "suggested".to_owned()));
        Ok(shown.chain(similar).collect())
    }

    /// The names of the definitions that a search shows.
    async fn names_searched(
        &self,
        asked: &str,
        within: Option<&str>,
        target_type: TargetType,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let target = Target { target_type, ..Target::default() };
        let request = SearchRequest { limit: Some(CANDIDATES), target, ..search_of(asked, within) };
        let answer = match self.searcher.search(&request).await {
            Ok(answer) => answer,
            Err(error) if error.code == QueryErrorCode::NotFound => {
                let similar = error.similar_symbols.iter();
                return Ok(similar.map(|name| (last_part(name).to_owned(), "suggested".to_owned())).collect());
            }
            Err(error) => return Err(error).with_context(|| format!("searching `{asked}`")),
        };
        let name = |found: &Found| {
            let defined = found.hit.definition.as_ref().map(|definition| &definition.symbol);
            let symbol = defined.or(found.hit.chunk.symbol.as_ref())?;
            Some((last_part(symbol).to_owned(), found.hit.score.to_string()))
        };
        Ok(answer.found.iter().filter_map(name).collect())
    }

    /// Asks for the code of a name in one repository.
    pub(crate) async fn read(&self, name: &str, repository: &str) -> anyhow::Result<Answered> {
        match self.searcher.read_code(&code_of(name, Some(repository))).await {
            Ok(code) if code.substitution.is_some() => Ok(Answered::Labelled),
            Ok(_) => Ok(Answered::Unlabelled),
            Err(error) if error.code == QueryErrorCode::NotFound => Ok(Answered::Absent),
            Err(error) => Err(error).with_context(|| format!("reading `{name}`")),
        }
    }

    /// Searches for the symbols with a name in one repository. An answer has a label if it contains a note
    /// about the name.
    pub(crate) async fn search_symbol(&self, name: &str, repository: &str) -> anyhow::Result<Answered> {
        let target = Target { target_type: TargetType::Symbol, ..Target::default() };
        match self.searcher.search(&SearchRequest { target, ..search_of(name, Some(repository)) }).await {
            Ok(answer) if answer.found.is_empty() => Ok(Answered::Absent),
            Ok(answer) if answer.names.is_empty() => Ok(Answered::Unlabelled),
            Ok(_) => Ok(Answered::Labelled),
            Err(error) if error.code == QueryErrorCode::NotFound => Ok(Answered::Absent),
            Err(error) => Err(error).with_context(|| format!("searching `{name}`")),
        }
    }

    /// The name of the repository that was indexed from the folder.
    pub(crate) fn name_of(&self, source: &Path) -> anyhow::Result<String> {
        let location = source.to_str().and_then(|source| self.names.get(source));
        location.cloned().with_context(|| format!("{} is not indexed", source.display()))
    }

    /// Asks one question in this process (see `AnswerSource`).
    pub(crate) async fn ask(&self, text: &str, within: Option<&str>, about: &str) -> anyhow::Result<Ranked> {
        let request = SearchRequest { limit: Some(CANDIDATES), ..search_of(text, within) };
        let started = Instant::now();
        let answer = self.searcher.search(&request).await.with_context(|| format!("asking `{text}`"))?;
        let took = started.elapsed();
        let results = answer.found.iter().map(|found| places(found, about)).collect();
        Ok(Ranked { results, score: answer.relevance.score, took })
    }
}

fn code_of(symbol: &str, within: Option<&str>) -> CodeRequest {
    CodeRequest {
        repository: within.map(str::to_owned),
        path: None,
        symbol: Some(symbol.to_owned()),
        context_path: None,
        lines: None,
        max_tokens: 1_000,
    }
}

fn search_of(query: &str, within: Option<&str>) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        repositories: RepositorySelection(within.map(str::to_owned).into_iter().collect()),
        filter: ChunkFilter::default(),
        query_type: None,
        limit: None,
        max_tokens: usize::MAX / 4,
        cursor: None,
        target: Target::default(),
    }
}

/// The places of a result that are in the repository `about`.
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
