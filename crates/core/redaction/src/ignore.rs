//! Reads `secrets.ignore`. In this setting, the owners of a repository list findings that are harmless.

use std::fmt;

use cairn_domain::{Digest, Digester};
use globset::{Glob, GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};

use crate::rules::rule_ids;
use crate::untrusted::{Untrusted, quoted};

/// Maximum compiled size of a regular expression, in bytes. Larger expressions are rejected, because they
/// could exhaust the memory.
const REGEX_BYTES: usize = 256 * 1024;
/// An expression is compiled with each of these limits, in bytes, to measure its size, because the library
/// reports only whether a limit is exceeded.
const REGEX_STEPS: [usize; 3] = [8 * 1024, 32 * 1024, 128 * 1024];
/// Estimated size of a compiled glob, in bytes.
const GLOB_BYTES: usize = 4 * 1024;

/// A pattern of `secrets.ignore` that cannot be used. The message quotes the pattern. For an unknown rule,
/// the message also contains examples of valid patterns.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidRule {
    #[error("secrets.ignore: the pattern is empty")]
    Empty,
    #[error("secrets.ignore: {pattern} matches no rule; write for example `rule:generic-password` or `rule:github-*`")]
    UnknownRule { pattern: Untrusted },
    #[error("secrets.ignore: {pattern} is not a valid regular expression: {reason}")]
    Regex { pattern: Untrusted, reason: Untrusted },
    #[error("secrets.ignore: {pattern} is not a valid glob: {reason}")]
    Glob { pattern: Untrusted, reason: Untrusted },
}

/// One line of `secrets.ignore`.
///
/// | written | silences |
/// |---|---|
/// | `rule:github-pat`, `rule:github-*` | a rule, or all rules whose id matches |
/// | `value:abc123` | exactly this value |
/// | `regex:^AKIA.*TEST$` | values that the expression matches |
/// | `path:tests/**` | whole files (decided by the caller, because a redactor does not receive paths) |
///
/// If a line has none of these prefixes, its content decides: the id of a rule means this rule, a text with
/// `/` or `*` is a path, and any other text is a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IgnorePattern {
    Rule(String),
    Value(String),
    Regex(String),
    Path(String),
}

impl IgnorePattern {
    /// Determines the kind of a line and checks that the line can be used.
    pub fn parse(line: &str) -> Result<Self, InvalidRule> {
        let line = line.trim();
        let pattern = match line.split_once(':') {
            Some(("rule", rest)) => Self::Rule(rest.trim().to_owned()),
            Some(("value", rest)) => Self::Value(rest.trim().to_owned()),
            Some(("regex", rest)) => Self::Regex(rest.trim().to_owned()),
            Some(("path", rest)) => Self::Path(rest.trim().to_owned()),
            _ if rule_ids().any(|id| id == line) => Self::Rule(line.to_owned()),
            _ if line.contains(['/', '*']) => Self::Path(line.to_owned()),
            _ => Self::Value(line.to_owned()),
        };
        pattern.check()?;
        Ok(pattern)
    }

    fn check(&self) -> Result<(), InvalidRule> {
        if self.text().is_empty() {
            return Err(InvalidRule::Empty);
        }
        match self {
            Self::Value(_) => Ok(()),
            Self::Path(text) => compile_glob(text).map(drop),
            Self::Regex(text) => compile_regex(text).map(drop),
            Self::Rule(text) => {
                let glob = compile_glob(text)?.compile_matcher();
                let known = rule_ids().any(|id| glob.is_match(id));
                known.then_some(()).ok_or_else(|| InvalidRule::UnknownRule { pattern: quoted(text) })
            }
        }
    }

    /// An upper bound on the memory that the compiled pattern uses, in bytes.
    pub fn compiled_bytes(&self) -> usize {
        match self {
            Self::Value(text) => text.len(),
            Self::Rule(text) | Self::Path(text) => GLOB_BYTES + 64 * text.len(),
            Self::Regex(text) => {
                let fits = |limit: &usize| RegexBuilder::new(text).size_limit(*limit).build().is_ok();
                REGEX_STEPS.into_iter().find(fits).unwrap_or(REGEX_BYTES)
            }
        }
    }

    fn text(&self) -> &str {
        let (Self::Rule(text) | Self::Value(text) | Self::Regex(text) | Self::Path(text)) = self;
        text
    }
}

impl fmt::Display for IgnorePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Rule(_) => "rule",
            Self::Value(_) => "value",
            Self::Regex(_) => "regex",
            Self::Path(_) => "path",
        };
        write!(formatter, "{kind}:{}", self.text())
    }
}

/// The patterns of one repository, in the order of the setting. Path patterns have no effect in a `Redactor`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SecretsIgnore {
    pub patterns: Vec<IgnorePattern>,
}

impl SecretsIgnore {
    /// Reads the lines of the setting. If lines are invalid, the error describes the first of them.
    pub fn parse<Line: AsRef<str>>(lines: &[Line]) -> Result<Self, InvalidRule> {
        let patterns = lines.iter().map(|line| IgnorePattern::parse(line.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }

    /// The globs of the path patterns. Files with matching paths are not searched for secrets.
    pub fn path_globs(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().filter_map(|pattern| match pattern {
            IgnorePattern::Path(glob) => Some(glob.as_str()),
            _ => None,
        })
    }

    /// A digest of all patterns that affect the result of a `Redactor`. If the digests of two settings are
    /// equal, redactors with these settings give equal results. The order of patterns, repeated patterns and
    /// path patterns do not change the digest.
    pub fn digest(&self) -> Digest {
        let acting = self.patterns.iter().filter(|pattern| !matches!(pattern, IgnorePattern::Path(_)));
        let mut lines: Vec<String> = acting.map(ToString::to_string).collect();
        lines.sort();
        lines.dedup();
        Digester::new("secrets-ignore").list(&lines, |digester, line| digester.text(line)).digest()
    }
}

/// The compiled patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Silencer {
    rules: Vec<GlobMatcher>,
    values: Vec<String>,
    regexes: Vec<Regex>,
}

impl Silencer {
    pub(crate) fn new(ignore: &SecretsIgnore) -> Result<Self, InvalidRule> {
        let mut silencer = Self::default();
        for pattern in &ignore.patterns {
            pattern.check()?;
            match pattern {
                IgnorePattern::Rule(glob) => silencer.rules.push(compile_glob(glob)?.compile_matcher()),
                IgnorePattern::Value(value) => silencer.values.push(value.clone()),
                IgnorePattern::Regex(regex) => silencer.regexes.push(compile_regex(regex)?),
                IgnorePattern::Path(_) => {}
            }
        }
        Ok(silencer)
    }

    pub(crate) fn silences(&self, rule: &str, value: &str) -> bool {
        self.rules.iter().any(|glob| glob.is_match(rule))
            || self.values.iter().any(|known| known == value)
            || self.regexes.iter().any(|regex| regex.is_match(value))
    }
}

fn compile_glob(text: &str) -> Result<Glob, InvalidRule> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map_err(|error| InvalidRule::Glob { pattern: quoted(text), reason: quoted(&error.kind().to_string()) })
}

fn compile_regex(text: &str) -> Result<Regex, InvalidRule> {
    RegexBuilder::new(text).size_limit(REGEX_BYTES).build().map_err(|error| InvalidRule::Regex {
        pattern: quoted(text),
        // The message of the library has several lines. The last line describes the error.
        reason: quoted(error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        let shown = match IgnorePattern::parse(line) {
            Ok(pattern) => pattern.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(shown.starts_with(expect), "{line}: {shown}");
    }

    #[test]
    fn kind_of_each_line_is_detected() {
        check("rule:github-*", "rule:github-*");
        check("github-pat", "rule:github-pat");
        check("  jwt ", "rule:jwt");
        check("tests/**", "path:tests/**");
        check("*.pem.txt", "path:*.pem.txt");
        check("path:fixtures", "path:fixtures");
        check("hunter22", "value:hunter22");
        check("value:jwt", "value:jwt");
        check("regex:^AKIA", "regex:^AKIA");
    }

    #[test]
    fn compiled_size_is_an_upper_bound() {
        let bytes = |line: &str| IgnorePattern::parse(line).expect("valid").compiled_bytes();
        assert_eq!((bytes("value:abc"), bytes("regex:^a$")), (3, 8 * 1024));
        assert_eq!(bytes("regex:[a-z]{900}"), 128 * 1024);
        assert!(bytes("path:a/**") < 8 * 1024);
    }

    #[test]
    fn unusable_pattern_is_quoted() {
        check("", "secrets.ignore: the pattern is empty");
        check("value:", "secrets.ignore: the pattern is empty");
        check("rule:githb", "secrets.ignore: «githb» matches no rule");
        check("regex:a(b", "secrets.ignore: «a(b» is not a valid regular expression: «unclosed group»");
        check("regex:(a{999}){999}", "secrets.ignore: «(a{999}){999}» is not a valid regular expression");
        check("path:a[b", "secrets.ignore: «a[b» is not a valid glob");
    }

    #[test]
    fn secret_in_a_bad_pattern_is_not_shown() {
        let token = format!("gh{}_{}", "p", "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g");
        check(&format!("regex:{token}("), "secrets.ignore: «[REDACTED:github-pat](» is not a valid regular expression");
        check(&format!("path:{token}[b"), "secrets.ignore: «[REDACTED:github-pat][b» is not a valid glob");
        check(&format!("rule:{token}"), "secrets.ignore: «[REDACTED:github-pat]» matches no rule");
    }

    #[test]
    fn digest_depends_only_on_effective_patterns() {
        let digest = |lines: &[&str]| SecretsIgnore::parse(lines).expect("valid").digest();
        assert_eq!(digest(&["jwt", "value:a", "docs/**"]), digest(&["value:a", "rule:jwt", "value:a"]));
        assert_ne!(digest(&["jwt"]), digest(&["value:jwt"]));
    }

    #[test]
    fn patterns_silence_findings() {
        let ignore = SecretsIgnore::parse(&["rule:github-*", "value:abc", "regex:^x.z$"]).expect("valid");
        let silencer = Silencer::new(&ignore).expect("valid");
        assert!(
            silencer.silences("github-pat", "q") && silencer.silences("jwt", "abc") && silencer.silences("jwt", "xyz")
        );
        assert!(!silencer.silences("jwt", "abcd") && !silencer.silences("jwt", "xyzz"));
    }
}
