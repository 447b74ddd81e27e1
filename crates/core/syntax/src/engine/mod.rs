//! One engine for all languages. The engine parses a file, runs one query over the tree, and reads the
//! captures in order.
//!
//! Each language has a query file and a row in the table of `cairn-languages`. Both define how the engine
//! interprets code of this language. `LANGUAGES.md` of `cairn-languages` documents the captures. The engine
//! contains no rules that apply to only one language. Invariants for every input: the engine never panics,
//! its recursion does not depend on the depth of a tree, and it stops at the given limits. The engine cannot
//! interrupt a single step of the grammar's error recovery. For some texts of 100 kB, one such step takes
//! minutes and gigabytes of memory. Therefore untrusted files are parsed in a process with its own limits.

mod attachments;
mod bindings;
mod collect;
mod definitions;
mod exports;
mod guard;
mod imports;
mod items;
mod kinds;
mod limits;
mod macro_items;
mod merging;
mod names;
mod new_symbol;
mod object_fields;
mod opaque;
mod owners;
mod packages;
mod parsing;
mod preprocessor;
mod query;
mod recovery;
mod references;
mod regions;
mod symbols;
mod type_parameters;
mod visibility;
mod wrappers;

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::OnceLock;

use cairn_domain::{ContentHash, DocumentFacts, FactsKey, FileFacts, ParseStatus};
use cairn_languages::LanguageRow;
use tree_sitter::{Parser, QueryCursor};

use self::collect::Raw;
pub use self::guard::LineIndex;
use self::limits::Budget;
pub use self::limits::ParseLimits;
use self::parsing::parse_ranges;
use self::query::CompiledQuery;
use self::recovery::{Errors, Recovery};
use crate::{chunker, documents};

/// The version of the engine. The version is part of the facts keys, so the keys change with the version.
pub(crate) const ENGINE_VERSION: u64 = 13;

/// The maximum number of open states of the query. The queries of Cairn need a few dozen states. Only a file
/// that was crafted to exhaust the query needs more than the maximum.
const MAX_OPEN_MATCHES: u32 = 8_192;

/// The parser, the cursor and the lists of captures, which are reused for each file.
struct ParserState {
    parser: Parser,
    cursor: QueryCursor,
    raw: Raw,
}

thread_local! {
    static WORKSHOP: RefCell<ParserState> = RefCell::new(ParserState::new());
}

impl ParserState {
    fn new() -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MAX_OPEN_MATCHES);
        Self { parser: Parser::new(), cursor, raw: Raw::default() }
    }
}

/// Returns the facts of one file. If parsing fails, the facts contain text windows and a status with the
/// reason.
///
/// `language` is a name of the language table. If the table does not contain the name, the text is treated as
/// plain text. `text` is the redacted content. A range that contains only blank lines does not become a
/// chunk, because it contains nothing to embed or search.
pub fn parse_file(language: &str, facts_key: FactsKey, text: &str, limits: &ParseLimits<'_>) -> FileFacts {
    let mut facts = facts_of(language, facts_key, text, limits);
    let nothing = ContentHash::of("");
    facts.chunks.retain(|chunk| chunk.content_hash != nothing);
    facts
}

fn facts_of(language: &str, facts_key: FactsKey, text: &str, limits: &ParseLimits<'_>) -> FileFacts {
    let lines = LineIndex::new(text);
    let mut facts = empty_facts(language, facts_key, &lines);
    let row = cairn_languages::by_name(language);
    if row.is_some_and(|row| row.has_scanner) {
        facts.status = ParseStatus::Parsed;
        (facts.document, facts.symbols, facts.chunks) = documents::parse_document(language, text);
        return facts;
    }
    match row.and_then(|row| Some((row, compiled(row)?))) {
        None => facts.status = ParseStatus::NoParser,
        Some(_) if !guard::has_sound_shape(text, &lines, limits.max_line_bytes, limits.max_nesting) => {
            facts.status = ParseStatus::Guarded;
        }
        Some((row, query)) => {
            let description = documents::module_description(row.module_doc, text);
            facts.document = description
                .map(|description| DocumentFacts { description: Some(description), ..DocumentFacts::default() });
            WORKSHOP.with_borrow_mut(|workshop| parse_code(row, query, text, &lines, limits, workshop, &mut facts));
        }
    }
    facts.chunks = match facts.status {
        ParseStatus::Parsed | ParseStatus::Partial => chunker::chunk_file(text, &facts.symbols, &facts.imports),
        _ => chunker::window_chunks(text),
    };
    facts
}

fn empty_facts(language: &str, facts_key: FactsKey, lines: &LineIndex) -> FileFacts {
    FileFacts {
        facts_key,
        language: language.to_owned(),
        status: ParseStatus::NoParser,
        num_lines: lines.num_lines(),
        symbols: Vec::new(),
        references: Vec::new(),
        imports: Vec::new(),
        bindings: Vec::new(),
        chunks: Vec::new(),
        document: None,
        package: None,
        export_list: None,
    }
}

fn parse_code(
    row: &'static LanguageRow,
    query: &CompiledQuery,
    text: &str,
    lines: &LineIndex,
    limits: &ParseLimits<'_>,
    workshop: &mut ParserState,
    facts: &mut FileFacts,
) {
    let mut budget = Budget { keep_going: limits.keep_going, steps: limits.max_steps };
    let parsed_text = if row.preprocessed { preprocessor::blank_macros(text) } else { Cow::Borrowed(text) };
    let Some(tree) = parse_ranges(&mut workshop.parser, query, &parsed_text, &[], &mut budget) else {
        facts.status = ParseStatus::Timeout;
        return;
    };
    let root = tree.root_node();
    let ParserState { parser, cursor, raw } = workshop;
    raw.clear();
    if !collect::collect(query, cursor, root, text, limits, &mut budget, raw) {
        facts.status = ParseStatus::Timeout;
        return;
    }
    let errors = Errors::of(root);
    let mut recovery = Recovery::new(query, (parser, cursor), (&parsed_text, text), (limits, &mut budget));
    facts.status = recovery.recover(root, &errors, raw);
    recovery.items_in_macros(raw);
    if facts.status == ParseStatus::Unparsable {
        return;
    }
    let is_cut = raw.definitions.len() > limits.max_symbols || raw.references.len() > limits.max_references;
    if is_cut || cursor.did_exceed_match_limit() {
        facts.status = ParseStatus::Partial;
    }
    fill(row, query, text, lines, limits, raw, facts);
}

fn fill(
    row: &'static LanguageRow,
    query: &CompiledQuery,
    text: &str,
    lines: &LineIndex,
    limits: &ParseLimits<'_>,
    raw: &mut Raw,
    facts: &mut FileFacts,
) {
    facts.package = packages::resolve(row, query, text, raw);
    let outline = symbols::outline(row, query, text, lines, raw, limits);
    facts.imports = imports::imports(row, query, text, lines, raw, &outline);
    facts.references = references::references(row, query, text, lines, raw, &outline, &facts.imports);
    facts.bindings = bindings::bindings(row, query, text, lines, raw, &outline);
    opaque::add(row, text, lines, raw, &outline, facts);
    exports::add(row, query, text, lines, raw, facts);
    facts.symbols = outline.symbols;
}

/// The compiled query of a row. None if the language has no grammar. Each query is compiled once per process.
fn compiled(row: &'static LanguageRow) -> Option<&'static CompiledQuery> {
    static COMPILED: OnceLock<Vec<OnceLock<Option<CompiledQuery>>>> = OnceLock::new();
    let all = COMPILED.get_or_init(|| cairn_languages::languages().iter().map(|_| OnceLock::new()).collect());
    let index = cairn_languages::languages().iter().position(|other| std::ptr::eq(other, row))?;
    // The test `every_query_compiles` fails for a query that does not compile.
    all[index].get_or_init(|| CompiledQuery::compile(row).ok().flatten()).as_ref()
}

#[cfg(test)]
mod tests {
    use cairn_domain::Key128;

    use super::*;

    #[test]
    fn blank_lines_alone_make_no_chunk() {
        let languages = cairn_languages::languages().iter().map(|row| row.name).chain(["text", "unknown"]);
        for language in languages {
            for blank in ["", "\n", " \n\t\r\n\n", &"\n".repeat(50_000)] {
                let key = FactsKey(Key128([0; 16]));
                let chunks = |text: &str| parse_file(language, key, text, &ParseLimits::default()).chunks;
                assert_eq!(chunks(blank), [], "{language} {:?}", &blank[..blank.len().min(9)]);
                let between = chunks(&format!("first\n{blank}last\n"));
                assert!(between.iter().all(|chunk| chunk.content_hash != ContentHash::of("")), "{language}");
            }
        }
    }

    #[test]
    fn every_query_compiles() {
        for row in cairn_languages::languages() {
            if let Err(error) = CompiledQuery::compile(row) {
                panic!("{error}");
            }
        }
    }
}
