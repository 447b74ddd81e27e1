//! Symbols by their names and keys.

use cairn_domain::{FileFacts, NodeKey, Symbol, SymbolEntry};

use crate::Place;

/// What the name index holds of a file.
pub fn symbol_names(place: Place<'_>, facts: &FileFacts) -> Vec<SymbolEntry> {
    let (is_test, module_path) = (place.is_test(), place.module_path());
    let keys = NodeKey::symbols_of(place.repository, &place.entry.path, &facts.symbols);
    let name = |(symbol, node): (&Symbol, NodeKey)| SymbolEntry {
        name: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind,
        path: place.entry.path.clone(),
        line: symbol.name_line,
        node,
        language: facts.language.clone(),
        module_path: module_path.clone(),
        exported: symbol.exported,
        documented: symbol.doc.is_some(),
        is_test: is_test || symbol.is_test,
    };
    facts.symbols.iter().zip(keys).map(name).collect()
}
