//! Measures how similar two names are.

/// Names with a larger edit distance are not similar.
pub const MAX_EDIT_DISTANCE: usize = 2;

/// Fuzzy matches with a lower similarity are ignored.
pub const MIN_FUZZY_PERCENT: u32 = 70;

/// Converts a name to lower case and removes `_`, `-` and `$`. The result is the same for `get_user`,
/// `getUser` and `GetUser`.
pub fn fold_style(name: &str) -> String {
    let kept = name.chars().filter(|character| !matches!(character, '_' | '-' | '$'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The similarity of two names in percent: `1 - distance / length`, where `length` is the number of
/// characters of the longer name. If one name starts with the other, 0.2 is added. If the names differ only
/// in case, 0.3 is added. The maximum is 1.
///
/// `None` if the edit distance, ignoring case, exceeds [`MAX_EDIT_DISTANCE`].
pub fn similarity_percent(asked: &str, name: &str) -> Option<u32> {
    let (asked_lower, name_lower) = (asked.to_lowercase(), name.to_lowercase());
    let asked_characters: Vec<char> = asked.chars().collect();
    let name_characters: Vec<char> = name.chars().collect();
    let length = asked_characters.len().max(name_characters.len()).max(1);
    let equal_apart_from_case = asked_lower == name_lower;
    let distance = match edit_distance(&asked_characters, &name_characters) {
        Some(distance) => distance,
        None if equal_apart_from_case => length,
        None => {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            edit_distance(&characters(&asked_lower), &characters(&name_lower))?
        }
    };
    let base = 100 - (100 * distance.min(length) / length) as u32;
    let is_prefix = !asked.is_empty() && !name.is_empty() && either_starts(&asked_lower, &name_lower);
    let bonus = if is_prefix { 20 } else { 0 } + if equal_apart_from_case { 30 } else { 0 };
    Some((base + bonus).min(100))
}

fn either_starts(left: &str, right: &str) -> bool {
    left.starts_with(right) || right.starts_with(left)
}

/// The number of insertions, deletions, substitutions and swaps of adjacent characters that change one name
/// into the other. `None` if the number exceeds [`MAX_EDIT_DISTANCE`].
fn edit_distance(left: &[char], right: &[char]) -> Option<usize> {
    if left.len().abs_diff(right.len()) > MAX_EDIT_DISTANCE {
        return None;
    }
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let same = left[row - 1] == right[column - 1];
            let substituted = last[column - 1] + usize::from(!same);
            current[column] = substituted.min(last[column] + 1).min(current[column - 1] + 1);
            let swapped =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1];
            if swapped {
                current[column] = current[column].min(before_last[column - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, current);
    }
    Some(last[right.len()]).filter(|distance| *distance <= MAX_EDIT_DISTANCE)
}

/// Whether the case-sensitive edit distance of two names is at most [`MAX_EDIT_DISTANCE`]. This function does
/// not allocate memory for ASCII names. Therefore it is a cheap filter before [`similarity_percent`] in a
/// loop over all names.
pub fn are_near(left: &str, right: &str) -> bool {
    if left.is_ascii() && right.is_ascii() {
        return within(left.as_bytes(), right.as_bytes(), MAX_EDIT_DISTANCE);
    }
    let characters = |text: &str| text.chars().collect::<Vec<char>>();
    within(&characters(left), &characters(right), MAX_EDIT_DISTANCE)
}

/// Tries each kind of edit at the first difference, then compares the remaining characters. With two edits,
/// the function makes at most sixteen short comparisons.
fn within<T: PartialEq>(left: &[T], right: &[T], edits: usize) -> bool {
    if left.len().abs_diff(right.len()) > edits {
        return false;
    }
    let num_same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[num_same..], &right[num_same..]);
    let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) else {
        return left.len().max(right.len()) <= edits;
    };
    let swapped = left_rest.first() == Some(second) && right_rest.first() == Some(first);
    edits > 0
        && (within(left_rest, right_rest, edits - 1)
            || within(left_rest, right, edits - 1)
            || within(left, right_rest, edits - 1)
            || (swapped && within(&left_rest[1..], &right_rest[1..], edits - 1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similarity_of_names_is_graded() {
        let check = |asked, name, expect| assert_eq!(similarity_percent(asked, name), expect, "{asked} {name}");
        check("getUser", "getUser", Some(100));
        check("getuser", "getUser", Some(100));
        check("GETUSER", "getuser", Some(50));
        check("getUser", "getUsr", Some(86));
        check("getUser", "getUsers", Some(100));
        check("getUser", "gteUser", Some(86));
        check("get", "set", Some(67));
        check("parse", "render", None);
        check("", "", Some(100));
        check("a", "", Some(0));
        check("größe", "grösse", Some(67));
    }

    #[test]
    fn name_styles_are_folded() {
        for name in ["get_user", "getUser", "GetUser", "GET_USER", "get-user", "$getUser"] {
            assert_eq!(fold_style(name), "getuser");
        }
    }

    proptest! {
        #[test]
        fn similarity_is_symmetric(left in "[a-cA-C]{0,6}", right in "[a-cA-C]{0,6}") {
            prop_assert_eq!(similarity_percent(&left, &right), similarity_percent(&right, &left));
        }

        #[test]
        fn near_names_have_a_small_edit_distance(left in "[ab]{0,7}", right in "[abé]{0,7}") {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let distance = edit_distance(&characters(&left), &characters(&right));
            prop_assert_eq!(are_near(&left, &right), distance.is_some());
        }

        #[test]
        fn long_name_with_one_edit_is_near(name in "[a-z]{8,20}", at in 0usize..8, letter in "[a-z]") {
            let mut edited = name.clone();
            edited.replace_range(at..=at, &letter);
            prop_assert!(similarity_percent(&name, &edited).is_some_and(|percent| percent >= MIN_FUZZY_PERCENT));
        }
    }
}
