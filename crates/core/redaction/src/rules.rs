//! The rules as data: one row each, in the order of their precedence where two find the same text.

mod cloud;
mod development;
mod general;
mod services;

use crate::name::Naming;

/// Part of the key of everything that is derived from redacted texts. Raise it whenever the rules redact
/// other text.
pub const RULES_VERSION: u32 = 5;

/// How to find and judge one kind of secret.
pub(crate) struct Rule {
    /// The name that users see, and with which they silence findings: lower-case words with hyphens.
    pub(crate) id: &'static str,
    /// One of these texts must occur, in upper or lower case. Only then the rule is tried.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) find: Find,
}

pub(crate) enum Find {
    Pattern(Pattern),
    /// A name and the value that it is given, in any syntax.
    Assignment(Naming),
    /// The userinfo of a URL.
    Userinfo,
    /// The same of a URL within a URL.
    EncodedUserinfo,
    /// A block of base64 that begins as private keys do.
    KeyBody,
    /// The private members of a JSON Web Key.
    Jwk,
    /// The passwords of a command line.
    Command,
    /// A password that is written to the standard input of a command.
    Piped,
    /// The password after `-u user -p`.
    Options,
    /// A word for a password in another language, and its value.
    Translated,
    /// An entry of `.pgpass`.
    Pgpass,
    /// Cells of tables and rows.
    Cells,
    /// Values that SQL inserts.
    Inserted,
    /// Printed output of a notebook.
    Printed,
    /// A block of base64 between header and footer.
    PrivateKey,
    /// The values of a manifest whose kind says that they are secret.
    Manifest,
    /// Base64 of a text in which another rule finds a secret.
    Encoded,
}

pub(crate) struct Pattern {
    /// The first group that matches is the secret; without a group the whole match. Never matches a line
    /// feed.
    pub(crate) regex: &'static str,
    /// How far before the keyword a match may begin, in bytes; at 0 it begins with the keyword.
    pub(crate) back: usize,
    pub(crate) check: Check,
}

/// Further conditions for a match.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Enough different characters: refuses `ghp_xxxxxxxx`.
    Varied,
    /// Letters and digits mixed and no words: for formats that ordinary identifiers share.
    Random,
    /// Capitals, with a digit or with high entropy: for prefixes that also begin names of styles and
    /// packages.
    Mixed,
    /// Base64 of `user:password`.
    BasicAuth,
    /// Anything except a template or a placeholder: for values that people choose.
    Chosen,
    /// The same, with a digit or a sign: for names that occur in prose and in translations.
    Strong,
}

/// A token with a prefix that only its provider uses.
const fn token(id: &'static str, keywords: &'static [&'static str], regex: &'static str) -> Rule {
    checked(id, keywords, regex, Check::Varied)
}

/// A value without a form of its own. The name beside it identifies it.
const fn beside(id: &'static str, keywords: &'static [&'static str], regex: &'static str) -> Rule {
    checked(id, keywords, regex, Check::Random)
}

const fn checked(id: &'static str, keywords: &'static [&'static str], regex: &'static str, check: Check) -> Rule {
    Rule { id, keywords, find: Find::Pattern(Pattern { regex, back: 0, check }) }
}

/// A token whose distinctive part is not its beginning.
const fn inner(id: &'static str, keywords: &'static [&'static str], back: usize, regex: &'static str) -> Rule {
    Rule { id, keywords, find: Find::Pattern(Pattern { regex, back, check: Check::Varied }) }
}

/// The regular expression of a value that is assigned to a name beginning with `$name`, quoted or not.
macro_rules! named {
    ($name:literal, $value:literal) => {
        concat!(
            "(?i:",
            $name,
            r#")[\w .\-]{0,40}[\\"'`\])]{0,4}[ \t]{0,3}[=:,(>][=>:( \t]{0,5}[\\"'`]{0,4}("#,
            $value,
            r#")(?:[^\w\-+/]|\z)"#
        )
    };
}
pub(crate) use named;

static TABLES: [&[Rule]; 5] = [general::KEYS, cloud::RULES, development::RULES, services::RULES, general::RULES];

/// All rules, in the order of their precedence.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.into_iter().flatten()
}

/// The ids of all rules, in the order of their precedence.
pub fn rule_ids() -> impl Iterator<Item = &'static str> {
    rules().map(|rule| rule.id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_are_well_formed() {
        let mut seen = BTreeSet::new();
        for rule in rules() {
            assert!(seen.insert(rule.id), "{} occurs twice", rule.id);
            let sound = rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            assert!(sound && rule.id.len() <= 60, "{}", rule.id);
            assert!(!rule.keywords.is_empty() && rule.keywords.iter().all(|keyword| keyword.len() >= 2), "{}", rule.id);
            if let Find::Pattern(pattern) = &rule.find {
                assert!(
                    !pattern.regex.replace(r"[^\s", "").contains(r"\s"),
                    "{}: a match must stay on its line",
                    rule.id
                );
            }
        }
        assert!(seen.len() >= 45, "{}", seen.len());
    }
}
