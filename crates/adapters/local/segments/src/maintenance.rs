//! Sweeps, merges and removes segments while the repository is locked.
//!
//! Merging preserves the generations of rows and tombstones, so the results of all views stay the same.
//! Maintenance changes only files of *settled* generations: published generations whose grace period has
//! ended, as the sweep reports. These files are never staged again, and no live view is older than these
//! generations. So a row that a settled tombstone ends can be deleted.
//!
//! A merged file lists the files that it replaces. Readers ignore the replaced files as soon as the merged
//! file is renamed to its name. The replaced files are deleted later (`REPLACED_KEPT`). So a reader that
//! lists the folder during the merge finds the merged file or the replaced files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use cairn_domain::{GenerationId, Tenant};

use crate::error::SegmentError;
use crate::files;
use crate::repository::{OpenSegment, Repository, Snapshot};
use crate::segment::Segment;
use crate::writer::{self, Row, SegmentContents, Tombstone};

/// The time for which replaced files are kept, because readers may be listing the folder.
const REPLACED_KEPT: Duration = Duration::from_secs(60);
/// A segment with fewer rows than this is small.
const SMALL_ROWS: u32 = 8_192;
/// Small segments are merged if at least this number of them exists.
const MANY_SMALL: usize = 6;
/// Approximate maximum number of rows of a merged segment. During a merge, all these rows are in memory at
/// once.
const MAX_MERGED_ROWS: u32 = 32_768;
/// A segment with fewer rows than this is rewritten if one row is dead. A larger segment is rewritten if an
/// eighth of its rows is dead.
const TINY_ROWS: u32 = 1_024;
const SETTLED_FILE: &str = "settled";
const LOCK_FILE: &str = "lock";

type Settled = BTreeSet<GenerationId>;

/// Records generations as settled, merges small files, and rewrites files with too many dead rows. Returns
/// the number of removed rows.
pub(crate) fn sweep_retired(repository: &Repository, published: &[GenerationId]) -> Result<u64, SegmentError> {
    let Some(_lock) = lock(repository.directory())? else { return Ok(0) };
    let snapshot = repository.snapshot()?;
    let mut settled = read_settled(repository.directory())?;
    settled.extend(published);
    // Generations that no file contains are not recorded.
    let named: Settled = snapshot.segments.values().flat_map(|open| generations(&open.segment)).collect();
    settled.retain(|generation| named.contains(generation));
    write_settled(repository.directory(), &settled)?;
    reorganise(repository, &snapshot, &settled)
}

/// Merges small segments, and rewrites segments with many dead rows.
pub(crate) fn compact(repository: &Repository) -> Result<(), SegmentError> {
    let Some(_lock) = lock(repository.directory())? else { return Ok(()) };
    let snapshot = repository.snapshot()?;
    reorganise(repository, &snapshot, &read_settled(repository.directory())?).map(drop)
}

/// Deletes the files of an unpublished generation. Returns the number of remaining records that refer to this
/// generation.
pub(crate) fn sweep_aborted(repository: &Repository, aborted: GenerationId) -> Result<u64, SegmentError> {
    let directory = repository.directory();
    let Some(_lock) = lock(directory)? else { return Ok(0) };
    for name in files::segment_names(directory)? {
        if files::generation_of(&name) == Some(aborted) {
            files::remove(&directory.join(name))?;
        }
    }
    files::remove_abandoned(directory)?;
    let left = repository.snapshot()?;
    let named = left.segments.values().flat_map(|open| generations(&open.segment));
    Ok(named.filter(|generation| *generation == aborted).count() as u64)
}

/// Removes every record that began before the generation `before`, and the folder if it has no segments left.
pub(crate) fn remove(repository: &Repository, tenant: &Tenant, before: GenerationId) -> Result<(), SegmentError> {
    let directory = repository.directory();
    let Some(lock) = lock(directory)? else { return Ok(()) };
    for name in files::segment_names(directory)? {
        let path = directory.join(&name);
        match files::generation_of(&name) {
            Some(generation) if generation < before => files::remove(&path)?,
            Some(_) => {}
            None => remove_from_merged(directory, &path, tenant, before)?,
        }
    }
    if files::segment_names(directory)?.is_empty() {
        fs::remove_dir_all(directory).map_err(SegmentError::io("remove", directory))?;
    }
    drop(lock);
    Ok(())
}

/// Removes the rows of generations before `before` from a merged file. The file may also contain later rows,
/// if the repository was indexed again before its removal.
fn remove_from_merged(
    directory: &Path,
    path: &Path,
    tenant: &Tenant,
    before: GenerationId,
) -> Result<(), SegmentError> {
    let segment = match Segment::open(path) {
        Ok(segment) => segment,
        // The rows of an unreadable file cannot be kept, and the repository is being removed in any case.
        Err(SegmentError::Damaged { .. }) => return files::remove(path),
        Err(error) if error.is_not_found() => return Ok(()),
        Err(error) => return Err(error),
    };
    if generations(&segment).any(|generation| generation >= before) {
        let mut rows = all_rows(&segment, |row| segment.generation_of(row) >= before)?;
        rows.retain(|row| row.generation >= before);
        let tombstones = segment.tombstones().filter(|tombstone| tombstone.generation >= before).collect();
        // The new file must list all replaced files that still exist, so that they stay replaced.
        let mut replaces = vec![files::name_of(path)];
        replaces.extend(segment.header().replaces.iter().cloned());
        let contents =
            SegmentContents { tenant: tenant.clone(), repository: segment.repository(), rows, tombstones, replaces };
        write_merged(directory, contents)?;
    }
    files::remove(path)
}

/// Verifies every file of the folder, including files that are visible in no view.
pub(crate) fn verify(repository: &Repository) -> Result<(), SegmentError> {
    let directory = repository.directory();
    for name in files::segment_names(directory)? {
        match Segment::open(&directory.join(name)).and_then(|segment| segment.verify()) {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn reorganise(repository: &Repository, snapshot: &Snapshot, settled: &Settled) -> Result<u64, SegmentError> {
    let directory = repository.directory();
    remove_replaced(directory, snapshot)?;
    files::remove_abandoned(directory)?;
    let mut num_removed = 0;
    for group in groups(snapshot, settled) {
        num_removed += merge(directory, snapshot, &group, settled)?;
    }
    Ok(num_removed)
}

/// Deletes files that were replaced more than `REPLACED_KEPT` ago, and merged files without rows.
fn remove_replaced(directory: &Path, snapshot: &Snapshot) -> Result<(), SegmentError> {
    for (name, open) in &snapshot.segments {
        let path = directory.join(name);
        let replaces = &open.segment.header().replaces;
        if replaces.is_empty() || files::age(&path).is_none_or(|age| age < REPLACED_KEPT) {
            continue;
        }
        for replaced in replaces {
            files::remove(&directory.join(replaced))?;
        }
        if open.segment.num_rows() == 0 && open.segment.tombstones().len() == 0 {
            files::remove(&path)?;
        }
    }
    Ok(())
}

/// The segments to rewrite, in groups. Each group becomes one file.
fn groups(snapshot: &Snapshot, settled: &Settled) -> Vec<Vec<String>> {
    let is_settled = |open: &OpenSegment| generations(&open.segment).all(|generation| settled.contains(&generation));
    let eligible: Vec<(&String, &OpenSegment)> =
        snapshot.segments.iter().filter(|(_, open)| is_settled(open)).collect();
    let is_small = |open: &OpenSegment| open.segment.num_rows() < SMALL_ROWS;
    let many_small = eligible.iter().filter(|(_, open)| is_small(open)).count() >= MANY_SMALL;
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut num_rows = 0;
    for (name, open) in eligible {
        let wanted = has_too_many_dead(open, settled) || many_small && is_small(open);
        if !wanted {
            continue;
        }
        let segment_rows = open.segment.num_rows();
        match groups.last_mut() {
            Some(group) if num_rows + segment_rows <= MAX_MERGED_ROWS => group.push(name.clone()),
            _ => {
                groups.push(vec![name.clone()]);
                num_rows = 0;
            }
        }
        num_rows += segment_rows;
    }
    // A group of one file is rewritten only if it has too many dead rows.
    let is_worth_it =
        |group: &Vec<String>| group.len() > 1 || has_too_many_dead(&snapshot.segments[&group[0]], settled);
    groups.retain(is_worth_it);
    groups
}

fn has_too_many_dead(open: &OpenSegment, settled: &Settled) -> bool {
    let num_rows = open.segment.num_rows();
    let num_dead = dead_rows(open, settled).len() as u32;
    num_dead > 0 && (num_rows < TINY_ROWS || num_dead >= num_rows / 8)
}

fn dead_rows(open: &OpenSegment, settled: &Settled) -> BTreeSet<u32> {
    open.ends.iter().filter(|(_, generation)| settled.contains(generation)).map(|(row, _)| *row).collect()
}

/// Writes one file for the group. Returns the number of removed rows.
fn merge(directory: &Path, snapshot: &Snapshot, group: &[String], settled: &Settled) -> Result<u64, SegmentError> {
    let members: BTreeMap<&String, &OpenSegment> =
        group.iter().filter_map(|name| Some((name, snapshot.segments.get(name)?))).collect();
    let Some(first) = members.values().next().map(|open| &open.segment) else { return Ok(0) };
    let mut rows = Vec::new();
    let mut num_removed = 0;
    let mut tombstones = Vec::new();
    let mut replaces: BTreeSet<String> = group.iter().cloned().collect();
    for open in members.values() {
        let dead = dead_rows(open, settled);
        num_removed += dead.len() as u64;
        rows.extend(all_rows(&open.segment, |row| !dead.contains(&row))?);
        tombstones.extend(open.segment.tombstones());
        // Files that a member replaces and that still exist must stay replaced after the member is deleted.
        let still_there = |name: &&String| snapshot.names().contains(*name);
        replaces.extend(open.segment.header().replaces.iter().filter(still_there).cloned());
    }
    let others: Vec<&Segment> =
        snapshot.segments.iter().filter(|(name, _)| !group.contains(name)).map(|(_, open)| &*open.segment).collect();
    let mut kept = Vec::new();
    for tombstone in tombstones {
        if ends_a_row(tombstone, &others)? {
            kept.push(tombstone);
        }
    }
    let contents = SegmentContents {
        tenant: Tenant::new(first.header().tenant.clone()),
        repository: first.repository(),
        rows,
        tombstones: kept,
        replaces: replaces.into_iter().collect(),
    };
    write_merged(directory, contents)?;
    Ok(num_removed)
}

fn write_merged(directory: &Path, contents: SegmentContents) -> Result<(), SegmentError> {
    let replaces = contents.replaces.clone();
    let bytes = writer::encode(contents)?;
    files::write(directory, &files::merged_name(&replaces, &bytes), &bytes)
}

fn ends_a_row(tombstone: Tombstone, segments: &[&Segment]) -> Result<bool, SegmentError> {
    for segment in segments {
        for row in segment.rows_of_key(tombstone.key)? {
            if segment.generation_of(row) < tombstone.generation {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The rows of a segment that `keep` accepts, converted to points.
fn all_rows(segment: &Segment, keep: impl Fn(u32) -> bool) -> Result<Vec<Row>, SegmentError> {
    let postings = segment.postings()?.vectors(segment.num_rows());
    let sparse = postings.ok_or_else(|| segment.damaged("its postings cannot be read"))?;
    let mut reader = segment.reader(true)?;
    let mut rows = Vec::new();
    for (row, sparse) in (0..).zip(sparse) {
        if keep(row) {
            let chunk = reader.record(row)?;
            let point = cairn_domain::Point { chunk, dense: segment.dense(row), sparse };
            rows.push(Row { generation: segment.generation_of(row), point });
        }
    }
    Ok(rows)
}

/// All generations that occur in a segment.
fn generations(segment: &Segment) -> impl Iterator<Item = GenerationId> {
    let of_rows = segment.header().generations.iter().map(|generation| GenerationId(*generation));
    of_rows.chain(segment.tombstones().map(|tombstone| tombstone.generation))
}

/// Locks the repository, so that no other thread or process runs maintenance. Returns `None` if the
/// repository does not exist.
fn lock(directory: &Path) -> Result<Option<File>, SegmentError> {
    let path = directory.join(LOCK_FILE);
    match File::options().create(true).truncate(false).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => {
            let file = file.map_err(SegmentError::io("open", &path))?;
            file.lock().map_err(SegmentError::io("lock", &path))?;
            Ok(Some(file))
        }
    }
}

/// Reads the settled generations, one in each line. Invalid lines are ignored; these generations are swept
/// again.
fn read_settled(directory: &Path) -> Result<Settled, SegmentError> {
    let path = directory.join(SETTLED_FILE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Settled::new()),
        text => {
            let text = text.map_err(SegmentError::io("read", &path))?;
            Ok(text.lines().filter_map(|line| line.parse().ok().map(GenerationId)).collect())
        }
    }
}

fn write_settled(directory: &Path, settled: &Settled) -> Result<(), SegmentError> {
    if *settled == read_settled(directory)? {
        return Ok(());
    }
    let text: String = settled.iter().map(|generation| format!("{generation}\n")).collect();
    files::write(directory, SETTLED_FILE, text.as_bytes())
}
