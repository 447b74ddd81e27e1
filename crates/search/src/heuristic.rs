//! Finds the definition of a name that is not a symbol in the index. Regular expressions are applied to the
//! texts of chunks.
//!
//! Names are missing from the index if they are defined in languages without a parser, in code that macros
//! generate, or in damaged files. The result may be wrong, so answers that use it contain a warning.

use cairn_domain::{ChunkRecord, LineSpan, NodeKey, Scope, SymbolEntry, SymbolKind, View};
use cairn_name_match::plain_name;
use cairn_ports::{ChunkFilter, NameMatch, SymbolHit};
use cairn_ranking::{ScopeFrequencies, query_terms};
use cairn_redaction::quoted;
use regex::Regex;

use crate::chunk_id::ChunkId;
use crate::leading::{Leading, NamedPlace};
use crate::path_of_name::{is_in_file, possible_paths};
use crate::repositories::{KnownRepository, name_of};
use crate::resolve::{NameMatching, NameRequest, Substitution, no_symbol};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Maximum number of chunks whose texts are searched.
const MAX_CHUNKS: usize = 40;
/// The score of a definition that was found by a regular expression, in thousandths.
const SCORE: u32 = 500;
const WARNING: &str = "found by a regular expression in the text; may be incomplete or wrong";

/// Keywords that come before the name in a definition.
const KEYWORDS: &str = "def|defp|defmodule|defmacro|fn|func|fun|function|sub|proc|procedure|macro|macro_rules!|class|\
                        struct|enum|union|trait|interface|protocol|type|typedef|record|object|module|namespace|const|\
                        constant|let|var|val|static|define|alias|message|service|table|view";

/// A line that looks like the definition of a name.
#[derive(Clone, Debug)]
pub(crate) struct HeuristicDefinition {
    pub(crate) chunk: ChunkRecord,
    /// The number of the line that contains the name. The first line of a file is line 1.
    pub(crate) line: u32,
    pub(crate) substitution: Substitution,
}

impl HeuristicDefinition {
    /// The lines to show: from the definition to the end of its chunk.
    pub(crate) fn span(&self) -> LineSpan {
        LineSpan::new(self.line, self.chunk.span.end.max(self.line))
    }

    /// Returns the line as the first result.
    pub(crate) fn leading(&self) -> Leading {
        let ChunkRecord { repository, path, language, module_path, is_test, .. } = &self.chunk;
        let symbol = SymbolEntry {
            name: self.substitution.used.clone(),
            qualified_name: self.substitution.used.clone(),
            kind: SymbolKind::Variable,
            // The graph contains no node for the definition, so the key of the chunk is used.
            node: NodeKey(self.chunk.key.0),
            path: path.clone(),
            line: self.line,
            span: self.span(),
            chunk: Some(self.chunk.key),
            language: language.clone(),
            module_path: module_path.clone(),
            exported: false,
            documented: false,
            is_test: *is_test,
        };
        let hit = SymbolHit { repository: *repository, symbol, matched: NameMatch::Fuzzy, score: SCORE / 10 };
        Leading { hit, matched: self.substitution.matched(), chunk: None }
    }

    pub(crate) fn place(&self, selected: &[KnownRepository]) -> NamedPlace {
        let repository = name_of(selected, self.chunk.repository);
        NamedPlace { repository, path: self.chunk.path.to_string(), line: self.line }
    }

    /// The error for a question about the relations of the definition. The graph does not contain the
    /// definition.
    pub(crate) fn not_in_graph(&self, selected: &[KnownRepository]) -> QueryError {
        let NamedPlace { repository, path, line } = self.place(selected);
        let name = &self.substitution.requested;
        let message = no_symbol(name).and("; ").and(quoted(&path)).and(", line ").and(line);
        let message = message.and(" looks like its definition");
        let mut error = QueryError::new(QueryErrorCode::NotFound, message).hint(WARNING);
        error.similar_files = vec![path.clone()];
        error.next(NextCall {
            tool: "read_code",
            reason: "reads the line and the code after it".into(),
            arguments: vec![("repository", repository), ("symbol", name.clone()), ("path", path)],
        })
    }
}

impl Searcher {
    /// A line that looks like the definition of the name. The search uses only chunks that contain words of
    /// the name. If the request has a path, the search uses only chunks of this file.
    pub(crate) async fn heuristic_definition(
        &self,
        view: &View,
        scope: &Scope,
        request: NameRequest<'_>,
    ) -> Result<Option<HeuristicDefinition>, QueryError> {
        let NameRequest { name, path, .. } = request;
        let Some(definition) = DefinitionPattern::of(name) else { return Ok(None) };
        let paths = path.map(globs_of).unwrap_or_default();
        let filter = ChunkFilter { paths, ..ChunkFilter::default() };
        let terms = query_terms(name, &ScopeFrequencies::default());
        let hits = self.vectors.search_sparse(view, scope, &filter, &terms, MAX_CHUNKS).await?;
        let ids: Vec<ChunkId> = hits.iter().map(|hit| (hit.repository, hit.key)).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let chunks = self.vectors.fetch(view, scope, &ids, true).await?;
        let found = chunks.into_iter().filter_map(|chunk| {
            let line = chunk.span.start + definition.line_in(&chunk.text)?;
            if path.is_some_and(|path| !is_in_file(path, &chunk.path)) {
                return None;
            }
            let key = (chunk.is_test, chunk.repository, chunk.path.clone(), line);
            let substitution = Substitution {
                requested: name.to_owned(),
                used: definition.name.clone(),
                matching: NameMatching::Heuristic,
                score: SCORE,
                reason: WARNING.to_owned(),
                similar: Vec::new(),
            };
            Some((key, HeuristicDefinition { chunk, line, substitution }))
        });
        Ok(found.min_by(|(left, _), (right, _)| left.cmp(right)).map(|(_, found)| found))
    }
}

/// The globs that match the files that `is_in_file` accepts for a path.
fn globs_of(path: &str) -> Vec<String> {
    let of_literal = |path: &str| {
        let literal = globset::escape(path.trim_end_matches('/'));
        ["", ".*", "/**"].map(|end| format!("{literal}{end}"))
    };
    let globs = possible_paths(path).flat_map(of_literal);
    match path.starts_with('/') {
        true => globs.collect(),
        false => globs.flat_map(|glob| [format!("**/{glob}"), glob]).collect(),
    }
}

/// Recognises lines that define a name.
struct DefinitionPattern {
    name: String,
    forms: Vec<Regex>,
}

impl DefinitionPattern {
    /// `None` if the last part of the name is not one word of letters, digits, `_`, `$` and `-`, or contains
    /// no letter.
    fn of(name: &str) -> Option<Self> {
        let name = plain_name(name);
        let last = name.rsplit('.').next()?;
        let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-');
        if last.is_empty() || !last.chars().all(is_word) || !last.chars().any(char::is_alphabetic) {
            return None;
        }
        let escaped = regex::escape(last);
        let forms = [
            format!(r"^[^/#*]*\b(?:{KEYWORDS})\s+(?:\([^)]*\)\s*)?[*&]?{escaped}(?:[^\w-]|$)"),
            format!(r"^\s*#\s*define\s+{escaped}(?:[^\w-]|$)"),
            // A function in the style of C: a type, the name, parameters, and no semicolon.
            format!(r"^\s*(?:[\w<>\[\],:*&]+\s+)+[*&]?{escaped}\s*\([^;]*$"),
            format!(r#"^\s*(?:export\s+)?["']?{escaped}["']?\s*(?::=|=[^=]|:\s|=$|:$)"#),
        ];
        let forms = forms.iter().map(|form| Regex::new(form)).collect::<Result<Vec<_>, _>>().ok()?;
        Some(Self { name: last.to_owned(), forms })
    }

    /// The number of lines before the first line that defines the name.
    fn line_in(&self, text: &str) -> Option<u32> {
        let is_definition = |line: &str| {
            let is_statement =
                ["return ", "else ", "throw ", "await ", "new "].iter().any(|word| line.trim_start().starts_with(word));
            !is_statement && self.forms.iter().any(|form| form.is_match(line))
        };
        let lines = (0..).zip(text.lines());
        lines.into_iter().find(|(_, line)| line.contains(&self.name) && is_definition(line)).map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_recognised_in_text() {
        let check = |name: &str, text: &str, expect: Option<u32>| {
            let found = DefinitionPattern::of(name).and_then(|pattern| pattern.line_in(text));
            assert_eq!(found, expect, "{name} in {text}");
        };
        check("run", "x\ndef run(self):\n", Some(1));
        check("run", "func (s *Server) run() {", Some(0));
        check("Server.run", "pub async fn run<T>() {", Some(0));
        check("run", "static int run(void)\n{", Some(0));
        check("run", "  run: function () {", Some(0));
        check("run", "run = make()", Some(0));
        check("build-all", "build-all: deps", Some(0));
        check("OPEN_TABLE", "x\n#define OPEN_TABLE(name) name", Some(1));
        check("run", "  run();", None);
        check("run", "return run(x)", None);
        check("run", "if run == 1 {", None);
        check("run", "def rerun(self):", None);
        check("run", "// fn run is old", None);
        check("", "def run", None);
        check("a b", "def a", None);
    }
}
