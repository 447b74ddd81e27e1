//! A compiled query file: captures as roles, properties of patterns as values.

use cairn_domain::{BindingEvidence, ReferenceKind, SymbolKind, Visibility};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;
use tree_sitter::{Language, Query};

/// The role of a capture. `LANGUAGES.md` of `cairn-languages` documents the names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Definition(SymbolKind),
    /// The name of a variable that is a definition of this kind.
    Becomes(SymbolKind),
    Name,
    Path,
    Body,
    Owner,
    SelfName,
    Visibility,
    Section,
    Doc,
    Decorator,
    Comment,
    Wrapper,
    Export,
    ExportName,
    ExportAlias,
    Scope,
    Local,
    TypeParameter,
    /// Code in which calls are uses of types (specifications).
    Types,
    Reference(ReferenceKind),
    Receiver,
    Arguments,
    Argument,
    Import,
    ImportPart(ImportRole),
    Binding(BindingEvidence),
    /// The name of a parameter or local variable without evident type.
    Opaque,
    BindingName,
    BindingType,
    BindingFunction,
    BindingSource,
    Package,
    PackageBody,
    NotReference,
    Ignored,
}

/// The role of a capture inside an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ImportRole {
    Module,
    Part,
    Name,
    Alias,
    Default,
    Path,
    Group,
    Prefix,
    Namespace,
    Bound,
    Wildcard,
    Reexport,
}

impl Role {
    /// None for a name outside the vocabulary.
    fn parse(capture: &str) -> Option<Role> {
        if let Some(kind) = capture.strip_prefix("definition.") {
            return SymbolKind::parse(kind).map(Role::Definition);
        }
        if let Some(kind) = capture.strip_prefix("becomes.") {
            return SymbolKind::parse(kind).map(Role::Becomes);
        }
        if let Some(kind) = capture.strip_prefix("reference.") {
            return ReferenceKind::parse(kind).map(Role::Reference);
        }
        if let Some(part) = capture.strip_prefix("import.") {
            return ImportRole::parse(part).map(Role::ImportPart);
        }
        Some(match capture {
            _ if capture.starts_with('_') => Role::Ignored,
            "name" => Role::Name,
            "path" => Role::Path,
            "body" => Role::Body,
            "owner" => Role::Owner,
            "self" => Role::SelfName,
            "visibility" => Role::Visibility,
            "section" => Role::Section,
            "doc" => Role::Doc,
            "decorator" => Role::Decorator,
            "comment" => Role::Comment,
            "wrapper" => Role::Wrapper,
            "export" => Role::Export,
            "export.name" => Role::ExportName,
            "export.alias" => Role::ExportAlias,
            "scope" => Role::Scope,
            "local" => Role::Local,
            "type_parameter" => Role::TypeParameter,
            "types" => Role::Types,
            "receiver" => Role::Receiver,
            "arguments" => Role::Arguments,
            "argument" => Role::Argument,
            "import" => Role::Import,
            "reexport" => Role::ImportPart(ImportRole::Reexport),
            "binding.annotation" => Role::Binding(BindingEvidence::Annotation),
            "binding.constructor" => Role::Binding(BindingEvidence::Constructor),
            "binding.opaque" => Role::Opaque,
            "binding.name" => Role::BindingName,
            "binding.type" => Role::BindingType,
            "binding.source" => Role::BindingSource,
            "binding.function" => Role::BindingFunction,
            "package" => Role::Package,
            "package.body" => Role::PackageBody,
            "not_reference" => Role::NotReference,
            _ => return None,
        })
    }
}

impl ImportRole {
    fn parse(part: &str) -> Option<ImportRole> {
        Some(match part {
            "module" => ImportRole::Module,
            "part" => ImportRole::Part,
            "name" => ImportRole::Name,
            "alias" => ImportRole::Alias,
            "default" => ImportRole::Default,
            "path" => ImportRole::Path,
            "group" => ImportRole::Group,
            "prefix" => ImportRole::Prefix,
            "namespace" => ImportRole::Namespace,
            "bound" => ImportRole::Bound,
            "wildcard" => ImportRole::Wildcard,
            _ => return None,
        })
    }
}

/// The values that `#set!` fixes for a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Properties {
    /// Visibility of the definition.
    pub(super) visibility: Option<Visibility>,
    /// Visibility of the members of a scope or container that state none.
    pub(super) members: Option<Visibility>,
    /// Name of a definition that has none in the text (`default`).
    pub(super) name: Option<String>,
    /// Words in front of the signature: the `const` of a group of constants.
    pub(super) signature: Option<String>,
    pub(super) exported: bool,
    pub(super) test: bool,
    /// Kept also inside functions, where other variables are left out.
    pub(super) keep_local: bool,
    /// The receiver is not captured: it is the chain of names before the name, read backwards in the text.
    pub(super) receiver_before: bool,
    /// A field of the class around the method that declares it.
    pub(super) of_object: bool,
    /// Public name of the `@export.name`.
    pub(super) export_as: Option<String>,
    /// The import makes all names visible.
    pub(super) wildcard: bool,
    /// A reference only if the name starts with a capital letter.
    pub(super) capitalized: bool,
    /// Only declares something that is defined elsewhere.
    pub(super) declaration: bool,
    /// May declare a variable, or only set a declared one.
    pub(super) assigned: bool,
    /// Left out inside functions, like variables.
    pub(super) not_local: bool,
    /// On a scope: the kind of the function around it, since the function returns the scope.
    pub(super) becomes: Option<SymbolKind>,
    /// On a package without a block: it is inside the package before it.
    pub(super) nested: bool,
    /// One of several clauses that define a function together.
    pub(super) clause: bool,
    /// The name is a chain: its last part names the definition, the parts before name its owner.
    pub(super) dotted: bool,
    /// Wins over all other patterns that find a reference at the same name.
    pub(super) preferred: bool,
    /// The node captured as `@arguments` also contains the callee.
    pub(super) holds_callee: bool,
}

impl Properties {
    fn set(&mut self, key: &str, value: Option<&str>) -> Option<()> {
        match key {
            "visibility" => self.visibility = Some(Visibility::parse(value?)?),
            "members" => self.members = Some(Visibility::parse(value?)?),
            "name" => self.name = Some(value?.to_owned()),
            "signature" => self.signature = Some(value?.to_owned()),
            "export_as" => self.export_as = Some(value?.to_owned()),
            "of_object" => self.of_object = true,
            "exported" => self.exported = true,
            "test" => self.test = true,
            "keep_local" => self.keep_local = true,
            "receiver_before" => self.receiver_before = true,
            "wildcard" => self.wildcard = true,
            "capitalized" => self.capitalized = true,
            "declaration" => self.declaration = true,
            "assigned" => self.assigned = true,
            "not_local" => self.not_local = true,
            "becomes" => self.becomes = Some(SymbolKind::parse(value?)?),
            "nested" => self.nested = true,
            "clause" => self.clause = true,
            "dotted" => self.dotted = true,
            "preferred" => self.preferred = true,
            "holds_callee" => self.holds_callee = true,
            _ => return None,
        }
        Some(())
    }
}

/// The query of one language, ready to run.
pub(super) struct CompiledQuery {
    pub(super) language: Language,
    pub(super) query: Query,
    /// By capture index.
    pub(super) roles: Vec<Role>,
    /// By pattern index.
    pub(super) properties: Vec<Properties>,
    /// Ids of the row's `spread_nodes`, sorted.
    pub(super) spread_nodes: Vec<u16>,
    pub(super) builtins: FxHashSet<&'static str>,
}

impl CompiledQuery {
    /// None for a row without grammar.
    ///
    /// # Errors
    ///
    /// Returns the error in the query file. A test runs this for every row.
    pub(super) fn compile(row: &LanguageRow) -> Result<Option<CompiledQuery>, String> {
        let Some(grammar) = row.grammar else { return Ok(None) };
        let language = (grammar.load)();
        let query = Query::new(&language, row.query).map_err(|error| format!("{}: {error}", row.name))?;
        let unknown = |what: &str| format!("{}: {what} is not in the vocabulary", row.name);
        let roles: Result<_, _> =
            query.capture_names().iter().map(|name| Role::parse(name).ok_or_else(|| unknown(name))).collect();
        let mut properties = vec![Properties::default(); query.pattern_count()];
        for (index, pattern) in properties.iter_mut().enumerate() {
            for property in query.property_settings(index) {
                pattern.set(&property.key, property.value.as_deref()).ok_or_else(|| unknown(&property.key))?;
            }
        }
        let mut spread_nodes: Vec<u16> =
            row.spread_nodes.iter().map(|kind| language.id_for_node_kind(kind, true)).collect();
        if let Some(index) = spread_nodes.iter().position(|id| *id == 0) {
            return Err(unknown(row.spread_nodes[index]));
        }
        spread_nodes.sort_unstable();
        let builtins = row.builtins.parser_names().collect();
        Ok(Some(CompiledQuery { roles: roles?, language, query, properties, spread_nodes, builtins }))
    }
}
