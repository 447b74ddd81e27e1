//! Decides whether a machine generated a value whose name indicates a generated secret, such as
//! `client_secret`, `auth_token` or `api_key`.
//!
//! In programs and settings, such names also have values that people write: names of other settings, labels,
//! versions and expressions. These values consist of words and of names that people choose. A generated value
//! mixes classes of characters and contains few words.

use crate::shape::{self, Shape};
use crate::{entropy, expression, phrase, random, reference};

/// Minimum and maximum length of a generated value, in bytes.
const SHORTEST: usize = 8;
const LONGEST: usize = 128;

/// Minimum length of a random value that may consist of two classes of characters, in bytes.
const SHORTEST_RANDOM: usize = 20;

/// Whether a machine generated the value. Templates, references and placeholders are rejected by the module
/// `judge`.
pub(crate) fn is_machine_made(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    if shape.blanks > 0 {
        return phrase::is_signed_phrase(value);
    }
    let is_noise = shape.digits == 0 && shape::is_capital_noise(value);
    if value.len() < SHORTEST
        || value.len() > LONGEST
        || entropy::num_distinct(value) < 6
        || shape::is_uuid(value)
        || is_number_of_parts(value)
        || contains_structure(value)
        || is_path_with_options(value)
        || is_constant(value, shape)
        || is_program(value, shape)
        || (!is_noise && (expression::is_expression(value) || expression::is_short_expression(value)))
    {
        return false;
    }
    let has_few_words = shape.in_words * 2 < shape.letters();
    if shape.digits == 0 || (shape.letters() < 2 && value.is_ascii()) {
        let is_mixed = shape.lower > 1 && shape.upper > 1 && shape.signs > 0;
        return has_few_words && (is_mixed || shape::is_case_noise(value));
    }
    let num_signs = shape.signs + shape.joiners;
    let num_classes = [shape.lower, shape.upper, shape.digits, num_signs].iter().filter(|count| **count > 0).count();
    match shape.signs {
        0 => has_few_words && shape.lower > 0 && shape.upper > 0 && !are_names(value),
        1 => num_classes == 4 || (num_classes == 3 && (has_few_words || is_signed_words(value))),
        _ => num_classes >= 3,
    }
}

/// Whether the value is a long random sequence of letters and digits, such as hexadecimal digits.
pub(crate) fn is_random_word(value: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    value.len() >= SHORTEST_RANDOM && value.iter().all(is_digit) && !shape::is_uuid(value) && random::is_random(value)
}

/// Whether all parts of the value between joiners look like names.
fn are_names(value: &[u8]) -> bool {
    value.split(|byte| matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')).all(expression::is_name)
}

/// Whether the value is the name of a constant, such as `MAX_S4U_SIZE2`.
fn is_constant(value: &[u8], shape: Shape) -> bool {
    shape.lower == 0 && shape.signs == 0 && value.contains(&b'_')
}

/// Whether the value contains the punctuation of JSON, or dots in place of omitted text.
fn contains_structure(value: &[u8]) -> bool {
    value.windows(2).any(|pair| pair == b"\":") || value.windows(3).any(|window| window == b"...")
}

/// Whether the value is a path that is followed by options: `/etc/smb/user1,uid=1000`.
fn is_path_with_options(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| matches!(byte, b',' | b';' | b'='));
    matches!(value, [b'/' | b'.' | b'~', ..])
        && parts.all(|part| reference::is_reference(part) || part.split(|byte| *byte == b'-').all(expression::is_name))
}

/// Whether the value is a phrase of words that ends with a digit and a special character:
/// `dragon_staple_pepper4%`.
fn is_signed_words(value: &[u8]) -> bool {
    let [words @ .., digit, sign] = value else { return false };
    let num_joiners = words.iter().filter(|byte| !byte.is_ascii_alphanumeric()).count();
    num_joiners >= 2 && digit.is_ascii_digit() && b"!#$%?@^~+".contains(sign)
}

/// Whether the value is part of a program: it has only special characters of programs, and words or the form
/// of a call or a type.
fn is_program(value: &[u8], shape: Shape) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:*&()[]{}<>,;=\"'`".contains(byte);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:".contains(byte);
    let end = value.iter().rposition(|byte| !b",;:".contains(byte)).map_or(0, |last| last + 1);
    let name = value.iter().take_while(|byte| is_part(byte)).count();
    let opens = value.get(name).is_some_and(|open| b"([{<".contains(open));
    let is_call = name > 0 && opens && matches!(value[..end].last(), Some(b')' | b']' | b'}' | b'>'));
    let has_words = shape.in_words * 2 >= shape.letters();
    value.iter().all(|byte| is_sign(byte) || *byte == b'#') && !value.ends_with(b"#") && (is_call || has_words)
}

/// Whether the value is a version, a time or an address: numbers that are joined by `.`, `-` or `:`, with at
/// most a few letters before, between and after them, as in `v1.0.0-RC2` and `2024-01-02T03:04:05Z`.
fn is_number_of_parts(value: &[u8]) -> bool {
    let is_joiner = |byte: &u8| matches!(byte, b'.' | b'-' | b':' | b'+' | b'/');
    let is_part = |part: &[u8]| {
        let num_letters = part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        part.iter().all(u8::is_ascii_alphanumeric)
            && (num_letters <= 1 || (part.len() <= 5 && part.len() <= num_letters + 2))
    };
    value.iter().filter(|byte| is_joiner(byte)).count() >= 2 && value.split(is_joiner).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_values_differ_from_names_and_versions() {
        for value in [
            "gRQRf9HjKW",
            "nPu47neLzB",
            "UIXbFInxOn0h",
            "6w@0@&byhMWV",
            "k3(x9}Q$z",
            "vrRDQddoJ?XiFu*",
            "dragon$garden$tiger4!",
            "Hunter-dragon-Winter4!",
            "dragon_staple_pepper4%",
            "jULNhXHEEceqDcJ",
            "k5_]2j)@z r!F7%E",
        ] {
            assert!(is_machine_made(value.as_bytes()), "{value}");
        }
        for value in [
            "nextToken2",
            "getKey(x1)",
            "user_key2",
            "eu-west-1a",
            "v1.0.0-RC2",
            "2024-01-02T03:04:05Z",
            "10.0.0.1:8080",
            "123e4567-e89b-12d3-a456-426614174000",
            "kube-system/token-abc12",
            "Option<Token2>",
            "config.Tokens[0]",
            "SecretKeyRef",
            "hostKeyBytes",
            "new(big.Int).SetBytes(h.Sum(nil))",
            "AES-256-GCM",
            "*GoogleCloudV2SecretVolume",
            "NewEC256Key(tb)",
            "Xxh3Builder::new()",
            "&s2av2TransportCreds{",
            "aes128Keys.r",
            "jwa.A128GCM",
            "Vec<Vec<u8>>",
            "[]byte{0xbe",
            "r.s[r.si-1",
            "-0x3f879678",
            "PKERB_S4U2PROXY_CRED",
            "RFC6749#Token",
            "/etc/smb/user1,uid=1000",
            "AQoDYXdzEJr...<rest>",
            "1,\"progress\":{n},\"total\":{n}",
        ] {
            assert!(!is_machine_made(value.as_bytes()), "{value}");
        }
    }
}
