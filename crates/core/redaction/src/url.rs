//! Finds the user and the password in a URL: `scheme://user:password@host/path`.

use std::ops::Range;

use crate::before::line_before;
use crate::{judge, marker, random, template};

/// The id of the rule. The marker of this rule is `[REDACTED]`, without the id of the rule, so that the text
/// remains a URL.
pub(crate) const RULE: &str = "url-credentials";

/// Maximum length of a userinfo, in bytes.
const LONGEST: usize = 512;

/// Schemes of connection strings. In URLs with these schemes, even a simple password is a real password.
#[rustfmt::skip]
const CONNECTIONS: &[&str] = &[
    "mongodb", "mongodb+srv", "postgres", "postgresql", "mysql", "mysql2", "mariadb", "redis", "rediss", "amqp",
    "amqps", "mssql", "sqlserver", "oracle", "cockroachdb", "clickhouse", "cassandra", "neo4j", "bolt", "kafka",
    "nats", "mqtt", "mqtts", "stomp", "ldap", "ldaps", "smtp", "smtps", "imap", "imaps", "ftp", "ftps", "sftp",
    "couchdb", "influxdb", "elasticsearch", "snowflake", "db2", "jdbc", "postgresql+psycopg2", "postgresql+asyncpg",
    "mysql+pymysql", "mysql+mysqldb", "vertica", "redshift", "trino", "presto", "hive", "memcached", "etcd", "tcp",
];

/// The userinfo after the `://` that begins at `colon`, if it contains a secret.
pub(crate) fn userinfo(text: &[u8], colon: usize) -> Option<Range<usize>> {
    let start = colon + 3;
    let scheme = &text[scheme_start(text, colon)..colon];
    let connection = CONNECTIONS.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    let window = &text[start..text.len().min(start + LONGEST)];
    let Some(length) = at_sign(window, &Ends::of(text, colon)) else {
        let is_end = |byte: &u8| matches!(byte, 0..=32 | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'/' | b'?' | 127);
        let authority = &window[..window.iter().position(is_end).unwrap_or(window.len())];
        return encoded_password(authority).map(|length| start..start + length);
    };
    let end = start + length;
    let info = &text[start..end];
    if info.is_empty() || marker::is_in(info) {
        return None;
    }
    let is_web =
        scheme.len() >= 3 && (scheme.ends_with(b"http") || scheme.ends_with(b"https") || scheme.ends_with(b"git"));
    is_secret(info, is_web, connection).then_some(start..end)
}

/// The userinfo of a URL that is percent-encoded as a parameter of a different URL:
/// `postgres%3A%2F%2Fuser%3Apassword%40host`.
pub(crate) fn encoded_userinfo(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let rest = &text[hit.end..text.len().min(hit.end + LONGEST)];
    let is_end = |byte: &u8| matches!(byte, 0..=32 | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | b'&' | 127);
    let rest = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    encoded_password(rest).map(|length| hit.end..hit.end + length)
}

/// The length of a userinfo in which `:` and `@` are percent-encoded, if its password may be a real password.
fn encoded_password(rest: &[u8]) -> Option<usize> {
    let is_code = |window: &[u8], code: &[u8]| window.eq_ignore_ascii_case(code);
    let authority = rest.windows(3).position(|window| is_code(window, b"%2f")).unwrap_or(rest.len());
    let end = rest[..authority].windows(3).rposition(|window| is_code(window, b"%40"))?;
    let colon = rest[..end].windows(3).position(|window| is_code(window, b"%3a"))?;
    let password = &rest[colon + 3..end];
    (password.len() >= 5 && !template::is_template(password) && !is_stars(password)).then_some(end)
}

fn scheme_start(text: &[u8], colon: usize) -> usize {
    let floor = colon.saturating_sub(24);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    floor + text[floor..colon].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1)
}

/// The characters that end a URL only in some places, because a generated password that is not
/// percent-encoded may contain them. Blanks and some other characters always end a URL.
struct Ends {
    /// Whether `'` ends the URL: a single quote precedes the URL.
    quote: bool,
    /// Whether a backtick ends the URL: a code span is open before the URL.
    backtick: bool,
    /// Whether `|` ends the URL: the URL is in a table.
    bar: bool,
    /// Whether a backslash ends the URL: a string literal is open before the URL.
    backslash: bool,
}

impl Ends {
    /// The characters that end the URL whose `://` begins at `colon`.
    fn of(text: &[u8], colon: usize) -> Self {
        let line = line_before(text, scheme_start(text, colon));
        let is_open = |quote: u8| line.iter().filter(|byte| **byte == quote).count() % 2 == 1;
        let quote = line.ends_with(b"'");
        Self { quote, backtick: is_open(b'`'), bar: line.contains(&b'|'), backslash: quote || is_open(b'"') }
    }

    /// Whether the URL ends before `rest`.
    fn is_at(&self, rest: &[u8]) -> bool {
        match rest {
            [0..=32 | b'"' | b'<' | b'>' | 127, ..] | [] => true,
            [b'\\'] | [b'\\', b'n' | b'r' | b't' | b'"' | b'\'', ..] => true,
            [b'\'', ..] => self.quote,
            [b'`', ..] => self.backtick,
            [b'|', ..] => self.bar,
            [b'\\', ..] => self.backslash,
            _ => false,
        }
    }
}

/// The end of the userinfo: the last `@` before the path. People forget to escape `/`, `?` and `#` in
/// passwords. Therefore, these characters end the search only after text that may be a host and a port.
fn at_sign(rest: &[u8], ends: &Ends) -> Option<usize> {
    let length = (0..rest.len()).find(|at| ends.is_at(&rest[*at..])).unwrap_or(rest.len());
    let whole = &rest[..length];
    // The part before the first `/`, `?` or `#`. This character ends the authority, or is a character of the
    // password.
    let authority = &whole[..whole.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(whole.len())];
    let last = |part: &[u8]| part.iter().rposition(|byte| *byte == b'@');
    last(authority).or_else(|| {
        let colon = authority.iter().position(|byte| *byte == b':')?;
        let port = authority[colon + 1..].iter().all(u8::is_ascii_digit);
        (!port).then(|| last(whole)).flatten()
    })
}

fn is_secret(info: &[u8], is_web: bool, connection: bool) -> bool {
    let Some(colon) = info.iter().position(|byte| *byte == b':') else {
        return is_web && info.len() >= 20 && random::is_random(info);
    };
    let password = &info[colon + 1..];
    if password.is_empty() || template::is_template(password) || is_stars(password) {
        return false;
    }
    if connection { !judge::is_code(password) } else { judge::is_chosen(password) }
}

fn is_stars(password: &[u8]) -> bool {
    password.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expect: Option<&str>) {
        let colon = url.find("://").expect("a URL");
        let found = userinfo(url.as_bytes(), colon);
        assert_eq!(found.map(|span| &url[span]), expect, "{url}");
    }

    #[test]
    fn passwords_are_found() {
        check("mongodb://admin:pw9@host/db", Some("admin:pw9"));
        check("mongodb+srv://u:p%40ss@c0.mongodb.net/?x=y", Some("u:p%40ss"));
        check("redis://:s3cr3t@cache:6379/0", Some(":s3cr3t"));
        check("postgres://u:p@ss@h:5432/d", Some("u:p@ss"));
        check("postgres://u:pa/s#s@h:5432/d", Some("u:pa/s#s"));
        check("amqp://app:(|8P}.MQ}`@mq.local/v", Some("app:(|8P}.MQ}`"));
        check("amqp://app:k3\\J9'xQ@mq.local/v", Some("app:k3\\J9'xQ"));
        check("https://bob:k3J9xQ7w@example.org/x.git", Some("bob:k3J9xQ7w"));
        check("https://k3J9xQ7wZ2pLk3J9xQ7w0aB@host/x", Some("k3J9xQ7wZ2pLk3J9xQ7w0aB"));
    }

    #[test]
    fn encoded_passwords_are_found() {
        check("https://bob%3Ak3J9xQ7w%40host", Some("bob%3Ak3J9xQ7w"));
        check("https://host/a%3Ab%40c", None);
        let text = "u=postgres%3A%2F%2Fapp%3Ak3J9xQ7w%40db%3A5432%2Fx";
        let found = encoded_userinfo(text.as_bytes(), &(10..19));
        assert_eq!(found.map(|span| &text[span]), Some("app%3Ak3J9xQ7w"));
    }

    #[test]
    fn urls_without_passwords_are_not_redacted() {
        check("https://example.org/a@b:c", None);
        check("ssh://git@github.com/x", None);
        check("http://user:password@host", None);
        check("mongodb://${USER}:${PASS}@host/db", None);
        check("mongodb://<user>:<password>@host/db", None);
        check("postgres://{user}:{password}@host/db", None);
        check("mysql://%s:%s@host/db", None);
        check("redis://localhost:6379/0?x=a@b", None);
        check("mongodb://[REDACTED]@host/db", None);
        check("postgres://user:@host/db", None);
        check("http://host:8080/@scope/name", None);
        check("`amqp://host:k3J9`,`x@y`", None);
        check("|amqp://host:k3J9|x@y|", None);
        check("f('amqp://host:k3J9','x@y')", None);
        check("\"amqp://host:k3J9\\nx@y\"", None);
    }
}
