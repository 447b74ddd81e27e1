//! Grades a ranked list of places against the answers of a question.

use crate::questions::ExpectedAnswer;

/// The last rank that is graded.
pub(crate) const DEPTH: usize = 10;

/// A place that a result shows. A result may show several places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    pub(crate) path: String,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// The grades of one ranked list.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Grades {
    pub(crate) ndcg: f64,
    pub(crate) reciprocal_rank: f64,
    /// The share of the answers that are among the first `DEPTH` results.
    pub(crate) recall: f64,
    /// The NDCG of the best order of all returned results.
    pub(crate) best_order: f64,
}

/// Grades the results, which are sorted best first. Each result is the list of the places that it shows.
///
/// A result counts if one of its places overlaps an answer. Each answer counts once, at the first result that
/// contains it. If a result contains several answers, its gain is the gain of the answer with the best grade.
pub(crate) fn grade(results: &[Vec<Shown>], answers: &[ExpectedAnswer]) -> Grades {
    let gains = gains(results, answers);
    let mut ideal: Vec<f64> = answers.iter().map(|answer| gain(answer.grade)).collect();
    ideal.sort_by(|left, right| right.total_cmp(left));
    let ideal = discounted(&ideal);
    let mut best = gains.clone();
    best.sort_by(|left, right| right.total_cmp(left));
    let first = gains.iter().position(|gain| *gain > 0.0).filter(|position| *position < DEPTH);
    let is_shown = |answer: &&ExpectedAnswer| results.iter().take(DEPTH).any(|places| shows(places, answer));
    let share = |part: f64| if ideal > 0.0 { (part / ideal).min(1.0) } else { 0.0 };
    Grades {
        ndcg: share(discounted(&gains)),
        reciprocal_rank: first.map_or(0.0, |position| 1.0 / (position + 1) as f64),
        recall: answers.iter().filter(is_shown).count() as f64 / answers.len().max(1) as f64,
        best_order: share(discounted(&best)),
    }
}

fn gains(results: &[Vec<Shown>], answers: &[ExpectedAnswer]) -> Vec<f64> {
    let mut left: Vec<&ExpectedAnswer> = answers.iter().collect();
    let gain_of = |places: &Vec<Shown>| {
        let (found, others): (Vec<&ExpectedAnswer>, Vec<&ExpectedAnswer>) =
            left.iter().copied().partition(|answer| shows(places, answer));
        left = others;
        found.iter().map(|answer| gain(answer.grade)).fold(0.0, f64::max)
    };
    results.iter().map(gain_of).collect()
}

fn gain(grade: u32) -> f64 {
    f64::from((1_u32 << grade) - 1)
}

fn discounted(gains: &[f64]) -> f64 {
    gains.iter().take(DEPTH).enumerate().map(|(position, gain)| gain / ((position + 2) as f64).log2()).sum()
}

fn shows(places: &[Shown], answer: &ExpectedAnswer) -> bool {
    places.iter().any(|place| match answer.lines {
        Some([first, last]) => place.path == answer.path && place.first <= last && first <= place.last,
        None => place.path.strip_prefix(&answer.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, first: u32, last: u32) -> Vec<Shown> {
        vec![Shown { path: path.to_owned(), first, last }]
    }

    fn answer(path: &str, lines: Option<[u32; 2]>, grade: u32) -> ExpectedAnswer {
        ExpectedAnswer { path: path.to_owned(), lines, grade }
    }

    #[test]
    fn results_count_if_their_lines_overlap() {
        let check = |place: Vec<Shown>, answer: &ExpectedAnswer, expect| assert_eq!(shows(&place, answer), expect);
        let lines = answer("a/b.rs", Some([10, 20]), 2);
        check(shown("a/b.rs", 20, 30), &lines, true);
        check(shown("a/b.rs", 1, 10), &lines, true);
        check(shown("a/b.rs", 21, 30), &lines, false);
        check(shown("b.rs", 10, 20), &lines, false);
        check(shown("a/b.rs", 1, 1), &answer("a/b.rs", None, 2), true);
        check(shown("a/b.rs", 1, 1), &answer("a", None, 2), true);
        check(shown("ab.rs", 1, 1), &answer("a", None, 2), false);
    }

    #[test]
    fn answers_count_once_and_early_answers_count_more() {
        let answers = [answer("a", Some([1, 9]), 2), answer("b", Some([1, 9]), 1)];
        let check = |results: &[Vec<Shown>], expect: [f64; 4]| {
            let Grades { ndcg, reciprocal_rank, recall, best_order } = grade(results, &answers);
            for (found, expect) in [ndcg, reciprocal_rank, recall, best_order].into_iter().zip(expect) {
                assert!((found - expect).abs() < 0.001, "{found} {expect} {results:?}");
            }
        };
        let (a, b, other) = (shown("a", 1, 2), shown("b", 1, 2), shown("c", 1, 2));
        check(&[a.clone(), b.clone()], [1.0, 1.0, 1.0, 1.0]);
        check(&[b.clone(), a.clone()], [0.797, 1.0, 1.0, 1.0]);
        check(&[a.clone(), a.clone()], [0.826, 1.0, 0.5, 0.826]);
        check(&[other.clone(), a.clone()], [0.521, 0.5, 0.5, 0.826]);
        check(&[other], [0.0; 4]);
        check(&[], [0.0; 4]);
        check(&[[a, b].concat()], [0.826, 1.0, 1.0, 0.826]);
    }
}
