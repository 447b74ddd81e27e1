//! Finds the password in an entry of `.pgpass`.

use std::ops::Range;

use crate::before::{Before, line_before, run};
use crate::data::{is_strong_choice, is_written};
use crate::name::Promise;

/// The ports of PostgreSQL and of its connection poolers, and the wildcard, as in `.pgpass`.
pub(crate) static PORTS: &[&str] = &[":5432:", ":5433:", ":6432:", ":6543:", ":26257:", ":*:"];

/// The password in `host:port:database:user:VALUE`. The port is at `hit`.
pub(crate) fn password(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-*_".contains(byte);
    let line = line_before(text, hit.start);
    let host = line.iter().rev().take_while(|byte| is_host(byte)).count();
    // Only the host may precede the port. In an ARN such as `arn:aws:s3:*:*:x`, more parts precede it.
    if host == 0 || line[..line.len() - host].ends_with(b":") {
        return None;
    }
    let mut start = hit.end;
    // Skips the database and the user.
    for _ in 0..2 {
        let rest = &text[start..text.len().min(start + 61)];
        let length = rest.iter().position(|byte| *byte <= 32 || b":\"'\\".contains(byte))?;
        if length == 0 || rest[length] != b':' {
            return None;
        }
        start += length + 1;
    }
    let value = run(text, start, &Before::of(text, hit.start))?;
    let bytes = &text[value.clone()];
    let is_line = host == line.trim_ascii_start().len();
    (is_written(bytes, Promise::Password, is_line) || is_strong_choice(bytes)).then_some(value)
}
