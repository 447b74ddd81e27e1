//! Converts the guides for users of the command line. The guides show calls of tools, which are not commands,
//! so the calls are replaced by commands.

use cairn_gateway::mcp::question_of_call;
use cairn_gateway::questions::{CancelQuestion, Question};
use serde_json::{Deserializer, Map, Value};

use super::command_line::{command_line, quoted};

/// Names of arguments and tools in the guides, each with its equivalent on the command line.
const NAMES: &[(&str, &str)] = &[
    ("`target_type`", "`--type`"),
    ("`kind`", "`--kind`"),
    ("`limit`", "`--limit`"),
    ("`max_tokens`", "`--max-tokens`"),
    ("`start_line`", "`PATH:FIRST-LAST`"),
    ("set `mode`", "use `cairn grep`"),
    ("`mode`", "`cairn grep`"),
    ("set `path` to a folder", "set `--path` to a folder"),
    ("Set `path` to select one of\n   them. Every tool also accepts", "To select one of\n   them, the commands accept"),
    ("`context_path`", "`--context-path`"),
    ("set `repository`", "set `--repo`"),
    ("`read_code`", "`cairn show`"),
    ("`symbol`", "the name of a symbol"),
];

/// The text, with each call of a tool replaced by a command. `given` contains the words of the command line
/// of this process.
pub(crate) fn with_commands(text: &str, given: &[String]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(call) = next_call(rest) {
        let (before, shown) = (&rest[..call.start], &rest[call.start..call.end]);
        out.push_str(before);
        let command = command_of(&call.tool, call.arguments, given);
        out.push_str(command.as_deref().unwrap_or(shown));
        rest = &rest[call.end..];
    }
    out.push_str(rest);
    NAMES.iter().fold(out, |text, (name, words)| text.replace(name, words))
}

/// A call in a text: `tool {arguments}`.
struct ShownCall {
    start: usize,
    end: usize,
    tool: String,
    arguments: Map<String, Value>,
}

fn next_call(text: &str) -> Option<ShownCall> {
    text.match_indices(" {").find_map(|(at, _)| {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let tool = text[..at].rsplit(|c| !is_of_name(c)).next().filter(|tool| !tool.is_empty())?;
        let mut values = Deserializer::from_str(&text[at + 1..]).into_iter::<Value>();
        let Some(Ok(Value::Object(arguments))) = values.next() else { return None };
        let end = at + 1 + values.byte_offset();
        Some(ShownCall { start: at - tool.len(), end, tool: tool.to_owned(), arguments })
    })
}

/// The command that has the same effect as a call of a tool.
fn command_of(tool: &str, mut arguments: Map<String, Value>, given: &[String]) -> Option<String> {
    let program = given.first().map_or("cairn", String::as_str);
    let changed = arguments.remove("changed_files");
    if let Some(files) = changed.as_ref().and_then(Value::as_array) {
        let commands = files.iter().filter_map(Value::as_str);
        let commands = commands.map(|file| format!("{} invalidate {}", quoted(program), quoted(file)));
        return Some(commands.collect::<Vec<_>>().join("; "));
    }
    let question = match arguments.get("cancel_run").and_then(Value::as_str) {
        Some(id) => Question::Cancel(CancelQuestion { repository: None, run_id: Some(id.to_owned()) }),
        None => question_of_call(tool, arguments)?,
    };
    command_line(&question, given.iter().cloned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Arguments;

    fn given() -> Vec<String> {
        vec!["cairn".to_owned(), "guide".to_owned()]
    }

    #[test]
    fn calls_become_commands() {
        let check = |text: &str, expect: &str| assert_eq!(with_commands(text, &given()), expect);
        check(
            r#"`search_code {"query":"config.json","target_type":"filename"}`"#,
            "`cairn search --target-type=filename config.json`",
        );
        check(r#"`search_code {"query":"a b","mode":"text","path":["src"]}`"#, "`cairn grep -F --path=src 'a b'`");
        check(r#"`read_code {"path":"a.py","start_line":1,"end_line":80}`"#, "`cairn show a.py:1-80`");
        check(r#"`analyze_relationship {"target":"f","mode":"callers"}`"#, "`cairn graph callers f`");
        check(
            r#"`index_repository {"changed_files":["a.py","b.py"]}`"#,
            "`cairn invalidate a.py; cairn invalidate b.py`",
        );
        check(r#"`index_repository {"cancel_run":"r1"}`"#, "`cairn runs cancel --run=r1`");
        check("`list_repositories {}`, then", "`cairn repos`, then");
        check("Set `target_type` to `filename`.", "Set `--type` to `filename`.");
        check("a text, set `mode`. Not with `mode`.", "a text, use `cairn grep`. Not with `cairn grep`.");
        check("set `repository` to its name (`context_path`)", "set `--repo` to its name (`--context-path`)");
        check("no call {x} and { y", "no call {x} and { y");
    }

    /// Checks that every command in a guide can be parsed.
    #[test]
    fn guides_of_the_command_line_contain_no_calls() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides");
        let mut num_commands = 0;
        for entry in std::fs::read_dir(folder).expect("the guides").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a guide");
            let shown = with_commands(&text, &given());
            assert!(next_call(&shown).is_none() && !shown.contains("_code"), "{shown}");
            for argument in ["set `cairn", "`mode`", "`path`", "`repository`", "`context_path`", "Every tool"] {
                assert!(!shown.contains(argument), "{argument}: {shown}");
            }
            for span in shown.split('`').skip(1).step_by(2).flat_map(|span| span.split("; ")) {
                if !span.starts_with("cairn ") || span == "cairn grep" {
                    continue;
                }
                let words = shlex(span);
                let read = Arguments::try_parse_from(&words);
                assert!(read.is_ok(), "{span}: {}", read.expect_err("a fault"));
                num_commands += 1;
            }
        }
        assert!(num_commands > 40, "{num_commands} commands");
    }

    /// Splits a command into words and removes the quotes.
    fn shlex(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }
}
