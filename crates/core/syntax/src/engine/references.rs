//! Finds the uses of names. Each position has one reference, with the most specific kind that a pattern
//! gives.

use cairn_domain::{Import, Reference, ReferenceKind, Symbol, SymbolKind};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;

use super::collect::{ByteRange, Raw, RawReference};
use super::guard::LineIndex;
use super::names::{ROOT, after_root, chain_before, own_words, plain_name, receiver, rooted, split_chain};
use super::query::CompiledQuery;
use super::regions::{Locator, ancestors};
use super::symbols::Outline;
use super::type_parameters::TypeParameters;

/// Whether a parameter list declares the name. A name in a default value is not a declaration.
fn declares(parameters: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    parameters.match_indices(name).any(|(at, _)| {
        let (before, after) = (&parameters[..at], &parameters[at + name.len()..]);
        !before.ends_with(is_name) && !after.starts_with(is_name) && !before.trim_end().ends_with('=')
    })
}

/// Marks that may be before the first letter of a name.
const NAME_MARKS: [char; 4] = ['_', '#', '$', '@'];

/// The position of a reference, its rank by kind, and its index. If several references have the same
/// position, the one with the lowest rank takes precedence.
type Site = (u32, u8, u32);

fn rank(kind: ReferenceKind) -> u8 {
    match kind {
        ReferenceKind::Decorate => 0,
        ReferenceKind::Extend => 1,
        ReferenceKind::Implement => 2,
        ReferenceKind::Instantiate => 3,
        ReferenceKind::Call => 4,
        ReferenceKind::TypeUse => 5,
        ReferenceKind::Value => 6,
    }
}

/// The data that is needed to build references.
struct Builder<'t, 'o> {
    row: &'static LanguageRow,
    query: &'o CompiledQuery,
    text: &'t str,
    outline: &'o Outline<'t>,
    /// Names that the file imports, and names of its definitions that can be called or used as a type.
    known: FxHashSet<&'o str>,
    methods: FxHashSet<&'o str>,
    imported: FxHashSet<&'o str>,
    type_parameters: TypeParameters<'t>,
}

pub(super) fn references<'t>(
    row: &'static LanguageRow,
    query: &CompiledQuery,
    text: &'t str,
    lines: &LineIndex,
    raw: &mut Raw,
    outline: &Outline<'t>,
    imports: &[Import],
) -> Vec<Reference> {
    let imported: FxHashSet<&str> = imports.iter().flat_map(bound_names).collect();
    let defined = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable() || symbol.kind.is_type());
    let (methods, free): (Vec<&Symbol>, Vec<&Symbol>) = defined.partition(|symbol| symbol.kind == SymbolKind::Method);
    let known = free.iter().map(|symbol| symbol.name.as_str()).chain(imported.iter().copied()).collect();
    let methods = methods.iter().map(|symbol| symbol.name.as_str()).collect();
    let type_parameters = TypeParameters::new(text, raw, outline);
    let builder = Builder { row, query, text, outline, known, methods, imported, type_parameters };
    let mut locator = Locator::new(&outline.regions);
    let mut line = 1;
    let mut references = Vec::new();
    raw.types.sort_unstable();
    let sites = sites(row, query, text, raw, outline);
    let mut types = raw.types.iter().peekable();
    for (start, _, index) in sites {
        let region = locator.locate(start);
        while types.next_if(|range| range.end <= start).is_some() {}
        let mut found = raw.references[index as usize];
        if found.kind == ReferenceKind::Call && types.peek().is_some_and(|range| range.contains(start)) {
            found.kind = ReferenceKind::TypeUse;
        }
        if let Some(mut reference) = builder.build(&found, start, region) {
            reference.line = lines.line_from(&mut line, start);
            references.push(reference);
        }
    }
    references
}

/// The names that an import makes available in the file.
fn bound_names(import: &Import) -> impl Iterator<Item = &str> {
    let names = import.names.iter().map(|name| name.alias.as_deref().unwrap_or(&name.name));
    let last = || import.module.rsplit(['.', '/']).next();
    let module = import.alias.as_deref().or_else(|| last().filter(|_| import.names.is_empty()));
    names.chain(module)
}

/// Returns one site per position, in order of position. Names of definitions and names inside imports are
/// left out.
fn sites(row: &LanguageRow, query: &CompiledQuery, text: &str, raw: &mut Raw, outline: &Outline<'_>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::with_capacity(raw.references.len());
    for (index, reference) in raw.references.iter().enumerate() {
        let start = match reference.is_path {
            true => {
                split_chain(row, reference.name.text(text)).map(|chain| reference.name.start + chain.last_start as u32)
            }
            false => Some(reference.name.start),
        };
        let properties = &query.properties[reference.pattern as usize];
        let is_capitalized = |start: u32| {
            let name = text.get(start as usize..).unwrap_or_default();
            name.trim_start_matches(NAME_MARKS).starts_with(char::is_uppercase)
        };
        let start = start.filter(|start| !properties.capitalized || is_capitalized(*start));
        let rank = if properties.preferred { 0 } else { 1 + rank(reference.kind) };
        sites.extend(start.map(|start| (start, rank, index as u32)));
    }
    sites.sort_unstable();
    sites.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            complete(&mut raw.references, first.2 as usize, later.2 as usize);
        }
        same
    });
    let mut imports = raw.imports.iter().map(|(range, _)| *range).peekable();
    raw.not_references.sort_unstable();
    sites.retain(|(start, ..)| {
        while imports.next_if(|range| range.end <= *start).is_some() {}
        let in_import = imports.peek().is_some_and(|range| range.contains(*start));
        !in_import && !outline.name_starts.contains(start) && raw.not_references.binary_search(start).is_err()
    });
    sites
}

/// Combines two references at the same position. For example, a decorator with arguments is captured as a
/// decorator and as a call, and only the call has the number of arguments.
fn complete(references: &mut [RawReference], winner: usize, loser: usize) {
    let RawReference { receiver, num_arguments, is_path, .. } = references[loser];
    let winner = &mut references[winner];
    // The larger number of arguments belongs to the whole call: `run(a) { … }` contains the call `run(a)`.
    winner.num_arguments = winner.num_arguments.max(num_arguments);
    if !winner.is_path && !is_path {
        winner.receiver = winner.receiver.or(receiver);
    }
}

impl Builder<'_, '_> {
    fn build(&self, raw: &RawReference, start: u32, region: Option<u32>) -> Option<Reference> {
        let (name, receiver) = self.name_and_receiver(raw, start, region)?;
        let name = plain_name(self.row, name);
        let first = name.trim_start_matches(NAME_MARKS).chars().next().unwrap_or('_');
        // An operator is recorded only if the file defines or imports it.
        let is_name = first.is_alphanumeric() || name.starts_with('$') || first != '_' && self.known.contains(name);
        if !is_name {
            return None;
        }
        let makes_own_type =
            raw.kind == ReferenceKind::Call && receiver.is_none() && self.row.self_types.contains(&name);
        let kind = if makes_own_type { ReferenceKind::Instantiate } else { self.kind_of(raw.kind, name) };
        let is_of_language = match receiver.as_deref() {
            None => self.is_of_language(name, kind, region),
            Some(ROOT) => self.query.builtins.contains(name),
            Some(_) => false,
        };
        if is_of_language {
            return None;
        }
        if kind == ReferenceKind::Value && !self.is_known_value(name, receiver.as_deref(), region) {
            return None;
        }
        let name = self.self_type(name, region).unwrap_or(name).to_owned();
        let enclosing = region.and_then(|region| self.outline.regions[region as usize].symbol);
        Some(Reference { kind, name, receiver, enclosing, line: 0, num_arguments: raw.num_arguments })
    }

    fn name_and_receiver(&self, raw: &RawReference, start: u32, region: Option<u32>) -> Option<(&str, Option<String>)> {
        let own_name = || ancestors(&self.outline.regions, region).find_map(|region| region.self_name);
        if raw.is_path {
            let text = raw.name.text(self.text);
            if let Some(text) = after_root(self.row, text) {
                let chain = split_chain(self.row, text)?;
                return Some((chain.last, Some(rooted(&chain.prefix))));
            }
            let chain = split_chain(self.row, text)?;
            let prefix = (!chain.prefix.is_empty()).then(|| own_words(self.row, chain.prefix, own_name()));
            return Some((chain.last, prefix));
        }
        let name = raw.name.text(self.text);
        if self.query.properties[raw.pattern as usize].receiver_before {
            let rest = &self.text[raw.name.end as usize..];
            if self.row.separators.iter().any(|separator| rest.starts_with(separator)) {
                // The name is not the last part of its chain.
                return None;
            }
            let before = chain_before(self.row, self.text, start as usize);
            return Some((name, before.map(|before| receiver(self.row, before, own_name()))));
        }
        let constructor = self.row.constructor_method;
        if raw.kind == ReferenceKind::Call && !constructor.is_empty() && self.row.super_words.contains(&name) {
            return Some((constructor, Some("super".to_owned())));
        }
        let text = raw.receiver.map(|range: ByteRange| range.text(self.text)).filter(|text| !text.is_empty());
        Some((name, text.map(|text| receiver(self.row, text, own_name()))))
    }

    fn kind_of(&self, kind: ReferenceKind, name: &str) -> ReferenceKind {
        let makes_one = self.row.call_instantiates && name.starts_with(char::is_uppercase);
        if kind == ReferenceKind::Call && makes_one { ReferenceKind::Instantiate } else { kind }
    }

    /// Whether the name refers to no other code, because it is a built-in name of the language or a type
    /// parameter.
    fn is_of_language(&self, name: &str, kind: ReferenceKind, region: Option<u32>) -> bool {
        if matches!(kind, ReferenceKind::Extend | ReferenceKind::Implement) {
            return false;
        }
        if self.query.builtins.contains(name) && !self.known.contains(name) {
            return true;
        }
        if kind == ReferenceKind::Call {
            return false;
        }
        self.type_parameters.contain(self.outline, name, region)
    }

    /// Whether to record a value. A value is recorded only if the file shows that its name is a function or
    /// type. Without this rule, every local variable would be recorded.
    fn is_known_value(&self, name: &str, receiver: Option<&str>, region: Option<u32>) -> bool {
        match receiver {
            None => self.known.contains(name) && !self.is_parameter(name, region),
            Some("self") => self.methods.contains(name),
            Some(receiver) => {
                let root = receiver.split('.').next().unwrap_or(receiver);
                self.imported.contains(root) || self.known.contains(root)
            }
        }
    }

    /// Whether a function around the region declares the name as a parameter, which hides the outer name.
    fn is_parameter(&self, name: &str, region: Option<u32>) -> bool {
        let symbols = ancestors(&self.outline.regions, region).filter_map(|region| region.symbol);
        let mut functions =
            symbols.map(|symbol| &self.outline.symbols[symbol as usize]).filter(|symbol| symbol.kind.is_callable());
        functions.any(|function| {
            let parameters = function.signature.split_once('(').map_or("", |(_, parameters)| parameters);
            declares(parameters, name)
        })
    }

    /// The name of the type to which `Self` refers at this position.
    fn self_type(&self, name: &str, region: Option<u32>) -> Option<&str> {
        if !self.row.self_types.contains(&name) {
            return None;
        }
        // `__MODULE__` is also the word for the current object.
        let is_module_word = self.row.self_words.contains(&name);
        ancestors(&self.outline.regions, region).find_map(|region| {
            let symbol = region.symbol.map(|symbol| &self.outline.symbols[symbol as usize]);
            let is_type = |kind: SymbolKind| kind.is_container() && (kind != SymbolKind::Module || is_module_word);
            let container = symbol.filter(|symbol| is_type(symbol.kind) && !region.is_local);
            let owner = region.owner.as_deref().map(|owner| owner.rsplit('.').next().unwrap_or(owner));
            let owner = owner.filter(|_| symbol.is_none_or(|symbol| symbol.kind != SymbolKind::Module));
            owner.or_else(|| container.map(|symbol| symbol.name.as_str()))
        })
    }
}
