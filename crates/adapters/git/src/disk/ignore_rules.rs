//! Applies git's ignore rules to a working tree.
//!
//! Each ignore file is read beneath the root and within limits. As in git, a pipe, a link or an unreadable
//! file has no patterns. A file whose patterns cannot be used (too many, or too large when compiled) hides
//! everything below its directory. If such a file hid nothing, files that its author intended to hide could
//! become visible. A pattern that matches no path in git has no effect here either. Tracked files are always
//! listed.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;

use cairn_inventory::{GitPatterns, LineFault, PatternCost, pattern_lines};
use cairn_ports::plain_io;
use ignore::gitignore::gitconfig_excludes_path;

use super::root::Root;
use crate::regular_file::{open_regular, read_regular};

pub(super) const IGNORE_FILE: &str = ".gitignore";

/// Maximum size of one ignore file.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Limits on the ignore files that are compiled at one time: those of a directory and of all directories
/// above it. The memory is estimated from the text of the patterns.
const MAX_CHAIN_BYTES: u64 = 2 << 20;
const MAX_CHAIN_PATTERNS: u64 = 50_000;
const MAX_CHAIN_COMPILED_BYTES: u64 = 64 << 20;
/// Limits on all ignore files of a tree: their size, and the memory that all their compiled patterns would
/// use together. The second limit bounds the time for compiling them. A text that many directories contain
/// is usually compiled only once.
const MAX_TREE_BYTES: u64 = 16 << 20;
const MAX_TREE_COMPILED_BYTES: u64 = 512 << 20;

/// The rules of a directory and of the directories above it.
pub(super) struct IgnoreRules {
    /// `None` if the patterns cannot be used. Then everything below the directory is hidden.
    own: Option<Rc<GitPatterns>>,
    above: Option<Rc<IgnoreRules>>,
    /// The length of the path of the directory, with the slash at its end.
    prefix_bytes: usize,
    /// The size and the cost of the rules of this directory and of the directories above it.
    chain_bytes: u64,
    chain_cost: PatternCost,
}

impl IgnoreRules {
    fn none() -> Rc<Self> {
        let (own, chain_cost) = (Some(Rc::default()), PatternCost::default());
        Rc::new(Self { own, above: None, prefix_bytes: 0, chain_bytes: 0, chain_cost })
    }

    /// The rules that apply if no ignore file of the tree matches: `info/exclude` of the repository, then the
    /// user's global excludes. If one of these files cannot be read or used, the returned text states the
    /// reason.
    pub(super) fn of_repository(git_directory: &Path) -> (Rc<Self>, Option<String>) {
        Self::of_files(gitconfig_excludes_path().as_deref(), &git_directory.join("info/exclude"))
    }

    fn of_files(of_user: Option<&Path>, of_repository: &Path) -> (Rc<Self>, Option<String>) {
        // Users often set this device in order to have no excludes.
        let of_user = of_user.filter(|file| *file != Path::new("/dev/null"));
        let (rules, user_fault) = of_user.map_or((Self::none(), None), |file| Self::of_file(&Self::none(), file));
        let (rules, own_fault) = Self::of_file(&rules, of_repository);
        let user_fault = user_fault.map(|why| format!("the global excludes of the user: {why}"));
        let faults: Vec<String> = [own_fault, user_fault].into_iter().flatten().collect();
        (rules, (!faults.is_empty()).then(|| faults.join("; ")))
    }

    /// The rules of a file outside of the tree, which apply to the whole tree.
    fn of_file(above: &Rc<Self>, file: &Path) -> (Rc<Self>, Option<String>) {
        let error = match open_regular(file).and_then(|file| read_regular(file, MAX_FILE_BYTES)) {
            Ok((bytes, _)) => return Self::below(above, 0, &bytes, &mut Compiled::default()),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => (Rc::clone(above), None),
            ErrorKind::FileTooLarge => Self::hidden(above, 0, format!("the ignore file {error}")),
            // As in git, an unreadable ignore file has no patterns.
            _ => (Rc::clone(above), Some(plain_io(&error))),
        }
    }

    /// The rules of a directory whose ignore file has this text. If the patterns exceed a limit, the returned
    /// text states the reason.
    fn below(
        above: &Rc<Self>,
        prefix_bytes: usize,
        text: &[u8],
        compiled: &mut Compiled,
    ) -> (Rc<Self>, Option<String>) {
        let text = String::from_utf8_lossy(text);
        let lines = pattern_lines(&text);
        let cost = PatternCost::of(lines.iter().map(|(_, pattern)| *pattern));
        let chain_cost = above.chain_cost.and(cost);
        let chain_bytes = above.chain_bytes.saturating_add(text.len() as u64);
        if let Some(why) = excess(chain_bytes, chain_cost) {
            return Self::hidden(above, prefix_bytes, why);
        }
        let own = match compiled.compile(&text, lines, cost) {
            Ok(own) => Some(own),
            Err(why) => return Self::hidden(above, prefix_bytes, why),
        };
        let above = Some(Rc::clone(above));
        (Rc::new(Self { own, above, prefix_bytes, chain_bytes, chain_cost }), None)
    }

    fn hidden(above: &Rc<Self>, prefix_bytes: usize, why: String) -> (Rc<Self>, Option<String>) {
        let (chain_bytes, chain_cost) = (above.chain_bytes, above.chain_cost);
        let above = Some(Rc::clone(above));
        (Rc::new(Self { own: None, above, prefix_bytes, chain_bytes, chain_cost }), Some(why))
    }

    /// Whether the rules hide a path. The path is relative to the root of the tree. The matching rule of the
    /// nearest directory decides. The result is not valid if `is_stopped` returned true.
    pub(super) fn hide(&self, path: &[u8], is_directory: bool, is_stopped: &dyn Fn() -> bool) -> bool {
        let mut rules = Some(self);
        while let Some(current) = rules {
            let Some(patterns) = &current.own else { return true };
            let relative = path.get(current.prefix_bytes..).unwrap_or(path);
            if let Some(pattern) = patterns.find(relative, is_directory, is_stopped) {
                return !pattern.is_negative;
            }
            rules = current.above.as_deref();
        }
        false
    }
}

/// Why the patterns that apply in a directory cannot be used. `None` if they are within the limits.
fn excess(chain_bytes: u64, PatternCost { num_patterns, compiled_bytes }: PatternCost) -> Option<String> {
    let checks = [
        (chain_bytes, MAX_CHAIN_BYTES, "bytes of ignore files"),
        (num_patterns, MAX_CHAIN_PATTERNS, "ignore patterns"),
        (compiled_bytes, MAX_CHAIN_COMPILED_BYTES, "bytes of compiled ignore patterns"),
    ];
    let (figure, limit, what) = checks.into_iter().find(|(figure, limit, _)| figure > limit)?;
    Some(format!("{figure} {what} apply in this directory; the limit is {limit}, so everything in it is hidden"))
}

/// The compiled patterns of some ignore files, by the text of the file.
#[derive(Default)]
struct Compiled {
    by_text: HashMap<String, Rc<GitPatterns>>,
    /// The cost of the patterns that are kept.
    kept_bytes: u64,
    /// The cost of all patterns that were compiled.
    all_bytes: u64,
}

impl Compiled {
    fn compile(
        &mut self,
        text: &str,
        lines: Vec<(usize, &str)>,
        PatternCost { compiled_bytes, .. }: PatternCost,
    ) -> Result<Rc<GitPatterns>, String> {
        if let Some(known) = self.by_text.get(text) {
            return Ok(Rc::clone(known));
        }
        if self.all_bytes > MAX_TREE_COMPILED_BYTES {
            return Err("the tree has too many ignore patterns, so everything in this directory is hidden".to_owned());
        }
        self.all_bytes += compiled_bytes;
        let mut too_large = None;
        let patterns = Rc::new(GitPatterns::compile(lines, |line, fault| {
            if fault == LineFault::TooLarge {
                too_large.get_or_insert(line);
            }
        }));
        if let Some(line) = too_large {
            return Err(format!("the pattern in line {line} is too large, so everything in this directory is hidden"));
        }
        self.kept_bytes += compiled_bytes;
        if self.kept_bytes > MAX_CHAIN_COMPILED_BYTES {
            self.by_text.clear();
            self.kept_bytes = compiled_bytes;
        }
        self.by_text.insert(text.to_owned(), Rc::clone(&patterns));
        Ok(patterns)
    }
}

/// Reads the ignore files of a tree, and counts their bytes and the cost of their patterns.
pub(super) struct IgnoreFiles<'r> {
    root: &'r Root,
    read_bytes: u64,
    compiled: Compiled,
}

impl<'r> IgnoreFiles<'r> {
    pub(super) fn new(root: &'r Root) -> Self {
        Self { root, read_bytes: 0, compiled: Compiled::default() }
    }

    /// Returns the rules for the entries of a directory. They include the rules of the directory's own ignore
    /// file, if it exists. If the patterns of the ignore file cannot be used, the returned text states the
    /// reason.
    pub(super) fn enter(&mut self, directory: &[u8], above: &Rc<IgnoreRules>) -> (Rc<IgnoreRules>, Option<String>) {
        let prefix = if directory.is_empty() { Vec::new() } else { [directory, b"/"].concat() };
        let path = [&prefix, IGNORE_FILE.as_bytes()].concat();
        let max_bytes = MAX_FILE_BYTES.min(MAX_TREE_BYTES - self.read_bytes);
        let text = match self.root.read(&path, max_bytes) {
            Ok((text, _)) => text,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return IgnoreRules::hidden(above, prefix.len(), format!("the ignore file {error}"));
            }
            // A file that is not regular or not readable has no patterns, as in git. The listing records the
            // file as unreadable.
            Err(_) => return (Rc::clone(above), None),
        };
        self.read_bytes += text.len() as u64;
        IgnoreRules::below(above, prefix.len(), &text, &mut self.compiled)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf, Root) {
        let directory = tempfile::tempdir().expect("directory");
        let file = directory.path().join(IGNORE_FILE);
        let root = Root::open(directory.path().to_str().expect("UTF-8"), false).expect("opened");
        (directory, file, root)
    }

    #[test]
    fn nearest_matching_rule_decides() {
        let (directory, file, root) = tree();
        std::fs::create_dir_all(directory.path().join("sub")).expect("folder");
        std::fs::write(file, "\u{feff}*.log\r\nout/\n[bad\n/top\n").expect("written");
        std::fs::write(directory.path().join("sub/.gitignore"), "!keep.log\n/low\n").expect("written");
        let mut files = IgnoreFiles::new(&root);
        let (top, why) = files.enter(b"", &IgnoreRules::none());
        assert_eq!(why, None);
        let (sub, _) = files.enter(b"sub", &top);
        let hide = |rules: &IgnoreRules, path: &str, is_directory| rules.hide(path.as_bytes(), is_directory, &|| false);
        assert!(hide(&top, "a.log", false) && hide(&sub, "sub/a.log", false));
        assert!(!hide(&sub, "sub/keep.log", false) && hide(&top, "keep.log", false));
        assert!(hide(&top, "out", true) && !hide(&top, "out", false));
        assert!(hide(&top, "top", false) && !hide(&sub, "sub/top", false) && hide(&sub, "sub/low", false));
    }

    #[test]
    fn unusable_patterns_hide_everything() {
        let (_directory, file, root) = tree();
        let check = |text: String, expect: Option<&str>| {
            std::fs::write(&file, text).expect("written");
            let (rules, why) = IgnoreFiles::new(&root).enter(b"", &IgnoreRules::none());
            assert_eq!(rules.hide(b"z", false, &|| false), expect.is_some(), "{why:?}");
            assert!(why.as_deref().unwrap_or_default().contains(expect.unwrap_or_default()), "{why:?}");
            assert_eq!(why.is_some(), expect.is_some());
        };
        let lines = |num_lines: usize, line: &dyn Fn(usize) -> String| (0..num_lines).map(line).collect();
        check("x".repeat(MAX_FILE_BYTES as usize + 1), Some("has more than 1048576 bytes"));
        check(lines(60_000, &|number| format!("{number}\n")), Some("60000 ignore patterns"));
        check(lines(20_000, &|number| format!("a?{number}.c\n")), Some("bytes of compiled ignore patterns"));
        check(lines(170_000, &|_| "a?1.c\n".to_owned()), None);
        check(lines(2_000, &|number| format!("a?{number}.c\n")), None);
        check("a\n{b\n[c\nd\\\n".to_owned(), None);
        check(format!("a\n*{}\n", "[!a]*".repeat(2_000)), Some("the pattern in line 2 is too large"));
        std::fs::remove_file(&file).expect("removed");
        std::fs::create_dir(&file).expect("a directory");
        let (rules, why) = IgnoreFiles::new(&root).enter(b"", &IgnoreRules::none());
        assert!(!rules.hide(b"a", false, &|| false) && why.is_none());
    }

    #[test]
    fn patterns_of_all_directories_are_limited() {
        let (directory, _, root) = tree();
        let mut files = IgnoreFiles::new(&root);
        let mut faults = Vec::new();
        for number in 0..60 {
            let name = format!("d{number}");
            std::fs::create_dir(directory.path().join(&name)).expect("folder");
            let text: String = (0..2_000).map(|line| format!("a?{line}.{name}\n")).collect();
            std::fs::write(directory.path().join(&name).join(IGNORE_FILE), &text).expect("written");
            faults.extend(files.enter(name.as_bytes(), &IgnoreRules::none()).1);
        }
        assert!(faults.len() > 10 && faults[0].contains("too many ignore patterns"), "{faults:?}");
    }

    /// Each of many directories has an ignore file that is as long as GitHub's template for Visual Studio.
    #[test]
    fn equal_files_of_many_directories_are_used() {
        let (directory, _, root) = tree();
        let text: String = (0..150).map(|line| format!("[Bb]in{line}/\n*.name{line}\n*_{line}.cs\n")).collect();
        let mut files = IgnoreFiles::new(&root);
        for number in 0..900 {
            let name = format!("d{number}");
            std::fs::create_dir(directory.path().join(&name)).expect("folder");
            std::fs::write(directory.path().join(&name).join(IGNORE_FILE), &text).expect("written");
            let (rules, why) = files.enter(name.as_bytes(), &IgnoreRules::none());
            assert_eq!(why, None, "{name}");
            let hide = |name: &str| rules.hide(format!("d{number}/{name}").as_bytes(), true, &|| false);
            assert!(hide("bin7") && hide("x/Bin149") && hide("a.name3") && !hide("a"));
        }
    }

    #[test]
    fn unusable_excludes_are_reported() {
        let (directory, _, _) = tree();
        let (of_user, own) = (directory.path().join("user"), directory.path().join("exclude"));
        let check = |path: &str, hides: bool, faults: &[&str]| {
            let (rules, why) = IgnoreRules::of_files(Some(&of_user), &own);
            assert_eq!(rules.hide(path.as_bytes(), false, &|| false), hides, "{path}: {why:?}");
            let why = why.unwrap_or_default();
            assert!(faults.iter().all(|fault| why.contains(fault)) && why.is_empty() == faults.is_empty(), "{why}");
        };
        check("a", false, &[]);
        std::fs::write(&of_user, "a\nb\n").expect("written");
        std::fs::write(&own, "!b\n").expect("written");
        check("a", true, &[]);
        check("b", false, &[]);
        std::fs::write(&of_user, "x".repeat(MAX_FILE_BYTES as usize + 1)).expect("written");
        check("a", true, &["the global excludes of the user: the ignore file has more than"]);
        std::fs::remove_file(&of_user).expect("removed");
        std::fs::create_dir(&of_user).expect("a directory");
        std::fs::remove_file(&own).expect("removed");
        std::fs::create_dir(&own).expect("a directory");
        check("a", false, &["is not a regular file; the global excludes of the user: is not a regular file"]);
        let (_, why) = IgnoreRules::of_files(Some(Path::new("/dev/null")), &directory.path().join("absent"));
        assert_eq!(why, None);
    }
}
