//! Suggests questions with results for a question without results.

use std::collections::BTreeSet;

use cairn_domain::Scope;
use cairn_ports::{ChunkFilter, NameMatch, SymbolHit};
use cairn_question::Synonyms;
use cairn_ranking::{ScopeFrequencies, StopWords, terms};

use crate::chunk_filter::CompiledFilter;
use crate::chunk_id::ChunkId;
use crate::prepared_query::PreparedQuery;
use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 5;
/// Maximum number of suggestions of each kind.
const MAX_OF_A_KIND: usize = 2;
/// Maximum number of candidates of one kind that are counted.
const MAX_CANDIDATES: usize = 8;
/// Counting stops at this number of definitions of a name, or of chunks that pass a filter.
const MAX_COUNTED: usize = 1_000;

/// The origin of a suggestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuggestionKind {
    /// A name that is similar to an absent name in the question.
    NearName,
    /// A word in the names in scope. It is similar to an absent word in the question.
    NearWord,
    /// A synonym of an absent word in the question.
    Synonym,
    /// A word in the question.
    PartialMatch,
}

impl SuggestionKind {
    pub fn as_str(self) -> &'static str {
        match self {
            SuggestionKind::NearName => "near_name",
            SuggestionKind::NearWord => "near_word",
            SuggestionKind::Synonym => "synonym",
            SuggestionKind::PartialMatch => "partial_match",
        }
    }
}

/// A suggested question, which has results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestedQuery {
    pub query: String,
    pub kind: SuggestionKind,
    /// The word or name in the question that the suggestion replaces. For `PartialMatch`, this is the
    /// suggested word itself.
    pub instead_of: String,
    /// For a name, the number of its definitions. For a word, the number of chunks that contain it.
    pub num_matches: u64,
    /// If false, there are at least `num_matches` matches.
    pub is_exact: bool,
}

impl SuggestedQuery {
    /// The reason for the suggestion, as a text for users.
    pub fn reason(&self) -> String {
        let at_least = if self.is_exact { "" } else { "at least " };
        let num = format!("{at_least}{}", self.num_matches);
        let (chunks, contain) = if self.num_matches == 1 { ("chunk", "contains") } else { ("chunks", "contain") };
        match self.kind {
            SuggestionKind::NearName => {
                let definitions = if self.num_matches == 1 { "definition" } else { "definitions" };
                format!("similar to `{}`; {num} {definitions}", self.instead_of)
            }
            SuggestionKind::NearWord => format!("similar to `{}`; {num} {chunks} {contain} it", self.instead_of),
            SuggestionKind::Synonym => format!("instead of `{}`; {num} {chunks} {contain} it", self.instead_of),
            SuggestionKind::PartialMatch => format!("a word of the question; {num} {chunks} {contain} it"),
        }
    }
}

impl Searcher {
    /// At most [`MAX_SUGGESTIONS`] questions that have results. Each question consists of a near name of an
    /// absent name, a word that is similar to an absent word, a synonym of an absent word, or a word of the
    /// question that the scope contains (rarest first), in this order.
    pub(crate) async fn suggested_queries(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        filter: &ChunkFilter,
    ) -> Result<Vec<SuggestedQuery>, QueryError> {
        let scope = self.scope_since(selected, filter);
        let counted = Counted { searcher: self, query, scope: &scope, filter };
        let mut found = counted.near_names().await?;
        let absent: Vec<&String> =
            query.words.keywords.iter().filter(|word| query.frequencies.num_chunks_with(word) == 0).collect();
        let near = self.near_words(&query.view, &scope, &absent).await?;
        let synonyms = synonyms_of(&absent, Synonyms { configured: &self.synonyms, learned: &[] });
        let texts: Vec<&str> = near.iter().chain(&synonyms).map(|(_, other)| other.as_str()).collect();
        let frequencies = self.frequencies(selected, &texts.join(" ")).await?;
        for (kind, pairs) in [(SuggestionKind::NearWord, near), (SuggestionKind::Synonym, synonyms)] {
            found.extend(counted.best(kind, candidates(pairs, &frequencies)).await?);
        }
        let own = query.words.keywords.iter().map(|word| (word.clone(), word.clone()));
        let mut own = candidates(own.collect(), &query.frequencies);
        own.sort_by_key(|candidate| candidate.num_chunks);
        found.extend(counted.best(SuggestionKind::PartialMatch, own).await?);
        let mut seen = BTreeSet::new();
        found.retain(|suggestion| seen.insert(suggestion.query.to_lowercase()));
        found.truncate(MAX_SUGGESTIONS);
        Ok(found)
    }
}

/// A word that may be suggested.
struct Candidate {
    query: String,
    instead_of: String,
    /// Number of chunks that contain the word, without the filter.
    num_chunks: u64,
}

/// Converts pairs to candidates. A pair is a word of the question and the word that may replace it.
fn candidates(pairs: Vec<(String, String)>, frequencies: &ScopeFrequencies) -> Vec<Candidate> {
    let candidate = |(instead_of, query): (String, String)| Candidate {
        num_chunks: frequencies.num_chunks_with(&query),
        query,
        instead_of,
    };
    pairs.into_iter().map(candidate).collect()
}

/// The data that is needed to count the chunks that contain a word.
struct Counted<'a> {
    searcher: &'a Searcher,
    query: &'a PreparedQuery,
    scope: &'a Scope,
    filter: &'a ChunkFilter,
}

impl Counted<'_> {
    /// The near names of the absent names in the question, each with the number of its definitions.
    async fn near_names(&self) -> Result<Vec<SuggestedQuery>, QueryError> {
        let mut found = Vec::new();
        let absent = self.query.names.notes.iter().filter(|note| !note.is_file && note.substitution.is_none());
        for note in absent {
            for name in note.similar.iter().take(MAX_OF_A_KIND) {
                let (num_matches, is_exact) = self.num_definitions(name).await?;
                let (query, instead_of) = (name.clone(), note.requested.clone());
                found.push(SuggestedQuery { query, kind: SuggestionKind::NearName, instead_of, num_matches, is_exact });
            }
        }
        found.retain(|suggestion| suggestion.num_matches > 0);
        found.truncate(MAX_OF_A_KIND);
        Ok(found)
    }

    /// Number of definitions of the qualified name that pass the filter, and whether this number is exact.
    async fn num_definitions(&self, name: &str) -> Result<(u64, bool), QueryError> {
        let Counted { searcher, query, scope, filter } = self;
        let mut hits = searcher.names.symbols(&query.view, scope, name, &[NameMatch::Exact], MAX_COUNTED).await?;
        let is_exact = hits.len() < MAX_COUNTED;
        hits.retain(|hit| hit.symbol.qualified_name == name);
        if **filter == ChunkFilter::default() {
            return Ok((hits.len() as u64, is_exact));
        }
        let id = |hit: &SymbolHit| hit.symbol.chunk.map(|chunk| (hit.repository, chunk));
        let chunks = searcher.fetch(&query.view, scope, hits.iter().filter_map(id).collect()).await?;
        let compiled = CompiledFilter::new(filter)?;
        let passes =
            |hit: &&SymbolHit| id(hit).and_then(|id| chunks.get(&id)).is_some_and(|chunk| compiled.lets_through(chunk));
        Ok((hits.iter().filter(passes).count() as u64, is_exact))
    }

    /// The first candidates that have results in the scope and with the filter.
    async fn best(&self, kind: SuggestionKind, candidates: Vec<Candidate>) -> Result<Vec<SuggestedQuery>, QueryError> {
        let mut found = Vec::new();
        let known = candidates.into_iter().filter(|word| word.num_chunks > 0).take(MAX_CANDIDATES);
        for Candidate { query, instead_of, num_chunks } in known {
            let terms = terms_of(&query);
            // The counts of terms do not depend on the filter, and are separate for each term.
            let is_counted = *self.filter == ChunkFilter::default() && terms.len() == 1;
            let (num_matches, is_exact) = if is_counted { (num_chunks, true) } else { self.num_with(terms).await? };
            if num_matches > 0 {
                found.push(SuggestedQuery { query, kind, instead_of, num_matches, is_exact });
            }
            if found.len() == MAX_OF_A_KIND {
                break;
            }
        }
        Ok(found)
    }

    /// Number of chunks that contain all terms and pass the filter, and whether this number is exact.
    async fn num_with(&self, terms: BTreeSet<u32>) -> Result<(u64, bool), QueryError> {
        let Counted { searcher, query, scope, filter } = self;
        let (mut with_all, mut is_exact) = (None::<BTreeSet<ChunkId>>, true);
        for term in terms {
            let hits = searcher.vectors.search_sparse(&query.view, scope, filter, &[(term, 1)], MAX_COUNTED).await?;
            is_exact &= hits.len() < MAX_COUNTED;
            let with_term: BTreeSet<ChunkId> = hits.iter().map(|hit| (hit.repository, hit.key)).collect();
            with_all = Some(with_all.map_or(with_term.clone(), |all| &all & &with_term));
        }
        Ok((with_all.map_or(0, |all| all.len() as u64), is_exact))
    }
}

fn terms_of(word: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    terms(word, StopWords::Kept, |term| {
        found.insert(term);
    });
    found
}

/// Pairs of an absent word and one of its synonyms. The best synonym of each word comes before all
/// second-best synonyms.
fn synonyms_of(absent: &[&String], synonyms: Synonyms<'_>) -> Vec<(String, String)> {
    let all: Vec<Vec<(String, _)>> = absent.iter().map(|word| synonyms.of(word)).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or_default();
    let mut found = Vec::new();
    for rank in 0..most {
        for (word, of_word) in absent.iter().zip(&all) {
            if let Some((synonym, _)) = of_word.get(rank) {
                found.push(((*word).clone(), synonym.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_state_whether_counts_are_exact() {
        let suggested = |num_matches, is_exact| SuggestedQuery {
            query: "meter".to_owned(),
            kind: SuggestionKind::PartialMatch,
            instead_of: "meter".to_owned(),
            num_matches,
            is_exact,
        };
        assert_eq!(suggested(1, true).reason(), "a word of the question; 1 chunk contains it");
        assert_eq!(suggested(1_000, false).reason(), "a word of the question; at least 1000 chunks contain it");
    }
}
