//! Chooses the path through the graph that answers a flow question.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::NodeKey;

use crate::fixed::{ONE, times};

/// How exactly a node matches an end of the flow that a question states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum EndMatch {
    #[default]
    None,
    /// The name of a directory above the node contains a word of the end, or the chunk that shows the node
    /// also shows a node that matches.
    Nearby,
    /// The name of the node or of its file contains a word of the end.
    Name,
    /// The end has several words, and the name of the node and of its file contain all of them.
    AllWords,
    /// The end is equal to the name of the node or to the path of the node's file.
    Whole,
}

impl EndMatch {
    #[must_use]
    pub fn only_whole(self) -> Self {
        if self == Self::Whole { self } else { Self::None }
    }
}

/// The facts about how well a node fits a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Relevance {
    /// The position of the hit whose chunk shows the node.
    pub hit: Option<usize>,
    /// The score of this hit, or 0.
    pub score: u64,
    /// How exactly the node matches the start of the flow. If the question states no start, the node is
    /// compared with the subject of the flow.
    pub from: EndMatch,
    pub to: EndMatch,
}

/// The ends of the flow that a question states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    pub from: bool,
    pub to: bool,
    /// Whether the question states what the flow is about.
    pub subject: bool,
}

/// An edge over which a traversal reached a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    pub node: NodeKey,
    pub previous: NodeKey,
    pub confidence_percent: u8,
    /// Whether the edge is a call. A different edge may lead to the same step of a flow, but a call shows it
    /// better.
    pub is_call: bool,
}

/// A path through the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// The nodes of the path, at least two.
    pub path: Vec<NodeKey>,
    /// Whether the path has all ends that the question states.
    pub has_ends: bool,
    /// How exactly the first node matches the start of the flow, and the last node its end.
    pub from: EndMatch,
    pub to: EndMatch,
}

/// Maximum number of nodes of a path: three edges.
const MAX_NODES: usize = 4;

/// The key by which paths are compared: whether the path has all stated ends, then how exactly its ends
/// match, then the sum of the scores, then the length (shorter paths are better), then the number of calls,
/// then the nodes.
type StoryRank = (bool, u8, u64, Reverse<usize>, usize, Reverse<Vec<NodeKey>>);

/// The best path among the edges of a traversal.
///
/// Paths are compared by these criteria. A criterion is used only if all earlier criteria are equal.
///
/// 1. A path with all ends that the question states is better than a path that lacks one of these ends.
/// 2. The path whose ends match more exactly is better.
/// 3. The path with the higher sum of scores is better. In this sum, the score of each node is multiplied by
///    the confidence of the path to this node. The score of a hit counts only once, although its chunk may
///    show several nodes of the path. If the score counted several times, paths within one chunk would be
///    best.
/// 4. The shorter path is better.
///
/// The first and the last node of a path must be hits, or match an end. A path that begins at code with
/// exactly the name of the start or the subject may end at any node, if the question states no end. A path
/// contains at least one call, unless it has both of the stated ends. If the question states only a subject,
/// a node of the path must match it.
///
/// For each node and each length, only the best path with a call and the best path without a call are
/// continued. So the number of steps is bounded by twice the number of edges.
pub fn best_story(links: &[Link], ends: Ends, relevance: impl Fn(NodeKey) -> Relevance) -> Option<Story> {
    let nodes: BTreeSet<NodeKey> = links.iter().flat_map(|link| [link.previous, link.node]).collect();
    let relevance: BTreeMap<NodeKey, Relevance> = nodes.into_iter().map(|node| (node, relevance(node))).collect();
    let first =
        |(node, relevance): (&NodeKey, &Relevance)| Some(((*node, false), Path::starting_at(*node, *relevance)?));
    let mut paths: Paths = relevance.iter().filter_map(first).collect();
    let mut best: Option<StoryRank> = None;
    for _ in 1..MAX_NODES {
        paths = longer(&paths, links, &relevance);
        let ranks = paths.iter().filter_map(|((last, _), path)| path.rank(relevance.get(last)?, ends));
        best = best.into_iter().chain(ranks).max();
    }
    let (has_ends, .., Reverse(path)) = best?;
    let of = |node: Option<&NodeKey>| node.and_then(|node| relevance.get(node)).copied().unwrap_or_default();
    Some(Story { has_ends, from: of(path.first()).from, to: of(path.last()).to, path })
}

/// Paths by their last node, and by whether an edge of the path is a call.
type Paths = BTreeMap<(NodeKey, bool), Path>;

/// The best continuations to each node that is one edge after the end of a path.
fn longer(paths: &Paths, links: &[Link], relevance: &BTreeMap<NodeKey, Relevance>) -> Paths {
    let mut longer = Paths::new();
    for link in links {
        for has_call in [false, true] {
            let path = paths.get(&(link.previous, has_call)).filter(|path| !path.nodes.contains(&link.node));
            let Some(path) = path else { continue };
            let path = path.continued(link, relevance.get(&link.node).copied().unwrap_or_default());
            let key = (link.node, path.num_calls > 0);
            if longer.get(&key).is_none_or(|known| path.key() > known.key()) {
                longer.insert(key, path);
            }
        }
    }
    longer
}

/// A path that may be continued.
#[derive(Clone)]
struct Path {
    nodes: Vec<NodeKey>,
    /// The hits whose scores are part of the sum.
    hits: Vec<usize>,
    from: EndMatch,
    /// How exactly the best node matches the start or the subject.
    subject: EndMatch,
    /// The product of the confidences of the edges, in millionths.
    confidence: u64,
    /// The sum of the scores.
    total: u64,
    num_calls: usize,
}

impl Path {
    fn starting_at(node: NodeKey, relevance: Relevance) -> Option<Self> {
        let Relevance { hit, score, from, .. } = relevance;
        let hits = hit.into_iter().collect();
        let nodes = vec![node];
        let path = Self { nodes, hits, from, subject: from, confidence: ONE, total: score, num_calls: 0 };
        (score > 0 || from != EndMatch::None).then_some(path)
    }

    fn continued(&self, link: &Link, Relevance { hit, score, from, .. }: Relevance) -> Self {
        let mut longer = self.clone();
        longer.subject = longer.subject.max(from);
        longer.nodes.push(link.node);
        longer.confidence = self.confidence * u64::from(link.confidence_percent) / 100;
        longer.num_calls += usize::from(link.is_call);
        if hit.is_none_or(|hit| !self.hits.contains(&hit)) {
            longer.total += times(score, longer.confidence);
            longer.hits.extend(hit);
        }
        longer
    }

    /// The key by which the paths to one node are compared.
    fn key(&self) -> (EndMatch, u64, u64, usize, Reverse<&[NodeKey]>) {
        (self.from, self.total, self.confidence, self.num_calls, Reverse(self.nodes.as_slice()))
    }

    /// `None` if the path must not end at its last node.
    fn rank(&self, last: &Relevance, ends: Ends) -> Option<StoryRank> {
        let may_end_anywhere = self.from == EndMatch::Whole && !ends.to;
        if last.score == 0 && last.to == EndMatch::None && !may_end_anywhere {
            return None;
        }
        let (has_from, has_to) = (self.from != EndMatch::None, last.to != EndMatch::None);
        let has_ends = (has_from || !ends.from) && (has_to || !ends.to);
        let has_both_ends = ends.from && ends.to && has_ends;
        let lacks_subject = ends.subject && !ends.from && self.subject == EndMatch::None;
        if lacks_subject || (self.num_calls == 0 && !has_both_ends) {
            return None;
        }
        let exactness = self.from as u8 + last.to as u8;
        let length = Reverse(self.nodes.len());
        Some((has_ends, exactness, self.total, length, self.num_calls, Reverse(self.nodes.clone())))
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::Digester;

    use super::*;

    const NONE: Ends = Ends { from: false, to: false, subject: false };
    const BOTH: Ends = Ends { from: true, to: true, subject: false };

    fn node(name: &str) -> NodeKey {
        NodeKey(Digester::new("node").text(name).key())
    }

    /// `links` are written as `a>b` for a call, and as `a-b` for a reference.
    fn check_nodes(
        links: &[&str],
        relevance: impl Fn(NodeKey) -> Relevance,
        ends: Ends,
        expect: Option<(&[&str], bool)>,
    ) {
        let links: Vec<Link> = links
            .iter()
            .map(|link| {
                let (before, after) = link.split_once(['>', '-']).expect("two names");
                let is_call = link.contains('>');
                Link { node: node(after), previous: node(before), confidence_percent: 80, is_call }
            })
            .collect();
        let expect = expect.map(|(path, has_ends)| {
            let path: Vec<NodeKey> = path.iter().map(|name| node(name)).collect();
            let of = |node: Option<&NodeKey>| node.map(|node| relevance(*node)).unwrap_or_default();
            Story { has_ends, from: of(path.first()).from, to: of(path.last()).to, path }
        });
        assert_eq!(best_story(&links, ends, &relevance), expect, "{links:?}");
    }

    /// `relevant` contains the scores of nodes, each of which is a hit of its own. In `relevant`, `<a` marks
    /// the node at which the flow begins, and `b>` the node at which it ends. With `<<a` or `b>>`, the name
    /// of the node is equal to the end; with `<a` or `b>`, the name contains a word of the end.
    fn check(links: &[&str], relevant: &[(&str, u64)], ends: Ends, expect: Option<(&[&str], bool)>) {
        let end = |is_whole: bool, is_name: bool| match (is_whole, is_name) {
            (true, _) => EndMatch::Whole,
            (false, true) => EndMatch::Name,
            (false, false) => EndMatch::None,
        };
        let relevance = |key: NodeKey| {
            let hit = relevant.iter().position(|(name, _)| node(name.trim_matches(['<', '>'])) == key);
            let Some((name, score)) = hit.and_then(|hit| relevant.get(hit)) else { return Relevance::default() };
            let from = end(name.starts_with("<<"), name.starts_with('<'));
            Relevance { hit, score: *score, from, to: end(name.ends_with(">>"), name.ends_with('>')) }
        };
        check_nodes(links, relevance, ends, expect);
    }

    #[test]
    fn path_with_most_relevant_nodes_is_best() {
        let links = ["a>b", "a>c", "b>d", "c>e"];
        check(&links, &[("a", 100), ("c", 50), ("e", 40)], NONE, Some((&["a", "c", "e"], true)));
        check(&links, &[("a", 100), ("d", 50), ("c", 30)], NONE, Some((&["a", "b", "d"], true)));
        // A path does not end with a node that is not a hit.
        check(&links, &[("a", 10), ("b", 5)], NONE, Some((&["a", "b"], true)));
        check(&links, &[("a", 10)], NONE, None);
        check(&[], &[("a", 10)], NONE, None);
        // Two hits that call each other.
        check(&["a>b", "b>a"], &[("a", 10), ("b", 5)], NONE, Some((&["a", "b"], true)));
        // A path has at most three edges.
        let chain = ["a>b", "b>c", "c>d", "d>e"];
        check(&chain, &[("a", 9), ("e", 9)], NONE, None);
        check(&chain, &[("b", 9), ("e", 9)], NONE, Some((&["b", "c", "d", "e"], true)));
    }

    #[test]
    fn path_with_the_stated_ends_is_best() {
        let links = ["a>b", "x>y", "b>c", "y>z"];
        let relevant = [("<a", 1), ("c>", 0), ("x", 50), ("y", 40), ("z", 30)];
        check(&links, &relevant, BOTH, Some((&["a", "b", "c"], true)));
        check(&links, &relevant[2..], BOTH, Some((&["x", "y", "z"], false)));
        let only_to = Ends { to: true, ..NONE };
        check(&links, &[("a", 1), ("b>", 1), ("x", 50), ("y", 40)], only_to, Some((&["a", "b"], true)));
    }

    /// A path that ends at a function of the requested name is better than a path that ends at a function
    /// with this word in its name.
    #[test]
    fn exact_ends_are_best() {
        let links = ["a>b", "a>c", "x>b"];
        check(&links, &[("<a", 1), ("b>>", 1), ("c>", 90)], BOTH, Some((&["a", "b"], true)));
        check(&links, &[("<<a", 1), ("b>", 1), ("<x", 90)], BOTH, Some((&["a", "b"], true)));
        // A question that states only a subject prefers a path that begins at this subject.
        check(&links, &[("<<a", 1), ("b", 1), ("x", 90)], NONE, Some((&["a", "b"], true)));
    }

    /// The better of two edges to a node may come from a node that is not on the path with the stated ends.
    #[test]
    fn all_edges_of_a_node_are_considered() {
        let relevant = [("c", 90), ("<a", 1), ("x", 80), ("b>", 1)];
        check(&["c>x", "a>x", "x>b", "c>b"], &relevant, BOTH, Some((&["a", "x", "b"], true)));
    }

    #[test]
    fn calls_come_before_references() {
        for links in [["a>c", "b-c"], ["a-c", "b>c"]] {
            let first = if links[0].contains('>') { "a" } else { "b" };
            check(&links, &[("a", 5), ("b", 5), ("c", 1)], NONE, Some((&[first, "c"], true)));
        }
    }

    #[test]
    fn path_has_a_call_and_the_subject() {
        let subject = Ends { subject: true, ..NONE };
        check(&["a-b"], &[("a", 5), ("b", 5)], NONE, None);
        check(&["a-b"], &[("<a", 5), ("b>", 5)], BOTH, Some((&["a", "b"], true)));
        // A better path without a call to the same node does not replace the path with a call.
        check(&["p-z", "q>z"], &[("p", 9), ("q", 1), ("z", 5)], NONE, Some((&["q", "z"], true)));
        check(&["a>b", "c>d"], &[("a", 9), ("b", 9), ("c", 1), ("<d", 1)], subject, Some((&["c", "d"], true)));
        check(&["a>b"], &[("a", 9), ("b", 9)], subject, None);
    }

    #[test]
    fn score_of_a_chunk_counts_once() {
        let shown = [("a", 0, 10), ("b", 0, 10), ("c", 1, 5)];
        let relevance = |key: NodeKey| {
            let (_, hit, score) = *shown.iter().find(|(name, ..)| node(name) == key).expect("a node");
            Relevance { hit: Some(hit), score, ..Relevance::default() }
        };
        check_nodes(&["a>b", "b>c"], relevance, NONE, Some((&["b", "c"], true)));
        check_nodes(&["a>b"], relevance, NONE, Some((&["a", "b"], true)));
    }
}
