//! Fetches the texts of the hits of a page, and cuts them to the token limit.

use cairn_ranking::{Cut, RankedHit, ShownLines, Via, estimate_tokens, fit, fit_at_least_one, lines_around, via_text};

use crate::chunk_id::id_of_chunk;
use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, name_of};
use crate::{MatchedName, QueryError, Searcher};

/// Maximum size of the text of a hit. A longer text is cut at its end, and the answer reports the number of
/// missing lines.
const MAX_HIT_TOKENS: usize = 1_500;
/// Number of tokens that a hit needs in addition to its text, path and symbol: for line numbers, kind, and
/// fences.
const HIT_OVERHEAD_TOKENS: usize = 30;
/// If a hit follows a pattern, the answer contains the name of the pattern and this number of additional
/// tokens.
const PATTERN_TOKENS: usize = 4;
/// Number of tokens of the words that describe how the name of a hit matches.
const MATCH_TOKENS: usize = 8;
/// If the page contains several hits, at least this many tokens of each hit's text are kept.
const MIN_HIT_TOKENS: usize = 200;

/// One result.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub repository: String,
    pub hit: RankedHit,
    /// The repository name for each place in `hit.also_at`.
    pub also_at_repositories: Vec<String>,
    /// Number of lines at the end of the text that are not shown.
    pub num_lines_cut: usize,
    /// The name of the pattern that the code follows.
    pub follows_pattern: Option<String>,
    /// How the name of the definition matches the requested name. Set if the result was found by its name.
    pub matched: Option<MatchedName>,
}

/// The limits of the texts of a page.
#[derive(Clone, Copy)]
pub(crate) struct TextLimits {
    /// Maximum number of results on the page.
    pub(crate) limit: usize,
    pub(crate) max_tokens: usize,
    /// Whether the first hit is shown even if it does not fit. If so, the whole text of this hit is removed
    /// if necessary.
    pub(crate) shows_first: bool,
}

impl Found {
    /// Number of tokens that a hit needs in addition to its text. The path is counted twice, because the call
    /// that reads the missing lines also contains the path.
    fn overhead(&self) -> usize {
        let Self { hit, follows_pattern, matched, .. } = self;
        let symbol = hit.chunk.symbol.as_deref().or(hit.chunk.heading.as_deref()).map_or(0, estimate_tokens);
        let pattern = follows_pattern.as_deref().map_or(0, |name| estimate_tokens(name) + PATTERN_TOKENS);
        let of_match =
            |matched: &MatchedName| estimate_tokens(&matched.name) + estimate_tokens(&matched.reason) + MATCH_TOKENS;
        let matched = matched.as_ref().map_or(0, of_match);
        let via = via_text(&hit.via).map_or(0, |via| estimate_tokens(&via));
        2 * estimate_tokens(hit.chunk.path.as_str()) + symbol + pattern + matched + via + HIT_OVERHEAD_TOKENS
    }

    /// Removes everything except the place, the symbol and the best edge, if the hit does not fit without its
    /// text.
    fn shorten(&mut self, max_tokens: usize) {
        if self.overhead() > max_tokens {
            self.hit.via.truncate(1);
            self.hit.also_at.clear();
            self.also_at_repositories.clear();
            self.follows_pattern = None;
        }
    }

    /// Cuts the text to `max_tokens`. If the hit has the site of an edge, the text shows this site.
    fn cut_text(&mut self, max_tokens: usize) {
        let hit = &mut self.hit;
        let span = hit.chunk.span;
        let site = hit.via.iter().find_map(Via::line_in_hit).filter(|line| span.contains(*line));
        let site = site.map(|line| (line - span.start) as usize);
        let ShownLines { num_before, text, num_after } = lines_around(&hit.chunk.text, site, max_tokens);
        hit.chunk.span.start += num_before as u32;
        hit.chunk.text = text.to_owned();
        self.num_lines_cut = num_after;
    }
}

impl Searcher {
    /// Fetches the texts of a page, and keeps as many hits as the token limit allows.
    pub(crate) async fn with_texts(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        page: Vec<RankedHit>,
        limits: TextLimits,
    ) -> Result<(Vec<Found>, Cut), QueryError> {
        if page.is_empty() {
            return Ok((Vec::new(), Cut::Nothing));
        }
        let max_tokens = limits.max_tokens.saturating_sub(query.names.num_tokens());
        let mut found = self.found(query, selected, page).await?;
        if let (Some(first), true) = (found.first_mut(), limits.shows_first) {
            first.shorten(max_tokens);
        }
        // If the token limit is small, the page shows the start of several hits instead of the whole text of
        // one hit.
        let share = (2 * max_tokens / limits.limit.max(1)).clamp(MIN_HIT_TOKENS, MAX_HIT_TOKENS);
        for found in &mut found {
            let available = max_tokens.saturating_sub(found.overhead());
            found.cut_text(share.min(available));
        }
        let cost = |found: &Found| estimate_tokens(&found.hit.chunk.text) + found.overhead();
        let costs: Vec<usize> = found.iter().map(cost).collect();
        let fit = if limits.shows_first { fit_at_least_one } else { fit };
        let fit = fit(&costs, found.len(), max_tokens);
        found.truncate(fit.num_taken);
        Ok((found, fit.cut))
    }

    /// The hits with their whole texts.
    async fn found(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        page: Vec<RankedHit>,
    ) -> Result<Vec<Found>, QueryError> {
        let (view, scope) = (&query.view, self.scope_of(selected));
        // If neighbours were added, the call that read the neighbours also read the texts of the hits.
        let without_text = page.iter().filter(|hit| hit.chunk.text.is_empty());
        let texts = self.fetch_texts(view, &scope, without_text.map(|hit| id_of_chunk(&hit.chunk)).collect()).await?;
        let members = self.pattern_members(view, selected, page.iter().map(|hit| hit.chunk.repository)).await?;
        let found = |mut hit: RankedHit| {
            if let Some(chunk) = texts.get(&id_of_chunk(&hit.chunk)) {
                hit.chunk.text.clone_from(&chunk.text);
                hit.chunk.has_secrets = chunk.has_secrets;
            }
            let followed = members.get(&hit.chunk.repository).and_then(|members| members.followed_by(&hit.chunk));
            Found {
                repository: name_of(selected, hit.chunk.repository),
                also_at_repositories: hit.also_at.iter().map(|place| name_of(selected, place.repository)).collect(),
                matched: query.names.matched((hit.chunk.repository, hit.chunk.key)).cloned(),
                follows_pattern: followed.map(str::to_owned),
                num_lines_cut: 0,
                hit,
            }
        };
        Ok(page.into_iter().map(found).collect())
    }
}
