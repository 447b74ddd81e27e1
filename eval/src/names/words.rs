//! Generates errors in the words of a name: different words, a different order, different endings.

use super::letters::typo;
use super::random::Random;
use super::tables::{DIGITS, PREFIXES, SAME_MEANING, SHORT_FORMS, SPELLINGS, SUFFIXES};

/// The words of a name, and the style in which they are written.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Vec<String>);

impl Words {
    /// Splits a name at separators, digits and capitals.
    pub(crate) fn of(name: &str) -> Self {
        let letters: Vec<char> = name.chars().collect();
        let mut words: Vec<String> = Vec::new();
        let mut is_new = true;
        for (at, letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).map_or(' ', |at| letters[at]);
            let next = letters.get(at + 1).copied().unwrap_or(' ');
            is_new |=
                letter.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next.is_lowercase()));
            is_new |= letter.is_numeric() != before.is_numeric();
            if !letter.is_alphanumeric() {
                is_new = true;
                continue;
            }
            if is_new {
                words.push(String::new());
            }
            is_new = false;
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        Self(words)
    }

    /// Writes the words in one of four styles.
    pub(crate) fn write(&self, random: &mut Random) -> String {
        let capital = |word: &String| {
            let mut letters = word.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        };
        match random.below(4) {
            0 => self.0.join("_"),
            1 => self.0.iter().take(1).cloned().chain(self.0.iter().skip(1).map(capital)).collect(),
            2 => self.0.iter().map(capital).collect(),
            _ => self.0.join("-"),
        }
    }

    fn num(&self) -> usize {
        self.0.len()
    }

    fn longest(&self) -> usize {
        (0..self.num()).max_by_key(|at| self.0[*at].len()).unwrap_or_default()
    }

    fn change(&self, at: usize, word: impl Into<String>) -> Option<Self> {
        let mut words = self.clone();
        words.0[at] = word.into();
        Some(words)
    }

    /// Replaces one of the words for which `other` returns a replacement.
    fn replace(&self, random: &mut Random, mut other: impl FnMut(&str, &mut Random) -> Option<String>) -> Option<Self> {
        let start = random.below(self.num());
        for step in 0..self.num() {
            let at = (start + step) % self.num();
            if let Some(word) = other(&self.0[at], random).filter(|word| *word != self.0[at]) {
                return self.change(at, word);
            }
        }
        None
    }

    pub(crate) fn reordered(&self, random: &mut Random) -> Option<Self> {
        if self.num() < 2 {
            return None;
        }
        let mut words = self.clone();
        match random.below(2) {
            0 => words.0.rotate_left(1),
            _ => {
                let at = random.below(self.num() - 1);
                words.0.swap(at, at + 1);
            }
        }
        Some(words)
    }

    pub(crate) fn without_word(&self, random: &mut Random) -> Option<Self> {
        if self.num() < 3 {
            return None;
        }
        let mut words = self.clone();
        words.0.remove(random.below(self.num()));
        Some(words)
    }

    pub(crate) fn with_word(&self, vocabulary: &[String], random: &mut Random) -> Option<Self> {
        if self.num() < 2 {
            return None;
        }
        let mut words = self.clone();
        words.0.insert(random.below(self.num() + 1), vocabulary[random.below(vocabulary.len())].clone());
        Some(words)
    }

    pub(crate) fn with_affix(&self, random: &mut Random) -> Option<Self> {
        let mut words = self.clone();
        match random.below(2) {
            0 => words.0.insert(0, random.pick(PREFIXES).to_owned()),
            _ => words.0.push(random.pick(SUFFIXES).to_owned()),
        }
        Some(words)
    }

    pub(crate) fn without_affix(&self) -> Option<Self> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        if self.num() < 3 {
            return None;
        }
        let mut words = self.clone();
        if PREFIXES.contains(&first.as_str()) {
            words.0.remove(0);
        } else if SUFFIXES.contains(&last.as_str()) {
            words.0.pop();
        } else {
            return None;
        }
        Some(words)
    }

    pub(crate) fn other_number(&self, random: &mut Random) -> Option<Self> {
        self.replace(random, |word, _| {
            if word.len() < 3 {
                return None;
            }
            Some(match word.strip_suffix("ies").map(|stem| format!("{stem}y")) {
                Some(single) => single,
                None if word.ends_with('s') && !word.ends_with("ss") => word[..word.len() - 1].to_owned(),
                None if word.ends_with('y') && !word.ends_with("ey") => format!("{}ies", &word[..word.len() - 1]),
                None if word.ends_with(['x', 'h', 's']) => format!("{word}es"),
                None => format!("{word}s"),
            })
        })
    }

    pub(crate) fn other_form(&self, random: &mut Random) -> Option<Self> {
        const ENDINGS: [&str; 6] = ["ing", "ed", "er", "ion", "able", "s"];
        self.replace(random, |word, random| {
            let is_form = |ending: &&&str| word.len() > ending.len() + 3 && word.ends_with(**ending);
            match ENDINGS.iter().find(is_form) {
                Some(ending) => Some(word[..word.len() - ending.len()].to_owned()),
                None if word.len() < 4 || !word.is_ascii() => None,
                None => Some(format!("{}{}", word.strip_suffix('e').unwrap_or(word), random.pick(&ENDINGS[..5]))),
            }
        })
    }

    pub(crate) fn same_meaning(&self, random: &mut Random) -> Option<Self> {
        if self.num() < 2 {
            return None;
        }
        self.replace(random, |word, random| {
            let groups: Vec<&&[&str]> = SAME_MEANING.iter().filter(|group| group.contains(&word)).collect();
            let group = groups.get(random.below(groups.len()))?;
            Some(random.pick(group).to_owned())
        })
    }

    pub(crate) fn shortened(&self, random: &mut Random) -> Option<Self> {
        self.replace(random, |word, random| {
            let forms: Vec<&str> = SHORT_FORMS.iter().filter(|form| form.0 == word).map(|form| form.1).collect();
            (!forms.is_empty()).then(|| random.pick(&forms).to_owned())
        })
    }

    pub(crate) fn lengthened(&self, random: &mut Random) -> Option<Self> {
        self.replace(random, |word, random| {
            let forms: Vec<&str> = SHORT_FORMS.iter().filter(|form| form.1 == word).map(|form| form.0).collect();
            (!forms.is_empty()).then(|| random.pick(&forms).to_owned())
        })
    }

    /// Shortens the longest word to its beginning: `configuration` becomes `confi`.
    pub(crate) fn cut_word(&self, random: &mut Random) -> Option<Self> {
        let at = self.longest();
        let word = &self.0[at];
        (word.len() >= 6 && word.is_ascii())
            .then(|| word[..3 + random.below(2)].to_owned())
            .and_then(|word| self.change(at, word))
    }

    pub(crate) fn without_vowels(&self, _: &mut Random) -> Option<Self> {
        let at = self.longest();
        let word = &self.0[at];
        if word.len() < 5 || !word.is_ascii() {
            return None;
        }
        let short = word[..1].to_owned() + &word[1..].replace(['a', 'e', 'i', 'o', 'u'], "");
        (short != *word && short.len() > 1).then_some(short).and_then(|short| self.change(at, short))
    }

    pub(crate) fn other_spelling(&self, random: &mut Random) -> Option<Self> {
        self.replace(random, |word, _| {
            let both = SPELLINGS.iter().flat_map(|(one, other)| [(one, other), (other, one)]);
            let mut found = both.filter(|(from, _)| word.len() > from.len() && word.contains(**from) || word == **from);
            found.next().map(|(from, to)| word.replacen(from, to, 1))
        })
    }

    pub(crate) fn digits(&self, random: &mut Random) -> Option<Self> {
        self.replace(random, |word, random| {
            let both = DIGITS.iter().flat_map(|(word, digit)| [(*word, *digit), (*digit, *word)]);
            let forms: Vec<&str> = both.filter(|(from, _)| *from == word).map(|(_, to)| to).collect();
            (!forms.is_empty()).then(|| random.pick(&forms).to_owned())
        })
    }

    /// Makes typing errors in up to two words.
    pub(crate) fn mistyped(&self, random: &mut Random) -> Option<Self> {
        let at = self.longest();
        let mut words = self.clone();
        words.0[at] = typo(&self.0[at], random)?;
        let other = random.below(self.num());
        if other != at && self.0[other].len() > 4 {
            words.0[other] = typo(&self.0[other], random)?;
        }
        Some(words)
    }

    /// Writes a word twice.
    pub(crate) fn doubled(&self, random: &mut Random) -> Option<Self> {
        let mut words = self.clone();
        let at = random.below(self.num());
        words.0.insert(at, self.0[at].clone());
        Some(words)
    }

    pub(crate) fn initials(&self) -> Option<String> {
        let is_long = self.num() >= 4;
        is_long.then(|| self.0.iter().filter_map(|word| word.chars().next()).collect())
    }
}
