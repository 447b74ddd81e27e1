//! Decides the visibility of a symbol by the rule of its language.

use cairn_domain::{Symbol, SymbolKind, Visibility};
use cairn_languages::{LanguageRow, VisibilityRule};

/// The input of the rules, except the modifiers of the declaration.
pub(super) struct Declaration<'s> {
    pub(super) name: &'s str,
    pub(super) parent: Option<&'s Symbol>,
    /// Whether the symbol belongs to a type that the declaration itself names.
    pub(super) has_owner: bool,
    /// Whether the symbol is defined inside a function. Other files cannot refer to a symbol inside a
    /// function.
    pub(super) in_function: bool,
    /// Whether the declaration is part of an export statement.
    pub(super) exported: bool,
}

/// The visibility that the modifiers of a declaration state. The longest modifier takes precedence:
/// `pub(crate)` over `pub`.
pub(super) fn of_words(row: &LanguageRow, text: &str) -> Option<Visibility> {
    let (VisibilityRule::Keyword { words, .. } | VisibilityRule::Export { words }) = row.visibility else {
        return None;
    };
    words.iter().find(|(word, _)| text.contains(word)).map(|(_, visibility)| *visibility)
}

/// The visibility, and whether other files can refer to the symbol.
pub(super) fn resolve(
    row: &LanguageRow,
    declaration: &Declaration<'_>,
    stated: Option<Visibility>,
) -> (Visibility, bool) {
    let visibility = stated.unwrap_or_else(|| by_rule(row, declaration));
    let reachable = !declaration.in_function && declaration.parent.is_none_or(|parent| parent.exported);
    let nameable = match row.visibility {
        VisibilityRule::Keyword { .. } => visibility != Visibility::Private,
        VisibilityRule::Public => true,
        _ => visibility == Visibility::Public,
    };
    (visibility, reachable && nameable)
}

fn by_rule(row: &LanguageRow, declaration: &Declaration<'_>) -> Visibility {
    let Declaration { name, parent, .. } = declaration;
    match row.visibility {
        VisibilityRule::Public | VisibilityRule::Listed => Visibility::Public,
        VisibilityRule::Underscore => by_underscore(name, *parent),
        VisibilityRule::Capital if name.starts_with(char::is_uppercase) => Visibility::Public,
        VisibilityRule::Capital => Visibility::Internal,
        VisibilityRule::Keyword { default, member_default, .. } => match parent.map(|parent| parent.kind) {
            Some(SymbolKind::Interface | SymbolKind::Trait | SymbolKind::Enum) => member_default,
            _ => default,
        },
        VisibilityRule::Export { .. } => by_export(declaration),
    }
}

fn by_underscore(name: &str, parent: Option<&Symbol>) -> Visibility {
    let in_class = parent.is_some_and(|parent| parent.kind == SymbolKind::Class);
    if name.starts_with("__") && name.ends_with("__") && name.len() > 4 || !name.starts_with('_') {
        Visibility::Public
    } else if name.starts_with("__") {
        Visibility::Private
    } else if in_class {
        Visibility::Protected
    } else {
        Visibility::Internal
    }
}

fn by_export(declaration: &Declaration<'_>) -> Visibility {
    match declaration.parent {
        _ if declaration.name.starts_with('#') => Visibility::Private,
        Some(parent) if parent.kind != SymbolKind::Module => Visibility::Public,
        _ if declaration.exported || declaration.has_owner => Visibility::Public,
        _ => Visibility::Internal,
    }
}
