//! What linking a generation came to, besides the edges of the graph: the references that it could not resolve, and what
//! the next run must know of each file to leave it as it is.
//!
//! Files are grouped by path. A run writes the groups in which something changed; the others stand in its state as in
//! the one before.

use cairn_domain::{ArtifactRef, PackageManifest, RepoPath, Resolution, Unresolved};

use crate::codec::{Decode, DecodeError, Encode, Reader, record};

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

/// The unresolved references of the files of a group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkSummary {
    /// Sorted by path; files without unresolved references are left out.
    pub files: Vec<FileUnresolved>,
}
record!(LinkSummary { files });

/// What linking one file came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkedFile {
    pub path: RepoPath,
    /// Number of its edges by class; those that are 0 are left out.
    pub edges: Vec<(Resolution, u32)>,
    /// Number of its unresolved references by reason.
    pub unresolved: Vec<(Unresolved, u32)>,
    /// Names of the other modules that its edges reach, sorted.
    pub modules: Vec<String>,
}
record!(LinkedFile { path, edges, unresolved, modules });

/// The keys that the files of a group asked the environment for, shortened to 32 bits: enough to find every file that
/// asked for a key, and once in a while one that did not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AskedKeys {
    /// Ascending, each once.
    keys: Vec<u32>,
    /// By key: where its files end among `files`.
    ends: Vec<u32>,
    /// Positions in the group of the files that asked, ascending for each key.
    files: Vec<u32>,
}

fn shortened(key: u64) -> u32 {
    (key >> 32) as u32
}

impl AskedKeys {
    /// From pairs of a key and the position of a file that asked for it, in any order.
    pub fn new(asked: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Self::of_short(asked.into_iter().map(|(key, file)| (shortened(key), file)).collect())
    }

    /// What files that were asked about in other groups asked for, at their positions now: `place` tells that of a
    /// file, if it is taken over. With what files that were linked anew asked for.
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

    /// Positions of the files that asked for the key.
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

/// Ascending numbers as differences, so that they take few bytes.
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

/// Files that are neighbours by path. A pack holds it as its first record and their [`LinkSummary`] as its second.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkGroup {
    /// Sorted by path.
    pub files: Vec<LinkedFile>,
    pub asked: AskedKeys,
}
record!(LinkGroup { files, asked });

/// What a generation's linking came to. The next run links only the files that changed and those that asked for what
/// is found differently.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkState {
    /// The packages that the repository declares, in the order of their manifests' paths.
    pub packages: Vec<PackageManifest>,
    /// Packs of the kind `LinkGroup`, in the order of their paths.
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
    fn who_asked_for_a_key_is_found() {
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
    fn files_take_their_keys_along() {
        let first = AskedKeys::new([(key(1), 0), (key(1), 1), (key(2), 1)]);
        let second = AskedKeys::new([(key(1), 0), (key(3), 0)]);
        let parts = [(&first, vec![None, Some(2)]), (&second, vec![Some(0)])];
        let joined = AskedKeys::joined(parts, &AskedKeys::new([(key(4), 1), (key(1), 1)]));
        let expect = [(key(1), 0), (key(3), 0), (key(1), 1), (key(4), 1), (key(1), 2), (key(2), 2)];
        assert_eq!(joined, AskedKeys::new(expect));
    }
}
