//! Finds the time after which the requested code must have changed. This module does not read the clock: the
//! caller converts a number of days or hours to a time.

use std::sync::LazyLock;

use serde::Serialize;

use crate::filters::{FilterValue, FoundFilter, is_excluded};
use crate::phrase::Phrase;
use crate::tokens::Token;

/// The earliest time of a change that a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// Since the start of a day: the number of days before today. 0 means today.
    DaysAgo(u32),
    HoursAgo(u32),
    /// Since the start of this day.
    Date {
        year: u32,
        month: u32,
        day: u32,
    },
    /// Since the last day with this month and day of the month. Today also counts.
    DayOfYear {
        month: u32,
        day: u32,
    },
}

const SECONDS_OF_DAY: i64 = 86_400;
const SECONDS_OF_HOUR: i64 = 3_600;

impl Since {
    /// The earliest time of a change that the filter allows, in seconds since 1970. Days begin at midnight
    /// UTC.
    pub fn earliest_second(self, now_seconds: i64) -> i64 {
        match self {
            Self::DaysAgo(days) => (now_seconds.div_euclid(SECONDS_OF_DAY) - i64::from(days)) * SECONDS_OF_DAY,
            Self::HoursAgo(hours) => now_seconds - i64::from(hours) * SECONDS_OF_HOUR,
            Self::Date { year, month, day } => days_since_1970(year, month, day) * SECONDS_OF_DAY,
            Self::DayOfYear { month, day } => {
                let today = now_seconds.div_euclid(SECONDS_OF_DAY);
                let starts = (1970..).map(|year| days_since_1970(year, month, day.min(days_in(year, month))));
                starts.take_while(|start| *start <= today).last().unwrap_or_default() * SECONDS_OF_DAY
            }
        }
    }
}

/// The number of days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: u32, month: u32, day: u32) -> i64 {
    let before = i64::from(year) - 1;
    let of_years = before * 365 + before / 4 - before / 100 + before / 400 - 719_162;
    let of_months: u32 = (1..month).map(|month| days_in(year, month)).sum();
    of_years + i64::from(of_months) + i64::from(day) - 1
}

impl std::fmt::Display for Since {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DaysAgo(days) => write!(out, "{days} days ago"),
            Self::HoursAgo(hours) => write!(out, "{hours} hours ago"),
            Self::Date { year, month, day } => write!(out, "{year:04}-{month:02}-{day:02}"),
            Self::DayOfYear { month, day } => {
                write!(out, "{day} {}", MONTHS.split('|').nth(*month as usize - 1).unwrap_or_default())
            }
        }
    }
}

const UNIT: &str = "hour|hours|day|days|week|weeks|month|months|quarter|quarters|year|years";
const CHANGED: &str =
    "changed|modified|updated|added|edited|touched|committed|created|written|introduced|merged|renamed|removed|moved";
const LAST: &str = "last|past|previous|recent";
const CHANGES: &str = "change|changes|commits|edits|modifications|updates";
const MONTHS: &str = "january|february|march|april|may|june|july|august|september|october|november|december";
const MONTH_WORDS: &str = "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|\
                           mar|apr|jun|jul|aug|sep|sept|oct|nov|dec";

/// `UNIT`, `CHANGED`, `LAST`, `CHANGES` and `MONTH` each match one of the words in the lists above. The slots
/// are numbers.
const RULES: &[&str] = &[
    "CHANGED? in|within|over|during|from|since the? LAST <n> UNIT",
    "CHANGED? in|within|over|during|from|since the? LAST UNIT",
    "CHANGED the? LAST <n> UNIT",
    "CHANGED the? LAST UNIT",
    "CHANGED? since <n> UNIT ago",
    "CHANGED? in|within <n> UNIT $",
    "CHANGED? since|after <day> MONTH <year>",
    "CHANGED? since|after MONTH <day> <year>",
    "CHANGED? since|after <day> MONTH",
    "CHANGED? since|after MONTH <year>",
    "CHANGED? since MONTH",
    "CHANGED? since|from|after|on <date>",
    "CHANGED? since this UNIT",
    "CHANGED? since|from yesterday|today",
    "CHANGED? since monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    "CHANGED yesterday|today|recently|lately",
    "CHANGED this UNIT",
    "recently CHANGED",
    "the? LAST UNIT CHANGES",
    "this UNIT CHANGES",
    "yesterday|today CHANGES",
    "LAST <n> UNIT $",
    "LAST UNIT $",
    "this week|month|year $",
    "yesterday|today|recently|lately $",
];

static COMPILED: LazyLock<Vec<Phrase>> = LazyLock::new(|| RULES.iter().map(|rule| compile(rule)).collect());

fn compile(rule: &'static str) -> Phrase {
    let lists = [("UNIT", UNIT), ("CHANGED", CHANGED), ("LAST", LAST), ("CHANGES", CHANGES), ("MONTH", MONTH_WORDS)];
    Phrase::with_lists(rule, &lists)
}

pub(super) fn find(tokens: &[Token]) -> Vec<FoundFilter> {
    let found = COMPILED.iter().find_map(|phrase| {
        let found = phrase.find(tokens, &|found| {
            let is_noun = found.start > 0 && tokens[found.start - 1].is_any(&["the", "a", "of"]);
            let is_change = |index: &usize| CHANGED.split('|').any(|word| tokens[*index].is_any(&[word]));
            let first = (0..found.start).rev().take_while(is_change).last().unwrap_or(found.start);
            let is_negated = is_excluded(tokens, first);
            let count = found.capture("n");
            let is_count = count.is_none_or(|range| {
                tokens[range].iter().all(|token| token.is_any(&["of"]) || number(&token.lower).is_some())
            });
            !is_noun && !is_negated && is_count && value(&tokens[found.start..found.end]).is_some()
        })?;
        let value = FilterValue::Since(value(&tokens[found.start..found.end])?);
        Some(FoundFilter { tokens: found.start..found.end, value })
    });
    found.into_iter().collect()
}

/// The time that the words of a filter state.
fn value(words: &[Token]) -> Option<Since> {
    let is_any = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    if let Some((last, before)) = words.split_last()
        && let Some(date) = date(&last.text)
        && before.iter().all(|word| month_of(&word.lower).is_none())
    {
        let is_year = last.text.len() == 4;
        let is_after_since = before.last().is_some_and(|word| word.is_any(&["since"]));
        return (before.len() <= 2 && (is_after_since || !is_year)).then_some(date);
    }
    if words.last().is_some_and(|last| last.is_any(&["on", "since", "from", "after"])) {
        return None;
    }
    if let Some(at) = words.iter().position(|word| month_of(&word.lower).is_some()) {
        let month = month_of(&words[at].lower)?;
        let day_before = at.checked_sub(1).and_then(|before| day_of_month(&words[before].lower));
        return match (day_before, &words[at + 1..]) {
            (None, [year]) if date(&year.text).is_some() => date(&format!("{}-{month}", year.text)),
            (day, []) => day_of_year(month, day.unwrap_or(1)),
            (None, [day]) => day_of_year(month, day_of_month(&day.lower)?),
            (None, [day, year]) => date(&format!("{}-{month}-{}", year.text, day_of_month(&day.lower)?)),
            (Some(day), [year]) => date(&format!("{}-{month}-{day}", year.text)),
            _ => None,
        };
    }
    if let Some(unit) = words.iter().find_map(|word| days_of(&word.lower)) {
        let between: Vec<u32> = words.iter().filter_map(|word| number(&word.lower)).collect();
        let has_other = words.iter().any(|word| !is_time_word(&word.lower));
        let count = between.first().copied().unwrap_or(1);
        return (!has_other).then(|| match unit {
            Unit::Hours => Since::HoursAgo(count),
            Unit::Days(days) => Since::DaysAgo(days.saturating_mul(count)),
        });
    }
    if is_any(&["yesterday"]) {
        Some(Since::DaysAgo(1))
    } else if is_any(&["today"]) {
        Some(Since::DaysAgo(0))
    } else if is_any(&["recently", "lately"]) {
        Some(Since::DaysAgo(30))
    } else {
        is_any(WEEKDAYS).then_some(Since::DaysAgo(7))
    }
}

/// For a weekday, the time is seven days ago. The last such weekday is at most seven days ago, so no change
/// since that day is left out.
const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

#[derive(Clone, Copy)]
enum Unit {
    Hours,
    Days(u32),
}

fn days_of(word: &str) -> Option<Unit> {
    Some(match word {
        "hour" | "hours" => Unit::Hours,
        "day" | "days" => Unit::Days(1),
        "week" | "weeks" => Unit::Days(7),
        "month" | "months" => Unit::Days(30),
        "quarter" | "quarters" => Unit::Days(91),
        "year" | "years" => Unit::Days(365),
        _ => return None,
    })
}

fn number(word: &str) -> Option<u32> {
    const NAMED: [(&str, u32); 16] = [
        ("a", 1),
        ("an", 1),
        ("one", 1),
        ("two", 2),
        ("couple", 2),
        ("three", 3),
        ("few", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("fourteen", 14),
        ("thirty", 30),
    ];
    let named = NAMED.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    named.or_else(|| word.parse().ok().filter(|number| (1..=10_000).contains(number)))
}

/// The number of a month, from 1 to 12. The name may be abbreviated to at least three letters.
fn month_of(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.');
    let is_month = |month: &str| month == word || word.len() >= 3 && word.len() < 5 && month.starts_with(word);
    (1..).zip(MONTHS.split('|')).find(|(_, month)| is_month(month)).map(|(number, _)| number)
}

/// The day of a month: `3`, `3rd`.
fn day_of_month(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// `None` if the month has no such day in any year.
fn day_of_year(month: u32, day: u32) -> Option<Since> {
    const LEAP_YEAR: u32 = 2000;
    (day <= days_in(LEAP_YEAR, month)).then_some(Since::DayOfYear { month, day })
}

fn is_time_word(word: &str) -> bool {
    let is_rule_word = [UNIT, CHANGED, LAST, CHANGES].iter().any(|list| list.split('|').any(|known| known == word));
    let is_small =
        matches!(word, "in" | "within" | "over" | "during" | "from" | "since" | "the" | "ago" | "this" | "of");
    is_rule_word || is_small || number(word).is_some()
}

/// `2024-05-01`, `2024/05/01`, `2024-05` or a year from 1990 to 2099.
fn date(text: &str) -> Option<Since> {
    let mut parts = text.split(['-', '/']).map(|part| part.parse::<u32>().ok());
    let year = parts.next()??;
    let month = parts.next().unwrap_or(Some(1))?;
    let day = parts.next().unwrap_or(Some(1))?;
    let is_date =
        (1990..2100).contains(&year) && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    (is_date && parts.next().is_none()).then_some(Since::Date { year, month, day })
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: Option<(&str, Since)>) {
        let tokens = tokenize(question);
        let found = find(&tokens);
        let found = found.first().map(|filter| match filter.value {
            FilterValue::Since(since) => {
                (&question[tokens[filter.tokens.start].start..tokens[filter.tokens.end - 1].end], since)
            }
            _ => panic!("another filter"),
        });
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn relative_times_become_days_or_hours() {
        check("handlers since last week", Some(("since last week", Since::DaysAgo(7))));
        check("files changed yesterday", Some(("changed yesterday", Since::DaysAgo(1))));
        check("handlers since yesterday", Some(("since yesterday", Since::DaysAgo(1))));
        check("files changed in the last 3 days", Some(("changed in the last 3 days", Since::DaysAgo(3))));
        check("retries in the past two months", Some(("in the past two months", Since::DaysAgo(60))));
        check("errors last 24 hours", Some(("last 24 hours", Since::HoursAgo(24))));
        check("what changed this week", Some(("changed this week", Since::DaysAgo(7))));
        check("what changed today", Some(("changed today", Since::DaysAgo(0))));
        check("tests added last month", Some(("added last month", Since::DaysAgo(30))));
        check("recently changed handlers", Some(("recently changed", Since::DaysAgo(30))));
        check("code since monday", Some(("since monday", Since::DaysAgo(7))));
        check("code since 2 weeks ago", Some(("since 2 weeks ago", Since::DaysAgo(14))));
        check("last week's changes to the parser", Some(("last week's changes", Since::DaysAgo(7))));
        check("show this month's commits", Some(("this month's commits", Since::DaysAgo(30))));
        check("yesterday's changes in auth", Some(("yesterday's changes", Since::DaysAgo(1))));
    }

    #[test]
    fn month_without_year_is_the_last_such_month() {
        const NOON: i64 = 951_825_600; // 2000-02-29T12:00:00Z
        let of_year = |month, day| Since::DayOfYear { month, day };
        check("handlers changed since March", Some(("changed since March", of_year(3, 1))));
        check("worker code since 15 August", Some(("since 15 August", of_year(8, 15))));
        check("worker code since Aug 15th", Some(("since Aug 15th", of_year(8, 15))));
        check("worker code since 31 June", None);
        let of_august = Since::Date { year: 2025, month: 8, day: 15 };
        check("worker code since August 15, 2025", Some(("since August 15, 2025", of_august)));
        check("worker code since 15 August 2025", Some(("since 15 August 2025", of_august)));
        let of_2019 = Since::Date { year: 2019, month: 12, day: 1 };
        check("code since December 2019", Some(("since December 2019", of_2019)));
        check("code since March without tests", Some(("since March", of_year(3, 1))));
        let check = |month: u32, year: u32| {
            let first = Since::Date { year, month, day: 1 };
            assert_eq!(of_year(month, 1).earliest_second(NOON), first.earliest_second(0), "{month}");
        };
        check(1, 2000);
        check(2, 2000);
        check(3, 1999);
        check(12, 1999);
    }

    #[test]
    fn earliest_times_are_seconds() {
        const NOON: i64 = 951_825_600; // 2000-02-29T12:00:00Z
        let check = |since: Since, expect: i64| assert_eq!(since.earliest_second(NOON), expect, "{since}");
        check(Since::DaysAgo(0), NOON - 12 * 3_600);
        check(Since::DaysAgo(7), NOON - 12 * 3_600 - 7 * 86_400);
        check(Since::HoursAgo(24), NOON - 86_400);
        check(Since::Date { year: 1970, month: 1, day: 1 }, 0);
        check(Since::Date { year: 2000, month: 2, day: 29 }, 951_782_400);
        check(Since::Date { year: 2026, month: 12, day: 31 }, 1_798_675_200);
    }

    #[test]
    fn dates_are_checked() {
        let date = |year, month, day| Since::Date { year, month, day };
        check("handlers since 2024-05-01", Some(("since 2024-05-01", date(2024, 5, 1))));
        check("handlers changed after 2024/02/29", Some(("changed after 2024/02/29", date(2024, 2, 29))));
        check("handlers since 2023", Some(("since 2023", date(2023, 1, 1))));
        check("handlers since 2023-02-29", None);
        check("handlers since 2024-13-01", None);
    }

    #[test]
    fn other_words_state_no_time() {
        for question in [
            "last week of the month",
            "parse the last day",
            "week number",
            "since the token is invalid",
            "in 5 files",
            "today button click",
        ] {
            check(question, None);
        }
    }
}
