//! Turns answers into a form that can be compared, and reads their properties.

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::{Value, json};

/// The fields whose values may differ between the two sides: index times, ids and digests that depend on
/// these times, the folder of the index, and counts that depend on caches which concurrent runs fill.
const OWN: [&str; 14] = [
    "indexed_at",
    "indexed_at_ms",
    "started_at",
    "ended_at",
    "last_sync",
    "index_version",
    "run_id",
    "home",
    "size_bytes",
    "durations",
    "duration_ms",
    "files_parsed",
    "chunks_embedded",
    "cache_hits",
];

/// The names of list fields. An answer has at least one of these fields, unless it describes a single object.
const LISTS: [&str; 11] = [
    "results",
    "files",
    "edges",
    "patterns",
    "modules",
    "entries",
    "findings",
    "repositories",
    "runs",
    "fingerprints",
    "matching_files",
];

/// The text before a lower bound in the reason of a suggested call.
const AT_LEAST: &str = "; at least ";

/// The exit code and the output of a call.
pub(super) struct Reply {
    pub(super) exit_code: Option<i32>,
    /// One JSON value for each line of the output.
    pub(super) lines: Vec<Value>,
}

impl Reply {
    pub(super) fn read(output: &Output) -> Self {
        let text = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
        let text = String::from_utf8_lossy(text);
        let lines = text.lines().filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line)));
        Self { exit_code: output.status.code(), lines: lines.collect() }
    }

    pub(super) fn comparable(&self) -> Value {
        let lines: Vec<Value> = self.lines.iter().cloned().map(comparable).collect();
        json!({ "exit_code": self.exit_code, "reported": lines })
    }

    /// If one answer has lower bounds instead of counts, removes the counts of both answers. Lower bounds
    /// depend on the time that counting took.
    pub(super) fn keep_comparable_counts(&mut self, other: &mut Self) {
        if self.lines.iter().chain(&other.lines).any(has_lower_bounds) {
            self.lines.iter_mut().chain(&mut other.lines).for_each(forget_counts);
        }
    }

    /// Whether a time limit ended an exact search before its first page was complete.
    pub(super) fn is_cut_by_time(&self) -> bool {
        self.lines.iter().any(is_cut_by_time)
    }

    /// The calls that the answer suggests. Each side tries its suggested calls for a limited time, and omits
    /// the calls that it could not try.
    pub(super) fn suggested(&self) -> Vec<Value> {
        self.lines.iter().flat_map(suggested).collect()
    }

    pub(super) fn is_error(&self) -> bool {
        let is_structured = self.lines.iter().any(|line| line["error"]["code"].is_string());
        // If the arguments of a question cannot be parsed, the program itself refuses the question.
        let is_usage = self.exit_code == Some(2) && self.lines.iter().any(Value::is_string);
        self.exit_code != Some(0) && (is_structured || is_usage)
    }

    /// The number of results; 1 if the answer describes a single object.
    pub(super) fn num_found(&self) -> usize {
        if self.is_error() {
            return 0;
        }
        let length = |line: &Value, list: &&str| line[*list].as_array().map(Vec::len);
        let entries = |line: &Value| LISTS.iter().filter_map(|list| length(line, list)).max().unwrap_or(1);
        self.lines.iter().map(entries).sum()
    }

    pub(super) fn next_cursor(&self) -> Option<&str> {
        self.lines.first()?["next_cursor"].as_str()
    }

    /// Whether two results with the same score have the same path and line, one in a fork and one in its
    /// origin.
    pub(super) fn has_ties(&self, forks: &[(String, String)]) -> bool {
        let results = self.lines.iter().filter_map(|line| line["results"].as_array()).flatten();
        let places: Vec<(String, Location)> = results.flat_map(places).collect();
        let all: BTreeSet<&(String, Location)> = places.iter().collect();
        places.iter().any(|(score, place)| {
            let origin = forks.iter().find(|(fork, _)| *fork == place.0).map(|(_, origin)| origin);
            let twin = origin.map(|origin| (score.clone(), (origin.clone(), place.1.clone(), place.2)));
            twin.is_some_and(|twin| all.contains(&twin))
        })
    }
}

/// The repository, path and line of a result.
type Location = (String, String, u64);

/// The locations of a result, each with the score of the result.
fn places(result: &Value) -> Vec<(String, Location)> {
    let also_at = result["also_at"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let place =
        |at: &Value| (text(&at["repository"]), text(&at["path"]), at["start_line"].as_u64().unwrap_or_default());
    let score = result["score"].to_string();
    [result].into_iter().chain(also_at).map(|at| (score.clone(), place(at))).collect()
}

/// Whether the counts of an exact search, or of a suggested exact search, are lower bounds.
pub(super) fn has_lower_bounds(answer: &Value) -> bool {
    answer["is_exact"] == false || answer.to_string().contains(AT_LEAST)
}

pub(super) fn is_cut_by_time(answer: &Value) -> bool {
    answer["cut"]["by"] == "time"
}

/// The calls that an answer suggests, each as its tool and arguments.
pub(super) fn suggested(answer: &Value) -> Vec<Value> {
    match answer {
        Value::Object(fields) => match fields.get("tool_suggestions") {
            Some(Value::Array(calls)) => calls.iter().map(|call| json!([call["tool"], call["arguments"]])).collect(),
            _ => fields.values().flat_map(suggested).collect(),
        },
        Value::Array(values) => values.iter().flat_map(suggested).collect(),
        _ => Vec::new(),
    }
}

/// Removes the counts of an exact search, and of suggested calls.
pub(super) fn forget_counts(answer: &mut Value) {
    forget_suggested_counts(answer);
    for count in ["is_exact", "num_files", "num_results"] {
        answer[count] = Value::Null;
    }
    if answer["cut"].is_object() {
        answer["cut"]["num_left"] = Value::Null;
    }
}

pub(super) fn comparable(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                *field = match name.as_str() {
                    own if OWN.contains(&own) => Value::Null,
                    // Cursors contain ids that differ, so only their lengths are compared.
                    "next_cursor" | "cursor" => field.as_str().map_or(Value::Null, |cursor| cursor.len().into()),
                    "runs" => of_each_repository(comparable(field.take())),
                    _ => comparable(field.take()),
                };
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = comparable(value.take())),
        _ => {}
    }
    answer
}

/// Sorts runs by repository, without changing the order within a repository. A cluster works on several
/// repositories in parallel, so the order of their runs varies.
fn of_each_repository(mut runs: Value) -> Value {
    if let Some(runs) = runs.as_array_mut() {
        runs.sort_by_key(|run| run["repository"].as_str().map(str::to_owned));
    }
    runs
}

/// Removes the counts at the end of the reasons of suggested calls.
fn forget_suggested_counts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(reason) if name == "reason" => {
                        *reason = reason.split("; ").next().unwrap_or_default().to_owned();
                    }
                    value => forget_suggested_counts(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(forget_suggested_counts),
        _ => {}
    }
}
