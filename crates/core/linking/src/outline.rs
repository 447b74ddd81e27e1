//! Builds the outline of a file from its facts. Other files and the search for patterns use only the outline
//! of a file.

use cairn_domain::{
    Arity, FileFacts, Import, Outline, OutlineBase, OutlineField, OutlineSymbol, ReferenceKind, Symbol, SymbolKind,
    Visibility,
};
use cairn_languages::family_of;
use rustc_hash::FxHashMap;

use crate::Family;
use crate::arity::{of_clause, of_signature};
use crate::rules::Rules;

/// Increase this number when a code change gives a different outline for the same facts.
pub const OUTLINE_VERSION: u64 = 1;

/// Builds the outline of a file. The outline depends only on the facts. Therefore a caller can either store
/// the outline with the facts or build it again.
pub fn outline(facts: &FileFacts) -> Outline {
    let family = family_of(&facts.language);
    let mut ordinals: FxHashMap<(&str, SymbolKind), u32> = FxHashMap::default();
    let mut symbols: Vec<OutlineSymbol> = Vec::with_capacity(facts.symbols.len());
    for symbol in &facts.symbols {
        let ordinal = ordinals.entry((&symbol.qualified_name, symbol.kind)).or_insert(0);
        symbols.push(outline_symbol(symbol, *ordinal, family, &facts.language));
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
        bases: bases(facts, family),
        imports: facts.imports.iter().filter(|import| is_outside(import, &facts.symbols)).cloned().collect(),
        fields: fields(facts),
    }
}

fn outline_symbol(symbol: &Symbol, ordinal: u32, family: Family, language: &str) -> OutlineSymbol {
    let has_arity = symbol.kind.is_callable() && !Rules::of(family).loose_arguments;
    OutlineSymbol {
        name: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind,
        ordinal,
        parent: symbol.parent,
        span: symbol.span,
        arity: if has_arity { arity(symbol, family, language) } else { Arity::UNKNOWN },
        exported: symbol.exported,
        private: symbol.visibility == Visibility::Private,
        secondary: is_secondary(symbol, family),
        is_default: symbol.name == "default"
            || symbol.signature.starts_with("export default ")
            || symbol.signature.starts_with("default "),
        is_companion: family == Family::Jvm && is_object(&symbol.signature),
        nameless: family == Family::C && symbol.is_test && symbol.kind.is_callable() && !is_declared_by_name(symbol),
        names_holder: family == Family::Zig && symbol.signature.ends_with("= @This()"),
        decorators: if symbol.kind.is_type() {
            symbol.decorators.iter().map(|decorator| head(decorator)).collect()
        } else {
            Vec::new()
        },
    }
}

fn arity(symbol: &Symbol, family: Family, language: &str) -> Arity {
    let Symbol { signature, name, .. } = symbol;
    match family {
        Family::Elixir => of_clause(signature, name),
        // In Haskell, neither the type nor the equations of a function show how many arguments a call passes.
        Family::Haskell => Arity::UNKNOWN,
        Family::Zig if symbol.kind == SymbolKind::Method => {
            // The first parameter of a method is the object itself. Zig prescribes no name for this
            // parameter, so `of_signature` counts it.
            let Arity { min, max } = of_signature(signature, name);
            Arity { min: min.saturating_sub(1), max }
        }
        // In C, an empty parameter list does not declare the number of parameters.
        Family::C if language == "c" && signature.contains("()") => Arity::UNKNOWN,
        _ => of_signature(signature, name),
    }
}

/// Whether a signature declares an object: `object Json`, `private case object Empty`.
fn is_object(signature: &str) -> bool {
    signature
        .split([' ', '('])
        .take_while(|word| !matches!(*word, "class" | "trait" | "interface"))
        .any(|word| word == "object")
}

/// Whether the signature declares the symbol under its own name. `TEST(Suite, name)` does not declare a
/// function `name`.
fn is_declared_by_name(symbol: &Symbol) -> bool {
    let ends = |(at, name): (usize, &str)| symbol.signature[at + name.len()..].trim_start().starts_with('(');
    symbol.signature.match_indices(symbol.name.as_str()).any(ends)
}

/// The decorator without its arguments: `app.route("/x")` becomes `app.route`.
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
        // The signature of a prototype ends with `;`, because a prototype has no body.
        Family::C => symbol.kind.is_callable() && symbol.signature.ends_with(';'),
        Family::Script => symbol.kind == SymbolKind::Method && symbol.signature.starts_with("set "),
        // A test often has the same name as the tested function, but a call of this name never means the
        // test.
        Family::Zig => symbol.is_test && symbol.signature.starts_with("test"),
        // A callback that a behaviour declares (`@callback`) is not a separate function.
        Family::Elixir => symbol.is_test && symbol.signature.starts_with("test") || symbol.signature.starts_with('@'),
        // A type signature that is not directly above the equations of its function is a separate symbol.
        Family::Haskell => symbol.kind.is_callable() && symbol.signature.contains(" :: "),
        _ => false,
    }
}

/// Marks the signatures of overloads as secondary. If a scope contains several functions with one name,
/// TypeScript allows a body only for the last of them. The earlier functions are overloads.
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

fn bases(facts: &FileFacts, family: Family) -> Vec<OutlineBase> {
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
    if family == Family::Zig {
        bases.extend(aliased(facts));
    }
    // The sort is stable, so the bases of a class keep their order.
    bases.sort_by_key(|base| base.class);
    bases
}

/// Finds constants that are set to a type: `const Ring = buffers.Ring;`, `const Bytes = List(u8);`. Such a
/// constant has the members of the type, so the type is recorded as its base.
fn aliased(facts: &FileFacts) -> impl Iterator<Item = OutlineBase> + '_ {
    facts.references.iter().filter_map(|reference| {
        let class = reference.enclosing?;
        let symbol = &facts.symbols[class as usize];
        let (_, value) = symbol.signature.split_once(" = ").filter(|_| symbol.kind == SymbolKind::Type)?;
        let mut rest = value;
        if let Some(receiver) = &reference.receiver {
            rest = rest.strip_prefix(receiver.as_str())?.strip_prefix('.')?;
        }
        rest = rest.strip_prefix(reference.name.as_str())?;
        let (name, receiver) = (reference.name.clone(), reference.receiver.clone());
        let is_whole = rest.is_empty() || rest.starts_with('(');
        is_whole.then_some(OutlineBase { class, name, receiver, implements: false })
    })
}

/// Whether an import is at the top level of the file or directly inside inline modules.
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
    for binding in facts.bindings.iter().filter(|binding| !binding.type_name.is_empty()) {
        let scope = binding.scope.filter(|scope| (*scope as usize) < facts.symbols.len());
        let is_class = scope.is_none_or(|scope| facts.symbols[scope as usize].kind.is_container());
        if is_class || binding.name.starts_with("self.") {
            let (name, type_name) = (binding.name.clone(), binding.type_name.clone());
            fields.push(OutlineField { scope, name, type_name });
        }
    }
    fields
}
