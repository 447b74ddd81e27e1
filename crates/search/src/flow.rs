//! Answers flow questions: finds a path in the graph that starts at a hit, and shows the steps of the path in
//! order before the other hits.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkRecord, EdgeKind, NodeKey, NodeRecord, RepoPath};
use cairn_ports::{ChunkFilter, Follow, Reached, TraversalRequest};
use cairn_question::{FlowAsked, is_file_name};
use cairn_ranking::{
    Ends, Link, RankedHit, Relevance, StopWords, Story, Via, best_story, is_end_of_path, lead_with_path, terms,
};
use cairn_redaction::{Message, Phrase};

use crate::chunk_filter::CompiledFilter;
use crate::chunk_id::{ChunkId, Chunks, node_of};
use crate::neighbours::{Extension, MAX_ADDED, MIN_CONFIDENCE_PERCENT, Source, nearest, sites, sources, via};
use crate::sites::Site;
use crate::{QueryError, Searcher};

/// The kinds of edges that a flow follows. References are included because code may pass a function as a
/// value to the code that calls it.
const FOLLOWED_KINDS: [EdgeKind; 2] = [EdgeKind::Calls, EdgeKind::References];
/// Number of best hits from which paths start.
const NUM_STARTS: usize = 20;
const MAX_EDGES: usize = 30;
const MAX_NODES: usize = 2_000;

/// The start and the end of a flow. A field is `None` if the question does not state it.
struct AskedEnds {
    from: Option<AskedEnd>,
    to: Option<AskedEnd>,
}

/// The start or the end of a flow.
enum AskedEnd {
    /// The path of a file or directory, or the last parts of this path.
    Place(String),
    /// The words that describe the start or the end. A node matches if its name or the name of its file
    /// contains one of these words. If `is_module` is set, the whole path of the file is compared.
    Words { terms: BTreeSet<u32>, is_module: bool },
}

/// Words that may come before or after the name of a module or directory in a question.
const MODULE_WORDS: [&str; 8] =
    ["module", "package", "directory", "folder", "crate", "library", "namespace", "subsystem"];
/// Words that may come before or after the name of a definition or file in a question.
const CODE_WORDS: [&str; 5] = ["file", "class", "function", "method", "interface"];

impl AskedEnds {
    fn of(flow: Option<&FlowAsked>) -> Self {
        let end = |end: Option<&String>| end.and_then(|end| AskedEnd::of(end));
        Self { from: end(flow.and_then(|flow| flow.from.as_ref())), to: end(flow.and_then(|flow| flow.to.as_ref())) }
    }

    /// Whether a node with this name in this file matches the start of the flow, and whether it matches the
    /// end.
    fn matches(&self, name: &str, path: &RepoPath) -> (bool, bool) {
        let is_at = |end: &Option<AskedEnd>| end.as_ref().is_some_and(|end| end.matches(name, path));
        (is_at(&self.from), is_at(&self.to))
    }
}

impl AskedEnd {
    fn of(end: &str) -> Option<Self> {
        let words: Vec<&str> = end.split_whitespace().collect();
        let is_beside = |words: &[&str], word: &str| words.contains(&word.to_lowercase().as_str());
        let is_kind = |word: &&str| is_beside(&MODULE_WORDS, word) || is_beside(&CODE_WORDS, word);
        let names: Vec<&str> = words.iter().copied().filter(|word| !is_kind(word)).collect();
        if let [name] = names.as_slice()
            && (name.contains('/') || is_file_name(name))
        {
            return Some(Self::Place(name.trim_start_matches("./").trim_matches('/').to_owned()));
        }
        let text = if names.is_empty() { end.to_owned() } else { names.join(" ") };
        let terms = term_set(&text);
        let is_module = words.iter().any(|word| is_beside(&MODULE_WORDS, word));
        (!terms.is_empty()).then_some(Self::Words { terms, is_module })
    }

    fn matches(&self, name: &str, path: &RepoPath) -> bool {
        match self {
            Self::Place(place) => is_end_of_path(place, path) || is_below(place, path),
            Self::Words { terms, is_module } => {
                let path = if *is_module { path.as_str() } else { path.file_name() };
                !terms.is_disjoint(&term_set(&format!("{name} {path}")))
            }
        }
    }
}

/// Whether a question asks how a whole module works. Documents describe modules, so such a question is
/// answered with documents. Every other flow question is answered with a path.
pub(crate) fn is_about_module(flow: &FlowAsked) -> bool {
    let is_module = |word: &str| MODULE_WORDS.contains(&word.to_lowercase().as_str());
    let has_end = flow.from.is_some() || flow.to.is_some();
    !has_end && flow.subject.as_ref().is_some_and(|subject| subject.split_whitespace().any(is_module))
}

/// Whether a file is in a directory whose path ends with `directory`.
fn is_below(directory: &str, path: &RepoPath) -> bool {
    format!("/{}", path.as_str()).contains(&format!("/{directory}/"))
}

fn term_set(text: &str) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    terms(text, StopWords::Dropped, |term| {
        set.insert(term);
    });
    set
}

impl Searcher {
    /// Follows the graph from the best hits, puts the steps of the best path first, and adds neighbours of
    /// the hits. One call finds the chunks of the steps and neighbours, and one call reads these chunks.
    pub(crate) async fn with_path(
        &self,
        extension: Extension<'_>,
        mut hits: Vec<RankedHit>,
        notes: &mut Vec<Message>,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let Extension { query, filter, .. } = extension;
        let sources = sources(&hits, NUM_STARTS);
        if sources.is_empty() {
            notes.push(NO_PATH.into());
            return Ok(hits);
        }
        let reached = self.reached_from(&extension, &sources).await?;
        let asked = AskedEnds::of(query.parsed.flow.as_ref());
        let story = best_path(&asked, &hits, &sources, &reached);
        let steps = steps(story.as_ref().map_or(&[], |story| &story.path), &hits, &sources, &reached);
        let near: Vec<Reached> = reached.into_iter().filter(|reached| reached.depth == 1).collect();
        let located = self.located(&extension, &hits, steps, nearest(&sources, &near)).await?;
        let of_path = located.steps.iter().map(|(id, _)| *id).collect();
        let shown = located.neighbours;
        let chunks = self.fetch_with_page(&extension, &mut hits, (of_path, &shown), MAX_ADDED).await?;
        let path = shown_steps(located.steps, &chunks, filter)?;
        notes.extend(note(&asked, query.parsed.flow.as_ref(), story.as_ref(), path.len()));
        let hits = extension.expanded(hits, &sources, (&shown, &chunks), (MAX_ADDED, self.signals))?;
        Ok(if path.len() < 2 { hits } else { lead_with_path(hits, path) })
    }

    /// The nodes that paths from the sources reach.
    async fn reached_from(
        &self,
        extension: &Extension<'_>,
        sources: &BTreeMap<NodeKey, Source>,
    ) -> Result<Vec<Reached>, QueryError> {
        let Extension { query, scope, .. } = extension;
        let request = TraversalRequest {
            starts: sources.keys().copied().collect(),
            follow: Follow::Out,
            // A path may lead from one start node to another, so start nodes that are reached are also
            // returned.
            returns_starts: true,
            kinds: FOLLOWED_KINDS.to_vec(),
            min_confidence_percent: MIN_CONFIDENCE_PERCENT,
            max_depth: query.parsed.strategy.graph_depth,
            max_edges_per_node: MAX_EDGES,
            max_nodes: MAX_NODES,
        };
        Ok(self.graph.traverse(&query.view, scope, &request).await?.reached)
    }

    /// Finds the chunks of the steps and of the neighbours in one call.
    async fn located<'a>(
        &self,
        extension: &Extension<'_>,
        hits: &[RankedHit],
        steps: Vec<PathStep>,
        neighbours: Vec<&'a Reached>,
    ) -> Result<Located<'a>, QueryError> {
        let of_steps = steps.iter().filter_map(PathStep::site);
        let all: Vec<Site> = of_steps.chain(sites(&neighbours)).collect();
        let mut ids = self.chunks_of_sites(extension.query, extension.scope, &all).await?.into_iter();
        let steps = located_steps(steps, hits, ids.by_ref());
        let neighbours = neighbours.into_iter().zip(ids).filter_map(|(reached, id)| Some((reached, id?))).collect();
        Ok(Located { steps, neighbours })
    }
}

/// The chunks of the steps of a path, and of the neighbours of the hits.
struct Located<'a> {
    /// The chunk of each step, with the edge that leads to the step.
    steps: Vec<(ChunkId, Option<Via>)>,
    neighbours: Vec<(&'a Reached, ChunkId)>,
}

/// The chunk of each step, with the edge that leads to it. Takes one chunk from `ids` for each step that is
/// not a hit.
fn located_steps(
    steps: Vec<PathStep>,
    hits: &[RankedHit],
    mut ids: impl Iterator<Item = Option<ChunkId>>,
) -> Vec<(ChunkId, Option<Via>)> {
    let mut located: Vec<(ChunkId, Option<Via>)> = Vec::new();
    for step in steps {
        let id = match step.place {
            StepPlace::Hit(index) => Some((hits[index].chunk.repository, hits[index].chunk.key)),
            StepPlace::Node(_) => ids.next().flatten(),
        };
        // A chunk is listed only once, although it may contain several steps.
        if let Some(id) = id.filter(|id| located.iter().all(|(known, _)| known != id)) {
            located.push((id, step.via));
        }
    }
    located
}

/// The chunks of the steps that pass the filter.
fn shown_steps(
    located: Vec<(ChunkId, Option<Via>)>,
    chunks: &Chunks,
    filter: &ChunkFilter,
) -> Result<Vec<(ChunkRecord, Option<Via>)>, QueryError> {
    let compiled = CompiledFilter::new(filter)?;
    let chunk = |id: &ChunkId| chunks.get(id).filter(|chunk| compiled.lets_through(chunk)).cloned();
    Ok(located.into_iter().filter_map(|(id, via)| Some((chunk(&id)?, via))).collect())
}

const NO_PATH: &str = "No path through the graph connects the results; they are in the order of relevance.";

/// A step of the path.
struct PathStep {
    place: StepPlace,
    /// The edge that leads to the node. `None` for the first node.
    via: Option<Via>,
}

enum StepPlace {
    /// The index of a hit.
    Hit(usize),
    /// A node that is not a hit.
    Node(Box<NodeRecord>),
}

impl PathStep {
    fn site(&self) -> Option<Site> {
        match &self.place {
            StepPlace::Hit(_) => None,
            StepPlace::Node(node) => Some(Site { node: (**node).clone(), line: None }),
        }
    }
}

fn best_path(
    asked: &AskedEnds,
    hits: &[RankedHit],
    sources: &BTreeMap<NodeKey, Source>,
    reached: &[Reached],
) -> Option<Story> {
    let mut relevance: BTreeMap<NodeKey, Relevance> = BTreeMap::new();
    for hit in hits {
        if let Some(node) = node_of(&hit.chunk) {
            relevance.entry(node).or_insert(Relevance { score: hit.score, ..Relevance::default() });
        }
    }
    let names = sources.iter().map(|(node, source)| (*node, source.symbol.as_str(), Some(&source.path)));
    let of_reached = reached.iter().map(|reached| &reached.node);
    let names = names.chain(of_reached.map(|node| (node.key, node.qualified_name.as_str(), node.path.as_ref())));
    for (node, name, path) in names {
        let (is_from, is_to) = path.map_or((false, false), |path| asked.matches(name, path));
        let known = relevance.entry(node).or_default();
        *known = Relevance { is_from, is_to, ..*known };
    }
    let link = |reached: &Reached| Link {
        node: reached.node.key,
        previous: reached.previous,
        confidence_percent: reached.edge.confidence_percent,
    };
    let links: Vec<Link> = reached.iter().map(link).collect();
    let ends = Ends { from: asked.from.is_some(), to: asked.to.is_some() };
    best_story(&links, ends, |node| relevance.get(&node).copied().unwrap_or_default())
}

fn steps(
    path: &[NodeKey],
    hits: &[RankedHit],
    sources: &BTreeMap<NodeKey, Source>,
    reached: &[Reached],
) -> Vec<PathStep> {
    let mut steps = Vec::with_capacity(path.len());
    for (index, key) in path.iter().enumerate() {
        let entry = reached.iter().find(|reached| reached.node.key == *key);
        let hit = hits.iter().position(|hit| node_of(&hit.chunk) == Some(*key));
        let place = match (hit, entry) {
            (Some(hit), _) => StepPlace::Hit(hit),
            (None, Some(entry)) => StepPlace::Node(Box::new(entry.node.clone())),
            (None, None) => continue,
        };
        let via = entry.filter(|_| index > 0).and_then(|entry| {
            let (symbol, path) = named(entry.previous, sources, reached)?;
            Some(via(entry, symbol, Some(path)))
        });
        steps.push(PathStep { place, via });
    }
    steps
}

/// The name and the file of a node on the path.
fn named<'a>(
    key: NodeKey,
    sources: &'a BTreeMap<NodeKey, Source>,
    reached: &'a [Reached],
) -> Option<(&'a str, &'a RepoPath)> {
    if let Some(source) = sources.get(&key) {
        return Some((&source.symbol, &source.path));
    }
    let node = &reached.iter().find(|reached| reached.node.key == key)?.node;
    Some((&node.qualified_name, node.path.as_ref()?))
}

fn note(asked: &AskedEnds, flow: Option<&FlowAsked>, story: Option<&Story>, num_steps: usize) -> Option<Message> {
    if num_steps < 2 {
        return Some(NO_PATH.into());
    }
    if story.is_some_and(|story| story.has_ends) {
        return None;
    }
    let end =
        |message: Message, name: &'static str, is_given: bool, text: Option<&String>| match text.filter(|_| is_given) {
            Some(text) => message.and(name).and(Phrase(text)),
            None => message,
        };
    let message = end("No path".into(), " from ", asked.from.is_some(), flow.and_then(|flow| flow.from.as_ref()));
    let message = end(message, " to ", asked.to.is_some(), flow.and_then(|flow| flow.to.as_ref()));
    Some(message.and(" was found over three edges; the steps are the most relevant path."))
}
