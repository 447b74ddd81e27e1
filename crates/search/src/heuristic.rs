//! Finds definitions of names that are not symbols in the index, with regular expressions over texts.
//!
//! Such definitions are in languages without a parser, in code that macros generate, or in damaged files. The
//! result may be wrong, so answers that use it contain a warning.

use cairn_domain::{ChunkRecord, LineSpan, Scope, View};
use cairn_ports::ChunkFilter;
use cairn_ranking::{ScopeFrequencies, query_terms};
use regex::Regex;

use crate::chunk_id::ChunkId;
use crate::resolve::{NameMatching, Substitution};
use crate::{QueryError, Searcher};

/// Maximum number of chunks whose texts are searched.
const MAX_CHUNKS: usize = 40;
/// The score of a definition that a regular expression finds, in thousandths.
const SCORE: u32 = 500;
const WARNING: &str = "found by a regular expression in the text; may be incomplete or wrong";

/// Words before the name of a definition.
const KEYWORDS: &str = "def|defp|defmodule|defmacro|fn|func|fun|function|sub|proc|procedure|macro|macro_rules!|class|\
                        struct|enum|union|trait|interface|protocol|type|typedef|record|object|module|namespace|const|\
                        constant|let|var|val|static|define|alias|message|service|table|view";

/// A line that looks like the definition of a name.
pub(crate) struct HeuristicDefinition {
    pub(crate) chunk: ChunkRecord,
    /// The line of the name, from 1.
    pub(crate) line: u32,
    pub(crate) substitution: Substitution,
}

impl HeuristicDefinition {
    /// The lines to show: from the definition to the end of its chunk.
    pub(crate) fn span(&self) -> LineSpan {
        LineSpan::new(self.line, self.chunk.span.end.max(self.line))
    }
}

impl Searcher {
    /// Finds a line that looks like the definition of the name, in the chunks that contain the words of the
    /// name.
    pub(crate) async fn heuristic_definition(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<HeuristicDefinition>, QueryError> {
        let Some(definition) = DefinitionPattern::of(name) else { return Ok(None) };
        let filter = ChunkFilter::default();
        let terms = query_terms(name, &ScopeFrequencies::default());
        let hits = self.vectors.search_sparse(view, scope, &filter, &terms, MAX_CHUNKS).await?;
        let ids: Vec<ChunkId> = hits.iter().map(|hit| (hit.repository, hit.key)).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let chunks = self.vectors.fetch(view, scope, &ids, true).await?;
        let found = chunks.into_iter().filter_map(|chunk| {
            let line = chunk.span.start + definition.line_in(&chunk.text)?;
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

/// Recognises lines that define a name.
struct DefinitionPattern {
    name: String,
    forms: Vec<Regex>,
}

impl DefinitionPattern {
    /// `None` for a name that is not one word of letters, digits and `_`.
    fn of(name: &str) -> Option<Self> {
        let last = name.trim().trim_end_matches("()").rsplit(['.', ':', '#', '>']).next()?;
        let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-');
        if last.is_empty() || !last.chars().all(is_word) || !last.chars().any(char::is_alphabetic) {
            return None;
        }
        let escaped = regex::escape(last);
        let forms = [
            format!(r"^[^/#*]*\b(?:{KEYWORDS})\s+(?:\([^)]*\)\s*)?[*&]?{escaped}(?:[^\w-]|$)"),
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
        check("run", "  run();", None);
        check("run", "return run(x)", None);
        check("run", "if run == 1 {", None);
        check("run", "def rerun(self):", None);
        check("run", "// fn run is old", None);
        check("", "def run", None);
        check("a b", "def a", None);
    }
}
