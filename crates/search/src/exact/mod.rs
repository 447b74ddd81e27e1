//! Exact search: finds the lines that contain a text or match a regular expression.
//!
//! The results have a total order: by name of the repository, then path, then line. A page continues after
//! the place where the previous page ended, in the view of the first page. The text index rules out most
//! files. The remaining files are read from their source packs and searched.

mod excluded;
mod page;
mod scan;
mod types;

use std::sync::Arc;
use std::time::Instant;

use cairn_domain::{Digest, Digester, RepositoryId, View};
use cairn_exact::{Pattern, PatternError, PatternRequest};
use cairn_ports::ChunkFilter;
use cairn_redaction::Own;

use crate::bounds;
use crate::cursor::{Cursor, expired};
use crate::repositories::KnownRepository;
use crate::{FieldFault, QueryError, Searcher};
use page::{Page, PageLimits};
use scan::{Progress, Scan};
use types::ResumePoint;
pub use types::{ExactAnswer, ExactCut, ExactFile, ExactLine, ExactRequest};

/// Maximum number of hits on a page.
const MAX_LIMIT: usize = 1_000;
/// Maximum number of lines before and after each hit.
const MAX_CONTEXT: usize = 20;
/// The start of a page.
struct PageStart {
    view: View,
    after: Option<ResumePoint>,
    offset: usize,
}

impl Searcher {
    pub async fn exact(&self, request: &ExactRequest) -> Result<ExactAnswer, QueryError> {
        let pattern = check(request)?;
        let started = Instant::now();
        let (question, now_ms) = (question_digest(request), self.clock.now_ms());
        let PageStart { view, after, offset } = self.exact_start(request, question, now_ms).await?;
        let mut selected = self.select(&view, &request.repositories).await?;
        selected.sort_by(|left, right| left.record.name.cmp(&right.record.name));
        let filter = ChunkFilter {
            languages: request.languages.clone(),
            paths: request.paths.clone(),
            include_tests: request.include_tests,
            ..ChunkFilter::default()
        };
        let scan = Scan { searcher: self, view: &view, pattern: Arc::new(pattern), filter: &filter, started };
        let progress = scan.run(&selected, after, request.limit).await?;
        let limits = PageLimits {
            before: request.before,
            after: request.after,
            num_hits: request.limit,
            max_tokens: request.max_tokens,
        };
        let page = Page::of(&scan.pattern, &progress, &limits);
        let is_all_shown = page.num_shown == progress.num_hits;
        let last = if is_all_shown { progress.last_searched.or(page.last) } else { page.last };
        let last = last.or(after);
        let next = Cursor {
            question,
            since: last.map_or(0, |place| place.file.cast_signed()),
            seq: view.seq,
            offset: ((offset + page.num_shown) as u64) << 32 | last.map_or(0, |place| u64::from(place.line)),
            issued_at_ms: now_ms,
        };
        let next = last.map(|_| next.seal(self.cursor_key, &self.caller));
        let is_empty = progress.num_hits == 0 && progress.is_complete && offset == 0;
        let mut answer = self.exact_answer(page, progress, offset, &selected, next).await?;
        if is_empty {
            answer.notes = scan.notes_about_excluded_files(&selected).await?;
        }
        Ok(answer)
    }

    async fn exact_start(
        &self,
        request: &ExactRequest,
        question: Digest,
        now_ms: i64,
    ) -> Result<PageStart, QueryError> {
        let Some(text) = &request.cursor else {
            return Ok(PageStart { view: self.catalogue.view().await?, after: None, offset: 0 });
        };
        let cursor = Cursor::open_for(text, self.cursor_key, &self.caller, question, now_ms)?;
        let view = self.catalogue.view_at(cursor.seq).await?.ok_or_else(expired)?;
        let place = ResumePoint { file: cursor.since.cast_unsigned(), line: cursor.offset as u32 };
        Ok(PageStart { view, after: Some(place), offset: (cursor.offset >> 32) as usize })
    }

    async fn exact_answer(
        &self,
        page: Page,
        progress: Progress,
        offset: usize,
        selected: &[KnownRepository],
        next: Option<String>,
    ) -> Result<ExactAnswer, QueryError> {
        let num_left = progress.num_hits - page.num_shown;
        let cut = match (page.is_cut_by_tokens, num_left > 0, progress.is_complete) {
            (true, ..) => Some(ExactCut::Tokens),
            (false, true, _) => Some(ExactCut::Limit),
            (false, false, false) => Some(ExactCut::Time),
            (false, false, true) => None,
        };
        // A page without hits has a next page only if the time limit ended the search. Otherwise, the path of
        // the next hit alone exceeds the token limit, so a next page would also be empty.
        let has_more = cut.is_some() && (page.num_shown > 0 || cut == Some(ExactCut::Time));
        let used: Vec<RepositoryId> = if page.files.is_empty() {
            selected.iter().map(|known| known.record.id).collect()
        } else {
            page.repositories
        };
        Ok(ExactAnswer {
            files: page.files,
            offset,
            num_shown: page.num_shown,
            num_hits: offset + progress.num_hits,
            num_files: progress.num_files,
            is_exact: progress.is_complete,
            cut,
            is_shortened: page.is_shortened,
            next_cursor: next.filter(|_| has_more),
            notes: Vec::new(),
            stamps: self.stamps(selected, &used).await?,
        })
    }
}

fn check(request: &ExactRequest) -> Result<Pattern, QueryError> {
    bounds::number("limit", request.limit, (1, MAX_LIMIT))?;
    bounds::number("before", request.before, (0, MAX_CONTEXT))?;
    bounds::number("after", request.after, (0, MAX_CONTEXT))?;
    bounds::exact_query(&request.pattern.text)?;
    bounds::words("languages", request.languages.iter().map(String::as_str))?;
    bounds::number_of_globs("paths", request.paths.len())?;
    request.paths.iter().try_for_each(|glob| bounds::glob("paths", glob).map(drop))?;
    Pattern::compile(&request.pattern).map_err(|error| {
        let pattern = Some(request.pattern.text.clone()).filter(|_| request.pattern.is_regex);
        let fault = FieldFault { pattern, ..FieldFault::of("query") };
        let wrong = bounds::invalid(fault, Own(format!("`query`: {error}")));
        match error {
            PatternError::Empty => wrong.hint("pass the text or the expression to find"),
            PatternError::Invalid(_) => wrong.hint("escape the special characters, or search for the text literally"),
            PatternError::LineFeed => wrong.hint("allow matches across lines (`multiline`)"),
            PatternError::TooLarge => wrong,
        }
    })
}

/// A digest of everything that determines the hits and their order.
fn question_digest(request: &ExactRequest) -> Digest {
    let ExactRequest { pattern, repositories, languages, paths, include_tests, .. } = request;
    let PatternRequest { text, is_regex, ignores_case, whole_words, across_lines } = pattern;
    let texts = |digester: Digester, texts: &[String]| digester.list(texts, |digester, text| digester.text(text));
    let digester = Digester::new("exact question").text(text);
    let digester = digester.flag(*is_regex).flag(*ignores_case).flag(*whole_words).flag(*across_lines);
    let digester = texts(texts(texts(digester, &repositories.0), languages), paths);
    digester.number(*include_tests as u64).digest()
}
