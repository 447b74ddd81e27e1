//! A compiled query file. Captures become roles, and the properties of patterns become typed values.

use cairn_domain::{BindingEvidence, ReferenceKind, SymbolKind, Visibility};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;
use tree_sitter::{Language, Query};

/// The role of a capture. `LANGUAGES.md` of `cairn-languages` documents the names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Definition(SymbolKind),
    /// The name of a variable that is really a definition of this kind.
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
    /// Code in which a call is a use of a type, such as a type specification.
    Types,
    Reference(ReferenceKind),
    Receiver,
    Arguments,
    Argument,
    Import,
    ImportPart(ImportRole),
    Binding(BindingEvidence),
    /// The name of a parameter or local variable, with or without a type.
    Opaque,
    BindingName,
    BindingType,
    BindingFunction,
    BindingSource,
    Package,
    PackageBody,
    NotReference,
    /// The arguments of a macro. These arguments may contain items.
    ItemMacro,
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
    /// Returns None for a name that is not in the vocabulary.
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
        if capture.starts_with('_') {
            return Some(Role::Ignored);
        }
        Role::of_word(capture)
    }

    fn of_word(word: &str) -> Option<Role> {
        Some(match word {
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
            "item_macro" => Role::ItemMacro,
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

/// The values that `#set!` assigns to a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Properties {
    /// The visibility of the definition.
    pub(super) visibility: Option<Visibility>,
    /// The visibility that members of a scope or container have if they have no modifier.
    pub(super) members: Option<Visibility>,
    /// The name of a definition that has no name in the text (`default`).
    pub(super) name: Option<String>,
    /// Words that are added before the signature, such as the `const` of a group of constants.
    pub(super) signature: Option<String>,
    pub(super) exported: bool,
    pub(super) test: bool,
    /// The variable is recorded even inside a function. Other variables inside functions are left out.
    pub(super) keep_local: bool,
    /// No capture contains the receiver. The receiver is the chain before the name, and the text is read
    /// backwards to find the chain.
    pub(super) receiver_before: bool,
    /// The definition is a field of the class around the method that declares it.
    pub(super) of_object: bool,
    /// The public name of the `@export.name`.
    pub(super) export_as: Option<String>,
    /// The import makes all names visible.
    pub(super) wildcard: bool,
    /// The match is a reference only if the name starts with a capital letter.
    pub(super) capitalized: bool,
    /// The pattern only declares something that is defined elsewhere.
    pub(super) declaration: bool,
    /// The pattern may match a declaration of a variable, or only an assignment to a declared variable.
    pub(super) assigned: bool,
    /// Like a variable, the definition is left out if it is inside a function.
    pub(super) not_local: bool,
    /// Set for a scope that its enclosing function returns: the kind of symbol that this function becomes.
    pub(super) becomes: Option<SymbolKind>,
    /// Set for a package that has no block and is inside the package before it.
    pub(super) nested: bool,
    /// The definition is one of several clauses that together define a function.
    pub(super) clause: bool,
    /// The name is a chain. The last part of the chain is the name of the definition, and the parts before
    /// the last part are the owner.
    pub(super) dotted: bool,
    /// The pattern takes precedence over all other patterns that match a reference at the same position.
    pub(super) preferred: bool,
    /// The node that is captured as `@arguments` also contains the callee.
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

/// The compiled query of one language.
pub(super) struct CompiledQuery {
    pub(super) language: Language,
    pub(super) query: Query,
    /// The role of each capture, by capture index.
    pub(super) roles: Vec<Role>,
    /// The properties of each pattern, by pattern index.
    pub(super) properties: Vec<Properties>,
    /// The ids of the row's `spread_nodes`, sorted.
    pub(super) spread_nodes: Vec<u16>,
    pub(super) builtins: FxHashSet<&'static str>,
    pub(super) opening_tag: &'static str,
}

impl CompiledQuery {
    /// Returns None for a row without a grammar.
    ///
    /// # Errors
    ///
    /// Returns the error in the query file. A test compiles the query of every row.
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
        let opening_tag = row.opening_tag;
        Ok(Some(CompiledQuery { roles: roles?, language, query, properties, spread_nodes, builtins, opening_tag }))
    }
}
