//! Distinguishes expressions of programs from generated passwords: `get(user)[0]`, `&config.pass` and
//! `Option<String>` are expressions, `k3(x9}Q$z` is not.
//!
//! A value is an expression if a program may contain its special characters in this order and its names look
//! like names that people choose. A generated password usually fails one of these tests: it has digits
//! between letters, it has capitals or special characters in unusual positions, or its brackets do not match.

use crate::shape::{self, Shape};

/// Maximum nesting depth of brackets. A value with more nested brackets is not an expression.
const MAX_DEPTH: usize = 16;

/// The kind of token that the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Operand,
    Operator,
    /// An operand or an operator. Both are allowed after a bracket that may close a cast or belong to a type,
    /// as in `(int)x` and `[]byte`.
    Either,
}

/// Operators between two operands. The longest operators come first.
const BINARY: [&[u8]; 33] = [
    b"===", b"!==", b"...", b"->", b"=>", b"::", b"?.", b"!.", b"&&", b"||", b"==", b"!=", b"<=", b">=", b"<<", b">>",
    b"??", b"?:", b"..", b"+=", b"++", b"|", b"&", b"+", b"-", b"*", b"/", b".", b",", b";", b":", b"=", b"?",
];

/// Whether the value may be an expression or the beginning of an expression.
pub(crate) fn is_expression(value: &[u8]) -> bool {
    let value = trimmed(value);
    let has_digits = value.iter().any(u8::is_ascii_digit);
    let is_question = value.ends_with(b"?") && has_digits && value.len() >= 10;
    has_word_if_expression(value).is_some_and(|has_word| !is_question && (has_word || !has_digits || value.len() < 10))
}

/// Whether the value may be an expression with short names, such as `r.s[r.si-1]` or `-0x3f879678`. Each of
/// its names has no capitals or contains a known word with digits.
pub(crate) fn is_short_expression(value: &[u8]) -> bool {
    let mut names = value.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let are_even = names.all(|name| has_known_word(name) || !name.iter().any(u8::is_ascii_uppercase));
    !value.ends_with(b"?") && are_even && has_word_if_expression(trimmed(value)).is_some()
}

/// Whether the value contains a word. `None` if the value cannot be an expression.
fn has_word_if_expression(value: &[u8]) -> Option<bool> {
    let mut reader = Reader { value, at: 0, next: Next::Operand, brackets: [(0, false); MAX_DEPTH], depth: 0 };
    let mut has_word = false;
    while reader.at < value.len() {
        let start = reader.at;
        let byte = value[start];
        let accepted = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let accepted = reader.name();
                let name = &value[start..reader.at];
                let calls = name.len() >= 3 && value.get(reader.at) == Some(&b'(');
                has_word |= (calls || name.len() >= 6) && is_even(name) || Shape::of(name).in_words >= 4;
                accepted
            }
            b'0'..=b'9' => reader.number(),
            b'"' | b'\'' | b'`' => reader.text(byte),
            b'(' | b'[' | b'{' => reader.open(byte),
            b')' | b']' | b'}' => reader.close(byte),
            b'<' | b'>' => reader.angle(),
            _ => reader.sign(),
        };
        if !accepted {
            return None;
        }
    }
    Some(has_word)
}

/// The value without separators at its end. Brackets at the end are kept; they may close brackets that were
/// opened before the value.
fn trimmed(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|byte| !matches!(byte, b',' | b';' | b':'));
    &value[..end.map_or(0, |at| at + 1)]
}

struct Reader<'value> {
    value: &'value [u8],
    at: usize,
    next: Next,
    /// The open brackets, each with a flag that is true if an operand was expected at its position.
    brackets: [(u8, bool); MAX_DEPTH],
    depth: usize,
}

impl<'value> Reader<'value> {
    fn rest(&self) -> &'value [u8] {
        &self.value[self.at..]
    }

    fn operand(&mut self, length: usize) -> bool {
        let expected = self.next != Next::Operator;
        self.next = Next::Operator;
        self.at += length;
        expected
    }

    fn name(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
        let name = &rest[..length];
        let known = is_name(name);
        // The name is the prefix of a string literal, as in `f"…"`.
        if length <= 2 && matches!(rest.get(length), Some(b'"' | b'\'')) && self.next != Next::Operator {
            self.at += length;
            return known;
        }
        self.operand(length) && known
    }

    /// Reads a number, such as `12`, `0x1f`, `1.5` or `10px`.
    fn number(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
        let number = &rest[..length];
        let num_digits = number.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
        let unit = &number[num_digits..];
        let is_hex =
            number.len() > 2 && number[0] == b'0' && matches!(number[1], b'x' | b'X') && shape::is_hex(&number[2..]);
        const UNITS: [&[u8]; 14] =
            [b"", b"u8", b"u16", b"u32", b"u64", b"usize", b"i32", b"i64", b"f", b"f64", b"L", b"px", b"ms", b"s"];
        self.operand(length) && (is_hex || UNITS.contains(&unit))
    }

    /// Reads a string literal. The closing quote may be missing, because the literal may continue after the
    /// value. In that case, the part inside the value must look like names and not like a password.
    fn text(&mut self, quote: u8) -> bool {
        let rest = &self.rest()[1..];
        match rest.iter().position(|byte| *byte == quote) {
            Some(length) => self.operand(length + 2),
            None => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(byte);
                let is_words = rest.split(|byte| !byte.is_ascii_alphanumeric()).all(is_name);
                self.operand(rest.len() + 1) && rest.iter().all(is_part) && is_words
            }
        }
    }

    fn open(&mut self, bracket: u8) -> bool {
        if self.depth == MAX_DEPTH {
            return false;
        }
        self.brackets[self.depth] = (bracket, self.next == Next::Operand);
        self.depth += 1;
        self.next = Next::Operand;
        self.at += 1;
        true
    }

    fn close(&mut self, bracket: u8) -> bool {
        self.at += 1;
        if self.depth == 0 {
            // No bracket is open, so this bracket can only close a bracket that was opened before the value.
            return self.rest().iter().all(|byte| matches!(byte, b')' | b']' | b'}' | b';' | b','));
        }
        self.depth -= 1;
        let (open, began) = self.brackets[self.depth];
        self.next = if began || bracket == b']' { Next::Either } else { Next::Operator };
        matches!((open, bracket), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
    }

    /// Reads an angle bracket, which belongs to a comparison, generic arguments or a tag.
    fn angle(&mut self) -> bool {
        let rest = self.rest();
        let length =
            if rest.starts_with(b"<<") || rest.starts_with(b">>") || rest[1..].starts_with(b"=") { 2 } else { 1 };
        let closes = rest[0] == b'>';
        self.at += length;
        self.next = if closes { Next::Either } else { Next::Operand };
        true
    }

    fn sign(&mut self) -> bool {
        let rest = self.rest();
        if self.next != Next::Operand
            && let Some(operator) = BINARY.iter().find(|operator| rest.starts_with(operator))
        {
            self.at += operator.len();
            self.next = if *operator == b"++" { Next::Operator } else { Next::Operand };
            return true;
        }
        // The character belongs to the operand before it: `vec![…]`, `x!.y`, `x!)`.
        if self.next == Next::Operator {
            self.at += 1;
            return rest[0] == b'!' && matches!(rest.get(1), Some(b'(' | b'[' | b'{' | b')' | b',' | b';'));
        }
        const PREFIXES: [&[u8]; 16] =
            [b"...", b"&&", b"**", b"!!", b"@@", b"..", b"&", b"*", b"!", b"-", b"+", b"$", b"@", b":", b"\\", b"|"];
        // The character begins an operand: `a = -b`, `$x`, `|| x`, `.none`.
        let prefix = PREFIXES.iter().find(|prefix| rest.starts_with(prefix));
        self.at += prefix.map_or(1, |prefix| prefix.len());
        prefix.is_some() || matches!(rest[0], b'.' | b'#' | b'%' | b'?')
    }
}

/// Whether the name looks like a name that people choose: it consists of words, abbreviations, and digits at
/// the end of a part.
pub(crate) fn is_name(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'_').all(is_name_part)
}

/// Whether the name has only lower-case letters, only capitals without digits, or capitals after a prefix
/// such as `get`. A generated password mixes lower-case letters, capitals and digits in other ways.
fn is_even(name: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| name.iter().any(kind);
    let prefix = name.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    match (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase)) {
        (true, true) => prefix >= 3,
        (false, true) => !has(u8::is_ascii_digit),
        _ => true,
    }
}

/// Whether the name contains a word with digits that is common in names.
fn has_known_word(name: &[u8]) -> bool {
    #[rustfmt::skip]
    const KNOWN: [&str; 47] = [
        "sha1", "sha2", "sha5", "sha3", "base64", "base32", "base58", "b64", "utf8", "utf16", "md5", "oauth2", "x509", "k8s",
        "s3", "ed255", "i18n", "l10n", "ipv4", "ipv6", "http2", "pkcs", "ec2", "h2c", "b16", "b85", "aes1", "aes2", "a128",
        "a192", "a256", "rsa2", "rsa4", "hs256", "rs256", "es256", "int16", "int32", "int64", "float32", "float64", "beta1",
        "alpha1", "ec256", "ec384", "p256", "p384",
    ];
    // Two letters and digits often occur in a random value, so a short known word must begin a word.
    let begins = |at: usize| {
        at == 0
            || !name[at - 1].is_ascii_alphabetic()
            || (name[at - 1].is_ascii_lowercase() && name[at].is_ascii_uppercase())
    };
    KNOWN.iter().any(|known| {
        let mut windows = name.windows(known.len()).enumerate();
        windows.any(|(at, window)| window.eq_ignore_ascii_case(known.as_bytes()) && (known.len() > 3 || begins(at)))
    })
}

fn is_name_part(part: &[u8]) -> bool {
    let num_digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &part[..part.len() - num_digits];
    if stem.iter().any(u8::is_ascii_digit) {
        // Digits may separate two words, as in `user1Password`.
        let is_word = |word: &[u8]| word.len() >= 4 && Shape::of(word).in_words == word.len();
        return has_known_word(part) || stem.split(u8::is_ascii_digit).all(is_word);
    }
    if num_digits > 4 {
        return false;
    }
    let num_small = stem.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    if num_small == 0 || num_small == stem.len() {
        return stem.len() <= 12 || Shape::of(stem).is_wordy();
    }
    let is_capital = |byte: &u8| byte.is_ascii_uppercase();
    let num_words = stem.windows(2).filter(|pair| !is_capital(&pair[0]) && is_capital(&pair[1])).count() + 1;
    (num_words * 3 <= stem.len() + 3 && !shape::is_bare_noise(stem)) || Shape::of(stem).is_wordy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_recognised_as_expression() {
        for code in [
            "get_password(user)",
            "config.db[0].password2",
            "Option<String>,",
            "&'static",
            "[]byte",
            "map[string]string",
            "self.pass1!=other.pass2",
            "$this->password",
            "@password",
            "vec![user1]",
            "new",
            "x509.Parse(key)",
            "os.environ['PASS']",
            "password1)",
            "user_2.secret?.value",
            "std::env::var(",
            "(String)value1",
            "e.a,b:c(d)",
        ] {
            assert!(is_expression(code.as_bytes()), "{code}");
        }
    }

    #[test]
    fn generated_passwords_are_not_expressions() {
        for password in
            ["k3(x9}Q$z", "$aB3xK9q2", "x[9k2!Lp", "{7hK-pQ2z", "!Qz8@mK3", "aB3$x,9Q;k", "T7%uX=2b|Rk", "f4<Qm2>Zx9"]
        {
            assert!(!is_expression(password.as_bytes()), "{password}");
        }
    }
}
