//! Finds the definitions that the chunks of hits show.
//!
//! The edges of the graph connect definitions. A chunk may show several definitions: a small file, a group of
//! short functions, or a class with its short methods. So edges are followed from all these definitions.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKey, ChunkKind, NodeKey, Scope, SymbolEntry, SymbolKind};
use cairn_ranking::RankedHit;

use crate::chunk_id::{ChunkId, id_of_chunk, node_of};
use crate::prepared_query::PreparedQuery;
use crate::term_sets::term_set;
use crate::{QueryError, Searcher};

/// Number of best hits whose definitions are looked up. For each further hit, only the symbol of its chunk is
/// known.
const NUM_LOOKED_UP: usize = 100;

/// A definition that the chunk of a hit shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HitDefinition {
    pub(crate) node: NodeKey,
    /// The qualified name.
    pub(crate) symbol: String,
    /// The position of the hit.
    pub(crate) hit: usize,
    /// Whether the name contains a word of the question.
    pub(crate) is_asked: bool,
}

impl Searcher {
    /// The definitions in the chunks of the hits, in the order of the hits. For each hit, the symbol of its
    /// chunk comes first, and definitions whose names contain a word of the question come before other
    /// definitions. The name index finds all definitions in one call.
    pub(crate) async fn definitions_of_hits(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        hits: &[RankedHit],
    ) -> Result<Vec<HitDefinition>, QueryError> {
        let looked_up = hits.iter().take(NUM_LOOKED_UP).map(|hit| &hit.chunk);
        // A chunk of a pattern describes its members, but shows no definition.
        let looked_up = looked_up.filter(|chunk| chunk.kind != ChunkKind::Pattern);
        let chunks: Vec<ChunkId> = looked_up.map(id_of_chunk).collect();
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let mut of_chunks: BTreeMap<ChunkKey, Vec<SymbolEntry>> = BTreeMap::new();
        for symbol in self.names.symbols_in(&query.view, scope, &chunks).await? {
            if let Some(chunk) = symbol.chunk {
                of_chunks.entry(chunk).or_default().push(symbol);
            }
        }
        let asked = term_set(&query.parsed.subject_words.join(" "));
        let mut definitions = Vec::new();
        for (index, hit) in hits.iter().enumerate() {
            let shown = of_chunks.remove(&hit.chunk.key).unwrap_or_default();
            definitions.extend(definitions_of_hit((index, hit), shown, &asked));
        }
        Ok(definitions)
    }
}

/// The symbol of the hit's chunk, and then the other definitions that the chunk shows.
fn definitions_of_hit(
    (index, hit): (usize, &RankedHit),
    mut shown: Vec<SymbolEntry>,
    asked: &BTreeSet<u32>,
) -> Vec<HitDefinition> {
    let is_asked = |name: &str| !asked.is_disjoint(&term_set(name));
    let definition = |node: NodeKey, symbol: String| {
        let is_asked = is_asked(&symbol);
        HitDefinition { node, symbol, hit: index, is_asked }
    };
    let own_node = node_of(&hit.chunk);
    let own = own_node.zip(hit.chunk.symbol.clone()).map(|(node, symbol)| definition(node, symbol));
    shown.retain(|symbol| Some(symbol.node) != own_node);
    shown.sort_by_cached_key(|symbol| {
        (!is_asked(&symbol.qualified_name), !has_body(symbol.kind), symbol.line, symbol.node)
    });
    let others = shown.into_iter().map(|symbol| definition(symbol.node, symbol.qualified_name));
    own.into_iter().chain(others).collect()
}

/// Whether symbols of this kind contain code. Most edges start at such symbols.
fn has_body(kind: SymbolKind) -> bool {
    kind.is_callable() || kind.is_container()
}

/// The definitions of the first `num_hits` hits, at most `max_of_hit` definitions of each hit.
pub(crate) fn leading(
    definitions: &[HitDefinition],
    num_hits: usize,
    max_of_hit: usize,
) -> impl Iterator<Item = &HitDefinition> {
    let of_hits = definitions.chunk_by(|left, right| left.hit == right.hit);
    let first = of_hits.take_while(move |of_hit| of_hit[0].hit < num_hits);
    first.flat_map(move |of_hit| of_hit.iter().take(max_of_hit))
}

#[cfg(test)]
mod tests {
    use cairn_domain::Digester;

    use super::*;

    /// Each pair is the position of a hit and the name of a definition.
    fn check(shown: &[(usize, &str)], (num_hits, max_of_hit): (usize, usize), expect: &[&str]) {
        let definition = |(hit, name): &(usize, &str)| HitDefinition {
            node: NodeKey(Digester::new("node").text(name).key()),
            symbol: (*name).to_owned(),
            hit: *hit,
            is_asked: false,
        };
        let definitions: Vec<HitDefinition> = shown.iter().map(definition).collect();
        let found = leading(&definitions, num_hits, max_of_hit).map(|definition| definition.symbol.as_str());
        assert_eq!(found.collect::<Vec<_>>(), expect, "{shown:?}");
    }

    #[test]
    fn each_hit_has_a_maximum_number_of_definitions() {
        let shown = [(0, "a"), (0, "b"), (0, "c"), (2, "d"), (3, "e")];
        check(&shown, (5, 5), &["a", "b", "c", "d", "e"]);
        check(&shown, (5, 2), &["a", "b", "d", "e"]);
        check(&shown, (3, 2), &["a", "b", "d"]);
        check(&shown, (2, 1), &["a"]);
        check(&[], (5, 5), &[]);
    }
}
