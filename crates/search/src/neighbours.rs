//! Adds code to the hits of a question: the code that edges of the graph connect with the best hits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, RepoPath, Scope};
use cairn_ports::{ChunkFilter, Follow, Reached, TraversalRequest};
use cairn_ranking::{Expansion, RankedHit, Signals, Via, expand};

use crate::chunk_filter::CompiledFilter;
use crate::chunk_id::{ChunkId, Chunks, id_of_chunk};
use crate::hit_definitions::{HitDefinition, leading};
use crate::prepared_query::PreparedQuery;
use crate::sites::Site;
use crate::{QueryError, Searcher};

/// The kinds of edges that lead from hits to added neighbours.
pub(crate) const EXPANDED_KINDS: [EdgeKind; 4] =
    [EdgeKind::Calls, EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Imports];
/// Number of best hits whose neighbours are added.
const NUM_SOURCES: usize = 5;
/// Maximum number of definitions per hit. The neighbours of further definitions in the hit are not added.
const MAX_OF_SOURCE: usize = 8;
/// Maximum number of added hits. With a larger maximum, added hits would replace hits that match the
/// question.
pub(crate) const MAX_ADDED: usize = 3;
/// Maximum number of neighbours whose chunks are looked up.
const MAX_LOOKED_UP: usize = 20;
/// Edges with a lower confidence are ignored. Most such edges are wrong, because their reference has many
/// possible targets.
pub(crate) const MIN_CONFIDENCE_PERCENT: u8 = 20;
const MAX_EDGES: usize = 30;
const MAX_NEIGHBOURS: usize = 150;

/// A definition or a document from which the edges of the graph are followed.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The score of the hit that shows the source; 0 if no hit shows it.
    pub(crate) score: u64,
    pub(crate) symbol: String,
    pub(crate) path: RepoPath,
    pub(crate) chunk: ChunkId,
    /// Whether the question contains a word of the symbol's name.
    pub(crate) is_asked: bool,
}

impl Source {
    /// A symbol that the chunk of a hit shows.
    pub(crate) fn of_hit(hit: &RankedHit, symbol: &str) -> Self {
        let (path, chunk) = (hit.chunk.path.clone(), id_of_chunk(&hit.chunk));
        Self { score: hit.score, symbol: symbol.to_owned(), path, chunk, is_asked: false }
    }
}

/// The nodes of the definitions from which edges are followed, each with its hit.
fn sources(hits: &[RankedHit], definitions: &[HitDefinition]) -> BTreeMap<NodeKey, Source> {
    let mut sources: BTreeMap<NodeKey, Source> = BTreeMap::new();
    for HitDefinition { node, symbol, hit, is_asked } in leading(definitions, NUM_SOURCES, MAX_OF_SOURCE) {
        let source = || Source { is_asked: *is_asked, ..Source::of_hit(&hits[*hit], symbol) };
        sources.entry(*node).or_insert_with(source);
    }
    sources
}

/// The question, and the page of hits to which neighbours in the graph are added.
#[derive(Clone)]
pub(crate) struct Extension<'a> {
    pub(crate) query: &'a PreparedQuery,
    pub(crate) scope: &'a Scope,
    pub(crate) filter: &'a ChunkFilter,
    /// The positions of the hits of the page among all hits.
    pub(crate) page: Range<usize>,
}

impl Extension<'_> {
    /// Adds the chunks of the reached nodes, at most `max_added` chunks.
    pub(crate) fn expanded(
        &self,
        hits: Vec<RankedHit>,
        sources: &BTreeMap<NodeKey, Source>,
        (shown, chunks): (&[(&Reached, ChunkId)], &Chunks),
        (max_added, signals): (usize, Signals),
    ) -> Result<Vec<RankedHit>, QueryError> {
        let compiled = CompiledFilter::new(self.filter)?;
        let expansion = |(reached, id): &(&Reached, ChunkId)| {
            let chunk = chunks.get(id).filter(|chunk| compiled.lets_through(chunk))?;
            let source = sources.get(&reached.previous)?;
            let (source_score, confidence, depth) = (source.score, reached.confidence, reached.depth);
            let via = via(reached, &source.symbol, Some(&source.path));
            Some(Expansion { chunk: chunk.clone(), source_score, confidence, depth, via })
        };
        let expansions: Vec<Expansion> = shown.iter().filter_map(expansion).take(max_added).collect();
        Ok(expand(hits, expansions, self.query.subjects_with(self.filter), signals))
    }
}

/// The best reached nodes that are neighbours of a source. Among nodes with equal scores, the neighbours of
/// definitions that the question names come first, because a chunk may also show unrelated definitions.
pub(crate) fn nearest<'a>(sources: &BTreeMap<NodeKey, Source>, reached: &'a [Reached]) -> Vec<&'a Reached> {
    let score =
        |reached: &&Reached| sources.get(&reached.previous).map_or(0, |source| source.score) * reached.confidence;
    let mut best: Vec<&Reached> = reached.iter().filter(|reached| score(reached) > 0).collect();
    let is_asked = |reached: &Reached| sources.get(&reached.previous).is_some_and(|source| source.is_asked);
    best.sort_by_key(|reached| (Reverse(score(reached)), !is_asked(reached), reached.node.is_test, reached.node.key));
    best.truncate(MAX_LOOKED_UP);
    best
}

/// The reached nodes that have a chunk, each with its chunk. A node in the chunk of its source is omitted,
/// because a hit already shows it.
pub(crate) fn in_other_chunks<'a>(
    sources: &BTreeMap<NodeKey, Source>,
    reached: Vec<&'a Reached>,
    ids: impl IntoIterator<Item = Option<ChunkId>>,
) -> Vec<(&'a Reached, ChunkId)> {
    let is_other =
        |(reached, id): &(&Reached, ChunkId)| sources.get(&reached.previous).is_none_or(|source| source.chunk != *id);
    let shown = reached.into_iter().zip(ids).filter_map(|(reached, id)| Some((reached, id?)));
    shown.filter(is_other).collect()
}

/// The reached nodes as sites, each at the line with the name of the node.
pub(crate) fn sites(reached: &[&Reached]) -> Vec<Site> {
    reached.iter().map(|reached| Site { node: reached.node.clone(), line: None }).collect()
}

impl Searcher {
    /// Adds the nodes that one edge connects with the best hits.
    pub(crate) async fn with_neighbours(
        &self,
        extension: Extension<'_>,
        hits: Vec<RankedHit>,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let Extension { query, scope, .. } = extension;
        let first = &hits[..hits.len().min(NUM_SOURCES)];
        let sources = sources(&hits, &self.definitions_of_hits(query, scope, first).await?);
        if sources.is_empty() {
            return Ok(hits);
        }
        let request = TraversalRequest {
            starts: sources.keys().copied().collect(),
            follow: Follow::Both,
            returns_starts: false,
            kinds: EXPANDED_KINDS.to_vec(),
            min_confidence_percent: MIN_CONFIDENCE_PERCENT,
            max_depth: 1,
            max_edges_per_node: MAX_EDGES,
            max_nodes: MAX_NEIGHBOURS,
        };
        let reached = self.graph.traverse(&query.view, scope, &request).await?.reached;
        let best = nearest(&sources, &reached);
        let ids = self.chunks_of_sites(query, scope, &sites(&best)).await?;
        let shown = in_other_chunks(&sources, best, ids);
        self.with_shown(extension, hits, &sources, shown, MAX_ADDED).await
    }

    /// Adds the chunks of the reached nodes, at most `max_added` chunks.
    pub(crate) async fn with_shown(
        &self,
        extension: Extension<'_>,
        mut hits: Vec<RankedHit>,
        sources: &BTreeMap<NodeKey, Source>,
        shown: Vec<(&Reached, ChunkId)>,
        max_added: usize,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let chunks = self.fetch_with_page(&extension, &mut hits, (BTreeSet::new(), &shown), max_added).await?;
        extension.expanded(hits, sources, (&shown, &chunks), (max_added, self.signals))
    }

    /// The chunks in `ids`, and the first reached chunks, with their texts. The same call reads the texts of
    /// the hits that may be on the page after these chunks are added or moved up.
    pub(crate) async fn fetch_with_page(
        &self,
        extension: &Extension<'_>,
        hits: &mut [RankedHit],
        (mut ids, shown): (BTreeSet<ChunkId>, &[(&Reached, ChunkId)]),
        max_added: usize,
    ) -> Result<Chunks, QueryError> {
        let Extension { query, scope, filter, page } = extension;
        // With a filter, all chunks are read, because the filter may exclude the first ones. Without a
        // filter, only the first chunks are needed.
        let num_read = if **filter == ChunkFilter::default() { max_added } else { shown.len() };
        let start = page.start.saturating_sub(ids.len() + max_added);
        let on_page = hits.iter().take(page.end).skip(start).filter(|hit| hit.chunk.text.is_empty());
        ids.extend(on_page.map(|hit| id_of_chunk(&hit.chunk)));
        ids.extend(shown.iter().take(num_read).map(|(_, id)| *id));
        // The second stage of the ranking has already read the texts of the first hits.
        let with_text = hits.iter().map(|hit| &hit.chunk).filter(|chunk| !chunk.text.is_empty());
        let with_text = with_text.map(|chunk| (id_of_chunk(chunk), chunk));
        let mut chunks: Chunks =
            with_text.filter(|(id, _)| ids.remove(id)).map(|(id, chunk)| (id, chunk.clone())).collect();
        chunks.extend(self.fetch_texts(&query.view, scope, ids).await?);
        if shown.iter().take(num_read).any(|(_, id)| !chunks.contains_key(id)) {
            let later = shown.iter().skip(num_read).map(|(_, id)| *id).collect();
            chunks.extend(self.fetch_texts(&query.view, scope, later).await?);
        }
        for hit in hits {
            if let Some(chunk) = chunks.get(&id_of_chunk(&hit.chunk)) {
                hit.chunk.text.clone_from(&chunk.text);
                hit.chunk.has_secrets = chunk.has_secrets;
            }
        }
        Ok(chunks)
    }
}

/// All edges that lead to a reached node, the best first, each with the node from which it was followed.
pub(crate) fn edges_to(reached: &Reached) -> impl Iterator<Item = (&EdgeRecord, NodeKey)> {
    let previous = |edge: &EdgeRecord| if edge.source == reached.node.key { edge.target } else { edge.source };
    [&reached.edge].into_iter().chain(&reached.other_edges).map(move |edge| (edge, previous(edge)))
}

/// Whether some node may have edges that were not followed, because only `max_edges` edges of a node are
/// followed.
pub(crate) fn has_full_node(reached: &[Reached], max_edges: usize) -> bool {
    let mut num_edges: BTreeMap<NodeKey, usize> = BTreeMap::new();
    for reached in reached {
        for (_, previous) in edges_to(reached) {
            *num_edges.entry(previous).or_default() += 1;
        }
    }
    num_edges.values().any(|num| *num >= max_edges)
}

/// The edge that leads to the reached node from the symbol in the file `path`.
pub(crate) fn via(reached: &Reached, symbol: &str, path: Option<&RepoPath>) -> Via {
    via_edge(&reached.edge, reached.edge.source == reached.previous, (symbol, path))
}

/// An edge of a hit. `is_outgoing` is true if the edge leads from the symbol to the hit.
pub(crate) fn via_edge(edge: &EdgeRecord, is_outgoing: bool, (symbol, path): (&str, Option<&RepoPath>)) -> Via {
    Via {
        edge: edge.kind,
        is_outgoing,
        symbol: symbol.to_owned(),
        path: path.cloned(),
        line: edge.line,
        confidence_percent: edge.confidence_percent,
    }
}
