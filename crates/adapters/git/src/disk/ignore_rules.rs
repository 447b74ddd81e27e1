//! Applies git's ignore rules to a working tree.
//!
//! Each ignore file is read beneath the root and within limits. As in git, a pipe, a link or an unreadable
//! file has no patterns. A file whose patterns cannot be used (too many, or too large when compiled) hides
//! everything below its directory. If such a file hid nothing, files that its author intended to hide could
//! become visible. Tracked files are always listed.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::root::Root;
use crate::regular_file::{open_regular, read_regular};

pub(super) const IGNORE_FILE: &str = ".gitignore";

const UNUSABLE_PATTERNS: &str = "the ignore patterns are too large";

/// Maximum size of one ignore file.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum total size of the ignore files that are compiled at one time: those of a directory and of all
/// directories above it.
const MAX_CHAIN_BYTES: u64 = 2 << 20;
/// Maximum total size of all ignore files of a tree.
const MAX_TREE_BYTES: u64 = 16 << 20;

/// The rules of a directory and of the directories above it.
pub(super) struct IgnoreRules {
    own: Own,
    above: Option<Rc<IgnoreRules>>,
    chain_bytes: u64,
}

enum Own {
    Patterns(Gitignore),
    /// The patterns cannot be used, so everything below the directory is hidden.
    HidesAll,
}

impl IgnoreRules {
    /// The rules that apply if no ignore file of the tree matches: `info/exclude` of the repository, then the
    /// user's global excludes. If `info/exclude` cannot be read or used, the returned text states the reason.
    pub(super) fn of_repository(root: &Root, git_directory: &Path) -> (Rc<Self>, Option<String>) {
        let (of_user, _) = GitignoreBuilder::new(root.path()).build_global();
        let base = Rc::new(Self { own: Own::Patterns(of_user), above: None, chain_bytes: 0 });
        let file = open_regular(&git_directory.join("info/exclude"));
        let error = match file.and_then(|file| read_regular(file, MAX_FILE_BYTES)) {
            Ok((bytes, _)) => {
                let rules = Self::below(&base, root.path(), &bytes);
                let why = rules.hides_all().then(|| UNUSABLE_PATTERNS.to_owned());
                return (rules, why);
            }
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => (base, None),
            ErrorKind::FileTooLarge => hides_all(&base, format!("the ignore file {error}")),
            // As in git, an unreadable ignore file has no patterns.
            _ => (base, Some(error.to_string())),
        }
    }

    fn hides_all(&self) -> bool {
        matches!(self.own, Own::HidesAll)
    }

    fn below(above: &Rc<Self>, directory: &Path, text: &[u8]) -> Rc<Self> {
        let chain_bytes = above.chain_bytes.saturating_add(text.len() as u64);
        let patterns = if chain_bytes > MAX_CHAIN_BYTES { None } else { compile(directory, text) };
        let own = patterns.map_or(Own::HidesAll, Own::Patterns);
        Rc::new(Self { own, above: Some(Rc::clone(above)), chain_bytes })
    }

    /// Whether the rules hide a path. The matching rule of the nearest directory decides.
    pub(super) fn hide(&self, path: &Path, is_directory: bool) -> bool {
        let mut rules = Some(self);
        while let Some(current) = rules {
            match &current.own {
                Own::HidesAll => return true,
                Own::Patterns(patterns) => match patterns.matched(path, is_directory) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                },
            }
            rules = current.above.as_deref();
        }
        false
    }
}

/// Reads the ignore files of a tree and counts their bytes.
pub(super) struct IgnoreFiles<'r> {
    root: &'r Root,
    read_bytes: u64,
}

impl<'r> IgnoreFiles<'r> {
    pub(super) fn new(root: &'r Root) -> Self {
        Self { root, read_bytes: 0 }
    }

    /// Returns the rules for the entries of a directory. They include the rules of the directory's own ignore
    /// file, if it exists. If the patterns of the ignore file cannot be used, the returned text states the
    /// reason.
    pub(super) fn enter(&mut self, directory: &[u8], above: &Rc<IgnoreRules>) -> (Rc<IgnoreRules>, Option<String>) {
        let path = if directory.is_empty() { Vec::new() } else { [directory, b"/"].concat() };
        let path = [&path, IGNORE_FILE.as_bytes()].concat();
        let max_bytes = MAX_FILE_BYTES.min(MAX_TREE_BYTES - self.read_bytes);
        let text = match self.root.read(&path, max_bytes) {
            Ok((text, _)) => text,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return hides_all(above, format!("the ignore file {error}"));
            }
            // A file that is not regular or not readable has no patterns, as in git. The listing records the
            // file as unreadable.
            Err(_) => return (Rc::clone(above), None),
        };
        self.read_bytes += text.len() as u64;
        let rules = IgnoreRules::below(above, &self.root.join(directory), &text);
        let why = rules.hides_all().then(|| UNUSABLE_PATTERNS.to_owned());
        (rules, why)
    }
}

fn hides_all(above: &Rc<IgnoreRules>, why: String) -> (Rc<IgnoreRules>, Option<String>) {
    let chain_bytes = above.chain_bytes;
    (Rc::new(IgnoreRules { own: Own::HidesAll, above: Some(Rc::clone(above)), chain_bytes }), Some(why))
}

/// Compiles the patterns of an ignore file. Returns `None` if they exceed the limits of the matcher. A line
/// that is not a pattern is skipped, as in git.
fn compile(directory: &Path, text: &[u8]) -> Option<Gitignore> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut builder = GitignoreBuilder::new(directory);
    for line in text.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        let _skipped = builder.add_line(None, &line);
    }
    builder.build().ok()
}

/// Converts a path to the form that the matcher needs.
pub(super) fn as_path(root: &Root, path: &[u8]) -> PathBuf {
    root.path().join(OsStr::from_bytes(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_matching_rule_decides() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path();
        std::fs::create_dir_all(path.join("sub")).expect("folder");
        std::fs::write(path.join(".gitignore"), "\u{feff}*.log\r\nout/\n[bad\n").expect("written");
        std::fs::write(path.join("sub/.gitignore"), "!keep.log\n").expect("written");
        let root = Root::open(path.to_str().expect("UTF-8"), false).expect("opened");
        let base = Rc::new(IgnoreRules { own: Own::Patterns(Gitignore::empty()), above: None, chain_bytes: 0 });
        let mut files = IgnoreFiles::new(&root);
        let (top, why) = files.enter(b"", &base);
        assert_eq!(why, None);
        let (sub, _) = files.enter(b"sub", &top);
        let hide =
            |rules: &IgnoreRules, path: &str, is_directory| rules.hide(&as_path(&root, path.as_bytes()), is_directory);
        assert!(hide(&top, "a.log", false) && hide(&sub, "sub/a.log", false));
        assert!(!hide(&sub, "sub/keep.log", false) && hide(&top, "keep.log", false));
        assert!(hide(&top, "out", true) && !hide(&top, "out", false));
    }

    #[test]
    fn unusable_patterns_hide_everything() {
        let directory = tempfile::tempdir().expect("directory");
        let file = directory.path().join(".gitignore");
        let root = Root::open(directory.path().to_str().expect("UTF-8"), false).expect("opened");
        let base = Rc::new(IgnoreRules { own: Own::Patterns(Gitignore::empty()), above: None, chain_bytes: 0 });
        std::fs::write(&file, vec![b'x'; MAX_FILE_BYTES as usize + 1]).expect("written");
        let (rules, why) = IgnoreFiles::new(&root).enter(b"", &base);
        assert!(rules.hide(&as_path(&root, b"a"), false) && why.is_some());
        std::fs::remove_file(&file).expect("removed");
        std::fs::create_dir(&file).expect("a directory");
        let (rules, why) = IgnoreFiles::new(&root).enter(b"", &base);
        assert!(!rules.hide(&as_path(&root, b"a"), false) && why.is_none());
    }
}
