//! The requests and answers of exact search, and the place at which a page ends.

use std::time::Duration;

use cairn_domain::{Digester, RepoPath, RepositoryId};
use cairn_exact::PatternRequest;
use cairn_ports::IncludeTests;
use cairn_redaction::Message;

use crate::{RepositorySelection, Stamp};

/// After the page is full, the search counts further hits until it has counted `MAX_COUNTED` hits or has
/// taken the time `COUNTING`.
pub(super) const MAX_COUNTED: usize = 10_000;
pub(super) const COUNTING: Duration = Duration::from_millis(500);
/// After this time, the search returns the page even if the page is not full.
pub(super) const LONGEST: Duration = Duration::from_secs(3);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExactRequest {
    pub pattern: PatternRequest,
    pub repositories: RepositorySelection,
    pub languages: Vec<String>,
    /// Globs. A glob without `/` matches in any folder.
    pub paths: Vec<String>,
    pub include_tests: IncludeTests,
    /// Number of lines to show before and after each hit.
    pub before: usize,
    pub after: usize,
    /// Hard limit for the number of hits on the page.
    pub limit: usize,
    /// Hard limit for the number of tokens of the page, as `estimate_tokens` counts them.
    pub max_tokens: usize,
    pub cursor: Option<String>,
}

/// One page of hits. A hit is a line with at least one match. If matches may contain line feeds, a hit
/// consists of all lines that a match covers.
#[derive(Clone, PartialEq, Debug)]
pub struct ExactAnswer {
    pub files: Vec<ExactFile>,
    /// `offset` is the number of hits on the previous pages, and `num_shown` is the number of hits on this
    /// page.
    pub offset: usize,
    pub num_shown: usize,
    /// Number of hits on all pages. If `is_exact` is false, there are at least this many hits.
    pub num_hits: usize,
    /// Number of files with hits, starting with the first file of this page. If `is_exact` is false, there
    /// are at least this many files.
    pub num_files: usize,
    pub is_exact: bool,
    /// The limit that ended the page, if the page does not contain all remaining hits.
    pub cut: Option<ExactCut>,
    /// Whether parts of the only hit of the page are missing, because the whole hit exceeds the token limit:
    /// the lines around the hit, its later lines, or the ends of its first line.
    pub is_shortened: bool,
    pub next_cursor: Option<String>,
    /// Sentences that state why the filter excludes all files. Set only if there are no hits.
    pub notes: Vec<Message>,
    pub stamps: Vec<Stamp>,
}

/// The limit that ended a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExactCut {
    Limit,
    Tokens,
    Time,
}

/// A file with hits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExactFile {
    pub repository: String,
    pub path: RepoPath,
    pub language: String,
    /// The lines of the hits and the lines around them, in the order of the file.
    pub lines: Vec<ExactLine>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExactLine {
    pub number: u32,
    pub is_hit: bool,
    /// The text of the line, without its line feed. Long lines are cut.
    pub text: String,
    /// Number of bytes of the line before `text`.
    pub num_bytes_before: usize,
    /// Whether the end of the line is not shown.
    pub is_cut: bool,
    /// The matches on the line: the zero-based position of the first byte, and the position after the last
    /// byte. A match across lines is listed on each of its lines.
    pub matches: Vec<(u32, u32)>,
    /// Number of lines of the hit that follow this line and are not shown.
    pub num_lines_cut: u32,
}

/// The place of a hit. The next page starts after this place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ResumePoint {
    /// A digest of the repository and the path.
    pub(super) file: u64,
    /// The first line of the last hit, or `u32::MAX` if the file was searched completely.
    pub(super) line: u32,
}

impl ResumePoint {
    pub(super) fn of(repository: RepositoryId, path: &RepoPath, line: u32) -> Self {
        let digest = Digester::new("place").key_of(repository.0).text(path.as_str()).digest();
        Self { file: u64::from_le_bytes(std::array::from_fn(|index| digest.0[index])), line }
    }
}
