//! Checks the answer to a question of the list.

use serde_json::Value;

use super::page::{list, paths};

/// Number of results among which the expected path must be.
const FIRST: usize = 3;

/// The expected answer of a question: `TYPE PATH`, and further checks after semicolons.
pub(super) struct Expectation<'a> {
    query_type: &'a str,
    path: &'a str,
    checks: Vec<&'a str>,
}

impl<'a> Expectation<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let mut parts = text.split("; ");
        let (query_type, path) = parts.next().and_then(|part| part.split_once(' ')).expect("a type and a path");
        Self { query_type, path, checks: parts.collect() }
    }

    /// The first difference between the answer and the expected answer.
    pub(super) fn fault(&self, answer: &Value) -> Option<String> {
        let (found, query_type) = (paths(answer), answer["query_type"].as_str().unwrap_or("-"));
        if self.query_type != "-" && self.query_type != query_type {
            return Some(format!("type {query_type}, expected {}", self.query_type));
        }
        let has_path = match self.path {
            "-" => true,
            "nothing" => found.is_empty(),
            path => found.iter().take(FIRST).any(|found| found == path),
        };
        if !has_path {
            return Some(format!("{found:?}, expected {}", self.path));
        }
        let failed = self.checks.iter().find(|check| !self.holds(check, answer));
        let failed = failed.map(|check| format!("`{check}` does not hold: {:?} {}", found, answer["notes"]));
        failed.or_else(|| has_no_path(answer).then(|| format!("no path was found: {}", answer["notes"])))
    }

    fn holds(&self, check: &str, answer: &Value) -> bool {
        let results = list(answer, "results");
        let is_expected = |result: &Value| result["path"] == self.path;
        match check.split_once(' ').unwrap_or((check, "")) {
            ("first", "") => paths(answer).first().is_some_and(|first| first == self.path),
            ("first", kind) => results.first().is_some_and(|first| is_expected(first) && first["kind"] == kind),
            ("via", edge) => results
                .iter()
                .any(|result| is_expected(result) && result["via"].as_str().is_some_and(|via| via.contains(edge))),
            ("steps", wanted) => has_steps(&results, wanted),
            ("suggests", words) => {
                let suggested = list(&answer["nothing_found"], "suggestions");
                suggested.iter().any(|other| words.split('|').any(|word| other["query"] == word))
            }
            ("no", "note") => list(answer, "notes").is_empty(),
            ("edges", "shown") => {
                let notes = list(answer, "notes");
                notes.iter().filter_map(Value::as_str).all(|note| note.starts_with("The first ")) && notes.len() == 1
            }
            _ => panic!("unknown check: {check}"),
        }
    }
}

/// Whether a note states that no path connects the start and the end in the question.
fn has_no_path(answer: &Value) -> bool {
    let notes = list(answer, "notes");
    notes.iter().any(|note| note.as_str().is_some_and(|note| note.starts_with("No path")))
}

/// Whether the first step is at the first of these paths, and later steps are at the other paths, in this
/// order.
fn has_steps(results: &[Value], wanted: &str) -> bool {
    let mut steps: Vec<&Value> = results.iter().filter(|result| result["step"].is_u64()).collect();
    steps.sort_by_key(|step| step["step"].as_u64());
    let mut paths = steps.iter().filter_map(|step| step["path"].as_str());
    let mut wanted = wanted.split(' ');
    paths.next() == wanted.next() && wanted.all(|path| paths.any(|found| found == path))
}

#[test]
fn steps_are_compared_in_order() {
    let step = |number: u64, path: &str| serde_json::json!({ "step": number, "path": path });
    let results = [step(2, "b"), serde_json::json!({ "path": "d" }), step(1, "a"), step(3, "c")];
    for (wanted, expect) in
        [("a", true), ("a b c", true), ("a c", true), ("b c", false), ("a c b", false), ("a d", false)]
    {
        assert_eq!(has_steps(&results, wanted), expect, "{wanted}");
    }
    assert!(!has_steps(&[], "a"));
}
