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
use crate::settings::{GitSettings, SettingsFile};

/// Maximum size of a settings file. A larger file is not read.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// The number of files that are identified together. The memory of a file that was found is released after
/// its block.
const FILES_PER_BLOCK: usize = 1 << 16;
/// Maximum size of all settings files from which a plan is built. A sync refuses far less by default.
const MAX_ALL_SETTINGS_BYTES: usize = 64 << 20;

/// The entries with their ids, in the order of the files, and the encoded stat cache for the next listing.
pub(super) struct Identified {
    pub(super) entries: Vec<TreeEntry>,
    pub(super) stat_cache: Vec<u8>,
}

/// Takes the id from the cache if the file is unchanged, and reads the file otherwise. A file that cannot be
/// read becomes an entry that contains the reason. After the sync was stopped, no file is read.
pub(super) fn identify(
    root: &Root,
    files: Vec<FoundFile>,
    cache: &StatCache,
    settings: &GitSettings,
    meter: &Arc<SyncMeter>,
    started_at: SystemTime,
) -> Identified {
    let plan = settings.reading_plan.as_ref().map(|plan| Some(plan(&settings_files(root, &files, meter)?, meter)));
    // A sync reads rule files even if the reading plan excludes them, because the same rule files must apply
    // in all kinds of sources.
    let by_plan = |path: &RepoPath, kind, size| match &plan {
        None => true,
        Some(Some(plan)) => plan(path, kind, size),
        Some(None) => false,
    };
    let max_bytes = settings.limits.max_hashed_bytes;
    let may_open = |file: &FoundFile, kind: EntryKind, size: u64| {
        size <= max_bytes && (is_rule_file(&file.path) || by_plan(&file.path, kind, size))
    };
    let identify_one = |file: &FoundFile| match &file.state {
        // The caller drops the entries of a sync that was stopped.
        _ if meter.is_stopped() => Content::unread(EntryKind::File, 0),
        FoundState::Settled { kind, blob, size_bytes, unreadable } => {
            Content { blob: *blob, unreadable: unreadable.clone(), ..Content::unread(*kind, *size_bytes) }
        }
        FoundState::Readable { kind, stat } if !may_open(file, *kind, stat.size_bytes) => {
            Content::unread(*kind, stat.size_bytes)
        }
        FoundState::Readable { kind, stat } => match cache.get(&file.bytes, stat) {
            Some(blob) => Content { blob, stat: Some(*stat), ..Content::unread(*kind, stat.size_bytes) },
            None => read_content(root, file, *kind, max_bytes),
        },
    };
    let mut writer = StatCacheWriter::new(started_at);
    let mut entries = Vec::with_capacity(files.len());
    let mut rest = files.into_iter();
    loop {
        let block: Vec<FoundFile> = rest.by_ref().take(FILES_PER_BLOCK).collect();
        if block.is_empty() {
            return Identified { entries, stat_cache: writer.encode() };
        }
        let contents = parallel::map(&block, &identify_one);
        for (file, Content { kind, blob, size_bytes, unreadable, stat }) in block.into_iter().zip(contents) {
            if let Some(stat) = stat {
                writer.add(&file.bytes, &stat, blob);
            }
            entries.push(TreeEntry { path: file.path, kind, blob, size_bytes, unreadable, changed_at: None });
        }
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
