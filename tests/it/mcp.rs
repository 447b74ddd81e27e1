//! Runs `cairn mcp` and calls its tools as an agent does, with one JSON message per line.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A `cairn mcp` process with an open session.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

/// The result of a tool call, and the progress notifications that arrived before it.
pub(crate) struct Called {
    pub(crate) result: Value,
    pub(crate) progress: Vec<Value>,
}

impl Called {
    /// The text of the answer.
    pub(crate) fn text(&self) -> &str {
        self.result["content"][0]["text"].as_str().expect("a text")
    }

    pub(crate) fn structured(&self) -> &Value {
        &self.result["structuredContent"]
    }

    pub(crate) fn notice(&self) -> &str {
        self.structured()["notice"].as_str().unwrap_or_default()
    }
}

impl Session {
    /// Starts the program with this command, and opens the session.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut session = Self { child, input, output, last_id: 0 };
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client });
        session.request("initialize", &hello).expect("the session opens");
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    /// Calls a tool. The call must return a result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Called {
        self.try_call(tool, arguments).expect("a result")
    }

    /// Calls a tool with a token for progress notifications. None if the process ends before the answer.
    pub(crate) fn try_call(&mut self, tool: &str, arguments: &Value) -> Option<Called> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "of-this-call" } });
        self.request("tools/call", &params)
    }

    fn request(&mut self, method: &str, params: &Value) -> Option<Called> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut progress = Vec::new();
        loop {
            let line = self.output.next()?.expect("UTF-8");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["method"] == "notifications/progress" {
                assert_eq!(message["params"]["progressToken"], "of-this-call");
                progress.push(message["params"].clone());
            } else if message["id"] == id {
                assert_eq!(message["error"], Value::Null, "{method}");
                return Some(Called { result: message["result"].clone(), progress });
            }
        }
    }

    fn send(&mut self, message: &Value) {
        // The error is ignored: if the process has ended, the missing answer reveals this.
        let _ = writeln!(self.input, "{message}");
    }

    /// Closes the session and waits for the end of the process.
    pub(crate) fn end(self) {
        let Self { mut child, input, output, .. } = self;
        drop(input);
        output.for_each(drop);
        child.wait().expect("it ends");
    }
}
