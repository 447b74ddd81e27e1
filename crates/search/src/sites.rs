//! The chunks of nodes of the graph, looked up in one batch.

use std::collections::BTreeMap;

use cairn_domain::{ChunkRecord, NodeKey, NodeKind, NodeRecord, RepoPath, RepositoryId, Scope};
use cairn_ports::{ChunkFilter, SymbolNode};

use crate::chunk_id::ChunkId;
use crate::prepared_query::PreparedQuery;
use crate::retrieve::id_of;
use crate::{QueryError, Searcher};

/// Maximum number of chunks among which the chunks of lines are searched.
const CHUNKS_OF_FILES: usize = 2_000;

/// A node, and the line in its file that matters.
pub(crate) struct Site {
    pub(crate) node: NodeRecord,
    /// None for the first line of the node.
    pub(crate) line: Option<u32>,
}

type Place = (RepositoryId, RepoPath);

impl Searcher {
    /// The chunk of each site: for a symbol, the chunk that contains its name; for a file or section, the
    /// smallest chunk with the line. None for other nodes, and for sites without a chunk.
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

    /// The chunks of all files that sites name by line.
    async fn chunks_of_files(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        sites: &[Site],
    ) -> Result<BTreeMap<Place, Vec<ChunkRecord>>, QueryError> {
        let mut of_files: BTreeMap<Place, Vec<ChunkRecord>> =
            sites.iter().filter_map(line_place).map(|(place, _)| (place, Vec::new())).collect();
        if of_files.is_empty() {
            return Ok(of_files);
        }
        let only = Scope::only(self.caller.tenant.clone(), of_files.keys().map(|(repository, _)| *repository));
        let paths = of_files.keys().map(|(_, path)| globset::escape(path.as_str())).collect();
        let filter = ChunkFilter { paths, ..ChunkFilter::default() };
        let hits = self.vectors.search_dense(&query.view, &only, &filter, &query.vector, CHUNKS_OF_FILES).await?;
        let chunks = self.fetch(&query.view, scope, hits.iter().map(id_of).collect()).await?;
        for chunk in chunks.into_values() {
            if let Some(chunks) = of_files.get_mut(&(chunk.repository, chunk.path.clone())) {
                chunks.push(chunk);
            }
        }
        Ok(of_files)
    }
}

/// The file and the line of a site that is not a symbol.
fn line_place(site: &Site) -> Option<(Place, u32)> {
    let node = &site.node;
    let path = node.path.clone().filter(|_| matches!(node.kind, NodeKind::File | NodeKind::Section))?;
    let line = site.line.or(node.span.map(|span| span.start)).unwrap_or(1);
    Some(((node.repository, path), line))
}

fn smallest_with_line(chunks: &[ChunkRecord], line: u32) -> Option<ChunkId> {
    let with_line = chunks.iter().filter(|chunk| chunk.span.contains(line));
    let smallest = with_line.min_by_key(|chunk| (chunk.span.num_lines(), chunk.key))?;
    Some((smallest.repository, smallest.key))
}
