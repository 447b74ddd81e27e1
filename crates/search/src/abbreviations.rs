//! Finds words with the same meaning as a keyword: abbreviations and long forms such as `db` and `database`,
//! other spellings such as `tokenise` and `tokenize`, and the synonyms that the operator configured.
//!
//! A chunk that contains a word with the same meaning as a keyword counts as a chunk that contains the
//! keyword. The synonyms that ship with Cairn are not included, because they may have a different meaning.

use cairn_name_match::other_spellings;
use cairn_question::{SynonymEntry, SynonymSource, Synonyms};
use cairn_ranking::is_abbreviation;

/// Maximum number of configured synonyms of a word.
const MAX_CONFIGURED: usize = 3;

/// The additional words whose counts a question needs: the words with the same meanings as its keywords.
pub(crate) fn other_words(keywords: &[String], configured: &[SynonymEntry]) -> String {
    keywords.iter().flat_map(|word| other_words_of(word, configured)).collect::<Vec<_>>().join(" ")
}

pub(crate) fn other_words_of(word: &str, configured: &[SynonymEntry]) -> Vec<String> {
    let all = Synonyms { configured, learned: &[] }.of(word);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, source)| *source == SynonymSource::Configured);
    let own = own.into_iter().take(MAX_CONFIGURED);
    let abbreviations = others.into_iter().filter(|(synonym, _)| is_abbreviation(word, synonym));
    own.chain(abbreviations).map(|(word, _)| word).chain(other_spellings(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_of_keywords_are_counted() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
        assert!(other_words(&words(&["database", "parser"]), &[]).split(' ').any(|word| word == "db"));
        assert_eq!(other_words(&words(&["kafka"]), &[]), "");
        assert_eq!(other_words(&words(&["tokenise"]), &[]), "tokenize");
    }

    #[test]
    fn configured_synonyms_are_counted() {
        let configured = [SynonymEntry { word: "kafka".to_owned(), synonyms: vec!["bus".to_owned()] }];
        assert_eq!(other_words_of("kafka", &configured), ["bus"]);
    }
}
