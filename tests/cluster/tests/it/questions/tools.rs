//! Calls the MCP tools as agents call them: local mode on standard input, the query service over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::drawn::Drawn;
use super::reply::{comparable, forget_counts, has_lower_bounds, is_cut_by_time, suggested};
use super::{MAX_ATTEMPTS, Round, Sides, none_of};
use crate::isolation;

/// A word with more characters than this is treated as a cursor.
const LONGEST_WORD: usize = 60;

/// The figures of the compared calls.
#[derive(Default, Debug)]
pub(crate) struct Called {
    pub(crate) num_calls: usize,
    pub(crate) num_errors: usize,
}

impl Sides {
    /// Calls each read-only tool on both sides, and compares the answers.
    pub(crate) async fn compare_tools(&self, round: &Round<'_>) -> Result<Called> {
        let mut drawn = Drawn::of(&round.repositories, round.seed)?;
        let mut agent = LocalAgent::start(self)?;
        let (mut called, mut differences) = (Called::default(), Vec::new());
        for (tool, arguments) in CALLS {
            for _ in 0..round.draws {
                let call = call_of(tool, arguments, &drawn.values()?)?;
                let (mut mine, mut theirs) = self.complete_results(&mut agent, &call).await?;
                keep_comparable_counts([&mut mine, &mut theirs]);
                if mine != theirs {
                    differences.push(format!("{call}\nlocal {mine:#}\ncluster {theirs:#}"));
                }
                called.num_calls += 1;
                called.num_errors += usize::from(mine["isError"] == true);
            }
        }
        none_of(&differences)?;
        Ok(called)
    }

    /// The results of both sides. Repeats a call if a busy machine did not finish an exact search, or did not
    /// try all suggested calls, within the time limit.
    async fn complete_results(&self, agent: &mut LocalAgent, call: &Value) -> Result<(Value, Value)> {
        let mut attempt = 1;
        loop {
            let (mine, theirs) = (result(agent.call(call)?), result(self.call(call).await?));
            let is_cut = [&mine, &theirs].iter().any(|result| is_cut_by_time(&result["structuredContent"]));
            if !is_cut && suggested(&mine) == suggested(&theirs) || attempt == MAX_ATTEMPTS {
                return Ok((mine, theirs));
            }
            attempt += 1;
        }
    }

    async fn call(&self, call: &Value) -> Result<Value> {
        let answer = isolation::ask(&self.service.url, &self.service.key, "/mcp", call).await;
        let answer = answer.with_context(|| call.to_string())?;
        let lines = answer.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let reported = lines
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|message| message["result"].is_object());
        reported.context("the answer contains no result")
    }
}

/// A call of a tool, with values in place of the placeholders.
fn call_of(tool: &str, arguments: &str, values: &[(&str, String)]) -> Result<Value> {
    let arguments = values.iter().fold(arguments.to_owned(), |text, (name, value)| text.replace(name, value));
    let arguments: Value = serde_json::from_str(&arguments).context(arguments)?;
    let params = json!({ "name": tool, "arguments": arguments });
    Ok(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

/// A `cairn mcp` process, used over standard input and output.
struct LocalAgent {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl LocalAgent {
    fn start(sides: &Sides) -> Result<Self> {
        let mut command = sides.local.command(&["mcp"])?;
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = process.stdin.take().context("standard input")?;
        let output = BufReader::new(process.stdout.take().context("standard output")?);
        let mut agent = Self { process, input, output };
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.call(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))?;
        writeln!(agent.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(agent)
    }

    fn call(&mut self, call: &Value) -> Result<Value> {
        writeln!(self.input, "{call}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for LocalAgent {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The result of a call in a form that can be compared. JSON is changed in the same way as the JSON of the
/// command line. In texts, the times, run ids and cursors are masked.
fn result(mut reported: Value) -> Value {
    let mut result = reported["result"].take();
    for content in result["content"].as_array_mut().into_iter().flatten() {
        content["text"] = masked(content["text"].as_str().unwrap_or_default()).into();
    }
    result["structuredContent"] = comparable(result["structuredContent"].take());
    result
}

/// If one result has lower bounds instead of counts, removes the counts of both results, and the texts, which
/// also state the counts. Lower bounds depend on the time that counting took.
fn keep_comparable_counts(results: [&mut Value; 2]) {
    if results.iter().any(|result| has_lower_bounds(&result["structuredContent"])) {
        for result in results {
            forget_counts(&mut result["structuredContent"]);
            result["content"] = Value::Null;
        }
    }
}

/// Replaces times, run ids and cursors in a text with fixed words.
fn masked(text: &str) -> String {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let mut masked = String::new();
    for part in text.split_inclusive(|c| !is_of_word(c)) {
        let word = part.trim_end_matches(|c| !is_of_word(c));
        let word = word.trim_end_matches([':', '.']);
        masked.push_str(mark(word));
        masked.push_str(&part[word.len()..]);
    }
    masked
}

fn mark(word: &str) -> &str {
    let is_moment = word.len() == 20 && word.ends_with('Z') && word[..4].parse::<u16>().is_ok();
    let is_run = word.len() == 13 && word.starts_with('r') && word[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    match word {
        _ if is_moment => "MOMENT",
        _ if is_run => "RUN",
        _ if word.len() > LONGEST_WORD => "CURSOR",
        word => word,
    }
}

const CALLS: &[(&str, &str)] = &[
    ("search_code", r#"{"query": "{words}"}"#),
    ("search_code", r#"{"query": "{symbol}", "limit": 3, "explain": true, "max_tokens": 1000}"#),
    (
        "search_code",
        r#"{"query": "{words}", "repository": ["{repo}"], "path": ["{folder}"], "language": ["{language}"]}"#,
    ),
    (
        "search_code",
        r#"{"query": "{words}", "kind": ["function", "section"], "tests": "exclude", "since": "2023-11-14"}"#,
    ),
    ("search_code", r#"{"query": "{words}", "module": ["{module}"], "tag": ["absent"]}"#),
    ("search_code", r#"{"query": "{words}", "repository": "{repo}-mistyped"}"#),
    ("search_code", r#"{"query": "{words}", "kind": ["widget"], "limit": 0}"#),
    ("search_code", r#"{"query": "{symbol}", "mode": "text", "repository": ["{repo}"], "context": 2}"#),
    ("search_code", r#"{"query": "{camel}", "mode": "text", "ignore_case": true, "limit": 3}"#),
    ("search_code", r#"{"query": "{symbol}\\b", "mode": "regex", "path": ["{path}"], "whole_word": true}"#),
    ("search_code", r#"{"query": "def [a-z_]+[^:]*:\\s+return", "mode": "regex", "multiline": true, "limit": 2}"#),
    ("search_code", r#"{"query": "{symbol}zz", "mode": "text", "language": ["{language}"]}"#),
    ("search_code", r#"{"query": "{symbol}(", "mode": "regex"}"#),
    ("search_code", r#"{"target": "{file}", "type": "filename"}"#),
    ("search_code", r#"{"query": "{symbol}", "query_type": "symbol", "tag": ["indexed", ".{extension}"]}"#),
    ("search_code", r#"{"query": "{path}#{symbol}", "limit": 3}"#),
    ("search_code", r#"{"query": "{typo}", "target_type": "symbol", "explain": true}"#),
    ("search_code", r#"{"query": "{symbol}", "context_path": "{path}"}"#),
    ("search_code", r#"{"query": "{file}", "target_type": "filename", "limit": 2, "context_path": "{path}"}"#),
    ("search_code", r#"{"target": "*.{extension}", "type": "file", "limit": 3, "filename_only": true}"#),
    ("search_code", r#"{"query": "{folder}", "target_type": "directory", "fuzzy_filename": false}"#),
    ("search_code", r#"{"query": "{file}", "target_type": "filename", "language": ["cobol"]}"#),
    ("search_code", r#"{"query": "{file}"}"#),
    ("read_code", r#"{"target": "{file}"}"#),
    ("read_code", r#"{"target": "{folder}", "repository": "{repo}"}"#),
    ("read_code", r#"{"path": "{file}", "context_path": "{path}", "max_tokens": 500}"#),
    ("read_code", r#"{"repository": "{repo}", "path": "{path}"}"#),
    ("read_code", r#"{"target": "{typo}"}"#),
    ("read_code", r#"{"target": "{path}#{camel}"}"#),
    ("read_code", r#"{"target": "app.{typo}", "context_path": "{path}"}"#),
    ("read_code", r#"{"repository": "{repo}", "path": "./{path}", "start_line": {line}, "end_line": {last}}"#),
    ("read_code", r#"{"symbol": "{symbol}", "max_tokens": 500}"#),
    ("read_code", r#"{"symbol": "{symbol}", "path": "{path}", "repository": "{repo}"}"#),
    ("read_code", r#"{"symbol": "{camel}"}"#),
    ("read_code", r#"{"symbol": "{symbol}zz"}"#),
    ("read_code", r#"{"path": "no/such/{file}"}"#),
    ("read_code", "{}"),
    ("analyze_relationship", r#"{"name": "{symbol}", "relation": "callers"}"#),
    ("analyze_relationship", r#"{"name": "{symbol}()", "relation": "callees", "limit": 1}"#),
    ("analyze_relationship", r#"{"name": "./{path}", "relation": "dependencies", "repository": ["{repo}"]}"#),
    ("analyze_relationship", r#"{"name": "{symbol}", "relation": "dependents"}"#),
    ("analyze_relationship", r#"{"target": "{file}", "mode": "dependencies"}"#),
    ("analyze_relationship", r#"{"target": "{folder}", "mode": "dependents", "repository": ["{repo}"]}"#),
    ("analyze_relationship", r#"{"target": "no/such/{file}", "mode": "dependents"}"#),
    ("analyze_relationship", r#"{"name": "AwsImporter", "relation": "inheritance", "repository": ["fork-*"]}"#),
    ("analyze_relationship", r#"{"name": "{symbol}zz", "relation": "callers"}"#),
    ("analyze_relationship", r#"{"name": "{symbol}", "relation": "friends"}"#),
    ("analyze_relationship", r#"{"target": "{path}", "mode": "impact"}"#),
    ("analyze_relationship", r#"{"target": "{typo}", "mode": "callers"}"#),
    ("analyze_relationship", r#"{"target": "{path}#{symbol}", "mode": "callees", "context_path": "{path}"}"#),
    ("list_repositories", "{}"),
    ("list_repositories", r#"{"name": "FORK", "limit": 3, "offset": 2}"#),
    ("list_repositories", r#"{"name": "nobody"}"#),
    ("index_status", r#"{"repository": "{repo}"}"#),
    ("index_status", r#"{"repository": "shop", "outcome": "skipped", "limit": 3, "offset": 1}"#),
    ("index_status", r#"{"repository": "{repo}", "outcome": "indexed"}"#),
    ("index_status", r#"{"repository": "{repo}", "path": "{path}"}"#),
    ("index_status", r#"{"repository": "{repo}", "path": "no/such/{file}"}"#),
    ("index_status", r#"{"path": "{path}"}"#),
    ("workflow_guide", "{}"),
    ("workflow_guide", r#"{"topic": "recovering"}"#),
    ("workflow_guide", r#"{"topic": "{symbol}"}"#),
    ("no_such_tool", "{}"),
    ("edit_code", r#"{"path": "{path}"}"#),
];
