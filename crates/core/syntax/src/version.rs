//! The version of the parser for each language. The version is part of every facts key.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cairn_domain::Digester;
use cairn_languages::languages;

use crate::chunker::CHUNKER_VERSION;
use crate::engine::ENGINE_VERSION;

/// A digest of everything that determines the facts of a file in this language. The digest covers the grammar
/// and its version, the query file, the row of the table, the engine and the chunker. The digest has 64
/// hexadecimal digits. All unknown languages have the same digest.
pub fn tool_version(language: &str) -> &'static str {
    // The debug output of a row contains the name and version of the grammar, the text of the query, and the
    // rules of the table.
    static VERSIONS: LazyLock<BTreeMap<&str, String>> =
        LazyLock::new(|| languages().iter().map(|row| (row.name, version_of(&format!("{row:?}")))).collect());
    static UNKNOWN: LazyLock<String> = LazyLock::new(|| digester().digest().to_string());
    VERSIONS.get(language).unwrap_or(&UNKNOWN)
}

fn version_of(row: &str) -> String {
    digester().text(row).digest().to_string()
}

fn digester() -> Digester {
    Digester::new("syntax-tools").number(ENGINE_VERSION).number(u64::from(CHUNKER_VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_versions_of_their_own() {
        let mut versions: Vec<&str> = languages().iter().map(|row| tool_version(row.name)).collect();
        versions.sort_unstable();
        versions.dedup();
        assert_eq!(versions.len(), languages().len());
        assert_eq!(tool_version("python"), tool_version("python"));
    }
}
