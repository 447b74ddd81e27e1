//! Workflow patterns: the documents of `docs/guides`, as a tool.

use cairn_search::{QueryError, QueryErrorCode};
use serde_json::{Value, json};

use super::answer::{Answer, Answered};
use super::arguments::Arguments;

/// Topics in the order in which they are listed.
pub(crate) const TOPICS: &[&str] = &[
    "finding_files",
    "finding_symbols",
    "understanding_a_flow",
    "following_patterns",
    "changing_code",
    "keeping_up_to_date",
    "recovering",
];

/// The document of a topic.
pub(crate) fn document(topic: &str) -> Option<&'static str> {
    Some(match topic {
        "finding_files" => include_str!("../../../../docs/guides/finding-files.md"),
        "finding_symbols" => include_str!("../../../../docs/guides/finding-symbols.md"),
        "understanding_a_flow" => include_str!("../../../../docs/guides/understanding-a-flow.md"),
        "following_patterns" => include_str!("../../../../docs/guides/following-patterns.md"),
        "changing_code" => include_str!("../../../../docs/guides/changing-code.md"),
        "keeping_up_to_date" => include_str!("../../../../docs/guides/keeping-up-to-date.md"),
        "recovering" => include_str!("../../../../docs/guides/recovering.md"),
        _ => return None,
    })
}

/// The first line of a document, without its mark.
pub(crate) fn title(document: &str) -> &str {
    document.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

pub(super) fn workflow_guide(arguments: &Arguments) -> Answered {
    let json = answer(arguments.text("topic"))?;
    let text = json["text"].as_str().unwrap_or_default().to_owned();
    Ok(Answer::new(text, json, 1))
}

/// The document of a topic; without one, what topics there are.
pub(crate) fn answer(topic: Option<&str>) -> Result<Value, QueryError> {
    let text = match topic.map(document) {
        None => overview(),
        Some(Some(document)) => document.trim_end().to_owned(),
        Some(None) => {
            let message = format!("there is no such topic; there are {}", TOPICS.join(", "));
            return Err(QueryError::new(QueryErrorCode::ValidationError, message));
        }
    };
    Ok(json!({ "topic": topic, "topics": TOPICS, "text": text }))
}

fn overview() -> String {
    let mut text = String::from("Topics (workflow_guide {\"topic\":\"…\"}):\n");
    for topic in TOPICS {
        text.push_str(&format!("- {topic}: {}\n", document(topic).map(title).unwrap_or_default()));
    }
    text.push_str(
        "In short: search_code with words or a name; read_code for the whole of a result; analyze_relationship before a \
         change; index_repository with changed_files after it. Errors and empty answers say the call to make next.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools::ToolSpec;

    /// The calls in the code spans and blocks of a text: `tool {…}`.
    fn calls(text: &str) -> Vec<(&'static ToolSpec, Value)> {
        let mut calls = Vec::new();
        for (at, _) in text.match_indices(" {\"") {
            let word = text[..at].rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
            let tool = ToolSpec::find(word).unwrap_or_else(|| panic!("`{word}` is no tool"));
            let mut values = serde_json::Deserializer::from_str(&text[at + 1..]).into_iter::<Value>();
            calls.push((tool, values.next().expect("a value").expect("JSON")));
        }
        calls
    }

    #[test]
    fn every_call_of_every_document_is_valid() {
        for topic in TOPICS {
            let document = document(topic).expect("a document");
            assert!(document.starts_with("# ") && !title(document).is_empty(), "{topic}");
            let calls = calls(document);
            assert!(!calls.is_empty(), "{topic} shows no call");
            for (tool, arguments) in calls {
                let Value::Object(arguments) = arguments else { panic!("{topic}: {arguments}") };
                let read = Arguments::read(tool, arguments);
                assert!(read.is_ok(), "{topic}: {}", read.expect_err("a fault").error.message);
            }
        }
    }

    #[test]
    fn documents_are_short() {
        for topic in TOPICS {
            let num_tokens = cairn_ranking::estimate_tokens(document(topic).expect("a document"));
            assert!(num_tokens <= 600, "{topic}: {num_tokens} tokens");
        }
    }
}
