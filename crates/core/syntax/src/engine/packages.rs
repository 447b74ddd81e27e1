//! Finds the package or namespace that a file declares. If a file declares several packages, each package
//! becomes a module around its contents.

use cairn_domain::SymbolKind;
use cairn_languages::LanguageRow;

use super::collect::{ByteRange, Head, Raw, RawDefinition, RawPackage};
use super::names::split_chain;
use super::query::CompiledQuery;

/// Returns the package of the whole file. A namespace that applies to only a part of the file becomes a
/// definition.
pub(super) fn resolve(row: &LanguageRow, query: &CompiledQuery, text: &str, raw: &mut Raw) -> Option<String> {
    raw.packages.sort_unstable_by_key(|package| package.name.start);
    let name = |package: &RawPackage| Some(split_chain(row, package.name.text(text))?.joined());
    // In languages with nested packages, each package declaration without a block adds a part to the name of
    // the file's package.
    let nests = |package: &RawPackage| query.properties[package.pattern as usize].nested && package.body.is_none();
    let parts: Vec<String> = raw.packages.iter().filter(|package| nests(package)).filter_map(name).collect();
    let mut others: Vec<RawPackage> = raw.packages.iter().filter(|package| !nests(package)).copied().collect();
    if parts.is_empty() && have_one_name(&others, text) {
        return others.first().and_then(name);
    }
    // A package without a block ends on the line before the next package.
    let line_start = |next: &RawPackage| text[..next.name.start as usize].rfind('\n').map_or(0, |at| at as u32 + 1);
    let ends: Vec<u32> = others.iter().skip(1).map(line_start).chain([text.len() as u32]).collect();
    for (package, next) in others.drain(..).zip(ends) {
        let end = package.body.map_or(next.max(package.name.end), |body| body.end);
        raw.definitions.push(module(package, end));
    }
    (!parts.is_empty()).then(|| parts.join("."))
}

/// Whether all packages have the same name and no package is inside another package.
fn have_one_name(packages: &[RawPackage], text: &str) -> bool {
    packages.windows(2).all(|pair| {
        let is_inside = pair[0].body.is_some_and(|body| body.contains(pair[1].name.start));
        !is_inside && pair[0].name.text(text) == pair[1].name.text(text)
    })
}

fn module(package: RawPackage, end: u32) -> RawDefinition {
    RawDefinition {
        range: ByteRange { start: package.name.start, end },
        name: Some(package.name),
        head: Head::Symbol(SymbolKind::Module),
        body_start: Some(package.body.map_or(package.name.end, |body| body.start)),
        owner: None,
        self_name: None,
        visibility: None,
        receiver: None,
        num_parameters: None,
        pattern: package.pattern,
    }
}
