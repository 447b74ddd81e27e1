//! Contents that occur at several paths of a snapshot, or at long paths.

use std::collections::BTreeMap;

use cairn_domain::{ArtifactRef, FileFacts};
use cairn_pipeline::StageError;
use cairn_records::num_records;
use cairn_wire::{Manifest, PackReader, Plan};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::artifacts::{Artifacts, facts_key_of};
use crate::threads::blocking;

/// The ceiling on the records of copies grows by one record each time the distinct content grows by this
/// number of bytes. Therefore a large repository may have many copies, but copies cannot make the index of a
/// small repository large. Code has about one record for each 70 bytes.
const BYTES_PER_ALLOWED_RECORD: u64 = 128;
/// The length of the shortest definition in any language.
const BYTES_PER_RECORD: u64 = 2;
/// Every record contains its path, so a long path counts as additional copies: one copy for each full block
/// of this number of bytes. The paths of normal repositories are shorter.
const PATH_BYTES_PER_COPY: u64 = 256;

/// Returns the ceiling on the number of records of copies in a snapshot.
pub(crate) fn limit_on_copies(max_repeated_records: u64, distinct_bytes: u64) -> u64 {
    max_repeated_records.saturating_add(distinct_bytes / BYTES_PER_ALLOWED_RECORD)
}

/// Content with at least two paths, or with a long path.
struct Repeated<'m> {
    pack: &'m ArtifactRef,
    index: u32,
    size_bytes: u64,
    /// Number of paths after the first path, plus the additional copies that are counted for long paths.
    num_copies: u64,
}

pub(crate) struct RepeatedContents<'m> {
    contents: Vec<Repeated<'m>>,
    /// Sum of the sizes of all contents. Content at several paths is counted once.
    distinct_bytes: u64,
}

impl<'m> RepeatedContents<'m> {
    pub(crate) fn of(manifest: &'m Manifest) -> Self {
        let mut contents: FxHashMap<(&str, u32), Repeated<'m>> = FxHashMap::default();
        for entry in manifest.entries.iter().filter(|entry| entry.outcome.is_indexed()) {
            let Some(slot) = &entry.source else { continue };
            let num_of_length = entry.path.as_str().len() as u64 / PATH_BYTES_PER_COPY;
            let first = || Repeated {
                pack: &slot.artifact,
                index: slot.index,
                size_bytes: entry.size_bytes,
                num_copies: num_of_length,
            };
            contents
                .entry((&slot.artifact.key, slot.index))
                .and_modify(|content| content.num_copies += 1 + num_of_length)
                .or_insert_with(first);
        }
        let distinct_bytes = contents.values().map(|content| content.size_bytes).sum();
        let contents = contents.into_values().filter(|content| content.num_copies > 0).collect();
        Self { contents, distinct_bytes }
    }

    pub(crate) fn limit(&self, max_repeated_records: u64) -> u64 {
        limit_on_copies(max_repeated_records, self.distinct_bytes)
    }

    /// Returns an upper bound on the number of records of copies. The calculation needs only the sizes of the
    /// contents.
    pub(crate) fn most_records(&self) -> u64 {
        let most = |content: &Repeated| content.num_copies.saturating_mul(1 + content.size_bytes / BYTES_PER_RECORD);
        self.contents.iter().map(most).fold(0, u64::saturating_add)
    }

    /// Whether the plan changes a path of a repeated content. If the plan changes no such path, the number of
    /// copies has not grown since the last check.
    pub(crate) fn has_any(&self, manifest: &Manifest, plan: &Plan) -> bool {
        let slots: FxHashSet<(&str, u32)> =
            self.contents.iter().map(|content| (content.pack.key.as_str(), content.index)).collect();
        plan.embed.iter().flatten().filter(|path| path.now).any(|path| {
            let slot = manifest.find(path.path.as_str()).and_then(|entry| entry.source.as_ref());
            slot.is_some_and(|slot| slots.contains(&(slot.artifact.key.as_str(), slot.index)))
        })
    }

    /// Counts the records of all copies. The function reads the facts of the repeated contents.
    pub(crate) async fn num_records(&self, artifacts: &Artifacts) -> Result<u64, StageError> {
        let mut packs: BTreeMap<&str, (&ArtifactRef, Vec<Copies>)> = BTreeMap::new();
        for content in &self.contents {
            let (_, slots) = packs.entry(&content.pack.key).or_insert_with(|| (content.pack, Vec::new()));
            slots.push((content.index, content.num_copies));
        }
        let mut sum = 0u64;
        for (pack, mut slots) in packs.into_values() {
            // A pack that could not be parsed has no facts, and its files have no records.
            let Some(facts) = artifacts.facts_pack(pack).await? else { continue };
            slots.sort_unstable();
            let key = facts_key_of(pack);
            sum = sum.saturating_add(blocking(move || records_of_copies(facts, &key, &slots)).await?);
        }
        Ok(sum)
    }
}

/// The slot of the content in its pack, and the number of copies.
type Copies = (u32, u64);

/// Counts the records of the copies of a pack's contents.
fn records_of_copies(mut facts: PackReader, key: &str, slots: &[Copies]) -> Result<u64, StageError> {
    let mut sum = 0u64;
    for (index, num_copies) in slots {
        let facts: FileFacts = facts.read(*index).map_err(|error| StageError::corrupt(key, &error))?;
        sum = sum.saturating_add(num_records(&facts).saturating_mul(*num_copies));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ManifestEntry, Outcome, RepoPath, Slot};
    use cairn_testkit::manifest_entry;

    use super::*;

    fn manifest(paths: &[(String, u32)]) -> Manifest {
        let artifact = ArtifactRef { key: "packs/r/x".to_owned(), size_bytes: 1, hash: [0; 32] };
        let entries = paths.iter().map(|(path, index)| {
            let entry = manifest_entry(RepoPath::parse(path).expect("a path"), Outcome::Indexed(None));
            let source = Some(Slot { artifact: artifact.clone(), index: *index });
            ManifestEntry { source, size_bytes: 100, ..entry }
        });
        Manifest { entries: entries.collect(), ..Manifest::default() }
    }

    #[test]
    fn copies_and_long_paths_count_as_repeated() {
        let check = |paths: &[(String, u32)], num_copies: u64| {
            let manifest = manifest(paths);
            let repeated = RepeatedContents::of(&manifest);
            assert_eq!(repeated.most_records(), num_copies * 51, "{paths:?}");
        };
        let path = |length: usize| "p".repeat(length);
        check(&[(path(5), 0), (path(255), 1)], 0);
        check(&[(path(5), 0), (path(6), 0), (path(7), 0)], 2);
        check(&[(path(256), 0)], 1);
        check(&[(path(4_000), 0)], 15);
        check(&[(path(4_000), 0), (path(600), 0), (path(600), 1)], 15 + 1 + 2 + 2);
    }
}
