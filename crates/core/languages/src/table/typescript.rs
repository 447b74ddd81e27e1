//! TypeScript, with and without JSX.

use super::javascript::SCRIPT;
use crate::row::LanguageRow;

pub(super) const ROWS: &[LanguageRow] = &[
    LanguageRow {
        name: "typescript",
        grammar: grammar!("tree-sitter-typescript", "0.23.2", tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
        query: concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
        extensions: &["ts", "mts", "cts"],
        interpreters: &["deno", "ts-node", "tsx"],
        ..SCRIPT
    },
    LanguageRow {
        name: "tsx",
        grammar: grammar!("tree-sitter-typescript", "0.23.2", tree_sitter_typescript::LANGUAGE_TSX),
        query: concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm"), include_str!("jsx.scm")),
        extensions: &["tsx"],
        ..SCRIPT
    },
];
