//! Calls tools of `cairn mcp` as an agent does, with one JSON message per line.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::Index;

/// Makes the tool calls, and returns the answers in the order of the calls.
pub(crate) fn answers(index: &Index, calls: &[(&str, Value)]) -> String {
    let mut command = index.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut ask = |message: Value, is_answered: bool| {
        writeln!(input, "{message}").expect("it listens");
        let answer = is_answered.then(|| output.next().expect("an answer").expect("UTF-8"));
        answer.unwrap_or_default()
    };
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client });
    let mut reported = ask(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }), true);
    ask(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), false);
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let (method, params) = if tool.starts_with("cairn://") {
            ("resources/read", json!({ "uri": tool }))
        } else {
            ("tools/call", json!({ "name": tool, "arguments": arguments }))
        };
        let message = json!({ "jsonrpc": "2.0", "id": number + 1, "method": method, "params": params });
        reported.push_str(&ask(message, true));
        reported.push('\n');
    }
    drop(input);
    child.wait().expect("it ends");
    reported
}
