//! Secrets of no particular provider. They come last: where a provider's rule finds the same text, its id is shown.

use super::{Check, Find, Pattern, Rule, checked, token};
use crate::name::Naming;

/// First of all: the base64 of a key may look like the token of some provider.
pub(super) static KEYS: &[Rule] = &[Rule {
    id: "private-key",
    keywords: &["-----BEGIN", "Private-Lines:", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY"],
    find: Find::PrivateKey,
}];

pub(super) static RULES: &[Rule] = &[
    token("age-secret-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}"),
    token("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_\-]{10,}\.(?:eyJ)?[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"),
    checked("basic-authorization", &["basic "], r"(?i:basic) +([A-Za-z0-9+/\-_]{8,}={0,2})", Check::BasicAuth),
    checked(
        "bearer-authorization",
        &["bearer "],
        r#"(?i:bearer) +[\\"']{0,2}([A-Za-z0-9._~+/\-]{12,}={0,2})"#,
        Check::Random,
    ),
    checked(
        "authorization-header",
        &["authorization"],
        r#"(?i:authorization)[\\"'`\])]{0,4}[ \t]{0,2}[:=,(][ \t]{0,3}[\\"'`]{0,4}(?i:(?:token|apikey|api-key|key|ssws|negotiate|splunk|hmac)[ =]{1,2})?[\\"']{0,2}([A-Za-z0-9._~+/\-]{16,}={0,2})(?:[^\w(\[.=]|\z)"#,
        Check::Random,
    ),
    Rule { id: crate::url::RULE, keywords: &["://"], find: Find::Userinfo },
    Rule {
        id: "dsn-password",
        keywords: &["@tcp(", "@unix("],
        find: Find::Pattern(Pattern {
            regex: r#"[A-Za-z0-9_.\-]{1,60}:([^\s@:"'`/\\]{1,60})@(?:tcp|unix)\("#,
            back: 120,
            check: Check::Chosen,
        }),
    },
    checked(
        "jdbc-oracle-password",
        &["jdbc:oracle:"],
        r#"jdbc:oracle:[a-z0-9]+:[A-Za-z0-9_.$#\-]+/([^\s@"'`/\\]{2,60})@"#,
        Check::Chosen,
    ),
    checked(
        "command-line-password",
        &[
            "mysql",
            "mariadb",
            "sshpass",
            "redis-cli",
            "docker login",
            "curl ",
            "psexec",
            "smbclient",
            "ldapsearch",
            "mongosh",
            "mongo ",
            "htpasswd",
            "wget ",
            "passin",
            "passout",
            "expect ",
        ],
        r#"(?i:(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb)\b(?:[ \t]+[^\n|;&]{0,160})?[ \t]-p|sshpass[ \t]+-p[ \t]*|redis-cli\b[^\n|;&]{0,160}[ \t]-a[ \t]+|docker login\b[^\n|;&]{0,160}[ \t]-p[ \t]+|(?:curl|smbclient)\b[^\n|;]{0,200}[ \t](?:-u|--user|-U)[ \t=]*['"\\]{0,2}[A-Za-z0-9_.@\-]{1,60}[:%]|ldapsearch\b[^\n|;&]{0,200}[ \t]-w[ \t]+|mongo(?:sh)?\b[^\n|;&]{0,200}[ \t]-p[ \t]+|psexec\b[^\n|;&]{0,160}[ \t]-p[ \t]+|htpasswd\b[^\n|;&]{0,20}[ \t]-[a-zA-Z]*b[a-zA-Z]*[ \t]+[^ \t\n]+[ \t]+[^ \t\n]+[ \t]+|pass(?:in|out)[ \t]+['"]?pass:)['"]?([^\s"'`\\|;&<>()$]{4,80})"#,
        Check::Chosen,
    ),
    checked(
        "netrc-password",
        &["login "],
        r#"login[ \t]+[^\s"'`]{1,80}[ \t]+password[ \t]+([^\s"'`\\]{3,100})"#,
        Check::Chosen,
    ),
    checked(
        "sql-password",
        &["identified by", "with password", "set password", "password for"],
        r#"(?i:identified by(?: password)?|with (?:encrypted )?password|set password|password for [^\n=]{1,60})[ \t]*=?[ \t]*(?i:password\()?\\?['"]([^\s"'`\\]{4,100})\\?['"]"#,
        Check::Chosen,
    ),
    Rule { id: "generic-password", keywords: &["pass", "pwd"], find: Find::Assignment(Naming::Password) },
    Rule { id: "generic-secret", keywords: &["secret", "cred"], find: Find::Assignment(Naming::Secret) },
    Rule { id: "generic-token", keywords: &["token", "bearer"], find: Find::Assignment(Naming::Token) },
    Rule { id: "generic-api-key", keywords: &["key"], find: Find::Assignment(Naming::Key) },
    Rule { id: "generic-auth", keywords: &["auth"], find: Find::Assignment(Naming::Auth) },
];
