//! Sorts and completes the captured definitions before they become symbols.

use cairn_languages::LanguageRow;

use super::collect::{ByteRange, Head, Raw, RawDefinition};
use super::limits::ParseLimits;
use super::names::split_chain;
use super::query::CompiledQuery;

/// The definitions in order of position, with outer definitions first. If several patterns match one
/// definition, the first of them in the query file takes precedence, and the other patterns add only missing
/// parts.
pub(super) fn sorted_definitions(raw: &mut Raw, limits: &ParseLimits<'_>) -> Vec<RawDefinition> {
    let mut sorted = std::mem::take(&mut raw.definitions);
    sorted.sort_by_key(|raw| {
        let name = raw.name.map_or(0, |name| name.start);
        (raw.range.start, u32::MAX - raw.range.end, name, raw.pattern)
    });
    sorted.dedup_by(|later, first| {
        let same = later.range == first.range && later.name == first.name;
        if same {
            first.body_start = first.body_start.or(later.body_start);
            first.visibility = first.visibility.or(later.visibility);
            first.owner = first.owner.or(later.owner);
            first.self_name = first.self_name.or(later.self_name);
        }
        same
    });
    sorted.truncate(limits.max_symbols);
    // If one declaration defines several names, the name of the container (such as a class) is sorted last,
    // so that it is the innermost name around the members.
    let holds_members = |head: Head| matches!(head, Head::Symbol(kind) if kind.is_container());
    sorted.sort_by_key(|raw| (raw.range.start, u32::MAX - raw.range.end, holds_members(raw.head)));
    sorted
}

/// Splits a name such as `Foo.Bar` into the name `Bar` and the owner `Foo`.
pub(super) fn split_dotted(row: &LanguageRow, query: &CompiledQuery, text: &str, definitions: &mut [RawDefinition]) {
    let is_dotted = |definition: &RawDefinition| query.properties[definition.pattern as usize].dotted;
    for definition in definitions.iter_mut().filter(|definition| is_dotted(definition)) {
        let Some(name) = definition.name else { continue };
        let Some(chain) = split_chain(row, name.text(text)).filter(|chain| !chain.prefix.is_empty()) else { continue };
        let last = name.start + chain.last_start as u32;
        definition.owner = Some(ByteRange { start: name.start, end: last - 1 });
        definition.name = Some(ByteRange { start: last, end: name.end });
    }
}

pub(super) fn imports_test_library(row: &LanguageRow, text: &str, raw: &Raw) -> bool {
    let imports = |library: &&str| raw.imports.iter().any(|(range, _)| range.text(text).contains(library));
    row.tests.libraries.iter().any(imports)
}
