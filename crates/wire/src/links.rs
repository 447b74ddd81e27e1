//! The results of linking that are not stored in the graph. These results are the references that could not
//! be resolved, and the data from which the next run finds the files that it must link again.
//!
//! Files are grouped by path. A run writes only the groups that changed. The new link state refers to the
//! unchanged groups of the previous link state.

use cairn_domain::{ArtifactRef, PackageManifest, RepoPath, Resolution, Unresolved};

use crate::codec::{Decode, DecodeError, Encode, Reader, record};

/// A reference that was not resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedSite {
    pub name: String,
    pub receiver: Option<String>,
    /// Line number, starting at 1.
    pub line: u32,
    pub reason: Unresolved,
}
record!(UnresolvedSite { name, receiver, line, reason });

/// The unresolved references of one file, sorted by position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileUnresolved {
    pub path: RepoPath,
    pub sites: Vec<UnresolvedSite>,
}
record!(FileUnresolved { path, sites });

/// The unresolved references of the files of a group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkSummary {
    /// Sorted by path. Files without unresolved references are omitted.
    pub files: Vec<FileUnresolved>,
}
record!(LinkSummary { files });

/// The result of linking one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkedFile {
    pub path: RepoPath,
    /// Number of the file's edges by resolution class. Classes without edges are omitted.
    pub edges: Vec<(Resolution, u32)>,
    /// Number of the file's unresolved references by reason.
    pub unresolved: Vec<(Unresolved, u32)>,
    /// Names of the other modules to which the file's edges lead, sorted.
    pub modules: Vec<String>,
}
record!(LinkedFile { path, edges, unresolved, modules });

/// The keys that the files of a group looked up in the environment, shortened to 32 bits. `askers` finds
/// every file that looked up a key. Because the keys are shortened, `askers` may, in rare cases, also find a
/// file that did not look up the key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AskedKeys {
    /// The shortened keys in ascending order, without duplicates.
    keys: Vec<u32>,
    /// For each key, the end of its range in `files`.
    ends: Vec<u32>,
    /// For each key, the files that looked up the key, as positions in the group. The positions are ascending
    /// within the range of a key.
    files: Vec<u32>,
}

fn shortened(key: u64) -> u32 {
    (key >> 32) as u32
}

impl AskedKeys {
    /// Builds the value from pairs of a key and the position of a file that looked up this key. The pairs may
    /// have any order.
    pub fn new(asked: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Self::of_short(asked.into_iter().map(|(key, file)| (shortened(key), file)).collect())
    }

    /// Joins the lookups of earlier groups with the lookups of the files that this run has linked. Each item
    /// of `parts` contains the lookups of one earlier group. For each file of this group, it also contains
    /// the new position of the file, or `None` if the file was removed.
    pub fn joined<'a>(parts: impl IntoIterator<Item = (&'a AskedKeys, Vec<Option<u32>>)>, linked: &AskedKeys) -> Self {
        let mut asked: Vec<(u32, u32)> = linked.pairs().collect();
        for (part, places) in parts {
            asked.extend(part.pairs().filter_map(|(key, file)| Some((key, (*places.get(file as usize)?)?))));
        }
        Self::of_short(asked)
    }

    fn of_short(mut asked: Vec<(u32, u32)>) -> Self {
        asked.sort_unstable();
        asked.dedup();
        let mut all = Self::default();
        for of_key in asked.chunk_by(|left, right| left.0 == right.0) {
            all.keys.push(of_key[0].0);
            all.files.extend(of_key.iter().map(|(_, file)| *file));
            all.ends.push(all.files.len() as u32);
        }
        all
    }

    /// Returns the positions of the files that looked up the key.
    pub fn askers(&self, key: u64) -> &[u32] {
        self.keys.binary_search(&shortened(key)).map_or(&[], |index| self.files_of(index))
    }

    fn files_of(&self, index: usize) -> &[u32] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.files[start as usize..self.ends[index] as usize]
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let files = |index: usize| self.files_of(index).iter();
        self.keys.iter().enumerate().flat_map(move |(index, key)| files(index).map(|file| (*key, *file)))
    }
}

/// Encodes ascending numbers as differences, which need few bytes.
fn encode_ascending(numbers: &[u32], out: &mut Vec<u8>) {
    let mut last = 0;
    for number in numbers {
        (number - last).encode(out);
        last = *number;
    }
}

fn decode_ascending(count: u32, reader: &mut Reader<'_>, numbers: &mut Vec<u32>) -> Result<(), DecodeError> {
    let mut last = 0_u32;
    for _ in 0..count {
        let step = u32::decode(reader)?;
        let Some(number) = last.checked_add(step) else { return reader.fail("ascending numbers") };
        numbers.push(number);
        last = number;
    }
    Ok(())
}

impl Encode for AskedKeys {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.keys.len() as u32).encode(out);
        encode_ascending(&self.keys, out);
        for index in 0..self.keys.len() {
            let files = self.files_of(index);
            (files.len() as u32).encode(out);
            encode_ascending(files, out);
        }
    }
}

impl Decode for AskedKeys {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut asked = Self::default();
        let count = u32::decode(reader)?;
        decode_ascending(count, reader, &mut asked.keys)?;
        for _ in 0..count {
            let count = u32::decode(reader)?;
            decode_ascending(count, reader, &mut asked.files)?;
            asked.ends.push(asked.files.len() as u32);
        }
        Ok(asked)
    }
}

/// The results of files with neighbouring paths. In a pack, this value is the first record; the second record
/// is the [`LinkSummary`] of the same files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkGroup {
    /// Sorted by path.
    pub files: Vec<LinkedFile>,
    pub asked: AskedKeys,
}
record!(LinkGroup { files, asked });

/// The linking state of a generation. The next run links only the changed files, and the files whose lookups
/// now have a different result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkState {
    /// The packages that the repository declares, sorted by the paths of their manifests.
    pub packages: Vec<PackageManifest>,
    /// Packs of the kind `LinkGroup`, sorted by path.
    pub groups: Vec<ArtifactRef>,
}
record!(LinkState { packages, groups });

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> u64 {
        number << 32
    }

    #[test]
    fn files_that_looked_up_a_key_are_found() {
        let asked = AskedKeys::new([(key(9), 1), (key(2), 0), (key(9), 0), (key(9), 1), (key(5), 3)]);
        assert_eq!(asked.askers(key(9)), [0, 1]);
        assert_eq!(asked.askers(key(2)), [0]);
        assert_eq!(asked.askers(key(5)), [3]);
        assert_eq!(asked.askers(key(3)), [] as [u32; 0]);
        let mut bytes = Vec::new();
        asked.encode(&mut bytes);
        assert_eq!(AskedKeys::decode(&mut Reader(&bytes)), Ok(asked));
    }

    #[test]
    fn moved_files_keep_their_keys() {
        let first = AskedKeys::new([(key(1), 0), (key(1), 1), (key(2), 1)]);
        let second = AskedKeys::new([(key(1), 0), (key(3), 0)]);
        let parts = [(&first, vec![None, Some(2)]), (&second, vec![Some(0)])];
        let joined = AskedKeys::joined(parts, &AskedKeys::new([(key(4), 1), (key(1), 1)]));
        let expect = [(key(1), 0), (key(3), 0), (key(1), 1), (key(4), 1), (key(1), 2), (key(2), 2)];
        assert_eq!(joined, AskedKeys::new(expect));
    }
}
