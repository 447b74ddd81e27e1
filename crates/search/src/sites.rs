//! Looks up the chunks of graph nodes in one batch.

use std::collections::BTreeMap;

use cairn_domain::{NodeKey, NodeKind, NodeRecord, RepoPath, RepositoryId, Scope};
use cairn_ports::{ChunkFilter, ChunkPlace, SymbolNode};

use crate::chunk_id::ChunkId;
use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

/// A node, and a line in its file.
pub(crate) struct Site {
    pub(crate) node: NodeRecord,
    /// `None` means the first line of the node.
    pub(crate) line: Option<u32>,
}

/// A file of a repository.
pub(crate) type RepositoryFile = (RepositoryId, RepoPath);

impl Searcher {
    /// The chunk of each site: for a symbol, the chunk that contains its name; for a file or section, the
    /// smallest chunk with the line. `None` for other nodes, and for sites without a chunk.
    pub(crate) async fn chunks_of_sites(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        sites: &[Site],
    ) -> Result<Vec<Option<ChunkId>>, QueryError> {
        let symbols = sites.iter().map(|site| &site.node).filter(|node| node.kind == NodeKind::Symbol);
        let symbols: Vec<SymbolNode> = symbols
            .map(|node| SymbolNode { repository: node.repository, name: node.name.clone(), node: node.key })
            .collect();
        let mut of_symbols: BTreeMap<NodeKey, ChunkId> = BTreeMap::new();
        if !symbols.is_empty() {
            let found = self.names.symbols_of(&query.view, scope, &symbols).await?;
            let repository: BTreeMap<NodeKey, RepositoryId> =
                symbols.iter().map(|symbol| (symbol.node, symbol.repository)).collect();
            let chunk = |symbol: &cairn_domain::SymbolEntry| {
                Some((symbol.node, (*repository.get(&symbol.node)?, symbol.chunk?)))
            };
            of_symbols = found.iter().filter_map(chunk).collect();
        }
        let of_files = self.chunks_of_files(query, scope, sites).await?;
        let chunk = |site: &Site| match line_place(site) {
            Some((place, line)) => smallest_with_line(of_files.get(&place)?, line),
            None => of_symbols.get(&site.node.key).copied(),
        };
        Ok(sites.iter().map(chunk).collect())
    }

    /// The chunks of all files that contain the line of a site.
    async fn chunks_of_files(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        sites: &[Site],
    ) -> Result<BTreeMap<RepositoryFile, Vec<ChunkPlace>>, QueryError> {
        let mut of_files: BTreeMap<RepositoryFile, Vec<ChunkPlace>> =
            sites.iter().filter_map(line_place).map(|(place, _)| (place, Vec::new())).collect();
        let files = of_files.keys().filter(|(repository, _)| scope.contains(*repository));
        let places = self.places(query, files, &ChunkFilter::default()).await?;
        for place in places {
            if let Some(chunks) = of_files.get_mut(&(place.repository, place.path.clone())) {
                chunks.push(place);
            }
        }
        Ok(of_files)
    }
}

/// The file and the line of a site that is not a symbol.
fn line_place(site: &Site) -> Option<(RepositoryFile, u32)> {
    let node = &site.node;
    let path = node.path.clone().filter(|_| matches!(node.kind, NodeKind::File | NodeKind::Section))?;
    let line = site.line.or(node.span.map(|span| span.start)).unwrap_or(1);
    Some(((node.repository, path), line))
}

fn smallest_with_line(chunks: &[ChunkPlace], line: u32) -> Option<ChunkId> {
    let with_line = chunks.iter().filter(|chunk| chunk.span.contains(line));
    let smallest = with_line.min_by_key(|chunk| (chunk.span.num_lines(), chunk.key))?;
    Some((smallest.repository, smallest.key))
}
