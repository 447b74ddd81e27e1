//! Compares the shipped ranking with other settings and with another program.

use std::collections::BTreeMap;

use crate::graded::Measured;
use crate::groups::{Group, GroupPart};

/// Maximum number of columns of a table: one column for each kind or language.
const COLUMNS: usize = 8;
/// A kind or a language is reported if its NDCG@10 is lower than with the compared program by more than this
/// number.
const TOLERATED: f64 = 0.01;

/// The NDCG@10 values from which the closed share of the gap is computed. The gap lies between the order of
/// the compared program and the best order of its results, and the shipped ranking closes a share of it.
#[derive(Clone, Copy, Debug)]
struct Gap {
    compared: f64,
    shipped: f64,
    /// The NDCG@10 of the best order of the first 100 results of the compared program.
    best_order: f64,
}

impl Gap {
    fn of(group: &Group, shipped: &Measured, compared: &Measured) -> Self {
        let of_compared = group.mean(compared, &GroupPart::All);
        let shipped = group.mean(shipped, &GroupPart::All).ndcg;
        Self { compared: of_compared.ndcg, shipped, best_order: of_compared.best_order }
    }

    /// `None` if the order of the compared program is already the best order.
    fn share(self) -> Option<f64> {
        let gap = self.best_order - self.compared;
        (gap > 0.0).then(|| (self.shipped - self.compared) / gap)
    }
}

/// A kind or a language for which the shipped ranking is worse than the compared program.
struct Loss {
    group: &'static str,
    part: String,
    compared: f64,
    shipped: f64,
}

fn losses(shipped: &Measured, compared: &Measured) -> Vec<Loss> {
    let mut losses = Vec::new();
    for group in Group::all(shipped) {
        for part in [group.kinds(shipped), group.languages(shipped)].concat() {
            let (of_shipped, of_compared) = (group.mean(shipped, &part).ndcg, group.mean(compared, &part).ndcg);
            if of_shipped < of_compared - TOLERATED {
                let part = part.name().to_owned();
                losses.push(Loss { group: group.name, part, compared: of_compared, shipped: of_shipped });
            }
        }
    }
    losses
}

/// The shipped ranking and the compared program, if a program was compared.
fn pair(measured: &[Measured]) -> Option<(&Measured, &Measured)> {
    Some((measured.first()?, measured.iter().find(|measured| measured.is_compared)?))
}

/// Prints the NDCG@10 of all settings, for each group and for its kinds and languages.
pub(crate) fn print(measured: &[Measured]) {
    let Some(first) = measured.first() else { return };
    let groups = Group::all(first);
    println!("{:<34}{}", "NDCG@10", groups.iter().map(|group| format!("{:>17}", group.name)).collect::<String>());
    for of_setting in measured {
        let mean = |group: &&Group| format!("{:>17.4}", group.mean(of_setting, &GroupPart::All).ndcg);
        println!("  {:<32}{}", of_setting.setting, groups.iter().map(mean).collect::<String>());
    }
    for group in groups {
        for parts in [group.kinds(first), group.languages(first)] {
            parts.chunks(COLUMNS).for_each(|parts| print_parts(group, parts, measured));
        }
    }
    if let Some((shipped, compared)) = pair(measured) {
        print_gaps(shipped, compared);
        print_losses(&losses(shipped, compared));
    }
}

fn print_parts(group: &Group, parts: &[GroupPart], measured: &[Measured]) {
    let names: String = parts.iter().map(|part| format!("{:>14}", part.name())).collect();
    println!("\n{:<34}{names}", format!("NDCG@10, {}", group.name));
    for of_setting in measured {
        let means: String = parts.iter().map(|part| format!("{:>14.4}", group.mean(of_setting, part).ndcg)).collect();
        println!("  {:<32}{means}", of_setting.setting);
    }
}

fn print_gaps(shipped: &Measured, compared: &Measured) {
    println!(
        "\n{:<24}{:>10}{:>10}{:>12}{:>10}",
        "gap to the best order", "compared", "shipped", "best order", "closed"
    );
    for group in Group::all(shipped) {
        let gap = Gap::of(group, shipped, compared);
        let share = gap.share().map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let Gap { compared, shipped, best_order } = gap;
        println!("  {:<22}{compared:>10.4}{shipped:>10.4}{best_order:>12.4}{share:>10}", group.name);
    }
}

fn print_losses(losses: &[Loss]) {
    println!("\nkinds and languages whose NDCG@10 is lower by more than {TOLERATED}: {}", losses.len());
    for Loss { group, part, compared, shipped } in losses {
        println!("  {:<34}{shipped:.4} instead of {compared:.4}", format!("{group}, {part}"));
    }
}

/// The comparison as JSON. `None` if no program was compared.
pub(crate) fn to_json(measured: &[Measured]) -> Option<serde_json::Value> {
    let (shipped, compared) = pair(measured)?;
    let gap = |group: &Group| {
        let gap = Gap::of(group, shipped, compared);
        let Gap { compared, shipped, best_order } = gap;
        let value = serde_json::json!({
            "compared": compared, "shipped": shipped, "best_order": best_order, "closed": gap.share(),
        });
        (group.name, value)
    };
    let loss = |Loss { group, part, compared, shipped }| serde_json::json!({ "group": group, "part": part, "compared": compared, "shipped": shipped });
    Some(serde_json::json!({
        "gaps": Group::all(shipped).into_iter().map(gap).collect::<BTreeMap<_, _>>(),
        "losses": losses(shipped, compared).into_iter().map(loss).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::grade::Grades;
    use crate::graded::{GradedQuestion, Reach};
    use crate::questions::QuestionKind;

    /// The grades of two questions about a whole checkout. `ndcg` contains the grades first for one
    /// repository at a time, then for all repositories together.
    fn measured(is_compared: bool, ndcg: [[f64; 2]; 2], best_order: f64) -> Measured {
        let question = |kind, reach, ndcg| GradedQuestion {
            id: "one".to_owned(),
            kind,
            language: "go".to_owned(),
            checkout: true,
            reach,
            grades: Grades { ndcg, best_order, ..Grades::default() },
            num_results: 1,
            absent: None,
            score: None,
            took: Duration::ZERO,
        };
        let of_reach = |(reach, [behaviour, flow]): (Reach, [f64; 2])| {
            let nonsense = question(QuestionKind::Nonsense, reach, 0.0);
            [question(QuestionKind::Behaviour, reach, behaviour), question(QuestionKind::Flow, reach, flow), nonsense]
        };
        let asked = [Reach::Alone, Reach::Together].into_iter().zip(ndcg).flat_map(of_reach).collect();
        Measured { setting: "setting".to_owned(), is_compared, asked }
    }

    #[test]
    fn closed_share_of_the_gap_and_losses_are_reported() {
        let shipped = measured(false, [[0.9, 0.7], [0.6, 0.595]], 1.0);
        let compared = measured(true, [[0.5, 0.7], [0.5, 0.6]], 0.9);
        let all = [shipped, measured(false, [[0.0; 2]; 2], 0.0), compared];
        let json = to_json(&all).expect("a comparison");
        let closed = |group: &str| json["gaps"][group]["closed"].as_f64().map(|share| (1000.0 * share).round());
        assert_eq!(closed("one at a time"), Some(667.0));
        assert_eq!(closed("whole checkouts"), Some(667.0));
        assert_eq!(closed("all at once"), Some(136.0));
        assert_eq!(closed("packages"), None);
        assert_eq!(json["losses"], serde_json::json!([]));
        assert!(to_json(&all[..2]).is_none());
        let lower = measured(false, [[0.9, 0.68], [0.6, 0.6]], 1.0);
        let losses = losses(&lower, &all[2]);
        let found: Vec<(&str, &str)> = losses.iter().map(|loss| (loss.group, loss.part.as_str())).collect();
        assert_eq!(found, [("one at a time", "flow"), ("whole checkouts", "flow")]);
    }

    #[test]
    fn no_share_is_reported_if_no_gap_exists() {
        assert!(Gap { compared: 0.9, shipped: 0.95, best_order: 0.9 }.share().is_none());
    }
}
