//! Selects the repositories of a question.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{Digester, RepositoryId, RepositoryScope, Scope, View};
use cairn_ports::{ChunkFilter, PublishedGeneration, RepositoryRecord};
use cairn_redaction::{Given, Message};
use globset::GlobMatcher;

use crate::bounds;
use crate::{FieldFault, NextCall, QueryError, QueryErrorCode, Searcher};

/// The hint in errors that occur because no repository is visible to the caller. Each front end adds a remedy
/// to this hint.
pub const NOTHING_INDEXED: &str = "nothing is indexed yet";

/// The similarity, in percent, of a name that contains the requested word.
const OF_PART: u32 = 50;
/// Shorter words are not compared with the parts of names.
const MIN_PART: usize = 3;

/// Maximum number of names in an answer's list of repositories without a published generation.
pub(crate) const MAX_NOT_INDEXED: usize = 3;

/// Maximum number of repositories that the error for an ambiguous name contains.
const MAX_MATCHES: usize = 5;

/// Names and globs of repositories; empty selects all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositorySelection(pub Vec<String>);

impl RepositorySelection {
    /// Whether the selection contains every repository that the caller may see.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| word == "all")
    }
}

/// A repository with its published generation, which questions read.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownRepository {
    pub record: RepositoryRecord,
    pub published: Option<PublishedGeneration>,
    /// The id of the published run, as callers receive it.
    pub run_id: Option<String>,
}

impl Searcher {
    /// All repositories that the caller may see, sorted by name, each with the generation that is visible in
    /// the view.
    pub async fn repositories(&self, view: &View) -> Result<Vec<KnownRepository>, QueryError> {
        // A repository that was registered again after a deletion is included, although none of its
        // generations is visible in the view yet.
        let records = self.allowed().await?;
        let ids: Vec<RepositoryId> = records.iter().map(|record| record.id).collect();
        let published = self.catalogue.published_of(view, &ids).await?.into_iter();
        let mut published: BTreeMap<RepositoryId, PublishedGeneration> =
            published.map(|published| (published.run.repository, published)).collect();
        let known = records.into_iter().map(|record| {
            let published = published.remove(&record.id);
            let run_id = published.as_ref().map(|published| self.run_id(published.run));
            KnownRepository { record, published, run_id }
        });
        Ok(known.collect())
    }

    /// A digest of the published state of the repositories. Two answers have equal versions if and only if
    /// they were computed from the same state of the same repositories.
    pub fn index_version(&self, known: &[KnownRepository]) -> String {
        // Callers may select the same repositories in any order.
        let mut known: Vec<&KnownRepository> = known.iter().collect();
        known.sort_by(|left, right| left.record.name.as_str().cmp(right.record.name.as_str()));
        let each = |digester: Digester, known: &&KnownRepository| {
            digester.text(known.record.name.as_str()).option(known.run_id.as_deref(), Digester::text)
        };
        Digester::new("index version").list(&known, each).key().to_string()
    }

    /// The selected repositories. If a word matches no repository, the error contains similar names.
    pub async fn select(
        &self,
        view: &View,
        selection: &RepositorySelection,
    ) -> Result<Vec<KnownRepository>, QueryError> {
        bounds::words("repositories", selection.0.iter().map(String::as_str))?;
        let known = self.repositories(view).await?;
        if selection.is_all() {
            return Ok(known);
        }
        let mut selected: Vec<KnownRepository> = Vec::new();
        for word in &selection.0 {
            let matches = named(&known, |known| &known.record, word);
            if matches.is_empty() {
                return Err(unknown_repository(word, &known));
            }
            for found in matches {
                if selected.iter().all(|selected| selected.record.id != found.record.id) {
                    selected.push(found.clone());
                }
            }
        }
        Ok(selected)
    }

    /// The repository that a word refers to. Returns an error if the word refers to several repositories.
    pub async fn select_one(&self, view: &View, word: &str) -> Result<KnownRepository, QueryError> {
        let mut selected = self.select(view, &RepositorySelection(vec![word.to_owned()])).await?;
        match selected.len() {
            1 => Ok(selected.swap_remove(0)),
            _ => Err(ambiguous(word, &selected)),
        }
    }

    pub(crate) fn scope_of(&self, selected: &[KnownRepository]) -> Scope {
        let ids = selected.iter().map(|known| known.record.id).collect();
        Scope { tenant: self.caller.tenant.clone(), repositories: RepositoryScope::Only(ids) }
    }

    /// The scope of a search. If the filter contains `since`, repositories with an older generation are
    /// excluded. In the remaining repositories, a chunk without a date matches, because its generation is new
    /// enough.
    pub(crate) fn scope_since(&self, selected: &[KnownRepository], filter: &ChunkFilter) -> Scope {
        let is_new = |known: &&KnownRepository| {
            let indexed_at_ms = known.published.as_ref().map(|published| published.indexed_at_ms);
            filter.since.is_none_or(|since| indexed_at_ms.is_some_and(|at_ms| at_ms.div_euclid(1000) >= since))
        };
        let ids = selected.iter().filter(is_new).map(|known| known.record.id).collect();
        Scope { tenant: self.caller.tenant.clone(), repositories: RepositoryScope::Only(ids) }
    }
}

/// The name of one of the selected repositories.
pub(crate) fn name_of(selected: &[KnownRepository], id: RepositoryId) -> String {
    let found = selected.iter().find(|known| known.record.id == id);
    found.map_or_else(|| id.to_string(), |known| known.record.name.to_string())
}

/// The names of the repositories without a published generation.
pub(crate) fn names_of_unpublished(selected: &[KnownRepository]) -> Vec<&str> {
    let unpublished = selected.iter().filter(|known| known.published.is_none());
    unpublished.map(|known| known.record.name.as_str()).collect()
}

/// The first names, and the number of the others: `a, b and 3 more`. `num_all` is the number of all names, of
/// which `names` may contain only the first ones. `None` if there are no names.
pub(crate) fn some_names(names: &[impl AsRef<str>], num_all: usize, max_named: usize) -> Option<String> {
    let shown: Vec<&str> = names.iter().take(max_named).map(AsRef::as_ref).collect();
    let (names, num_others) = (shown.join(", "), num_all - shown.len());
    let text = if num_others == 0 { names } else { format!("{names} and {num_others} more") };
    (!shown.is_empty()).then_some(text)
}

/// The scope without these repositories.
pub(crate) fn without(scope: Scope, left_out: &BTreeSet<RepositoryId>) -> Scope {
    match scope.repositories {
        RepositoryScope::Only(ids) => Scope::only(scope.tenant, ids.into_iter().filter(|id| !left_out.contains(id))),
        RepositoryScope::All => scope,
    }
}

/// The repositories that a word refers to.
pub fn named<'a, T>(known: &'a [T], record: impl Fn(&T) -> &RepositoryRecord, word: &str) -> Vec<&'a T> {
    // A full name refers only to the repository that has this name now, even if a different repository had
    // the name before.
    if let Some(found) = known.iter().find(|known| record(known).name.as_str() == word) {
        return vec![found];
    }
    let glob = matcher(word);
    known.iter().filter(|known| names(record(known), word, glob.as_ref())).collect()
}

/// Whether the word is the last part of the repository's name, a former name, or a glob that matches the
/// name.
fn names(record: &RepositoryRecord, word: &str, glob: Option<&GlobMatcher>) -> bool {
    let name = record.name.as_str();
    name.rsplit('/').next() == Some(word)
        || record.aliases.iter().any(|alias| alias.as_str() == word)
        || glob.is_some_and(|glob| glob.is_match(name))
}

/// The matcher for a word that is a valid glob. `None` for other words.
fn matcher(word: &str) -> Option<GlobMatcher> {
    let glob = word.contains(['*', '?', '[']).then(|| bounds::glob("repositories", word))?;
    glob.ok().map(|glob| glob.compile_matcher())
}

/// The error for a word that refers to several repositories. The error contains the names of some of these
/// repositories.
fn ambiguous(word: &str, matches: &[KnownRepository]) -> QueryError {
    let message = Message::default().and(Given(word)).and(" matches ").and(matches.len()).and(" repositories");
    let message = message.and("; give the full name of one of them");
    let mut error = bounds::invalid(FieldFault::of("repository"), message);
    error.similar_repositories = matches.iter().take(MAX_MATCHES).map(|known| known.record.name.to_string()).collect();
    error
}

fn unknown_repository(word: &str, known: &[KnownRepository]) -> QueryError {
    let mut near: Vec<(u32, String)> = known
        .iter()
        .map(|known| {
            let name = known.record.name.to_string();
            let last = name.rsplit('/').next().unwrap_or(&name);
            let similar = cairn_ranking::similarity_percent(word, last);
            let score = similar.unwrap_or(if has_part(&name, word) { OF_PART } else { 0 });
            (score, name)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    near.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    let message = Message::from("no repository is called ").and(Given(word));
    let mut error = QueryError::new(QueryErrorCode::NotFound, message);
    error.similar_repositories = near.into_iter().take(3).map(|(_, name)| name).collect();
    if known.is_empty() {
        return error.hint(NOTHING_INDEXED);
    }
    error.hint("list the repositories to see their names").next(NextCall {
        tool: "list_repositories",
        reason: "shows the names of all indexed repositories".into(),
        arguments: Vec::new(),
    })
}

/// Whether a part of the name of a repository is the word, or begins with it.
fn has_part(name: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    word.len() >= MIN_PART && name.to_lowercase().split(['/', '-', '_', '.']).any(|part| part.starts_with(&word))
}

#[cfg(test)]
mod tests {
    use cairn_domain::{Key128, Tenant};

    use super::*;

    #[test]
    fn only_the_first_names_are_listed() {
        let check = |names: &[&str], num_all, expect: Option<&str>| {
            assert_eq!(some_names(names, num_all, 2).as_deref(), expect, "{names:?}");
        };
        check(&[], 0, None);
        check(&["a"], 1, Some("a"));
        check(&["a", "b"], 2, Some("a, b"));
        check(&["a", "b", "c"], 3, Some("a, b and 1 more"));
        check(&["a", "b"], 300, Some("a, b and 298 more"));
    }

    #[test]
    fn repositories_that_are_left_out_are_not_in_the_scope() {
        let [first, second] = [1, 2].map(|byte| RepositoryId(Key128([byte; 16])));
        let scope = without(Scope::only(Tenant::local(), [first, second]), &BTreeSet::from([first]));
        assert_eq!(scope, Scope::only(Tenant::local(), [second]));
    }
}
