//! What all kinds of trees share: order, and the digest that tells two states of files on disk apart.

use cairn_domain::{Digest, Digester};
use cairn_ports::TreeEntry;

/// Sorted by path, each path once. A directory that is reached twice under one name cannot be: names come from trees
/// and directories, where they are unique, so equal neighbours are one file found in two ways (disk and index).
pub(crate) fn sort(entries: &mut Vec<TreeEntry>) {
    entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    entries.dedup_by(|left, right| left.path == right.path);
}

/// Paths, kinds and contents of a sorted tree.
pub(crate) fn digest(entries: &[TreeEntry]) -> Digest {
    let add = |digester: Digester, entry: &TreeEntry| {
        digester.text(entry.path.as_str()).number(entry.kind as u64).bytes(&entry.blob.0).number(entry.size_bytes)
    };
    Digester::new("tree").list(entries, add).digest()
}
