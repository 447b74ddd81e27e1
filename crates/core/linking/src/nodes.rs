//! Creates the graph nodes of one file, and the nodes that belong to the whole repository.

use cairn_domain::{
    EdgeKind, EdgeRecord, LineSpan, NodeKey, NodeKind, NodeRecord, PackageManifest, RepositoryId, Resolution, Symbol,
};
use rustc_hash::FxHashSet;

use crate::contribution::{FilePlace, LinkFile};
use crate::documents::section_keys;
use crate::edges::Edges;

/// A module that is declared in the settings or was detected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleInfo {
    /// The name by which files refer to the module (`FilePlace::module`).
    pub name: String,
    /// The description in the settings.
    pub description: Option<String>,
}

fn node(key: NodeKey, repository: RepositoryId, kind: NodeKind, name: &str, qualified_name: &str) -> NodeRecord {
    NodeRecord {
        key,
        repository,
        kind,
        name: name.to_owned(),
        qualified_name: qualified_name.to_owned(),
        path: None,
        span: None,
        symbol_kind: None,
        signature: String::new(),
        doc: None,
        visibility: None,
        exported: false,
        is_test: false,
        language: None,
        module_path: String::new(),
        decorators: Vec::new(),
    }
}

/// Creates the nodes of a file: the file itself, its symbols and its sections. The nodes depend only on the
/// file.
pub fn file_nodes(repository: RepositoryId, file: &LinkFile<'_>) -> Vec<NodeRecord> {
    let LinkFile { place, facts } = *file;
    let own = |record: NodeRecord| NodeRecord {
        path: Some(place.path.clone()),
        language: Some(facts.language.clone()),
        module_path: place.module_path.to_owned(),
        ..record
    };
    let mut nodes = Vec::with_capacity(facts.symbols.len() + 1);
    let path = place.path.as_str();
    let key = NodeKey::file(repository, place.path);
    nodes.push(NodeRecord {
        span: (facts.num_lines > 0).then(|| LineSpan::new(1, facts.num_lines)),
        doc: facts.document.as_ref().and_then(|document| document.description.clone()),
        is_test: place.is_test,
        ..own(node(key, repository, NodeKind::File, place.path.file_name(), path))
    });
    for (symbol, key) in facts.symbols.iter().zip(NodeKey::symbols_of(repository, place.path, &facts.symbols)) {
        let record = node(key, repository, NodeKind::Symbol, &symbol.name, &symbol.qualified_name);
        nodes.push(symbol_node(own(record), symbol, place.is_test));
    }
    if let Some(document) = &facts.document {
        for (section, key) in document.sections.iter().zip(section_keys(repository, place.path, document)) {
            let name = section.heading_path.rsplit(" > ").next().unwrap_or(&section.heading_path);
            let record = own(node(key, repository, NodeKind::Section, name, &section.heading_path));
            nodes.push(NodeRecord { span: Some(section.span), is_test: place.is_test, ..record });
        }
    }
    nodes
}

fn symbol_node(record: NodeRecord, symbol: &Symbol, is_test: bool) -> NodeRecord {
    NodeRecord {
        span: Some(symbol.span),
        symbol_kind: Some(symbol.kind),
        signature: symbol.signature.clone(),
        doc: symbol.doc.as_deref().map(first_paragraph),
        visibility: Some(symbol.visibility),
        exported: symbol.exported,
        is_test: is_test || symbol.is_test,
        decorators: symbol.decorators.clone(),
        ..record
    }
}

/// The text up to the first empty line.
fn first_paragraph(doc: &str) -> String {
    let lines: Vec<&str> =
        doc.lines().skip_while(|line| line.trim().is_empty()).take_while(|line| !line.trim().is_empty()).collect();
    lines.join("\n")
}

/// Creates the nodes and edges that belong to no single file: the repository, its modules and packages, and
/// their dependencies.
///
/// This function is fast, so every run calls it again. `files` must contain every file of the repository,
/// each with the names of the other modules to which its edges lead.
pub fn repository_graph<'a>(
    repository: RepositoryId,
    name: &str,
    modules: &[ModuleInfo],
    packages: &[PackageManifest],
    files: impl IntoIterator<Item = (FilePlace<'a>, &'a [String])>,
) -> (Vec<NodeRecord>, Vec<EdgeRecord>) {
    let mut graph = Graph::new(repository, name);
    for module in modules {
        graph.module(&module.name, module.description.as_deref());
    }
    for (place, needed) in files {
        graph.file(place, needed);
    }
    let mut packages: Vec<&PackageManifest> = packages.iter().collect();
    packages.sort_unstable();
    packages.iter().for_each(|package| graph.package(package));
    graph.finish()
}

struct Graph {
    repository: RepositoryId,
    root: NodeKey,
    nodes: Vec<NodeRecord>,
    edges: Edges,
    known: FxHashSet<NodeKey>,
    linked: FxHashSet<(NodeKey, NodeKey)>,
}

impl Graph {
    fn new(repository: RepositoryId, name: &str) -> Self {
        let root = NodeKey::repository(repository);
        let nodes = vec![node(root, repository, NodeKind::Repository, name, name)];
        Self {
            repository,
            root,
            nodes,
            edges: Edges::default(),
            known: FxHashSet::default(),
            linked: FxHashSet::default(),
        }
    }

    fn module(&mut self, name: &str, description: Option<&str>) -> NodeKey {
        let key = NodeKey::module(self.repository, name);
        if self.known.insert(key) {
            let short = name.rsplit(['.', '/']).next().unwrap_or(name);
            let record = node(key, self.repository, NodeKind::Module, short, name);
            self.nodes.push(NodeRecord { doc: description.map(str::to_owned), module_path: name.to_owned(), ..record });
            self.edges.add_certain(self.root, EdgeKind::Contains, key, 0);
        }
        key
    }

    fn file(&mut self, place: FilePlace<'_>, needed: &[String]) {
        let node = NodeKey::file(self.repository, place.path);
        let Some(module) = place.module else { return self.edges.add_certain(self.root, EdgeKind::Contains, node, 0) };
        let module = self.module(module, None);
        self.edges.add_certain(module, EdgeKind::Contains, node, 0);
        for needed in needed {
            let needed = self.module(needed, None);
            if self.linked.insert((module, needed)) {
                self.edges.add(module, EdgeKind::DependsOn, needed, 0, Resolution::Import, 1);
            }
        }
    }

    fn package(&mut self, manifest: &PackageManifest) {
        if let Some(name) = &manifest.name {
            let key = self.package_node(manifest, name);
            if self.linked.insert((self.root, key)) {
                self.edges.add_certain(self.root, EdgeKind::Contains, key, 0);
            }
        }
        for dependency in &manifest.dependencies {
            let key = self.package_node(manifest, dependency);
            // If the repository itself declares the package, the repository contains the package and does not
            // depend on it.
            if self.linked.insert((self.root, key)) {
                self.edges.add_certain(self.root, EdgeKind::DependsOn, key, 0);
            }
        }
    }

    fn package_node(&mut self, manifest: &PackageManifest, name: &str) -> NodeKey {
        let ecosystem = manifest.ecosystem.as_str();
        let key = NodeKey::package(self.repository, ecosystem, name);
        if self.known.insert(key) {
            self.nodes.push(node(key, self.repository, NodeKind::Package, name, &format!("{ecosystem}:{name}")));
        }
        key
    }

    fn finish(mut self) -> (Vec<NodeRecord>, Vec<EdgeRecord>) {
        self.nodes.sort_unstable_by_key(|node| node.key);
        (self.nodes, self.edges.finish(self.repository))
    }
}
