//! The changes between two manifests, and the plan for these changes.

use std::collections::BTreeMap;

use cairn_domain::{ArtifactRef, ManifestEntry, Outcome, Reason, RepoPath};
use cairn_wire::{ChangedPath, Manifest, Plan};

/// Limits of one `embed` part. The size of a part is the sum of the file sizes of its paths. Every copy of a
/// file is counted, because each copy has separate chunks.
const PATHS_PER_PART: usize = 2_000;
const BYTES_PER_PART: u64 = 16 * 1024 * 1024;
/// Maximum number of paths in one `retire` part.
const GONE_PER_PART: usize = 5_000;

/// Returns the sorted paths whose records change. A doubtful entry of the previous manifest (see
/// `is_doubtful`) is treated as indexed only in a rebuild. In any other run, such an entry is treated as an
/// entry without records, and the facts that the run writes for the same content replace the facts of the
/// entry.
pub(crate) fn changed_paths(before: &Manifest, now: &Manifest, rebuild: bool) -> Vec<ChangedPath> {
    let mut changed = Vec::new();
    merge(&before.entries, &now.entries, |path, old, new| {
        let was = old.is_some_and(|entry| entry.outcome.is_indexed() || rebuild && is_doubtful(entry));
        let is = new.is_some_and(|entry| entry.outcome.is_indexed());
        let same = match (old, new) {
            (Some(old), Some(new)) => !rebuild && !is_doubtful(old) && placed(old) == placed(new),
            _ => false,
        };
        if (was || is) && !(was && is && same) {
            changed.push(ChangedPath { path: path.clone(), before: was, now: is });
        }
    });
    changed
}

/// Whether stores may contain records of an entry that is recorded as failed: the part that parses the pack
/// of the entry was abandoned, but another delivery of its job may have written the facts.
pub(crate) fn is_doubtful(entry: &ManifestEntry) -> bool {
    entry.source.is_some() && matches!(entry.outcome, Outcome::Failed { reason: Reason::ParseCrash, .. })
}

/// Returns all fields of an entry on which its records depend.
fn placed(entry: &ManifestEntry) -> impl PartialEq + '_ {
    let weights = (entry.low_weight, entry.navigation, entry.num_secrets);
    (entry.facts_key, &entry.language, weights, &entry.tags, &entry.module, entry.changed_at)
}

/// Whether two manifests have the same rules, paths, kinds and outcomes, and the same content for all indexed
/// files.
pub(crate) fn same_inventory(before: &Manifest, now: &Manifest) -> bool {
    let is_same = |(old, new): (&ManifestEntry, &ManifestEntry)| {
        let same_content = old.blob == new.blob || !new.outcome.is_indexed();
        old.path == new.path && same_content && old.kind == new.kind && old.outcome == new.outcome
    };
    before.rules == now.rules
        && before.entries.len() == now.entries.len()
        && before.entries.iter().zip(&now.entries).all(is_same)
}

/// Creates the plan. Changed paths are grouped by the pack that contains their text, so that a part opens
/// only a few packs.
pub(crate) fn plan(changed: &[ChangedPath], manifest: &Manifest, packs: Vec<ArtifactRef>) -> Plan {
    let mut by_pack: BTreeMap<&str, Vec<(ChangedPath, u64)>> = BTreeMap::new();
    let mut gone = Vec::new();
    for path in changed {
        let entry = manifest.find(path.path.as_str());
        match entry.and_then(|entry| Some((entry.source.as_ref()?, entry.size_bytes))) {
            Some((slot, size_bytes)) if path.now => {
                by_pack.entry(&slot.artifact.key).or_default().push((path.clone(), size_bytes));
            }
            _ => gone.push(path.clone()),
        }
    }
    let embed = by_pack.into_values().flat_map(embed_parts).collect();
    let retire = gone.chunks(GONE_PER_PART).map(<[_]>::to_vec).collect();
    Plan { packs, embed, retire, ..Plan::default() }
}

/// Divides the paths of one pack into parts of limited size.
fn embed_parts(paths: Vec<(ChangedPath, u64)>) -> Vec<Vec<ChangedPath>> {
    let mut parts = vec![Vec::new()];
    let mut num_bytes = 0;
    for (path, size_bytes) in paths {
        let is_full = parts.last().is_some_and(|part: &Vec<ChangedPath>| {
            part.len() == PATHS_PER_PART || !part.is_empty() && num_bytes + size_bytes > BYTES_PER_PART
        });
        if is_full {
            parts.push(Vec::new());
            num_bytes = 0;
        }
        num_bytes += size_bytes;
        parts.last_mut().expect("begins with one part").push(path);
    }
    parts
}

/// Merges two sorted lists of entries. Visits each path once, with the entries that the two lists contain for
/// this path.
fn merge<'a>(
    before: &'a [ManifestEntry],
    now: &'a [ManifestEntry],
    mut visit: impl FnMut(&RepoPath, Option<&'a ManifestEntry>, Option<&'a ManifestEntry>),
) {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    loop {
        let order = match (before.peek(), now.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.path.cmp(&new.path),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { now.next() } else { None };
        if let Some(entry) = old.or(new) {
            visit(&entry.path, old, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{BlobId, EntryKind, FactsKey, Key128, Slot};

    use super::*;

    fn manifest(entries: &[(&str, u8)]) -> Manifest {
        let entry = |(path, content): &(&str, u8)| ManifestEntry {
            path: RepoPath::parse(path).expect("a path"),
            kind: EntryKind::File,
            blob: BlobId([*content; 20]),
            size_bytes: 1,
            outcome: if *content == 0 { Outcome::Skipped(Reason::Binary) } else { Outcome::Indexed(None) },
            language: None,
            facts_key: Some(FactsKey(Key128([*content; 16]))),
            source: None,
            num_secrets: 0,
            num_lines: 1,
            low_weight: false,
            navigation: false,
            tags: std::sync::Arc::default(),
            changed_at: None,
            module: None,
        };
        Manifest { entries: entries.iter().map(entry).collect(), ..Manifest::default() }
    }

    #[test]
    fn changed_paths_are_those_whose_records_change() {
        let check = |before: &[(&str, u8)], now: &[(&str, u8)], expect: &[(&str, bool, bool)]| {
            let changed = changed_paths(&manifest(before), &manifest(now), false);
            let changed: Vec<_> = changed.iter().map(|path| (path.path.as_str(), path.before, path.now)).collect();
            assert_eq!(changed, expect, "{before:?} -> {now:?}");
        };
        check(&[], &[("a", 1)], &[("a", false, true)]);
        check(&[("a", 1)], &[("a", 1)], &[]);
        check(
            &[("a", 1), ("c", 3)],
            &[("a", 2), ("b", 3)],
            &[("a", true, true), ("b", false, true), ("c", true, false)],
        );
        check(&[("a", 1)], &[("a", 0)], &[("a", true, false)]);
        check(&[("a", 0)], &[("a", 0), ("b", 0)], &[]);
        check(&[("a", 1), ("b", 2)], &[("a", 2), ("b", 1)], &[("a", true, true), ("b", true, true)]);
    }

    #[test]
    fn unparsed_entries_may_have_records() {
        let mut before = manifest(&[("a", 1), ("b", 2)]);
        let artifact = ArtifactRef { key: "packs/r/x".to_owned(), size_bytes: 1, hash: [0; 32] };
        for entry in &mut before.entries {
            entry.source = Some(Slot { artifact: artifact.clone(), index: 0 });
            entry.outcome = Outcome::Failed { reason: Reason::ParseCrash, message: "crash".to_owned() };
        }
        let check = |rebuild, expect: &[(&str, bool, bool)]| {
            let changed = changed_paths(&before, &manifest(&[("a", 1)]), rebuild);
            let changed: Vec<_> = changed.iter().map(|path| (path.path.as_str(), path.before, path.now)).collect();
            assert_eq!(changed, expect, "rebuild {rebuild}");
        };
        check(false, &[("a", false, true)]);
        check(true, &[("a", true, true), ("b", true, false)]);
    }

    #[test]
    fn rebuild_changes_every_indexed_path() {
        let same = manifest(&[("a", 1), ("b", 0)]);
        assert_eq!(changed_paths(&same, &same, true).len(), 1);
    }
}
