//! What one file gives to the rest of the repository: names, classes, imports that others may follow.
//!
//! Contributions are all that the environment is built from, so a run that changed one file needs the facts of that
//! file and of those that its change affects, and only contributions of the others. They hold hashes instead of names
//! wherever no path has to be formed.

use std::sync::{Arc, OnceLock};

use cairn_domain::{Arity, FileFacts, NodeKey, Outline, OutlineSymbol, RepoPath, RepositoryId, SymbolKind};
use rustc_hash::FxHashMap;

use crate::entries::{Item, each_entry};
use crate::rules::Rules;
use crate::{Family, Name};
use cairn_languages::family_of;

/// Where a file stands in its snapshot.
#[derive(Clone, Copy, Debug)]
pub struct FilePlace<'a> {
    pub path: &'a RepoPath,
    /// `fisio.imports.aws`; empty where the language has no module paths.
    pub module_path: &'a str,
    pub is_test: bool,
    /// Name of the declared or detected module that the file belongs to.
    pub module: Option<&'a str>,
}

/// A file as the linker sees it.
#[derive(Clone, Copy, Debug)]
pub struct LinkFile<'a> {
    pub place: FilePlace<'a>,
    pub facts: &'a FileFacts,
}

/// A definition as others can find it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Definition {
    pub name: Name,
    /// Qualified name within the file.
    pub qualified: Name,
    /// Qualified name of what holds it; empty at the top of the file.
    pub container: Name,
    /// Last part of that.
    pub container_last: Name,
    /// Index of the enclosing symbol.
    pub parent: Option<u32>,
    pub kind: SymbolKind,
    /// Number among the definitions of equal qualified name and kind in the file.
    pub ordinal: u32,
    pub arity: Arity,
    /// Can be named from other files.
    pub exported: bool,
    pub private: bool,
    /// Stands inside a function: nobody else can name it.
    pub local: bool,
    /// Declares again what another definition is: an overload's signature, a property's setter, a prototype.
    pub secondary: bool,
    /// What holds it, behind the file's package.
    pub holder: Name,
    /// Only inline modules and namespaces hold it, so that it is a name of its package.
    pub in_package: bool,
    /// Qualified name behind the file's package.
    pub full: Name,
    /// What the file exports by default.
    pub is_default: bool,
    /// An object, which may stand beside a class of its name.
    pub is_companion: bool,
    /// No reference can name it: a test that a macro defines.
    pub nameless: bool,
    /// Another name of what holds it: `const Self = @This();`.
    pub names_holder: bool,
    /// A member of a type that is a name of its file as well.
    pub at_top: bool,
}

/// A base of a class, as written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Base {
    /// Index of the class among the definitions.
    pub class: u32,
    pub name: String,
    pub implements: bool,
}

/// One name that an import binds, or all of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImportFact {
    pub module: String,
    pub level: u8,
    /// Taken out of the module; none if the module itself is bound.
    pub name: Option<String>,
    /// What it is called here; empty for wildcards.
    pub local: Name,
    pub wildcard: bool,
    /// Of a wildcard: brings in constructors, fields and methods only (`import Shape (Shape (..))` of Haskell).
    pub members_only: bool,
    pub reexport: bool,
    /// The inline module in which it stands.
    pub container: Name,
}

/// A field whose type is evident, or a variable at the top of the file: its class is empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldType {
    /// Last part of the qualified name of its class.
    pub class: Name,
    pub name: Name,
    pub type_name: String,
    /// Container in which the type's name is looked up.
    pub scope: Name,
}

/// What one file gives to the rest of the repository.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub path: RepoPath,
    pub family: Family,
    pub module_path: String,
    /// Name of the module that it belongs to.
    pub module: Option<String>,
    /// Declared package or namespace.
    pub package: Option<String>,
    pub is_test: bool,
    /// One for each symbol of the file, in the same order.
    pub definitions: Vec<Definition>,
    pub bases: Vec<Base>,
    pub imports: Vec<ImportFact>,
    pub fields: Vec<FieldType>,
    /// The keys under which all of this is found.
    pub(crate) entries: Vec<(u64, Item)>,
    /// The package or namespace that the top of the file belongs to.
    pub(crate) namespace: Name,
    repository: RepositoryId,
    outline: Arc<Outline>,
    /// Made when the first is asked for.
    named: OnceLock<Named>,
    outer_namespaces: OnceLock<Vec<Name>>,
    /// Keys of the definitions' nodes: made when one is asked for, since most files of a repository are never reached.
    nodes: OnceLock<Vec<NodeKey>>,
}

/// The first definition of each qualified name.
#[derive(Clone, Debug, Default)]
struct Named {
    containers: FxHashMap<Name, u32>,
    types: FxHashMap<Name, u32>,
}

/// What the file gives to the rest of its repository.
pub fn contribute(repository: RepositoryId, place: &FilePlace<'_>, outline: &Arc<Outline>) -> Contribution {
    let family = family_of(&outline.language);
    let namespace = namespace(family, place.path, outline.package.as_deref());
    let definitions = definitions(outline, family, namespace);
    let mut contribution = Contribution {
        path: place.path.clone(),
        family,
        module_path: place.module_path.to_owned(),
        module: place.module.map(str::to_owned),
        package: outline.package.clone(),
        is_test: place.is_test,
        bases: bases(outline, family),
        fields: fields(outline, &definitions),
        imports: imports(outline, family, &definitions),
        definitions,
        entries: Vec::new(),
        namespace,
        repository,
        outline: Arc::clone(outline),
        named: OnceLock::new(),
        outer_namespaces: OnceLock::new(),
        nodes: OnceLock::new(),
    };
    let mut entries = Vec::with_capacity(contribution.definitions.len() * 3 + contribution.imports.len() + 4);
    each_entry(&contribution, |key, item| entries.push((key, item)));
    contribution.entries = entries;
    contribution
}

fn definitions(outline: &Outline, family: Family, package: Name) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::with_capacity(outline.symbols.len());
    for symbol in &outline.symbols {
        let parent = symbol.parent.and_then(|parent| definitions.get(parent as usize)).copied();
        definitions.push(definition(symbol, parent.as_ref(), package, family));
    }
    definitions
}

/// Identity of the package or namespace that the top of a file belongs to.
fn namespace(family: Family, path: &RepoPath, package: Option<&str>) -> Name {
    match family {
        Family::Go => go_package(path.directory(), package),
        Family::Swift => swift_target(path.directory()).map_or(Name::EMPTY, swift_module),
        _ => package.map_or(Name::EMPTY, Name::of),
    }
}

/// The target that a file belongs to as the package manager lays sources out: `Sources/Library/Model` is of `Library`.
fn swift_target(directory: &str) -> Option<&str> {
    let mut parts = directory.split('/');
    parts.find(|part| matches!(*part, "Sources" | "Tests" | "Plugins"))?;
    parts.next()
}

/// A module of Swift is a target.
pub(crate) fn swift_module(target: &str) -> Name {
    Name::of("swift:").then(target)
}

/// Go's packages are folders; tests of a package from outside are a second package in the same folder.
pub(crate) fn go_package(directory: &str, package: Option<&str>) -> Name {
    let folder = Name::of("go:").then(directory);
    if package.is_some_and(|package| package.ends_with("_test")) { folder.then("#test") } else { folder }
}

fn definition(symbol: &OutlineSymbol, parent: Option<&Definition>, package: Name, family: Family) -> Definition {
    let holder =
        symbol.qualified_name.strip_suffix(symbol.name.as_str()).and_then(|rest| rest.strip_suffix('.')).unwrap_or("");
    let holder_last = holder.rsplit('.').next().unwrap_or(holder);
    let rules = Rules::of(family);
    let is_named_from_top = match parent {
        None => {
            let is_namespace =
                symbol.kind == SymbolKind::Module && matches!(family, Family::CSharp | Family::Php | Family::Jvm);
            holder.is_empty() || is_namespace || rules.modules_are_types && symbol.kind.is_container()
        }
        Some(parent) => parent.in_package && parent.kind == SymbolKind::Module,
    };
    let is_value = symbol.kind == SymbolKind::Module && rules.modules_are_values;
    // The implementation of a protocol can only be called through the protocol.
    let is_implementation = rules.modules_are_types
        && symbol.kind == SymbolKind::Method
        && parent.is_none_or(|parent| parent.kind == SymbolKind::Module);
    let dotted = |name: &str| if name.is_empty() { package } else { package.dot(name) };
    Definition {
        name: Name::of(&symbol.name),
        qualified: Name::of(&symbol.qualified_name),
        container: Name::of(holder),
        container_last: Name::of(holder_last),
        parent: symbol.parent,
        kind: if is_value { SymbolKind::Class } else { symbol.kind },
        ordinal: symbol.ordinal,
        arity: symbol.arity,
        exported: symbol.exported,
        private: symbol.private,
        local: is_implementation || parent.is_some_and(|parent| parent.local || !parent.kind.is_container()),
        secondary: symbol.secondary,
        holder: dotted(holder),
        in_package: is_named_from_top,
        full: dotted(&symbol.qualified_name),
        is_default: symbol.is_default,
        is_companion: symbol.is_companion,
        nameless: symbol.nameless,
        names_holder: symbol.names_holder,
        at_top: rules.members_at_top && parent.is_some_and(|parent| is_member_at_top(symbol.kind, parent)),
    }
}

/// Constructors and fields of a type, and what a class declares; methods of an instance are no names.
fn is_member_at_top(kind: SymbolKind, parent: &Definition) -> bool {
    parent.in_package
        && match parent.kind {
            SymbolKind::Trait => true,
            _ => parent.kind.is_type() && matches!(kind, SymbolKind::Constant | SymbolKind::Field),
        }
}

fn bases(outline: &Outline, family: Family) -> Vec<Base> {
    if family == Family::Other {
        return Vec::new();
    }
    let base = |base: &cairn_domain::OutlineBase| Base {
        class: base.class,
        name: match &base.receiver {
            // Bases that are written with their whole name are looked up by it.
            Some(receiver) => format!("{}.{}", receiver.strip_prefix("<root>.").unwrap_or(receiver), base.name),
            None => base.name.clone(),
        },
        implements: base.implements,
    };
    outline.bases.iter().map(base).collect()
}

fn fields(outline: &Outline, definitions: &[Definition]) -> Vec<FieldType> {
    let mut fields = Vec::with_capacity(outline.fields.len());
    for field in &outline.fields {
        let scope = field.scope.and_then(|scope| definitions.get(scope as usize));
        let (class, scope) = match scope {
            None => (Name::EMPTY, Name::EMPTY),
            Some(scope) if scope.kind.is_container() => (scope.name, scope.qualified),
            Some(scope) => (scope.container_last, scope.container),
        };
        // Outside of all symbols nothing is set on an object.
        let own = field.scope.and_then(|_| field.name.strip_prefix("self."));
        let name = Name::of(own.unwrap_or(&field.name));
        fields.push(FieldType { class, name, type_name: field.type_name.clone(), scope });
    }
    fields.sort_by(|a, b| (a.class, a.name, &a.type_name, a.scope).cmp(&(b.class, b.name, &b.type_name, b.scope)));
    fields.dedup();
    fields
}

/// Imports at the top of the file and of its inline modules.
fn imports(outline: &Outline, family: Family, definitions: &[Definition]) -> Vec<ImportFact> {
    let mut kept = Vec::new();
    for import in &outline.imports {
        let scope = import.enclosing.and_then(|scope| definitions.get(scope as usize));
        if scope.is_some_and(|scope| scope.local || scope.kind != SymbolKind::Module) {
            continue;
        }
        let container = scope.map_or(Name::EMPTY, |scope| scope.qualified);
        for bound in bound_names(import, family) {
            kept.push(bound.to_fact(container, import.reexport));
        }
    }
    kept
}

/// What an import binds, borrowed from the facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundName<'a> {
    pub(crate) module: &'a str,
    pub(crate) level: u8,
    pub(crate) name: Option<&'a str>,
    pub(crate) local: Name,
    pub(crate) wildcard: bool,
    pub(crate) members_only: bool,
}

impl BoundName<'_> {
    fn to_fact(self, container: Name, reexport: bool) -> ImportFact {
        ImportFact {
            module: self.module.to_owned(),
            level: self.level,
            name: self.name.map(str::to_owned),
            local: self.local,
            wildcard: self.wildcard,
            members_only: self.members_only,
            reexport,
            container,
        }
    }
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

    /// The inline module or class of a qualified name; of several the first.
    pub(crate) fn container(&self, qualified: Name) -> Option<u32> {
        if qualified.is_empty() { None } else { self.named().containers.get(&qualified).copied() }
    }

    /// The type of a qualified name; of several the first.
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

    /// Bases of a class in the order in which they are written.
    pub(crate) fn bases_of(&self, class: u32) -> &[Base] {
        let start = self.bases.partition_point(|base| base.class < class);
        let end = self.bases.partition_point(|base| base.class <= class);
        &self.bases[start..end]
    }
}

impl ImportFact {
    pub(crate) fn bound(&self) -> BoundName<'_> {
        BoundName {
            module: &self.module,
            level: self.level,
            name: self.name.as_deref(),
            local: self.local,
            wildcard: self.wildcard,
            members_only: self.members_only,
        }
    }
}

/// The names that an import binds; a wildcard binds the empty name.
pub(crate) fn bound_names(import: &cairn_domain::Import, family: Family) -> Vec<BoundName<'_>> {
    let base = BoundName {
        module: &import.module,
        level: import.level,
        name: None,
        local: Name::EMPTY,
        wildcard: import.wildcard,
        members_only: false,
    };
    let mut bound = Vec::with_capacity(import.names.len() + 1);
    for name in &import.names {
        let is_module = family == Family::Rust && name.name == "self";
        let taken = (!is_module).then_some(name.name.as_str());
        let called = match (&name.alias, is_module) {
            (Some(alias), _) => alias.as_str(),
            (None, true) => last_part(&import.module),
            (None, false) => &name.name,
        };
        bound.push(BoundName { name: taken, local: Name::of(called), wildcard: false, ..base });
    }
    let names_types = import.names.iter().any(|name| name.name.starts_with(char::is_uppercase));
    if family == Family::Haskell && names_types && !import.wildcard {
        bound.push(BoundName { wildcard: true, members_only: true, ..base });
    }
    // Haskell's `import A as B` brings in everything and calls the module `B`.
    let is_also_bound = family == Family::Haskell && import.alias.is_some();
    if import.wildcard && (import.alias.is_none() || is_also_bound) {
        bound.push(base);
    }
    if import.wildcard && import.alias.is_none() {
        return bound;
    }
    if import.names.is_empty() || import.alias.is_some() {
        let local = import.alias.as_deref().unwrap_or_else(|| default_binding(&import.module, family));
        bound.push(BoundName { local: Name::of(local), wildcard: false, ..base });
    }
    bound
}

/// What a module is called where it is imported without alias.
fn default_binding(module: &str, family: Family) -> &str {
    match family {
        Family::Python => module.split('.').next().unwrap_or(module),
        Family::Go => go_package_name(module),
        // An import that no variable or constant is set to binds nothing.
        Family::Lua | Family::Zig => "",
        _ => last_part(module),
    }
}

fn last_part(module: &str) -> &str {
    module.rsplit(['.', '/']).next().unwrap_or(module)
}

/// `github.com/a/b/v2` and `gopkg.in/b.v2` are called `b`, as a rule.
fn go_package_name(module: &str) -> &str {
    let is_version =
        |part: &str| part.len() > 1 && part.starts_with('v') && part[1..].bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = module.rsplit('/');
    let last = parts.next().unwrap_or(module);
    let name = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match name.rsplit_once('.') {
        Some((stem, version)) if is_version(version) => stem,
        _ => name,
    }
}
