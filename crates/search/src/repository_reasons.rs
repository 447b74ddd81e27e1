//! Leaves out repositories that are unrelated to a question, and gives the reason why each remaining
//! repository has results.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cairn_domain::RepositoryId;
use cairn_ranking::{RankedHit, Signal, estimate_tokens, names_repository, unrelated_repositories};

use crate::Searcher;
use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, name_of};

/// Maximum number of repositories that the note about the removed hits names.
const MAX_NAMED: usize = 3;
/// Maximum number of keywords in the reason for a repository.
const MAX_KEYWORDS: usize = 5;

impl Searcher {
    /// Removes the hits of repositories that are unrelated to the question. Returns a note that names some of
    /// these repositories.
    pub(crate) fn leave_out(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        hits: &mut Vec<RankedHit>,
    ) -> Option<String> {
        if !self.signals.has(Signal::RepositoryEvidence) {
            return None;
        }
        let shares = query.of_repositories.shares(&query.frequencies);
        let is_named = |name: &str| names_repository(&query.parsed.text, name);
        let unrelated = unrelated_repositories(hits, &shares).into_iter().map(|id| (id, name_of(selected, id)));
        let left_out: BTreeMap<RepositoryId, String> = unrelated.filter(|(_, name)| !is_named(name)).collect();
        hits.retain(|hit| !left_out.contains_key(&hit.chunk.repository));
        let left_out: Vec<String> = left_out.into_values().collect();
        let (first, rest) = left_out.split_at(left_out.len().min(MAX_NAMED));
        let names = first.join(", ");
        let names = if rest.is_empty() { names } else { format!("{names} and {} more", rest.len()) };
        (!left_out.is_empty()).then(|| {
            format!("Repositories with few of the question's words are left out: {names}. Name one to search it.")
        })
    }
}

/// The reason why each repository has results, by the name of the repository. Empty if only one repository is
/// searched. The reasons contain no text of a repository. If a reason does not fit into `max_tokens`, this
/// reason and the reasons of all later repositories are omitted.
pub(crate) fn reasons(
    query: &PreparedQuery,
    selected: &[KnownRepository],
    hits: &[&RankedHit],
    max_tokens: usize,
) -> BTreeMap<String, String> {
    let mut reasons = BTreeMap::new();
    if selected.len() < 2 {
        return reasons;
    }
    let mut num_left = max_tokens;
    for hit in hits {
        // The hits are sorted, so the first hit of a repository is its best hit.
        let name = name_of(selected, hit.chunk.repository);
        if let Entry::Vacant(entry) = reasons.entry(name) {
            let reason = reason(query, entry.key(), hit);
            let Some(rest) = num_left.checked_sub(estimate_tokens(&reason)) else { break };
            num_left = rest;
            entry.insert(reason);
        }
    }
    reasons
}

/// The reason why the repository of `best`, its best hit, has results.
fn reason(query: &PreparedQuery, name: &str, best: &RankedHit) -> String {
    if names_repository(&query.parsed.text, name) {
        return "the question names the repository".to_owned();
    }
    if best.relation_rank.is_some() {
        return "its code has the requested relation".to_owned();
    }
    if best.pattern_rank.is_some() {
        return "it has a pattern that the question names".to_owned();
    }
    if best.named.is_some() {
        return "it contains the definition or file that the question names".to_owned();
    }
    let words = query.of_repositories.of_repository(best.chunk.repository);
    if words.is_empty() {
        return "its code is similar to the question".to_owned();
    }
    let shown: Vec<String> = words.iter().take(MAX_KEYWORDS).map(|word| format!("`{word}`")).collect();
    let num_all = query.of_repositories.num_keywords();
    format!("it contains {} of {num_all} words of the question: {}", words.len(), shown.join(", "))
}
