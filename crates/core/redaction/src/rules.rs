//! The rules as data. If two rules find the same text, the rule with the earlier row applies.

mod cloud;
mod development;
mod general;
mod services;

use crate::name::Naming;

/// Part of the key of everything that is derived from redacted texts. Raise it whenever the rules redact
/// other text.
pub const RULES_VERSION: u32 = 6;

/// One kind of secret: how it is found and judged.
pub(crate) struct Rule {
    /// The name that users see and silence: lower-case words with hyphens.
    pub(crate) id: &'static str,
    /// The rule is tried only where one of these texts occurs, in upper or lower case.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) find: Find,
}

pub(crate) enum Find {
    Pattern(Pattern),
    /// A name and the value that is assigned to it, in any syntax.
    Assignment(Naming),
    /// The userinfo of a URL.
    Userinfo,
    /// The userinfo of a URL that is a parameter of another URL.
    EncodedUserinfo,
    /// A block of base64 with the beginning of a private key.
    KeyBody,
    /// The private members of a JSON Web Key.
    Jwk,
    /// The passwords of a command line.
    Command,
    /// A password that is written to the standard input of a command.
    Piped,
    /// The password after `-u user -p`.
    Options,
    /// The arguments of a call whose name is that of a credential.
    Credentials,
    /// The arguments of a call on a line that names a password.
    Field,
    /// The literal after a word.
    LiteralAfter,
    /// The password after a user and a slash.
    Pair,
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
    /// The values of a manifest of kind `Secret`.
    Manifest,
    /// Base64 of a text in which another rule finds a secret.
    Encoded,
}

pub(crate) struct Pattern {
    /// The first group that matches is the secret. Without a group it is the whole match. A match never
    /// contains a line feed.
    pub(crate) regex: &'static str,
    /// Maximum number of bytes of a match before the keyword. With 0 the match begins with the keyword.
    pub(crate) back: usize,
    pub(crate) check: Check,
}

/// A condition for a match.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Enough different characters. Refuses `ghp_xxxxxxxx`.
    Varied,
    /// Mixed letters and digits without words. For formats that identifiers share.
    Random,
    /// Capitals, with a digit or with high entropy. For prefixes that also begin names of styles and
    /// packages.
    Mixed,
    /// Base64 of `user:password`.
    BasicAuth,
    /// Anything except a template or a placeholder. For values that people choose.
    Chosen,
    /// Like `Chosen`, with a digit or a sign. For names that occur in prose and in translations.
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

/// A token that is identified by a part in its middle or at its end.
const fn inner(id: &'static str, keywords: &'static [&'static str], back: usize, regex: &'static str) -> Rule {
    Rule { id, keywords, find: Find::Pattern(Pattern { regex, back, check: Check::Varied }) }
}

/// The regular expression of a value that is assigned to a name. The name begins with `$name`, and the value
/// may be quoted.
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
    fn rows_of_rules_are_well_formed() {
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
