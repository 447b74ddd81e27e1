//! The checks of git that a fetch ignores.
//!
//! Git checks each object of a fetch and rejects the whole fetch if one check fails. Most of these checks
//! protect programs that check out files, read `.gitmodules` or apply attributes. Cairn does none of this.
//! When Cairn walks a tree, it treats each path as data, and records each entry that it cannot use. So one
//! unusual file must not stop a fetch.
//!
//! Structural checks of commits and tags are not in this list. They still reject a fetch.

/// Checks of names, modes and order in trees.
const OF_TREES: &[&str] = &[
    "badFilemode",
    "badTree",
    "duplicateEntries",
    "emptyName",
    "fullPathname",
    "hasDot",
    "hasDotdot",
    "hasDotgit",
    "largePathname",
    "nullSha1",
    "treeNotSorted",
    "zeroPaddedFilemode",
];

/// Checks of links and of git's own settings files in a tree.
const OF_FILES: &[&str] = &[
    "gitattributesBlob",
    "gitattributesLarge",
    "gitattributesLineLength",
    "gitattributesMissing",
    "gitattributesSymlink",
    "gitignoreSymlink",
    "gitmodulesBlob",
    "gitmodulesLarge",
    "gitmodulesMissing",
    "gitmodulesName",
    "gitmodulesParse",
    "gitmodulesPath",
    "gitmodulesSymlink",
    "gitmodulesUpdate",
    "gitmodulesUrl",
    "mailmapSymlink",
    "symlinkPointsToGitDir",
    "symlinkTargetBlob",
    "symlinkTargetLength",
    "symlinkTargetMissing",
];

/// Checks of the authors, times and messages of commits and tags. Old commits of trustworthy projects fail
/// these checks.
const OF_PERSONS: &[&str] = &[
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTagName",
    "badTimezone",
    "extraHeaderEntry",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "multipleAuthors",
    "nulInCommit",
    "zeroPaddedDate",
];

/// The settings of a git command that ignore these checks. Git warns about names of checks that its version
/// does not support, and continues.
pub(super) fn ignored_checks() -> impl Iterator<Item = String> {
    [OF_TREES, OF_FILES, OF_PERSONS].into_iter().flatten().map(|check| format!("fetch.fsck.{check}=ignore"))
}
