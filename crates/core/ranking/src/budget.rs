//! How much of an answer fits: `limit` and `max_tokens` are hard, and what was cut is said.

use crate::words;

/// Letters of a word that one token of common tokenizers holds on average.
const LETTERS_PER_TOKEN: usize = 6;
const DIGITS_PER_TOKEN: usize = 3;

/// What fits of a list of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// So many results from the start fit.
    pub num_taken: usize,
    /// Tokens that they cost.
    pub num_tokens: usize,
    pub cut: Cut,
}

/// Why results were left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// None was.
    Nothing,
    Limit {
        num_left: usize,
    },
    Tokens {
        num_left: usize,
    },
}

/// Takes results from the start as long as both bounds allow. `costs` are their tokens.
pub fn fit(costs: &[usize], limit: usize, max_tokens: usize) -> Fit {
    let mut num_tokens = 0;
    for (num_taken, cost) in costs.iter().enumerate() {
        let num_left = costs.len() - num_taken;
        if num_taken == limit {
            return Fit { num_taken, num_tokens, cut: Cut::Limit { num_left } };
        }
        if num_tokens + cost > max_tokens {
            return Fit { num_taken, num_tokens, cut: Cut::Tokens { num_left } };
        }
        num_tokens += cost;
    }
    Fit { num_taken: costs.len(), num_tokens, cut: Cut::Nothing }
}

/// About how many tokens a language model reads in `text`. Errs on the high side, so that a budget holds.
///
/// A word costs one token and one more for every six further letters, digits one for three, a run of white space one if
/// it breaks the line, other ASCII characters one each, and characters beyond ASCII one each.
pub fn estimate_tokens(text: &str) -> usize {
    let mut num_tokens = 0;
    words(text, |word| {
        let is_number = word.as_bytes()[0].is_ascii_digit();
        num_tokens += word.len().div_ceil(if is_number { DIGITS_PER_TOKEN } else { LETTERS_PER_TOKEN });
    });
    let mut previous = ' ';
    for character in text.chars() {
        // A run of the same sign (`-----`, `====`) is one token, like a line break with the indentation after it.
        let is_sign = character == '\n' || !(character.is_ascii_alphanumeric() || character.is_whitespace());
        if is_sign && (character != previous || !character.is_ascii()) {
            num_tokens += 1;
        }
        previous = character;
    }
    num_tokens
}

/// The lines of `text` from the start that cost at most `max_tokens`, and how many lines were cut.
pub fn truncate_lines(text: &str, max_tokens: usize) -> (&str, usize) {
    let mut num_tokens = 0;
    let mut end = 0;
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref() {
        num_tokens += estimate_tokens(line);
        if num_tokens > max_tokens {
            return (&text[..end], 1 + lines.count());
        }
        end += line.len();
    }
    (text, 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_bounds_are_hard() {
        let check = |limit, max_tokens, num_taken, num_tokens, cut| {
            assert_eq!(fit(&[10, 20, 30], limit, max_tokens), Fit { num_taken, num_tokens, cut });
        };
        check(3, 60, 3, 60, Cut::Nothing);
        check(2, 60, 2, 30, Cut::Limit { num_left: 1 });
        check(3, 59, 2, 30, Cut::Tokens { num_left: 1 });
        check(0, 60, 0, 0, Cut::Limit { num_left: 3 });
        check(3, 9, 0, 0, Cut::Tokens { num_left: 3 });
    }

    #[test]
    fn tokens_are_estimated() {
        let check = |text, expect| assert_eq!(estimate_tokens(text), expect, "{text}");
        check("", 0);
        check("fn main() {}", 6);
        check("authentication", 3);
        check("getUserById(12345)", 8);
        check("a\n    b\n", 4);
        check("----------", 1);
        check("用户", 2);
    }

    #[test]
    fn texts_are_cut_at_lines() {
        let check = |max_tokens, expect| assert_eq!(truncate_lines("one\ntwo\nthree", max_tokens), expect);
        check(5, ("one\ntwo\nthree", 0));
        check(4, ("one\ntwo\n", 1));
        check(1, ("", 3));
    }

    proptest! {
        #[test]
        fn what_is_kept_fits(text in "[a-z(\n ]{0,80}", max_tokens in 0usize..30) {
            let (kept, num_cut) = truncate_lines(&text, max_tokens);
            prop_assert!(estimate_tokens(kept) <= max_tokens);
            prop_assert_eq!(num_cut == 0, kept == text);
        }
    }
}
