//! A requested name. The values that a comparison needs are computed once and used for all names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::distance::Signature;
use crate::fold::{fold_words, folded};
use crate::lexicon::{Replacement, is_keyword, is_noise, replacements, replacements_of_misspelled, weight};
use crate::sound::sound_code;
use crate::spelling::plain_name;

/// Maximum number of words of a name that are compared. The limit is 16, because bit sets of words have 16
/// bits.
pub(crate) const MAX_WORDS: usize = 16;
/// Maximum number of characters of a requested name; the rest is cut off.
const MAX_CHARACTERS: usize = 200;

/// Keywords that refer to the surrounding definition or crate. These keywords are not used as owners.
const OWN: [&str; 6] = ["self", "Self", "this", "super", "cls", "crate"];

/// A requested name: `getUser`, `Server.run`, `server::Run()`, or a phrase such as "open the config file".
#[derive(Clone, Debug)]
pub struct WantedName {
    /// The owners before the last part, outermost first: `server` in `server.run`.
    pub(crate) owners: Vec<WantedName>,
    pub(crate) words: Vec<WantedWord>,
    /// All words except leading keywords, joined without spaces.
    pub(crate) flat: String,
    pub(crate) signature: Signature,
}

/// Two words, one of which abbreviates the other. The pair was learned from the searched code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnedAbbreviation {
    pub word: String,
    pub other: String,
}

/// One word of a requested name.
#[derive(Clone, Debug)]
pub(crate) struct WantedWord {
    pub(crate) text: String,
    pub(crate) num_characters: usize,
    pub(crate) signature: Signature,
    pub(crate) weight: u32,
    /// Whether the word only describes or links other words of a phrase. An optional word has its full weight
    /// only if a name contains the word.
    pub(crate) is_optional: bool,
    /// Whether the word is a keyword before a name, such as `def` in `def run`. A keyword matches only the
    /// same keyword.
    pub(crate) is_keyword: bool,
    pub(crate) sound: Option<u64>,
    pub(crate) replacements: Vec<(Cow<'static, str>, Replacement)>,
    /// The replacements of the words that the caller may have meant, if the word is misspelled.
    pub(crate) replacements_if_misspelled: Vec<(&'static str, Replacement)>,
}

impl WantedWord {
    fn new(text: &str, is_optional: bool) -> Self {
        Self {
            num_characters: text.chars().count(),
            signature: Signature::of(text.chars()),
            weight: weight(text),
            is_optional,
            is_keyword: false,
            sound: sound_code(text),
            replacements: replacements(text).into_iter().map(|(other, kind)| (other.into(), kind)).collect(),
            replacements_if_misspelled: replacements_of_misspelled(text),
            text: text.to_owned(),
        }
    }

    fn keyword(text: &str) -> Self {
        let (replacements, replacements_if_misspelled) = (Vec::new(), Vec::new());
        Self { is_keyword: true, sound: None, replacements, replacements_if_misspelled, ..Self::new(text, true) }
    }
}

impl WantedName {
    pub fn new(asked: &str) -> Self {
        let asked: String = asked.trim().chars().take(MAX_CHARACTERS).collect();
        let asked = plain_name(&asked);
        let asked = without_arguments(&asked);
        if asked.contains(char::is_whitespace) {
            return Self::of_part(asked, true);
        }
        let mut parts: Vec<&str> = parts(asked).collect();
        let Some(last) = parts.pop() else { return Self::of_part(asked, false) };
        let mut wanted = Self::of_part(last, false);
        parts.retain(|part| !OWN.contains(part));
        wanted.owners = parts.into_iter().map(|part| Self::of_part(part, false)).collect();
        wanted
    }

    /// Adds the abbreviations that were learned from the searched code to this requested name. Learned
    /// abbreviations have the same effect as the shipped abbreviations.
    #[must_use]
    pub fn with_abbreviations(mut self, learned: &[LearnedAbbreviation]) -> Self {
        self.owners = self.owners.into_iter().map(|owner| owner.with_abbreviations(learned)).collect();
        for word in self.words.iter_mut().filter(|word| !word.is_keyword) {
            for LearnedAbbreviation { word: known, other } in learned {
                let is_new = |other: &str| word.replacements.iter().all(|(replacement, _)| replacement != other);
                if *known == word.text && is_new(other) {
                    word.replacements.push((other.clone().into(), Replacement::Abbreviation));
                }
            }
        }
        self
    }

    /// The distinct words of the name and of its owners.
    pub fn word_texts(&self) -> BTreeSet<&str> {
        let own = self.words.iter().map(|word| word.text.as_str());
        own.chain(self.owners.iter().flat_map(Self::word_texts)).collect()
    }

    fn of_part(part: &str, is_phrase: bool) -> Self {
        let mut texts: Vec<String> = Vec::new();
        fold_words(part, |word| texts.push(word.to_owned()));
        texts.truncate(MAX_WORDS);
        let num_keywords = if is_phrase { keywords_before(&texts) } else { 0 };
        let is_optional = |word: &str| is_phrase && is_noise(word);
        let has_required = texts.iter().any(|word| !is_optional(word));
        // If a word was typed twice, the second occurrence is optional: it may be missing from a name.
        let is_repeated = |at: usize| at > 0 && texts[at - 1] == texts[at];
        let word = |(at, word): (usize, &String)| match at < num_keywords {
            true => WantedWord::keyword(word),
            false => WantedWord::new(word, has_required && is_optional(word) || is_repeated(at)),
        };
        let words = texts.iter().enumerate().map(word).collect();
        let flat = texts[num_keywords..].concat();
        Self { owners: Vec::new(), words, signature: Signature::of(flat.chars()), flat }
    }

    /// Splits the name: the last `num_words` words become the name, and the words before them become the
    /// owner. For example, `server_run` becomes `server.run`. `None` if the name or the owner would be empty,
    /// or if the name already has an owner.
    pub fn with_joined_owner(&self, num_words: usize) -> Option<Self> {
        let at = self.words.len().checked_sub(num_words).filter(|at| *at > 0 && num_words > 0)?;
        let (owner, name) = self.words.split_at(at);
        Some(Self { owners: vec![Self::of_words(owner)], ..Self::of_words(name) }).filter(|_| self.owners.is_empty())
    }

    fn of_words(words: &[WantedWord]) -> Self {
        let flat: String = words.iter().map(|word| word.text.as_str()).collect();
        Self { owners: Vec::new(), words: words.to_vec(), signature: Signature::of(flat.chars()), flat }
    }

    /// Whether the innermost owner of the name is `owner`, apart from case and style.
    pub fn has_owner(&self, owner: &str) -> bool {
        self.owners.last().is_some_and(|requested| folded(owner).replace(' ', "") == requested.flat)
    }

    /// Whether the requested name contains neither letters nor digits. No name is near such a requested name.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The number of words that are not optional.
    pub fn num_required_words(&self) -> usize {
        self.words.iter().filter(|word| !word.is_optional).count()
    }

    /// Whether the name has only one word that is not optional. No other word confirms a match of this word.
    pub(crate) fn has_one_word(&self) -> bool {
        self.num_required_words() == 1
    }

    pub fn has_owners(&self) -> bool {
        !self.owners.is_empty()
    }
}

/// The number of keywords before the name in a phrase: one in `def run`.
fn keywords_before(texts: &[String]) -> usize {
    texts.iter().take_while(|word| is_keyword(word)).count().min(texts.len().saturating_sub(1))
}

/// Removes the arguments: `run(a, b)` becomes `run`. A name that begins with a parenthesis is not changed.
fn without_arguments(asked: &str) -> &str {
    match asked.find(['(', '<']) {
        Some(at) if at > 0 => asked[..at].trim_end(),
        _ => asked,
    }
}

/// The parts of a qualified name. The separators are `::`, `.`, `#`, `->`, `/` and `\`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(['.', ':', '#', '/', '\\']).flat_map(|part| part.split("->"));
    parts.filter(|part| part.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_words_are_separated() {
        let check = |asked: &str, owners: &[&str], words: &[&str]| {
            let wanted = WantedName::new(asked);
            let texts = |wanted: &WantedName| wanted.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
            let found: Vec<String> = wanted.owners.iter().map(|owner| texts(owner).join(" ")).collect();
            assert_eq!(
                (found, texts(&wanted)),
                (owners.iter().map(ToString::to_string).collect(), { words.iter().map(ToString::to_string).collect() }),
                "{asked}"
            );
        };
        check("getUser", &[], &["get", "user"]);
        check("Server.run", &["server"], &["run"]);
        check("app::HttpServer::run(self)", &["app", "http server"], &["run"]);
        check("this->run()", &[], &["run"]);
        check("open the config file", &[], &["open", "the", "config", "file"]);
        check("Vec<String>", &[], &["vec"]);
        check("Vec<String>::push", &["vec"], &["push"]);
        check("(*HttpServer).Run", &["http server"], &["run"]);
        check("Shop.register/2", &["shop"], &["register"]);
        check("Account:deposit", &["account"], &["deposit"]);
        check("__", &[], &[]);
    }

    #[test]
    fn linking_words_of_phrases_are_optional() {
        let optional = |asked: &str| {
            let words = WantedName::new(asked).words.into_iter();
            words.filter(|word| word.is_optional).map(|word| word.text).collect::<Vec<_>>()
        };
        assert_eq!(optional("function that opens the file"), ["function", "that", "the"]);
        assert_eq!(optional("to_string"), [""; 0]);
        assert_eq!(optional("find the function"), [""; 0]);
        assert_eq!(optional("def run_all"), ["def"]);
        assert_eq!(optional("def"), [""; 0]);
        assert_eq!(optional("userUserName"), ["user"]);
    }
}
