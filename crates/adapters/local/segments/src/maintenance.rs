//! Sweeps, merges and removes segments while the repository is locked.
//!
//! Merging preserves the generations of rows and tombstones, so the results of all views stay the same.
//! Maintenance changes only files of published generations, which the sweep names (`KnownGenerations`). A
//! generation is *settled* if no view in use is older. A row is deleted in two cases: a tombstone of a
//! settled generation ends it, or a tombstone of a published generation ends it and no view in use sees the
//! row.
//!
//! A call executes at most one step, which rewrites a bounded number of rows (`TIERS`). The next call
//! executes the next step.
//!
//! A merged file lists the files that it replaces. Readers ignore the replaced files as soon as the merged
//! file is renamed to its name. Then the replaced files are deleted, while no reader lists the folder or
//! opens files (`files::wait_for_listings`). So a reader always finds either the merged file or all replaced
//! files. The name of a merged file contains its newest generation. From this name, a late writer recognises
//! that its generation is already merged, and writes nothing (`SegmentStore::stage`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use cairn_domain::{ChunkKey, GenerationId, Interval, Tenant, View};
use cairn_runs::{KnownGenerations, Size, Tiers};

use crate::error::SegmentError;
use crate::files;
use crate::repository::{OpenSegment, Repository, Snapshot};
use crate::segment::Segment;
use crate::writer::{self, Row, SegmentContents, Tombstone};

/// Rewriting a row takes about 20 microseconds, so a step takes about a third of a second.
pub(crate) const TIERS: Tiers = Tiers { step_rows: 16_384, dead_part: 8 };
const SETTLED_FILE: &str = "settled";
const LOCK_FILE: &str = "lock";

type Settled = BTreeSet<GenerationId>;

/// Records generations as settled, and executes one step. Returns the number of removed rows.
pub(crate) fn sweep_retired(repository: &Repository, published: &[GenerationId]) -> Result<u64, SegmentError> {
    let Some(_lock) = lock(repository.directory())? else { return Ok(0) };
    let snapshot = repository.snapshot()?;
    let mut settled = read_settled(repository.directory())?;
    settled.extend(published);
    // Generations that no file contains are not recorded.
    let named: Settled = snapshot.segments.values().flat_map(|open| generations(&open.segment)).collect();
    settled.retain(|generation| named.contains(generation));
    write_settled(repository.directory(), &settled)?;
    Ok(step(repository, &snapshot, &KnownGenerations { settled, published: &[], views: &[] })?.unwrap_or_default())
}

/// Executes one step, which treats the generations in `published` as published but not settled. Returns the
/// number of removed rows.
pub(crate) fn sweep_unseen(
    repository: &Repository,
    published: &[GenerationId],
    views: &[View],
) -> Result<u64, SegmentError> {
    let Some(_lock) = lock(repository.directory())? else { return Ok(0) };
    let snapshot = repository.snapshot()?;
    let known = KnownGenerations { settled: read_settled(repository.directory())?, published, views };
    Ok(step(repository, &snapshot, &known)?.unwrap_or_default())
}

/// Executes one step. Returns whether the step changed anything. If it did, another step may be needed.
pub(crate) fn compact(repository: &Repository) -> Result<bool, SegmentError> {
    let Some(_lock) = lock(repository.directory())? else { return Ok(false) };
    let snapshot = repository.snapshot()?;
    let settled = read_settled(repository.directory())?;
    Ok(step(repository, &snapshot, &KnownGenerations { settled, published: &[], views: &[] })?.is_some())
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
/// The lock file is removed last. After that, another process can lock the folder and write to it. In this
/// case, the folder is kept.
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
    let names = files::directory_names(directory)?;
    if !names.iter().any(|name| name.ends_with(files::SEGMENT_SUFFIX)) {
        for name in names.iter().filter(|name| *name != LOCK_FILE) {
            files::remove(&directory.join(name))?;
        }
        files::remove(&directory.join(LOCK_FILE))?;
        files::remove_directory(directory)?;
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
        // The new file must list all replaced files that still exist, so that readers continue to ignore
        // them.
        let mut replaces = vec![files::name_of(path)];
        replaces.extend(segment.header().replaces.iter().cloned());
        let contents =
            SegmentContents { tenant: tenant.clone(), repository: segment.repository(), rows, tombstones, replaces };
        write_merged(directory, newest(&files::name_of(path), &segment), contents)?;
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

/// Removes replaced files, and rewrites one group of files. Returns the number of removed rows, or `None` if
/// there was no group.
fn step(
    repository: &Repository,
    snapshot: &Snapshot,
    known: &KnownGenerations<'_>,
) -> Result<Option<u64>, SegmentError> {
    let directory = repository.directory();
    remove_replaced(directory, snapshot)?;
    files::remove_abandoned(directory)?;
    let is_published = |open: &OpenSegment| generations(&open.segment).all(|generation| known.is_published(generation));
    let published = snapshot.segments.iter().filter(|(_, open)| is_published(open));
    let members: Vec<(&str, Member<'_>)> =
        published.map(|(name, open)| (name.as_str(), Member { open, dead: dead_rows(open, known) })).collect();
    let group = next_group(&members);
    let numbered = members.into_iter().enumerate().filter(|(number, _)| group.contains(number));
    let members: BTreeMap<&str, Member<'_>> = numbered.map(|(_, member)| member).collect();
    if members.is_empty() { Ok(None) } else { merge(directory, snapshot, &members).map(Some) }
}

/// The indexes in `members` of the files to merge. After a change of the embedding model, the vectors of old
/// files may have a different number of dimensions. These old files are not merged with new files.
fn next_group(members: &[(&str, Member<'_>)]) -> BTreeSet<usize> {
    let size = |member: &Member<'_>| Size { rows: member.open.segment.num_rows(), dead: member.dead.len() as u32 };
    let with_rows = members.iter().map(|(_, member)| &member.open.segment).filter(|segment| segment.num_rows() > 0);
    let all: BTreeSet<usize> = with_rows.map(|segment| segment.dimensions()).collect();
    let first = all.first().copied().unwrap_or_default();
    let groups = std::iter::once(first).chain(all.into_iter().skip(1)).map(|dimensions| {
        let fits = |segment: &Segment| segment.num_rows() == 0 || segment.dimensions() == dimensions;
        let fitting: Vec<usize> = (0..members.len()).filter(|number| fits(&members[*number].1.open.segment)).collect();
        let sizes: Vec<Size> = fitting.iter().map(|number| size(&members[*number].1)).collect();
        TIERS.next_group(&sizes).into_iter().map(|position| fitting[position]).collect::<BTreeSet<usize>>()
    });
    groups.into_iter().find(|group| !group.is_empty()).unwrap_or_default()
}

/// A file of a group, and the rows of this file that are removed.
struct Member<'a> {
    open: &'a OpenSegment,
    dead: BTreeSet<u32>,
}

/// Deletes replaced files, and merged files without rows and tombstones. The merged file with the newest
/// generation is kept for late writers, even if it is empty.
fn remove_replaced(directory: &Path, snapshot: &Snapshot) -> Result<(), SegmentError> {
    let newest = snapshot.segments.keys().filter_map(|name| files::newest_of_merged(name)).max();
    let is_empty = |segment: &Segment| segment.num_rows() == 0 && segment.tombstones().len() == 0;
    let mut unused: BTreeSet<&String> = BTreeSet::new();
    for (name, open) in &snapshot.segments {
        unused.extend(open.segment.header().replaces.iter().filter(|name| snapshot.names().contains(*name)));
        if files::is_merged(name) && is_empty(&open.segment) && files::newest_of_merged(name) != newest {
            unused.insert(name);
        }
    }
    remove_unused(directory, unused)
}

fn remove_unused(directory: &Path, names: BTreeSet<&String>) -> Result<(), SegmentError> {
    if names.is_empty() {
        return Ok(());
    }
    let _lock = files::wait_for_listings(directory)?;
    names.into_iter().try_for_each(|name| files::remove(&directory.join(name)))
}

fn dead_rows(open: &OpenSegment, known: &KnownGenerations<'_>) -> BTreeSet<u32> {
    let interval = |row, gen_to| Interval { gen_from: open.segment.generation_of(row), gen_to };
    let dead = open.ends.iter().filter(|(row, gen_to)| known.is_dead(interval(*row, *gen_to)));
    dead.map(|(row, _)| *row).collect()
}

/// Writes one file for the group. Returns the number of removed rows.
fn merge(directory: &Path, snapshot: &Snapshot, group: &BTreeMap<&str, Member<'_>>) -> Result<u64, SegmentError> {
    let Some(first) = group.values().next().map(|member| &member.open.segment) else { return Ok(0) };
    let (mut rows, mut tombstones, mut num_removed) = (Vec::new(), Vec::new(), 0);
    let mut replaces: BTreeSet<String> = group.keys().map(|name| (*name).to_owned()).collect();
    for member in group.values() {
        let segment = &member.open.segment;
        num_removed += member.dead.len() as u64;
        rows.extend(all_rows(segment, |row| !member.dead.contains(&row))?);
        tombstones.extend(segment.tombstones());
        // The files of the group will be deleted. Each of them lists the files that it replaced. So the new
        // file must list those replaced files that still exist.
        let still_there = |name: &&String| snapshot.names().contains(*name);
        replaces.extend(segment.header().replaces.iter().filter(still_there).cloned());
    }
    let is_other = |name: &str| !group.contains_key(name);
    let others: Vec<&Segment> =
        snapshot.segments.iter().filter(|(name, _)| is_other(name)).map(|(_, open)| &*open.segment).collect();
    let contents = SegmentContents {
        tenant: Tenant::new(first.header().tenant.clone()),
        repository: first.repository(),
        tombstones: needed(tombstones, &rows, &others)?,
        rows,
        replaces: replaces.into_iter().collect(),
    };
    let newest = group.iter().filter_map(|(name, member)| newest(name, &member.open.segment)).max();
    let replaces = contents.replaces.clone();
    write_merged(directory, newest, contents)?;
    remove_unused(directory, replaces.iter().collect())?;
    Ok(num_removed)
}

/// The tombstones that are still needed, because they end a row of the merged file or of another file.
fn needed(tombstones: Vec<Tombstone>, rows: &[Row], others: &[&Segment]) -> Result<Vec<Tombstone>, SegmentError> {
    let mut first: BTreeMap<ChunkKey, GenerationId> = BTreeMap::new();
    for row in rows {
        let generation = first.entry(row.point.chunk.key).or_insert(row.generation);
        *generation = row.generation.min(*generation);
    }
    let mut needed = Vec::new();
    for tombstone in tombstones {
        let ends_own = first.get(&tombstone.key).is_some_and(|generation| *generation < tombstone.generation);
        if ends_own || ends_a_row(tombstone, others)? {
            needed.push(tombstone);
        }
    }
    Ok(needed)
}

/// Writes a file that replaces other files. `newest` is the newest generation of which these files ever
/// contained records. The new file need not contain a row of this generation.
fn write_merged(directory: &Path, newest: Option<GenerationId>, contents: SegmentContents) -> Result<(), SegmentError> {
    let replaces = contents.replaces.clone();
    let bytes = writer::encode(contents)?;
    files::write(directory, &files::merged_name(newest.unwrap_or(GenerationId(0)), &replaces, &bytes), &bytes)
}

/// The newest generation of which the file ever contained records, even if these records were removed later.
fn newest(name: &str, segment: &Segment) -> Option<GenerationId> {
    generations(segment).chain(files::newest_of_merged(name)).max()
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

/// Converts those rows of a segment that `keep` accepts to points.
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

/// Locks the repository, so that no other thread or process runs maintenance or stages records. Returns
/// `None` if the repository does not exist.
fn lock(directory: &Path) -> Result<Option<File>, SegmentError> {
    lock_file(directory, File::lock)
}

/// Locks the repository, so that no other thread or process runs maintenance. Several writers may stage
/// records at the same time. Returns `None` if the repository does not exist.
pub(crate) fn lock_for_staging(directory: &Path) -> Result<Option<File>, SegmentError> {
    lock_file(directory, File::lock_shared)
}

/// Opens and locks the lock file. If the file was removed while this function waited for the lock, the new
/// file of the same name is opened and locked.
fn lock_file(directory: &Path, lock: fn(&File) -> io::Result<()>) -> Result<Option<File>, SegmentError> {
    let path = directory.join(LOCK_FILE);
    loop {
        let file = match File::options().create(true).truncate(false).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(SegmentError::io("open", &path))?,
        };
        lock(&file).map_err(SegmentError::io("lock", directory))?;
        let locked = file.metadata().map_err(SegmentError::io("read", &path))?;
        if fs::metadata(&path).is_ok_and(|named| (named.dev(), named.ino()) == (locked.dev(), locked.ino())) {
            return Ok(Some(file));
        }
    }
}

/// Reads the settled generations, one in each line. Invalid lines are ignored, so the generations in these
/// lines are swept again.
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
