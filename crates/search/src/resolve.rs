//! Resolves a requested name to its definitions. Search, reading and relationships all use this resolution.

use cairn_domain::{NodeKey, Scope, SymbolEntry, View};
use cairn_ports::{NameTier, ResolvedSymbol};
use cairn_ranking::{DefinitionContext, definition_key};

use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Minimum score of a near name that is used, in thousandths. Names with a lower score are only suggested.
pub(crate) const MIN_SCORE: u32 = 660;
/// Names with a lower score do not come before other results, because the question may be a name in a text.
pub(crate) const MIN_LEADING_SCORE: u32 = 750;
/// Number of near names that are suggested.
pub(crate) const NUM_SIMILAR: usize = 5;
/// Maximum number of definitions of a name in an answer.
const MAX_DEFINITIONS: usize = 50;
/// The uses of definitions are counted only if at most this many definitions have the name, because the edges
/// of every definition are read.
const COUNTED_DEFINITIONS: usize = 8;

/// The way in which a name in an answer was matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatching {
    Case,
    Style,
    Fuzzy,
    /// The definition is in a file that changed after it was indexed.
    Changed,
    /// A regular expression found the definition in a text.
    Heuristic,
}

impl NameMatching {
    pub fn as_str(self) -> &'static str {
        match self {
            NameMatching::Case => "case",
            NameMatching::Style => "style",
            NameMatching::Fuzzy => "fuzzy",
            NameMatching::Changed => "changed",
            NameMatching::Heuristic => "heuristic",
        }
    }
}

/// A report that another name was used instead of the requested name. Every answer about the other name
/// contains this report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Substitution {
    pub requested: String,
    /// The name that was used.
    pub used: String,
    pub matching: NameMatching,
    /// The score in thousandths.
    pub score: u32,
    /// The differences between the names, as a text for users.
    pub reason: String,
    /// Other near names, nearest first. Empty if the name differs only in its case or style.
    pub similar: Vec<String>,
}

/// A name to resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameRequest<'a> {
    /// A name, a qualified name, `path#name`, or a phrase.
    pub(crate) name: &'a str,
    /// The file that must define the name.
    pub(crate) path: Option<&'a str>,
    /// A file near the wanted definition.
    pub(crate) near_path: Option<&'a str>,
    /// Whether the order of the definitions depends on the number of their uses. Counting is one call to the
    /// graph store.
    pub(crate) counts_uses: bool,
}

impl<'a> NameRequest<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        Self { name, path: None, near_path: None, counts_uses: true }
    }

    /// A request that does not count uses, for callers that sort the definitions in another way.
    pub(crate) fn uncounted(name: &'a str) -> Self {
        Self { counts_uses: false, ..Self::new(name) }
    }

    /// `src/server.py#Server.run` requests `Server.run` in `src/server.py`.
    pub(crate) fn with_path_of_name(self) -> Self {
        match self.name.split_once('#') {
            Some((path, name)) if is_path(path) && !name.trim().is_empty() => {
                Self { name: name.trim(), path: self.path.or(Some(path)), ..self }
            }
            _ => self,
        }
    }
}

fn is_path(text: &str) -> bool {
    let has_extension = text.rsplit_once('.').is_some_and(|(before, extension)| {
        !before.is_empty()
            && extension.len() <= 5
            && extension.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    text.contains('/') || has_extension
}

/// The definitions to which a name was resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resolved {
    /// The definitions of one name, best first. Never empty.
    pub(crate) definitions: Vec<ResolvedSymbol>,
    /// The best definition of each other near name, nearest name first.
    pub(crate) near: Vec<ResolvedSymbol>,
    /// Set if the name differs from the requested name.
    pub(crate) substitution: Option<Substitution>,
}

impl Resolved {
    /// Whether the definitions have the requested name, apart from case and style.
    pub(crate) fn is_same_name(&self) -> bool {
        self.definitions.first().is_some_and(|first| first.tier != NameTier::Near)
    }
}

impl Searcher {
    /// Resolves a name. If the name is absent, the error contains near names.
    pub(crate) async fn resolve_name(
        &self,
        view: &View,
        scope: &Scope,
        request: NameRequest<'_>,
    ) -> Result<Resolved, QueryError> {
        let request = request.with_path_of_name();
        let mut hits = self.names.resolve(view, scope, request.name, NUM_SIMILAR).await?;
        if let Some(path) = request.path {
            let elsewhere = hits.first().cloned();
            hits.retain(|hit| is_in_file(path, &hit.symbol));
            if let (true, Some(elsewhere)) = (hits.is_empty(), elsewhere)
                && elsewhere.tier != NameTier::Near
            {
                return Err(defined_elsewhere(request.name, path, &elsewhere.symbol));
            }
        }
        let near: Vec<String> = different_names(&hits);
        let Some(best) = hits.first().filter(|best| best.score >= MIN_SCORE).cloned() else {
            return Err(unknown_symbol(request.name, near));
        };
        let name = best.symbol.name.clone();
        let mut others = Vec::new();
        if best.tier == NameTier::Near {
            others = one_of_each(hits.iter().filter(|hit| hit.symbol.name != name));
            hits.retain(|hit| hit.rank == best.rank && hit.symbol.name == name);
        }
        self.sort_definitions(view, scope, &mut hits, request).await?;
        hits.truncate(MAX_DEFINITIONS);
        let substitution = hits.first().and_then(|first| substitution(request.name, first, &others));
        Ok(Resolved { definitions: hits, near: others, substitution })
    }

    /// Sorts the definitions of a name. The number of uses is considered only if few definitions have the
    /// name.
    async fn sort_definitions(
        &self,
        view: &View,
        scope: &Scope,
        hits: &mut Vec<ResolvedSymbol>,
        request: NameRequest<'_>,
    ) -> Result<(), QueryError> {
        let mut with_uses: Vec<(ResolvedSymbol, u64)> = hits.drain(..).map(|hit| (hit, 0)).collect();
        if request.counts_uses && (2..=COUNTED_DEFINITIONS).contains(&with_uses.len()) {
            let nodes: Vec<NodeKey> = with_uses.iter().map(|(hit, _)| hit.symbol.node).collect();
            let counts = self.graph.num_uses(view, scope, &nodes).await?;
            with_uses.iter_mut().zip(counts).for_each(|((_, uses), count)| *uses = count);
        }
        let context = DefinitionContext { near_path: request.near_path };
        with_uses.sort_by(|(left, left_uses), (right, right_uses)| {
            let left = (std::cmp::Reverse(left.score), key(left, *left_uses, context));
            left.cmp(&(std::cmp::Reverse(right.score), key(right, *right_uses, context)))
        });
        hits.extend(with_uses.into_iter().map(|(hit, _)| hit));
        Ok(())
    }
}

fn key<'a>(hit: &'a ResolvedSymbol, num_uses: u64, context: DefinitionContext<'_>) -> impl Ord + use<'a> {
    definition_key(hit.repository, &hit.symbol, num_uses, context)
}

/// Whether the path of a symbol's file is equal to this path, or ends with it.
pub(crate) fn is_in_file(path: &str, symbol: &SymbolEntry) -> bool {
    let path = path.trim_start_matches("./");
    symbol.path.as_str() == path || symbol.path.as_str().strip_suffix(path).is_some_and(|before| before.ends_with('/'))
}

/// The qualified names of the hits without duplicates, in order.
fn different_names(hits: &[ResolvedSymbol]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for hit in hits {
        if !names.contains(&hit.symbol.qualified_name) {
            names.push(hit.symbol.qualified_name.clone());
        }
    }
    names.truncate(NUM_SIMILAR);
    names
}

/// The first hit of each name, in order.
fn one_of_each<'a>(hits: impl Iterator<Item = &'a ResolvedSymbol>) -> Vec<ResolvedSymbol> {
    let mut first: Vec<ResolvedSymbol> = Vec::new();
    for hit in hits {
        if first.iter().all(|known| known.symbol.name != hit.symbol.name) {
            first.push(hit.clone());
        }
    }
    first.truncate(NUM_SIMILAR - 1);
    first
}

fn substitution(requested: &str, hit: &ResolvedSymbol, others: &[ResolvedSymbol]) -> Option<Substitution> {
    let (matching, reason) = match hit.tier {
        NameTier::Exact => return None,
        NameTier::Case => (NameMatching::Case, "other case".to_owned()),
        NameTier::Style => (NameMatching::Style, "other style".to_owned()),
        NameTier::Near => (NameMatching::Fuzzy, hit.reasons.to_string()),
    };
    let (requested, used) = (requested.to_owned(), hit.symbol.qualified_name.clone());
    Some(Substitution { requested, used, matching, score: hit.score, reason, similar: different_names(others) })
}

/// The error for an absent name, with near names.
fn unknown_symbol(symbol: &str, near: Vec<String>) -> QueryError {
    let mut error = QueryError::new(QueryErrorCode::NotFound, format!("no symbol is called `{symbol}`"));
    if let Some(best) = near.first() {
        error = error.next(NextCall {
            tool: "read_code",
            reason: format!("`{best}` is the most similar name"),
            arguments: vec![("symbol", best.clone())],
        });
    }
    error.similar_symbols = near;
    error.hint("search for a description of the code instead of its name").next(NextCall {
        tool: "search_code",
        reason: "finds code by words".to_owned(),
        arguments: vec![("query", symbol.to_owned())],
    })
}

/// The error for a name that is defined in another file, but not in the given file.
fn defined_elsewhere(symbol: &str, path: &str, elsewhere: &SymbolEntry) -> QueryError {
    let message = format!("`{path}` defines no `{symbol}`; `{}` does, at line {}", elsewhere.path, elsewhere.line);
    let mut error = QueryError::new(QueryErrorCode::NotFound, message);
    error.similar_symbols = vec![elsewhere.qualified_name.clone()];
    error.similar_files = vec![elsewhere.path.to_string()];
    error.next(NextCall {
        tool: "read_code",
        reason: "reads the file that defines the symbol".to_owned(),
        arguments: vec![("symbol", symbol.to_owned()), ("path", elsewhere.path.to_string())],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_may_contain_a_path() {
        let check = |name: &str, path: Option<&str>, expect: &str| {
            let request = NameRequest::new(name).with_path_of_name();
            assert_eq!((request.path, request.name), (path, expect), "{name}");
        };
        check("src/server.py#Server.run", Some("src/server.py"), "Server.run");
        check("server.py#run", Some("server.py"), "run");
        check("Server#run", None, "Server#run");
        check("App.Server#run", None, "App.Server#run");
        check("#private", None, "#private");
        check("run", None, "run");
    }
}
