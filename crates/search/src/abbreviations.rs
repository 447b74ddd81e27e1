//! Abbreviations and long forms of words: `db` and `database`.

use cairn_question::Synonyms;
use cairn_ranking::is_abbreviation;

/// The words beside a question whose counts are needed: abbreviations and long forms of its keywords.
pub(crate) fn abbreviations(keywords: &[String]) -> String {
    keywords.iter().flat_map(|word| abbreviations_of(word)).collect::<Vec<_>>().join(" ")
}

pub(crate) fn abbreviations_of(word: &str) -> Vec<String> {
    let synonyms = Synonyms::default().of(word).into_iter().map(|(synonym, _)| synonym);
    synonyms.filter(|synonym| is_abbreviation(word, synonym)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_of_keywords_are_counted() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
        assert!(abbreviations(&words(&["database", "parser"])).split(' ').any(|word| word == "db"));
        assert_eq!(abbreviations(&words(&["kafka"])), "");
    }
}
