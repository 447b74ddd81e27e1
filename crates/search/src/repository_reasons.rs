//! States which repositories are left out of an answer, and why each of the other repositories has results.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::RepositoryId;
use cairn_ranking::{RankedHit, RepositoryMentions, estimate_tokens};
use cairn_redaction::{Message, Own};

use crate::prepared_query::PreparedQuery;
use crate::repositories::{KnownRepository, some_names};
use crate::resolve::{MatchedName, NameMatching};

/// Maximum number of repository names in the note about repositories that are left out.
const MAX_NAMED: usize = 3;
/// Maximum number of keywords in the reason for a repository.
const MAX_KEYWORDS: usize = 5;

/// The note that names some of the repositories that are left out. `None` if no repository is left out.
pub(crate) fn left_out_note(selected: &[KnownRepository], left_out: &BTreeSet<RepositoryId>) -> Option<Message> {
    let named = selected.iter().filter(|known| left_out.contains(&known.record.id));
    let names: Vec<&str> = named.map(|known| known.record.name.as_str()).collect();
    let names = some_names(&names, names.len(), MAX_NAMED)?;
    let message = Message::from("Repositories with few of the question's words are left out: ").and(Own(names));
    Some(message.and(". Name one to search it."))
}

/// For each repository name on the page, the reason why the repository has results. `hits` must contain the
/// hits of all pages, best first, because the reason of a repository is the same on each page. Empty if only
/// one repository is searched. The reasons contain no text of a repository. If a reason does not fit into
/// `max_tokens`, this reason and the reasons of all later repositories are omitted.
pub(crate) fn reasons(
    query: &PreparedQuery,
    selected: &[KnownRepository],
    (hits, of_page): (&[RankedHit], &[&RankedHit]),
    max_tokens: usize,
) -> BTreeMap<String, String> {
    let mut reasons = BTreeMap::new();
    if selected.len() < 2 {
        return reasons;
    }
    let mentions = RepositoryMentions::of(&query.parsed.text);
    let names: BTreeMap<RepositoryId, &str> =
        selected.iter().map(|known| (known.record.id, known.record.name.as_str())).collect();
    let mut best: BTreeMap<RepositoryId, &RankedHit> = BTreeMap::new();
    for hit in hits {
        best.entry(hit.chunk.repository).or_insert(hit);
    }
    let mut num_left = max_tokens;
    for id in of_page.iter().map(|hit| hit.chunk.repository) {
        let (Some(name), Some(best)) = (names.get(&id), best.get(&id)) else { continue };
        if let Entry::Vacant(entry) = reasons.entry((*name).to_owned()) {
            let reason = reason(query, mentions.contain(name), best);
            let Some(rest) = num_left.checked_sub(estimate_tokens(&reason)) else { break };
            num_left = rest;
            entry.insert(reason);
        }
    }
    reasons
}

/// The reason why a repository has results. `best` is the best hit in the repository. `is_named` is true if
/// the question names the repository.
fn reason(query: &PreparedQuery, is_named: bool, best: &RankedHit) -> String {
    if is_named {
        return "the question names the repository".to_owned();
    }
    if best.relation_rank.is_some() {
        return "its code has the requested relation".to_owned();
    }
    if best.pattern_rank.is_some() {
        return "it has a pattern that the question names".to_owned();
    }
    let matched = query.names.matched((best.chunk.repository, best.chunk.key));
    let is_near = |matched: &MatchedName| matches!(matched.matching, NameMatching::Fuzzy | NameMatching::Heuristic);
    if best.named.is_some() && matched.is_some_and(is_near) {
        return "it contains a definition with a name near to a name in the question".to_owned();
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
