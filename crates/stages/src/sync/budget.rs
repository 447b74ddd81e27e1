//! The ceilings of a snapshot that the inventory can check.

use cairn_config::Ceilings;
use cairn_domain::{BlobId, ManifestEntry};
use cairn_pipeline::StageError;
use rustc_hash::FxHashSet;

use super::ceiling::Ceiling;
use super::refusal::over_budget;
use crate::repeated_contents::limit_on_copies;

/// The blob id of a file that was not read.
const NO_BLOB: BlobId = BlobId([0; 20]);

/// Checks the number of bytes that a sync will read. Content at several paths is counted once.
pub(super) fn check_reading(
    entries: &[ManifestEntry],
    to_read: &[usize],
    ceilings: &Ceilings,
) -> Result<(), StageError> {
    let mut seen = FxHashSet::default();
    let first_paths = to_read.iter().map(|position| &entries[*position]).filter(|entry| seen.insert(entry.blob));
    let num_bytes = first_paths.map(|entry| entry.size_bytes).sum();
    check("bytes of files to read", num_bytes, ceilings.max_expanded_bytes, Ceiling::ExpandedBytes)
}

/// Checks the expanded size of the snapshot. Every indexed path is counted, because each path has separate
/// records even if its content is a copy.
pub(super) fn check_expansion(entries: &[ManifestEntry], ceilings: &Ceilings) -> Result<(), StageError> {
    let mut seen = FxHashSet::default();
    let (mut expanded, mut repeated, mut num_copies) = (0u64, 0u64, 0u64);
    for entry in entries.iter().filter(|entry| entry.outcome.is_indexed()) {
        expanded = expanded.saturating_add(entry.size_bytes);
        if entry.blob != NO_BLOB && !seen.insert(entry.blob) {
            repeated = repeated.saturating_add(entry.size_bytes);
            num_copies += 1;
        }
    }
    // Each copy has at least one record, so the limit on records also limits the number of copies. The exact
    // number of records of the copies is checked after `parse` (`RecordCeilings`).
    let most_copies = limit_on_copies(ceilings.max_repeated_records, expanded - repeated);
    let what = "files with the same content as other files";
    check(what, num_copies, most_copies, Ceiling::RepeatedRecords)?;
    let what = "bytes of files with the same content as other files";
    check(what, repeated, ceilings.max_repeated_bytes, Ceiling::RepeatedBytes)?;
    check("bytes of files to index", expanded, ceilings.max_expanded_bytes, Ceiling::ExpandedBytes)
}

/// Checks the number of tags of a file. Every record of the file contains its tags.
pub(super) fn check_tags(tags: &[String], ceilings: &Ceilings) -> Result<(), StageError> {
    check("tags of one file", tags.len() as u64, ceilings.max_tags_per_file, Ceiling::TagsPerFile)
}

pub(super) fn check(what: &'static str, figure: u64, limit: u64, ceiling: Ceiling) -> Result<(), StageError> {
    if figure > limit { Err(over_budget(what, figure, limit, ceiling)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{Outcome, Reason, RepoPath};
    use cairn_ports::FailureCode;
    use cairn_testkit::manifest_entry;

    use super::*;

    fn entry(path: &str, blob: u8, size_bytes: u64, outcome: Outcome) -> ManifestEntry {
        let path = RepoPath::parse(path).expect("a path");
        ManifestEntry { blob: BlobId([blob; 20]), size_bytes, ..manifest_entry(path, outcome) }
    }

    #[test]
    fn copies_are_read_once_and_indexed_per_path() {
        let indexed = Outcome::Indexed(None);
        let entries = [
            entry("a", 1, 10, indexed.clone()),
            entry("b", 1, 10, indexed.clone()),
            entry("c", 1, 10, indexed),
            entry("d", 1, 10, Outcome::Skipped(Reason::Excluded)),
        ];
        let ceilings = |expanded, repeated, copies| Ceilings {
            max_expanded_bytes: expanded,
            max_repeated_bytes: repeated,
            max_repeated_records: copies,
            ..Ceilings::default()
        };
        check_reading(&entries, &[0, 1, 2], &ceilings(10, 0, 0)).expect("one content");
        assert!(check_reading(&entries, &[0, 1, 2], &ceilings(9, 0, 0)).is_err());
        check_expansion(&entries, &ceilings(30, 20, 2)).expect("within all");
        for (ceilings, setting) in [
            (ceilings(29, 20, 2), "max_expanded_bytes"),
            (ceilings(30, 19, 2), "max_repeated_bytes"),
            (ceilings(30, 20, 1), "max_repeated_records"),
        ] {
            let error = check_expansion(&entries, &ceilings).expect_err("over");
            assert_eq!(error.code, FailureCode::OverBudget);
            assert!(error.to_string().contains(setting), "{error}");
        }
    }
}
