//! Prints how many nonsense questions and how many real questions are refused, for each threshold of the
//! relevance score.

use std::collections::BTreeMap;

use crate::graded::{GradedQuestion, Reach};
use crate::questions::QuestionKind;

/// The thresholds as multiples of `STEP`. Thresholds and scores are in thousandths.
const THRESHOLDS: std::ops::RangeInclusive<i64> = -12..=8;
const STEP: i64 = 250;

pub(crate) fn print(asked: &[GradedQuestion]) {
    for (name, reach) in [("one at a time", Reach::Alone), ("all at once", Reach::Together)] {
        let of_reach: Vec<&GradedQuestion> = asked.iter().filter(|asked| asked.reach == reach).collect();
        let classes = classes(&of_reach);
        if classes.is_empty() {
            continue;
        }
        println!("\nrefused, {name}, in percent");
        print!("{:>10}", "threshold");
        classes.keys().for_each(|class| print!("{class:>16}"));
        println!("{:>24}", "worst language (real)");
        for threshold in THRESHOLDS.map(|step| step * STEP) {
            row(&threshold.to_string(), &classes, |asked| is_refused(asked, threshold));
        }
        row("shipped", &classes, |asked| asked.num_results == 0);
    }
}

/// Whether the question is refused at this threshold. A question without a score counts as refused at every
/// threshold if it has no results.
fn is_refused(asked: &GradedQuestion, threshold: i64) -> bool {
    asked.score.map_or(asked.num_results == 0, |score| score < threshold)
}

/// The questions by class. The class of a nonsense question is the reason why it has no answer; the class of
/// all other questions is `real`.
fn classes<'a>(asked: &[&'a GradedQuestion]) -> BTreeMap<&'a str, Vec<&'a GradedQuestion>> {
    let mut classes: BTreeMap<&str, Vec<&GradedQuestion>> = BTreeMap::new();
    for asked in asked {
        let class = match (asked.kind, asked.absent.as_deref()) {
            (QuestionKind::Nonsense, Some(absent)) => absent,
            _ => "real",
        };
        classes.entry(class).or_default().push(asked);
    }
    classes
}

fn row(name: &str, classes: &BTreeMap<&str, Vec<&GradedQuestion>>, is_refused: impl Fn(&GradedQuestion) -> bool) {
    print!("{name:>10}");
    for asked in classes.values() {
        print!("{:>16.1}", percent(asked.iter().filter(|asked| is_refused(asked)).count(), asked.len()));
    }
    let mut languages: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for asked in classes.get("real").into_iter().flatten() {
        let counts = languages.entry(&asked.language).or_default();
        counts.0 += usize::from(is_refused(asked));
        counts.1 += 1;
    }
    let worst = languages.iter().max_by(|left, right| share(left.1).total_cmp(&share(right.1)));
    match worst.filter(|(_, counts)| counts.0 > 0) {
        Some((language, counts)) => println!("{:>24}", format!("{language} {:.1}", share(counts))),
        None => println!("{:>24}", "-"),
    }
}

fn share(counts: &(usize, usize)) -> f64 {
    percent(counts.0, counts.1)
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
