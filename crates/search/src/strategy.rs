//! Retrieves the hits of a question with the strategy of its type.

use std::collections::BTreeSet;

use cairn_domain::{ChunkKind, ChunkRecord, View};
use cairn_ports::ChunkFilter;
use cairn_question::{ParseOptions, ParsedQuery, QueryType, Since, Synonyms};
use cairn_ranking::{AnswerRelevance, RankedHit, Signal};
use cairn_redaction::{Message, Phrase, quoted};

use crate::bounds::MAX_LIMIT;
use crate::flow_ends::is_about_module;
use crate::found_files::FoundFiles;
use crate::neighbours::Extension;
use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, without};
use crate::repository_reasons::left_out_note;
use crate::retrieve::Ranked;
use crate::stated_filters::{Stated, overridden, with_stated};
use crate::target::{Target, TargetType, Targeted};
use crate::{QueryError, Searcher};
use crate::{documented, pattern_index};

/// The question and the options of the caller.
pub(crate) struct Asked<'a> {
    /// The whole question, which may be long. Retrieval uses the text of [`ParsedQuery`], which is cut.
    pub(crate) text: &'a str,
    /// The type that the caller chose.
    pub(crate) forced_type: Option<QueryType>,
    pub(crate) filter: &'a ChunkFilter,
    pub(crate) target: &'a Target,
    /// Whether all repositories are searched, because the caller selected none. If so, repositories that are
    /// unrelated to the question are left out.
    pub(crate) in_all: bool,
    /// `None` selects the limit of the type.
    pub(crate) limit: Option<usize>,
    /// Number of results on the previous pages.
    pub(crate) offset: usize,
    /// The time at which the question was asked, in seconds since 1970.
    pub(crate) now_seconds: i64,
    /// On later pages, the resolved `since` of the first page.
    pub(crate) first_since: Option<i64>,
}

impl Asked<'_> {
    pub(crate) fn resolve(&self, since: Since) -> i64 {
        self.first_since.unwrap_or_else(|| since.earliest_second(self.now_seconds))
    }

    /// The number of results on a page.
    pub(crate) fn limit_of(&self, parsed: &ParsedQuery) -> usize {
        self.limit.unwrap_or(parsed.strategy.limit as usize).min(MAX_LIMIT)
    }

    /// Whether the question asks for code in general, instead of a symbol or a file.
    fn is_about_code(&self) -> bool {
        self.target.target_type == TargetType::Auto
    }
}

/// The ranked hits of a question.
#[derive(Clone)]
pub(crate) struct Retrieved {
    pub(crate) query: PreparedQuery,
    /// The files and directories whose names match, if the search looks for files.
    pub(crate) files: FoundFiles,
    /// The hits. The hits of the page and those of the second stage contain their texts.
    pub(crate) hits: Vec<RankedHit>,
    /// The resolved time, if the question states a restriction such as "since yesterday".
    pub(crate) since: Option<i64>,
    /// Facts about the retrieval that the caller must know.
    pub(crate) notes: Vec<Message>,
    pub(crate) relevance: AnswerRelevance,
    /// Whether the filter excludes all code that has the requested relation to a name.
    hides_related: bool,
}

impl Searcher {
    /// Interprets the question and retrieves its hits. Filters that the question states in words are applied.
    /// If nothing relevant matches these filters, the filters are dropped, and the whole text of the question
    /// is searched. The text without the filters and the whole text are prepared in one step.
    pub(crate) async fn retrieve(
        &self,
        view: View,
        asked: &Asked<'_>,
        selected: &[KnownRepository],
    ) -> Result<Retrieved, QueryError> {
        let mut notes = Vec::new();
        let (parsed, patterns) = self.read(&view, asked, selected, &mut notes).await?;
        let since = parsed.filters.since.map(|since| asked.resolve(since));
        let stated = self.stated(asked, &parsed, since, &mut notes);
        let restricted = stated.as_ref().map(|_| parsed.text_without_filters.as_str());
        let (whole, restricted) =
            self.prepared_with_names(&view, (asked, selected), (&parsed, restricted), &patterns).await?;
        let (Some(stated), Some(restricted)) = (stated, restricted) else {
            return self.search_for(whole, asked, selected, (asked.filter, notes)).await;
        };
        let words = phrases(&stated.words);
        let mut of_attempt = notes.clone();
        of_attempt.push(Message::from("The question restricts the results: ").and(words.clone()).and("."));
        let mut found = self.search_for(restricted, asked, selected, (&stated.filter, of_attempt)).await?;
        if answers(&found) {
            found.notes.extend(hidden_pattern(&patterns, &found.hits));
            return Ok(Retrieved { since, ..found });
        }
        let mut found = self.search_for(whole, asked, selected, (asked.filter, notes)).await?;
        if answers(&found) {
            let note = Message::from("Nothing matches the restrictions in the question, so they are ignored: ");
            found.notes.push(note.and(words).and("."));
        }
        Ok(Retrieved { since, ..found })
    }

    /// Prepares the whole text of the question, and the text without the words that state filters. Resolves
    /// the names in the question at the same time.
    async fn prepared_with_names(
        &self,
        view: &View,
        (asked, selected): (&Asked<'_>, &[KnownRepository]),
        (parsed, restricted): (&ParsedQuery, Option<&str>),
        patterns: &[ChunkRecord],
    ) -> Result<(PreparedQuery, Option<PreparedQuery>), QueryError> {
        let (scope, near_path) = (self.scope_of(selected), &asked.target.context_path);
        let ((whole, restricted), names) = tokio::try_join!(
            self.prepare(view, selected, parsed, (&parsed.text, restricted), asked.is_about_code()),
            self.names_in(view, (&scope, selected), (parsed, &parsed.text), near_path.as_deref())
        )?;
        let complete = |query| PreparedQuery {
            patterns: patterns.to_vec(),
            names: names.clone(),
            near_path: near_path.clone(),
            ..query
        };
        Ok((complete(whole), restricted.map(complete)))
    }

    /// The filters that a question for code states in words, together with the filter of the caller. A kind
    /// in the question restricts the code that follows a pattern, not the pattern itself.
    fn stated(
        &self,
        asked: &Asked<'_>,
        parsed: &ParsedQuery,
        since: Option<i64>,
        notes: &mut Vec<Message>,
    ) -> Option<Stated> {
        if !asked.is_about_code() || !self.signals.has(Signal::StatedFilters) {
            return None;
        }
        let ignored = overridden(asked.filter, &parsed.filters, since);
        if !ignored.is_empty() {
            let note = Message::from("The filters of the call replace these restrictions in the question: ");
            notes.push(note.and(phrases(&ignored)).and("."));
        }
        let mut stated = with_stated(asked.filter, &parsed.filters, since)?;
        let is_pattern = parsed.query_type == QueryType::Pattern && parsed.strategy.patterns;
        if is_pattern && asked.filter.kinds.is_empty() && !stated.filter.kinds.is_empty() {
            stated.filter.kinds.push(ChunkKind::Pattern);
        }
        Some(stated)
    }

    /// Reads the question, and finds the patterns that it names.
    async fn read(
        &self,
        view: &View,
        asked: &Asked<'_>,
        selected: &[KnownRepository],
        notes: &mut Vec<Message>,
    ) -> Result<(ParsedQuery, Vec<ChunkRecord>), QueryError> {
        let mut synonyms = Synonyms { configured: &self.synonyms, learned: &[] };
        let options = ParseOptions { forced_type: asked.forced_type, synonyms, ..ParseOptions::default() };
        let mut parsed = ParsedQuery::new(asked.text, options);
        let learned = match asked.is_about_code() && self.signals.has(Signal::Synonyms) {
            true => self.learned(selected, &parsed.keywords).await?,
            false => Vec::new(),
        };
        if !learned.is_empty() {
            synonyms.learned = &learned;
            parsed = ParsedQuery::new(asked.text, ParseOptions { synonyms, ..options });
        }
        if parsed.query_type != QueryType::Pattern || !asked.is_about_code() {
            return Ok((parsed, Vec::new()));
        }
        let scope = self.scope_since(selected, asked.filter);
        let chunks = self.pattern_chunks(view, &scope, asked.filter, &parsed).await?;
        let parsed = decide_pattern(parsed, asked, synonyms, &pattern_index::names(&chunks), notes);
        let patterns = pattern_index::named(chunks, &parsed);
        Ok((parsed, patterns))
    }

    async fn search_for(
        &self,
        mut query: PreparedQuery,
        asked: &Asked<'_>,
        selected: &[KnownRepository],
        (filter, mut notes): (&ChunkFilter, Vec<Message>),
    ) -> Result<Retrieved, QueryError> {
        notes.extend(query.names.facts.iter().cloned());
        let text = query.parsed.text.clone();
        if asked.is_about_code() {
            self.add_whole_name(&mut query, &text, (&self.scope_of(selected), selected)).await?;
        }
        let target = (asked.target, filter);
        let Targeted { files, ranked, notes: of_files } = self.targeted(&mut query, &text, selected, target).await?;
        notes.extend(of_files);
        let (mut hides_related, mut left_out) = (false, BTreeSet::new());
        let (hits, relevance) = match ranked {
            Some(ranked) => (ranked, AnswerRelevance::SHOWN),
            None => {
                let ranked = self.ranked(&query, selected, filter, asked.in_all).await?;
                left_out.clone_from(&ranked.left_out);
                hides_related = ranked.hides_related;
                self.hits(&query, ranked, selected, (asked, filter), &mut notes).await?
            }
        };
        // If the answer shows files whose names match, it also shows the hits, even if the hits are not
        // relevant.
        let relevance = if files.files.is_empty() { relevance } else { AnswerRelevance::SHOWN };
        if relevance.is_relevant {
            notes.extend(left_out_note(selected, &left_out));
        }
        Ok(Retrieved { query, files, hits, since: None, notes, relevance, hides_related })
    }

    /// The hits and their relevance. If the hits are relevant, the strategy of the question's type adds hits
    /// that it finds through the graph.
    async fn hits(
        &self,
        query: &PreparedQuery,
        ranked: Ranked,
        selected: &[KnownRepository],
        (asked, filter): (&Asked<'_>, &ChunkFilter),
        notes: &mut Vec<Message>,
    ) -> Result<(Vec<RankedHit>, AnswerRelevance), QueryError> {
        let Ranked { hits, evidence, notes: of_edges, left_out, .. } = ranked;
        notes.extend(of_edges);
        let relevance = match self.signals.has(Signal::Relevance) {
            true => query.relevance(evidence, asked.filter),
            false => AnswerRelevance::SHOWN,
        };
        if hits.is_empty() || !relevance.is_relevant {
            return Ok((hits, relevance));
        }
        let in_scope = &self.scope_of(selected);
        if *filter == ChunkFilter::default()
            && let Some(relevance) = self.unmentioned_name(query, in_scope, &hits).await?
        {
            return Ok((hits, relevance));
        }
        let scope = &without(self.scope_since(selected, filter), &left_out);
        let hits = self.reranked(query, scope, hits, query.subjects_with(filter)).await?;
        let is_extended = query.parsed.strategy.graph && query.parsed.relationship.is_none();
        if !is_extended || !self.signals.has(Signal::Graph) {
            return Ok((hits, relevance));
        }
        let page = asked.offset..asked.offset + asked.limit_of(&query.parsed);
        let extension = Extension { query, scope, filter, page };
        let is_documented =
            self.signals.has(Signal::DocumentedFiles) && documented::are_answered_by_documents(query, &hits);
        let hits = if query.parsed.flow.as_ref().is_some_and(|flow| !is_documented || !is_about_module(flow)) {
            self.with_path(extension, hits, notes).await?
        } else if is_documented {
            if query.parsed.query_type == QueryType::Flow {
                notes.push(DOCUMENTS_OF_MODULE.into());
            }
            self.with_documented(extension, hits).await?
        } else {
            self.with_neighbours(extension, hits).await?
        };
        Ok((hits, relevance))
    }
}

const DOCUMENTS_OF_MODULE: &str = "The question is about a module, so its documents answer it; no path is shown.";

/// Whether relevant hits exist, and the filter does not exclude all code that has the requested relation to a
/// name.
fn answers(found: &Retrieved) -> bool {
    !found.hits.is_empty() && found.relevance.is_relevant && !found.hides_related
}

/// A note about the pattern that the question names, if the restrictions in the question exclude it.
fn hidden_pattern(patterns: &[ChunkRecord], hits: &[RankedHit]) -> Option<Message> {
    let name = patterns.first()?.symbol.as_deref()?;
    let is_shown = hits.iter().any(|hit| hit.chunk.kind == ChunkKind::Pattern);
    (!is_shown).then(|| Message::from("The restrictions exclude the pattern ").and(quoted(name)).and("."))
}

/// The texts as a list of quoted phrases.
fn phrases(texts: &[String]) -> Message {
    Message::joined(texts.iter().map(|text| Message::default().and(Phrase(text))), ", ")
}

/// Decides whether "how do X work" is a pattern question, which is the case only if X names a pattern. If the
/// question names no pattern in scope, it uses the strategy of concept questions. `names` are the names of
/// the patterns that share a word with the question.
fn decide_pattern(
    parsed: ParsedQuery,
    asked: &Asked<'_>,
    synonyms: Synonyms<'_>,
    names: &[String],
    notes: &mut Vec<Message>,
) -> ParsedQuery {
    let is_excluded = pattern_index::is_excluded(asked.filter);
    if let Some(subject) = parsed.undecided_pattern() {
        let options = ParseOptions { pattern_names: Some(names), synonyms, ..ParseOptions::default() };
        let decided = ParsedQuery::new(asked.text, options);
        if decided.query_type != QueryType::Pattern {
            let message = match is_excluded {
                true => Message::from("The filters exclude patterns"),
                false => Message::from("No pattern in scope has the name ").and(Phrase(subject)),
            };
            let message = message.and(", so the question is treated as a ").and(decided.query_type.as_str());
            notes.push(message.and(" question."));
        }
        return decided;
    }
    if pattern_index::are_asked_for(names, &parsed) {
        return parsed;
    }
    let mut parsed = parsed;
    parsed.use_concept_strategy();
    let reason = if is_excluded { "The filters exclude patterns" } else { "No pattern in scope fits the question" };
    notes.push(Message::from(reason).and(", so the strategy of concept questions is used."));
    parsed
}
