//! The contribution of one file: those of its names, classes and imports that other files can use. Other
//! files find only these parts of the file.
//!
//! The environment is built only from contributions. Therefore, if one file changed, a run needs the facts of
//! only that file and of the affected files. For all other files, the run needs only the contributions.
//! Contributions contain hashes instead of names, except where a path must be formed.

use std::sync::{Arc, OnceLock};

use cairn_domain::{Arity, FileFacts, NodeKey, Outline, OutlineSymbol, RepoPath, RepositoryId, SymbolKind};
use rustc_hash::FxHashMap;

use crate::Family;
use crate::names::Name;

/// The position of a file in its snapshot.
#[derive(Clone, Copy, Debug)]
pub struct FilePlace<'a> {
    pub path: &'a RepoPath,
    /// The module path, such as `fisio.imports.aws`. The module path is empty if the language has no module
    /// paths.
    pub module_path: &'a str,
    pub is_test: bool,
    /// The name of the declared or detected module that contains the file.
    pub module: Option<&'a str>,
}

/// The input of the linker for one file.
#[derive(Clone, Copy, Debug)]
pub struct LinkFile<'a> {
    pub place: FilePlace<'a>,
    pub facts: &'a FileFacts,
}

/// A definition that other files can find. If `local` is true, only the enclosing function can find the
/// definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Definition {
    pub name: Name,
    /// The qualified name within the file.
    pub qualified: Name,
    /// The qualified name of the container. This name is empty at the top level of the file.
    pub container: Name,
    /// The last part of the container's name.
    pub container_last: Name,
    /// The index of the enclosing symbol.
    pub parent: Option<u32>,
    pub kind: SymbolKind,
    /// The position among the definitions of the file with the same qualified name and kind.
    pub ordinal: u32,
    pub arity: Arity,
    /// Whether other files can use the name.
    pub exported: bool,
    pub private: bool,
    /// Whether the definition is inside a function. If so, only this function can use the name.
    pub local: bool,
    /// Whether the definition repeats another definition: for example, the signature of an overload, the
    /// setter of a property, or a prototype.
    pub secondary: bool,
    /// The name of the container, without the file's package.
    pub holder: Name,
    /// Whether all containers are inline modules or namespaces. If so, the definition is a name of its
    /// package.
    pub in_package: bool,
    /// The qualified name without the file's package.
    pub full: Name,
    /// Whether the definition is the default export of the file.
    pub is_default: bool,
    /// Whether the definition is an object that may have the same name as a class.
    pub is_companion: bool,
    /// Whether no reference can use the name. This is the case for a test that a macro defines.
    pub nameless: bool,
    /// Whether the definition is an alias of its container: `const Self = @This();`.
    pub names_holder: bool,
    /// Whether the definition is a member of a type and also a name at the top level of its file.
    pub at_top: bool,
}

/// A base of a class, with the name that the source uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Base {
    /// The index of the class in `Contribution::definitions`.
    pub class: u32,
    pub name: String,
    pub implements: bool,
}

/// A name that an import binds, or all names of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImportFact {
    pub module: String,
    pub level: u8,
    /// The name that is imported from the module. `None` if the import binds the module itself.
    pub name: Option<String>,
    /// The local name. Empty for a wildcard.
    pub local: Name,
    pub wildcard: bool,
    /// For a wildcard: whether only constructors, fields and methods become visible, as with `import Shape
    /// (Shape (..))` in Haskell.
    pub members_only: bool,
    pub reexport: bool,
    /// The name of the inline module that contains the import.
    pub container: Name,
}

/// A field or a top-level variable with an evident type. For a variable, `class` is empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldType {
    /// The last part of the qualified name of the class.
    pub class: Name,
    pub name: Name,
    pub type_name: String,
    /// The container in which the type's name is looked up.
    pub scope: Name,
}

/// The item to which an entry refers. The item is in the file of the entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    File,
    Definition(u32),
    Import(u32),
    Field(u32),
}

/// The part of one file that other files can find.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub path: RepoPath,
    pub family: Family,
    pub module_path: String,
    /// The name of the module that contains the file.
    pub module: Option<String>,
    /// The declared package or namespace.
    pub package: Option<String>,
    pub is_test: bool,
    /// One definition for each symbol of the file, in the same order.
    pub definitions: Vec<Definition>,
    pub bases: Vec<Base>,
    pub imports: Vec<ImportFact>,
    pub fields: Vec<FieldType>,
    /// The keys of all definitions, imports and fields.
    pub(crate) entries: Vec<(u64, Item)>,
    /// The package or namespace at the top level of the file.
    pub(crate) namespace: Name,
    pub(crate) repository: RepositoryId,
    pub(crate) outline: Arc<Outline>,
    /// Computed on first use.
    pub(crate) named: OnceLock<Named>,
    pub(crate) outer_namespaces: OnceLock<Vec<Name>>,
    /// The keys of the definitions' nodes. The keys are computed on first use, because most files of a
    /// repository are not the target of any edge.
    pub(crate) nodes: OnceLock<Vec<NodeKey>>,
}

/// The first definition with each qualified name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    containers: FxHashMap<Name, u32>,
    types: FxHashMap<Name, u32>,
}

impl Contribution {
    /// The key of the node of a definition.
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

    /// The namespaces that enclose the declared namespace, from the innermost to the outermost: `A.B` and `A`
    /// for `A.B.C`.
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

    /// The bases of a class in source order.
    pub(crate) fn bases_of(&self, class: u32) -> &[Base] {
        let start = self.bases.partition_point(|base| base.class < class);
        let end = self.bases.partition_point(|base| base.class <= class);
        &self.bases[start..end]
    }
}
