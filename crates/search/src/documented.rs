//! If hits of a search are navigation documents, adds the files and symbols that these documents name.
//!
//! A navigation document (such as a README) answers a question about a module, an entry point or the
//! conventions of a repository. The files that the document names are also part of the answer.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cairn_domain::{ChunkKind, EdgeKind, NodeKey, NodeKind, RepoPath, RepositoryId, Scope};
use cairn_ports::{Follow, Reached, TraversalRequest};
use cairn_ranking::RankedHit;

use crate::chunk_id::ChunkId;
use crate::neighbours::{Extension, MIN_CONFIDENCE_PERCENT, Source, sites};
use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

/// The kinds of edges that lead from a document to its sections, and from the sections to files and symbols.
const FOLLOWED_KINDS: [EdgeKind; 3] = [EdgeKind::Contains, EdgeKind::EntryPoint, EdgeKind::Mentions];
/// Only documents among this number of best hits are followed.
const NUM_LEADING: usize = 5;
/// Documents are followed only if at least one document is among this number of best hits.
const NUM_FIRST: usize = 3;
/// Maximum number of added hits.
const MAX_ADDED: usize = 6;
const MAX_LOOKED_UP: usize = 20;
const MAX_EDGES: usize = 60;
const MAX_NODES: usize = 300;

/// Whether the question is about modules, entry points or the conventions of a repository, and a document is
/// among the best hits.
pub(crate) fn are_answered_by_documents(query: &PreparedQuery, hits: &[RankedHit]) -> bool {
    query.subjects.navigation && hits.iter().take(NUM_FIRST).any(is_document)
}

fn is_document(hit: &RankedHit) -> bool {
    hit.chunk.kind == ChunkKind::Navigation
}

impl Searcher {
    /// Adds the files and symbols that the documents among the best hits name. Entry points, and names in the
    /// sections that the hits show, come before names in other sections.
    pub(crate) async fn with_documented(
        &self,
        extension: Extension<'_>,
        hits: Vec<RankedHit>,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let Extension { query, scope, .. } = extension;
        let mut sources = sources(&hits);
        let request = TraversalRequest {
            starts: sources.keys().copied().collect(),
            follow: Follow::Out,
            returns_starts: false,
            kinds: FOLLOWED_KINDS.to_vec(),
            min_confidence_percent: MIN_CONFIDENCE_PERCENT,
            max_depth: 2,
            max_edges_per_node: MAX_EDGES,
            max_nodes: MAX_NODES,
        };
        let reached = self.graph.traverse(&query.view, scope, &request).await?.reached;
        add_sections(&mut sources, &reached);
        let mut named: Vec<&Reached> = reached.iter().filter(|reached| score(&sources, reached) > 0).collect();
        named.sort_by_key(|reached| {
            let is_entry_point = reached.edge.kind == EdgeKind::EntryPoint;
            (reached.depth, !is_entry_point, Reverse(score(&sources, reached)), reached.edge.line, reached.node.key)
        });
        named.truncate(MAX_LOOKED_UP);
        let ids = self.chunks_of_named(query, scope, &hits, &named).await?;
        let shown = named.into_iter().zip(ids).filter_map(|(reached, id)| Some((reached, id?))).collect();
        self.with_shown(extension, hits, &sources, shown, MAX_ADDED).await
    }

    /// The chunk of each named file or symbol. If a named file has hits, the chunk of its best hit is
    /// returned.
    async fn chunks_of_named(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        hits: &[RankedHit],
        named: &[&Reached],
    ) -> Result<Vec<Option<ChunkId>>, QueryError> {
        let mut best: BTreeMap<(RepositoryId, &RepoPath), ChunkId> = BTreeMap::new();
        for hit in hits {
            let chunk = &hit.chunk;
            best.entry((chunk.repository, &chunk.path)).or_insert((chunk.repository, chunk.key));
        }
        let first = self.chunks_of_sites(query, scope, &sites(named)).await?;
        let shown = |(reached, first): (&&Reached, Option<ChunkId>)| match &reached.node {
            node if node.kind == NodeKind::File => {
                node.path.as_ref().and_then(|path| best.get(&(node.repository, path)).copied()).or(first)
            }
            _ => first,
        };
        Ok(named.iter().zip(first).map(shown).collect())
    }
}

/// The nodes of the documents among the best hits, and of the sections that the hits show.
fn sources(hits: &[RankedHit]) -> BTreeMap<NodeKey, Source> {
    let mut sources: BTreeMap<NodeKey, Source> = BTreeMap::new();
    for hit in hits.iter().take(NUM_LEADING).filter(|hit| is_document(hit)) {
        let chunk = &hit.chunk;
        let source = |name: &str| Source::of_hit(hit, name);
        sources.entry(NodeKey::file(chunk.repository, &chunk.path)).or_insert_with(|| source(chunk.path.file_name()));
        if let Some(heading) = &chunk.heading {
            let section = NodeKey::section(chunk.repository, &chunk.path, heading, 0);
            sources.entry(section).or_insert_with(|| source(heading));
        }
    }
    sources
}

/// Adds those sections of the documents that are not hits. Each section gets the score of its document.
fn add_sections(sources: &mut BTreeMap<NodeKey, Source>, reached: &[Reached]) {
    for section in reached.iter().filter(|reached| reached.node.kind == NodeKind::Section) {
        let Some(document) = sources.get(&section.previous) else { continue };
        let heading = section.node.qualified_name.clone();
        let source = Source { symbol: heading, ..document.clone() };
        sources.entry(section.node.key).or_insert(source);
    }
}

/// The score of a named file or symbol before the priors are applied. The result is 0 for other nodes.
fn score(sources: &BTreeMap<NodeKey, Source>, reached: &Reached) -> u64 {
    let is_named = matches!(reached.edge.kind, EdgeKind::Mentions | EdgeKind::EntryPoint)
        && matches!(reached.node.kind, NodeKind::File | NodeKind::Symbol);
    sources.get(&reached.previous).filter(|_| is_named).map_or(0, |source| source.score * reached.confidence)
}
