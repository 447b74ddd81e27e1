//! Chooses the path through the graph that answers a flow question.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cairn_domain::NodeKey;

use crate::fixed::{ONE, times};

/// The facts about how well a node fits a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Relevance {
    /// The score of the node's chunk, or 0 if the chunk is not a hit.
    pub score: u64,
    /// Whether the name of the node contains a word that the question uses for the start of the flow.
    pub is_from: bool,
    /// Whether the name of the node contains a word that the question uses for the end of the flow.
    pub is_to: bool,
}

/// The ends of the flow that a question states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    pub from: bool,
    pub to: bool,
}

/// The edge through which a traversal reached a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    pub node: NodeKey,
    pub previous: NodeKey,
    pub confidence_percent: u8,
}

/// A path through the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// The nodes of the path, at least two.
    pub path: Vec<NodeKey>,
    /// Whether the path has all ends that the question states.
    pub has_ends: bool,
}

/// Maximum number of nodes of a path: three edges.
const MAX_NODES: usize = 4;

/// The key by which paths are compared: whether the path has all stated ends, then the sum of the scores,
/// then the length (shorter paths are better), then the last node.
type StoryRank = (bool, u64, Reverse<(usize, NodeKey)>);

/// The best path among the edges of a traversal. The traversal reaches each node through at most one edge.
///
/// A path with all ends that the question states is better than other paths. Among the remaining paths, the
/// path with the highest sum of node scores is best. In this sum, the score of each node is multiplied by the
/// confidence of the path to this node. If the sums are equal, the shortest path is best. The last node of a
/// path must be a hit, or its name must contain a word of the stated end.
pub fn best_story(links: &[Link], ends: Ends, relevance: impl Fn(NodeKey) -> Relevance) -> Option<Story> {
    let of_node: BTreeMap<NodeKey, &Link> = links.iter().map(|link| (link.node, link)).collect();
    let mut best: Option<(StoryRank, Vec<NodeKey>)> = None;
    for last in of_node.keys().copied() {
        let Relevance { score, is_to, .. } = relevance(last);
        if score == 0 && !is_to {
            continue;
        }
        let mut path = path_to(last, &of_node);
        let begins = path[..path.len() - 1].iter().position(|node| relevance(*node).is_from);
        if ends.from {
            path.drain(..begins.unwrap_or_default());
        }
        let has_ends = (begins.is_some() || !ends.from) && (is_to || !ends.to);
        let rank = (has_ends, total(&path, &of_node, &relevance), Reverse((path.len(), last)));
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, path));
        }
    }
    best.map(|((has_ends, ..), path)| Story { path, has_ends })
}

/// The nodes through which `last` was reached, in order, and `last` itself.
fn path_to(last: NodeKey, links: &BTreeMap<NodeKey, &Link>) -> Vec<NodeKey> {
    let mut path = vec![last];
    let mut at = last;
    while let Some(link) = links.get(&at).filter(|link| path.len() < MAX_NODES && !path.contains(&link.previous)) {
        at = link.previous;
        path.push(at);
    }
    path.reverse();
    path
}

fn total(path: &[NodeKey], links: &BTreeMap<NodeKey, &Link>, relevance: &impl Fn(NodeKey) -> Relevance) -> u64 {
    let mut confidence = ONE;
    let mut total = 0;
    for (index, node) in path.iter().enumerate() {
        if index > 0 {
            let percent = links.get(node).map_or(0, |link| link.confidence_percent);
            confidence = confidence * u64::from(percent) / 100;
        }
        total += times(relevance(*node).score, confidence);
    }
    total
}

#[cfg(test)]
mod tests {
    use cairn_domain::Digester;

    use super::*;

    fn node(name: &str) -> NodeKey {
        NodeKey(Digester::new("node").text(name).key())
    }

    /// `links` are written as `a>b`. `relevant` contains the scores of nodes. In `relevant`, `<a` marks the
    /// node at which the flow begins, and `b>` the node at which it ends.
    fn check(links: &[&str], relevant: &[(&str, u64)], ends: Ends, expect: Option<(&[&str], bool)>) {
        let links: Vec<Link> = links
            .iter()
            .map(|link| {
                let (before, after) = link.split_once('>').expect("two names");
                Link { node: node(after), previous: node(before), confidence_percent: 80 }
            })
            .collect();
        let relevance = |key: NodeKey| {
            let found = relevant.iter().find(|(name, _)| node(name.trim_matches(['<', '>'])) == key);
            found.map_or_else(Relevance::default, |(name, score)| Relevance {
                score: *score,
                is_from: name.starts_with('<'),
                is_to: name.ends_with('>'),
            })
        };
        let found = best_story(&links, ends, relevance);
        let expect =
            expect.map(|(path, has_ends)| Story { path: path.iter().map(|name| node(name)).collect(), has_ends });
        assert_eq!(found, expect, "{links:?}");
    }

    #[test]
    fn path_with_most_relevant_nodes_is_best() {
        let none = Ends::default();
        let links = ["a>b", "a>c", "b>d", "c>e"];
        check(&links, &[("a", 100), ("c", 50), ("e", 40)], none, Some((&["a", "c", "e"], true)));
        check(&links, &[("a", 100), ("d", 50), ("c", 30)], none, Some((&["a", "b", "d"], true)));
        // A path does not end with a node that is not a hit.
        check(&links, &[("a", 10), ("b", 5)], none, Some((&["a", "b"], true)));
        check(&links, &[("a", 10)], none, None);
        check(&[], &[("a", 10)], none, None);
        // Two hits that call each other.
        check(&["a>b", "b>a"], &[("a", 10), ("b", 9)], none, Some((&["a", "b"], true)));
        check(&["a>b", "b>c", "c>d", "d>e"], &[("a", 9), ("e", 9)], none, Some((&["b", "c", "d", "e"], true)));
    }

    #[test]
    fn path_with_the_stated_ends_is_best() {
        let both = Ends { from: true, to: true };
        let links = ["a>b", "x>y", "b>c", "y>z"];
        let relevant = [("<a", 1), ("c>", 0), ("x", 50), ("y", 40), ("z", 30)];
        check(&links, &relevant, both, Some((&["a", "b", "c"], true)));
        check(&links, &relevant[2..], both, Some((&["x", "y", "z"], false)));
        let only_to = Ends { from: false, to: true };
        check(&links, &[("a", 1), ("b>", 1), ("x", 50), ("y", 40)], only_to, Some((&["a", "b"], true)));
    }
}
