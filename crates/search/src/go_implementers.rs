//! Finds the Go types that implement an interface.
//!
//! Go code does not state which types implement an interface, so the graph has no edges between them. The
//! search compares names instead: a type implements an interface if it has methods with the names of all
//! methods of the interface. The graph contains the methods of the interface, and the methods of the
//! interfaces that it embeds. The name index contains the methods of the types. Signatures, and methods that
//! a type receives from an embedded type, are not compared.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{EdgeKind, NodeKey, NodeRecord, RepoPath, RepositoryId, Scope, SymbolEntry, SymbolKind};
use cairn_ports::{Follow, MAX_TRAVERSAL_DEPTH, NameMatch, Reached, SymbolHit, SymbolNode, TraversalRequest};
use cairn_ranking::Via;

use crate::chunk_id::ChunkId;
use crate::named_code::{NamedCode, NamedNode};
use crate::neighbours::edges_to;
use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

/// Maximum number of interfaces with the requested name whose implementers are searched.
const MAX_INTERFACES: usize = 3;
/// Maximum number of methods of an interface whose names are compared.
const MAX_COMPARED: usize = 8;
/// Maximum number of members of an interface that are read from the graph.
const MAX_MEMBERS: usize = 500;
/// Maximum number of symbols with the name of one method that are read. A method with more symbols is not
/// compared, because its list is incomplete.
const MAX_SYMBOLS: usize = 10_000;
/// Maximum number of types whose definitions are looked up in the files of their methods.
const MAX_TYPES: usize = 200;
/// Maximum number of types whose definitions are looked up by name, because no file with their methods
/// contains the definition.
const MAX_LOOKED_UP: usize = 10;
/// Maximum number of definitions with the name of a type that are read.
const MAX_DEFINITIONS: usize = 100;
/// Edges with a lower confidence have several candidates, so the embedded interface is not known.
const MIN_CONFIDENCE_PERCENT: u8 = 60;
/// Equal names of methods are strong evidence, but no proof: the signatures may differ.
const CONFIDENCE_PERCENT: u8 = 80;
/// The kinds of Go definitions that may have methods.
const KINDS: [SymbolKind; 3] = [SymbolKind::Struct, SymbolKind::Type, SymbolKind::Interface];

/// The types that implement the requested interfaces.
#[derive(Default)]
pub(crate) struct Implementers {
    /// The types of the first interface come first.
    pub(crate) types: Vec<Implementer>,
    /// Whether more such types may exist.
    pub(crate) is_cut: bool,
    /// Whether the names of some methods were not compared.
    pub(crate) is_partial: bool,
}

impl Implementers {
    /// The number of types. A type may implement several interfaces.
    pub(crate) fn num_types(&self) -> usize {
        self.types.iter().map(|found| found.node).collect::<BTreeSet<NodeKey>>().len()
    }
}

/// A type that implements an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Implementer {
    /// The node of the interface.
    pub(crate) interface: NodeKey,
    /// The node of the type.
    pub(crate) node: NodeKey,
    /// The chunk that defines the type.
    pub(crate) chunk: ChunkId,
    pub(crate) via: Via,
}

/// A directory of a repository. In Go, the files of a directory are a package.
type Package = (RepositoryId, String);

/// A method that an interface requires.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Required {
    name: String,
    /// The package of the interface, if the name begins with a lower-case letter. Only types of this package
    /// can implement such a method.
    package: Option<Package>,
}

impl Required {
    fn of(method: &NodeRecord) -> Option<Self> {
        let package = (method.repository, method.path.as_ref()?.directory().to_owned());
        let is_exported = method.name.starts_with(char::is_uppercase);
        Some(Self { name: method.name.clone(), package: (!is_exported).then_some(package) })
    }
}

/// A type, as the qualified name of a method names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Owner {
    package: Package,
    name: String,
}

impl Owner {
    fn symbol(&self, node: NodeKey) -> SymbolNode {
        SymbolNode { repository: self.package.0, name: self.name.clone(), node }
    }

    /// Whether the symbol of the same repository is the definition of the type.
    fn is_defined_by(&self, symbol: &SymbolEntry) -> bool {
        let SymbolEntry { qualified_name, path, kind, .. } = symbol;
        *qualified_name == self.name && path.directory() == self.package.1 && is_go(path) && KINDS.contains(kind)
    }
}

/// Types, each with the files that contain its methods.
type Owners = BTreeMap<Owner, BTreeSet<RepoPath>>;

pub(crate) fn is_go(path: &RepoPath) -> bool {
    path.as_str().ends_with(".go")
}

fn is_go_interface(named: &&NamedNode) -> bool {
    named.is_interface() && named.path.as_ref().is_some_and(is_go)
}

/// The methods of an interface, and of the interfaces that it embeds. `reached` contains the nodes that
/// edges reach from the interface.
fn required(interface: NodeKey, reached: &[Reached]) -> BTreeSet<Required> {
    let mut interfaces = BTreeSet::from([interface]);
    let mut methods = BTreeSet::new();
    // An embedded interface comes before its methods, because the nodes are sorted by depth.
    for reached in reached {
        let node = &reached.node;
        for (edge, previous) in edges_to(reached) {
            match (edge.kind, node.symbol_kind) {
                _ if !interfaces.contains(&previous) => {}
                (EdgeKind::Extends, Some(SymbolKind::Interface)) => interfaces.extend([node.key]),
                (EdgeKind::Defines, Some(SymbolKind::Method)) => methods.extend(Required::of(node)),
                _ => {}
            }
        }
    }
    methods
}

/// The methods whose names are compared. Long names come first, because few types have a method with a long
/// name.
fn compared(methods: &BTreeSet<Required>) -> Vec<&Required> {
    let mut compared: Vec<&Required> = methods.iter().collect();
    compared.sort_by_key(|method| (method.package.is_none(), Reverse(method.name.len())));
    compared.truncate(MAX_COMPARED);
    compared
}

/// The types that have the method. `hits` contains the symbols with the name of the method.
fn owners_of(method: &Required, hits: &[SymbolHit]) -> Owners {
    let mut owners = Owners::new();
    for SymbolHit { repository, symbol, .. } in hits {
        let Some((owner, name)) = symbol.qualified_name.split_once('.') else { continue };
        let package = (*repository, symbol.path.directory().to_owned());
        let is_method = symbol.kind == SymbolKind::Method && name == method.name && is_go(&symbol.path);
        if is_method && method.package.as_ref().is_none_or(|only| *only == package) {
            let owner = Owner { package, name: owner.to_owned() };
            owners.entry(owner).or_default().insert(symbol.path.clone());
        }
    }
    owners
}

/// The types in both lists.
fn common(left: Owners, mut right: Owners) -> Owners {
    let common = left.into_iter().filter_map(|(owner, mut paths)| {
        paths.append(&mut right.remove(&owner)?);
        Some((owner, paths))
    });
    common.collect()
}

/// The types that have the compared methods.
#[derive(Default)]
struct Compared {
    owners: Owners,
    num_methods: usize,
}

/// Definitions of types, each with its repository.
#[derive(Default)]
struct Definitions {
    types: Vec<(RepositoryId, SymbolEntry)>,
    /// Whether some types were not looked up.
    is_cut: bool,
}

impl Implementer {
    /// `None` if no chunk contains the name of the type.
    fn of(interface: &NamedNode, repository: RepositoryId, symbol: &SymbolEntry) -> Option<Self> {
        let via = Via {
            edge: EdgeKind::Implements,
            is_outgoing: false,
            symbol: interface.name.clone(),
            path: interface.path.clone(),
            line: symbol.line,
            confidence_percent: CONFIDENCE_PERCENT,
        };
        Some(Self { interface: interface.node, node: symbol.node, chunk: (repository, symbol.chunk?), via })
    }
}

impl Searcher {
    /// The Go types that implement the Go interfaces among the named definitions.
    pub(crate) async fn go_implementers(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        named: &NamedCode,
    ) -> Result<Implementers, QueryError> {
        let mut found = Implementers::default();
        for interface in named.nodes.iter().filter(is_go_interface).take(MAX_INTERFACES) {
            let members = self.members_of_interface(query, scope, interface.node).await?;
            let methods = required(interface.node, &members);
            let Compared { owners, num_methods } = self.owners_of_all(query, scope, &methods).await?;
            let own = members.first().map(|member| member.edge.owner);
            let mut owners: Vec<(Owner, BTreeSet<RepoPath>)> = owners.into_iter().collect();
            owners.sort_by_key(|(owner, _)| Some(owner.package.0) != own);
            let Definitions { mut types, is_cut } = self.definitions_of_owners(query, scope, &owners).await?;
            types.retain(|(_, symbol)| symbol.kind != SymbolKind::Interface);
            types.sort_by_cached_key(|(repository, symbol)| {
                (Some(*repository) != own, symbol.is_test, *repository, symbol.path.clone(), symbol.line)
            });
            found.is_cut |= is_cut;
            found.is_partial |= !types.is_empty() && num_methods < methods.len();
            let implementer = |(repository, symbol)| Implementer::of(interface, repository, &symbol);
            found.types.extend(types.into_iter().filter_map(implementer));
        }
        Ok(found)
    }

    /// The methods and the embedded interfaces of an interface, with the methods of these interfaces.
    async fn members_of_interface(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        interface: NodeKey,
    ) -> Result<Vec<Reached>, QueryError> {
        let request = TraversalRequest {
            starts: vec![interface],
            follow: Follow::Out,
            returns_starts: false,
            kinds: vec![EdgeKind::Defines, EdgeKind::Extends],
            min_confidence_percent: MIN_CONFIDENCE_PERCENT,
            max_depth: MAX_TRAVERSAL_DEPTH,
            max_edges_per_node: MAX_MEMBERS,
            max_nodes: MAX_MEMBERS,
        };
        Ok(self.graph.traverse(&query.view, scope, &request).await?.reached)
    }

    /// The types that have all compared methods. Without methods, there are no such types.
    async fn owners_of_all(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        methods: &BTreeSet<Required>,
    ) -> Result<Compared, QueryError> {
        let mut found = Compared::default();
        for method in compared(methods) {
            let hits = self.names.symbols(&query.view, scope, &method.name, &[NameMatch::Exact], MAX_SYMBOLS).await?;
            if hits.len() == MAX_SYMBOLS {
                continue;
            }
            let of_method = owners_of(method, &hits);
            found.owners = if found.num_methods == 0 { of_method } else { common(found.owners, of_method) };
            found.num_methods += 1;
            if found.owners.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// The definitions of the types. Most types are defined in a file with one of their methods, so one call
    /// looks up these definitions.
    async fn definitions_of_owners(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        owners: &[(Owner, BTreeSet<RepoPath>)],
    ) -> Result<Definitions, QueryError> {
        let looked_up = &owners[..owners.len().min(MAX_TYPES)];
        let mut owner_of: BTreeMap<NodeKey, &Owner> = BTreeMap::new();
        for (owner, paths) in looked_up {
            for (path, kind) in paths.iter().flat_map(|path| KINDS.map(|kind| (path, kind))) {
                owner_of.insert(NodeKey::symbol(owner.package.0, path, &owner.name, kind, 0), owner);
            }
        }
        if owner_of.is_empty() {
            return Ok(Definitions::default());
        }
        let nodes = owner_of.iter().map(|(node, owner)| owner.symbol(*node));
        let found = self.names.symbols_of(&query.view, scope, &nodes.collect::<Vec<_>>()).await?;
        let with_owner = |symbol: SymbolEntry| Some((*owner_of.get(&symbol.node)?, symbol));
        let found: Vec<(&Owner, SymbolEntry)> = found.into_iter().filter_map(with_owner).collect();
        let known: BTreeSet<&Owner> = found.iter().map(|(owner, _)| *owner).collect();
        let missing: Vec<&Owner> =
            looked_up.iter().map(|(owner, _)| owner).filter(|owner| !known.contains(owner)).collect();
        let mut types: Vec<(RepositoryId, SymbolEntry)> = Vec::new();
        for owner in missing.iter().take(MAX_LOOKED_UP) {
            let symbol = self.definition_of_owner(query, scope, owner).await?;
            types.extend(symbol.map(|symbol| (owner.package.0, symbol)));
        }
        types.extend(found.into_iter().map(|(owner, symbol)| (owner.package.0, symbol)));
        Ok(Definitions { types, is_cut: owners.len() > MAX_TYPES || missing.len() > MAX_LOOKED_UP })
    }

    /// The definition of a type in a file without its methods.
    async fn definition_of_owner(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<Option<SymbolEntry>, QueryError> {
        let in_repository = Scope::only(scope.tenant.clone(), [owner.package.0]);
        let (name, ways) = (&owner.name, [NameMatch::Exact]);
        let hits = self.names.symbols(&query.view, &in_repository, name, &ways, MAX_DEFINITIONS).await?;
        Ok(hits.into_iter().map(|hit| hit.symbol).find(|symbol| owner.is_defined_by(symbol)))
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{EdgeKey, EdgeRecord, LineSpan, NodeKind, RepositoryName, Resolution, Tenant};

    use super::*;

    fn repository() -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), &RepositoryName::new("shop"))
    }

    fn path(path: &str) -> RepoPath {
        RepoPath::parse(path).expect("a path")
    }

    fn key(name: &str, kind: SymbolKind) -> NodeKey {
        NodeKey::symbol(repository(), &path("store/store.go"), name, kind, 0)
    }

    /// A node that an edge reaches from the interface `from`.
    fn reached(from: &str, kind: EdgeKind, name: &str, symbol_kind: SymbolKind) -> Reached {
        let (previous, node) = (key(from, SymbolKind::Interface), key(name, symbol_kind));
        let edge = EdgeRecord {
            key: EdgeKey::derive(repository(), previous, kind, node, 0),
            owner: repository(),
            kind,
            source: previous,
            target: node,
            line: 1,
            resolution: Resolution::Exact,
            confidence_percent: 99,
        };
        let node = NodeRecord {
            key: node,
            repository: repository(),
            kind: NodeKind::Symbol,
            name: name.rsplit('.').next().unwrap_or(name).to_owned(),
            qualified_name: name.to_owned(),
            path: Some(path("store/store.go")),
            span: None,
            symbol_kind: Some(symbol_kind),
            signature: String::new(),
            doc: None,
            visibility: None,
            exported: true,
            is_test: false,
            language: Some("go".to_owned()),
            module_path: String::new(),
            decorators: Vec::new(),
        };
        Reached { node, depth: 1, previous, edge, other_edges: Vec::new(), confidence: 990_000 }
    }

    #[test]
    fn methods_of_embedded_interfaces_are_required() {
        use EdgeKind::{Defines, Extends};
        use SymbolKind::{Field, Interface, Method, Struct};
        let reached = [
            reached("Store", Defines, "Store.Get", Method),
            reached("Store", Defines, "Store.lock", Method),
            reached("Store", Extends, "Closer", Interface),
            reached("Store", Extends, "Base", Struct),
            reached("Closer", Defines, "Closer.Close", Method),
            reached("Base", Defines, "Base.Run", Method),
            reached("Base", Defines, "Base.size", Field),
        ];
        let package = Some((repository(), "store".to_owned()));
        let expect = [("Close", None), ("Get", None), ("lock", package)];
        let expect = expect.map(|(name, package)| Required { name: name.to_owned(), package });
        assert_eq!(required(key("Store", Interface), &reached), BTreeSet::from(expect));
        assert_eq!(required(key("Other", Interface), &reached), BTreeSet::new());
    }

    #[test]
    fn rare_methods_are_compared_first() {
        let required = |name: &str| Required { name: name.to_owned(), package: None };
        let mut methods: BTreeSet<Required> = ["Get", "GetMany", "Do"].map(required).into();
        methods.insert(Required { name: "x".to_owned(), package: Some((repository(), String::new())) });
        let names: Vec<&str> = compared(&methods).iter().map(|method| method.name.as_str()).collect();
        assert_eq!(names, ["x", "GetMany", "Get", "Do"]);
        methods.extend((0..20).map(|number| required(&format!("Method{number}"))));
        assert_eq!(compared(&methods).len(), MAX_COMPARED);
    }

    fn hit(file: &str, qualified_name: &str, kind: SymbolKind) -> SymbolHit {
        let symbol = SymbolEntry {
            name: qualified_name.rsplit('.').next().unwrap_or(qualified_name).to_owned(),
            qualified_name: qualified_name.to_owned(),
            kind,
            path: path(file),
            line: 1,
            span: LineSpan::new(1, 1),
            chunk: None,
            node: NodeKey::symbol(repository(), &path(file), qualified_name, kind, 0),
            language: String::new(),
            module_path: String::new(),
            exported: true,
            documented: false,
            is_test: false,
        };
        SymbolHit { repository: repository(), symbol, matched: NameMatch::Exact, score: 100 }
    }

    fn names(owners: &Owners) -> Vec<String> {
        let name = |(owner, paths): (&Owner, &BTreeSet<RepoPath>)| {
            format!("{}/{} in {}", owner.package.1, owner.name, paths.len())
        };
        owners.iter().map(name).collect()
    }

    #[test]
    fn only_go_methods_have_owners() {
        use SymbolKind::{Field, Function, Method};
        let hits = [
            hit("a/one.go", "Disk.Get", Method),
            hit("a/two.go", "Disk.Get", Method),
            hit("b/one.go", "Disk.Get", Method),
            hit("a/one.go", "Get", Function),
            hit("a/one.go", "Cache.Get", Field),
            hit("a/one.go", "outer.Inner.Get", Method),
            hit("a/one.go", ".", Method),
            hit("a/one.py", "Python.Get", Method),
        ];
        let method = |package| Required { name: "Get".to_owned(), package };
        assert_eq!(names(&owners_of(&method(None), &hits)), ["a/Disk in 2", "b/Disk in 1"]);
        let in_package = method(Some((repository(), "b".to_owned())));
        assert_eq!(names(&owners_of(&in_package, &hits)), ["b/Disk in 1"]);
    }

    /// Types with the same name in two directories are different types.
    #[test]
    fn methods_of_one_type_are_in_one_directory() {
        let of = |hits: &[SymbolHit], name: &str| owners_of(&Required { name: name.to_owned(), package: None }, hits);
        let get = [hit("a/one.go", "Disk.Get", SymbolKind::Method), hit("b/one.go", "Disk.Get", SymbolKind::Method)];
        let put = [hit("a/two.go", "Disk.Put", SymbolKind::Method), hit("c/one.go", "Disk.Put", SymbolKind::Method)];
        assert_eq!(names(&common(of(&get, "Get"), of(&put, "Put"))), ["a/Disk in 2"]);
    }
}
