//! Prompts for common tasks. A prompt contains the task, the subject that the caller gives, and a document of
//! the guide.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::guide::document;

struct PromptSpec {
    name: &'static str,
    description: &'static str,
    /// Describes the argument `subject`.
    subject: &'static str,
    /// The text of the prompt before the subject.
    task: &'static str,
    topic: &'static str,
}

const PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "find_code",
        description: "Find the code that does something",
        subject: "what the code does, or its name",
        task: "Find the code for this, and show path and lines:",
        topic: "finding_symbols",
    },
    PromptSpec {
        name: "explain_flow",
        description: "Explain how something works from start to end",
        subject: "the feature or flow",
        task: "Explain how this works, step by step, with path and line of each step:",
        topic: "understanding_a_flow",
    },
    PromptSpec {
        name: "assess_change",
        description: "Find the code that a change would affect",
        subject: "the symbol or file to be changed",
        task: "List everything that a change of this would affect:",
        topic: "changing_code",
    },
    PromptSpec {
        name: "follow_pattern",
        description: "Write new code in the usual style of this code base",
        subject: "what is to be written",
        task: "Find out how code of this kind is usually written here, then outline new code of this kind:",
        topic: "following_patterns",
    },
];

pub(super) fn list() -> Vec<Prompt> {
    let subject = |spec: &PromptSpec| PromptArgument::new("subject").with_description(spec.subject).with_required(true);
    PROMPTS.iter().map(|spec| Prompt::new(spec.name, Some(spec.description), Some(vec![subject(spec)]))).collect()
}

pub(super) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let Some(spec) = PROMPTS.iter().find(|spec| spec.name == name) else {
        let names: Vec<&str> = PROMPTS.iter().map(|spec| spec.name).collect();
        return Err(ErrorData::invalid_params(
            format!("the prompt `{name}` does not exist; the prompts are {}", names.join(", ")),
            None,
        ));
    };
    let Some(subject) = arguments.get("subject").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) else {
        return Err(ErrorData::invalid_params(format!("`subject` is missing: {}", spec.subject), None));
    };
    let text = format!("{} {subject}\n\n{}", spec.task, document(spec.topic).unwrap_or_default());
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(spec.description))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_prompt_has_its_subject_and_document() {
        for prompt in list() {
            let Value::Object(arguments) = json!({"subject": "parse dates"}) else { panic!("an object") };
            let got = get(&prompt.name, &arguments).expect("a prompt");
            let text = serde_json::to_string(&got).expect("JSON");
            assert!(text.contains("parse dates") && text.contains("search_code"), "{text}");
            let refused = get(&prompt.name, &JsonObject::new()).expect_err("no subject");
            assert!(refused.message.contains("`subject` is missing"), "{}", refused.message);
        }
        assert!(get("nonsense", &JsonObject::new()).is_err());
    }
}
