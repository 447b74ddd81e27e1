//! Builds the contribution of a file from its outline.

use std::sync::{Arc, OnceLock};

use cairn_domain::{Outline, OutlineSymbol, RepositoryId, SymbolKind};
use cairn_languages::family_of;

use crate::Family;
use crate::bindings::bound_names;
use crate::contribution::{Base, Contribution, Definition, FieldType, FilePlace, ImportFact};
use crate::entries::each_entry;
use crate::names::Name;
use crate::namespaces::namespace;
use crate::rules::Rules;

/// Builds the contribution of a file.
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

fn definition(symbol: &OutlineSymbol, parent: Option<&Definition>, package: Name, family: Family) -> Definition {
    let holder =
        symbol.qualified_name.strip_suffix(symbol.name.as_str()).and_then(|rest| rest.strip_suffix('.')).unwrap_or("");
    let holder_last = holder.rsplit('.').next().unwrap_or(holder);
    let rules = Rules::of(family);
    let is_value = symbol.kind == SymbolKind::Module && rules.modules_are_values;
    // In Elixir, a function in the implementation of a protocol is called only through the protocol, so other
    // code cannot refer to it.
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
        in_package: is_named_from_top(symbol, holder, parent, family),
        full: dotted(&symbol.qualified_name),
        is_default: symbol.is_default,
        is_companion: symbol.is_companion,
        nameless: symbol.nameless,
        names_holder: symbol.names_holder,
        at_top: rules.members_at_top && parent.is_some_and(|parent| is_member_at_top(symbol.kind, parent)),
    }
}

/// Whether a symbol is a name at the top level of its package or namespace. `holder` is the name of the
/// symbol's container as the source writes it. The container may be defined in a different file.
fn is_named_from_top(symbol: &OutlineSymbol, holder: &str, parent: Option<&Definition>, family: Family) -> bool {
    match parent {
        None => {
            let is_namespace =
                symbol.kind == SymbolKind::Module && matches!(family, Family::CSharp | Family::Php | Family::Jvm);
            holder.is_empty() || is_namespace || Rules::of(family).modules_are_types && symbol.kind.is_container()
        }
        Some(parent) => parent.in_package && parent.kind == SymbolKind::Module,
    }
}

/// Whether Haskell code can refer to a member by its name alone, like a name at the top level of its file.
/// The result is true for constructors and fields of a type, and for methods that a class declares. The
/// result is false for methods of an instance of a class.
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
            // If the source uses the full name of a base, the base is looked up by the full name.
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
        // An assignment that is not inside a symbol does not set a field.
        let own = field.scope.and_then(|_| field.name.strip_prefix("self."));
        let name = Name::of(own.unwrap_or(&field.name));
        fields.push(FieldType { class, name, type_name: field.type_name.clone(), scope });
    }
    fields.sort_by(|a, b| (a.class, a.name, &a.type_name, a.scope).cmp(&(b.class, b.name, &b.type_name, b.scope)));
    fields.dedup();
    fields
}

/// The imports at the top level of the file and of its inline modules.
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
