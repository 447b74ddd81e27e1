//! Decides which names of columns and rows indicate a secret, and which cells are secrets.

use std::ops::Range;

use crate::judge::{self, Style};
use crate::name::{Name, Naming, Promise};
use crate::shape;

/// Maximum length of a name in a cell, in bytes.
pub(crate) const LONGEST_NAME: usize = 40;

/// Words that name secrets, each with the family of names to which it belongs.
const NAMING: [(&[u8], Naming); 7] = [
    (b"pass", Naming::Password),
    (b"pwd", Naming::Password),
    (b"pw", Naming::Password),
    (b"secret", Naming::Secret),
    (b"cred", Naming::Secret),
    (b"token", Naming::Token),
    (b"key", Naming::Key),
];

/// The family of a name, and the kind of value that the name of a column or row indicates.
pub(crate) type Promised = (Naming, Promise);

/// The kind of value that the name in a cell indicates. `None` if the cell contains other text.
pub(crate) fn promised(name: &[u8]) -> Option<Promised> {
    if name.len() > LONGEST_NAME || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte)) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    NAMING.into_iter().find_map(|(word, naming)| {
        let at = lower.windows(word.len()).position(|window| window == word)?;
        Some((naming, Name::around(name, at..at + word.len(), naming)?.promise))
    })
}

/// The value of a cell, if it is a secret of the kind that the name of its column or row indicates.
pub(crate) fn secret_cell(text: &[u8], cell: &Range<usize>, promised: Promised) -> Option<Range<usize>> {
    let plain = trimmed(text, cell, b" \t\r");
    let value = trimmed(text, &plain, b"*`\"'\\");
    is_secret_cell(&text[value.clone()], promised, value.len() < plain.len()).then_some(value)
}

fn is_secret_cell(value: &[u8], (naming, promise): Promised, quoted: bool) -> bool {
    let shape = shape::Shape::of(value);
    let spaced = shape.blanks > 0 && !quoted;
    !spaced
        && !value.starts_with(b"--")
        && (shape.blanks > 0 || promise == Promise::Explicit || judge::is_more_than_a_word(value))
        && judge::is_secret(naming, promise, Style::Literal, value)
        && !judge::is_code(value)
}

/// The content of a cell, without quotes and emphasis around it.
pub(crate) fn inner(text: &[u8], cell: &Range<usize>) -> Range<usize> {
    trimmed(text, cell, b" \t\r*`\"'\\_^=!")
}

pub(crate) fn trimmed(text: &[u8], range: &Range<usize>, signs: &[u8]) -> Range<usize> {
    let bytes = &text[range.clone()];
    let before = bytes.iter().take_while(|byte| signs.contains(byte)).count();
    let after = bytes[before..].iter().rev().take_while(|byte| signs.contains(byte)).count();
    range.start + before..range.end - after
}

pub(crate) fn trimmed_once(text: &[u8], range: &Range<usize>, sign: u8) -> Range<usize> {
    let bytes = &text[range.clone()];
    let before = usize::from(bytes.first() == Some(&sign));
    let after = usize::from(bytes.len() > before && bytes.last() == Some(&sign));
    range.start + before..range.end - after
}
