//! Prints the measurements as tables or as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::curve;
use crate::graded::{GradedQuestion, Reach};
use crate::questions::QuestionKind;

/// The questions of one setting of the ranking.
pub(crate) struct Measured {
    pub(crate) setting: String,
    pub(crate) asked: Vec<GradedQuestion>,
}

/// The means of grades.
#[derive(Clone, Copy, Default)]
struct Mean {
    num_questions: usize,
    ndcg: f64,
    reciprocal_rank: f64,
    recall: f64,
    best_order: f64,
}

impl Mean {
    fn of<'a>(asked: impl Iterator<Item = &'a GradedQuestion>) -> Self {
        let mut sum = Mean::default();
        for asked in asked {
            sum.num_questions += 1;
            sum.ndcg += asked.grades.ndcg;
            sum.reciprocal_rank += asked.grades.reciprocal_rank;
            sum.recall += asked.grades.recall;
            sum.best_order += asked.grades.best_order;
        }
        let count = sum.num_questions.max(1) as f64;
        Mean {
            num_questions: sum.num_questions,
            ndcg: sum.ndcg / count,
            reciprocal_rank: sum.reciprocal_rank / count,
            recall: sum.recall / count,
            best_order: sum.best_order / count,
        }
    }

    fn to_json(self) -> serde_json::Value {
        serde_json::json!({
            "questions": self.num_questions,
            "ndcg_at_10": self.ndcg,
            "mrr": self.reciprocal_rank,
            "recall_at_10": self.recall,
            "ndcg_of_best_order": self.best_order,
        })
    }
}

/// A group of repositories, and the way in which they are searched.
struct Group {
    name: &'static str,
    reach: Reach,
    /// `None` for all repositories.
    checkout: Option<bool>,
}

const GROUPS: [Group; 4] = [
    Group { name: "one at a time", reach: Reach::Alone, checkout: None },
    Group { name: "packages", reach: Reach::Alone, checkout: Some(false) },
    Group { name: "whole checkouts", reach: Reach::Alone, checkout: Some(true) },
    Group { name: "all at once", reach: Reach::Together, checkout: None },
];

impl Group {
    /// The questions of the group that have answers.
    fn of<'a>(&'a self, asked: &'a [GradedQuestion]) -> impl Iterator<Item = &'a GradedQuestion> {
        let is_wanted = |asked: &&GradedQuestion| {
            asked.reach == self.reach
                && self.checkout.is_none_or(|checkout| asked.checkout == checkout)
                && asked.kind != QuestionKind::Nonsense
        };
        asked.iter().filter(is_wanted)
    }
}

pub(crate) fn print(arguments: &Arguments, measured: &[Measured]) {
    if arguments.json {
        let all: Vec<serde_json::Value> = measured.iter().map(to_json).collect();
        println!("{}", serde_json::json!({ "half": arguments.half.as_str(), "settings": all }));
        return;
    }
    if let Some(full) = measured.first() {
        print_tables(&full.asked);
        if arguments.nonsense.is_some() {
            curve::print(&full.asked);
        }
        if arguments.questions {
            print_questions(&full.asked);
        }
    }
    if measured.len() > 1 {
        print_settings(measured);
    }
}

fn print_tables(asked: &[GradedQuestion]) {
    for group in &GROUPS {
        let all: Vec<&GradedQuestion> = group.of(asked).collect();
        if all.is_empty() {
            continue;
        }
        println!("{:<24}{:>9}{:>9}{:>9}{:>9}{:>12}", group.name, "questions", "NDCG@10", "MRR", "recall", "best order");
        row("all", Mean::of(all.iter().copied()));
        for kind in QuestionKind::ALL {
            row(kind.as_str(), Mean::of(all.iter().copied().filter(|asked| asked.kind == kind)));
        }
        for language in languages(&all) {
            row(language, Mean::of(all.iter().copied().filter(|asked| asked.language == language)));
        }
        println!();
    }
    print_empty(asked);
    print_times(asked);
}

fn row(name: &str, mean: Mean) {
    if mean.num_questions > 0 {
        let Mean { num_questions, ndcg, reciprocal_rank, recall, best_order } = mean;
        println!("  {name:<22}{num_questions:>9}{ndcg:>9.4}{reciprocal_rank:>9.4}{recall:>9.4}{best_order:>12.4}");
    }
}

fn languages<'a>(asked: &[&'a GradedQuestion]) -> Vec<&'a str> {
    let mut languages: Vec<&str> = asked.iter().map(|asked| asked.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    languages
}

/// Prints the shares of questions without results. Nonsense questions should have no results.
fn print_empty(asked: &[GradedQuestion]) {
    let share = |is_nonsense: bool| {
        let of = asked.iter().filter(|asked| (asked.kind == QuestionKind::Nonsense) == is_nonsense);
        let (empty, all): (Vec<&GradedQuestion>, Vec<&GradedQuestion>) = of.partition(|asked| asked.num_results == 0);
        100.0 * empty.len() as f64 / (empty.len() + all.len()).max(1) as f64
    };
    println!("without results: {:.1} % of nonsense, {:.1} % of other questions", share(true), share(false));
}

fn print_times(asked: &[GradedQuestion]) {
    for (name, reach) in [("one at a time", Reach::Alone), ("all at once", Reach::Together)] {
        let mut times: Vec<Duration> =
            asked.iter().filter(|asked| asked.reach == reach).map(|asked| asked.took).collect();
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default().as_secs_f64();
        println!("time of a question, {name}: p50 {:.1} ms, p99 {:.1} ms", 1000.0 * at(50), 1000.0 * at(99));
    }
}

/// Prints the NDCG of each question, so that two runs can be compared.
fn print_questions(asked: &[GradedQuestion]) {
    let mut rows: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for asked in asked.iter().filter(|asked| asked.kind != QuestionKind::Nonsense) {
        let row = rows.entry(&asked.id).or_default();
        match asked.reach {
            Reach::Alone => row.0 = asked.grades.ndcg,
            Reach::Together => row.1 = asked.grades.ndcg,
        }
    }
    println!("\n{:<34}{:>14}{:>12}", "question", "one at a time", "all at once");
    for (id, (alone, together)) in rows {
        println!("{id:<34}{alone:>14.3}{together:>12.3}");
    }
    println!("\nwrongly refused or shown, one at a time; the score is in thousandths");
    for asked in asked.iter().filter(|asked| asked.reach == Reach::Alone) {
        let is_nonsense = asked.kind == QuestionKind::Nonsense;
        if is_nonsense == (asked.num_results > 0) {
            let (outcome, class) = (if is_nonsense { "shown" } else { "refused" }, asked.absent.as_deref());
            let score = asked.score.map_or("-".to_owned(), |score| score.to_string());
            println!("{:<34}{:>9}{:>16}{score:>9}", asked.id, outcome, class.unwrap_or(asked.kind.as_str()));
        }
    }
}

fn print_settings(measured: &[Measured]) {
    println!();
    print!("{:<34}", "NDCG@10");
    GROUPS.iter().for_each(|group| print!("{:>17}", group.name));
    println!();
    for Measured { setting, asked } in measured {
        print!("  {setting:<32}");
        GROUPS.iter().for_each(|group| print!("{:>17.4}", Mean::of(group.of(asked)).ndcg));
        println!();
    }
}

fn to_json(measured: &Measured) -> serde_json::Value {
    let group = |group: &Group| {
        let all: Vec<&GradedQuestion> = group.of(&measured.asked).collect();
        let mean = |wanted: &dyn Fn(&&GradedQuestion) -> bool| Mean::of(all.iter().copied().filter(wanted)).to_json();
        let kinds = QuestionKind::ALL.into_iter().filter(|kind| *kind != QuestionKind::Nonsense);
        let kinds = kinds.map(|kind| (kind.as_str().to_owned(), mean(&|asked| asked.kind == kind)));
        let of_languages = languages(&all).into_iter();
        let of_languages = of_languages.map(|name| (name.to_owned(), mean(&|asked| asked.language == name)));
        let value = serde_json::json!({
            "all": mean(&|_| true),
            "by_kind": kinds.collect::<BTreeMap<_, _>>(),
            "by_language": of_languages.collect::<BTreeMap<_, _>>(),
        });
        (group.name.to_owned(), value)
    };
    let groups: BTreeMap<String, serde_json::Value> = GROUPS.iter().map(group).collect();
    serde_json::json!({ "setting": measured.setting, "groups": groups })
}
