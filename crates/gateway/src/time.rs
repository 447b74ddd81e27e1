//! Converts times to text and text to times.

/// Formats milliseconds since 1970 as `2026-11-22T00:19:17Z`.
pub fn rfc3339(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1000);
    let (days, in_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", in_day / 3600, in_day / 60 % 60, in_day % 60)
}

/// Formats seconds since 1970 in the same way.
pub fn rfc3339_of_seconds(seconds: i64) -> String {
    rfc3339(seconds.saturating_mul(1000))
}

/// Converts a day such as `2026-01-31` to the seconds since 1970 at its start in UTC. `None` if the day does
/// not exist.
fn seconds_of_date(text: &str) -> Option<i64> {
    let mut parts =
        text.split('-').map(|part| part.parse::<i64>().ok().filter(|_| part.bytes().all(|b| b.is_ascii_digit())));
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1970..=9999).contains(&year) {
        return None;
    }
    // Searches the days of the year (at most 366) for the day with this month and day number.
    let first = days_of_year_start(year);
    (first..first + 366).find(|days| civil(*days) == (year, month, day)).map(|days| days * 86_400)
}

/// Converts a time that a user wrote to seconds since 1970. The time is a day (`2026-01-31`) or an age
/// (`36h`, `7d`, `2w`).
pub fn seconds_of_time(text: &str, now_ms: i64) -> Option<i64> {
    let unit = match text.chars().last()? {
        'h' => 3_600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return seconds_of_date(text),
    };
    let count: u32 = text[..text.len() - 1].parse().ok()?;
    Some(now_ms.div_euclid(1000) - i64::from(count) * unit)
}

/// Number of days from 1970-01-01 to 1 January of the year.
fn days_of_year_start(year: i64) -> i64 {
    let before = year - 1;
    before * 365 + before / 4 - before / 100 + before / 400 - 719_162
}

/// Converts a number of days since 1970-01-01 to year, month and day in the Gregorian calendar. In the
/// calculation, a year begins in March, so that the leap day is the last day of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{rfc3339, seconds_of_date, seconds_of_time};

    #[test]
    fn times_are_days_or_ages() {
        let check = |text: &str, expect| assert_eq!(seconds_of_time(text, 1_000_000_999), expect, "{text}");
        check("2000-02-29", Some(951_782_400));
        check("36h", Some(1_000_000 - 36 * 3600));
        check("7d", Some(1_000_000 - 7 * 86_400));
        check("2w", Some(1_000_000 - 14 * 86_400));
        check("0d", Some(1_000_000));
        for wrong in ["", "d", "-1d", "7 d", "7m", "yesterday", "1.5d", "99999999999d", "2026-02-30"] {
            check(wrong, None);
        }
    }

    #[test]
    fn times_are_written_in_utc() {
        let check = |at_ms: i64, expect: &str| assert_eq!(rfc3339(at_ms), expect);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400_000, "2000-02-29T00:00:00Z");
        check(1_795_306_757_999, "2026-11-22T00:19:17Z");
        check(-1, "1969-12-31T23:59:59Z");
    }

    #[test]
    fn dates_are_read() {
        let check = |text: &str, expect| assert_eq!(seconds_of_date(text), expect, "{text}");
        check("1970-01-01", Some(0));
        check("2000-02-29", Some(951_782_400));
        check("2026-12-31", Some(1_798_675_200));
        for bad in ["2026-02-30", "2026-13-01", "2026-1", "yesterday", "2026-01-01-01", "2026-+1-01", "1969-12-31"] {
            check(bad, None);
        }
    }
}
