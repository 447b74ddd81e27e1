//! Decides whether a wrong name is a misspelling of only one name. The decision does not use the resolver.

use std::collections::BTreeSet;

use super::words::Words;

/// The names of one repository, or of all repositories, prepared for comparison.
pub(crate) struct Judge {
    names: Vec<(String, Vec<String>)>,
    flats: BTreeSet<String>,
}

/// The distance between a name and a wrong name, by letters and by words.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Distance {
    letters: usize,
    words: f64,
}

impl Judge {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let words: BTreeSet<Vec<String>> = names.map(|name| Words::of(name).0).collect();
        let names: Vec<(String, Vec<String>)> = words.into_iter().map(|words| (words.concat(), words)).collect();
        let flats = names.iter().map(|(flat, _)| flat.clone()).collect();
        Self { names, flats }
    }

    /// Whether the repositories contain this name, in any naming style.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.flats.contains(&Words::of(last_part(name)).0.concat())
    }

    /// Whether the wrong name `asked` clearly refers to `right`: no name is equal to the wrong name, and
    /// every name except `right` is farther from the wrong name than `right`, by letters or by words.
    pub(crate) fn is_clear(&self, asked: &str, right: &str) -> bool {
        let asked = last_part(asked);
        let (asked, right) = (Words::of(asked).0, Words::of(right).0);
        let (flat, right_flat) = (asked.concat(), right.concat());
        if self.flats.contains(&flat) {
            return false;
        }
        let limit = Distance { letters: letters(&flat, &right_flat, usize::MAX), words: words(&asked, &right) };
        let is_as_near = |(other, of_other): &(String, Vec<String>)| {
            *other != right_flat
                && letters(&flat, other, limit.letters) <= limit.letters
                && words(&asked, of_other) <= limit.words
        };
        !self.names.iter().any(is_as_near)
    }
}

/// The name without its owner.
pub(crate) fn last_part(asked: &str) -> &str {
    asked.rsplit(['.', ':', '#', '>']).next().unwrap_or(asked)
}

/// The number of edits between two texts (optimal string alignment). If the number exceeds `limit`, the
/// result may be `limit + 1`.
fn letters(left: &str, right: &str, limit: usize) -> usize {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len().abs_diff(right.len()) > limit {
        return limit + 1;
    }
    let mut rows: Vec<Vec<usize>> = vec![vec![0; right.len() + 1]; 3];
    rows[0] = (0..=right.len()).collect();
    for at in 1..=left.len() {
        let (now, last, before) = (at % 3, (at + 2) % 3, (at + 1) % 3);
        rows[now][0] = at;
        let mut least = at;
        for to in 1..=right.len() {
            let same = usize::from(left[at - 1] != right[to - 1]);
            let mut edits = (rows[last][to - 1] + same).min(rows[last][to] + 1).min(rows[now][to - 1] + 1);
            if at > 1 && to > 1 && left[at - 1] == right[to - 2] && left[at - 2] == right[to - 1] {
                edits = edits.min(rows[before][to - 2] + 1);
            }
            rows[now][to] = edits;
            least = least.min(edits);
        }
        if least > limit {
            return limit + 1;
        }
    }
    rows[left.len() % 3][right.len()]
}

/// The number of words that only one of the names contains. Words with similar letters count less.
fn words(left: &[String], right: &[String]) -> f64 {
    let mut free: Vec<bool> = vec![true; right.len()];
    let mut distance = 0.0;
    for word in left {
        let cost = |at: &usize| of_words(word, &right[*at]);
        let best = (0..right.len()).filter(|at| free[*at]).min_by(|one, other| cost(one).total_cmp(&cost(other)));
        match best.filter(|at| cost(at) < 2.0) {
            Some(at) => {
                free[at] = false;
                distance += cost(&at);
            }
            None => distance += 1.0,
        }
    }
    distance + free.iter().filter(|is_free| **is_free).count() as f64
}

/// The distance between two words: 0 for equal words, at most 1 for similar words, and 2 for all other words.
fn of_words(left: &str, right: &str) -> f64 {
    if left == right {
        return 0.0;
    }
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let edits = letters(left, right, 2);
    let mut rest = long.chars();
    let is_part =
        short.chars().next() == long.chars().next() && short.chars().all(|letter| rest.any(|other| other == letter));
    match edits {
        1 if short.len() > 2 => 0.3,
        2 if short.len() > 4 => 0.5,
        _ if is_part && short.len() > 1 => 0.6,
        _ => 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_name_is_used_only_if_one_name_is_nearest() {
        let judge = Judge::new(["getUser", "getUsers", "setUser", "loadConfigFile"].into_iter());
        let check = |asked: &str, right: &str, expect: bool| {
            assert_eq!(judge.is_clear(asked, right), expect, "{asked} {right}");
        };
        check("lodaConfigFile", "loadConfigFile", true);
        check("config_file_load", "loadConfigFile", true);
        check("getUsr", "getUser", true);
        check("get_user", "getUser", false);
        check("etUser", "getUser", false);
    }
}
