//! Answers a search request with one page of results.

use std::collections::BTreeMap;

use cairn_domain::{Digest, Digester, View};
use cairn_ports::ChunkFilter;
use cairn_question::{ParsedQuery, QueryType};
use cairn_ranking::{AnswerRelevance, Cut, RankedHit, estimate_tokens};
use cairn_redaction::Message;

use crate::bounds;
use crate::cursor::{Cursor, expired};
use crate::empty_result::WithoutResults;
use crate::file_page::{FilePage, beginnings_note, beginnings_note_tokens, fit_beside_hits};
use crate::found_files::{FoundFile, FoundFiles};
use crate::prepared_query::PreparedQuery;
use crate::repositories::KnownRepository;
use crate::repository_reasons::reasons;
use crate::shown_hits::{Found, TextLimits};
use crate::strategy::{Asked, Retrieved};
use crate::target::{Target, TargetType};
use crate::{FieldFault, NameNote, NothingFound, QueryError, RepositorySelection, Searcher, Stamp};

/// Number of tokens that introduce the reason for the type of the question.
const TYPE_TOKENS: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchRequest {
    pub query: String,
    pub repositories: RepositorySelection,
    pub filter: ChunkFilter,
    /// The type of the question, if the caller chooses it.
    pub query_type: Option<QueryType>,
    /// Hard limit for the number of results on the page. `None` selects the limit of the question's type.
    pub limit: Option<usize>,
    /// Hard limit for the number of tokens of the page, as `estimate_tokens` counts them. Only the place of
    /// the first result may exceed this limit, because a page without results would have no next page.
    pub max_tokens: usize,
    pub cursor: Option<String>,
    pub target: Target,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SearchAnswer {
    /// How the search interpreted the question.
    pub query: ParsedQuery,
    /// Notes about the names in the question that are not exactly the name of a symbol or the path of a file.
    pub names: Vec<NameNote>,
    /// The files and directories whose names match, if the search looks for files.
    pub files: Vec<FoundFile>,
    /// Whether the files are the results. If so, each page is a page of files, and `found` contains the first
    /// lines of some of these files.
    pub files_are_results: bool,
    /// Sentences with facts about the search that the caller must know.
    pub notes: Vec<Message>,
    pub found: Vec<Found>,
    /// Zero-based position of the first result of the page among all results.
    pub offset: usize,
    /// Number of all results. If the files are the results, this is the number of files; otherwise it is the
    /// number of ranked candidates.
    pub num_results: usize,
    pub cut: Cut,
    /// The cursor of the next page. `None` on the last page.
    pub next_cursor: Option<String>,
    /// The stamps of the repositories with results. If the page has no results, the stamps of the first
    /// repositories that were searched.
    pub stamps: Vec<Stamp>,
    /// Whether the results are relevant to the question. If the results are not relevant, the answer contains
    /// no results.
    pub relevance: AnswerRelevance,
    /// A message. Set if the search has no results, but the same search without filters in all repositories
    /// has results.
    pub hidden_by_scope: Option<String>,
    /// The known reasons why the search has no results. `None` if the search has results.
    pub nothing_found: Option<NothingFound>,
    /// The index version of the repositories that were searched.
    pub index_version: String,
}

/// Maximum number of stamps of an answer without results.
const MAX_STAMPS_OF_EMPTY: usize = 20;
/// The reasons for the repositories use at most the token limit divided by this number.
const REASONS_SHARE: usize = 4;

/// The limits of one page.
#[derive(Clone, Copy)]
struct PageLimits {
    /// Number of results on the previous pages.
    offset: usize,
    limit: usize,
    max_tokens: usize,
}

/// One page of the results.
struct ResultPage {
    files: Vec<FoundFile>,
    files_are_results: bool,
    found: Vec<Found>,
    /// Number of all results.
    num_results: usize,
    /// Number of results on the page.
    num_shown: usize,
    cut: Cut,
}

impl ResultPage {
    /// The start of the next page, if this page begins at `start`. `None` on the last page.
    fn next(&self, start: Cursor) -> Option<Cursor> {
        let end = start.offset as usize + self.num_shown;
        let has_more = end < self.num_results && self.num_shown > 0;
        has_more.then_some(Cursor { offset: end as u64, ..start })
    }
}

/// The view and the position at which a page starts.
struct PageStart {
    view: View,
    /// Number of results on the previous pages.
    offset: usize,
    /// The resolved `since` of the first page. `None` on the first page.
    first_since: Option<i64>,
}

/// Number of tokens of the notes, the reasons and the type of the question.
fn tokens_beside_results(query: &PreparedQuery, notes: &[Message], reasons: &BTreeMap<String, String>) -> usize {
    let texts = notes.iter().map(Message::as_str).chain(reasons.values().map(String::as_str));
    let of_type = estimate_tokens(&query.parsed.reason.to_string()) + TYPE_TOKENS;
    texts.map(estimate_tokens).sum::<usize>() + of_type
}

impl Searcher {
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, QueryError> {
        check(request)?;
        let (question, now_ms) = (question_digest(request), self.clock.now_ms());
        let PageStart { view, offset, first_since } = self.page_start(request, question, now_ms).await?;
        let since = request.filter.since.map(|since| first_since.unwrap_or(since));
        let filter = ChunkFilter { since, ..request.filter.clone() };
        let selected = self.select(&view, &request.repositories).await?;
        let (selected, of_other_models) = match request.target.target_type {
            TargetType::Auto => self.with_this_model(selected)?,
            // Symbols and files are found by their names, not by vectors, so repositories with vectors of a
            // different model are also searched.
            _ => (selected, Vec::new()),
        };
        let asked = Asked {
            text: &request.query,
            forced_type: request.query_type,
            filter: &filter,
            target: &request.target,
            in_all: request.repositories.is_all(),
            limit: request.limit,
            offset,
            now_seconds: now_ms.div_euclid(1000),
            first_since,
        };
        let mut retrieved = self.retrieve_once(view, &asked, &selected).await?;
        retrieved.notes.extend(of_other_models);
        // These notes depend on the caller, so they are not cached.
        let of_others =
            self.notes_of_definitions_elsewhere(&retrieved.query.names.notes, &retrieved.query.view, &selected);
        let of_others = of_others.await?;
        retrieved.notes.extend(of_others);
        let since = since.or(retrieved.since).unwrap_or_default();
        let seq = retrieved.query.view.seq;
        let start = Cursor { question, since, seq, offset: offset as u64, issued_at_ms: now_ms };
        let limit = asked.limit_of(&retrieved.query.parsed);
        self.page_of(request, (&selected, &filter), retrieved, limit, start).await
    }

    /// The page of the retrieved results that begins at `start` and has at most `limit` results.
    async fn page_of(
        &self,
        request: &SearchRequest,
        (selected, filter): (&[KnownRepository], &ChunkFilter),
        retrieved: Retrieved,
        limit: usize,
        start: Cursor,
    ) -> Result<SearchAnswer, QueryError> {
        let Retrieved { query, files, hits, mut notes, relevance, .. } = retrieved;
        let (hits, weak) = if relevance.is_relevant { (hits, Vec::new()) } else { (Vec::new(), hits) };
        let offset = start.offset as usize;
        let of_page: Vec<&RankedHit> = hits.iter().skip(offset).take(limit).collect();
        let reasons = reasons(&query, selected, (&hits, &of_page), request.max_tokens / REASONS_SHARE);
        let max_tokens = request.max_tokens.saturating_sub(tokens_beside_results(&query, &notes, &reasons));
        let limits = PageLimits { offset, limit, max_tokens };
        let page = match files.are_results() {
            true => self.page_of_files(&query, (selected, filter), &files, limits, &mut notes).await?,
            false => self.page_of_hits(&query, selected, (files.files, hits), limits, &mut notes).await?,
        };
        let without_results = WithoutResults { query: &query, selected, filter, weak, relevance: &relevance };
        let (hidden_by_scope, nothing_found) = self.explain_page(request, &page, without_results, max_tokens).await?;
        let stamps = self.stamps_of_page(selected, &page, &reasons).await?;
        Ok(SearchAnswer {
            next_cursor: page.next(start).map(|next| next.seal(self.cursor_key, &self.caller)),
            query: query.parsed,
            names: query.names.notes,
            files: page.files,
            files_are_results: page.files_are_results,
            notes,
            stamps,
            found: page.found,
            offset,
            num_results: page.num_results,
            cut: page.cut,
            relevance,
            hidden_by_scope,
            nothing_found,
            index_version: self.index_version(selected),
        })
    }

    /// The explanation of a search without results, if the page shows nothing: the message about results
    /// outside the scope, and the known reasons.
    async fn explain_page(
        &self,
        request: &SearchRequest,
        page: &ResultPage,
        without_results: WithoutResults<'_>,
        max_tokens: usize,
    ) -> Result<(Option<String>, Option<NothingFound>), QueryError> {
        if page.num_results > 0 || !page.files.is_empty() {
            return Ok((None, None));
        }
        let of_names = without_results.query.names.num_tokens();
        let mut empty = self.explain_empty(without_results, &request.repositories).await?;
        empty.nothing_found.fit(max_tokens.saturating_sub(of_names));
        Ok((empty.hidden_by_scope, Some(empty.nothing_found)))
    }

    /// The stamps of the repositories with results, each with the reason for the repository. If the page has
    /// no results, the stamps of the first repositories that were searched.
    async fn stamps_of_page(
        &self,
        selected: &[KnownRepository],
        page: &ResultPage,
        reasons: &BTreeMap<String, String>,
    ) -> Result<Vec<Stamp>, QueryError> {
        let of_files = page.files.iter().filter(|_| page.files_are_results).map(|file| file.hit.repository);
        let mut used: Vec<_> = page.found.iter().map(|found| found.hit.chunk.repository).chain(of_files).collect();
        if used.is_empty() {
            let published = selected.iter().filter(|known| known.published.is_some());
            used = published.take(MAX_STAMPS_OF_EMPTY).map(|known| known.record.id).collect();
        }
        let mut stamps = self.stamps(selected, &used).await?;
        stamps.iter_mut().for_each(|stamp| stamp.reason = reasons.get(&stamp.repository).cloned());
        Ok(stamps)
    }

    /// A page of ranked hits, and the files that are shown in addition to the hits.
    async fn page_of_hits(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        (mut files, hits): (Vec<FoundFile>, Vec<RankedHit>),
        limits: PageLimits,
        notes: &mut Vec<Message>,
    ) -> Result<ResultPage, QueryError> {
        let PageLimits { offset, limit, max_tokens } = limits;
        let num_results = hits.len();
        let page: Vec<RankedHit> = hits.into_iter().skip(offset).take(limit).collect();
        // The files beside the hits leave at least half of the page to the hits.
        let of_files = if page.is_empty() { max_tokens } else { max_tokens / 2 };
        let (num_tokens, note) = fit_beside_hits(&mut files, of_files);
        notes.extend(note);
        let texts = TextLimits { limit, max_tokens: max_tokens.saturating_sub(num_tokens), shows_first: true };
        let (found, cut) = self.with_texts(query, selected, page, texts).await?;
        let num_left = num_results.saturating_sub(offset + found.len());
        let cut = match cut {
            Cut::Tokens { .. } => Cut::Tokens { num_left },
            Cut::Nothing | Cut::Limit { .. } if num_left > 0 => Cut::Limit { num_left },
            cut => cut,
        };
        Ok(ResultPage { num_shown: found.len(), files, files_are_results: false, found, num_results, cut })
    }

    /// A page of files, with the first lines of some of them.
    async fn page_of_files(
        &self,
        query: &PreparedQuery,
        (selected, filter): (&[KnownRepository], &ChunkFilter),
        all: &FoundFiles,
        limits: PageLimits,
        notes: &mut Vec<Message>,
    ) -> Result<ResultPage, QueryError> {
        let PageLimits { offset, limit, max_tokens } = limits;
        let max_tokens = max_tokens.saturating_sub(beginnings_note_tokens(all.role));
        let of_names = query.names.num_tokens();
        let FilePage { files, cut, num_tokens } = FilePage::of(all, offset, limit, max_tokens.saturating_sub(of_names));
        let beginnings = self.beginnings_of_page(query, filter, &files, all.role).await?;
        let num_beginnings = beginnings.len();
        let texts = TextLimits { limit, max_tokens: max_tokens.saturating_sub(num_tokens), shows_first: false };
        let (found, _) = self.with_texts(query, selected, beginnings, texts).await?;
        if found.len() < num_beginnings {
            let num_left = num_beginnings - found.len();
            notes.push(beginnings_note(num_left));
        }
        let num_results = all.files.len();
        Ok(ResultPage { num_shown: files.len(), files, files_are_results: true, found, num_results, cut })
    }

    /// The start of the requested page. If the request has a cursor, the start is the position in the cursor;
    /// otherwise it is the start of the first page.
    async fn page_start(
        &self,
        request: &SearchRequest,
        question: Digest,
        now_ms: i64,
    ) -> Result<PageStart, QueryError> {
        let Some(text) = &request.cursor else {
            return Ok(PageStart { view: self.catalogue.view().await?, offset: 0, first_since: None });
        };
        let (key, caller) = (self.cursor_key, &self.caller);
        let cursor = match request.filter.since {
            Some(since) => Cursor::open(text, key, caller, (question, since), now_ms)?,
            // A time that the question states in words is part of the text of the question, so it need not be
            // compared separately.
            None => Cursor::open_for(text, key, caller, question, now_ms)?,
        };
        let view = self.catalogue.view_at(cursor.seq).await?.ok_or_else(expired)?;
        let offset = usize::try_from(cursor.offset).unwrap_or(usize::MAX);
        Ok(PageStart { view, offset, first_since: Some(cursor.since) })
    }
}

fn check(request: &SearchRequest) -> Result<(), QueryError> {
    if request.query.trim().is_empty() {
        let message = "`query` is empty; describe what to find, e.g. \"parse http date\"";
        return Err(bounds::invalid(FieldFault::of("query"), message));
    }
    if let Some(limit) = request.limit {
        bounds::number("limit", limit, (1, bounds::MAX_LIMIT))?;
    }
    bounds::query(&request.query)?;
    request.target.check()?;
    let filter = &request.filter;
    let lists =
        [("languages", &filter.languages), ("module_prefixes", &filter.module_prefixes), ("tags", &filter.tags)];
    lists.into_iter().try_for_each(|(field, list)| bounds::words(field, list.iter().map(String::as_str)))?;
    bounds::number_of_globs("paths", filter.paths.len())?;
    filter.paths.iter().try_for_each(|glob| bounds::glob("paths", glob).map(drop))
}

/// A digest of all data that determines the results and their order. The size of a page is not part of the
/// digest. Only the presence of `since` is hashed, because a relative value is resolved to a different time
/// on each call. The cursor contains the resolved time of the first call.
fn question_digest(request: &SearchRequest) -> Digest {
    let SearchRequest { query, repositories, filter, query_type, limit: _, max_tokens: _, cursor: _, target } = request;
    let texts = |digester: Digester, texts: &[String]| digester.list(texts, |digester, text| digester.text(text));
    let digester = Digester::new("question").text(query);
    let digester = digester.option(query_type.map(QueryType::as_str), Digester::text);
    let digester = texts(digester, &repositories.0);
    let digester = texts(texts(digester, &filter.languages), &filter.paths);
    let digester = digester.list(&filter.kinds, |digester, kind| digester.text(kind.as_str()));
    let digester = texts(texts(digester, &filter.module_prefixes), &filter.tags);
    let digester = digester.number(filter.include_tests as u64).number(filter.since.is_some().into());
    target.digest(digester).digest()
}
