//! What one file gives to the rest of the repository: names, classes, imports that others may follow.
//!
//! Contributions are all that the environment is built from, so a run that changed one file needs the facts of that
//! file and of those that its change affects, and only contributions of the others. They hold hashes instead of names
//! wherever no path has to be formed.

use cairn_domain::{FileFacts, NodeKey, ReferenceKind, RepoPath, RepositoryId, Symbol, SymbolKind, Visibility};

use rustc_hash::FxHashMap;

use crate::arity::Arity;
use crate::{Family, Name};

/// A file as the linker sees it.
#[derive(Clone, Copy, Debug)]
pub struct LinkFile<'a> {
    pub path: &'a RepoPath,
    /// `fisio.imports.aws`; empty where the language has no module paths.
    pub module_path: &'a str,
    pub is_test: bool,
    /// Name of the declared or detected module that the file belongs to.
    pub module: Option<&'a str>,
    pub facts: &'a FileFacts,
}

/// A definition as others can find it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Definition {
    pub node: NodeKey,
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
}

/// What the file gives to the rest of its repository.
pub fn contribute(repository: RepositoryId, file: &LinkFile<'_>) -> Contribution {
    let facts = file.facts;
    let family = Family::of(&facts.language);
    let definitions = definitions(repository, file, family);
    let mut bases = bases(facts, family);
    if family == Family::Zig {
        bases.extend(aliased(facts));
        bases.sort_by_key(|base| base.class);
    }
    let fields = fields(facts, &definitions);
    let imports = imports(facts, family, &definitions);
    Contribution {
        path: file.path.clone(),
        family,
        module_path: file.module_path.to_owned(),
        module: file.module.map(str::to_owned),
        package: facts.package.clone(),
        is_test: file.is_test,
        definitions,
        bases,
        imports,
        fields,
    }
}

fn definitions(repository: RepositoryId, file: &LinkFile<'_>, family: Family) -> Vec<Definition> {
    let symbols = &file.facts.symbols;
    let keys = NodeKey::symbols_of(repository, file.path, symbols);
    let package = namespace(family, file.path, file.facts.package.as_deref());
    let mut definitions: Vec<Definition> = Vec::with_capacity(symbols.len());
    for (symbol, node) in symbols.iter().zip(keys) {
        let parent = symbol.parent.and_then(|parent| definitions.get(parent as usize)).copied();
        definitions.push(definition(symbol, node, parent.as_ref(), package, family, &file.facts.language));
    }
    if matches!(file.facts.language.as_str(), "typescript" | "tsx") {
        mark_overloads(&mut definitions);
    }
    definitions
}

/// Of several functions of one name in a scope, TypeScript allows one body, the last; the others are its overloads.
fn mark_overloads(definitions: &mut [Definition]) {
    let mut last: FxHashMap<(Option<u32>, Name), usize> = FxHashMap::default();
    for index in 0..definitions.len() {
        let Definition { parent, name, kind, secondary, .. } = definitions[index];
        if kind.is_callable()
            && !secondary
            && let Some(earlier) = last.insert((parent, name), index)
        {
            definitions[earlier].secondary = true;
        }
    }
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

fn definition(
    symbol: &Symbol,
    node: NodeKey,
    parent: Option<&Definition>,
    package: Name,
    family: Family,
    language: &str,
) -> Definition {
    let holder =
        symbol.qualified_name.strip_suffix(symbol.name.as_str()).and_then(|rest| rest.strip_suffix('.')).unwrap_or("");
    let holder_last = holder.rsplit('.').next().unwrap_or(holder);
    let rules = family.rules();
    let is_named_from_top = match parent {
        None => {
            let is_namespace =
                symbol.kind == SymbolKind::Module && matches!(family, Family::CSharp | Family::Php | Family::Jvm);
            holder.is_empty() || is_namespace || rules.modules_are_types && symbol.kind.is_container()
        }
        Some(parent) => parent.in_package && parent.kind == SymbolKind::Module,
    };
    let is_value = symbol.kind == SymbolKind::Module && rules.modules_are_values;
    let has_arity = symbol.kind.is_callable() && !rules.loose_arguments;
    // The implementation of a protocol can only be called through the protocol.
    let is_implementation = rules.modules_are_types
        && symbol.kind == SymbolKind::Method
        && parent.is_none_or(|parent| parent.kind == SymbolKind::Module);
    let dotted = |name: &str| if name.is_empty() { package } else { package.dot(name) };
    Definition {
        node,
        name: Name::of(&symbol.name),
        qualified: Name::of(&symbol.qualified_name),
        container: Name::of(holder),
        container_last: Name::of(holder_last),
        parent: symbol.parent,
        kind: if is_value { SymbolKind::Class } else { symbol.kind },
        arity: if has_arity { arity(symbol, family, language) } else { Arity::UNKNOWN },
        exported: symbol.exported,
        private: symbol.visibility == Visibility::Private,
        local: is_implementation || parent.is_some_and(|parent| parent.local || !parent.kind.is_container()),
        secondary: is_secondary(symbol, family),
        holder: dotted(holder),
        in_package: is_named_from_top,
        full: dotted(&symbol.qualified_name),
        is_default: symbol.name == "default"
            || symbol.signature.starts_with("export default ")
            || symbol.signature.starts_with("default "),
        is_companion: family == Family::Jvm && is_object(&symbol.signature),
        nameless: family == Family::C && symbol.is_test && symbol.kind.is_callable() && !is_declared_by_name(symbol),
        names_holder: family == Family::Zig && symbol.signature.ends_with("= @This()"),
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

fn arity(symbol: &Symbol, family: Family, language: &str) -> Arity {
    let Symbol { signature, name, .. } = symbol;
    match family {
        Family::Elixir => Arity::of_clause(signature, name),
        // Types and equations do not tell how much of a function a call applies.
        Family::Haskell => Arity::UNKNOWN,
        Family::Zig if symbol.kind == SymbolKind::Method => {
            // The object itself is the first parameter, whatever it is called.
            let Arity { min, max } = Arity::of_signature(signature, name);
            Arity { min: min.saturating_sub(1), max }
        }
        // In C an empty list says nothing of the parameters.
        Family::C if language == "c" && signature.contains("()") => Arity::UNKNOWN,
        _ => Arity::of_signature(signature, name),
    }
}

/// Whether a signature declares an object: `object Json`, `private case object Empty`.
fn is_object(signature: &str) -> bool {
    signature
        .split([' ', '('])
        .take_while(|word| !matches!(*word, "class" | "trait" | "interface"))
        .any(|word| word == "object")
}

/// `TEST(Suite, name)` does not declare a function `name`.
fn is_declared_by_name(symbol: &Symbol) -> bool {
    let ends = |(at, name): (usize, &str)| symbol.signature[at + name.len()..].trim_start().starts_with('(');
    symbol.signature.match_indices(symbol.name.as_str()).any(ends)
}

fn is_secondary(symbol: &Symbol, family: Family) -> bool {
    match family {
        Family::Python => symbol.decorators.iter().any(|decorator| {
            let name = decorator.split('(').next().unwrap_or(decorator);
            matches!(name.rsplit('.').next(), Some("overload" | "setter" | "deleter"))
        }),
        // A prototype ends where a body would begin.
        Family::C => symbol.kind.is_callable() && symbol.signature.ends_with(';'),
        Family::Script => symbol.kind == SymbolKind::Method && symbol.signature.starts_with("set "),
        // A test is called like what it tests, and nothing calls it.
        Family::Zig | Family::Elixir => symbol.is_test && symbol.signature.starts_with("test"),
        _ => false,
    }
}

fn bases(facts: &FileFacts, family: Family) -> Vec<Base> {
    let mut bases = Vec::new();
    if family == Family::Other {
        return bases;
    }
    for reference in &facts.references {
        let (ReferenceKind::Extend | ReferenceKind::Implement, Some(class)) = (reference.kind, reference.enclosing)
        else {
            continue;
        };
        let name = match &reference.receiver {
            // Bases that are written with their whole name are looked up by it.
            Some(receiver) => format!("{}.{}", receiver.strip_prefix("<root>.").unwrap_or(receiver), reference.name),
            None => reference.name.clone(),
        };
        bases.push(Base { class, name, implements: reference.kind == ReferenceKind::Implement });
    }
    // Stable, so that the bases of a class keep their order.
    bases.sort_by_key(|base| base.class);
    bases
}

/// A constant that is set to a type has the members of that type: `const Ring = buffers.Ring;`, `const Bytes = List(u8);`.
fn aliased(facts: &FileFacts) -> impl Iterator<Item = Base> + '_ {
    facts.references.iter().filter_map(|reference| {
        let class = reference.enclosing?;
        let symbol = &facts.symbols[class as usize];
        let (_, value) = symbol.signature.split_once(" = ").filter(|_| symbol.kind == SymbolKind::Type)?;
        let name = match &reference.receiver {
            Some(receiver) => format!("{receiver}.{}", reference.name),
            None => reference.name.clone(),
        };
        let rest = value.strip_prefix(name.as_str())?;
        (rest.is_empty() || rest.starts_with('(')).then_some(Base { class, name, implements: false })
    })
}

fn fields(facts: &FileFacts, definitions: &[Definition]) -> Vec<FieldType> {
    let mut fields = Vec::new();
    for binding in facts.bindings.iter().filter(|binding| !binding.type_name.is_empty()) {
        let Some(scope) = binding.scope.and_then(|scope| definitions.get(scope as usize)) else {
            let (name, type_name) = (Name::of(&binding.name), binding.type_name.clone());
            fields.push(FieldType { class: Name::EMPTY, name, type_name, scope: Name::EMPTY });
            continue;
        };
        let own = binding.name.strip_prefix("self.");
        let class = if scope.kind.is_container() {
            scope.qualified
        } else if own.is_some() {
            scope.container
        } else {
            continue;
        };
        let class_last = if scope.kind.is_container() { scope.name } else { scope.container_last };
        let name = Name::of(own.unwrap_or(&binding.name));
        fields.push(FieldType { class: class_last, name, type_name: binding.type_name.clone(), scope: class });
    }
    fields.sort_by(|a, b| (a.class, a.name, &a.type_name, a.scope).cmp(&(b.class, b.name, &b.type_name, b.scope)));
    fields.dedup();
    fields
}

/// Imports at the top of the file and of its inline modules.
fn imports(facts: &FileFacts, family: Family, definitions: &[Definition]) -> Vec<ImportFact> {
    let mut kept = Vec::new();
    for import in &facts.imports {
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
    pub(crate) fn namespace(&self) -> Name {
        namespace(self.family, &self.path, self.package.as_deref())
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
