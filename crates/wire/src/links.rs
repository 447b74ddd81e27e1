//! The link summary of a generation: the references that linking could not resolve, kept by file with their reasons.
//! (What it resolved are the edges of the graph.)

use cairn_domain::{RepoPath, Unresolved};

use crate::codec::record;

/// A reference that was not resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedSite {
    pub name: String,
    pub receiver: Option<String>,
    /// From 1.
    pub line: u32,
    pub reason: Unresolved,
}
record!(UnresolvedSite { name, receiver, line, reason });

/// The unresolved references of one file, in order of position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileUnresolved {
    pub path: RepoPath,
    pub sites: Vec<UnresolvedSite>,
}
record!(FileUnresolved { path, sites });

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkSummary {
    /// Sorted by path; files without unresolved references are left out.
    pub files: Vec<FileUnresolved>,
}
record!(LinkSummary { files });
