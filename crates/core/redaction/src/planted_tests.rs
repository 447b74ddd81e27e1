//! Inserts secrets into code, comments, documents, notebooks and settings, in the forms that people use, and
//! checks that all of them are redacted. The formats of the secrets are public, and the formats in these
//! tests were written independently of the rules.
//!
//! `«kind»` in a template is replaced by a value that is generated at run time, so no file of this project
//! contains a secret. Every such value must be redacted.

use crate::planted_code::CODE;
use crate::planted_documents::DOCUMENTS;
use crate::planted_settings::SETTINGS;
use crate::planted_tokens::TOKENS;
use crate::synthesis::{Dice, Fill, fill};
use crate::{Redactor, SecretsIgnore};

/// Templates of texts around a token. `§` is replaced by the token.
const PLACES: &[(&str, &str)] = &[
    ("alone", "§\n"),
    ("python", "def connect():\n    x = call(\"§\")\n    return x\n"),
    ("single quotes", "const x = f('§');\n"),
    ("line comment", "fn f() {}\n// was: § (old)\n"),
    ("hash comment", "x = 1  # §\n"),
    ("block comment", "/**\n * Use §\n */\nint x;\n"),
    ("prose", "Ask Bob, or use § until Friday.\n"),
    ("code span", "Call it with `§` first.\n"),
    ("table", "| what | value |\n|---|---|\n| prod | § |\n"),
    ("fence", "# Set-up\n\n```sh\n§\n```\n"),
    ("list", "- § \n- other\n"),
    ("json", "{\"a\": [1, {\"b\": \"§\"}]}\n"),
    ("yaml", "steps:\n  - run: §\n"),
    ("notebook source", NOTEBOOK_SOURCE),
    ("notebook output", NOTEBOOK_OUTPUT),
    ("notebook result", NOTEBOOK_RESULT),
    ("notebook markdown", NOTEBOOK_MARKDOWN),
    ("html", "<p class=\"x\">§</p>\n"),
];

const NOTEBOOK_SOURCE: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 1,\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"import x\\n\",\n    \"§\\n\",\n    \"x.go()\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
const NOTEBOOK_OUTPUT: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 1,\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"connected\\n\",\n      \"§\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"go()\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
const NOTEBOOK_RESULT: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 2,\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"data\": {\n      \"text/plain\": [\n       \"'§'\"\n      ]\n     },\n     \"execution_count\": 2,\n     \"metadata\": {},\n     \"output_type\": \"execute_result\"\n    }\n   ],\n   \"source\": [\n    \"value\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
const NOTEBOOK_MARKDOWN: &str = "{\"cells\": [{\"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"# Access\\n\", \"\\n\", \"Use § here.\\n\"]}], \"nbformat\": 4}\n";

fn redactor() -> Redactor {
    Redactor::new(&SecretsIgnore::default()).expect("no patterns")
}

/// The inserted values that were not redacted, each as a message that begins with the label of its text.
fn survivors(label: &str, template: &str, seed: u64) -> Vec<String> {
    let (text, values) = fill(template, &mut Dice::new(seed), Fill::Random);
    let redacted = redactor().redact(&text);
    assert_eq!(redacted.text.lines().count(), text.lines().count(), "{label}");
    let left = values.iter().filter(|value| redacted.text.contains(value.as_str()));
    left.map(|value| format!("{label}: {value} in {}", line_of(&redacted.text, value))).collect()
}

fn line_of<'text>(text: &'text str, value: &str) -> &'text str {
    let first = value.lines().next().unwrap_or_default();
    text.lines().find(|line| line.contains(first)).unwrap_or_default()
}

#[test]
fn planted_tokens_are_redacted_in_every_place() {
    let mut left = Vec::new();
    for (number, (label, token)) in TOKENS.iter().enumerate() {
        for (place, template) in PLACES {
            let escaped = if place.starts_with("notebook") || *place == "json" {
                token.replace('\\', "\\\\").replace('"', "\\\"")
            } else {
                (*token).to_owned()
            };
            let text = template.replace('§', &escaped);
            left.extend(survivors(&format!("{label} / {place}"), &text, number as u64));
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

#[test]
fn planted_secrets_are_redacted() {
    let mut left = Vec::new();
    for (number, (label, template)) in [SETTINGS, CODE, DOCUMENTS].into_iter().flatten().enumerate() {
        for seed in 0..5 {
            left.extend(survivors(label, template, seed * 1000 + number as u64));
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}
