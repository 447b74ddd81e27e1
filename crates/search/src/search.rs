//! A search: from the request to one page of the answer.

use cairn_domain::{Digest, Digester, View};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_ranking::{Cut, QueryWords, RankedHit, TestWeight, estimate_tokens, fit, rank, truncate_lines};

use crate::bounds;
use crate::cursor::{Cursor, expired};
use crate::repositories::KnownRepository;
use crate::{NothingFound, QueryError, QueryErrorCode, RepositorySelection, Searcher, Stamp};

/// Results on a page, at most.
const MAX_LIMIT: usize = 100;
/// A text longer than this is shown from its start, and the rest is said.
const MAX_HIT_TOKENS: usize = 1_500;
/// What a hit costs beside its text, path and symbol: lines, kind, fences.
const HIT_OVERHEAD_TOKENS: usize = 30;
/// No hit is cut shorter than this because others share the page.
const MIN_HIT_TOKENS: usize = 200;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchRequest {
    pub query: String,
    pub repositories: RepositorySelection,
    pub filter: ChunkFilter,
    /// Hard: results on the page.
    pub limit: usize,
    /// Hard: tokens of the page, as `estimate_tokens` counts.
    pub max_tokens: usize,
    pub cursor: Option<String>,
}

/// One result.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub repository: String,
    pub hit: RankedHit,
    /// Name of the repository of each place in `hit.also_at`.
    pub also_at_repositories: Vec<String>,
    /// Lines at the end of the text that are not shown.
    pub num_lines_cut: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SearchAnswer {
    pub found: Vec<Found>,
    /// Position of the first result among all, from 0.
    pub offset: usize,
    /// Candidates that were ranked: how many results there are in all.
    pub num_results: usize,
    pub cut: Cut,
    /// Gets the next page.
    pub next_cursor: Option<String>,
    pub stamps: Vec<Stamp>,
    /// Results that other repositories or test code would have had; shown if there are none here.
    pub hidden_by_scope: Option<String>,
    /// Set if there are no results: what is known about why.
    pub nothing_found: Option<NothingFound>,
    /// Of the repositories that were searched.
    pub index_version: String,
}

impl Searcher {
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, QueryError> {
        check(request)?;
        let question = question_digest(request);
        let now_ms = self.clock.now_ms();
        let mut request = request.clone();
        let (view, offset) = match &request.cursor {
            Some(text) => {
                let asked = (question, request.filter.since.unwrap_or_default());
                let cursor = Cursor::open(text, self.cursor_key, &self.caller, asked, now_ms)?;
                request.filter.since = request.filter.since.map(|_| cursor.since);
                let view = self.catalogue.view_at(cursor.seq).await?.ok_or_else(expired)?;
                (view, usize::try_from(cursor.offset).unwrap_or(usize::MAX))
            }
            None => (self.catalogue.view().await?, 0),
        };
        let request = &request;
        let selected = self.select(&view, &request.repositories).await?;
        self.check_model(&selected)?;
        let ranked = self.ranked(&view, &selected, request).await?;
        let num_results = ranked.len();
        let page: Vec<RankedHit> = ranked.into_iter().skip(offset).take(request.limit.min(MAX_LIMIT)).collect();
        let num_left = num_results.saturating_sub(offset + page.len());
        let page = self.with_definitions(&view, &selected, page).await?;
        let (found, mut cut) = self.with_texts(&view, &selected, page, request).await?;
        if cut == Cut::Nothing && num_left > 0 {
            cut = Cut::Limit { num_left };
        }
        let end = offset + found.len();
        let since = request.filter.since.unwrap_or_default();
        let cursor = Cursor { question, since, seq: view.seq, offset: end as u64, issued_at_ms: now_ms };
        let more = end < num_results && !found.is_empty();
        let (mut hidden_by_scope, mut nothing_found) = (None, None);
        if num_results == 0 {
            hidden_by_scope = self.hidden_by_scope(&view, request).await?;
            nothing_found = Some(self.nothing_found(&view, &selected, request).await?);
        }
        let used: Vec<_> = if found.is_empty() {
            selected.iter().map(|known| known.record.id).collect()
        } else {
            found.iter().map(|found| found.hit.chunk.repository).collect()
        };
        Ok(SearchAnswer {
            stamps: self.stamps(&selected, &used).await?,
            found,
            offset,
            num_results,
            cut,
            next_cursor: more.then(|| cursor.seal(self.cursor_key, &self.caller)),
            hidden_by_scope,
            nothing_found,
            index_version: self.index_version(&selected),
        })
    }

    pub(crate) async fn ranked(
        &self,
        view: &View,
        selected: &[KnownRepository],
        request: &SearchRequest,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let words = QueryWords::of(&request.query);
        let scope = self.scope_since(selected, &request.filter);
        let candidates = self.candidates(view, &scope, &request.filter, &request.query, &words).await?;
        let tests = match request.filter.include_tests {
            IncludeTests::Only => TestWeight::Full,
            IncludeTests::Include | IncludeTests::Exclude => TestWeight::Half,
        };
        Ok(rank(candidates, &words, tests))
    }

    /// Fetches the lines of the definitions that stand among others in their chunks.
    async fn with_definitions(
        &self,
        view: &View,
        selected: &[KnownRepository],
        mut page: Vec<RankedHit>,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let nodes: Vec<_> = page.iter().filter_map(|hit| hit.definition.as_ref()).map(|found| found.node).collect();
        if nodes.is_empty() {
            return Ok(page);
        }
        let nodes = self.graph.nodes(view, &self.scope_of(selected), &nodes).await?;
        for definition in page.iter_mut().filter_map(|hit| hit.definition.as_mut()) {
            let span = nodes.iter().find(|node| node.key == definition.node).and_then(|node| node.span);
            definition.span = span.unwrap_or(definition.span);
        }
        Ok(page)
    }

    /// Fetches the texts of a page and takes as many hits as the budget allows.
    async fn with_texts(
        &self,
        view: &View,
        selected: &[KnownRepository],
        page: Vec<RankedHit>,
        request: &SearchRequest,
    ) -> Result<(Vec<Found>, Cut), QueryError> {
        let scope = self.scope_of(selected);
        let keys: Vec<_> = page.iter().map(|hit| (hit.chunk.repository, hit.chunk.key)).collect();
        let mut texts = self.vectors.fetch(view, &scope, &keys, true).await?.into_iter().peekable();
        let mut found = Vec::with_capacity(page.len());
        // A page of few tokens shows the start of several hits, not the whole of one.
        let share = (2 * request.max_tokens / request.limit.max(1)).clamp(MIN_HIT_TOKENS, MAX_HIT_TOKENS);
        for mut hit in page {
            if let Some(chunk) = texts.next_if(|chunk| chunk.key == hit.chunk.key) {
                hit.chunk.text = chunk.text;
                hit.chunk.has_secrets = chunk.has_secrets;
            }
            let room = request.max_tokens.saturating_sub(overhead(&hit));
            let (shown, num_lines_cut) = truncate_lines(&hit.chunk.text, share.min(room));
            hit.chunk.text = shown.to_owned();
            found.push(Found {
                repository: name_of(selected, hit.chunk.repository),
                also_at_repositories: hit.also_at.iter().map(|place| name_of(selected, place.repository)).collect(),
                hit,
                num_lines_cut,
            });
        }
        let cost = |found: &Found| estimate_tokens(&found.hit.chunk.text) + overhead(&found.hit);
        let costs: Vec<usize> = found.iter().map(cost).collect();
        let fit = fit(&costs, found.len(), request.max_tokens);
        found.truncate(fit.num_taken);
        Ok((found, fit.cut))
    }

    /// Says so if the filters hid everything that there is.
    async fn hidden_by_scope(&self, view: &View, request: &SearchRequest) -> Result<Option<String>, QueryError> {
        if request.repositories.0.is_empty() && request.filter == ChunkFilter::default() {
            return Ok(None);
        }
        let all = self.select(view, &RepositorySelection::default()).await?;
        let wide = SearchRequest { filter: ChunkFilter::default(), ..request.clone() };
        let num_hidden = self.ranked(view, &all, &wide).await?.len();
        Ok((num_hidden > 0).then(|| {
            format!(
                "{num_hidden} results lie outside the repositories and filters given; search without them to see those"
            )
        }))
    }

    fn check_model(&self, selected: &[KnownRepository]) -> Result<(), QueryError> {
        let model = &self.embedder.model().name;
        for known in selected {
            let Some(published) = &known.published else { continue };
            if published.model != *model {
                let message = format!(
                    "repository `{}` was indexed with embedding model `{}`, this build has `{model}`",
                    known.record.name, published.model
                );
                let hint = "index it again (`cairn index`) to build its vectors with this model";
                return Err(QueryError::new(QueryErrorCode::ModelMismatch, message).hint(hint));
            }
        }
        Ok(())
    }
}

/// Tokens that a hit costs beside its text. The path is counted twice: it stands in the call for what was cut, too.
fn overhead(hit: &RankedHit) -> usize {
    let symbol = hit.chunk.symbol.as_deref().map_or(0, estimate_tokens);
    2 * estimate_tokens(hit.chunk.path.as_str()) + symbol + HIT_OVERHEAD_TOKENS
}

pub(crate) fn name_of(selected: &[KnownRepository], id: cairn_domain::RepositoryId) -> String {
    let found = selected.iter().find(|known| known.record.id == id);
    found.map_or_else(|| id.to_string(), |known| known.record.name.to_string())
}

fn check(request: &SearchRequest) -> Result<(), QueryError> {
    let invalid = |message: &str| Err(QueryError::new(QueryErrorCode::ValidationError, message));
    if request.query.trim().is_empty() {
        return invalid("`query` is empty; say what to look for, e.g. \"parse http date\"");
    }
    if request.limit == 0 || request.limit > MAX_LIMIT {
        return invalid("`limit` must lie between 1 and 100");
    }
    bounds::query(&request.query)?;
    let filter = &request.filter;
    let lists = [
        ("languages", &filter.languages),
        ("paths", &filter.paths),
        ("module_prefixes", &filter.module_prefixes),
        ("tags", &filter.tags),
    ];
    lists.into_iter().try_for_each(|(field, list)| bounds::words(field, list.iter().map(String::as_str)))?;
    filter.paths.iter().try_for_each(|glob| bounds::glob("paths", glob).map(drop))
}

/// Everything that decides which results there are and in which order, but not how many fit on a page. Of a moment, whether one is
/// named: which it is moves with the clock where it is so long ago, and the cursor says it.
fn question_digest(request: &SearchRequest) -> Digest {
    let SearchRequest { query, repositories, filter, limit: _, max_tokens: _, cursor: _ } = request;
    let texts = |digester: Digester, texts: &[String]| digester.list(texts, |digester, text| digester.text(text));
    let digester = texts(Digester::new("question").text(query), &repositories.0);
    let digester = texts(texts(digester, &filter.languages), &filter.paths);
    let digester = digester.list(&filter.kinds, |digester, kind| digester.text(kind.as_str()));
    let digester = texts(texts(digester, &filter.module_prefixes), &filter.tags);
    digester.number(filter.include_tests as u64).number(filter.since.is_some().into()).digest()
}
