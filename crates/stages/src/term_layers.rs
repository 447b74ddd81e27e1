//! Computes the term counts of a repository. A term count is the number of published chunks that contain a
//! term, or that contain a pair of words in the name of a symbol.
//!
//! Every part that adds or retires chunks reports a table of the changes in the counts. `publish` adds the
//! tables of all parts and writes the sum as one layer. The manifest lists the layers of its generation, so
//! the counts are exact for this generation. A small change writes a small layer: the new layer is merged
//! with an older layer only if the older layer is less than four times as large. Therefore a repository has
//! few layers, and the cost of a merge is proportional to the changes since the previous merge.

use cairn_domain::{ArtifactRef, ChunkRecord, Point, RepositoryId, TermCounts};
use cairn_pipeline::StageError;
use cairn_ports::BlobStoreExt;
use cairn_ranking::{TermCounter, passage_terms, sum_of_counts};
use cairn_wire::{ArtifactKind, PartReport, decode, encode};

use crate::artifacts::{Artifacts, TERMS, reported, written};
use crate::threads::blocking;

/// An older layer is not merged if it is at least this many times as large as the new layer.
const TIER: u64 = 4;

/// The changes that a part makes in the counts. A rebuild starts from an empty table, so it subtracts no
/// ended chunks.
pub(crate) fn changed_terms(begun: &[Point], ended: &[ChunkRecord], rebuild: bool) -> TermCounts {
    let mut counter = TermCounter::default();
    begun.iter().for_each(|point| counter.begin(&point.chunk, &point.sparse));
    if !rebuild {
        ended.iter().for_each(|chunk| counter.end(chunk, &passage_terms(&cairn_records::passage(chunk))));
    }
    counter.finish()
}

/// Writes the table of a part and adds it to the report. A table without changes is not written.
pub(crate) async fn report_terms(
    artifacts: &Artifacts,
    repository: RepositoryId,
    counts: &TermCounts,
    report: &mut PartReport,
) -> Result<(), StageError> {
    if !counts.is_empty() {
        let artifact = artifacts.put_by_content(TERMS, repository, encode(ArtifactKind::TermCounts, counts)).await?;
        report.artifacts.insert(TERMS.to_owned(), written(artifact));
    }
    Ok(())
}

/// The layers of a generation: the layers `before` it, and the changes in the reports of its parts.
pub(crate) async fn layers(
    artifacts: &Artifacts,
    repository: RepositoryId,
    before: &[ArtifactRef],
    reports: impl Iterator<Item = &PartReport>,
) -> Result<Vec<ArtifactRef>, StageError> {
    let mut tables = Vec::new();
    for reference in reports.filter_map(|report| reported(report, TERMS)) {
        tables.push(table(artifacts, &reference).await?);
    }
    let mut change = blocking(move || Ok(sum_of_counts(&tables))).await?;
    if change.is_empty() {
        return Ok(before.to_vec());
    }
    let mut layers = before.to_vec();
    let mut encoded = encode(ArtifactKind::TermCounts, &change);
    while let Some(last) = layers.pop_if(|last| last.size_bytes < TIER * encoded.len() as u64) {
        let older = table(artifacts, &last).await?;
        (change, encoded) = blocking(move || {
            let merged = sum_of_counts([&older, &change]);
            let encoded = encode(ArtifactKind::TermCounts, &merged);
            Ok((merged, encoded))
        })
        .await?;
    }
    layers.push(artifacts.put_by_content(TERMS, repository, encoded).await?);
    Ok(layers)
}

async fn table(artifacts: &Artifacts, reference: &ArtifactRef) -> Result<TermCounts, StageError> {
    let bytes = artifacts.blobs.get_artifact(reference).await?;
    decode(ArtifactKind::TermCounts, &bytes).map_err(|error| StageError::corrupt(&reference.key, &error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cairn_domain::{RepositoryName, Tenant};
    use cairn_testkit::MemoryBlobs;

    use super::*;

    const NUM_TERMS: u32 = 20_000;

    fn repository() -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"))
    }

    /// A pseudo-random number that represents the hash of a term.
    fn spread(number: u32) -> u32 {
        let hash = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
        let hash = (hash ^ hash >> 15).wrapping_mul(0x846c_a68b);
        hash ^ hash >> 16
    }

    /// A change of one file: one chunk is retired, and a chunk with different terms is added.
    fn small_change(number: u32) -> TermCounts {
        let ended = (0..50).map(|term| (spread((number * 31 + term) % NUM_TERMS), -1));
        let begun = (0..50).map(|term| (spread(NUM_TERMS + number * 50 + term), 1));
        let mut terms: Vec<(u32, i32)> = ended.chain(begun).collect();
        terms.sort_unstable();
        TermCounts { num_chunks: 0, terms, ..TermCounts::default() }
    }

    fn large() -> TermCounts {
        let mut terms: Vec<(u32, i32)> = (0..NUM_TERMS).map(|term| (spread(term), 3 + term as i32 % 5)).collect();
        terms.sort_unstable();
        TermCounts { num_chunks: 900, terms, ..TermCounts::default() }
    }

    async fn after(artifacts: &Artifacts, before: &[ArtifactRef], change: &TermCounts) -> Vec<ArtifactRef> {
        let mut report = PartReport::default();
        report_terms(artifacts, repository(), change, &mut report).await.expect("written");
        layers(artifacts, repository(), before, [report].iter()).await.expect("layers")
    }

    async fn sum(artifacts: &Artifacts, layers: &[ArtifactRef]) -> TermCounts {
        let mut tables = Vec::new();
        for layer in layers {
            tables.push(table(artifacts, layer).await.expect("a table"));
        }
        sum_of_counts(&tables)
    }

    #[tokio::test]
    async fn small_changes_write_little_and_leave_few_layers() {
        let artifacts = Artifacts::new(Arc::new(MemoryBlobs::new()));
        let mut layers = after(&artifacts, &[], &large()).await;
        let size_bytes = layers[0].size_bytes;
        let (mut expect, mut num_written) = (large(), 0);
        for number in 0..100 {
            let change = small_change(number);
            let now = after(&artifacts, &layers, &change).await;
            num_written += now.last().filter(|last| !layers.contains(last)).map_or(0, |last| last.size_bytes);
            layers = now;
            expect = sum_of_counts([&expect, &change]);
            assert_eq!(sum(&artifacts, &layers).await, expect, "change {number}");
            assert!(layers.len() <= 6, "there are {} layers after change {number}", layers.len());
        }
        // If each change wrote the whole table, the total size would be the size of a hundred tables.
        assert!(num_written < 10 * size_bytes, "{num_written} bytes were written for a table of {size_bytes} bytes");
    }

    #[tokio::test]
    async fn changes_that_cancel_each_other_add_no_layer() {
        let artifacts = Artifacts::new(Arc::new(MemoryBlobs::new()));
        let layers = after(&artifacts, &[], &large()).await;
        assert_eq!(after(&artifacts, &layers, &TermCounts::default()).await, layers);
        let terms = large().terms.iter().map(|(term, n)| (*term, -n)).collect();
        let undone = TermCounts { num_chunks: -900, terms, ..TermCounts::default() };
        let none = after(&artifacts, &layers, &undone).await;
        assert!(sum(&artifacts, &none).await.is_empty());
    }

    #[test]
    fn rebuild_counts_no_ended_chunk() {
        let chunk = crate::pattern_chunk::pattern_chunk(&crate::pattern_chunk::fixture::pattern("Any"));
        let ended = [chunk.expect("the chunk of a pattern with members")];
        let (change, rebuild) = (changed_terms(&[], &ended, false), changed_terms(&[], &ended, true));
        assert_eq!((change.num_chunks, rebuild.num_chunks), (-1, 0));
        assert!(change.terms.iter().all(|(_, count)| *count == -1) && rebuild.is_empty());
    }
}
