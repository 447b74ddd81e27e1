//! Links a whole snapshot at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{EdgeRecord, NodeRecord, PackageManifest, RepoPath, RepositoryId, Resolution, Unresolved};

use crate::contribute::contribute;
use crate::contribution::{Contribution, LinkFile};
use crate::environment::Environment;
use crate::link_file::{FileLinks, UnresolvedReference, link_file};
use crate::nodes::{ModuleInfo, file_nodes, repository_graph};
use crate::outline::outline;

/// The input for linking a repository.
#[derive(Clone, Debug)]
pub struct SnapshotFacts<'a> {
    pub repository: RepositoryId,
    pub name: &'a str,
    /// The indexed files, in any order.
    pub files: Vec<LinkFile<'a>>,
    pub packages: Vec<PackageManifest>,
    pub modules: Vec<ModuleInfo>,
}

/// The numbers of resolved and unresolved references.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// The number of edges for each class of resolution.
    pub edges: BTreeMap<Resolution, u64>,
    pub unresolved: BTreeMap<Unresolved, u64>,
}

impl LinkCounts {
    pub fn add(&mut self, links: &FileLinks) {
        for edge in &links.edges {
            *self.edges.entry(edge.resolution).or_default() += 1;
        }
        for reference in &links.unresolved {
            *self.unresolved.entry(reference.reason).or_default() += 1;
        }
    }
}

/// The graph of a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linked {
    /// Sorted by key.
    pub nodes: Vec<NodeRecord>,
    /// Sorted by key.
    pub edges: Vec<EdgeRecord>,
    /// Sorted by path, then by position.
    pub unresolved: Vec<(RepoPath, UnresolvedReference)>,
    pub counts: LinkCounts,
}

/// Links the files of a whole snapshot. The result does not depend on the order of the input.
pub fn link(snapshot: &SnapshotFacts<'_>) -> Linked {
    let mut files: Vec<&LinkFile<'_>> = snapshot.files.iter().collect();
    files.sort_unstable_by(|a, b| a.place.path.cmp(b.place.path));
    let contributions: Vec<Contribution> =
        files.iter().map(|file| contribute(snapshot.repository, &file.place, &Arc::new(outline(file.facts)))).collect();
    let environment = Environment::build(snapshot.repository, &contributions, &snapshot.packages);
    let links: Vec<FileLinks> = files.iter().map(|file| link_file(&environment, file)).collect();
    let with_links = files.iter().zip(&links).map(|(file, links)| (file.place, links.modules.as_slice()));
    let (mut nodes, mut edges) =
        repository_graph(snapshot.repository, snapshot.name, &snapshot.modules, &snapshot.packages, with_links);
    let mut counts = LinkCounts::default();
    let mut unresolved = Vec::new();
    for (file, links) in files.iter().zip(links) {
        counts.add(&links);
        nodes.extend(file_nodes(snapshot.repository, file));
        edges.extend(links.edges);
        unresolved.extend(links.unresolved.into_iter().map(|reference| (links.path.clone(), reference)));
    }
    nodes.sort_unstable_by_key(|node| node.key);
    edges.sort_unstable_by_key(|edge| edge.key);
    Linked { nodes, edges, unresolved, counts }
}
