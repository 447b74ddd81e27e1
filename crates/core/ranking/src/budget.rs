//! Cuts an answer to its limits: the number of results and the number of tokens. The answer reports what was
//! cut. [`fit`] never exceeds `limit` or `max_tokens`. [`fit_at_least_one`] may exceed `max_tokens`, but only
//! with the first result.

use crate::words;

/// Number of letters of a word that are counted as one token: an average over common tokenizers.
const LETTERS_PER_TOKEN: usize = 6;
const DIGITS_PER_TOKEN: usize = 3;

/// The number of results that fit into an answer, and the reason why further results were cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The number of results, from the start of the list, that fit into the answer.
    pub num_taken: usize,
    /// The total number of tokens of these results.
    pub num_tokens: usize,
    pub cut: Cut,
}

/// The reason why results were cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// No result was cut.
    Nothing,
    Limit {
        num_left: usize,
    },
    Tokens {
        num_left: usize,
    },
}

/// Takes results from the start of the list until the next result would exceed a limit. `costs` contains the
/// number of tokens of each result.
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

/// Like [`fit`], but takes the first result even if it alone exceeds `max_tokens`. A page without results has
/// no next page, so the following results could not be reached.
pub fn fit_at_least_one(costs: &[usize], limit: usize, max_tokens: usize) -> Fit {
    fit(costs, limit, max_tokens.max(costs.first().copied().unwrap_or_default()))
}

/// Estimates how many tokens a language model reads in `text`. The estimate is usually too high and rarely
/// too low, so that an answer stays within its limit.
///
/// Every six letters of a word and every three digits of a number are one token. A smaller group of letters
/// or digits at the end of a word or number is also one token. Each line break and each punctuation character
/// is one token, but a sequence of the same character is only one token. Each non-ASCII character is one
/// token. White space other than line breaks is not counted.
pub fn estimate_tokens(text: &str) -> usize {
    let mut num_tokens = 0;
    words(text, |word| {
        let is_number = word.as_bytes()[0].is_ascii_digit();
        num_tokens += word.len().div_ceil(if is_number { DIGITS_PER_TOKEN } else { LETTERS_PER_TOKEN });
    });
    let mut previous = ' ';
    for character in text.chars() {
        // A sequence of the same punctuation character (`-----`, `====`) is one token. A line break with the
        // indentation after it is also one token.
        let is_sign = character == '\n' || !(character.is_ascii_alphanumeric() || character.is_whitespace());
        if is_sign && (character != previous || !character.is_ascii()) {
            num_tokens += 1;
        }
        previous = character;
    }
    num_tokens
}

/// The longest prefix of `text` that consists of whole lines and has at most `max_tokens` tokens, and the
/// number of lines that were cut.
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

/// Whole lines of a text, and the numbers of lines before and after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownLines<'a> {
    pub num_before: usize,
    pub text: &'a str,
    pub num_after: usize,
}

/// The first lines of `text` that cost at most `max_tokens`. If these lines do not contain the line with the
/// index `wanted`, the lines around this line are returned instead.
pub fn lines_around(text: &str, wanted: Option<usize>, max_tokens: usize) -> ShownLines<'_> {
    let (shown, num_after) = truncate_lines(text, max_tokens);
    let first = ShownLines { num_before: 0, text: shown, num_after };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let num_shown = lines.len() - num_after;
    let Some(wanted) = wanted.filter(|wanted| (num_shown..lines.len()).contains(wanted)) else { return first };
    let mut num_tokens = estimate_tokens(lines[wanted]);
    if num_tokens > max_tokens {
        return first;
    }
    let mut start = wanted;
    // The lines before the wanted line get at most half of the tokens, so that the lines after it get the
    // other half.
    while start > 0 && num_tokens + estimate_tokens(lines[start - 1]) <= max_tokens / 2 {
        start -= 1;
        num_tokens += estimate_tokens(lines[start]);
    }
    let costs = |lines: &[&str]| lines.iter().map(|line| estimate_tokens(line)).sum::<usize>();
    let mut num_left = max_tokens.saturating_sub(costs(&lines[start..]));
    // If the text ends before the limit, more lines before the wanted line fit.
    while let Some(line) = start.checked_sub(1).map(|index| lines[index])
        && estimate_tokens(line) <= num_left
    {
        start -= 1;
        num_left -= estimate_tokens(line);
    }
    let num_bytes: usize = lines[..start].iter().map(|line| line.len()).sum();
    let (shown, num_after) = truncate_lines(&text[num_bytes..], max_tokens);
    ShownLines { num_before: start, text: shown, num_after }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_limits_are_never_exceeded() {
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
    fn first_result_is_always_taken() {
        let check = |costs: &[usize], limit, max_tokens, num_taken, cut| {
            let fit = fit_at_least_one(costs, limit, max_tokens);
            assert_eq!((fit.num_taken, fit.cut), (num_taken, cut), "{costs:?} {limit} {max_tokens}");
        };
        check(&[10, 20, 30], 3, 9, 1, Cut::Tokens { num_left: 2 });
        check(&[10, 20, 30], 3, 0, 1, Cut::Tokens { num_left: 2 });
        check(&[10, 20, 30], 3, 30, 2, Cut::Tokens { num_left: 1 });
        check(&[10], 3, 9, 1, Cut::Nothing);
        check(&[10, 20, 30], 0, 9, 0, Cut::Limit { num_left: 3 });
        check(&[], 3, 9, 0, Cut::Nothing);
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

    #[test]
    fn wanted_line_is_shown() {
        let text = "a\nb\nc\nd\ne\n";
        let check = |wanted, max_tokens, num_before, text_shown, num_after| {
            let expect = ShownLines { num_before, text: text_shown, num_after };
            assert_eq!(lines_around(text, wanted, max_tokens), expect, "{wanted:?} {max_tokens}");
        };
        // Each line is one word and one line break.
        check(None, 4, 0, "a\nb\n", 3);
        check(Some(1), 4, 0, "a\nb\n", 3);
        check(Some(2), 4, 2, "c\nd\n", 1);
        check(Some(3), 8, 0, "a\nb\nc\nd\n", 1);
        check(Some(4), 8, 1, "b\nc\nd\ne\n", 0);
        check(Some(4), 1, 0, "", 5);
        check(Some(9), 4, 0, "a\nb\n", 3);
        check(Some(4), 100, 0, text, 0);
    }

    proptest! {
        #[test]
        fn wanted_line_is_shown_if_it_fits(
            text in "[a-z(\n ]{0,80}",
            wanted in 0usize..20,
            max_tokens in 0usize..30,
        ) {
            let ShownLines { num_before, text: shown, num_after } = lines_around(&text, Some(wanted), max_tokens);
            prop_assert!(estimate_tokens(shown) <= max_tokens);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let end = lines.len() - num_after;
            prop_assert_eq!(lines[num_before..end].concat(), shown);
            if let Some(line) = lines.get(wanted).filter(|line| estimate_tokens(line) <= max_tokens) {
                prop_assert!((num_before..end).contains(&wanted), "{line:?}");
            }
        }

        #[test]
        fn kept_lines_fit(text in "[a-z(\n ]{0,80}", max_tokens in 0usize..30) {
            let (kept, num_cut) = truncate_lines(&text, max_tokens);
            prop_assert!(estimate_tokens(kept) <= max_tokens);
            prop_assert_eq!(num_cut == 0, kept == text);
        }
    }
}
