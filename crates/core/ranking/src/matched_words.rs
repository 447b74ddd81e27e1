//! Selects the words of a question that are compared with the words of chunks.

use std::cmp::Reverse;

use crate::is_stop_word;
use crate::query_words::{QUESTION_WORDS, distinct_words};

/// Words that are frequent in questions about behaviour, but do not describe it.
const FILLER_WORDS: &str = "\
    across actually after again against along already also always am among another anything around away \
    back because been before behind being between but came come comes could did done down during each else \
    even ever every everything exactly first gets go goes gone got had happen happened happens having he \
    her here him his instead just keep keeps kept kind last let long made make makes many may might more \
    most much must never next no nothing off often once one only other others out over own part \
    place put puts rather really rest same she should so somebody someone something sometimes sort still \
    such take taken takes their them these they thing things those though through together too took \
    turn turned turns twice two under until up very way went were whether while whole within without would \
    yes yet";

/// Maximum number of words of a question that are compared.
const MAX_WORDS: usize = 16;
/// Number of words that are compared if a question has only filler words.
const NUM_OF_FILLER: usize = 5;

/// The words of a question that are compared with the words of chunks: all words of the question except stop
/// words, question words and filler words, in order. If no word remains, the first five words of the
/// question. If too many words remain, the rarest ones. `rarity` returns a higher value for a rarer word.
pub(crate) fn matched_words(question: &str, rarity: impl Fn(&str) -> u32) -> Vec<String> {
    let is_filler = |word: &str| {
        is_stop_word(word)
            || QUESTION_WORDS.binary_search(&word).is_ok()
            || FILLER_WORDS.split_ascii_whitespace().any(|filler| filler == word)
    };
    let mut found = distinct_words(question, |word| word.is_ascii() && !is_filler(word));
    if found.is_empty() {
        found = distinct_words(question, str::is_ascii);
        found.truncate(NUM_OF_FILLER);
    }
    if found.len() > MAX_WORDS {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_cached_key(|index| (Reverse(rarity(&found[*index])), *index));
        order.truncate(MAX_WORDS);
        order.sort_unstable();
        found = order.into_iter().map(|index| std::mem::take(&mut found[index])).collect();
    }
    found
}

/// Whether the meaning of a question can be compared word by word: it contains ASCII words, and most of its
/// letters are ASCII letters. The table of words contains no words of other scripts.
pub fn is_comparable(question: &str) -> bool {
    let letters = question.chars().filter(|character| character.is_alphabetic());
    let (num_ascii, num_others) = letters.fold((0, 0), |(ascii, others), letter| match letter.is_ascii() {
        true => (ascii + 1, others),
        false => (ascii, others + 1),
    });
    num_ascii > num_others && !distinct_words(question, str::is_ascii).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_in_other_scripts_are_not_comparable() {
        let check = |question: &str, expect: bool| assert_eq!(is_comparable(question), expect, "{question}");
        check("where is the signature of a token checked", true);
        check("größe of a file", true);
        check("где проверяется подпись токена доступа", false);
        check("где validate проверяет подпись токена", false);
        check("令牌签名在哪里验证", false);
        check("1 + 2", false);
        check("", false);
    }

    #[test]
    fn filler_words_are_not_compared() {
        let check = |question: &str, expect: &[&str]| {
            assert_eq!(matched_words(question, |word| word.len() as u32), expect, "{question}");
        };
        check("once chains get too long the number of slots is doubled", &["chains", "number", "slots", "doubled"]);
        check("what happens when openFile fails", &["open", "file", "fails"]);
        check("what happens then", &["what", "happens", "then"]);
        check("größe of a file", &["file"]);
        let long: Vec<String> = (1..=20).map(|length| "x".repeat(length)).collect();
        let longest: Vec<&str> = long[4..].iter().map(String::as_str).collect();
        check(&long.join(" "), &longest);
    }
}
