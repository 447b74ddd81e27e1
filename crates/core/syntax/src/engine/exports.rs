//! Reads the names that a file lists as public.

use cairn_domain::{FileFacts, Import, ImportedName};
use cairn_languages::LanguageRow;
use rustc_hash::FxHashSet;

use super::collect::Raw;
use super::guard::LineIndex;
use super::names::plain_name;
use super::query::CompiledQuery;

/// Sets the export list of the file. An export under a different name (`export { a as b }`, `export default
/// Foo`) also adds an import to the file. This import is a re-export with an empty module. The re-export maps
/// the public name to the name inside the file.
pub(super) fn add(
    row: &LanguageRow,
    query: &CompiledQuery,
    text: &str,
    lines: &LineIndex,
    raw: &mut Raw,
    facts: &mut FileFacts,
) {
    raw.export_names.sort_unstable_by_key(|export| (export.name.start, export.alias.map(|alias| alias.start)));
    let mut listed: Vec<String> = Vec::new();
    let mut known: FxHashSet<&str> = FxHashSet::default();
    for export in &raw.export_names {
        let name = plain_name(row, export.name.text(text));
        let fixed = query.properties[export.pattern as usize].export_as.as_deref();
        let public = export.alias.map(|alias| plain_name(row, alias.text(text))).or(fixed).unwrap_or(name);
        if public != name {
            facts.imports.push(renamed(name, public, lines.line_of(export.name.start)));
        }
        if known.insert(public) {
            listed.push(public.to_owned());
        }
    }
    facts.imports.sort_by_key(|import| import.line);
    facts.export_list = (!listed.is_empty()).then_some(listed);
}

fn renamed(name: &str, public: &str, line: u32) -> Import {
    Import {
        module: String::new(),
        level: 0,
        names: vec![ImportedName { name: name.to_owned(), alias: Some(public.to_owned()) }],
        alias: None,
        wildcard: false,
        reexport: true,
        line,
        enclosing: None,
    }
}
