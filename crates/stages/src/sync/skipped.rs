//! Collects the rules that skip paths, so that answers can name the rule of a path.

use cairn_domain::ManifestEntry;
use cairn_inventory::SkipRule;
use cairn_wire::SkipRules;
use rustc_hash::FxHashMap;

/// The rules that were used so far, each with its position in `texts`.
#[derive(Default)]
pub(crate) struct SkippedPaths {
    positions: FxHashMap<SkipRule, u32>,
    rules: SkipRules,
}

impl SkippedPaths {
    /// Records the rule of the entry at this position. Entries must be recorded in their order.
    pub(super) fn record(&mut self, entry: usize, rule: SkipRule) {
        let next = self.rules.texts.len() as u32;
        let rule = match self.positions.get(&rule) {
            Some(known) => *known,
            None => {
                self.rules.texts.push(rule.message().as_str().to_owned());
                self.positions.insert(rule, next);
                next
            }
        };
        self.rules.of_entries.push((entry as u32, rule));
    }

    pub(super) fn into_rules(self) -> SkipRules {
        self.rules
    }
}

/// Sorts the entries by path. Each entry keeps its rule.
pub(super) fn sort(entries: &mut Vec<ManifestEntry>, rules: &mut SkipRules) {
    let of_entry = |position: usize| {
        let found = rules.of_entries.binary_search_by_key(&position, |(entry, _)| *entry as usize);
        found.ok().map(|found| rules.of_entries[found].1)
    };
    let mut paired: Vec<(ManifestEntry, Option<u32>)> =
        std::mem::take(entries).into_iter().enumerate().map(|(position, entry)| (entry, of_entry(position))).collect();
    paired.sort_by(|left, right| left.0.path.cmp(&right.0.path));
    rules.of_entries.clear();
    for (position, (entry, rule)) in paired.into_iter().enumerate() {
        rules.of_entries.extend(rule.map(|rule| (position as u32, rule)));
        entries.push(entry);
    }
}
