//! Decides whether a name indicates that its value is a secret: `db_password` indicates a secret,
//! `password_hint` does not.

use std::ops::Range;

/// The families of names. In the table of rules, each family has its own keywords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Naming {
    Password,
    Secret,
    Token,
    Key,
    Auth,
}

/// The kind of value that a name indicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promise {
    /// A person chose the value. The value does not need to look random.
    Password,
    /// A machine generated the value. The value must look random.
    Explicit,
    /// The name often has a different meaning, so the value must clearly look random.
    Weak,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub(crate) promise: Promise,
    pub(crate) span: Range<usize>,
}

/// Maximum number of bytes of a name before the keyword, and after it.
const REACH: usize = 64;

/// Words at the end of a name that show that the value is only a property of the secret, such as its length.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "name", "names", "id", "ids", "path", "paths", "file", "files", "filename", "dir", "url", "urls", "uri", "type",
    "types", "count", "counts", "length", "len", "size", "index", "idx", "expiry", "expires", "expiration", "ttl",
    "timeout", "time", "at", "field", "fields", "label", "prefix", "suffix", "regex", "regexp", "pattern", "ref",
    "refs", "arn", "version", "provider", "providers", "endpoint", "header", "headers", "hash", "hashes", "hashed",
    "digest", "checksum", "sum", "fingerprint", "kind", "format", "policy", "min", "max", "limit", "hint", "message",
    "msg", "error", "errors", "prompt", "placeholder", "title", "help", "description", "desc", "column", "col",
    "input", "selector", "element", "button", "icon", "alg", "algo", "algorithm", "scheme", "mode", "flag",
    "required", "enabled", "strength", "rule", "rules", "validator", "generator", "location", "namespace", "class",
    "scope", "scopes", "pos", "position", "offset", "start", "end", "span", "usage", "info", "status", "state", "map",
    "set", "table", "signature", "public", "pub", "cert", "certificate", "codes", "encoding", "salt", "charset",
];

/// Words after the keyword that do not change the meaning of the name.
#[rustfmt::skip]
const NEUTRAL: &[&str] = &[
    "value", "val", "string", "str", "prod", "production", "dev", "development", "staging", "stage", "live",
    "sandbox", "base", "default", "admin", "root", "confirm", "confirmation", "again", "repeat", "new", "old",
    "current", "primary", "secondary", "main", "backup", "key", "keys", "token", "secret", "password", "pwd", "plain",
    "plaintext", "raw", "text", "base64", "hex", "bytes", "data", "access", "api", "auth", "user", "db", "test",
    "tests", "equals", "eq",
];

/// Words before `key` that show that the key is a secret.
#[rustfmt::skip]
const SECRET_KEYS: &[&str] = &[
    "api", "access", "secret", "private", "auth", "account", "encryption", "encrypt", "signing", "sign", "master",
    "storage", "shared", "license", "session", "service", "app", "application", "client", "consumer", "deploy",
    "admin", "root", "security", "cipher", "aes", "hmac", "jwt", "webhook", "server", "crypto", "subscription",
    "function", "functions", "host", "instrumentation", "ingest", "write", "integration", "signature", "salt", "bot",
    "auth",
];

/// Words before `key` or `token` that show that the value is not a secret.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "public", "pub", "publishable", "primary", "foreign", "sort", "partition", "cache", "translation", "i18n", "row",
    "object", "lookup", "unique", "index", "natural", "composite", "site", "page", "continuation", "cursor",
    "pagination", "next", "sync", "hash", "sha", "md5", "etag", "resource", "dedup", "idempotency", "socket",
    "routing", "shard", "group", "message", "registry", "cancellation",
];

/// Words that often form one word with `pass` or `pwd`, as in `dbpass`.
#[rustfmt::skip]
const OWNERS: &[&str] = &[
    "db", "user", "usr", "my", "root", "admin", "smtp", "mail", "email", "ftp", "ssh", "pg", "login", "proxy", "sql",
    "mysql", "redis", "ldap", "wifi", "rabbit", "http", "key", "store", "keystore", "truststore", "trust",
];

impl Name {
    /// The name around the keyword at `hit`, if the name belongs to the family.
    pub(crate) fn around(text: &[u8], hit: Range<usize>, naming: Naming) -> Option<Self> {
        let word = whole_word(text, &hit, naming)?;
        let start = name_start(text, word.start);
        let end = name_end(text, word.end);
        if word.start - start > REACH || end - word.end > REACH {
            return None;
        }
        let before = last_word(&text[start..word.start]);
        let promise = weaken(by_word(text, &word, before, naming)?, &text[word.end..end])?;
        Some(Self { promise, span: start..end })
    }
}

/// The range of the keyword and its ending (`pass` and `word`), if they form a separate word.
fn whole_word(text: &[u8], hit: &Range<usize>, naming: Naming) -> Option<Range<usize>> {
    let rest = &text[hit.end..];
    let endings: &[&str] = match (naming, text[hit.start].to_ascii_lowercase()) {
        (Naming::Password, b'p') if text[hit.start + 1].eq_ignore_ascii_case(&b'a') => {
            &["words", "word", "wd", "phrases", "phrase", "code", "wort", ""]
        }
        (Naming::Secret, b'c') => &["entials", "ential", "s", ""],
        (Naming::Auth | Naming::Password, _) => &[""],
        _ => &["s", ""],
    };
    let ending = endings.iter().find(|ending| starts_ignoring_case(rest, ending.as_bytes()))?;
    let word = hit.start..hit.end + ending.len();
    let alone = begins_word(text, word.start);
    let together = match naming {
        Naming::Password if ending.len() > 1 && *ending != "code" => true,
        Naming::Password => ends_with_one_of(&text[..word.start], OWNERS),
        Naming::Key => ends_with_one_of(&text[..word.start], SECRET_KEYS),
        Naming::Secret => starts_ignoring_case(&text[hit.start..], b"secret"),
        Naming::Token => true,
        Naming::Auth => false,
    };
    ((alone || together) && !word_goes_on(text, word.end)).then_some(word)
}

fn by_word(text: &[u8], word: &Range<usize>, before: &[u8], naming: Naming) -> Option<Promise> {
    let says = |words: &[&str]| words.iter().any(|known| before.eq_ignore_ascii_case(known.as_bytes()));
    match naming {
        Naming::Password
            if ["hashed", "encrypted", "hash"].iter().any(|word| before.eq_ignore_ascii_case(word.as_bytes())) =>
        {
            None
        }
        // A `RenderPass` is not a password, but a `vaultPass` may be a password.
        Naming::Password if word.len() == 4 && text[word.start] == b'P' && !before.is_empty() && !says(OWNERS) => {
            Some(if before.iter().all(u8::is_ascii_uppercase) { Promise::Password } else { Promise::Explicit })
        }
        Naming::Password => Some(Promise::Password),
        Naming::Auth => Some(Promise::Weak),
        _ if says(HARMLESS) || is_public(text, word) || ends_with_one_of(&text[..word.start], &["public"]) => None,
        Naming::Key if says(SECRET_KEYS) || ends_with_one_of(&text[..word.start], SECRET_KEYS) => {
            Some(Promise::Explicit)
        }
        Naming::Key => Some(if after_spaced_word(text, word.start) { Promise::Explicit } else { Promise::Weak }),
        // `bindCredentials` is the password for LDAP.
        Naming::Secret if says(&["bind"]) => Some(Promise::Password),
        Naming::Secret | Naming::Token => Some(Promise::Explicit),
    }
}

/// Whether the word is part of a public name such as `PublicKeyToken` of .NET.
fn is_public(text: &[u8], word: &Range<usize>) -> bool {
    ends_with_one_of(&text[..word.start], &["key"]) && {
        let before = &text[..word.start - 3];
        before.len() >= 6 && before[before.len() - 6..].eq_ignore_ascii_case(b"public")
    }
}

/// Whether a word such as `API` and a space precede the keyword, as in `API key: …`.
fn after_spaced_word(text: &[u8], start: usize) -> bool {
    start > 0 && text[start - 1] == b' ' && ends_with_one_of(&text[..start - 1], SECRET_KEYS)
}

/// Returns a weaker [`Promise`] if the words after the keyword make it less likely that the value is a
/// secret. `None` if the name does not indicate a secret.
fn weaken(promise: Promise, tail: &[u8]) -> Option<Promise> {
    let mut left = promise;
    for word in words(tail) {
        let is_one_of = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
        if is_one_of(ABOUT) {
            return None;
        }
        if !is_one_of(NEUTRAL) && word.len() > 1 {
            left = Promise::Weak;
        }
    }
    Some(left)
}

/// The sequences of letters in `tail`, divided before each capital that follows a lower-case letter. Digits
/// are omitted.
fn words(tail: &[u8]) -> impl Iterator<Item = &[u8]> {
    tail.split(|byte| !byte.is_ascii_alphabetic())
        .flat_map(|run| run.chunk_by(|left, right| !(left.is_ascii_lowercase() && right.is_ascii_uppercase())))
        .filter(|word| !word.is_empty())
}

fn last_word(before: &[u8]) -> &[u8] {
    words(before).last().unwrap_or_default()
}

fn is_joiner(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b'$')
}

fn name_start(text: &[u8], word_start: usize) -> usize {
    let floor = word_start.saturating_sub(REACH + 1);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || is_joiner(*byte);
    floor + text[floor..word_start].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1)
}

/// The end of the name. A joiner, such as `_`, is part of the name only if a letter or a digit follows it.
pub(crate) fn name_end(text: &[u8], word_end: usize) -> usize {
    let mut end = word_end;
    while end - word_end <= REACH {
        match text.get(end) {
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => end += 1,
            Some(b'-' | b'.') if text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric) => end += 1,
            _ => break,
        }
    }
    end
}

/// Whether a word begins at `start`: no letter of the same word precedes it.
fn begins_word(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| text[at]) else { return true };
    !before.is_ascii_alphabetic()
        || (before.is_ascii_lowercase() && text[start].is_ascii_uppercase())
        || is_escape_letter(text, start - 1)
}

/// Whether the letter belongs to an escape such as `\n`, as in JSON and string literals.
pub(crate) fn is_escape_letter(text: &[u8], at: usize) -> bool {
    matches!(text[at], b'n' | b't' | b'r') && at > 0 && text[at - 1] == b'\\'
}

fn word_goes_on(text: &[u8], end: usize) -> bool {
    let Some(next) = text.get(end) else { return false };
    next.is_ascii_lowercase() || (next.is_ascii_uppercase() && text[end - 1].is_ascii_uppercase())
}

fn starts_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word)
}

/// Whether the text ends with one of the words, or with one of the words and a joiner such as `_`.
fn ends_with_one_of(text: &[u8], words: &[&str]) -> bool {
    let text = match text.last() {
        Some(byte) if is_joiner(*byte) => &text[..text.len() - 1],
        _ => text,
    };
    words.iter().any(|word| {
        text.len() >= word.len() && {
            let start = text.len() - word.len();
            text[start..].eq_ignore_ascii_case(word.as_bytes()) && begins_word(text, start)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, keyword: &str, naming: Naming, expect: Option<Promise>) {
        let start = name.to_lowercase().find(keyword).expect("keyword");
        let found = Name::around(name.as_bytes(), start..start + keyword.len(), naming);
        assert_eq!(found.map(|name| name.promise), expect, "{name}");
    }

    #[test]
    fn names_of_passwords_are_recognised() {
        for name in [
            "password",
            "DB_PASSWORD",
            "PGPASSWORD",
            "userPassword",
            "passwd",
            "db.pass",
            "dbpass",
            "spring.datasource.password",
            "password2",
            "passwordConfirm",
            "Pwd",
            "passphrase",
        ] {
            let keyword = if name.to_lowercase().contains("pass") { "pass" } else { "pwd" };
            check(name, keyword, Naming::Password, Some(Promise::Password));
        }
        for name in [
            "passed",
            "bypass",
            "compass",
            "passenger",
            "password_hash",
            "passwordField",
            "password-policy",
            "passport",
        ] {
            check(name, "pass", Naming::Password, None);
        }
        check("password_for_bob", "pass", Naming::Password, Some(Promise::Weak));
    }

    #[test]
    fn names_of_keys_are_recognised() {
        for name in ["api_key", "apiKey", "apikey", "X-API-Key", "SECRET_KEY", "encryptionKey", "accessKey"] {
            check(name, "key", Naming::Key, Some(Promise::Explicit));
        }
        for name in ["key", "rowkeys.key", "my_key"] {
            check(&name.replace("rowkeys.", ""), "key", Naming::Key, Some(Promise::Weak));
        }
        for name in ["public_key", "monkey", "keyboard", "primaryKey", "apiKeyId", "cache-key", "api_key_name"] {
            check(name, "key", Naming::Key, None);
        }
    }

    #[test]
    fn names_of_secrets_and_tokens_are_recognised() {
        check("clientSecret", "secret", Naming::Secret, Some(Promise::Explicit));
        check("clientsecret", "secret", Naming::Secret, Some(Promise::Explicit));
        check("secretName", "secret", Naming::Secret, None);
        check("secretary", "secret", Naming::Secret, None);
        check("credentials", "cred", Naming::Secret, Some(Promise::Explicit));
        check("incredible", "cred", Naming::Secret, None);
        check("ACCESS_TOKEN", "token", Naming::Token, Some(Promise::Explicit));
        check("tokenizer", "token", Naming::Token, None);
        check("publicToken", "token", Naming::Token, None);
        check("PublicKeyToken", "token", Naming::Token, None);
        check("author", "auth", Naming::Auth, None);
        check("auth", "auth", Naming::Auth, Some(Promise::Weak));
    }
}
