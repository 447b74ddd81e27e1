//! Finds variables, parameters and fields whose type is evident at the position where they are bound.

use cairn_domain::{Binding, BindingEvidence, SymbolKind};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;

use super::collect::{Raw, RawBinding};
use super::guard::LineIndex;
use super::names::{own_words, plain_name, split_chain, type_name};
use super::query::CompiledQuery;
use super::regions::{Locator, ancestors};
use super::symbols::Outline;
use super::type_parameters::TypeParameters;

/// If a variable takes its type from another variable, the search for the other variable covers only this
/// number of earlier bindings.
const MAX_BINDINGS_BACK: usize = 64;

struct Reader<'t, 'o> {
    row: &'static LanguageRow,
    query: &'o CompiledQuery,
    text: &'t str,
    outline: &'o Outline<'t>,
    /// The names of all symbols of the file.
    names: FxHashSet<&'o str>,
    type_parameters: TypeParameters<'t>,
}

pub(super) fn bindings<'t>(
    row: &'static LanguageRow,
    query: &CompiledQuery,
    text: &'t str,
    lines: &LineIndex,
    raw: &mut Raw,
    outline: &Outline<'t>,
) -> Vec<Binding> {
    if raw.bindings.is_empty() {
        return Vec::new();
    }
    raw.bindings.sort_unstable_by_key(|binding| (binding.name.start, binding.evidence, binding.type_name));
    let names = outline.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    let reader = Reader { row, query, text, outline, names, type_parameters: TypeParameters::new(text, raw, outline) };
    let mut locator = Locator::new(&outline.regions);
    let mut line = 1;
    let mut bindings: Vec<Binding> = Vec::new();
    for raw in &raw.bindings {
        let region = locator.locate(raw.name.start);
        let line = lines.line_from(&mut line, raw.name.start);
        let Some((type_name, evidence)) = reader.type_of(raw, region, &bindings) else { continue };
        let Some((name, scope)) = reader.name_and_scope(raw, region) else { continue };
        let binding = Binding { name, type_name, evidence, scope, line };
        if bindings.last() != Some(&binding) {
            bindings.push(binding);
        }
    }
    bindings
}

fn holds_fields(kind: SymbolKind) -> bool {
    kind.is_type() && kind != SymbolKind::Type
}

impl Reader<'_, '_> {
    fn type_of(&self, raw: &RawBinding, region: Option<u32>, earlier: &[Binding]) -> Option<(String, BindingEvidence)> {
        if raw.is_source {
            let scope = self.symbol(region);
            let source = plain_name(self.row, raw.type_name.text(self.text));
            let mut nearby = earlier.iter().rev().take(MAX_BINDINGS_BACK).filter(|binding| binding.scope == scope);
            let found = nearby.find(|binding| binding.name == source)?;
            return Some((found.type_name.clone(), found.evidence));
        }
        Some((self.evident_type(raw, region)?, raw.evidence))
    }

    fn evident_type(&self, raw: &RawBinding, region: Option<u32>) -> Option<String> {
        let row = self.row;
        if let Some(function) = raw.function.map(|function| function.text(self.text)) {
            row.constructor_functions.iter().find(|constructor| **constructor == function)?;
        }
        let name = type_name(row, raw.type_name.text(self.text))?;
        let last = name.rsplit('.').next().unwrap_or(&name);
        let by_call = raw.evidence == BindingEvidence::Constructor && row.call_instantiates;
        if by_call && !last.starts_with(char::is_uppercase) || self.type_parameters.contain(self.outline, &name, region)
        {
            return None;
        }
        if row.self_types.contains(&name.as_str()) {
            return self.owner_name(region);
        }
        let is_builtin = self.query.builtins.contains(name.as_str());
        (!is_builtin || self.names.contains(name.as_str())).then_some(name)
    }

    fn symbol(&self, region: Option<u32>) -> Option<u32> {
        self.outline.regions[region? as usize].symbol
    }

    fn is_named(&self, symbol: u32, name: &str) -> bool {
        let is_value = matches!(self.kind_of(symbol), SymbolKind::Field | SymbolKind::Variable | SymbolKind::Constant);
        is_value || self.outline.symbols[symbol as usize].name == name
    }

    fn kind_of(&self, symbol: u32) -> SymbolKind {
        self.outline.symbols[symbol as usize].kind
    }

    /// The name of the type around a region.
    fn owner_name(&self, region: Option<u32>) -> Option<String> {
        ancestors(&self.outline.regions, region).find_map(|region| {
            let owner = region.owner.clone();
            let symbol = region.symbol.map(|symbol| &self.outline.symbols[symbol as usize]);
            owner.or_else(|| symbol.filter(|symbol| symbol.kind.is_type()).map(|symbol| symbol.name.clone()))
        })
    }

    /// The name and scope of a binding. A field of the current object is named `self.name`, and its scope is
    /// its class. The scope of any other name is the function around it.
    fn name_and_scope(&self, raw: &RawBinding, region: Option<u32>) -> Option<(String, Option<u32>)> {
        let own_name = ancestors(&self.outline.regions, region).find_map(|region| region.self_name);
        let text = raw.name.text(self.text);
        let chain = split_chain(self.row, text)?;
        if self.query.properties[raw.pattern as usize].of_object {
            return Some((format!("self.{}", plain_name(self.row, chain.last)), self.class_around(region)));
        }
        if !chain.prefix.is_empty() {
            let name = own_words(self.row, chain.joined(), own_name);
            let is_field = name.strip_prefix("self.").is_some_and(|field| !field.contains('.'));
            return is_field.then(|| (name, self.class_around(region)));
        }
        let name = plain_name(self.row, text);
        if name == "_" {
            return None;
        }
        let is_local = region.is_some_and(|region| self.outline.regions[region as usize].is_local);
        let own = self.symbol(region);
        if is_local {
            // The name is a parameter of an anonymous function. If the function is inside a type expression,
            // the parameter binds nothing.
            let of_type = own.is_some_and(|symbol| self.kind_of(symbol).is_type());
            return (!of_type).then(|| (name.to_owned(), own));
        }
        // The scope of a definition's name is the symbol around the definition.
        let is_definition = self.outline.name_starts.contains(&raw.name.start);
        let scope = match own {
            // If one declaration has several names, all of them have the range of the declaration. The last
            // of the names owns the region at this range.
            Some(symbol) if is_definition && self.is_named(symbol, name) => {
                self.outline.symbols[symbol as usize].parent
            }
            other => other,
        };
        let is_field = scope.is_some_and(|scope| holds_fields(self.kind_of(scope)));
        // In Ruby, `@name` is a field wherever it is written.
        let is_field = is_field || self.row.field_sigil.is_some_and(|sigil| text.starts_with(sigil));
        Some(if is_field { (format!("self.{name}"), self.class_around(region)) } else { (name.to_owned(), scope) })
    }

    /// Returns the class to which `self` refers at this position. If the file does not define the class,
    /// returns the function.
    fn class_around(&self, region: Option<u32>) -> Option<u32> {
        let symbols = || ancestors(&self.outline.regions, region).filter_map(|region| region.symbol);
        let class = symbols().find(|symbol| holds_fields(self.kind_of(*symbol)));
        let parents = || symbols().filter_map(|symbol| self.outline.symbols[symbol as usize].parent);
        let owner = || parents().find(|parent| holds_fields(self.kind_of(*parent)));
        class.or_else(owner).or_else(|| symbols().next())
    }
}
