//! Computes the ids of files on disk.

use std::sync::Arc;
use std::time::SystemTime;

use cairn_domain::{BlobId, EntryKind, RepoPath};
use cairn_ports::{SyncMeter, TreeEntry, plain_io};

use super::parallel;
use super::root::Root;
use super::stat_cache::{Stat, StatCache, StatCacheWriter};
use super::tree::{FoundFile, FoundState};
use crate::blob_id::{NO_BLOB, blob_id};
use crate::settings::{GitSettings, MayOpen, SettingsFile};

/// Maximum size of a settings file. A larger file is not read.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// The number of files that are identified together, as one block. The memory for the found files of a block
/// is released when the block is finished.
const FILES_PER_BLOCK: usize = 1 << 16;
/// Maximum total size of the settings files from which a plan is built. By default, a sync accepts much
/// less.
const MAX_ALL_SETTINGS_BYTES: usize = 64 << 20;

/// The entries with their ids, in the order of the files, and the encoded stat cache for the next listing.
pub(super) struct Identified {
    pub(super) entries: Vec<TreeEntry>,
    pub(super) stat_cache: Vec<u8>,
}

/// Takes the id from the cache if the file is unchanged, and reads the file otherwise. A file that cannot be
/// read becomes an entry that contains the reason. Once the sync is stopped, no more files are read.
pub(super) fn identify(
    root: &Root,
    files: Vec<FoundFile>,
    cache: &StatCache,
    settings: &GitSettings,
    meter: &Arc<SyncMeter>,
    started_at: SystemTime,
) -> Identified {
    let identifier = Identifier {
        root,
        cache,
        meter,
        plan: FilePlan::read(root, &files, settings, meter),
        max_bytes: settings.limits.max_hashed_bytes,
    };
    let mut writer = StatCacheWriter::new(started_at);
    let mut entries = Vec::with_capacity(files.len());
    let mut rest = files.into_iter();
    loop {
        let block: Vec<FoundFile> = rest.by_ref().take(FILES_PER_BLOCK).collect();
        if block.is_empty() {
            return Identified { entries, stat_cache: writer.encode() };
        }
        let contents = parallel::map(&block, &|file| identifier.identify(file));
        for (file, Content { kind, blob, size_bytes, unreadable, stat }) in block.into_iter().zip(contents) {
            if let Some(stat) = stat {
                writer.add(&file.bytes, &stat, blob);
            }
            entries.push(TreeEntry { path: file.path, kind, blob, size_bytes, unreadable, changed_at: None });
        }
    }
}

/// Decides which files may be opened.
enum FilePlan {
    OpenAll,
    /// The operator's reading plan for the settings files of the tree.
    ByPlan(Box<MayOpen>),
    OpenNone,
}

impl FilePlan {
    fn read(root: &Root, files: &[FoundFile], settings: &GitSettings, meter: &Arc<SyncMeter>) -> Self {
        let Some(plan) = &settings.reading_plan else { return Self::OpenAll };
        settings_files(root, files, meter).map_or(Self::OpenNone, |files| Self::ByPlan(plan(&files, meter)))
    }

    fn may_open(&self, path: &RepoPath, kind: EntryKind, size_bytes: u64) -> bool {
        match self {
            Self::OpenAll => true,
            Self::ByPlan(may_open) => may_open(path, kind, size_bytes),
            Self::OpenNone => false,
        }
    }
}

/// Finds the content of a file.
struct Identifier<'a> {
    root: &'a Root,
    cache: &'a StatCache,
    meter: &'a SyncMeter,
    plan: FilePlan,
    /// A larger file is not opened.
    max_bytes: u64,
}

impl Identifier<'_> {
    fn identify(&self, file: &FoundFile) -> Content {
        match &file.state {
            // The caller drops the entries of a sync that was stopped.
            _ if self.meter.is_stopped() => Content::unread(EntryKind::File, 0),
            FoundState::Settled { kind, blob, size_bytes, unreadable } => {
                Content { blob: *blob, unreadable: unreadable.clone(), ..Content::unread(*kind, *size_bytes) }
            }
            FoundState::Readable { kind, stat } if !self.may_open(file, *kind, stat.size_bytes) => {
                Content::unread(*kind, stat.size_bytes)
            }
            FoundState::Readable { kind, stat } => match self.cache.get(&file.bytes, stat) {
                Some(blob) => Content { blob, stat: Some(*stat), ..Content::unread(*kind, stat.size_bytes) },
                None => read_content(self.root, file, *kind, self.max_bytes),
            },
        }
    }

    /// A sync reads rule files even if the reading plan excludes them, because the same rule files must apply
    /// in all kinds of sources.
    fn may_open(&self, file: &FoundFile, kind: EntryKind, size_bytes: u64) -> bool {
        let is_planned = || self.plan.may_open(&file.path, kind, size_bytes);
        size_bytes <= self.max_bytes && (is_rule_file(&file.path) || is_planned())
    }
}

/// The fields of an entry that are known after its file was read, and the stat data of the file.
struct Content {
    kind: EntryKind,
    blob: BlobId,
    size_bytes: u64,
    unreadable: Option<String>,
    stat: Option<Stat>,
}

impl Content {
    fn unread(kind: EntryKind, size_bytes: u64) -> Self {
        Self { kind, blob: NO_BLOB, size_bytes, unreadable: None, stat: None }
    }
}

fn read_content(root: &Root, file: &FoundFile, kind: EntryKind, max_bytes: u64) -> Content {
    match root.read(&file.bytes, max_bytes) {
        Ok((bytes, metadata)) => {
            let stat = Some(Stat::of(&metadata));
            Content { blob: blob_id(&bytes), stat, ..Content::unread(kind, bytes.len() as u64) }
        }
        Err(error) => Content { unreadable: Some(plain_io(&error)), ..Content::unread(kind, 0) },
    }
}

/// Whether the path belongs to a rule file. A sync reads rule files before it decides which other files to
/// read.
fn is_rule_file(path: &RepoPath) -> bool {
    is_settings(path) || path.file_name() == ".gitattributes"
}

/// Whether the path belongs to a settings file. The reading plan is built from these files.
fn is_settings(path: &RepoPath) -> bool {
    path.as_str() == ".cairn.yaml" || path.file_name() == ".cairnignore"
}

/// Reads `.cairn.yaml` of the root and each `.cairnignore`. Skips files that are unreadable or too large.
/// Returns `None` if all files together are too large, or if the sync was stopped. Then no plan is built, and
/// no file may be opened.
fn settings_files(root: &Root, files: &[FoundFile], meter: &SyncMeter) -> Option<Vec<SettingsFile>> {
    let (mut found, mut num_bytes) = (Vec::new(), 0);
    for file in files.iter().filter(|file| is_settings(&file.path)) {
        if let FoundState::Readable { .. } = &file.state
            && let Ok((bytes, _)) = root.read(&file.bytes, MAX_SETTINGS_BYTES)
        {
            num_bytes += bytes.len();
            if num_bytes > MAX_ALL_SETTINGS_BYTES || meter.is_stopped() {
                return None;
            }
            found.push(SettingsFile { path: file.path.clone(), bytes });
        }
    }
    Some(found)
}
