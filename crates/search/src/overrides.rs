//! Finds the methods that override a given method, and the methods that the given method overrides.
//!
//! The graph has edges between types, not between their methods. Therefore the search follows the edges from
//! the owner of the method to its subtypes or supertypes. The answer consists of the methods of these types
//! that have the same name.

use std::collections::BTreeMap;

use cairn_domain::{EdgeKind, NodeKey, RepositoryId, Scope, SymbolEntry};
use cairn_ports::{Follow, MAX_TRAVERSAL_DEPTH, NameMatch, Reached, SymbolHit, TraversalRequest};
use cairn_question::{Relation, RelationshipAsked};
use cairn_ranking::Via;

use crate::chunk_id::ChunkId;
use crate::named_code::NamedCode;
use crate::neighbours::via;
use crate::prepared_query::PreparedQuery;
use crate::related_notes::MAX_RELATED;
use crate::{QueryError, Searcher};

/// Maximum number of types with the name of the method's owner that are read.
const MAX_OWNERS: usize = 100;
/// Maximum number of subtypes or supertypes that are followed.
const MAX_TYPES: usize = 500;
/// Maximum number of methods with the requested name that are read.
const MAX_METHODS: usize = 5_000;

/// A method, and the name of the type that contains it.
struct Method {
    /// The qualified name of the type that contains the method.
    owner: String,
    name: String,
    symbol: SymbolEntry,
}

impl Method {
    fn of(symbol: &SymbolEntry) -> Option<Self> {
        let (owner, name) = symbol.qualified_name.rsplit_once('.')?;
        Some(Self { owner: owner.to_owned(), name: name.to_owned(), symbol: symbol.clone() })
    }
}

impl Searcher {
    /// The overriding or overridden methods. Methods of the nearest types come first. `None` if no definition
    /// of the requested name is a method.
    pub(crate) async fn overriding(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        asked: &RelationshipAsked,
        named: &NamedCode,
    ) -> Result<Option<Vec<(ChunkId, Vec<Via>)>>, QueryError> {
        let methods = named.nodes.iter().filter_map(|node| Method::of(node.definition.as_ref()?));
        let methods: Vec<Method> = methods.collect();
        let Some(first) = methods.first() else { return Ok(None) };
        let owners = self.owners_of(query, scope, &methods).await?;
        let types = self.related_types(query, scope, asked.relation, &owners).await?;
        let name = &first.name;
        let all = self.names.symbols(&query.view, scope, name, &[NameMatch::Exact], MAX_METHODS).await?;
        let mut found = RelatedTypes { owners: &owners, types: &types }.methods(name, &all);
        found.truncate(MAX_RELATED);
        Ok(Some(found))
    }

    /// The subtypes or supertypes of the owners, nearest first.
    async fn related_types(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        relation: Relation,
        owners: &BTreeMap<NodeKey, SymbolEntry>,
    ) -> Result<Vec<Reached>, QueryError> {
        let request = TraversalRequest {
            starts: owners.keys().copied().collect(),
            follow: if relation == Relation::Overrides { Follow::In } else { Follow::Out },
            returns_starts: false,
            kinds: vec![EdgeKind::Extends, EdgeKind::Implements],
            min_confidence_percent: 1,
            max_depth: MAX_TRAVERSAL_DEPTH,
            max_edges_per_node: MAX_TYPES,
            max_nodes: MAX_TYPES,
        };
        Ok(self.graph.traverse(&query.view, scope, &request).await?.reached)
    }

    /// The types that contain the methods.
    async fn owners_of(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        methods: &[Method],
    ) -> Result<BTreeMap<NodeKey, SymbolEntry>, QueryError> {
        let mut owners = BTreeMap::new();
        let mut known: Vec<&str> = Vec::new();
        for method in methods {
            if known.contains(&method.owner.as_str()) {
                continue;
            }
            known.push(&method.owner);
            let found = self.names.symbols(&query.view, scope, &method.owner, &[NameMatch::Exact], MAX_OWNERS).await?;
            let in_one_file: Vec<&SymbolHit> = found
                .iter()
                .filter(|hit| hit.symbol.kind.is_container() && hit.symbol.path == method.symbol.path)
                .collect();
            // In some languages, a method may be in a different file than its type. If no type is in the same
            // file as the method, all types with the name are used.
            let shown = if in_one_file.is_empty() { found.iter().collect() } else { in_one_file };
            owners.extend(shown.into_iter().map(|hit| (hit.symbol.node, hit.symbol.clone())));
        }
        Ok(owners)
    }
}

/// The subtypes or supertypes of the owners of methods.
struct RelatedTypes<'a> {
    owners: &'a BTreeMap<NodeKey, SymbolEntry>,
    types: &'a [Reached],
}

impl RelatedTypes<'_> {
    /// The chunks of the methods with this name in the types, in the order of the types, each with the edges
    /// that lead to its types. `all` contains the symbols with this name in all types.
    fn methods(&self, name: &str, all: &[SymbolHit]) -> Vec<(ChunkId, Vec<Via>)> {
        let mut by_name: BTreeMap<(RepositoryId, &str), Vec<&SymbolEntry>> = BTreeMap::new();
        for hit in all {
            by_name.entry((hit.repository, hit.symbol.qualified_name.as_str())).or_default().push(&hit.symbol);
        }
        let mut found: Vec<(ChunkId, Vec<Via>)> = Vec::new();
        for reached in self.types {
            let node = &reached.node;
            let qualified = format!("{}.{name}", node.qualified_name);
            for method in by_name.get(&(node.repository, qualified.as_str())).into_iter().flatten() {
                let Some(id) = method.chunk.map(|chunk| (node.repository, chunk)) else { continue };
                match found.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, edges)) => edges.extend(self.via(reached)),
                    None => found.extend(self.via(reached).map(|via| (id, vec![via]))),
                }
            }
        }
        found
    }

    /// The edge that leads to a type.
    fn via(&self, reached: &Reached) -> Option<Via> {
        if let Some(owner) = self.owners.get(&reached.previous) {
            return Some(via(reached, &owner.qualified_name, Some(&owner.path)));
        }
        let previous = self.types.iter().find(|known| known.node.key == reached.previous)?;
        Some(via(reached, &previous.node.qualified_name, previous.node.path.as_ref()))
    }
}
