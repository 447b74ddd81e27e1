//! Opens the segments of one repository, and finds the rows that a view shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cairn_domain::{GenerationId, View};

use crate::error::SegmentError;
use crate::files;
use crate::rows::RowSet;
use crate::segment::Segment;
use crate::writer::Tombstone;

/// A folder that changed less than this time ago can change again without a new modification time.
const TIME_RESOLUTION: Duration = Duration::from_secs(1);
/// Maximum number of listings of a folder, if it changes during each listing.
const MAX_LISTINGS: usize = 20;

/// The folder of a repository, with its cached open segments.
pub(crate) struct Repository {
    directory: PathBuf,
    cached: Mutex<Option<Cached>>,
}

struct Cached {
    snapshot: Arc<Snapshot>,
    /// The modification time of the folder. `None` if it is too recent to detect a later change.
    unchanged_since: Option<SystemTime>,
}

impl Repository {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, cached: Mutex::new(None) }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Opens all existing segments. Segments that are already open are reused.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, SegmentError> {
        // The cache is replaced as a whole, so the cache can be used after another thread has panicked.
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let changed_at = files::modified(&self.directory);
        if let Some(cached) = &*cached
            && cached.unchanged_since.is_some()
            && cached.unchanged_since == changed_at
        {
            return Ok(Arc::clone(&cached.snapshot));
        }
        let before = cached.as_ref().map(|cached| Arc::clone(&cached.snapshot));
        let snapshot = self.load(before.as_ref())?;
        let settled = changed_at.filter(|time| time.elapsed().is_ok_and(|elapsed| elapsed > TIME_RESOLUTION));
        *cached = Some(Cached { snapshot: Arc::clone(&snapshot), unchanged_since: settled });
        Ok(snapshot)
    }

    fn load(&self, before: Option<&Arc<Snapshot>>) -> Result<Arc<Snapshot>, SegmentError> {
        for _ in 0..MAX_LISTINGS {
            let _lock = files::lock_listing(&self.directory)?;
            let names = files::segment_names(&self.directory)?;
            if let Some(before) = before.filter(|before| before.names == names) {
                return Ok(Arc::clone(before));
            }
            match Snapshot::open(&self.directory, &names, before.map(Arc::as_ref)) {
                // Another process removed a file after the listing, so the folder is listed again.
                Err(error) if error.is_not_found() => {}
                snapshot => return snapshot.map(Arc::new),
            }
        }
        Err(SegmentError::Invalid(format!(
            "other processes change the files in `{}` faster than they can be read; try again",
            self.directory.display()
        )))
    }
}

/// The segments of a repository at one moment.
pub(crate) struct Snapshot {
    /// Names of all listed files, including replaced files.
    names: Vec<String>,
    /// The open segments that are not replaced, by file name.
    pub(crate) segments: BTreeMap<String, OpenSegment>,
}

pub(crate) struct OpenSegment {
    pub(crate) segment: Arc<Segment>,
    /// The rows that a tombstone ends, each with the generation that ends it. Ascending.
    pub(crate) ends: Vec<(u32, GenerationId)>,
}

impl Snapshot {
    fn open(directory: &Path, names: &[String], before: Option<&Snapshot>) -> Result<Self, SegmentError> {
        let open = |name: &String| match before.and_then(|before| before.segments.get(name)) {
            Some(open) => Ok(Arc::clone(&open.segment)),
            None => Segment::open(&directory.join(name)).map(Arc::new),
        };
        let mut opened: BTreeMap<String, Arc<Segment>> = BTreeMap::new();
        // Only merged files replace other files. Merged files are opened first, because replaced files need
        // not be opened.
        for name in names.iter().filter(|name| files::is_merged(name)) {
            opened.insert(name.clone(), open(name)?);
        }
        let replaced: BTreeSet<String> =
            opened.values().flat_map(|segment| segment.header().replaces.iter().cloned()).collect();
        opened.retain(|name, _| !replaced.contains(name));
        for name in names.iter().filter(|name| !files::is_merged(name) && !replaced.contains(*name)) {
            opened.insert(name.clone(), open(name)?);
        }
        let mut tombstones: Vec<Tombstone> = opened.values().flat_map(|segment| segment.tombstones()).collect();
        tombstones.sort_unstable();
        let mut segments = BTreeMap::new();
        for (name, segment) in opened {
            let ends = ends(&segment, &tombstones)?;
            segments.insert(name, OpenSegment { segment, ends });
        }
        Ok(Self { names: names.to_vec(), segments })
    }

    pub(crate) fn tenant(&self) -> Option<&str> {
        self.segments.values().next().map(|open| open.segment.header().tenant.as_str())
    }

    /// Names of the listed files, including replaced files.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

/// Returns the rows that the tombstones end in this segment, each with the generation of the tombstone. Each
/// element of the smaller set is looked up in the larger set.
fn ends(segment: &Segment, tombstones: &[Tombstone]) -> Result<Vec<(u32, GenerationId)>, SegmentError> {
    let mut ends = Vec::new();
    let mut add = |row: u32, tombstone: &Tombstone| {
        if segment.generation_of(row) < tombstone.generation {
            ends.push((row, tombstone.generation));
        }
    };
    if tombstones.len() < segment.num_rows() as usize {
        for tombstone in tombstones {
            for row in segment.rows_of_key(tombstone.key)? {
                add(row, tombstone);
            }
        }
    } else {
        for row in 0..segment.num_rows() {
            let key = segment.key(row);
            let first = tombstones.partition_point(|tombstone| tombstone.key < key);
            for tombstone in tombstones[first..].iter().take_while(|tombstone| tombstone.key == key) {
                add(row, tombstone);
            }
        }
    }
    ends.sort_unstable();
    Ok(ends)
}

impl OpenSegment {
    /// The rows that are visible in the view.
    pub(crate) fn visible(&self, view: &View) -> RowSet {
        let segment = &self.segment;
        let published = |generation: &u64| view.published(GenerationId(*generation));
        let generations = &segment.header().generations;
        let mut rows = if generations.iter().any(published) {
            RowSet::all(segment.num_rows())
        } else {
            RowSet::none(segment.num_rows())
        };
        if !generations.iter().all(published) {
            rows.retain(|row| view.published(segment.generation_of(row)));
        }
        for (row, generation) in &self.ends {
            if view.published(*generation) {
                rows.remove(*row);
            }
        }
        rows
    }

    /// Whether one row is visible in the view.
    pub(crate) fn is_visible(&self, view: &View, row: u32) -> bool {
        let first = self.ends.partition_point(|(ended, _)| *ended < row);
        let mut ends = self.ends[first..].iter().take_while(|(ended, _)| *ended == row);
        view.published(self.segment.generation_of(row)) && !ends.any(|(_, generation)| view.published(*generation))
    }
}
