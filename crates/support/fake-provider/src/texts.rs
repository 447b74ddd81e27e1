//! Computes the tokens and vectors of texts. Equal texts have equal tokens and vectors on all machines.

/// The number of tokens in a text. A word of letters and digits has one token for every four bytes. Every
/// other character is one token, and whitespace has no tokens.
pub(crate) fn num_tokens(text: &str) -> u64 {
    let words: u64 = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| (word.len() as u64).div_ceil(4))
        .sum();
    let signs = text.chars().filter(|character| !character.is_alphanumeric() && !character.is_whitespace());
    words + signs.count() as u64
}

/// A prefix of the text with at most `max_tokens` tokens. The number of tokens is close to this limit.
pub(crate) fn truncated(text: &str, max_tokens: u64) -> &str {
    let mut end = text.len();
    while num_tokens(&text[..end]) > max_tokens {
        end = text.floor_char_boundary(end * 3 / 4);
    }
    &text[..end]
}

/// A vector of length 1. The vector is the normalised sum of one vector for each word and a smaller vector
/// for the whole text.
pub(crate) fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; dimensions];
    add(&mut sum, text, 0.1);
    for word in words(text) {
        add(&mut sum, &word, 1.0);
    }
    let length = sum.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
    sum.iter().map(|value| (f64::from(*value) / length) as f32).collect()
}

fn add(sum: &mut [f32], word: &str, weight: f32) {
    let mut bytes = blake3::Hasher::new().update(word.as_bytes()).finalize_xof();
    let mut direction = vec![0u8; sum.len()];
    bytes.fill(&mut direction);
    for (value, byte) in sum.iter_mut().zip(direction) {
        *value += weight * (f32::from(byte) - 127.5) / 127.5;
    }
}

/// Splits a text into words: `parseConfig_file` becomes `parse`, `config`, `file`.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in text.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if character.is_alphanumeric() {
            words.last_mut().expect("one word at least").extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_words_and_signs() {
        for (text, expect) in [("", 0), (" \n", 0), ("let value = compute(value);\n", 11), ("数", 1), ("????", 4)] {
            assert_eq!(num_tokens(text), expect, "{text:?}");
        }
        let long = "a b ".repeat(1000);
        assert!((300..=1000).contains(&num_tokens(truncated(&long, 1000))));
    }

    #[test]
    fn identifiers_are_split() {
        assert_eq!(words("parseConfig_file(HTTPServer2)"), ["parse", "config", "file", "httpserver2"]);
    }

    #[test]
    fn vectors_have_length_one_and_differ() {
        let texts = ["", "x", "X", "x y", "\0"];
        for (index, text) in texts.iter().enumerate() {
            let found = vector(text, 64);
            let length: f32 = found.iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-4, "{text:?}");
            assert!(texts[..index].iter().all(|other| vector(other, 64) != found), "{text:?}");
        }
    }
}
