//! Redacts the texts of one repository. The owners of the repository can declare findings harmless; these
//! values are not redacted.

use std::ops::Range;

use crate::engine::{self, Span};
use crate::ignore::{InvalidRule, SecretsIgnore, Silencer};
use crate::replace::{self, Redacted};

/// If a line contains one of these texts, the findings on this line are declared harmless.
const INLINE_MARKERS: [&str; 2] = ["cairn:ignore-secret", "gitleaks:allow"];

/// Redacts the texts of one repository. A redactor is cheap to create, because the rules are compiled once
/// per process.
#[derive(Clone, Debug)]
pub struct Redactor {
    silencer: Silencer,
}

impl Redactor {
    /// The error quotes the first pattern that cannot be used.
    pub fn new(ignore: &SecretsIgnore) -> Result<Self, InvalidRule> {
        Ok(Self { silencer: Silencer::new(ignore)? })
    }

    /// Replaces the value of each secret with `[REDACTED:<rule>]`, and the userinfo of a URL with
    /// `[REDACTED]`.
    ///
    /// The time is linear in the length of the text. Nothing is allocated if no secret is found.
    pub fn redact<'text>(&self, text: &'text str) -> Redacted<'text> {
        replace::redact(text, |text| self.unsilenced(text))
    }

    fn unsilenced(&self, text: &str) -> Vec<Span> {
        let mut spans = replace::find_all(text);
        // A long line may contain many secrets, so it is searched for inline markers only once.
        let mut line = 0..0;
        let mut marked = false;
        spans.retain(|span| {
            if !line.contains(&span.start) {
                line = line_around(text, span.start);
                marked = is_marked(&text[line.clone()]);
            }
            !marked && !self.silencer.silences(engine::rule_id(span.rule), &text[span.start..span.end])
        });
        spans
    }
}

/// The line around a position, including its line break.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |after| at + after + 1);
    start..end
}

/// Whether a marker on the line declares the findings on this line harmless.
fn is_marked(line: &str) -> bool {
    INLINE_MARKERS.iter().any(|marker| line.contains(marker))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use crate::replace::num_line_feeds;

    fn redactor(lines: &[&str]) -> Redactor {
        Redactor::new(&SecretsIgnore::parse(lines).expect("valid")).expect("valid")
    }

    fn check(text: &str, expect: &str, rules: &[(u32, &str)]) {
        let redacted = redactor(&[]).redact(text);
        assert_eq!(redacted.text, expect);
        let found: Vec<(u32, &str)> =
            redacted.findings.iter().map(|finding| (finding.line, finding.rule.as_str())).collect();
        assert_eq!(found, rules);
    }

    #[test]
    fn only_values_are_replaced() {
        check(
            "a\npassword = \"k3J9xQ7w!\" # x\nb",
            "a\npassword = \"[REDACTED:generic-password]\" # x\nb",
            &[(2, "generic-password")],
        );
        check("u = 'mongodb://root:k3J9@host/db'", "u = 'mongodb://[REDACTED]@host/db'", &[(1, "url-credentials")]);
        let token = format!("gh{}_{}", "p", "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g");
        check(&format!("token: \"{token}\"\n"), "token: \"[REDACTED:github-pat]\"\n", &[(1, "github-pat")]);
    }

    #[test]
    fn private_key_is_one_finding_on_all_its_lines() {
        let line = "MIIEpAIBAAKCAQEAy8Dbv8prpJ/0kKhlGeJYozo2t60EG8L0561g13R29LvMR5hy";
        let head = format!("-----{} PRIVATE KEY-----", "BEGIN");
        let text = format!("x\n{head}\n{line}\n{line}\nab9=\n-----END PRIVATE KEY-----\ny\n");
        let marker = "[REDACTED:private-key]";
        let expect = format!("x\n{head}\n{marker}\n{marker}\n{marker}\n-----END PRIVATE KEY-----\ny\n");
        check(&text, &expect, &[(3, "private-key")]);
        let escaped = format!("\"{head}\\n{line}\\n{line}\\n-----END PRIVATE KEY-----\"");
        check(&escaped, &format!("\"{head}\\n{marker}\\n\\n-----END PRIVATE KEY-----\""), &[(1, "private-key")]);
    }

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(redactor(&[]).redact("let token = lexer.next_token();\n").text, Cow::Borrowed(_)));
    }

    #[test]
    fn owners_silence_findings() {
        let text = "password = \"k3J9xQ7w!\"";
        for line in ["generic-password", "rule:generic-*", "value:k3J9xQ7w!", "regex:^k3"] {
            assert_eq!(redactor(&[line]).redact(text).text, text, "{line}");
        }
        assert_ne!(redactor(&["jwt"]).redact(text).text, text);
        for marker in INLINE_MARKERS {
            assert!(redactor(&[]).redact(&format!("{text} # {marker}\n")).findings.is_empty());
            assert_eq!(redactor(&[]).redact(&format!("# {marker}\n{text}\n")).findings.len(), 1);
        }
    }

    #[test]
    fn one_long_line_takes_linear_time() {
        for unit in [
            "sk-",
            "password=",
            "eyJ",
            "://a:",
            "-----BEGIN PRIVATE KEY-----",
            "token: \"",
            "key-k3J9xQ7w",
            "mysql ",
            "a1B2c3D4",
            "curl -u ",
            "echo k3J9!xQ7wZ | passwd ",
            "mysql -pk3J9!xQ7wZ'",
            "sqlplus a/b@",
            "net use \\\\h\\s /x ",
            "the password for ",
            "net user a k3J9!xQ7w ",
            "\"mysql\", \"-p\", ",
            "openssl passwd '",
            "password (",
            "password: &a ",
            "password: !!str ",
            "user=a,password=",
            "login a password ",
            "a:5432:b:c:",
            "contraseña: <",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let redacted = redactor(&[]).redact(&text);
            assert_eq!(num_line_feeds(&redacted.text), 0, "{unit}");
        }
    }

    /// Each unit is the beginning of a table, row or notebook that has no end. The test checks that each part
    /// of the text is read a bounded number of times.
    #[test]
    fn unfinished_tables_take_linear_time() {
        for unit in [
            "| password ",
            "| password |\n|---|\n",
            "user,password\n",
            "<th>password</th>",
            "insert into t (password) values (",
            "INSERT INTO t (a, password) VALUES (1, 'x'),\n",
            "{\"outputs\": [{\"output_type\": ",
            "{\"kty\": ",
            "MIIEpAIBAAKCAQEA",
            "MIIEpAIBAAKCAQEA\n",
            "a%3A%2F%2Fb",
            "password: k3J9!xQ7w ",
            "user=a password=b1c2d3 ",
            "[a]\npassword = ",
            "user password\n",
            "user\tpassword\n\"\t\"",
            "user,password\n\"a,\"b,",
            "echo \\\n| chpasswd ",
            "login a\npassword ",
            "chpasswd <<E\na:b\n",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let redacted = redactor(&[]).redact(&text);
            assert_eq!(num_line_feeds(&redacted.text), num_line_feeds(&text), "{unit}");
        }
    }

    /// Random concatenations of texts that the rules search for.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "password",
            "token",
            "api_key",
            "secret",
            " = ",
            ": ",
            "=",
            "\"",
            "'",
            "\\\"",
            "\n",
            "\\n",
            " ",
            "k3J9xQ7wZ2pL",
            "S3cr3t!9",
            "://",
            "mongodb",
            "u:p@",
            "@",
            "host/db",
            "eyJ",
            ".",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEAy8Dbv8prpJ0kKhlGe",
            "[REDACTED]",
            "[REDACTED:jwt]",
            "]",
            "[",
            "basic ",
            "dXNlcjpwYXNz",
            "bearer ",
            "sk-",
            "ghp_",
            "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g",
            "é",
            "\r\n",
            ";",
            "Server=x;",
            "<password>",
            "</password>",
            ",",
            "(",
            ")",
            "aws_secret",
            "9f86d081884c7d659a2feaa0c55ad015",
            "name",
            "value",
            "{",
            "}",
            "\u{1f511}",
            "-us1",
            "login x ",
            "-p",
            "mysql ",
            "$",
            "%3D",
            "|",
            "|---|",
            "<th>password</th>",
            "<td>",
            "insert into t (",
            ") values (",
            "\"outputs\": [",
            "\"output_type\"",
            "\"kty\"",
            "%3A%2F%2F",
            "%40",
            "MIIEpAIBAAKCAQEA",
            "->",
            "psk=",
            "${password:-",
            "curl -u a:",
            "echo ",
            " | chpasswd",
            "sqlplus a/",
            "net use \\\\h\\s ",
            "user password\n",
            "\t",
            "!!str ",
            "&a ",
            " for x is ",
            "user=a,",
            ":5432:a:b:",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn second_redaction_changes_nothing(text in pieces()) {
            let redactor = redactor(&[]);
            let once = redactor.redact(&text);
            prop_assert_eq!(num_line_feeds(&once.text), num_line_feeds(&text));
            prop_assert!(once.findings.iter().all(|finding| finding.line >= 1 && finding.line <= num_line_feeds(&text) + 1));
            let twice = redactor.redact(&once.text);
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert!(twice.findings.is_empty());
        }

        #[test]
        fn any_text_can_be_redacted(text in any::<String>()) {
            let redacted = redactor(&[]).redact(&text);
            prop_assert_eq!(num_line_feeds(&redacted.text), num_line_feeds(&text));
        }
    }
}
