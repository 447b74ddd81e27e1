//! Compares the types and intents of labelled questions with the results of the rules.

use cairn_question::{Intent, ParseOptions, ParsedQuery, QueryType};

struct Labelled {
    question: &'static str,
    query_type: QueryType,
    intent: Intent,
}

const LABELLED: &str = include_str!("questions/labelled.txt");
const INDEPENDENT: &str = include_str!("questions/independent.txt");

fn rows_of(text: &'static str) -> Vec<Labelled> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            row(line).unwrap_or_else(|| panic!("the line does not have the form `TYPE | INTENT | QUESTION`: {line}"))
        })
        .collect()
}

fn row(line: &'static str) -> Option<Labelled> {
    let mut parts = line.splitn(3, " | ");
    let query_type = QueryType::from_name(parts.next()?)?;
    let intent = Intent::from_name(parts.next()?)?;
    Some(Labelled { question: parts.next()?, query_type, intent })
}

#[test]
fn labelled_questions_have_their_type_and_intent() {
    let rows = rows_of(LABELLED);
    assert!(rows.len() >= 250, "there are only {} labelled questions", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let parsed = ParsedQuery::new(row.question, ParseOptions::default());
        if parsed.query_type != row.query_type {
            wrong.push(format!(
                "type {} instead of {}: {} ({})",
                parsed.query_type, row.query_type, row.question, parsed.reason
            ));
        }
        if parsed.intent != row.intent {
            wrong.push(format!(
                "intent {} instead of {}: {}",
                parsed.intent.as_str(),
                row.intent.as_str(),
                row.question
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} labels are wrong:\n{}", wrong.len(), 2 * rows.len(), wrong.join("\n"));
}

/// Questions by another author: at least 95 % of the types and 95 % of the intents are right.
#[test]
fn independent_questions_have_their_type_and_intent() {
    let rows = rows_of(INDEPENDENT);
    assert!(rows.len() >= 600, "there are only {} independent questions", rows.len());
    let parsed = |row: &Labelled| ParsedQuery::new(row.question, ParseOptions::default());
    let num_types = rows.iter().filter(|row| parsed(row).query_type == row.query_type).count();
    let num_intents = rows.iter().filter(|row| parsed(row).intent == row.intent).count();
    println!("{num_types} types and {num_intents} intents of {} questions are right", rows.len());
    assert!(100 * num_types.min(num_intents) >= 95 * rows.len(), "{num_types} types, {num_intents} intents");
}

#[test]
fn every_type_and_intent_has_questions() {
    let rows = rows_of(LABELLED);
    for query_type in QueryType::ALL {
        let count = rows.iter().filter(|row| row.query_type == query_type).count();
        assert!(count >= 30, "the type {query_type} has only {count} questions");
    }
    for intent in Intent::ALL {
        let count = rows.iter().filter(|row| row.intent == intent).count();
        assert!(count >= 3, "the intent {} has only {count} questions", intent.as_str());
    }
}
