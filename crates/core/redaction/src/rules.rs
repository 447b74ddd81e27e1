//! The rules as data. If two rules find the same text, the earlier rule in the table applies.

mod cloud;
mod development;
mod general;
mod services;

use crate::name::Naming;

/// This number is part of the key of all data that is derived from redacted texts. Increase it when a change
/// to the rules affects which text is redacted.
pub const RULES_VERSION: u32 = 8;

/// A rule for one kind of secret. The rule defines how the secret is found and checked.
pub(crate) struct Rule {
    /// The name that users see and use in `secrets.ignore`. The name consists of lower-case words with
    /// hyphens.
    pub(crate) id: &'static str,
    /// The rule is tried only at positions at which one of these texts occurs. Upper and lower case are not
    /// distinguished.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) find: Find,
}

pub(crate) enum Find {
    Pattern(Pattern),
    /// A value that is assigned to a name, in any syntax.
    Assignment(Naming),
    /// The userinfo of a URL.
    Userinfo,
    /// The userinfo of a URL that is percent-encoded as a parameter of a different URL.
    EncodedUserinfo,
    /// A block of base64 that begins like a private key.
    KeyBody,
    /// The private members of a JSON Web Key.
    Jwk,
    /// The passwords of a command line.
    Command,
    /// A password that is passed to the standard input of a command.
    Piped,
    /// The password after `-u user -p`, for any command.
    Options,
    /// The arguments of a call whose name indicates a credential.
    Credentials,
    /// The arguments of a call on a line that contains the name of a password.
    Field,
    /// The string literal after a keyword.
    LiteralAfter,
    /// The password after a user and a slash.
    Pair,
    /// The value after a word that means "password" in a language other than English.
    Translated,
    /// An entry of `.pgpass`.
    Pgpass,
    /// The secret cells of tables.
    Cells,
    /// The secret values in SQL `INSERT` statements.
    Inserted,
    /// The secrets in the printed output of a notebook.
    Printed,
    /// A block of base64 between a header and a footer.
    PrivateKey,
    /// The values of a manifest of kind `Secret`.
    Manifest,
    /// Base64 whose decoded text contains a secret.
    Encoded,
}

pub(crate) struct Pattern {
    /// The first group that matches is the secret. If the expression has no group, the secret is the whole
    /// match. A match never contains a line feed.
    pub(crate) regex: &'static str,
    /// Maximum number of bytes of a match before the keyword. If this number is 0, the match begins with the
    /// keyword.
    pub(crate) back: usize,
    pub(crate) check: Check,
}

/// A condition that a match must meet.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// The value has enough different characters. This condition excludes `ghp_xxxxxxxx`.
    Varied,
    /// The value has mixed letters and digits without words. Used for secrets whose format is also common in
    /// identifiers.
    Random,
    /// The value has capitals, and a digit or high entropy. Used for prefixes that also occur at the
    /// beginning of the names of styles and packages.
    Mixed,
    /// The value is the base64 encoding of `user:password`.
    BasicAuth,
    /// The value is not a template or a placeholder. Used for values that people choose.
    Chosen,
    /// Like `Chosen`, but the value must have a digit or a special character. Used for names that occur in
    /// prose and in translations.
    Strong,
}

/// A rule for a token with a prefix that only its provider uses.
const fn token(id: &'static str, keywords: &'static [&'static str], regex: &'static str) -> Rule {
    checked(id, keywords, regex, Check::Varied)
}

/// A rule for a value that has no special form and is identified by the name before it.
const fn beside(id: &'static str, keywords: &'static [&'static str], regex: &'static str) -> Rule {
    checked(id, keywords, regex, Check::Random)
}

const fn checked(id: &'static str, keywords: &'static [&'static str], regex: &'static str, check: Check) -> Rule {
    Rule { id, keywords, find: Find::Pattern(Pattern { regex, back: 0, check }) }
}

/// A rule for a token that is identified by a part in its middle or at its end.
const fn inner(id: &'static str, keywords: &'static [&'static str], back: usize, regex: &'static str) -> Rule {
    Rule { id, keywords, find: Find::Pattern(Pattern { regex, back, check: Check::Varied }) }
}

/// The regular expression of a value that is assigned to a name. `$name` matches the beginning of the name.
/// The value may be in quotes.
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
