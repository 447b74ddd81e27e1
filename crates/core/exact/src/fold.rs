//! Folds characters, so that characters that differ only in case become equal.

/// Returns the same character for all characters that differ only in case. The function may also return this
/// character for other characters, because the result decides only which texts are read, not where they
/// match.
pub(crate) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    match character {
        // The characters of these pairs differ only in case, but the conversions of the standard library do
        // not make them equal.
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        '\u{fb05}' => '\u{fb06}',
        _ => {
            let lower = single(character, character.to_lowercase());
            let upper = single(lower, lower.to_uppercase());
            single(upper, upper.to_lowercase())
        }
    }
}

/// Returns the converted character, or the original character if the conversion returns several.
fn single(original: char, mut converted: impl Iterator<Item = char>) -> char {
    match (converted.next(), converted.next()) {
        (Some(only), None) => only,
        _ => original,
    }
}

/// Appends the folded text.
pub(crate) fn fold_into(text: &str, folded: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    for character in text.chars() {
        folded.extend_from_slice(fold(character).encode_utf8(&mut buffer).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::fold;

    #[test]
    fn characters_that_differ_only_in_case_fold_alike() {
        let mut num_compared = 0;
        for character in ('\0'..=char::MAX).filter(|character| character.is_alphabetic() || character.is_ascii()) {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
            class.case_fold_simple();
            for other in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                assert_eq!(fold(other), fold(character), "{character:?} and {other:?}");
                num_compared += 1;
            }
        }
        assert!(num_compared > 100_000, "{num_compared}");
    }

    #[test]
    fn folding_again_changes_nothing() {
        for character in '\0'..=char::MAX {
            assert_eq!(fold(fold(character)), fold(character), "{character:?}");
        }
    }
}
