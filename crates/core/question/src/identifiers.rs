//! Recognises words of a question that are spelled like identifiers or like file names.

use std::sync::LazyLock;

use crate::tokens::{Token, TokenKind};
use crate::vocabulary::list;

/// Names of products, formats and standards that are spelled like identifiers. Lower case, sorted.
static PRODUCT_NAMES: LazyLock<&[&str]> = LazyLock::new(|| list("product_names"));

/// Words that contain dots but are not identifiers.
static DOTTED_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("dotted_words"));

/// Extensions of file names, without the dot. The list also contains words that are the first of two
/// extensions, so that `Button.test` and `app.config` are file names.
static EXTENSIONS: LazyLock<&[&str]> = LazyLock::new(|| list("extensions"));

/// Names of files that have no extension, in lower case.
static BARE_FILES: LazyLock<&[&str]> = LazyLock::new(|| list("bare_files"));

/// Names of files with an unusual extension, in lower case: `manifest.in`.
static WHOLE_FILES: LazyLock<&[&str]> = LazyLock::new(|| list("whole_files"));

/// Names of files that are usually written in capitals. The list contains them in lower case. If they are not
/// written in capitals, they are ordinary words.
static CAPITAL_FILES: LazyLock<&[&str]> = LazyLock::new(|| list("capital_files"));

/// Names of hidden files (their first character is a dot).
static DOT_FILES: LazyLock<&[&str]> = LazyLock::new(|| list("dot_files"));

/// Prefixes of the names of standards and codes, such as `UTF-8` and `SHA-256`. Such names are not names of
/// documents.
static STANDARDS: LazyLock<&[&str]> = LazyLock::new(|| list("standards"));

/// Pairs of words that are separated by a slash and are not paths.
static WORD_PAIRS: LazyLock<&[&str]> = LazyLock::new(|| list("word_pairs"));

pub(crate) fn is_word_pair(text: &str) -> bool {
    WORD_PAIRS.contains(&text.to_lowercase().as_str())
}

/// The path and the name in a text that names a definition and its file: `src/server.py` and `Server.run` in
/// `src/server.py#Server.run`, `src/server.py::Server.run` and `src/server.py:Server.run`. `None` for names
/// such as `Server#run` and `Server::run`.
pub fn path_and_name(text: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| name.chars().any(char::is_alphabetic);
    let after_hash = text.split_once('#').map(|(path, name)| (path, name.trim()));
    let found = after_hash.filter(|(path, name)| is_path(path) && is_name(name)).or_else(|| {
        let (path, rest) = text.split_once(':')?;
        let name = rest.strip_prefix(':').unwrap_or(rest);
        let is_start = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let is_line = name.trim_start_matches(['L', 'l']).starts_with(|first: char| first.is_ascii_digit());
        let is_whole = is_start && !is_line && name.len() > 1 && !name.contains(['/', ' ', '-']);
        (path.contains('/') && has_extension(path) && is_path(path) && is_whole).then_some((path, name))
    });
    found.filter(|_| !text.contains("://"))
}

fn is_path(text: &str) -> bool {
    (text.contains('/') || has_extension(text)) && !text.contains(char::is_whitespace)
}

fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(before, extension)| {
        let is_of_extension = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        !before.is_empty() && (1..=5).contains(&extension.len()) && extension.chars().all(is_of_extension)
    })
}

/// Whether a word of a question is spelled in a way that is usual only for identifiers. The result is false
/// for words in quotes and code spans.
pub(crate) fn is_identifier(token: &Token) -> bool {
    token.kind == TokenKind::Word && is_identifier_text(&token.text)
}

/// Whether a text is written like the name of a definition: `get_user`, `getUser`, `Server.run`, `run()`.
pub fn is_identifier_text(text: &str) -> bool {
    if path_and_name(text).is_some() {
        return true;
    }
    let is_url = text.contains("://");
    if is_url || text.contains(['/', '*', '@', '%']) || text.starts_with('-') || is_file_text(text) {
        return false;
    }
    let bare = text.trim_matches(|character: char| !character.is_alphanumeric() && character != '_');
    if !bare.chars().any(char::is_alphabetic) || DOTTED_WORDS.contains(&bare.to_lowercase().as_str()) {
        return false;
    }
    let is_call = text.find('(').is_some_and(|open| open > 0) && text.ends_with(')');
    let is_qualified = bare.contains("::") || bare.contains("->") || bare.contains('#');
    is_call || is_qualified || is_namespaced(bare) || has_underscore(bare) || is_dotted(bare) || is_camel_case(bare)
}

/// Whether backslashes separate the parts of a name, as in PHP: `Shop\Cart`.
fn is_namespaced(word: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(char::is_alphabetic) && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    word.contains('\\') && word.contains(char::is_uppercase) && word.split('\\').all(is_name)
}

fn has_underscore(word: &str) -> bool {
    word.contains('_')
        && word.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '.' | '?' | '!'))
}

fn is_dotted(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_name = |part: &&str| part.len() > 1 && part.starts_with(char::is_alphabetic);
    parts.len() > 1 && parts.iter().all(is_name) && !matches!(parts[parts.len() - 1], "com" | "org" | "net" | "io")
}

/// Whether a capital follows a lower-case letter, or a lower-case letter follows two capitals, or a capital
/// follows letters and digits (`S3Store`). The result is false for plural acronyms (`URLs`) and for names of
/// products.
fn is_camel_case(word: &str) -> bool {
    if !word.chars().all(|character| character.is_alphanumeric()) || is_product(word) {
        return false;
    }
    let letters: Vec<char> = word.chars().collect();
    let after_lower = letters.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    let after_capitals = letters.windows(4).any(|part| {
        part[0].is_uppercase() && part[1].is_uppercase() && part[2].is_lowercase() && part[3].is_lowercase()
    });
    after_lower || after_capitals || has_capital_after_digits(word)
}

/// Whether a capital follows digits inside a word that begins with a letter: `S3Store`, `base64Encode`.
fn has_capital_after_digits(word: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let has_capital = word.split(is_digit).skip(1).any(|rest| rest.starts_with(char::is_uppercase));
    has_capital && !word.starts_with(is_digit) && word.chars().any(char::is_lowercase)
}

pub(crate) fn is_product(word: &str) -> bool {
    PRODUCT_NAMES.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether a word is the name or the path of a file.
pub(crate) fn is_file(token: &Token) -> bool {
    is_file_text(&token.text)
}

/// Whether a text is the name or the path of a file with a known extension.
pub fn is_file_text(text: &str) -> bool {
    let is_path_character = |character: char| character.is_alphanumeric() || "._-/+@*?[]{},".contains(character);
    if text.contains("://") || !text.chars().all(is_path_character) {
        return false;
    }
    let base = text.rsplit('/').next().unwrap_or(text);
    if DOTTED_WORDS.contains(&text.to_lowercase().as_str()) {
        return false;
    }
    if DOT_FILES.contains(&base) || WHOLE_FILES.contains(&base.to_lowercase().as_str()) {
        return true;
    }
    base.rsplit_once('.').is_some_and(|(stem, extension)| {
        let is_known = EXTENSIONS.contains(&extension.to_lowercase().as_str());
        let has_name = stem.chars().any(char::is_alphabetic)
            || stem.contains('*')
            || (stem.is_empty() && !is_one_letter(extension));
        is_known && has_name && (extension.len() > 1 || is_source_stem(stem))
    })
}

fn is_one_letter(text: &str) -> bool {
    text.len() == 1
}

/// Whether the part before an extension of one letter looks like the name of a source file.
fn is_source_stem(stem: &str) -> bool {
    stem.len() > 1 && !stem.contains('.') && !stem.chars().any(char::is_uppercase)
}

/// Whether a word is the name of a numbered document: `ADR-025`, `RFC-7231`.
pub(crate) fn is_document_id(text: &str) -> bool {
    let Some((prefix, rest)) = text.split_once('-') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = &rest[digits..];
    let is_prefix = (2..=8).contains(&prefix.len()) && prefix.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_lower_prefix = prefix.len() >= 3 && digits >= 3 && prefix.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_prefix || is_lower_prefix)
        && digits > 0
        && (after.is_empty() || after.starts_with(['-', '_', '.']))
        && !STANDARDS.contains(&prefix.to_lowercase().as_str())
}

/// Whether a word is the known name of a file that has no extension.
pub(crate) fn is_bare_file(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_in_capitals = text.chars().all(char::is_uppercase);
    BARE_FILES.contains(&lower.as_str()) && text.starts_with(char::is_uppercase)
        || CAPITAL_FILES.contains(&lower.as_str()) && is_in_capitals
}

/// Whether a word begins with a capital and has a lower-case letter: `Parser`.
pub(crate) fn is_capitalised(token: &Token) -> bool {
    token.kind == TokenKind::Word
        && token.text.starts_with(char::is_uppercase)
        && token.text.chars().any(char::is_lowercase)
        && token.text.chars().all(char::is_alphanumeric)
        && !is_product(&token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_differ_from_words() {
        assert!(PRODUCT_NAMES.is_sorted());
        for name in [
            "validateToken",
            "getUserById",
            "UserService",
            "user_id",
            "_private",
            "__init__",
            "MAX_SIZE",
            "render()",
            "f(x)",
            "Foo::bar",
            "os.path",
            "Parser.parse",
            "HTTPServer",
            "JSONParser",
            "Server#run",
            "parseHTTPResponse2",
            "S3Store",
            "Http2Client",
            "Utf8Decoder",
            "MD5Hasher",
            "base64Encode",
            "OAuth2Session",
            "Point2D",
            "ipv4_parse",
            "empty_?",
            "src/server.py#Server.run",
            "server.py#run",
        ] {
            assert!(is_identifier_text(name), "{name} is an identifier");
        }
        for word in [
            "token",
            "Token",
            "API",
            "APIs",
            "URLs",
            "GitHub",
            "OAuth2",
            "IPv6",
            "e.g",
            "node.js",
            "auth.py",
            "src/auth",
            "end-to-end",
            "v1.2.3",
            "3.14",
            "example.com",
            "sha256",
            "x509",
            "EC2",
            "E2E",
            "2FA",
            "Http2",
            "Neo4J",
            "https://a.b/cD",
            "--noCache",
            "https://a.b/guide#start",
            "docs/guide#1",
            "*.test.ts",
            "config.json",
        ] {
            assert!(!is_identifier_text(word), "{word} is not an identifier");
        }
    }

    #[test]
    fn name_may_contain_a_path() {
        let check = |text: &str, expect| assert_eq!(path_and_name(text), expect, "{text}");
        check("src/server.py#Server.run", Some(("src/server.py", "Server.run")));
        check("server.py#run", Some(("server.py", "run")));
        check("Server#run", None);
        check("App.Server#run", None);
        check("#private", None);
        check("run", None);
        check("https://example.com/a.html#run", None);
        check("docs/guide.md#", None);
    }

    #[test]
    fn files_differ_from_qualified_names() {
        for name in [
            "auth.py",
            "config.json",
            "Button.test",
            "Button.test.tsx",
            "*.test.ts",
            "src/net/tcp.rs",
            ".gitlab.yml",
            "go.mod",
            "main.c",
            "ADR-025.md",
            ".env",
        ] {
            assert!(is_file_text(name), "{name} is a file");
        }
        for name in ["View.render", "os.path", "src/auth", "v1.0", "3.14", "https://a.b/c.js", "node.js", "a.b", "e.g"]
        {
            assert!(!is_file_text(name), "{name} is not a file");
        }
    }

    #[test]
    fn document_ids_differ_from_standards() {
        for name in ["ADR-025", "ADR-025-User-Experience", "RFC-7231", "adr-025", "ADR-025.md"] {
            assert!(is_document_id(name), "{name} is a document");
        }
        for name in ["UTF-8", "SHA-256", "iso-8601", "python-3", "end-2-end", "ADR", "Foo-1"] {
            assert!(!is_document_id(name), "{name} is not a document");
        }
    }
}
