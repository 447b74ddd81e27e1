//! Workflow guides: the documents of `docs/guides`.

use cairn_redaction::Own;
use cairn_search::{QueryError, QueryErrorCode};

use crate::answers::GuideText;

/// All topics, in the order in which they are listed.
pub(crate) const TOPICS: &[&str] = &[
    "quick_reference",
    "finding_files",
    "finding_symbols",
    "understanding_a_flow",
    "following_patterns",
    "changing_code",
    "keeping_up_to_date",
    "recovering",
];

const QUICK_REFERENCE: &str = include_str!("../../../docs/guides/quick-reference.md");

/// The document of a topic.
pub(crate) fn document(topic: &str) -> Option<&'static str> {
    Some(match topic {
        "quick_reference" => QUICK_REFERENCE,
        "finding_files" => include_str!("../../../docs/guides/finding-files.md"),
        "finding_symbols" => include_str!("../../../docs/guides/finding-symbols.md"),
        "understanding_a_flow" => include_str!("../../../docs/guides/understanding-a-flow.md"),
        "following_patterns" => include_str!("../../../docs/guides/following-patterns.md"),
        "changing_code" => include_str!("../../../docs/guides/changing-code.md"),
        "keeping_up_to_date" => include_str!("../../../docs/guides/keeping-up-to-date.md"),
        "recovering" => include_str!("../../../docs/guides/recovering.md"),
        _ => return None,
    })
}

/// The first line of a document, without the heading mark `#`.
pub(crate) fn title(document: &str) -> &str {
    document.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

/// The document of the topic, or the list of all topics if no topic is given.
pub(crate) fn answer(topic: Option<&str>) -> Result<GuideText, QueryError> {
    let text = match topic.map(document) {
        None => overview(),
        Some(Some(document)) => document.trim_end().to_owned(),
        Some(None) => {
            let message = Own(format!("the topic does not exist; topics are {}", TOPICS.join(", ")));
            return Err(QueryError::new(QueryErrorCode::ValidationError, message));
        }
    };
    let topics = TOPICS.iter().map(|topic| (*topic).to_owned()).collect();
    Ok(GuideText { topic: topic.map(str::to_owned), topics, text })
}

/// The quick reference, and all topics.
fn overview() -> String {
    let mut text = format!("{QUICK_REFERENCE}\nTopics (workflow_guide {{\"topic\":\"…\"}}):\n");
    for topic in TOPICS {
        text.push_str(&format!("- {topic}: {}\n", document(topic).map(title).unwrap_or_default()));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_short() {
        for topic in TOPICS {
            let num_tokens = cairn_ranking::estimate_tokens(document(topic).expect("a document"));
            assert!(num_tokens <= 650, "{topic}: {num_tokens} tokens");
        }
    }

    #[test]
    fn overview_contains_table_common_mistakes_and_recovery_steps() {
        let text = answer(None).expect("an overview").text;
        let rows = text.lines().filter(|line| line.starts_with("| ")).count();
        assert!(rows > 10, "{text}");
        for part in ["Common mistakes", "Recovery", "try:", "target_type\":\"filename"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for topic in TOPICS {
            assert!(text.contains(topic), "{topic}: {text}");
        }
    }
}
