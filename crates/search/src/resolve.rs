//! Resolves a requested name to its definitions. Searches, reads and relationship questions use this module.

use cairn_domain::{NodeKey, Scope, View};
use cairn_name_match::{LearnedAbbreviation, Reason, Reasons, folded};
use cairn_ports::{MAX_DEFINITIONS as MAX_RESOLVED, NameMatch, NameTier, ResolvedSymbol};
use cairn_ranking::{DefinitionContext, definition_key};
use cairn_redaction::{Given, Message, quoted};

use crate::path_of_name::{is_in_file, num_common_parts, path_of_name, possible_paths};
use crate::repositories::KnownRepository;
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Minimum score, in thousandths, of a near name that is used. Names with a lower score are only suggested.
const MIN_SCORE: u32 = 660;
/// Replaces [`MIN_SCORE`] for a name that has a different word.
const MIN_SCORE_OF_OTHER_WORD: u32 = 700;
/// Minimum score, in thousandths, of a name whose definitions come before other results. With a lower score,
/// the question may ask for a text that contains the name.
pub(crate) const MIN_LEADING_SCORE: u32 = 750;
/// A name with at least this score, in thousandths, differs from the requested name at most in case and
/// style.
pub const SAME_NAME: u32 = 950;
/// Number of near names that are suggested.
pub(crate) const NUM_SIMILAR: usize = 5;
/// Number of near names that are read to find a near name in one file.
const NUM_NEAR_IN_SCOPE: usize = 200;
/// Maximum number of definitions of a name that an answer considers. The answer states the number of all
/// definitions if there are more.
const MAX_DEFINITIONS: usize = 50;
/// Maximum number of definitions of a name whose uses are counted, because the call that counts them reads
/// the edges of every definition.
const MAX_COUNTED: usize = 200;

/// The way in which a name in an answer was matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatching {
    Exact,
    Case,
    Style,
    Fuzzy,
    /// The definition is in a file that changed after it was indexed.
    Changed,
    /// A regular expression found the definition in a text.
    Heuristic,
    /// A file or directory whose path differs from the requested name.
    File,
    /// The name is the name of a directory, and the files in the directory are used.
    Directory,
    /// The name is the name of a module, and the files of the module are used.
    Module,
    /// A package with a similar name.
    Package,
}

impl NameMatching {
    pub fn as_str(self) -> &'static str {
        match self {
            NameMatching::Exact => "exact",
            NameMatching::Case => "case",
            NameMatching::Style => "style",
            NameMatching::Fuzzy => "fuzzy",
            NameMatching::Changed => "changed",
            NameMatching::Heuristic => "heuristic",
            NameMatching::File => "file",
            NameMatching::Directory => "directory",
            NameMatching::Module => "module",
            NameMatching::Package => "package",
        }
    }
}

/// How the name of a definition matches the requested name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchedName {
    /// The qualified name of the definition. For a default export, the path of its file comes first.
    pub name: String,
    pub matching: NameMatching,
    /// In thousandths.
    pub score: u32,
    /// The differences between the used name and the requested name, as a text for users.
    pub reason: String,
}

/// States that an answer uses a different name than the requested name. Every such answer contains a
/// `Substitution`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Substitution {
    pub requested: String,
    /// The name that was used.
    pub used: String,
    pub matching: NameMatching,
    /// The score in thousandths.
    pub score: u32,
    /// The differences between the used name and the requested name, as a text for users.
    pub reason: String,
    /// Other near names, nearest first. Empty if the used name differs only in case or style. For a file, the
    /// list contains the other paths with the requested name.
    pub similar: Vec<String>,
}

impl MatchedName {
    pub(crate) fn of(hit: &ResolvedSymbol) -> Self {
        let (matching, reason) = match hit.tier {
            NameTier::Exact => (NameMatching::Exact, "same name".to_owned()),
            NameTier::Case => (NameMatching::Case, "other case".to_owned()),
            NameTier::Style if hit.reasons.contains(Reason::DefaultExport) => {
                (NameMatching::Fuzzy, hit.reasons.to_string())
            }
            NameTier::Style => (NameMatching::Style, "other style".to_owned()),
            NameTier::Near if hit.reasons == Reasons::NONE => (NameMatching::Fuzzy, "same words".to_owned()),
            NameTier::Near => (NameMatching::Fuzzy, hit.reasons.to_string()),
        };
        let name = match hit.reasons.contains(Reason::DefaultExport) {
            true => format!("{}#{}", hit.symbol.path, hit.symbol.qualified_name),
            false => hit.symbol.qualified_name.clone(),
        };
        Self { name, matching, score: hit.score, reason }
    }
}

impl Substitution {
    /// The way in which the used definition matches the request.
    pub(crate) fn matched(&self) -> MatchedName {
        let Self { used, matching, score, reason, .. } = self;
        MatchedName { name: used.clone(), matching: *matching, score: *score, reason: reason.clone() }
    }

    /// Whether the names differ at most in case and style.
    pub(crate) fn is_same_name(&self) -> bool {
        match self.matching {
            NameMatching::Exact | NameMatching::Case | NameMatching::Style => true,
            NameMatching::Changed => self.score >= SAME_NAME,
            NameMatching::Fuzzy
            | NameMatching::Heuristic
            | NameMatching::File
            | NameMatching::Directory
            | NameMatching::Module
            | NameMatching::Package => false,
        }
    }
}

/// A name to resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameRequest<'a> {
    /// A name, a qualified name, `path#name`, `path::name`, `path:name`, or a phrase.
    pub(crate) name: &'a str,
    /// The file that must define the name, or the directory of this file.
    pub(crate) path: Option<&'a str>,
    /// A file near the wanted definition.
    pub(crate) near_path: Option<&'a str>,
    /// Whether the order of the definitions depends on the number of their uses. Counting the uses needs one
    /// call to the graph store.
    pub(crate) counts_uses: bool,
}

impl<'a> NameRequest<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        Self { name, path: None, near_path: None, counts_uses: true }
    }

    /// A request that does not count uses, for callers that sort the definitions by other criteria.
    pub(crate) fn uncounted(name: &'a str) -> Self {
        Self { counts_uses: false, ..Self::new(name) }
    }

    /// Splits a name that contains a path: `src/server.py#Server.run` requests `Server.run` in
    /// `src/server.py`.
    pub(crate) fn with_path_of_name(self) -> Self {
        match path_of_name(self.name) {
            Some((path, name)) => Self { name, path: self.path.or(Some(path)), ..self },
            None => self,
        }
    }
}

/// The definitions to which a name was resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resolved {
    /// The best definitions of one name, best first. Never empty.
    pub(crate) definitions: Vec<ResolvedSymbol>,
    /// The number of definitions of the name in scope. At most `MAX_RESOLVED` definitions are counted.
    pub(crate) num_definitions: usize,
    /// The best definition of each other near name, nearest name first.
    pub(crate) near: Vec<ResolvedSymbol>,
    /// Set if the name differs from the requested name.
    pub(crate) substitution: Option<Substitution>,
    /// Whether the first parts of the requested name are the place of the definitions. A module may have
    /// exactly the requested name.
    pub(crate) is_by_place: bool,
}

impl Resolved {
    /// Whether the definitions have the requested name, apart from case and style.
    pub(crate) fn is_same_name(&self) -> bool {
        self.definitions.first().is_some_and(|first| first.tier != NameTier::Near)
    }

    /// Whether the name of the definitions itself is the requested name, apart from case and style, and not
    /// the name of their file or place.
    pub(crate) fn has_exactly_this_name(&self) -> bool {
        let is_same = |used: &Substitution| used.is_same_name();
        self.is_same_name() && !self.is_by_place && self.substitution.as_ref().is_none_or(is_same)
    }

    /// The qualified names of the definitions and of the near names, without duplicates.
    pub(crate) fn names(&self) -> Vec<String> {
        let all: Vec<ResolvedSymbol> = self.definitions.iter().chain(&self.near).cloned().collect();
        different_names(&all)
    }

    /// A sentence that states how many definitions of the name are left out. `None` if none is left out.
    pub(crate) fn cut_note(&self) -> Option<Message> {
        let (first, num_all) = (self.definitions.first()?, self.num_definitions);
        let note = cut_note(self.definitions.len(), (num_all, num_all >= MAX_RESOLVED), "definitions of ")?;
        let note = note.and(quoted(&first.symbol.name)).and(" are considered; `path#name` selects the definitions");
        Some(note.and(" in one file."))
    }
}

/// The beginning of a sentence about code with one name: the number of used places and the number of all
/// places. `None` if all places are used. `is_at_least` states whether further places may exist.
pub(crate) fn cut_note(num_used: usize, (num_all, is_at_least): (usize, bool), what: &'static str) -> Option<Message> {
    let at_least = if is_at_least { "at least " } else { "" };
    let note = Message::from("Only ").and(num_used).and(" of ").and(at_least).and(num_all).and(" ").and(what);
    (num_used < num_all).then_some(note)
}

impl Searcher {
    /// Resolves a name. If the name is absent, the error contains near names.
    pub(crate) async fn resolve_name(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        request: NameRequest<'_>,
    ) -> Result<Resolved, QueryError> {
        let request = request.with_path_of_name();
        let mut hits = self.names.resolve(view, scope, request.name, &[], NUM_SIMILAR).await?;
        let mut learned = Vec::new();
        if hits.first().is_none_or(|best| best.tier == NameTier::Near) {
            learned = self.learned_abbreviations(selected, request.name).await?;
        }
        if !learned.is_empty() {
            hits = self.names.resolve(view, scope, request.name, &learned, NUM_SIMILAR).await?;
        }
        if let Some(path) = request.path {
            hits = self.hits_in_file(view, scope, (request.name, path), &learned, hits).await?;
        }
        let mut is_by_place = false;
        if request.path.is_none() && hits.first().is_none_or(|best| best.tier == NameTier::Near) {
            let mut found = self.definitions_by_place(view, (scope, selected), request.name).await?;
            is_by_place = !found.is_empty();
            if found.is_empty() {
                found = self.default_exports(view, scope, request.name).await?;
            }
            if !found.is_empty() {
                hits = found;
            }
        }
        let near: Vec<String> = different_names(&hits);
        let best = best_of_same_words(&hits).filter(|best| is_near_enough(best.score, best.reasons));
        let Some(best) = best.cloned() else {
            return Err(unknown_symbol(request.name, near));
        };
        let name = best.symbol.name.clone();
        let mut others = Vec::new();
        if best.tier == NameTier::Near {
            others = one_of_each(hits.iter().filter(|hit| hit.symbol.name != name));
            hits.retain(|hit| hit.rank == best.rank && hit.symbol.name == name);
        }
        let num_definitions = hits.len();
        self.sort_definitions(view, scope, &mut hits, request).await?;
        let substitution = hits.first().and_then(|first| substitution(request.name, first, &others));
        Ok(Resolved { definitions: hits, num_definitions, near: others, substitution, is_by_place })
    }

    /// The hits in one file. A near name in this file is found even if other files contain nearer names. If
    /// the file contains no near name, the hits of all files are returned with a score of 0, so that they are
    /// only suggested.
    async fn hits_in_file(
        &self,
        view: &View,
        scope: &Scope,
        (name, path): (&str, &str),
        learned: &[LearnedAbbreviation],
        everywhere: Vec<ResolvedSymbol>,
    ) -> Result<Vec<ResolvedSymbol>, QueryError> {
        let found = in_file(path, &everywhere);
        let Some(first) = everywhere.first().filter(|_| found.is_empty()) else { return Ok(found) };
        if first.tier != NameTier::Near {
            let is_cut = everywhere.len() >= MAX_RESOLVED;
            let found = if is_cut { self.all_in_file(view, scope, (name, path), first).await? } else { Vec::new() };
            return if found.is_empty() {
                Err(defined_elsewhere(name, path, nearest(path, &everywhere).unwrap_or(first)))
            } else {
                Ok(found)
            };
        }
        let found = in_file(path, &self.names.resolve(view, scope, name, learned, NUM_NEAR_IN_SCOPE).await?);
        if !found.is_empty() {
            return Ok(found);
        }
        Ok(everywhere.into_iter().map(|hit| ResolvedSymbol { score: 0, ..hit }).collect())
    }

    /// The definitions of a name in one file, if the name has so many definitions that the list of hits does
    /// not contain all of them. `first` is any definition of the name, and determines how names are compared.
    async fn all_in_file(
        &self,
        view: &View,
        scope: &Scope,
        (name, path): (&str, &str),
        first: &ResolvedSymbol,
    ) -> Result<Vec<ResolvedSymbol>, QueryError> {
        let way = match first.tier {
            NameTier::Exact => NameMatch::Exact,
            NameTier::Case => NameMatch::CaseInsensitive,
            NameTier::Style | NameTier::Near => NameMatch::StyleInsensitive,
        };
        let hits = self.names.symbols(view, scope, name, &[way], usize::MAX).await?;
        let in_path = hits.into_iter().filter(|hit| is_in_file(path, &hit.symbol.path));
        let resolved =
            in_path.map(|hit| ResolvedSymbol { repository: hit.repository, symbol: hit.symbol, ..first.clone() });
        let mut found = in_file(path, &resolved.collect::<Vec<_>>());
        found.truncate(MAX_RESOLVED);
        Ok(found)
    }

    /// Sorts the definitions of a name, and keeps the best definitions.
    async fn sort_definitions(
        &self,
        view: &View,
        scope: &Scope,
        hits: &mut Vec<ResolvedSymbol>,
        request: NameRequest<'_>,
    ) -> Result<(), QueryError> {
        let mut with_uses: Vec<(ResolvedSymbol, u64)> = hits.drain(..).map(|hit| (hit, 0)).collect();
        let context = DefinitionContext { near_path: request.near_path };
        sort(&mut with_uses, context);
        if request.counts_uses && with_uses.len() > 1 {
            with_uses.truncate(MAX_COUNTED);
            let nodes: Vec<NodeKey> = with_uses.iter().map(|(hit, _)| hit.symbol.node).collect();
            let counts = self.graph.num_uses(view, scope, &nodes).await?;
            with_uses.iter_mut().zip(counts).for_each(|((_, uses), count)| *uses = count);
            sort(&mut with_uses, context);
        }
        with_uses.truncate(MAX_DEFINITIONS);
        hits.extend(with_uses.into_iter().map(|(hit, _)| hit));
        Ok(())
    }
}

/// Whether a name is used instead of the requested name. If one of few words differs, the names often have
/// different meanings.
pub(crate) fn is_near_enough(score: u32, reasons: Reasons) -> bool {
    score >= if reasons.contains(Reason::OtherWord) { MIN_SCORE_OF_OTHER_WORD } else { MIN_SCORE }
}

fn sort(definitions: &mut [(ResolvedSymbol, u64)], context: DefinitionContext<'_>) {
    definitions.sort_by(|(left, left_uses), (right, right_uses)| {
        let left = (std::cmp::Reverse(left.score), key(left, *left_uses, context));
        left.cmp(&(std::cmp::Reverse(right.score), key(right, *right_uses, context)))
    });
}

fn key<'a>(hit: &'a ResolvedSymbol, num_uses: u64, context: DefinitionContext<'_>) -> impl Ord + use<'a> {
    definition_key(hit.repository, &hit.symbol, num_uses, context)
}

/// The hits in files with this path. An absolute path may end with the paths of several files; the hits in
/// the file with the longest path are returned.
fn in_file(path: &str, hits: &[ResolvedSymbol]) -> Vec<ResolvedSymbol> {
    let num_common = |hit: &&ResolvedSymbol| num_common_parts(path, &hit.symbol.path);
    let longest = hits.iter().map(|hit| num_common(&hit)).max().unwrap_or_default();
    hits.iter().filter(|hit| longest > 0 && num_common(hit) == longest).cloned().collect()
}

/// The definition that is nearest to the path. Tests and copies come last.
fn nearest<'a>(path: &str, hits: &'a [ResolvedSymbol]) -> Option<&'a ResolvedSymbol> {
    let distance = |hit: &'a ResolvedSymbol| {
        let near = possible_paths(path).map(|path| key(hit, 0, DefinitionContext { near_path: Some(path) }));
        near.min()
    };
    hits.iter().min_by(|left, right| distance(left).cmp(&distance(right)))
}

/// The first hit. If it has a near name, other names with the same words are equally near: `_render` and
/// `render`. Then the first exported definition is returned.
fn best_of_same_words(hits: &[ResolvedSymbol]) -> Option<&ResolvedSymbol> {
    let first = hits.first()?;
    let words = folded(&first.symbol.name);
    let has_same_words = |hit: &&ResolvedSymbol| {
        hit.tier == NameTier::Near && hit.rank == first.rank && folded(&hit.symbol.name) == words
    };
    let key = |hit: &&ResolvedSymbol| (hit.symbol.is_test, !hit.symbol.exported);
    hits.iter().filter(has_same_words).min_by_key(key).or(Some(first))
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
    let MatchedName { name: used, matching, score, reason } = MatchedName::of(hit);
    let (requested, similar) = (requested.to_owned(), different_names(others));
    (hit.tier != NameTier::Exact).then_some(Substitution { requested, used, matching, score, reason, similar })
}

pub(crate) fn no_symbol(name: &str) -> Message {
    Message::from("no symbol is called ").and(Given(name))
}

/// The error for an absent name, with near names.
fn unknown_symbol(symbol: &str, near: Vec<String>) -> QueryError {
    let mut error = QueryError::new(QueryErrorCode::NotFound, no_symbol(symbol));
    if let Some(best) = near.first() {
        error = error.next(NextCall {
            tool: "read_code",
            reason: Message::default().and(quoted(best)).and(" is the most similar name"),
            arguments: vec![("symbol", best.clone())],
        });
    }
    error.similar_symbols = near;
    error.hint("search for a description of the code instead of its name").next(NextCall {
        tool: "search_code",
        reason: "finds code by words".into(),
        arguments: vec![("query", symbol.to_owned())],
    })
}

/// The error for a name that is defined in other files, but not in the requested file.
fn defined_elsewhere(symbol: &str, path: &str, elsewhere: &ResolvedSymbol) -> QueryError {
    let elsewhere = &elsewhere.symbol;
    let message = Message::default().and(Given(path)).and(" defines no ").and(Given(symbol)).and("; ");
    let message = message.and(quoted(elsewhere.path.as_str())).and(" does, at line ").and(elsewhere.line);
    let mut error = QueryError::new(QueryErrorCode::NotFound, message);
    error.similar_symbols = vec![elsewhere.qualified_name.clone()];
    error.similar_files = vec![elsewhere.path.to_string()];
    error.next(NextCall {
        tool: "read_code",
        reason: "reads the file that defines the symbol".into(),
        arguments: vec![("symbol", symbol.to_owned()), ("path", elsewhere.path.to_string())],
    })
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryId, RepositoryName, SymbolEntry, Tenant};

    use super::*;
    use crate::test_symbols::symbol_in;

    fn hit(name: &str, rank: u32, exported: bool, is_test: bool) -> ResolvedSymbol {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("shop"));
        let symbol = SymbolEntry { exported, is_test, ..symbol_in(repository, "src/a.py", name) };
        ResolvedSymbol { repository, symbol, tier: NameTier::Near, score: rank, rank, reasons: Reasons::NONE }
    }

    #[test]
    fn exported_names_come_before_private_names_with_the_same_words() {
        let check = |hits: &[ResolvedSymbol], expect: Option<&str>| {
            assert_eq!(best_of_same_words(hits).map(|best| best.symbol.name.as_str()), expect, "{hits:?}");
        };
        let private = hit("_render_to_pipe", 900, false, false);
        check(&[private.clone(), hit("render_to_pipe", 900, true, false)], Some("render_to_pipe"));
        check(&[hit("render_to_pipe", 900, true, false), private.clone()], Some("render_to_pipe"));
        // The exported name is less near, has other words, or is in a test.
        check(&[private.clone(), hit("render_to_pipe", 890, true, false)], Some("_render_to_pipe"));
        check(&[private.clone(), hit("render_to_pile", 900, true, false)], Some("_render_to_pipe"));
        check(&[private, hit("render_to_pipe", 900, true, true)], Some("_render_to_pipe"));
        check(&[], None);
    }
}
