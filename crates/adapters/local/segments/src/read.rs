//! Reads records by key, and all records of a repository.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{ChunkKey, ChunkRecord, Key128, RepositoryId, View};
use cairn_ports::ChunkPage;

use crate::error::SegmentError;
use crate::repository::{OpenSegment, Snapshot};

/// The number of rows of a page. The keys of a page refer to rows in arbitrary blocks. A large page has more
/// rows in each block, so fewer blocks are decompressed for each row.
const PAGE_ROWS: usize = 4_096;

/// The visible records of the keys, in the order of the keys.
pub(crate) fn fetch(
    snapshots: &[Arc<Snapshot>],
    view: &View,
    keys: &[(RepositoryId, ChunkKey)],
    with_text: bool,
) -> Result<Vec<ChunkRecord>, SegmentError> {
    let mut records: Vec<Option<ChunkRecord>> = vec![None; keys.len()];
    for open in snapshots.iter().flat_map(|snapshot| snapshot.segments.values()) {
        let mut wanted: Vec<(u32, usize)> = Vec::new();
        for (place, (repository, key)) in keys.iter().enumerate() {
            if *repository == open.segment.repository() && records[place].is_none() {
                let rows = open.segment.rows_of_key(*key)?;
                wanted.extend(rows.into_iter().filter(|row| open.is_visible(view, *row)).map(|row| (row, place)));
            }
        }
        // The rows are read in ascending order, so that each block is decompressed once.
        wanted.sort_unstable();
        let mut reader = open.segment.reader(with_text)?;
        for (row, place) in wanted {
            records[place] = Some(reader.record(row)?);
        }
    }
    Ok(records.into_iter().flatten().collect())
}

/// A page of all visible records, in the order of their keys. A merge of segments does not change this order.
///
/// `from` is the first half of the key at which the page starts.
pub(crate) fn scroll(snapshots: &[Arc<Snapshot>], view: &View, from: u64) -> Result<ChunkPage, SegmentError> {
    let mut first = [0; 16];
    first[..8].copy_from_slice(&from.to_be_bytes());
    let open: Vec<&OpenSegment> = snapshots.iter().flat_map(|snapshot| snapshot.segments.values()).collect();
    let mut found: Vec<(ChunkKey, usize, u32)> = Vec::new();
    for (number, open) in open.iter().enumerate() {
        let mut num_taken = 0;
        for row in open.segment.rows_from_key(Key128(first))? {
            let row = row?;
            if num_taken > PAGE_ROWS {
                break;
            }
            if open.is_visible(view, row) {
                found.push((open.segment.key(row), number, row));
                num_taken += 1;
            }
        }
    }
    found.sort_unstable();
    let next = cut(&mut found);
    Ok(ChunkPage { chunks: records(&open, &found)?, next })
}

/// Cuts the rows to one page. Rows whose keys have the same first half stay on the same page. Returns the
/// first half of the key at which the next page starts.
fn cut(found: &mut Vec<(ChunkKey, usize, u32)>) -> Option<u64> {
    let half = |key: &ChunkKey| u64::from_be_bytes(std::array::from_fn(|index| key.0.0[index]));
    let next = half(&found.get(PAGE_ROWS)?.0);
    let end = found.partition_point(|(key, ..)| half(key) < next);
    if end > 0 {
        found.truncate(end);
        return Some(next);
    }
    // If all rows of the page have the same first half, the page contains all rows with this half, even if
    // the page becomes long.
    let end = found.partition_point(|(key, ..)| half(key) <= next);
    found.truncate(end);
    next.checked_add(1)
}

type DigestedRecord = (ChunkRecord, cairn_domain::Digest);

fn records(open: &[&OpenSegment], found: &[(ChunkKey, usize, u32)]) -> Result<Vec<DigestedRecord>, SegmentError> {
    let mut by_segment: BTreeMap<usize, Vec<(u32, usize)>> = BTreeMap::new();
    for (place, (_, number, row)) in found.iter().enumerate() {
        by_segment.entry(*number).or_default().push((*row, place));
    }
    let mut records: Vec<Option<DigestedRecord>> = vec![None; found.len()];
    for (number, mut rows) in by_segment {
        rows.sort_unstable();
        let segment = &open[number].segment;
        let mut reader = segment.reader(true)?;
        for (row, place) in rows {
            records[place] = Some((reader.record(row)?, segment.vector_digest(row)));
        }
    }
    Ok(records.into_iter().flatten().collect())
}
