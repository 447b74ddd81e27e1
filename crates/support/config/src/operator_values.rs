//! Reads the values of the operator's settings.

use std::path::PathBuf;

use cairn_inventory::GeneratedPolicy;

use crate::reader::{At, Reader};
use crate::secret::is_variable_name;
use crate::tree::{Node, Value};

pub(crate) fn path(reader: &mut Reader, at: &At<'_>) -> Option<PathBuf> {
    reader.text(at).map(PathBuf::from)
}

pub(crate) fn generated(reader: &mut Reader, at: &At<'_>) -> Option<GeneratedPolicy> {
    match reader.text(at)?.as_str() {
        "skip" => Some(GeneratedPolicy::Skip),
        "keep" => Some(GeneratedPolicy::KeepLowWeight),
        _ => {
            reader.fault(at, "expected `skip` or `keep`");
            None
        }
    }
}

/// A list of words. In the environment, commas separate the words.
pub(crate) fn words(reader: &mut Reader, at: &At<'_>) -> Vec<String> {
    let node = comma_separated(at);
    let at = At { key: at.key.clone(), line: at.line, node: node.as_ref().unwrap_or(at.node) };
    reader.texts(&at).into_iter().map(|(word, _)| word).collect()
}

/// The maximum number of entries in `search.synonyms`.
const MAX_SYNONYM_ENTRIES: usize = 1_000;

/// Reads synonyms. Each entry is a word and its synonyms, separated by spaces: `"billing invoice payment"`.
pub(crate) fn synonyms(reader: &mut Reader, at: &At<'_>) -> Vec<(String, Vec<String>)> {
    let entries = words(reader, at);
    if entries.len() > MAX_SYNONYM_ENTRIES {
        reader.fault(at, "has more than 1,000 entries");
        return Vec::new();
    }
    let mut found = Vec::new();
    for entry in entries {
        let mut words = entry.split_whitespace().map(str::to_lowercase);
        match (words.next(), words.collect::<Vec<String>>()) {
            (Some(word), synonyms) if !synonyms.is_empty() => found.push((word, synonyms)),
            _ => reader.fault(at, "each entry must be a word and its synonyms, separated by spaces"),
        }
    }
    found.sort();
    found
}

/// A list of globs. In the environment, commas separate the globs.
pub(crate) fn globs(reader: &mut Reader, at: &At<'_>) -> Vec<String> {
    match comma_separated(at) {
        Some(node) => reader.globs(&At { key: at.key.clone(), line: None, node: &node }),
        None => reader.globs(at),
    }
}

fn comma_separated(at: &At<'_>) -> Option<Node> {
    match &at.node.value {
        Value::Text(text) if at.node.line.is_none() => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Node::text).collect();
            Some(Node { line: None, value: Value::List(items) })
        }
        _ => None,
    }
}

/// Returns the form in which two places are compared, with the host in lower case.
fn place(text: &str) -> String {
    let (authority, path) = text.split_at(text.find('/').unwrap_or(text.len()));
    let (tenant, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    format!("{tenant}{}{path}", host.to_ascii_lowercase())
}

/// Reads the tokens. The form is `"git.example" = "VARIABLE"` in the file, and `git.example=VARIABLE,…` in
/// the environment.
pub(crate) fn tokens(reader: &mut Reader, at: &At<'_>) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    if let Some(Node { value: Value::List(items), .. }) = comma_separated(at) {
        for item in &items {
            let Value::Text(text) = &item.value else { continue };
            match text.split_once('=') {
                Some((host, variable)) => tokens.push((place(host), variable.to_owned())),
                None => reader.fault(at, "expected `host=VARIABLE`, separated by commas"),
            }
        }
    } else if let Value::Null | Value::Mapping(_) = &at.node.value {
        for (host, entry) in reader.entries(at) {
            match &entry.node.value {
                Value::Text(variable) => tokens.push((place(host), variable.clone())),
                // Neither the host nor the value is shown, because either may be the token.
                _ => reader.fault(at, "expected the name of a variable for each host"),
            }
        }
    } else {
        reader.fault(at, "expected a mapping of hosts to names of variables");
    }
    if tokens.iter().any(|(_, variable)| !is_variable_name(variable)) {
        // The value is not shown, because it may be a token that was written there by mistake.
        reader.fault(
            at,
            "tokens are given by the NAME of an environment variable (capitals, digits, `_`), never by value",
        );
    }
    tokens.sort();
    tokens
}
