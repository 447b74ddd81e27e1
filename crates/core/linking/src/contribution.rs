//! The part of one file that the rest of the repository can find: names, classes, and imports that others may
//! follow.
//!
//! The environment is built from contributions alone. A run that changed one file therefore needs the facts
//! of that file and of the affected files, and only the contributions of all others. Contributions contain
//! hashes instead of names, except where a path must be formed.

use std::sync::{Arc, OnceLock};

use cairn_domain::{Arity, FileFacts, NodeKey, Outline, OutlineSymbol, RepoPath, RepositoryId, SymbolKind};
use rustc_hash::FxHashMap;

use crate::Family;
use crate::names::Name;

/// The position of a file in its snapshot.
#[derive(Clone, Copy, Debug)]
pub struct FilePlace<'a> {
    pub path: &'a RepoPath,
    /// `fisio.imports.aws`; empty where the language has no module paths.
    pub module_path: &'a str,
    pub is_test: bool,
    /// Name of the declared or detected module that contains the file.
    pub module: Option<&'a str>,
}

/// The input of the linker for one file.
#[derive(Clone, Copy, Debug)]
pub struct LinkFile<'a> {
    pub place: FilePlace<'a>,
    pub facts: &'a FileFacts,
}

/// A definition that other files can find.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Definition {
    pub name: Name,
    /// Qualified name within the file.
    pub qualified: Name,
    /// Qualified name of its container; empty at the top of the file.
    pub container: Name,
    /// Last part of the container's name.
    pub container_last: Name,
    /// Index of the enclosing symbol.
    pub parent: Option<u32>,
    pub kind: SymbolKind,
    /// Its number among the definitions of the file with the same qualified name and kind.
    pub ordinal: u32,
    pub arity: Arity,
    /// Can be named from other files.
    pub exported: bool,
    pub private: bool,
    /// Is inside a function, so only that function can name it.
    pub local: bool,
    /// Repeats another definition: an overload's signature, a property's setter, a prototype.
    pub secondary: bool,
    /// Its container, without the file's package.
    pub holder: Name,
    /// Its containers are all inline modules and namespaces, so it is a name of its package.
    pub in_package: bool,
    /// Qualified name without the file's package.
    pub full: Name,
    /// The default export of the file.
    pub is_default: bool,
    /// An object that may exist beside a class of the same name.
    pub is_companion: bool,
    /// No reference can name it: a test that a macro defines.
    pub nameless: bool,
    /// An alias of its container: `const Self = @This();`.
    pub names_holder: bool,
    /// A member of a type that is also a name of its file.
    pub at_top: bool,
}

/// A base of a class, as the source writes it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Base {
    /// Index of the class among the definitions.
    pub class: u32,
    pub name: String,
    pub implements: bool,
}

/// One name that an import binds, or all names of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImportFact {
    pub module: String,
    pub level: u8,
    /// The name taken from the module; none if the import binds the module itself.
    pub name: Option<String>,
    /// The local name; empty for wildcards.
    pub local: Name,
    pub wildcard: bool,
    /// For a wildcard: only constructors, fields and methods become visible (`import Shape (Shape (..))` of
    /// Haskell).
    pub members_only: bool,
    pub reexport: bool,
    /// The inline module that contains the import.
    pub container: Name,
}

/// A field whose type is evident, or a variable at the top of the file, whose class is empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldType {
    /// Last part of the qualified name of its class.
    pub class: Name,
    pub name: Name,
    pub type_name: String,
    /// Container in which the type's name is looked up.
    pub scope: Name,
}

/// The target of an entry, within its file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    File,
    Definition(u32),
    Import(u32),
    Field(u32),
}

/// The contribution of one file.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub path: RepoPath,
    pub family: Family,
    pub module_path: String,
    /// Name of the module that contains the file.
    pub module: Option<String>,
    /// Declared package or namespace.
    pub package: Option<String>,
    pub is_test: bool,
    /// One for each symbol of the file, in the same order.
    pub definitions: Vec<Definition>,
    pub bases: Vec<Base>,
    pub imports: Vec<ImportFact>,
    pub fields: Vec<FieldType>,
    /// The keys of all definitions, imports and fields.
    pub(crate) entries: Vec<(u64, Item)>,
    /// The package or namespace of the top of the file.
    pub(crate) namespace: Name,
    pub(crate) repository: RepositoryId,
    pub(crate) outline: Arc<Outline>,
    /// Built on first use.
    pub(crate) named: OnceLock<Named>,
    pub(crate) outer_namespaces: OnceLock<Vec<Name>>,
    /// Keys of the definitions' nodes. Built on first use, since most files of a repository are never
    /// reached.
    pub(crate) nodes: OnceLock<Vec<NodeKey>>,
}

/// The first definition with each qualified name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    containers: FxHashMap<Name, u32>,
    types: FxHashMap<Name, u32>,
}

impl Contribution {
    /// Key of the node of a definition.
    pub(crate) fn node(&self, index: u32) -> NodeKey {
        let node = |symbol: &OutlineSymbol| {
            NodeKey::symbol(self.repository, &self.path, &symbol.qualified_name, symbol.kind, symbol.ordinal)
        };
        self.nodes.get_or_init(|| self.outline.symbols.iter().map(node).collect())[index as usize]
    }

    fn named(&self) -> &Named {
        self.named.get_or_init(|| {
            let mut named = Named::default();
            for (definition, index) in self.definitions.iter().zip(0..) {
                if definition.kind.is_container() {
                    named.containers.entry(definition.qualified).or_insert(index);
                }
                if definition.kind.is_type() {
                    named.types.entry(definition.qualified).or_insert(index);
                }
            }
            named
        })
    }

    /// The first inline module or class with this qualified name.
    pub(crate) fn container(&self, qualified: Name) -> Option<u32> {
        if qualified.is_empty() { None } else { self.named().containers.get(&qualified).copied() }
    }

    /// The first type with this qualified name.
    pub(crate) fn type_named(&self, qualified: Name) -> Option<u32> {
        self.named().types.get(&qualified).copied()
    }

    /// The namespaces around the declared one, from the inside: `A.B` and `A` of `A.B.C`.
    pub(crate) fn outer_namespaces(&self) -> &[Name] {
        self.outer_namespaces.get_or_init(|| {
            let mut parts = self.package.as_deref().unwrap_or_default().split('.');
            let mut name = parts.next().map_or(Name::EMPTY, Name::of);
            let mut outer = Vec::new();
            for part in parts {
                outer.push(name);
                name = name.then(".").then(part);
            }
            outer.reverse();
            outer
        })
    }

    /// Bases of a class in source order.
    pub(crate) fn bases_of(&self, class: u32) -> &[Base] {
        let start = self.bases.partition_point(|base| base.class < class);
        let end = self.bases.partition_point(|base| base.class <= class);
        &self.bases[start..end]
    }
}
