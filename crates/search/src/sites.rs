//! Looks up the chunks of graph nodes in one batch.

use std::collections::BTreeMap;

use cairn_domain::{NodeKey, NodeKind, NodeRecord, RepoPath, RepositoryId, Scope, SymbolEntry};
use cairn_ports::{ChunkFilter, ChunkPlace, SymbolNode};

use crate::chunk_id::ChunkId;
use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

/// A node, and a line in its file.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) node: NodeRecord,
    /// `None` means the line with the name of the node.
    pub(crate) line: Option<u32>,
}

/// A file of a repository.
pub(crate) type RepositoryFile = (RepositoryId, RepoPath);

impl Searcher {
    /// The chunk of each site: the smallest chunk with the line. If the site of a symbol has no line, or if
    /// no chunk contains the line, the chunk that contains the name of the symbol is used. `None` for nodes
    /// without a file, and for sites without a chunk.
    pub(crate) async fn chunks_of_sites(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        sites: &[Site],
    ) -> Result<Vec<Option<ChunkId>>, QueryError> {
        let (of_symbols, of_files) =
            tokio::try_join!(self.chunks_of_symbols(query, scope, sites), self.chunks_of_files(query, scope, sites))?;
        let with_line = |site: &Site| {
            let (place, line) = line_place(site)?;
            smallest_with_line(of_files.get(&place)?, line, of_symbols.get(&site.node.key).copied())
        };
        let chunk = |site: &Site| with_line(site).or_else(|| of_symbols.get(&site.node.key).copied());
        Ok(sites.iter().map(chunk).collect())
    }

    /// The chunk with the name of each symbol.
    async fn chunks_of_symbols(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        sites: &[Site],
    ) -> Result<BTreeMap<NodeKey, ChunkId>, QueryError> {
        let symbols = sites.iter().map(|site| &site.node).filter(|node| node.kind == NodeKind::Symbol);
        let symbols: BTreeMap<NodeKey, &NodeRecord> = symbols.map(|node| (node.key, node)).collect();
        let asked =
            |node: &&NodeRecord| SymbolNode { repository: node.repository, name: node.name.clone(), node: node.key };
        let asked: Vec<SymbolNode> = symbols.values().map(asked).collect();
        if asked.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = self.names.symbols_of(&query.view, scope, &asked).await?;
        let chunk = |symbol: SymbolEntry| Some((symbol.node, (symbols.get(&symbol.node)?.repository, symbol.chunk?)));
        Ok(found.into_iter().filter_map(chunk).collect())
    }

    /// The chunks of each file that contains the line of a site.
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

/// The file and the line of a site. `None` for a symbol without a line, and for nodes without a file.
fn line_place(site: &Site) -> Option<(RepositoryFile, u32)> {
    let node = &site.node;
    let line = match node.kind {
        NodeKind::Symbol => site.line?,
        NodeKind::File | NodeKind::Section => site.line.or(node.span.map(|span| span.start)).unwrap_or(1),
        NodeKind::Repository | NodeKind::Module | NodeKind::Package | NodeKind::Pattern => return None,
    };
    Some(((node.repository, node.path.clone()?), line))
}

/// The smallest chunk with the line. If several chunks have the same span, the chunk `own` is preferred,
/// because the chunk of a pattern has the span of a member of the pattern, but a different text.
fn smallest_with_line(chunks: &[ChunkPlace], line: u32, own: Option<ChunkId>) -> Option<ChunkId> {
    let with_line = chunks.iter().filter(|chunk| chunk.span.contains(line));
    let is_other = |chunk: &ChunkPlace| own != Some((chunk.repository, chunk.key));
    let smallest = with_line.min_by_key(|chunk| (chunk.span.num_lines(), is_other(chunk), chunk.key))?;
    Some((smallest.repository, smallest.key))
}
