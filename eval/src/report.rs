//! Prints the measurements as tables or as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::graded::{GradedQuestion, Measured, Reach};
use crate::groups::{Group, GroupPart};
use crate::mean::Mean;
use crate::questions::QuestionKind;
use crate::{comparison, curve};

pub(crate) fn print(arguments: &Arguments, measured: &[Measured]) {
    if arguments.json {
        let all: Vec<serde_json::Value> = measured.iter().map(to_json).collect();
        let (half, comparison) = (arguments.half.as_str(), comparison::to_json(measured));
        println!("{}", serde_json::json!({ "half": half, "settings": all, "comparison": comparison }));
        return;
    }
    if let Some(full) = measured.first() {
        print_tables(full);
        if arguments.nonsense.is_some() {
            curve::print(&full.asked);
        }
        if arguments.questions {
            print_questions(&full.asked);
        }
    }
    if measured.len() > 1 {
        println!();
        comparison::print(measured);
    }
}

fn print_tables(measured: &Measured) {
    for group in Group::all(measured) {
        println!("{:<24}{:>9}{:>9}{:>9}{:>9}{:>12}", group.name, "questions", "NDCG@10", "MRR", "recall", "best order");
        for part in [vec![GroupPart::All], group.kinds(measured), group.languages(measured)].concat() {
            row(part.name(), group.mean(measured, &part));
        }
        println!();
    }
    print_empty(&measured.asked);
    print_times(&measured.asked);
}

fn row(name: &str, mean: Mean) {
    let Mean { num_questions, ndcg, reciprocal_rank, recall, best_order } = mean;
    println!("  {name:<22}{num_questions:>9}{ndcg:>9.4}{reciprocal_rank:>9.4}{recall:>9.4}{best_order:>12.4}");
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
    println!("\nwrongly refused or wrongly shown, with one repository searched at a time; the score is in thousandths");
    for asked in asked.iter().filter(|asked| asked.reach == Reach::Alone) {
        let is_nonsense = asked.kind == QuestionKind::Nonsense;
        if is_nonsense == (asked.num_results > 0) {
            let (outcome, class) = (if is_nonsense { "shown" } else { "refused" }, asked.absent.as_deref());
            let score = asked.score.map_or("-".to_owned(), |score| score.to_string());
            println!("{:<34}{:>9}{:>16}{score:>9}", asked.id, outcome, class.unwrap_or(asked.kind.as_str()));
        }
    }
}

fn to_json(measured: &Measured) -> serde_json::Value {
    let group = |group: &Group| {
        let means = |parts: Vec<GroupPart>| -> BTreeMap<String, serde_json::Value> {
            parts.iter().map(|part| (part.name().to_owned(), group.mean(measured, part).to_json())).collect()
        };
        let value = serde_json::json!({
            "all": group.mean(measured, &GroupPart::All).to_json(),
            "by_kind": means(group.kinds(measured)),
            "by_language": means(group.languages(measured)),
        });
        (group.name.to_owned(), value)
    };
    let groups: BTreeMap<String, serde_json::Value> = Group::all(measured).into_iter().map(group).collect();
    serde_json::json!({ "setting": measured.setting, "groups": groups })
}
