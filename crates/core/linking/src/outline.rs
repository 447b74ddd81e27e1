//! From the facts of a file to its outline: what other files and patterns look at.

use cairn_domain::{
    Arity, FileFacts, Import, Outline, OutlineBase, OutlineField, OutlineSymbol, ReferenceKind, Symbol, SymbolKind,
    Visibility,
};
use rustc_hash::FxHashMap;

use crate::Family;
use crate::arity::of_signature;

/// Counts up when the outline of the same facts comes out differently.
pub const OUTLINE_VERSION: u64 = 1;

/// The outline of a file. A function of its facts, so that it can be kept beside them and made again.
pub fn outline(facts: &FileFacts) -> Outline {
    let family = Family::of(&facts.language);
    let mut ordinals: FxHashMap<(&str, SymbolKind), u32> = FxHashMap::default();
    let mut symbols: Vec<OutlineSymbol> = Vec::with_capacity(facts.symbols.len());
    for symbol in &facts.symbols {
        let ordinal = ordinals.entry((&symbol.qualified_name, symbol.kind)).or_insert(0);
        symbols.push(outline_symbol(symbol, *ordinal, family));
        *ordinal += 1;
    }
    if matches!(facts.language.as_str(), "typescript" | "tsx") {
        mark_overloads(&mut symbols);
    }
    Outline {
        language: facts.language.clone(),
        num_lines: facts.num_lines,
        num_chunks: facts.chunks.len() as u32,
        package: facts.package.clone(),
        symbols,
        bases: bases(facts),
        imports: facts.imports.iter().filter(|import| is_outside(import, &facts.symbols)).cloned().collect(),
        fields: fields(facts),
    }
}

fn outline_symbol(symbol: &Symbol, ordinal: u32, family: Family) -> OutlineSymbol {
    let is_callable = symbol.kind.is_callable();
    OutlineSymbol {
        name: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind,
        ordinal,
        parent: symbol.parent,
        span: symbol.span,
        arity: if is_callable { of_signature(&symbol.signature, &symbol.name) } else { Arity::UNKNOWN },
        exported: symbol.exported,
        private: symbol.visibility == Visibility::Private,
        secondary: is_secondary(symbol, family),
        is_default: symbol.name == "default"
            || symbol.signature.starts_with("export default ")
            || symbol.signature.starts_with("default "),
        decorators: if symbol.kind.is_type() {
            symbol.decorators.iter().map(|decorator| head(decorator)).collect()
        } else {
            Vec::new()
        },
    }
}

/// `app.route("/x")` counts as `app.route`.
fn head(decorator: &str) -> String {
    let end = decorator.find(['(', ' ', '=']).unwrap_or(decorator.len());
    decorator[..end].to_owned()
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
        _ => false,
    }
}

/// Of several functions of one name in a scope, TypeScript allows one body, the last; the others are its overloads.
fn mark_overloads(symbols: &mut [OutlineSymbol]) {
    let mut last: FxHashMap<(Option<u32>, String), usize> = FxHashMap::default();
    for index in 0..symbols.len() {
        let OutlineSymbol { parent, name, kind, secondary, .. } = &symbols[index];
        if kind.is_callable()
            && !secondary
            && let Some(earlier) = last.insert((*parent, name.clone()), index)
        {
            symbols[earlier].secondary = true;
        }
    }
}

fn bases(facts: &FileFacts) -> Vec<OutlineBase> {
    let mut bases = Vec::new();
    for reference in &facts.references {
        let (ReferenceKind::Extend | ReferenceKind::Implement, Some(class)) = (reference.kind, reference.enclosing)
        else {
            continue;
        };
        bases.push(OutlineBase {
            class,
            name: reference.name.clone(),
            receiver: reference.receiver.clone(),
            implements: reference.kind == ReferenceKind::Implement,
        });
    }
    // Stable, so that the bases of a class keep their order.
    bases.sort_by_key(|base| base.class);
    bases
}

/// Whether an import stands at the top of the file or of inline modules only.
fn is_outside(import: &Import, symbols: &[Symbol]) -> bool {
    let mut current = import.enclosing;
    while let Some(symbol) = current.and_then(|index| symbols.get(index as usize)) {
        let is_innermost = current == import.enclosing;
        if is_innermost && symbol.kind != SymbolKind::Module || !symbol.kind.is_container() {
            return false;
        }
        current = symbol.parent;
    }
    true
}

fn fields(facts: &FileFacts) -> Vec<OutlineField> {
    let mut fields = Vec::new();
    for binding in &facts.bindings {
        let Some(scope) = binding.scope else { continue };
        let Some(symbol) = facts.symbols.get(scope as usize) else { continue };
        let is_field = symbol.kind.is_container() || binding.name.starts_with("self.");
        if is_field && !binding.type_name.is_empty() {
            let (name, type_name) = (binding.name.clone(), binding.type_name.clone());
            fields.push(OutlineField { scope, name, type_name });
        }
    }
    fields
}
