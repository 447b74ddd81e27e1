//! Scores how well the path of a file or directory matches a requested file name.

use crate::distance::{Signature, closeness, edit_distance};
use crate::fold::{fold_words, folded};
use crate::lexicon::abbreviations;

const EXACT: u32 = 100;
const BASE_NAME: u32 = 90;
const BEGINNING: u32 = 80;
const PART: u32 = 60;
/// The maximum score of a similar name.
const SIMILAR: u32 = 50;
/// A name is similar only if its similarity is higher than this value, in thousandths.
const MIN_SIMILARITY: u32 = 700;

/// A requested name is compared by words only if its longest word has at least this number of bytes. Without
/// this limit, a requested extension would match all files with this extension.
const MIN_WORD_BYTES: usize = 4;
/// How much an abbreviated word lowers the share of equal words, in thousandths.
const COST_OF_ABBREVIATION: u32 = 20;

/// How well a path matches the requested name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathScore {
    /// 100 if the whole path matches, 90 if the base name or the last parts of the path match, 80 if the
    /// beginning of the path or of the base name matches, 60 if any other part of the path matches, and at
    /// most 50 if the name is only similar.
    pub score: u32,
    /// Orders paths with the same score: the nearest path has the highest rank.
    pub rank: u32,
}

/// The part of a path that is compared with the requested name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathPart {
    Whole,
    /// Only the last part of the path: the name of the file without its directories.
    BaseName,
}

/// A requested file name. The values that the comparison needs are computed once and used for all paths.
#[derive(Clone, Debug)]
pub struct WantedFile {
    asked: String,
    lower: String,
    num_parts: usize,
    part: PathPart,
    similar: bool,
    base_signature: Signature,
    signature: Signature,
    words: Vec<WantedWord>,
    /// The form of a name with letters and a number. `None` for other names.
    numbered: Option<String>,
}

/// A word of the requested name.
#[derive(Clone, Debug)]
struct WantedWord {
    word: String,
    /// The abbreviations of the word, and the words that it abbreviates.
    others: Vec<&'static str>,
}

impl WantedWord {
    fn new(word: &str) -> Self {
        Self { word: word.to_owned(), others: abbreviations(word) }
    }

    /// Whether the text contains the word, or a word that may replace it.
    fn is_in(&self, text: &str) -> bool {
        text.contains(&self.word) || self.others.iter().any(|other| text.contains(other))
    }

    /// Whether a word of a name is this word, or begins with it.
    fn begins(&self, word: &str) -> bool {
        word.starts_with(&self.word)
    }
}

impl WantedFile {
    /// If `similar` is true, a path also matches if its letters are similar to those of the requested name,
    /// or if its base name contains the requested words.
    pub fn new(asked: &str, part: PathPart, similar: bool) -> Self {
        let asked = asked.trim().trim_start_matches("./").trim_end_matches('/').to_owned();
        let lower = asked.to_lowercase();
        let base = base_name(&lower);
        let numbered = (base == lower && has_number(base)).then(|| without_zeros(base));
        let mut words = Vec::new();
        fold_words(&asked, |word| words.push(WantedWord::new(word)));
        Self {
            num_parts: lower.split('/').count(),
            base_signature: Signature::of(base.chars()),
            signature: Signature::of(lower.chars()),
            part,
            similar,
            words,
            numbered,
            asked,
            lower,
        }
    }

    /// Returns how well a path matches, or `None` if the path does not match. `lower` is the path in lower
    /// case.
    pub fn score(&self, path: &str, lower: &str) -> Option<PathScore> {
        if self.lower.is_empty() {
            return None;
        }
        let base = base_name(lower);
        let target = if self.part == PathPart::BaseName { base } else { lower };
        let ends_with_asked = || target.strip_suffix(&self.lower).is_some_and(|before| before.ends_with('/'));
        let score = if target == self.lower {
            EXACT
        } else if base == self.lower || ends_with_asked() {
            BASE_NAME
        } else if base.starts_with(&self.lower) || target.starts_with(&self.lower) {
            BEGINNING
        } else if target.contains(&self.lower) {
            PART
        } else if self.similar {
            return self.similarity(base_name(path), lower, base);
        } else {
            return None;
        };
        let is_same_case = path.contains(&self.asked);
        // A name that consists of the requested name and an extension is nearer than other names.
        let is_stem = base.strip_prefix(&self.lower).is_some_and(|rest| rest.starts_with('.'));
        let rank = closeness(&self.lower, target) + 1_000 * u32::from(is_stem) + u32::from(is_same_case);
        Some(PathScore { score, rank })
    }

    /// Returns how well a path matches by similar letters or by the words that it contains.
    fn similarity(&self, written: &str, lower: &str, base: &str) -> Option<PathScore> {
        let by_letters = self.by_letters(lower, base);
        let similarity = by_letters.max(self.by_words(written, base)).max(self.by_number(base))?;
        let score = (similarity * SIMILAR / 1_000).clamp(1, SIMILAR);
        Some(PathScore { score, rank: similarity + closeness(&self.lower, base) })
    }

    /// The similarity of the letters in thousandths, if it exceeds [`MIN_SIMILARITY`].
    fn by_letters(&self, lower: &str, base: &str) -> Option<u32> {
        let ends = [Some(base), stem(base), last_parts(lower, self.num_parts).filter(|_| self.num_parts > 1)];
        let asked = [self.lower.as_str(), base_name(&self.lower)];
        let mut best = None;
        for end in ends.into_iter().flatten() {
            let asked = if end.contains('/') { asked[0] } else { asked[1] };
            if self.num_parts > 1 && !end.contains('/') {
                continue;
            }
            let signature = if end.contains('/') { self.signature } else { self.base_signature };
            best = best.max(similarity((asked, signature), end));
        }
        best
    }

    /// The highest similarity, if the base name begins with the requested letters and number, whatever the
    /// separators and the leading zeros of the number are: `ADR-25` is the beginning of `ADR-025-Queues.md`.
    fn by_number(&self, base: &str) -> Option<u32> {
        let rest = without_zeros(base).strip_prefix(self.numbered.as_ref()?)?.chars().next();
        rest.is_none_or(|next| !next.is_ascii_digit()).then_some(1_000)
    }

    /// The share of requested words among the words of the base name, in thousandths. `None` unless the base
    /// name contains all requested words, or abbreviations of them. `written` is the base name with its upper
    /// case letters, which separate words.
    fn by_words(&self, written: &str, base: &str) -> Option<u32> {
        let longest = self.words.iter().max_by_key(|wanted| wanted.word.len())?;
        let is_path = self.part == PathPart::Whole && self.num_parts > 1;
        if longest.word.len() < MIN_WORD_BYTES || is_path || !longest.is_in(base) {
            return None;
        }
        let mut words: Vec<String> = folded(written).split(' ').map(str::to_owned).collect();
        let num_words = words.len();
        let mut num_replaced = 0;
        for wanted in &self.words {
            let same = words.iter().position(|word| wanted.begins(word));
            let replaced = || words.iter().position(|word| wanted.others.contains(&word.as_str()));
            num_replaced += u32::from(same.is_none());
            words.remove(same.or_else(replaced)?);
        }
        let share = (1_000 * self.words.len() / num_words.max(1)) as u32;
        Some(share.saturating_sub(COST_OF_ABBREVIATION * num_replaced))
    }
}

/// `1 - distance / length` in thousandths, if it exceeds [`MIN_SIMILARITY`].
fn similarity((asked, signature): (&str, Signature), name: &str) -> Option<u32> {
    let (num_asked, num_given) = (asked.chars().count(), name.chars().count());
    let length = num_asked.max(num_given).max(1) as u32;
    let max_edits = length * (1_000 - MIN_SIMILARITY) / 1_000;
    let may_be_similar = num_asked.abs_diff(num_given) <= max_edits as usize
        && signature.may_be_within(Signature::of(name.chars()), max_edits);
    if !may_be_similar {
        return None;
    }
    let similarity = 1_000 - 1_000 * edit_distance(asked, name).min(length) / length;
    (similarity > MIN_SIMILARITY).then_some(similarity)
}

/// Whether a name consists of letters and a number at its end.
fn has_number(name: &str) -> bool {
    name.starts_with(char::is_alphabetic) && name.ends_with(|last: char| last.is_ascii_digit())
}

/// The name without the leading zeros of numbers, and without each `-` and `_` that does not separate two
/// numbers.
fn without_zeros(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let is_digit = |character: char| character.is_ascii_digit();
    for (at, character) in name.char_indices() {
        let is_before_digit = name[at + character.len_utf8()..].starts_with(is_digit);
        let is_left_out = match character {
            '0' => is_before_digit && !folded.ends_with(is_digit),
            '-' | '_' => !(is_before_digit && name[..at].ends_with(is_digit)),
            _ => false,
        };
        if !is_left_out {
            folded.push(character);
        }
    }
    folded
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name without its extension, if it has one.
fn stem(base: &str) -> Option<&str> {
    base.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty())
}

/// The last `count` parts of a path; the whole path if it has fewer parts.
fn last_parts(path: &str, count: usize) -> Option<&str> {
    let (before, _) = path.rmatch_indices('/').nth(count - 1).unwrap_or((usize::MAX, ""));
    if before == usize::MAX { Some(path) } else { Some(&path[before + 1..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(asked: &str, path: &str, part: PathPart, similar: bool) -> Option<u32> {
        WantedFile::new(asked, part, similar).score(path, &path.to_lowercase()).map(|score| score.score)
    }

    #[test]
    fn files_are_scored_by_table() {
        let check = |asked: &str, path: &str, expect: Option<u32>| {
            assert_eq!(score(asked, path, PathPart::Whole, true), expect, "{asked} {path}");
        };
        check("src/config.json", "src/config.json", Some(100));
        check("config.json", "src/config.json", Some(90));
        check("Config.json", "src/config.json", Some(90));
        check("app/config.json", "src/app/config.json", Some(90));
        check("config", "src/config.json", Some(80));
        check("ADR-025", "docs/adr/ADR-025-User-Experience-Enhancements.md", Some(80));
        check("docs", "docs/readme.md", Some(80));
        check("adr", "docs/adr/x.md", Some(60));
        check("Button.test", "ui/Button.test.tsx", Some(80));
        check("Button.test", "ui/ButtonGroup.test.tsx", Some(25));
        check("dial_ctx", "net/dialContext.go", Some(32));
        check("chart_plot", "ui/PlotChart.tsx", Some(33));
        check("confg.json", "src/config.json", Some(45));
        check("srx/config.json", "a/src/config.json", Some(46));
        check("ADR-25", "docs/adr/ADR-025-Queues.md", Some(50));
        check("adr025", "docs/adr/ADR-025-Queues.md", Some(50));
        check("adr_0025", "docs/adr/ADR-025.md", Some(50));
        check("ADR-2", "docs/adr/ADR-025-Queues.md", None);
        check("ADR25", "docs/adr/ADR-250-Locks.md", None);
        check("ADR-25", "docs/adr/ADR-2-5-Lists.md", None);
        check("ADR-100", "docs/adr/ADR-010-Queues.md", None);
        let long = "docs/very-long-name-of-some-document.md";
        check("very-long-name-of-some-document-version2.md", long, Some(39));
        check("other", "src/config.json", None);
        check("", "src/config.json", None);
        assert_eq!(score("confg.json", "src/config.json", PathPart::Whole, false), None);
    }

    #[test]
    fn base_name_alone_ignores_directories() {
        let check = |asked: &str, path: &str, expect: Option<u32>| {
            assert_eq!(score(asked, path, PathPart::BaseName, false), expect, "{asked} {path}");
        };
        check("config.json", "src/config.json", Some(100));
        check("config", "src/config.json", Some(80));
        check("src", "src/config.json", None);
        check("src/config.json", "src/config.json", None);
    }

    #[test]
    fn nearest_of_equal_scores_ranks_first() {
        let rank = |asked: &str, path: &str| {
            WantedFile::new(asked, PathPart::Whole, true).score(path, &path.to_lowercase()).expect("a match")
        };
        assert!(rank("config", "src/config.json") > rank("config", "src/config_test.json"));
        assert!(rank("Makefile", "Makefile") > rank("makefile", "Makefile"));
    }
}
