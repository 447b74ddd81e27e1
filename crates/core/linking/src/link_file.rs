//! Creates all edges that start in one file.

use cairn_domain::{
    EdgeKind, EdgeRecord, FileFacts, NodeKey, Reference, ReferenceKind, RepoPath, Resolution, SymbolKind, Unresolved,
};

use crate::Definition;
use crate::contribution::LinkFile;
use crate::edges::Edges;
use crate::environment::Environment;
use crate::names::FileId;
use crate::referents::Referent;
use crate::resolve::{LinkResult, Resolver};

/// A reference that was not resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedReference {
    pub line: u32,
    pub name: String,
    pub receiver: Option<String>,
    pub reason: Unresolved,
}

/// The result of linking one file. The result depends only on the file and on the entries that the
/// environment contains under the keys in `asked`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileLinks {
    pub path: RepoPath,
    /// Sorted by source, kind, target, line.
    pub edges: Vec<EdgeRecord>,
    /// The unresolved imports, followed by all other unresolved references. Both groups are sorted by
    /// position.
    pub unresolved: Vec<UnresolvedReference>,
    /// The names of the other modules to which the file's edges lead, sorted.
    pub modules: Vec<String>,
    /// The keys that the file requested, sorted. Keys under which only the file itself is found are omitted.
    pub asked: Vec<u64>,
}

/// Links one file of the environment. The caller may link files in parallel.
///
/// The result is empty for a file that the environment does not contain.
pub fn link_file(environment: &Environment<'_>, file: &LinkFile<'_>) -> FileLinks {
    let path = file.place.path;
    let Some(id) = environment.position(path) else {
        return FileLinks {
            path: path.clone(),
            edges: Vec::new(),
            unresolved: Vec::new(),
            modules: Vec::new(),
            asked: Vec::new(),
        };
    };
    let mut linker = FileLinker::new(environment, id, file.facts);
    linker.structure();
    linker.imports();
    linker.references();
    linker.document();
    linker.finish()
}

pub(crate) struct FileLinker<'e> {
    pub(crate) resolver: Resolver<'e>,
    pub(crate) environment: &'e Environment<'e>,
    pub(crate) node: NodeKey,
    pub(crate) edges: Edges,
    pub(crate) unresolved: Vec<UnresolvedReference>,
    modules: Vec<&'e str>,
}

impl<'e> FileLinker<'e> {
    fn new(environment: &'e Environment<'e>, id: FileId, facts: &'e FileFacts) -> Self {
        let resolver = Resolver::new(environment, id, facts);
        let node = NodeKey::file(environment.repository(), &resolver.contribution.path);
        Self { resolver, environment, node, edges: Edges::default(), unresolved: Vec::new(), modules: Vec::new() }
    }

    /// Adds the edges from the file to its symbols, and from the symbols to their members.
    fn structure(&mut self) {
        let contribution = self.resolver.contribution;
        for (symbol, index) in self.resolver.facts.symbols.iter().zip(0..) {
            let holder = symbol.parent.map_or(self.node, |parent| contribution.node(parent));
            self.edges.add_certain(holder, EdgeKind::Defines, contribution.node(index), symbol.name_line);
        }
    }

    fn references(&mut self) {
        for reference in &self.resolver.facts.references {
            match self.resolver.resolve(reference) {
                LinkResult::Linked(referents, resolution) => self.link(reference, referents.as_slice(), resolution),
                LinkResult::Unresolved(reason) => self.keep(reference, reason),
            }
        }
    }

    fn link(&mut self, reference: &Reference, referents: &[Referent], resolution: Resolution) {
        let source = self.source(reference.enclosing);
        let mut is_linked = false;
        for referent in referents {
            let Some((target, kind)) = self.target(*referent, self.base_kind(reference, *referent)) else { continue };
            if target == source && kind == EdgeKind::References {
                continue;
            }
            is_linked = true;
            self.edges.add(source, kind, target, reference.line, resolution, referents.len());
            self.reach(*referent);
        }
        if !is_linked && referents.iter().all(|referent| matches!(referent, Referent::Package(..))) {
            self.keep(reference, Unresolved::NoDefinition);
        }
    }

    /// Returns whether a class extends or implements the base. Some languages list base classes and
    /// interfaces together.
    fn base_kind(&self, reference: &Reference, base: Referent) -> ReferenceKind {
        let kind = reference.kind;
        let is_base = matches!(kind, ReferenceKind::Extend | ReferenceKind::Implement);
        let Referent::Definition { file, index } = base else { return kind };
        if !is_base || !self.resolver.rules.bases_are_mixed {
            return kind;
        }
        // The reference is in an extension of a type that is defined elsewhere. Without an enclosing symbol,
        // no class in this file has the base, so the reference is only a use of a type.
        let Some(own) = reference.enclosing else { return ReferenceKind::TypeUse };
        let is_interface = |definition: &Definition| definition.kind == SymbolKind::Interface;
        let own = &self.resolver.contribution.definitions[own as usize];
        let is_implemented = is_interface(self.resolver.lookup.definition(file, index)) && !is_interface(own);
        if is_implemented { ReferenceKind::Implement } else { ReferenceKind::Extend }
    }

    /// Records an unresolved reference, unless the reference only reads a local variable as a value.
    fn keep(&mut self, reference: &Reference, reason: Unresolved) {
        if reference.kind == ReferenceKind::Value && reason == Unresolved::Dynamic {
            return;
        }
        let Reference { line, name, receiver, .. } = reference;
        self.unresolved.push(UnresolvedReference {
            line: *line,
            name: name.clone(),
            receiver: receiver.clone(),
            reason,
        });
    }

    pub(crate) fn source(&self, enclosing: Option<u32>) -> NodeKey {
        enclosing.map_or(self.node, |index| self.resolver.contribution.node(index))
    }

    /// The node of a referent, and the kind of the edge from the reference to this node.
    fn target(&self, referent: Referent, kind: ReferenceKind) -> Option<(NodeKey, EdgeKind)> {
        match referent {
            Referent::Definition { file, index } => {
                let definition = self.resolver.lookup.definition(file, index);
                let can_be_called = definition.kind.is_callable() || definition.kind.is_type();
                let edge = match kind {
                    ReferenceKind::Call | ReferenceKind::Instantiate if can_be_called => EdgeKind::Calls,
                    ReferenceKind::Extend => EdgeKind::Extends,
                    ReferenceKind::Implement => EdgeKind::Implements,
                    _ => EdgeKind::References,
                };
                Some((self.resolver.lookup.contribution(file).node(index), edge))
            }
            Referent::File { file, .. } => Some((self.file_node(file), EdgeKind::References)),
            Referent::Package(..) => None,
        }
    }

    pub(crate) fn file_node(&self, file: FileId) -> NodeKey {
        NodeKey::file(self.environment.repository(), &self.resolver.lookup.contribution(file).path)
    }

    /// Records the module to which an edge leads.
    pub(crate) fn reach(&mut self, referent: Referent) {
        let (Referent::Definition { file, .. } | Referent::File { file, .. }) = referent else { return };
        let module = self.resolver.lookup.contribution(file).module.as_deref();
        if let Some(module) = module.filter(|module| Some(*module) != self.resolver.contribution.module.as_deref())
            && self.modules.last() != Some(&module)
        {
            self.modules.push(module);
        }
    }

    fn finish(mut self) -> FileLinks {
        self.modules.sort_unstable();
        self.modules.dedup();
        FileLinks {
            path: self.resolver.contribution.path.clone(),
            edges: self.edges.finish(self.environment.repository()),
            unresolved: self.unresolved,
            modules: self.modules.into_iter().map(str::to_owned).collect(),
            asked: self.resolver.lookup.into_asked(),
        }
    }
}
