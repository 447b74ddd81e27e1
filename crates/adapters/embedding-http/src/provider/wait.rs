//! Reads the wait that a provider requests in its reply.

use std::time::{Duration, SystemTime};

use crate::transport::HttpReply;

/// Reads `retry-after-ms` or `Retry-After` (seconds or a date). Without these headers, returns the longest
/// time until an exhausted limit is reset. A date is compared with the provider's `Date`, so that the clocks
/// need not agree; `now` is used if the `Date` header is missing.
pub(super) fn wait_of(reply: &HttpReply, now: SystemTime) -> Option<Duration> {
    let milliseconds = reply.header("retry-after-ms").and_then(|value| seconds(value).map(|wait| wait / 1000));
    let retry_after = reply.header("retry-after").and_then(|value| seconds(value).or_else(|| until(value, reply, now)));
    milliseconds.or(retry_after).or_else(|| {
        let resets = ["requests", "tokens"].map(|what| reset_of(reply, what));
        resets.into_iter().flatten().max()
    })
}

fn until(date: &str, reply: &HttpReply, now: SystemTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(date).ok()?;
    let now = reply.header("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(date.duration_since(now).unwrap_or_default())
}

fn reset_of(reply: &HttpReply, what: &str) -> Option<Duration> {
    let remaining = reply.header(&format!("x-ratelimit-remaining-{what}"));
    let is_exhausted = remaining.is_none_or(|remaining| remaining.trim() == "0");
    let reset = reply.header(&format!("x-ratelimit-reset-{what}"))?;
    if is_exhausted { duration(reset) } else { None }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// Parses `1h2m3.5s`, `20ms`, or plain seconds.
fn duration(text: &str) -> Option<Duration> {
    if let Some(plain) = seconds(text) {
        return Some(plain);
    }
    let (mut rest, mut sum) = (text.trim(), Duration::ZERO);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| c.is_ascii_alphabetic())?);
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let unit = match &after[..end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        sum += Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()?;
        rest = &after[end..];
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_in_all_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let check = |headers: &[(&str, &str)], expect: Option<u64>| {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let reply = HttpReply { status: 429, headers, body: Vec::new() };
            assert_eq!(wait_of(&reply, now), expect.map(Duration::from_millis), "{:?}", reply.headers);
        };
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        check(&[], None);
        check(&[("retry-after", "7")], Some(7_000));
        check(&[("retry-after", " 1.5 ")], Some(1_500));
        check(&[("retry-after", "0")], Some(0));
        check(&[("retry-after", date)], Some(7_000));
        check(&[("retry-after", date), ("date", "Sun, 06 Nov 1994 08:49:30 GMT")], Some(7_000));
        check(&[("retry-after", date), ("date", "Sun, 06 Nov 1994 08:50:00 GMT")], Some(0));
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after-ms", "250"), ("retry-after", "1")], Some(250));
        check(&[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")], Some(360_000));
        let open = ("x-ratelimit-remaining-tokens", "5");
        check(&[("x-ratelimit-reset-requests", "20ms"), ("x-ratelimit-reset-tokens", "6m0s"), open], Some(20));
        check(&[("x-ratelimit-reset-requests", "1h2m3.5s")], Some(3_723_500));
        check(&[("x-ratelimit-reset-requests", "12")], Some(12_000));
        check(&[("x-ratelimit-reset-requests", "1x")], None);
        check(&[("retry-after", "9"), ("x-ratelimit-reset-requests", "1s")], Some(9_000));
    }
}
