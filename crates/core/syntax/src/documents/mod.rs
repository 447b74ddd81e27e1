//! Finds the sections, mentions and chunks of documents, configuration files and other texts without a
//! grammar.
//!
//! Each format has a scanner that finds *blocks* (sections, keys, statements, rules) in one pass over the
//! bytes. [`blocks`] turns the blocks of any format into chunks. A scanner implements only as much of a
//! format as it needs to recognise strings, comments and fences. A scanner stores its state in counters and
//! does not recurse. Therefore hostile texts need no more time than other texts. A text without blocks is
//! divided into windows.
//!
//! The text of a document is only data. The text can change ranking through its facts, but instructions in
//! the text are never followed.

mod blocks;
mod braces;
mod dockerfile;
mod html;
mod inline;
mod json;
mod keys;
mod makefile;
mod markdown;
mod markup;
mod mentions;
mod module_doc;
mod navigation;
mod notebook;
mod outline;
mod plain;
mod sections;
mod sql;
#[cfg(test)]
mod tests;
mod yaml;

use cairn_domain::{ChunkFacts, DocumentFacts, Symbol};

pub(crate) use module_doc::module_description;
pub use navigation::is_navigation;

use crate::chunker::{Lines, window_chunks};

/// Parses a text. `format` is the name of the text's format in the language table. If the format has no
/// scanner, the text is divided into windows. Line numbers refer to `text`. Every line of `text` belongs to
/// at least one chunk.
///
/// Only documents for human readers have `DocumentFacts` (a title, sections and mentions), and only SQL has
/// symbols. The synthetic text of a notebook's chunk is the decoded source of its cells.
pub fn parse_document(format: &str, text: &str) -> (Option<DocumentFacts>, Vec<Symbol>, Vec<ChunkFacts>) {
    let lines = Lines::new(text);
    if lines.num_rows() == 0 {
        return (None, Vec::new(), Vec::new());
    }
    let config = |found| (None, Vec::new(), blocks::chunks(&lines, found, blocks::CONFIG, &[]));
    match format {
        "markdown" | "mdx" => document(&lines, &markdown::outline(&lines)),
        "restructuredtext" | "rst" => document(&lines, &markup::restructured_text(&lines)),
        "asciidoc" => document(&lines, &markup::asciidoc(&lines)),
        "html" => document(&lines, &html::outline(&lines, text)),
        "text" | "plaintext" | "plain" => (Some(plain::facts(&lines)), Vec::new(), window_chunks(text)),
        "yaml" => config(yaml::blocks(&lines)),
        "toml" => config(keys::toml(&lines)),
        "ini" | "env" | "dotenv" | "properties" | "editorconfig" => config(keys::ini(&lines)),
        "json" | "jsonc" | "json5" => config(json::blocks(&lines, text)),
        "dockerfile" | "containerfile" => config(dockerfile::blocks(&lines)),
        "makefile" | "make" => config(makefile::blocks(&lines)),
        "hcl" | "terraform" => config(braces::blocks(&lines, text, braces::HCL)),
        "css" | "scss" | "less" => (None, Vec::new(), code(&lines, braces::blocks(&lines, text, braces::CSS))),
        "protobuf" | "proto" => (None, Vec::new(), code(&lines, braces::blocks(&lines, text, braces::PROTOBUF))),
        "graphql" => (None, Vec::new(), code(&lines, braces::blocks(&lines, text, braces::GRAPHQL))),
        "sql" => {
            let (found, symbols) = sql::blocks(&lines, text);
            let chunks = blocks::chunks(&lines, found, blocks::CODE, &symbols);
            (None, symbols, chunks)
        }
        "jupyter-notebook" | "notebook" | "jupyter" | "ipynb" => (None, Vec::new(), notebook::chunks(&lines, text)),
        _ => (None, Vec::new(), window_chunks(text)),
    }
}

fn code(lines: &Lines<'_>, found: Vec<blocks::Block>) -> Vec<ChunkFacts> {
    blocks::chunks(lines, found, blocks::CODE, &[])
}

fn document(lines: &Lines<'_>, outline: &outline::Outline) -> (Option<DocumentFacts>, Vec<Symbol>, Vec<ChunkFacts>) {
    let facts = sections::facts(lines, outline);
    let chunks = sections::chunks(lines, outline, facts.title.as_deref());
    (Some(facts), Vec::new(), chunks)
}
