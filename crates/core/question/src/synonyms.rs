//! Finds the words that may replace a word of a question. The sources are the table that ships with Cairn,
//! the configuration, and words that occur together in the code in scope.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Serialize;

/// A word, and the configured words that may replace it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SynonymEntry {
    pub word: String,
    pub synonyms: Vec<String>,
}

/// Two words that often occur together in names of the code in scope. Each of the two words may replace the
/// other word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnedPair {
    pub first: String,
    pub second: String,
}

/// The origin of a synonym.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SynonymSource {
    Configured,
    Shipped,
    Learned,
}

impl SynonymSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Shipped => "shipped",
            Self::Learned => "learned",
        }
    }
}

/// All synonyms that a question may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Synonyms<'a> {
    pub configured: &'a [SynonymEntry],
    pub learned: &'a [LearnedPair],
}

type Table = HashMap<&'static str, Vec<&'static str>>;

static SHIPPED: LazyLock<Table> = LazyLock::new(|| table(include_str!("../data/synonyms.txt")));

fn table(text: &'static str) -> Table {
    let mut table = Table::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(group) = line.strip_prefix('=') {
            let words: Vec<&str> = group.split_whitespace().collect();
            for word in &words {
                add(table.entry(word).or_default(), words.iter().filter(|other| *other != word));
            }
        } else if let Some((word, synonyms)) = line.split_once(':') {
            add(table.entry(word).or_default(), synonyms.split_whitespace().collect::<Vec<_>>().iter());
        }
    }
    table
}

fn add<'a>(known: &mut Vec<&'static str>, words: impl Iterator<Item = &'a &'static str>) {
    for word in words {
        if !known.contains(word) {
            known.push(word);
        }
    }
}

impl Synonyms<'_> {
    /// The synonyms of a word, best first: configured synonyms, then shipped synonyms, then learned synonyms.
    /// If a plural has no synonyms, the synonyms of its singular are returned.
    pub fn of(&self, word: &str) -> Vec<(String, SynonymSource)> {
        let word = word.to_lowercase();
        let found = self.of_exactly(&word);
        if !found.is_empty() {
            return found;
        }
        singulars(&word).map(|singular| self.of_exactly(&singular)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn of_exactly(&self, word: &str) -> Vec<(String, SynonymSource)> {
        let mut found: Vec<(String, SynonymSource)> = Vec::new();
        let mut add = |synonym: &str, source: SynonymSource| {
            let synonym = synonym.to_lowercase();
            if synonym != word && found.iter().all(|(known, _)| *known != synonym) {
                found.push((synonym, source));
            }
        };
        for entry in self.configured.iter().filter(|entry| entry.word.to_lowercase() == word) {
            entry.synonyms.iter().for_each(|synonym| add(synonym, SynonymSource::Configured));
        }
        for synonym in SHIPPED.get(word).into_iter().flatten() {
            add(synonym, SynonymSource::Shipped);
        }
        for pair in self.learned {
            if pair.first.to_lowercase() == word {
                add(&pair.second, SynonymSource::Learned);
            } else if pair.second.to_lowercase() == word {
                add(&pair.first, SynonymSource::Learned);
            }
        }
        found
    }
}

/// The possible singulars of a word that may be a plural.
pub(crate) fn singulars(word: &str) -> impl Iterator<Item = String> + '_ {
    let ies = word.strip_suffix("ies").map(|start| format!("{start}y"));
    let s = word.strip_suffix('s').filter(|start| start.len() > 2).map(str::to_owned);
    let es = word.strip_suffix("es").filter(|start| start.len() > 2).map(str::to_owned);
    [ies, s, es].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Synonyms that each of these words must have.
    const DOCUMENTED: &[(&str, &[&str])] = &[
        ("auth", &["authentication", "login", "session", "token", "credential", "credentials"]),
        ("authentication", &["auth", "login", "session", "token", "credentials"]),
        ("db", &["database", "mongo", "sql", "storage", "persistence"]),
        ("database", &["db", "mongo", "sql", "storage", "persistence"]),
        ("queue", &["message", "celery", "async", "kafka", "rabbit"]),
        ("kafka", &["queue", "message", "celery", "async"]),
        ("error", &["exception", "failure", "fault", "issue", "bug"]),
        ("test", &["spec", "unit", "integration", "mock", "testing", "unittest"]),
        ("config", &["configuration", "settings", "options", "env"]),
        ("http", &["request", "response", "api", "rest", "endpoint"]),
        ("api", &["endpoint", "rest", "http", "route", "handler"]),
        ("user", &["account", "profile", "member", "person"]),
        ("file", &["document", "blob", "storage", "upload"]),
        ("cache", &["redis", "memory", "store", "ttl"]),
        ("log", &["logging", "logger", "audit", "trace"]),
        ("timeout", &["expiry", "ttl", "deadline", "retry"]),
    ];

    fn words(found: &[(String, SynonymSource)]) -> Vec<&str> {
        found.iter().map(|(word, _)| word.as_str()).collect()
    }

    #[test]
    fn documented_synonyms_are_shipped() {
        let synonyms = Synonyms::default();
        for (word, expect) in DOCUMENTED {
            let found = synonyms.of(word);
            for synonym in *expect {
                assert!(words(&found).contains(synonym), "{word} has no synonym {synonym}");
            }
        }
    }

    #[test]
    fn table_has_many_groups_in_normal_form() {
        let text = include_str!("../data/synonyms.txt");
        let groups: Vec<&str> = text.lines().filter(|line| line.starts_with('=')).collect();
        assert!(groups.len() >= 60, "{} groups", groups.len());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert_eq!(line, line.to_lowercase());
            let words: Vec<&str> =
                line.trim_start_matches('=').split([' ', ':']).filter(|word| !word.is_empty()).collect();
            let mut distinct = words.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(words.len(), distinct.len(), "{line} repeats a word");
            assert!(words.is_empty() || words.len() > 1, "{line} has no synonym");
        }
    }

    #[test]
    fn configured_synonyms_come_first_and_learned_last() {
        let configured = [SynonymEntry { word: "DB".into(), synonyms: vec!["ledger".into(), "sql".into()] }];
        let learned = [
            LearnedPair { first: "postgres".into(), second: "db".into() },
            LearnedPair { first: "db".into(), second: "sql".into() },
        ];
        let found = Synonyms { configured: &configured, learned: &learned }.of("db");
        assert_eq!(found.first(), Some(&("ledger".to_owned(), SynonymSource::Configured)));
        assert_eq!(found.last(), Some(&("postgres".to_owned(), SynonymSource::Learned)));
        assert_eq!(words(&found).iter().filter(|word| **word == "sql").count(), 1);
    }

    #[test]
    fn plurals_have_synonyms_of_their_singular() {
        let synonyms = Synonyms::default();
        assert!(words(&synonyms.of("errors")).contains(&"exception"));
        assert!(words(&synonyms.of("Queries")).contains(&"sql"));
        assert!(words(&synonyms.of("classes")).contains(&"struct"));
        assert!(synonyms.of("zebra").is_empty());
    }
}
