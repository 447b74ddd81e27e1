//! Finds parameters and local variables without an evident type. Such variables shadow outer names.

use cairn_domain::{Binding, BindingEvidence, FileFacts, Reference};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;

use super::collect::Raw;
use super::guard::LineIndex;
use super::names::plain_name;
use super::regions::Locator;
use super::symbols::Outline;

/// Adds a binding for each such name that the file uses, once per scope and name. Variables that are symbols
/// and names that imports bind are left out, because the facts already contain them. At the top level of a
/// file, only names inside anonymous functions get a binding.
pub(super) fn add(
    row: &'static LanguageRow,
    text: &str,
    lines: &LineIndex,
    raw: &mut Raw,
    outline: &Outline<'_>,
    facts: &mut FileFacts,
) {
    raw.opaque.sort_unstable();
    let used: FxHashSet<&str> = facts.references.iter().map(first_name).collect();
    let mut imports = raw.imports.iter().map(|(range, _)| *range).peekable();
    let mut locator = Locator::new(&outline.regions);
    let mut line = 1;
    let mut known: FxHashSet<(Option<u32>, &str)> = FxHashSet::default();
    let mut hidden = Vec::new();
    for range in &raw.opaque {
        let name = plain_name(row, range.text(text));
        while imports.next_if(|import| import.end <= range.start).is_some() {}
        let is_import = imports.peek().is_some_and(|import| import.contains(range.start));
        let is_own_object = row.self_words.contains(&name);
        if is_own_object || !used.contains(name) || is_import || outline.name_starts.contains(&range.start) {
            continue;
        }
        let region = locator.locate(range.start).map(|region| &outline.regions[region as usize]);
        let scope = region.and_then(|region| region.symbol);
        let holds = |symbol: u32| !outline.symbols[symbol as usize].kind.is_container();
        let is_local = region.is_some_and(|region| region.is_local) || scope.is_some_and(holds);
        if is_local && known.insert((scope, name)) {
            let line = lines.line_from(&mut line, range.start);
            let (name, type_name) = (name.to_owned(), String::new());
            hidden.push(Binding { name, type_name, evidence: BindingEvidence::Opaque, scope, line });
        }
    }
    let typed: FxHashSet<(Option<u32>, &str, u32)> =
        facts.bindings.iter().map(|binding| (binding.scope, binding.name.as_str(), binding.line)).collect();
    hidden.retain(|binding| !typed.contains(&(binding.scope, binding.name.as_str(), binding.line)));
    facts.bindings.append(&mut hidden);
    facts.bindings.sort_by_key(|binding| binding.line);
}

/// The first name of the reference. If a scope binds this name, the binding shadows the outer definition.
fn first_name(reference: &Reference) -> &str {
    match &reference.receiver {
        Some(receiver) => receiver.split('.').next().unwrap_or(receiver),
        None => &reference.name,
    }
}
