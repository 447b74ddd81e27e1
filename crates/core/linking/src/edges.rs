//! The edges of one owner: collected in any order, numbered by site.

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, NodeKey, RepositoryId, Resolution};

/// Edges before they have keys.
#[derive(Debug, Default)]
pub(crate) struct Edges(Vec<Draft>);

/// The fields are in the order by which edges are sorted and numbered.
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
    /// Adds an edge; `num_candidates` share the confidence.
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

    /// Sorts the edges by source, kind, target and line, and numbers equal ones in that order. All edges of a
    /// source must have been added.
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

/// The confidence of a class of resolution, measured by reading samples of each.
fn confidence(resolution: Resolution, num_candidates: usize) -> u8 {
    match resolution {
        Resolution::Exact => 99,
        Resolution::Import => 95,
        Resolution::Heuristic => 70,
        Resolution::Ambiguous => (70 / num_candidates.max(1)) as u8,
    }
}
