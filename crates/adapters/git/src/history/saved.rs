//! Encodes and decodes a saved history: an opaque sequence of bytes with a checksum. Each path is stored as
//! its difference from the previous path. If the bytes are damaged or have a different format, the history is
//! treated as missing, and all commits are walked again.

use cairn_domain::BlobId;
use cairn_redaction::{Redactor, SecretsIgnore};

use super::paths::{History, PathHistory};

const MAGIC: &[u8; 8] = b"cairnhi1";
const CHECKSUM_BYTES: usize = 16;

impl History {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(64 * self.paths.len());
        body.extend_from_slice(&self.commit.0);
        body.extend_from_slice(&self.boundary);
        body.extend_from_slice(&self.num_commits.to_le_bytes());
        let mut before: &[u8] = &[];
        let redactor = Redactor::new(&SecretsIgnore::default()).ok();
        // A path that contains a secret is not stored. The history of this path is walked again by the next
        // read.
        let is_shown = |known: &&PathHistory| {
            let path = String::from_utf8_lossy(&known.path);
            redactor.as_ref().is_some_and(|redactor| redactor.redact(&path).findings.is_empty())
        };
        for known in self.paths.iter().filter(is_shown) {
            let shared = before.iter().zip(&known.path).take_while(|(left, right)| left == right).count();
            let shared = shared.min(usize::from(u16::MAX));
            let rest = &known.path[shared..];
            let Ok(length) = u16::try_from(rest.len()) else { continue };
            body.extend_from_slice(&(shared as u16).to_le_bytes());
            body.extend_from_slice(&length.to_le_bytes());
            body.extend_from_slice(rest);
            body.extend_from_slice(&known.blob.0);
            body.push(u8::from(known.changed_at.is_some()));
            body.extend_from_slice(&known.changed_at.unwrap_or(0).to_le_bytes());
            before = &known.path;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&blake3::hash(&body).as_bytes()[..CHECKSUM_BYTES]);
        bytes.extend_from_slice(&body);
        bytes
    }

    /// `None` for bytes that `encode` did not write.
    pub(crate) fn decode(bytes: &[u8]) -> Option<History> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (checksum, rest) = rest.split_at_checked(CHECKSUM_BYTES)?;
        if blake3::hash(rest).as_bytes()[..CHECKSUM_BYTES] != *checksum {
            return None;
        }
        let (commit, rest) = rest.split_first_chunk::<20>()?;
        let (boundary, rest) = rest.split_first_chunk::<32>()?;
        let (num_commits, mut rest) = rest.split_first_chunk::<8>()?;
        let mut paths: Vec<PathHistory> = Vec::new();
        while !rest.is_empty() {
            let (shared, after) = rest.split_first_chunk::<2>()?;
            let (length, after) = after.split_first_chunk::<2>()?;
            let (end, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
            let (blob, after) = after.split_first_chunk::<20>()?;
            let (is_known, after) = after.split_first_chunk::<1>()?;
            let (changed_at, after) = after.split_first_chunk::<8>()?;
            let before = paths.last().map_or(&[][..], |known| known.path.as_slice());
            let path = [before.get(..usize::from(u16::from_le_bytes(*shared)))?, end].concat();
            let changed_at = (is_known[0] == 1).then_some(i64::from_le_bytes(*changed_at));
            paths.push(PathHistory { path, blob: BlobId(*blob), changed_at });
            rest = after;
        }
        let num_commits = u64::from_le_bytes(*num_commits);
        Some(History { commit: BlobId(*commit), boundary: *boundary, num_commits, paths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_secrets_are_not_saved() {
        let name = ["dump-gh", "p_", "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g"].concat();
        let path = |path: &str| PathHistory { path: path.into(), blob: BlobId([1; 20]), changed_at: Some(1) };
        let paths = vec![path("a"), path(&name), path("e")];
        let history = History { commit: BlobId([1; 20]), boundary: [2; 32], num_commits: 9, paths };
        let read = History::decode(&history.encode()).expect("whole");
        assert_eq!(read.paths, [path("a"), path("e")]);
    }

    #[test]
    fn history_is_decoded_whole_or_not_at_all() {
        let path = |path: &str, changed_at| PathHistory {
            path: path.as_bytes().to_vec(),
            blob: BlobId([path.len() as u8; 20]),
            changed_at,
        };
        let paths = vec![path("a", Some(-1)), path("dir/a", None), path("dir/ab", Some(5)), path("e", Some(7))];
        let history = History { commit: BlobId([1; 20]), boundary: [2; 32], num_commits: 9, paths };
        let bytes = history.encode();
        assert_eq!(History::decode(&bytes).as_ref(), Some(&history));
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert_eq!(History::decode(&damaged), None, "byte {position}");
            assert_eq!(History::decode(&bytes[..position]), None, "cut at {position}");
        }
    }
}
