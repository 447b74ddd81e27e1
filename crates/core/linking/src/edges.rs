//! The edges that one file adds to the graph, or the edges that belong to the whole repository. Edges are
//! added in any order and then numbered by their positions.

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, NodeKey, RepositoryId, Resolution};

/// Edges that have no keys yet.
#[derive(Debug, Default)]
pub(crate) struct Edges(Vec<Draft>);

/// An edge without a key. Edges are sorted by the fields in the order of their declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Draft {
    source: NodeKey,
    kind: EdgeKind,
    target: NodeKey,
    line: u32,
    resolution: Resolution,
    confidence_percent: u8,
}

impl Edges {
    /// Adds an edge. The confidence of an edge is lower if the reference has more candidates.
    pub(crate) fn add(
        &mut self,
        source: NodeKey,
        kind: EdgeKind,
        target: NodeKey,
        line: u32,
        resolution: Resolution,
        num_candidates: usize,
    ) {
        let confidence_percent = confidence(resolution, num_candidates);
        self.0.push(Draft { source, kind, target, line, resolution, confidence_percent });
    }

    /// Adds an edge that follows from the structure of the code.
    pub(crate) fn add_certain(&mut self, source: NodeKey, kind: EdgeKind, target: NodeKey, line: u32) {
        self.add(source, kind, target, line, Resolution::Exact, 1);
    }

    /// Sorts the edges by source, kind, target and line. Edges with the same source, kind and target are
    /// numbered in this order. All edges of a source must be added before this call.
    pub(crate) fn finish(mut self, owner: RepositoryId) -> Vec<EdgeRecord> {
        self.0.sort_unstable();
        let mut records = Vec::with_capacity(self.0.len());
        for sites in self.0.chunk_by(|a, b| (a.source, a.kind, a.target) == (b.source, b.kind, b.target)) {
            for (ordinal, draft) in sites.iter().enumerate() {
                let Draft { source, kind, target, line, resolution, confidence_percent } = *draft;
                let key = EdgeKey::derive(owner, source, kind, target, ordinal as u32);
                records.push(EdgeRecord { key, owner, kind, source, target, line, resolution, confidence_percent });
            }
        }
        records
    }
}

/// The confidence of an edge with this class of resolution. The values were measured: a person checked
/// samples of each class.
fn confidence(resolution: Resolution, num_candidates: usize) -> u8 {
    match resolution {
        Resolution::Exact => 99,
        Resolution::Import => 95,
        Resolution::Heuristic => 70,
        Resolution::Ambiguous => (70 / num_candidates.max(1)) as u8,
    }
}
