//! Reads the settings files of a snapshot: `.cairn.yaml` in the root, and every `.cairnignore` and
//! `.gitattributes`.
//!
//! A settings file that cannot be read or used is reported and has no effect, and the sync continues. The
//! only exception is an invalid `.cairn.yaml` in the root: it stops the sync, because without its rules the
//! index would contain files that the owners exclude.

use cairn_config::{Ceilings, SETTINGS_FILE};
use cairn_domain::{EntryKind, RepoPath};
use cairn_inventory::RuleFile;
use cairn_pipeline::StageError;
use cairn_ports::{ContentReader, ErrorKind, SnapshotTree, SyncMeter, TreeEntry};
use cairn_redaction::Message;
use cairn_wire::FileError;

use super::budget::check;
use super::ceiling::Ceiling;
use super::deadline::check_stopped;
use super::on_change::{CHANGES, OnChange};
use super::refusal::{invalid, of_source};

pub(super) const IGNORE_FILE: &str = ".cairnignore";
const ATTRIBUTE_FILE: &str = ".gitattributes";
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Default)]
pub(super) struct SettingsFiles {
    /// Text of `.cairn.yaml` in the root. The text is empty if the file does not exist.
    pub yaml: String,
    pub ignore_files: Vec<RuleFile>,
    pub attribute_files: Vec<RuleFile>,
    pub errors: Vec<FileError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Yaml,
    Ignore,
    Attributes,
}

fn kind_of(path: &str) -> Option<Kind> {
    match path.rsplit('/').next() {
        Some(IGNORE_FILE) => Some(Kind::Ignore),
        Some(ATTRIBUTE_FILE) => Some(Kind::Attributes),
        _ => (path == SETTINGS_FILE).then_some(Kind::Yaml),
    }
}

impl SettingsFiles {
    pub fn read(
        tree: &dyn SnapshotTree,
        ceilings: &Ceilings,
        meter: &SyncMeter,
        on_change: OnChange,
    ) -> Result<Self, StageError> {
        check_rule_files(tree, ceilings)?;
        let mut files = Self::default();
        let mut reader = None;
        for entry in tree.entries() {
            files.report_directory(&entry.path);
            let Some(kind) = kind_of(entry.path.as_str()) else { continue };
            check_stopped(meter)?;
            if let Some(message) = closed(entry) {
                files.report(&entry.path, message);
                continue;
            }
            if reader.is_none() {
                reader = Some(tree.reader().map_err(of_source)?);
            }
            let Some(reader) = reader.as_mut() else { continue };
            files.add(kind, entry, reader.as_mut(), on_change)?;
        }
        Ok(files)
    }

    fn add(
        &mut self,
        kind: Kind,
        entry: &TreeEntry,
        reader: &mut dyn ContentReader,
        on_change: OnChange,
    ) -> Result<(), StageError> {
        if entry.size_bytes > MAX_BYTES {
            let message = Message::from("has ").and(entry.size_bytes).and(" bytes; the limit is ").and(MAX_BYTES);
            return self.unusable(kind, entry, message);
        }
        let bytes = match reader.read(entry) {
            Ok(bytes) => bytes,
            Err(error) if error.kind == ErrorKind::Conflict => match on_change {
                OnChange::ListAgain => return Err(of_source(error)),
                OnChange::Record => {
                    self.report(&entry.path, format!("cannot be read: {CHANGES}"));
                    return Ok(());
                }
            },
            Err(error) => {
                self.report(&entry.path, format!("cannot be read: {}", of_source(error).chain()));
                return Ok(());
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return self.unusable(kind, entry, Message::from("is not UTF-8 text"));
        };
        let path = entry.path.clone();
        match kind {
            Kind::Yaml => self.yaml = text,
            Kind::Ignore => self.ignore_files.push(RuleFile { path, text }),
            Kind::Attributes => self.attribute_files.push(RuleFile { path, text }),
        }
        Ok(())
    }

    fn unusable(&mut self, kind: Kind, entry: &TreeEntry, message: Message) -> Result<(), StageError> {
        if kind == Kind::Yaml {
            return Err(invalid(Message::from("`.cairn.yaml` ").and(message)));
        }
        self.report(&entry.path, message.as_str().to_owned());
        Ok(())
    }

    fn report(&mut self, path: &RepoPath, message: String) {
        self.errors.push(FileError { file: path.to_string(), message });
    }

    /// Reports a directory that has the name of a settings file. Each such directory is reported once. The
    /// caller must pass the paths of the tree in sorted order.
    fn report_directory(&mut self, path: &RepoPath) {
        let mut directories = path.as_str().match_indices('/').map(|(slash, _)| &path.as_str()[..slash]);
        let Some(directory) = directories.find(|directory| kind_of(directory).is_some()) else { return };
        if self.errors.last().is_none_or(|last| last.file != directory) {
            let message = "is a directory, not a settings file".to_owned();
            self.errors.push(FileError { file: directory.to_owned(), message });
        }
    }
}

/// Checks the number and the total size of `.cairnignore` and `.gitattributes` files before any of them is
/// read.
fn check_rule_files(tree: &dyn SnapshotTree, ceilings: &Ceilings) -> Result<(), StageError> {
    let is_rule_file = |entry: &&TreeEntry| {
        let kind = kind_of(entry.path.as_str());
        kind.is_some_and(|kind| kind != Kind::Yaml) && entry.size_bytes <= MAX_BYTES && closed(entry).is_none()
    };
    let (mut num_files, mut num_bytes) = (0, 0);
    for entry in tree.entries().iter().filter(is_rule_file) {
        num_files += 1;
        num_bytes += entry.size_bytes;
    }
    let what = "`.cairnignore` and `.gitattributes` files";
    check(what, num_files, ceilings.max_rule_files, Ceiling::RuleFiles)?;
    let what = "bytes of `.cairnignore` and `.gitattributes` files";
    check(what, num_bytes, ceilings.max_rule_file_bytes, Ceiling::RuleFileBytes)
}

/// Returns the reason why settings cannot be read from the entry; `None` if they can be read.
fn closed(entry: &TreeEntry) -> Option<String> {
    match entry.kind {
        EntryKind::Symlink => Some("is a symbolic link; settings are not read through links".to_owned()),
        EntryKind::Submodule => Some("is a submodule, not a settings file".to_owned()),
        EntryKind::File | EntryKind::Executable => {
            entry.unreadable.as_ref().map(|message| format!("cannot be read: {message}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cairn_domain::{BlobId, Digest, Revision};
    use cairn_ports::{SourceCache, SourceError};

    use super::*;

    /// A tree of files, each with its bytes or with the error that a read of the file returns.
    #[derive(Clone, Default)]
    struct Tree {
        entries: Vec<TreeEntry>,
        contents: BTreeMap<String, Result<Vec<u8>, ErrorKind>>,
    }

    impl Tree {
        fn with(mut self, path: &str, content: Result<&[u8], ErrorKind>) -> Self {
            let content = content.map(<[u8]>::to_vec);
            let size_bytes = content.as_ref().map_or(1, |bytes| bytes.len() as u64);
            self.entries.push(TreeEntry {
                path: RepoPath::parse(path).expect("a path"),
                kind: EntryKind::File,
                blob: BlobId([1; 20]),
                size_bytes,
                unreadable: None,
                changed_at: None,
            });
            self.contents.insert(path.to_owned(), content);
            self
        }

        fn change(mut self, change: impl FnOnce(&mut TreeEntry)) -> Self {
            change(self.entries.last_mut().expect("an entry"));
            self
        }

        fn settings(&self) -> Result<SettingsFiles, StageError> {
            SettingsFiles::read(self, &Ceilings::default(), &SyncMeter::default(), OnChange::ListAgain)
        }
    }

    impl SnapshotTree for Tree {
        fn revision(&self) -> &Revision {
            static REVISION: Revision = Revision::Directory { tree: Digest([0; 32]) };
            &REVISION
        }

        fn branch(&self) -> Option<&str> {
            None
        }

        fn entries(&self) -> &[TreeEntry] {
            &self.entries
        }

        fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError> {
            Ok(Box::new(self.clone()))
        }

        fn cache(&self) -> &SourceCache {
            static CACHE: SourceCache = SourceCache { stats: Vec::new(), history: Vec::new() };
            &CACHE
        }
    }

    impl ContentReader for Tree {
        fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
            let content = self.contents[entry.path.as_str()].clone();
            content.map_err(|kind| SourceError::new(kind, "read", entry.path.as_str()))
        }
    }

    #[test]
    fn unusable_settings_files_are_skipped_and_reported() {
        let tree = Tree::default()
            .with(".cairnignore", Ok(b"*.log\n"))
            .with("a/.cairnignore", Ok(b"x"))
            .change(|entry| entry.kind = EntryKind::Symlink)
            .with("b/.cairnignore", Ok(b"x"))
            .change(|entry| entry.unreadable = Some("Permission denied".to_owned()))
            .with("c/.cairnignore", Ok(b"\xff\xfe"))
            .with("d/.gitattributes", Ok(b"x"))
            .change(|entry| entry.size_bytes = MAX_BYTES + 1)
            .with("e/.gitattributes/x", Ok(b"x"))
            .with("e/.gitattributes/y", Ok(b"x"))
            .with("vendor/.gitattributes", Err(ErrorKind::Forbidden));
        let files = tree.settings().expect("the sync goes on");
        assert_eq!((files.ignore_files.len(), files.attribute_files.len()), (1, 0));
        let errors: Vec<(&str, &str)> =
            files.errors.iter().map(|error| (error.file.as_str(), error.message.as_str())).collect();
        let expected = [
            ("a/.cairnignore", "is a symbolic link; settings are not read through links"),
            ("b/.cairnignore", "cannot be read: Permission denied"),
            ("c/.cairnignore", "is not UTF-8 text"),
            ("d/.gitattributes", "has 1048577 bytes; the limit is 1048576"),
            ("e/.gitattributes", "is a directory, not a settings file"),
            ("vendor/.gitattributes", "cannot be read: source: read of `vendor/.gitattributes` failed: forbidden"),
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn invalid_root_settings_stop_the_sync() {
        let large = Tree::default().with(".cairn.yaml", Ok(b"")).change(|entry| entry.size_bytes = MAX_BYTES + 1);
        for tree in [large, Tree::default().with(".cairn.yaml", Ok(b"\xff"))] {
            assert_eq!(tree.settings().err().map(|error| error.code.as_str()), Some("invalid_settings"));
        }
        let nested = Tree::default().with("a/.cairn.yaml", Ok(b"\xff"));
        assert!(nested.settings().expect("not settings").errors.is_empty());
    }

    #[test]
    fn tree_that_changed_is_read_again() {
        let tree = Tree::default().with(".cairnignore", Err(ErrorKind::Conflict));
        assert_eq!(tree.settings().err().map(|error| error.code.as_str()), Some("conflict"));
        let files = SettingsFiles::read(&tree, &Ceilings::default(), &SyncMeter::default(), OnChange::Record)
            .expect("the sync goes on");
        let errors: Vec<&str> = files.errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(errors, ["cannot be read: the file changes while it is read"]);
    }

    #[test]
    fn rule_files_have_ceilings() {
        let tree = Tree::default().with("a/.cairnignore", Ok(b"12345")).with("b/.gitattributes", Ok(b"12345"));
        let check = |max_rule_files, max_rule_file_bytes, expected: Option<&str>| {
            let ceilings = Ceilings { max_rule_files, max_rule_file_bytes, ..Ceilings::default() };
            let files = SettingsFiles::read(&tree, &ceilings, &SyncMeter::default(), OnChange::Record);
            assert_eq!(files.err().map(|error| error.code.as_str()), expected);
        };
        check(2, 10, None);
        check(1, 10, Some("over_budget"));
        check(2, 9, Some("over_budget"));
    }
}
