//! Reads names from text: chains such as `a.b::c<T>`, receivers, and types.
//!
//! The text of a node is scanned and its children are not visited. The scan is one pass over a few bytes and
//! allocates nothing for plain names. If a text is not a chain of names (a call, an index, a literal), the
//! result is None.

use cairn_languages::LanguageRow;

/// A chain of names, divided into the last part and the parts before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chain<'t> {
    /// The parts before the last part, joined with `.`. This text is empty if the chain has only one part.
    pub(super) prefix: String,
    pub(super) last: &'t str,
    /// The start of `last` in the text.
    pub(super) last_start: usize,
}

impl Chain<'_> {
    pub(super) fn joined(self) -> String {
        if self.prefix.is_empty() {
            return self.last.to_owned();
        }
        let mut joined = self.prefix;
        joined.push('.');
        joined.push_str(self.last);
        joined
    }
}

/// The bytes of names in any language: letters, digits, `_`, sigils, and all non-ASCII bytes.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'#') || byte >= 0x80
}

/// Reads `text` as a chain. The chain must be the whole text.
pub(super) fn split_chain<'t>(row: &LanguageRow, text: &'t str) -> Option<Chain<'t>> {
    let bytes = text.as_bytes();
    let mut chain = Chain { prefix: String::new(), last: "", last_start: 0 };
    let mut at = skip_blank(bytes, 0);
    if let Some(word) = row.super_words.iter().find(|word| word.ends_with(')') && text[at..].starts_with(**word)) {
        chain.last = &text[at..at + word.len()];
        chain.last_start = at;
        at += word.len();
        if at == bytes.len() {
            return Some(chain);
        }
        at = skip_separator(row, text, at)?;
    } else if let Some(after) = skip_separator(row, text, at) {
        at = after;
    }
    loop {
        let start = at;
        while at < bytes.len() && (is_name_byte(bytes[at]) || is_name_suffix(bytes, at)) {
            at += 1;
        }
        if start == at {
            return None;
        }
        push_part(&mut chain, &text[start..at], start);
        at = skip_generics(row, bytes, skip_blank(bytes, at))?;
        if at == bytes.len() {
            return Some(chain);
        }
        at = skip_separator(row, text, at)?;
        at = skip_generics(row, bytes, at)?;
        if at == bytes.len() {
            return Some(chain);
        }
        if let Some(after) = skip_separator(row, text, at) {
            at = after;
        }
    }
}

/// Whether this byte can be the end of a name: `?` or `!` in Ruby and Elixir, or `!` after a value in
/// TypeScript.
fn is_name_suffix(bytes: &[u8], at: usize) -> bool {
    // The separators `?.`, `!!.` and `?->` are not part of a name.
    let is_last = || !matches!(bytes.get(at + 1), Some(b'.' | b'!' | b'-'));
    matches!(bytes[at], b'?' | b'!') && at > 0 && is_name_byte(bytes[at - 1]) && is_last()
}

fn push_part<'t>(chain: &mut Chain<'t>, part: &'t str, start: usize) {
    if !chain.last.is_empty() {
        if !chain.prefix.is_empty() {
            chain.prefix.push('.');
        }
        chain.prefix.push_str(chain.last);
    }
    chain.last = part;
    chain.last_start = start;
}

fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

/// The position after a separator and the white space around it.
fn skip_separator(row: &LanguageRow, text: &str, at: usize) -> Option<usize> {
    let at = skip_blank(text.as_bytes(), at);
    let rest = &text.as_bytes()[at..];
    let separator = row.separators.iter().find(|separator| rest.starts_with(separator.as_bytes()))?;
    Some(skip_blank(text.as_bytes(), at + separator.len()))
}

/// The position after balanced `<…>` or `[…]`, if the language writes type arguments in this way. None if the
/// closing bracket is missing.
fn skip_generics(row: &LanguageRow, bytes: &[u8], at: usize) -> Option<usize> {
    let Some(open) = bytes.get(at).filter(|byte| row.generic_brackets.contains(byte)) else { return Some(at) };
    let close = match open {
        b'<' => b'>',
        b'[' => b']',
        other => *other,
    };
    let mut depth = 0usize;
    for (offset, byte) in bytes[at..].iter().enumerate() {
        let is_arrow = *byte == b'>' && offset > 0 && matches!(bytes[at + offset - 1], b'-' | b'=');
        if byte == open {
            depth += 1;
        } else if *byte == close && !is_arrow {
            depth -= 1;
            if depth == 0 {
                return Some(skip_blank(bytes, at + offset + 1));
            }
        }
    }
    None
}

/// The text after the mark of the global namespace. None if the name has no such mark.
pub(super) fn after_root<'t>(row: &LanguageRow, text: &'t str) -> Option<&'t str> {
    row.root_marks.iter().find_map(|mark| text.trim_start().strip_prefix(mark))
}

/// The receiver of a name in the global namespace. `prefix` is the part of the chain before the name.
pub(super) fn rooted(prefix: &str) -> String {
    if prefix.is_empty() { ROOT.to_owned() } else { format!("{ROOT}.{prefix}") }
}

/// The receiver that means the global namespace.
pub(super) const ROOT: &str = "<root>";

/// A receiver in the form that facts use. Parts are joined with `.`. For every language, the current object
/// is written as `self`, and its parent class as `super`. Expressions that are not a chain of names are
/// written as `<expr>`. `own_name` is the name that the enclosing method uses for its object, in languages
/// where a method can choose this name.
pub(super) fn receiver(row: &LanguageRow, text: &str, own_name: Option<&str>) -> String {
    if let Some(chain) = after_root(row, text).and_then(|text| split_chain(row, text)) {
        return rooted(&chain.joined());
    }
    // `value!!` in Kotlin and `value!` in Swift and TypeScript mean the value itself. Zig's grammar parses
    // `!a.b()` as a member of `!a`.
    let text = text.trim_start_matches('!');
    let is_asserted = text.ends_with("!!") || row.separators.contains(&"!.");
    match split_chain(row, if is_asserted { text.trim_end_matches('!') } else { text }) {
        Some(chain) => own_words(row, chain.joined(), own_name),
        None => "<expr>".to_owned(),
    }
}

/// If the first part is the language's word for the current object or its parent class, replaces this part
/// with `self` or `super`.
pub(super) fn own_words(row: &LanguageRow, joined: String, own_name: Option<&str>) -> String {
    let (first, rest) = match joined.find('.') {
        Some(dot) => joined.split_at(dot),
        None => (joined.as_str(), ""),
    };
    if let Some(field) = row.field_sigil.and_then(|sigil| first.strip_prefix(sigil)) {
        return format!("self.{}{rest}", plain_name(row, field));
    }
    let word = if own_name == Some(first) || row.self_words.contains(&first) {
        "self"
    } else if row.super_words.contains(&first) {
        "super"
    } else {
        let plain = joined.trim_start_matches(row.sigils);
        return if plain.len() == joined.len() { joined } else { plain.to_owned() };
    };
    if first == word { joined } else { format!("{word}{rest}") }
}

/// The chain of names that ends directly before `end`. The result is used for calls whose receiver has no
/// separate node, as in token trees of macros. None if no name with a separator ends there.
pub(super) fn chain_before<'t>(row: &LanguageRow, text: &'t str, end: usize) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let separator_before = |at: usize| {
        let separator = row.separators.iter().find(|separator| bytes[..at].ends_with(separator.as_bytes()))?;
        Some(at - separator.len())
    };
    let mut start = None;
    let mut at = end;
    while let Some(name_end) = separator_before(at) {
        let mut name_start = name_end;
        while name_start > 0 && is_name_byte(bytes[name_start - 1]) {
            name_start -= 1;
        }
        if name_start == name_end {
            // The text before the separator is not a name, so the receiver is an expression.
            return Some(&text[name_end..name_end]);
        }
        start = Some((name_start, name_end.max(start.map_or(0, |(_, end)| end))));
        at = name_start;
    }
    start.map(|(start, end)| &text[start..end])
}

/// The name of a type in an annotation or constructor, without references, modifiers and type arguments. One
/// of the row's `transparent_types` is replaced by its type argument.
pub(super) fn type_name(row: &LanguageRow, text: &str) -> Option<String> {
    let text = strip_modifiers(row, text);
    if let Some(open) = text.bytes().position(|byte| row.generic_brackets.contains(&byte)) {
        let head = split_chain(row, text[..open].trim_end())?;
        if row.transparent_types.contains(&head.last) {
            let inner = &text[open + 1..];
            let inner_end = inner.rfind(['>', ']'])?;
            return type_name(row, first_argument(&inner[..inner_end]));
        }
    }
    let text = text.trim_end_matches(['?', '!', '*', '&', ' ']);
    let union = text.split('|').map(str::trim).filter(|part| !matches!(*part, "None" | "null" | "undefined" | "nil"));
    let mut parts = union.take(2);
    let (Some(only), None) = (parts.next(), parts.next()) else { return None };
    let name = split_chain(row, only)?.joined();
    name.starts_with(|first: char| first.is_alphabetic() || first == '_').then_some(name)
}

fn strip_modifiers<'t>(row: &LanguageRow, text: &'t str) -> &'t str {
    let mut text = text.trim();
    loop {
        let before = text;
        text = text.trim_start_matches(['&', '*', '?', ':', ' ', '(']).trim_end_matches(')');
        if row.quoted_types {
            text = text.trim_matches(['"', '\'']);
        }
        if before.starts_with("&'") {
            text = text.split_once(' ').map_or("", |(_, rest)| rest);
        }
        for modifier in row.type_modifiers {
            if let Some(rest) = text.strip_prefix(modifier).filter(|rest| rest.starts_with(' ')) {
                text = rest;
            }
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// The part before the first comma that is not inside brackets.
fn first_argument(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' => depth += 1,
            b'>' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The name without quotes, sigils and raw markers, and without the colon of a keyword (`name: `).
pub(super) fn plain_name<'t>(row: &LanguageRow, text: &'t str) -> &'t str {
    let trimmed = text.trim_end();
    let text = if trimmed.len() < text.len() { trimmed.strip_suffix(':').unwrap_or(trimmed) } else { text };
    // Removes the quotes of a name such as `@"error"` in Zig.
    let text = text.strip_prefix("@\"").and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    // In Haskell, a quote at the end is part of the name.
    let text = if text.starts_with(QUOTES) { text.trim_matches(QUOTES) } else { text };
    let text = text.strip_prefix("r#").unwrap_or(text);
    text.trim_start_matches(row.sigils)
}

/// The text on one line, with at most `limit` characters. White space is folded to single spaces. White space
/// after an opening bracket and before a closing bracket is removed. A comma before a closing bracket is
/// removed.
pub(super) fn fold(text: &str, limit: usize) -> String {
    let mut folded = String::with_capacity(text.len().min(limit));
    let mut num_chars = 0;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() {
            gap = !folded.is_empty();
            continue;
        }
        if gap && matches!(character, ')' | ']') && folded.ends_with(',') {
            folded.pop();
            num_chars -= 1;
        }
        let needs_space = gap && !folded.ends_with(['(', '[']) && !matches!(character, ')' | ']' | ',' | ';');
        gap = false;
        if num_chars + 1 + usize::from(needs_space) > limit {
            break;
        }
        if needs_space {
            folded.push(' ');
            num_chars += 1;
        }
        folded.push(character);
        num_chars += 1;
    }
    folded
}
/// The maximum length of a qualified name, in bytes. A limit is needed because the qualified name of each
/// member contains the names of all its containers.
pub(super) const MAX_QUALIFIED_BYTES: usize = 1_000;

/// The qualified name, or only the name if the qualified name would be too long.
pub(super) fn qualify(prefix: Option<&str>, name: &str) -> String {
    match prefix.filter(|prefix| prefix.len() + name.len() < MAX_QUALIFIED_BYTES) {
        Some(prefix) => format!("{prefix}.{name}"),
        None => name.to_owned(),
    }
}
