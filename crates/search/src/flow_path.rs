//! Chooses the path that answers a flow question, among the definitions in the hits and the nodes that a
//! traversal reached.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{EdgeKind, NodeKey, NodeRecord, RepoPath};
use cairn_ports::{Reached, SymbolHit};
use cairn_ranking::{EndMatch, Link, RankedHit, Relevance, Story, Via, best_story};

use crate::chunk_id::ChunkId;
use crate::flow_ends::AskedEnds;
use crate::hit_definitions::{HitDefinition, leading};
use crate::neighbours::{Source, edges_to, via_edge};
use crate::sites::Site;

/// Number of best hits from which paths start, if the question states no start.
const NUM_HITS: usize = 20;
/// Maximum number of definitions in one of these hits from which paths start.
const MAX_OF_HIT: usize = 4;
/// Maximum number of definitions from which paths start.
const MAX_STARTS: usize = 60;

/// A definition that is known before the graph is read.
struct KnownNode {
    source: Source,
    /// The position of the hit that shows the definition. `None` for a definition that is known only because
    /// it has the name of the start.
    hit: Option<usize>,
    is_test: bool,
    from: EndMatch,
    to: EndMatch,
}

impl KnownNode {
    fn new(asked: &AskedEnds, source: Source, hit: Option<usize>, is_test: bool) -> Self {
        let (from, to) = asked.matches(&source.symbol, &source.path);
        Self { source, hit, is_test, from, to }
    }

    fn relevance(&self) -> Relevance {
        Relevance { hit: self.hit, score: self.source.score, from: self.from, to: self.to }
    }
}

/// The definitions in the hits, and the definitions with the name of the start.
pub(crate) struct KnownNodes(BTreeMap<NodeKey, KnownNode>);

/// A step of the path.
pub(crate) struct PathStep {
    pub(crate) place: StepPlace,
    /// The name of the node.
    pub(crate) name: String,
    /// The edge that leads to the node. `None` for the first node.
    pub(crate) via: Option<Via>,
}

pub(crate) enum StepPlace {
    /// The chunk that shows a known definition.
    Chunk(ChunkId),
    /// A node whose chunk must be looked up.
    Node(Box<NodeRecord>),
}

impl PathStep {
    pub(crate) fn site(&self) -> Option<Site> {
        match &self.place {
            StepPlace::Chunk(_) => None,
            StepPlace::Node(node) => Some(Site { node: (**node).clone(), line: None }),
        }
    }
}

impl KnownNodes {
    pub(crate) fn new(
        asked: &AskedEnds,
        hits: &[RankedHit],
        definitions: &[HitDefinition],
        named: Vec<SymbolHit>,
    ) -> Self {
        let mut nodes: BTreeMap<NodeKey, KnownNode> = BTreeMap::new();
        for HitDefinition { node, symbol, hit, .. } in definitions {
            let is_test = hits[*hit].chunk.is_test;
            let known = || KnownNode::new(asked, Source::of_hit(&hits[*hit], symbol), Some(*hit), is_test);
            nodes.entry(*node).or_insert_with(known);
        }
        for SymbolHit { repository, symbol, .. } in named {
            let Some(chunk) = symbol.chunk else { continue };
            let (is_test, node) = (symbol.is_test, symbol.node);
            let (symbol, path) = (symbol.qualified_name, symbol.path);
            let source = Source { score: 0, symbol, path, chunk: (repository, chunk), is_asked: true };
            nodes.entry(node).or_insert_with(|| KnownNode::new(asked, source, None, is_test));
        }
        let mut known = Self(nodes);
        known.match_chunks();
        known
    }

    /// If some definition has exactly the name of the start, only such definitions match. Otherwise, the
    /// other definitions in the chunk of a matching definition match too. The graph does not contain all
    /// calls, and the chunk shows the start in any case.
    fn match_chunks(&mut self) {
        if self.has_named_start() {
            for node in self.0.values_mut() {
                node.from = node.from.only_whole();
            }
            return;
        }
        let matching = self.0.values().filter(|node| node.from >= EndMatch::Name);
        let chunks: BTreeSet<ChunkId> = matching.map(|node| node.source.chunk).collect();
        for node in self.0.values_mut().filter(|node| chunks.contains(&node.source.chunk)) {
            node.from = node.from.max(EndMatch::Nearby);
        }
    }

    /// Whether some definition has exactly the name of the start or the subject.
    pub(crate) fn has_named_start(&self) -> bool {
        self.0.values().any(|node| node.from == EndMatch::Whole)
    }

    /// The definitions from which the graph is followed. If definitions match the stated start, only these
    /// definitions are used, because a traversal returns each node only with the edges of one level, so an
    /// edge from other code could hide an edge of the path. Otherwise, definitions that match the subject
    /// come first, but other hits may also be the start of the flow.
    pub(crate) fn starts(&self, asked: &AskedEnds, definitions: &[HitDefinition]) -> BTreeMap<NodeKey, Source> {
        let least = if asked.from.is_some() { EndMatch::Nearby } else { EndMatch::Name };
        let mut matching: Vec<(&NodeKey, &KnownNode)> = self.0.iter().filter(|(_, node)| node.from >= least).collect();
        matching.sort_by_key(|(key, node)| (Reverse(node.from), node.hit.unwrap_or(usize::MAX), **key));
        let has_start = asked.from.is_some() && !matching.is_empty();
        let others =
            leading(definitions, NUM_HITS, MAX_OF_HIT).filter(|_| !has_start).map(|definition| definition.node);
        let mut starts: Vec<NodeKey> = matching.into_iter().map(|(key, _)| *key).chain(others).collect();
        // A test is the start of a flow only if no other code is.
        let is_test = |key: &NodeKey| self.0.get(key).is_some_and(|node| node.is_test);
        if starts.iter().any(|key| !is_test(key)) {
            starts.retain(|key| !is_test(key));
        }
        let chosen = starts.into_iter().take(MAX_STARTS);
        chosen.filter_map(|key| Some((key, self.0.get(&key)?.source.clone()))).collect()
    }

    pub(crate) fn best_path(&self, asked: &AskedEnds, reached: &[Reached]) -> Option<Story> {
        let known = self.0.iter().map(|(key, node)| (*key, node.relevance()));
        let mut relevance: BTreeMap<NodeKey, Relevance> = known.collect();
        let has_named_start = self.has_named_start();
        for Reached { node, .. } in reached {
            let Some(path) = &node.path else { continue };
            relevance.entry(node.key).or_insert_with(|| {
                let (from, to) = asked.matches(&node.qualified_name, path);
                let from = if has_named_start { from.only_whole() } else { from };
                Relevance { from, to, ..Relevance::default() }
            });
        }
        let links: Vec<Link> = reached.iter().flat_map(links_to).collect();
        best_story(&links, asked.stated(), |node| relevance.get(&node).copied().unwrap_or_default())
    }

    /// The steps of a path, in order.
    pub(crate) fn steps(&self, path: &[NodeKey], reached: &[Reached]) -> Vec<PathStep> {
        let of_node: BTreeMap<NodeKey, &Reached> = reached.iter().map(|reached| (reached.node.key, reached)).collect();
        let previous = [None].into_iter().chain(path.iter().copied().map(Some));
        path.iter().zip(previous).filter_map(|(key, previous)| self.step(*key, previous, &of_node)).collect()
    }

    fn step(&self, key: NodeKey, previous: Option<NodeKey>, reached: &BTreeMap<NodeKey, &Reached>) -> Option<PathStep> {
        let entry = reached.get(&key).copied();
        let (name, _) = self.name_of(key, reached)?;
        let place = match self.0.get(&key) {
            Some(known) => StepPlace::Chunk(known.source.chunk),
            None => StepPlace::Node(Box::new(entry?.node.clone())),
        };
        let via = previous.zip(entry).and_then(|(previous, entry)| {
            let (symbol, path) = self.name_of(previous, reached)?;
            let (edge, _) = edges_to(entry).find(|(_, from)| *from == previous)?;
            Some(via_edge(edge, edge.source == previous, (symbol, Some(path))))
        });
        Some(PathStep { place, name: name.to_owned(), via })
    }

    /// The name and the file of a node on the path.
    fn name_of<'a>(
        &'a self,
        key: NodeKey,
        reached: &BTreeMap<NodeKey, &'a Reached>,
    ) -> Option<(&'a str, &'a RepoPath)> {
        if let Some(KnownNode { source, .. }) = self.0.get(&key) {
            return Some((&source.symbol, &source.path));
        }
        let reached: &'a Reached = reached.get(&key).copied()?;
        Some((&reached.node.qualified_name, reached.node.path.as_ref()?))
    }
}

/// All edges that lead to a reached node.
fn links_to(reached: &Reached) -> impl Iterator<Item = Link> {
    edges_to(reached).map(|(edge, previous)| Link {
        node: reached.node.key,
        previous,
        confidence_percent: edge.confidence_percent,
        is_call: edge.kind == EdgeKind::Calls,
    })
}
