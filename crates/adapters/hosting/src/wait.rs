//! Computes how long a service requests to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::http_reply::HttpReply;

/// The wait after a rate limit, if the reply does not state a time.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);
/// If the reset time in a header is below this number, it is a number of seconds from now. Otherwise, it is a
/// time in seconds since 1970.
const FIRST_TIME: u64 = 1_000_000_000;

/// Returns the wait before any further request. `None` if no wait is needed.
///
/// If a request exceeds a limit, services refuse it with status 429 or 403. GitHub mentions its secondary
/// limit only in the message. If the request used up a limit, the wait applies even if the reply is
/// successful.
pub(crate) fn wait_of(reply: &HttpReply, now: SystemTime) -> Option<Duration> {
    let now = reply.header("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    let retry_after = reply.header("retry-after").and_then(|value| retry_after(value, now));
    let reset = is_used_up(reply).then(|| reset_of(reply, now)).flatten();
    match reply.status {
        429 => retry_after.or(reset).or(Some(DEFAULT_WAIT)),
        403 => {
            let is_rate_limit = String::from_utf8_lossy(&reply.body).to_ascii_lowercase().contains("rate limit");
            retry_after.or(reset).or(is_rate_limit.then_some(DEFAULT_WAIT))
        }
        503 => retry_after,
        _ => reset,
    }
}

fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let seconds = value.trim().parse().ok().map(Duration::from_secs);
    seconds.or_else(|| Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()))
}

fn is_used_up(reply: &HttpReply) -> bool {
    let remaining = reply.header("x-ratelimit-remaining").or_else(|| reply.header("ratelimit-remaining"));
    remaining.is_some_and(|remaining| remaining.trim() == "0")
}

fn reset_of(reply: &HttpReply, now: SystemTime) -> Option<Duration> {
    let reset = reply.header("x-ratelimit-reset").or_else(|| reply.header("ratelimit-reset"))?;
    let seconds: u64 = reset.trim().parse().ok()?;
    if seconds < FIRST_TIME {
        return Some(Duration::from_secs(seconds));
    }
    let reset = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    Some(reset.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_waits_are_parsed() {
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let check = |status: u16, headers: &[(&str, &str)], body: &str, expect: Option<u64>| {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let reply = HttpReply { status, headers, body: body.as_bytes().to_vec() };
            assert_eq!(wait_of(&reply, now), expect.map(Duration::from_secs), "{status} {:?}", reply.headers);
        };
        let used_up = ("x-ratelimit-remaining", "0");
        let reset = ("x-ratelimit-reset", "1700000030");
        check(200, &[], "", None);
        check(200, &[("x-ratelimit-remaining", "1"), reset], "", None);
        check(200, &[used_up, reset], "", Some(30));
        check(200, &[("ratelimit-remaining", "0"), ("ratelimit-reset", "12")], "", Some(12));
        check(403, &[], "{\"message\":\"Must have admin rights\"}", None);
        check(403, &[used_up, reset], "", Some(30));
        check(403, &[("retry-after", "7")], "", Some(7));
        check(403, &[], "{\"message\":\"You have exceeded a secondary rate limit\"}", Some(60));
        check(429, &[], "", Some(60));
        check(429, &[("retry-after", "5"), used_up, reset], "", Some(5));
        check(429, &[("retry-after", "soon")], "", Some(60));
        check(429, &[("retry-after", "Tue, 14 Nov 2023 22:13:29 GMT")], "", Some(9));
        check(429, &[used_up, ("x-ratelimit-reset", "1600000000")], "", Some(0));
        check(429, &[used_up, ("x-ratelimit-reset", "18446744073709551615")], "", Some(60));
        check(403, &[used_up, reset, ("date", "Tue, 14 Nov 2023 22:13:40 GMT")], "", Some(10));
        check(503, &[("retry-after", "3")], "", Some(3));
        check(500, &[("retry-after", "3")], "", None);
    }
}
