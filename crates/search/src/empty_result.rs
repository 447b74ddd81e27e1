//! Explains why a search has no results: whether anything is indexed, whether any indexed code is relevant,
//! and which restriction excludes the results.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkRecord, LineSpan, RepositoryId, View};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_ranking::{AnswerRelevance, RankedHit, estimate_tokens, words};

use crate::abbreviations::other_words;
use crate::chunk_id::ChunkId;
use crate::modules::self_and_ancestors;
use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, MAX_NOT_INDEXED, name_of, names_of_unpublished};
use crate::retrieve::Ranked;
use crate::suggestions::SuggestedQuery;
use crate::{QueryError, RepositorySelection, Searcher};

/// A part of a request that restricts the results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Restriction {
    Repositories,
    Languages,
    Kinds,
    Paths,
    Modules,
    Tests,
    Tags,
    Since,
}

impl Restriction {
    pub const ALL: [Restriction; 8] = [
        Restriction::Repositories,
        Restriction::Languages,
        Restriction::Kinds,
        Restriction::Paths,
        Restriction::Modules,
        Restriction::Tests,
        Restriction::Tags,
        Restriction::Since,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Restriction::Repositories => "repositories",
            Restriction::Languages => "languages",
            Restriction::Kinds => "kinds",
            Restriction::Paths => "paths",
            Restriction::Modules => "modules",
            Restriction::Tests => "tests",
            Restriction::Tags => "tags",
            Restriction::Since => "since",
        }
    }

    /// The filter without this restriction. `None` if the filter does not contain the restriction.
    fn removed_from(self, filter: &ChunkFilter) -> Option<ChunkFilter> {
        let mut wider = filter.clone();
        match self {
            Restriction::Repositories => {}
            Restriction::Languages => wider.languages.clear(),
            Restriction::Kinds => wider.kinds.clear(),
            Restriction::Paths => wider.paths.clear(),
            Restriction::Modules => wider.module_prefixes.clear(),
            Restriction::Tests => wider.include_tests = IncludeTests::Include,
            Restriction::Tags => wider.tags.clear(),
            Restriction::Since => wider.since = None,
        }
        (wider != *filter).then_some(wider)
    }
}

/// A module whose code is similar to the question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedModule {
    pub repository: String,
    pub module: String,
    /// Number of results in this module among the best results.
    pub num_results: usize,
    /// The reason why the module is listed, as a text for users.
    pub reason: String,
}

/// The location of a weak match: a chunk that is similar to the question, but not similar enough to be a
/// result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeakMatch {
    pub repository: String,
    pub path: String,
    pub span: LineSpan,
    pub symbol: Option<String>,
}

/// The reasons why a search has no results, and suggested questions that have results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NothingFound {
    /// The reason as a sentence.
    pub statement: String,
    /// The keywords of the question that no chunk contains. Set only if the best hits are not relevant.
    pub missing_words: Vec<String>,
    /// The first of the requested repositories without a published generation.
    pub not_indexed: Vec<String>,
    /// Number of all requested repositories without a published generation.
    pub num_not_indexed: usize,
    /// Number of repositories that were searched.
    pub num_searched: usize,
    /// Number of chunks in the requested repositories, without the filter.
    pub num_chunks: u64,
    /// Each restriction whose removal gives results, with the number of chunks that match without this
    /// restriction. The restriction with the most chunks comes first.
    pub without: Vec<(Restriction, u64)>,
    /// Questions with results, best first.
    pub suggestions: Vec<SuggestedQuery>,
    /// At most five modules, sorted by number of results, highest first.
    pub modules: Vec<RelatedModule>,
    /// The best chunks that are not relevant enough to be results. The list is empty if the filter excludes
    /// all chunks.
    pub weak_matches: Vec<WeakMatch>,
}

const MAX_MODULES: usize = 5;
/// Maximum number of missing keywords that the reason for the empty result lists.
const MAX_STATED_WORDS: usize = 6;
const MAX_WEAK_MATCHES: usize = 3;
/// Number of best results whose modules are counted.
const MODULES_OF_BEST: usize = 20;
/// Number of tokens that an entry of the explanation (such as a module or a suggested question) needs in
/// addition to its names.
const ENTRY_TOKENS: usize = 20;
/// Number of tokens of a restriction with its number of chunks.
const WITHOUT_TOKENS: usize = 12;

/// A search without results.
pub(crate) struct WithoutResults<'a> {
    pub(crate) query: &'a PreparedQuery,
    pub(crate) selected: &'a [KnownRepository],
    pub(crate) filter: &'a ChunkFilter,
    /// The hits, none of which is relevant enough to be a result.
    pub(crate) weak: Vec<RankedHit>,
    pub(crate) relevance: &'a AnswerRelevance,
}

/// The explanation of a search without results.
pub(crate) struct EmptyResult {
    pub(crate) hidden_by_scope: Option<String>,
    pub(crate) nothing_found: NothingFound,
}

impl NothingFound {
    /// Removes the least useful entries until the remaining entries need at most this number of tokens.
    pub(crate) fn fit(&mut self, max_tokens: usize) {
        while self.num_tokens() > max_tokens {
            let dropped = self.weak_matches.pop().is_some()
                || self.modules.pop().is_some()
                || self.suggestions.pop().is_some()
                || self.missing_words.pop().is_some()
                || self.not_indexed.pop().is_some();
            if !dropped {
                return;
            }
        }
    }

    fn num_tokens(&self) -> usize {
        let entry = |texts: &[&str]| ENTRY_TOKENS + texts.iter().map(|text| estimate_tokens(text)).sum::<usize>();
        let weak = self
            .weak_matches
            .iter()
            .map(|weak| entry(&[&weak.repository, &weak.path, weak.symbol.as_deref().unwrap_or_default()]));
        let modules = self.modules.iter().map(|module| entry(&[&module.repository, &module.module, &module.reason]));
        let suggestions = self.suggestions.iter().map(|suggested| entry(&[&suggested.query, &suggested.reason()]));
        let words = self.missing_words.iter().chain(&self.not_indexed).map(|word| estimate_tokens(word));
        let without = self.without.len() * WITHOUT_TOKENS;
        let of_lists = weak.chain(modules).chain(suggestions).chain(words).sum::<usize>();
        estimate_tokens(&self.statement) + without + of_lists
    }
}

impl Searcher {
    /// Explains why a search has no results. If the question has restrictions, the retrieval is repeated
    /// without these restrictions.
    pub(crate) async fn explain_empty(
        &self,
        search: WithoutResults<'_>,
        repositories: &RepositorySelection,
    ) -> Result<EmptyResult, QueryError> {
        let WithoutResults { query, selected, filter, weak, relevance } = search;
        let view = &query.view;
        let all = match repositories.is_all() {
            true => selected.to_vec(),
            false => self.select(view, &RepositorySelection::default()).await?,
        };
        let no_filter = ChunkFilter::default();
        let is_restricted = selected.len() < all.len() || *filter != no_filter;
        let wide = if is_restricted { self.relevant_in(query, &all).await? } else { Vec::new() };
        let not_indexed = names_of_unpublished(selected);
        let scope = self.scope_of(selected);
        let num_chunks = self.vectors.count(view, &scope, &no_filter).await?;
        let without = if weak.is_empty() { self.without(view, selected, &all, filter).await? } else { Vec::new() };
        // If the filter excludes all chunks, no question can have results with this filter.
        let suggestions = match weak.is_empty() {
            true => Vec::new(),
            false => self.suggested_queries(query, selected, filter).await?,
        };
        let near = if wide.is_empty() { &weak } else { &wide };
        let nothing_found = NothingFound {
            statement: statement(relevance, weak.is_empty(), num_chunks),
            missing_words: relevance.missing.clone(),
            num_not_indexed: not_indexed.len(),
            num_searched: selected.len() - not_indexed.len(),
            not_indexed: not_indexed.into_iter().take(MAX_NOT_INDEXED).map(str::to_owned).collect(),
            num_chunks,
            without,
            suggestions,
            modules: related_modules(&all, &self.modules_of_best(&all, near).await?, near, &query.words.keywords),
            weak_matches: weak.iter().take(MAX_WEAK_MATCHES).map(|hit| weak_match(selected, hit)).collect(),
        };
        Ok(EmptyResult { hidden_by_scope: hidden_by_scope(num_outside(&wide, &weak)), nothing_found })
    }

    /// The hits of the question in these repositories, without a filter. The list is empty if the hits are
    /// not relevant.
    async fn relevant_in(&self, query: &PreparedQuery, all: &[KnownRepository]) -> Result<Vec<RankedHit>, QueryError> {
        let counted = format!("{} {}", query.parsed.text, other_words(&query.words.keywords, &self.synonyms));
        let (frequencies, of_repositories) = self.counts_of(all, &counted, &query.parsed.subject_words).await?;
        let query = PreparedQuery { frequencies, of_repositories, ..query.clone() };
        let no_filter = ChunkFilter::default();
        let Ranked { hits, evidence, .. } = self.ranked(&query, all, &no_filter, true).await?;
        Ok(if query.relevance(evidence, &no_filter).is_relevant { hits } else { Vec::new() })
    }

    /// The names of the modules of each repository with one of the best hits.
    async fn modules_of_best(&self, all: &[KnownRepository], hits: &[RankedHit]) -> Result<ModuleNames, QueryError> {
        let of_best: BTreeSet<RepositoryId> =
            hits.iter().take(MODULES_OF_BEST).map(|hit| hit.chunk.repository).collect();
        let mut names = ModuleNames::new();
        for known in all.iter().filter(|known| of_best.contains(&known.record.id)) {
            names.insert(known.record.id, self.module_names(known).await?);
        }
        Ok(names)
    }

    async fn without(
        &self,
        view: &View,
        selected: &[KnownRepository],
        all: &[KnownRepository],
        filter: &ChunkFilter,
    ) -> Result<Vec<(Restriction, u64)>, QueryError> {
        let mut without = Vec::new();
        for restriction in Restriction::ALL {
            let num_chunks = match restriction.removed_from(filter) {
                Some(wider) => self.vectors.count(view, &self.scope_since(selected, &wider), &wider).await?,
                None if restriction == Restriction::Repositories && selected.len() < all.len() => {
                    self.vectors.count(view, &self.scope_since(all, filter), filter).await?
                }
                None => 0,
            };
            if num_chunks > 0 {
                without.push((restriction, num_chunks));
            }
        }
        without.sort_by_key(|(restriction, num_chunks)| (std::cmp::Reverse(*num_chunks), *restriction));
        Ok(without)
    }
}

/// Number of hits of the wider search (`wide`) that the requested search (`weak`) did not find.
fn num_outside(wide: &[RankedHit], weak: &[RankedHit]) -> usize {
    let id = |hit: &RankedHit| (hit.chunk.repository, hit.chunk.key);
    let inside: BTreeSet<ChunkId> = weak.iter().map(id).collect();
    wide.iter().filter(|hit| !inside.contains(&id(hit))).count()
}

fn hidden_by_scope(num_hidden: usize) -> Option<String> {
    let message = || {
        format!(
            "at least {num_hidden} results are outside the given repositories and filters; search without these restrictions to see them"
        )
    };
    (num_hidden > 0).then(message)
}

/// The reason why a search has no results. `is_excluded` is true if the filter excludes all chunks.
fn statement(relevance: &AnswerRelevance, is_excluded: bool, num_chunks: u64) -> String {
    if num_chunks == 0 {
        return "nothing found: nothing is indexed in these repositories".to_owned();
    }
    if is_excluded || relevance.is_relevant {
        return format!(
            "nothing found: {num_chunks} chunks are indexed in these repositories; the filters exclude all of them"
        );
    }
    if relevance.missing.is_empty() {
        return "nothing found: the question contains no word; describe in words what to find".to_owned();
    }
    let words: Vec<String> = relevance.missing.iter().take(MAX_STATED_WORDS).map(|word| format!("`{word}`")).collect();
    let compared = match relevance.num_compared {
        Some(num_best) if (num_best as u64) < num_chunks => format!("the {num_best} chunks that fit the question best"),
        _ => format!("the {num_chunks} indexed chunks"),
    };
    format!("nothing relevant found: none of {compared} contains {}", words.join(", "))
}

fn weak_match(selected: &[KnownRepository], hit: &RankedHit) -> WeakMatch {
    let chunk = &hit.chunk;
    WeakMatch {
        repository: name_of(selected, chunk.repository),
        path: chunk.path.to_string(),
        span: chunk.span,
        symbol: chunk.symbol.clone(),
    }
}

/// The names of the modules of repositories.
type ModuleNames = BTreeMap<RepositoryId, BTreeSet<String>>;

/// The innermost module in the list of modules that contains a chunk. `None` if only the root contains it.
fn listed_module<'c>(names: &ModuleNames, chunk: &'c ChunkRecord) -> Option<&'c str> {
    let names = names.get(&chunk.repository)?;
    self_and_ancestors(&chunk.module_path).find(|name| !name.is_empty() && names.contains(*name))
}

/// The modules of the best hits. Only modules that the list of modules contains.
fn related_modules(
    all: &[KnownRepository],
    names: &ModuleNames,
    hits: &[RankedHit],
    keywords: &[String],
) -> Vec<RelatedModule> {
    let mut modules: BTreeMap<(String, String), Vec<&RankedHit>> = BTreeMap::new();
    for hit in hits.iter().take(MODULES_OF_BEST) {
        let Some(module) = listed_module(names, &hit.chunk) else { continue };
        modules.entry((name_of(all, hit.chunk.repository), module.to_owned())).or_default().push(hit);
    }
    let related = |((repository, module), hits): ((String, String), Vec<&RankedHit>)| {
        let reason = reason(&module, &hits, keywords);
        RelatedModule { repository, module, num_results: hits.len(), reason }
    };
    let mut modules: Vec<RelatedModule> = modules.into_iter().map(related).collect();
    modules.sort_by_key(|module| std::cmp::Reverse(module.num_results));
    modules.truncate(MAX_MODULES);
    modules
}

/// The reason why a module is listed for a question.
fn reason(module: &str, hits: &[&RankedHit], keywords: &[String]) -> String {
    let mut in_name = keywords.iter().filter(|word| {
        let mut found = false;
        words(module, |part| found |= part == word.as_str());
        found
    });
    if let Some(word) = in_name.next() {
        return format!("its name contains `{word}`");
    }
    let has_terms = |hit: &&&RankedHit| hit.contributions.iter().any(|part| part.name == "terms");
    match hits.iter().filter(has_terms).count() {
        0 => "its code has a similar meaning".to_owned(),
        1 => "one of its chunks contains words of the question".to_owned(),
        num => format!("{num} of its chunks contain words of the question"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_removed_until_the_answer_fits() {
        let names: Vec<String> = (0..3).map(|number| format!("team/service-{number}")).collect();
        let without = vec![(Restriction::Languages, 7)];
        let mut nothing = NothingFound { not_indexed: names, num_not_indexed: 300, without, ..Default::default() };
        let num_tokens = nothing.num_tokens();
        nothing.fit(num_tokens);
        assert_eq!(nothing.not_indexed.len(), 3);
        nothing.fit(num_tokens - 1);
        assert_eq!((nothing.not_indexed.len(), nothing.num_not_indexed), (2, 300));
        nothing.fit(0);
        assert_eq!((nothing.not_indexed.len(), nothing.without.len()), (0, 1));
    }

    #[test]
    fn only_present_restrictions_are_removed() {
        let filter =
            ChunkFilter { languages: vec!["rust".into()], include_tests: IncludeTests::Only, ..Default::default() };
        let removable: Vec<Restriction> =
            Restriction::ALL.into_iter().filter(|restriction| restriction.removed_from(&filter).is_some()).collect();
        assert_eq!(removable, [Restriction::Languages, Restriction::Tests]);
        let without_tests = Restriction::Tests.removed_from(&filter).expect("a restriction on tests");
        assert_eq!(without_tests, ChunkFilter { languages: vec!["rust".into()], ..Default::default() });
    }
}
