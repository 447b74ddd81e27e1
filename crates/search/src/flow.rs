//! Answers flow questions: finds a path in the graph that starts at a hit, and shows the steps of the path in
//! order before the other hits.

use std::collections::BTreeMap;

use cairn_domain::{ChunkRecord, EdgeKind, NodeKey, Scope};
use cairn_ports::{ChunkFilter, Follow, NameMatch, Reached, SymbolHit, Traversal, TraversalRequest};
use cairn_question::FlowAsked;
use cairn_ranking::{EndMatch, Ends, RankedHit, Story, Via, lead_with_path};
use cairn_redaction::{Message, Phrase, quoted};

use crate::chunk_filter::CompiledFilter;
use crate::chunk_id::{ChunkId, Chunks};
use crate::flow_ends::{AskedEnd, AskedEnds};
use crate::flow_path::{KnownNodes, PathStep, StepPlace};
use crate::neighbours::{
    Extension, MAX_ADDED, MIN_CONFIDENCE_PERCENT, Source, has_full_node, in_other_chunks, nearest, sites,
};
use crate::prepared_query::PreparedQuery;
use crate::sites::Site;
use crate::{QueryError, Searcher};

/// The kinds of edges that a flow follows. References are included because code may pass a function as a
/// value to the code that calls it.
const FOLLOWED_KINDS: [EdgeKind; 2] = [EdgeKind::Calls, EdgeKind::References];
/// Functions such as `main` may call many other functions, each of which may belong to the path.
const MAX_EDGES: usize = 100;
const MAX_NODES: usize = 2_000;
/// Maximum number of definitions with the name of the start or the end.
const MAX_NAMED: usize = 8;

const NO_PATH: &str = "No path through the graph connects the results; they are in the order of relevance.";
const CUT: &str = "The graph has more edges near the results than were followed, so a better path may exist.";

impl Searcher {
    /// Follows the graph from the best hits, puts the steps of the best path first, and adds neighbours of
    /// the hits. One call finds the chunks of the steps and neighbours, and one call reads these chunks.
    pub(crate) async fn with_path(
        &self,
        extension: Extension<'_>,
        mut hits: Vec<RankedHit>,
        notes: &mut Vec<Message>,
    ) -> Result<Vec<RankedHit>, QueryError> {
        let Extension { query, scope, filter, .. } = extension;
        let flow = query.parsed.flow.as_ref();
        let asked = AskedEnds::of(flow);
        let (definitions, named, named_ends) = tokio::try_join!(
            self.definitions_of_hits(query, scope, &hits),
            self.named(query, scope, asked.start()),
            self.named(query, scope, asked.to.as_ref()),
        )?;
        let has_named_end = !named_ends.is_empty();
        let asked = if has_named_end { asked.with_named_end() } else { asked };
        let known = KnownNodes::new(&asked, &hits, &definitions, named);
        let sources = known.starts(&asked, &definitions);
        if sources.is_empty() {
            notes.extend(note(&asked, flow, None, false));
            return Ok(hits);
        }
        let traversal = self.reached_from(&extension, &sources).await?;
        let story = known.best_path(&asked, &traversal.reached);
        let steps = known.steps(story.as_ref().map_or(&[], |story| &story.path), &traversal.reached);
        let names: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
        let is_cut = traversal.is_cut || has_full_node(&traversal.reached, MAX_EDGES);
        let near: Vec<Reached> = traversal.reached.into_iter().filter(|reached| reached.depth == 1).collect();
        let Located { steps, neighbours: shown } = self.located(&extension, steps, (&sources, &near)).await?;
        let of_path = steps.iter().map(|(id, _)| *id).collect();
        let chunks = self.fetch_with_page(&extension, &mut hits, (of_path, &shown), MAX_ADDED).await?;
        let num_chunks = steps.len();
        let path = shown_steps(steps, &chunks, filter)?;
        // A path within one chunk is shown. If the filter hides all chunks of a longer path except one, the
        // path is not shown.
        let is_shown = path.len() > 1 || (path.len() == 1 && num_chunks == 1);
        let story = story.filter(|_| is_shown);
        notes.extend(note(&asked, flow, story.as_ref(), known.has_named_start()));
        notes.extend(story.as_ref().and_then(|story| ends_note(&asked, flow?, story, &names, has_named_end)));
        notes.extend(names_note(&names, &path).filter(|_| is_shown));
        let Ends { from, to, .. } = asked.stated();
        let has_stated_ends = (from || to) && story.is_some_and(|story| story.has_ends);
        notes.extend((is_cut && !has_stated_ends).then(|| Message::from(CUT)));
        let hits = extension.expanded(hits, &sources, (&shown, &chunks), (MAX_ADDED, self.signals))?;
        Ok(if is_shown { lead_with_path(hits, path) } else { hits })
    }

    /// The definitions that have the name of the start or the end, in any style. These definitions need not
    /// be hits.
    async fn named(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        end: Option<&AskedEnd>,
    ) -> Result<Vec<SymbolHit>, QueryError> {
        let Some(name) = end.and_then(AskedEnd::name) else { return Ok(Vec::new()) };
        let ways = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        Ok(self.names.symbols(&query.view, scope, name, &ways, MAX_NAMED).await?)
    }

    /// The nodes that paths from the sources reach.
    async fn reached_from(
        &self,
        extension: &Extension<'_>,
        sources: &BTreeMap<NodeKey, Source>,
    ) -> Result<Traversal, QueryError> {
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
        Ok(self.graph.traverse(&query.view, scope, &request).await?)
    }

    /// Finds the chunks of the steps, and of the reached nodes that are nearest to the sources, in one call.
    async fn located<'a>(
        &self,
        extension: &Extension<'_>,
        steps: Vec<PathStep>,
        (sources, near): (&BTreeMap<NodeKey, Source>, &'a [Reached]),
    ) -> Result<Located<'a>, QueryError> {
        let neighbours = nearest(sources, near);
        let of_steps = steps.iter().filter_map(PathStep::site);
        let all: Vec<Site> = of_steps.chain(sites(&neighbours)).collect();
        let mut ids = self.chunks_of_sites(extension.query, extension.scope, &all).await?.into_iter();
        let steps = located_steps(steps, ids.by_ref());
        Ok(Located { steps, neighbours: in_other_chunks(sources, neighbours, ids) })
    }
}

/// The chunks of the steps of a path, and of the neighbours of the hits.
struct Located<'a> {
    /// The chunk of each step, with the edge that leads to the step.
    steps: Vec<(ChunkId, Option<Via>)>,
    neighbours: Vec<(&'a Reached, ChunkId)>,
}

/// The chunk of each step, with the edge that leads to it. Takes one chunk from `ids` for each step whose
/// chunk was looked up.
fn located_steps(steps: Vec<PathStep>, mut ids: impl Iterator<Item = Option<ChunkId>>) -> Vec<(ChunkId, Option<Via>)> {
    let mut located: Vec<(ChunkId, Option<Via>)> = Vec::new();
    for step in steps {
        let id = match step.place {
            StepPlace::Chunk(id) => Some(id),
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

/// The sentence that states that no path, or no path with the stated ends, was found. `None` if the path that
/// is shown has all stated ends. `has_named_start` is true if definitions have exactly the name of the start
/// or the subject.
fn note(asked: &AskedEnds, flow: Option<&FlowAsked>, story: Option<&Story>, has_named_start: bool) -> Option<Message> {
    let Ends { from, to, .. } = asked.stated();
    // The name of a definition is the start of the flow, even if the question does not say so.
    let is_subject_start = !from && has_named_start && asked.start().is_some_and(AskedEnd::is_identifier);
    let instead = match story {
        Some(story) if story.has_ends => return None,
        Some(_) => "the steps are the most relevant path.",
        None if !from && !to && !is_subject_start => return Some(NO_PATH.into()),
        None => "the results are in the order of relevance.",
    };
    let end = |message: Message, name: &'static str, text: Option<&str>| match text {
        Some(text) => message.and(name).and(Phrase(text)),
        None => message,
    };
    let subject = asked.start().and_then(AskedEnd::name).filter(|_| is_subject_start);
    let start = subject.or_else(|| flow?.from.as_deref().filter(|_| from));
    let message = end("No path".into(), " from ", start);
    let message = end(message, " to ", flow.and_then(|flow| flow.to.as_deref()).filter(|_| to));
    Some(message.and(" was found over three edges; ").and(instead))
}

/// The sentence that names the first and the last step of a path with the stated ends, if such a step matches
/// only a part of the stated end. `has_named_end` is true if definitions have exactly the name of the end.
fn ends_note(
    asked: &AskedEnds,
    flow: &FlowAsked,
    story: &Story,
    names: &[String],
    has_named_end: bool,
) -> Option<Message> {
    let is_partial = |end: Option<&AskedEnd>, found: EndMatch, is_named: bool| match end {
        Some(end) if is_named => found < EndMatch::Whole && end.name().is_some(),
        Some(end) => found < EndMatch::AllWords && end.has_several_words(),
        None => false,
    };
    let near = |verb: &'static str, name: Option<&String>, asked: Option<&String>| {
        Some(Message::from(verb).and(quoted(name?)).and(", the nearest match to ").and(Phrase(asked?)))
    };
    let starts_elsewhere = is_partial(asked.from.as_ref(), story.from, false);
    let ends_elsewhere = is_partial(asked.to.as_ref(), story.to, has_named_end);
    let start = starts_elsewhere.then(|| near("begins at ", names.first(), flow.from.as_ref())).flatten();
    let end = ends_elsewhere.then(|| near("ends at ", names.last(), flow.to.as_ref())).flatten();
    let stated: Vec<Message> = [start, end].into_iter().flatten().collect();
    (story.has_ends && !stated.is_empty())
        .then(|| Message::from("The path ").and(Message::joined(stated, " and ")).and("."))
}

/// A note with the names of all steps, if the shown chunks do not make clear which definitions are the steps.
/// For example, a chunk may contain several steps, or other definitions beside a step.
fn names_note(names: &[String], path: &[(ChunkRecord, Option<Via>)]) -> Option<Message> {
    let is_own = |((chunk, _), name): (&(ChunkRecord, Option<Via>), &String)| chunk.symbol.as_ref() == Some(name);
    if path.len() == names.len() && path.iter().zip(names).all(is_own) {
        return None;
    }
    let names = names.iter().map(|name| Message::default().and(quoted(name)));
    Some(Message::from("The path is ").and(Message::joined(names, " → ")).and("."))
}
