//! A small pack whose objects are large: each delta doubles the object before it.

use std::time::{Duration, Instant};

use cairn_domain::Source;
use cairn_git::GitSources;
use cairn_ports::{ErrorKind, ReadOptions, SourceReader};
use sha1::{Digest, Sha1};

use crate::support::{Fixture, cause, remote_settings, text};

const BASE_BYTES: usize = 65_535;
/// The last object has 65,535 * 2^12 bytes (268 MB).
const NUM_DOUBLINGS: u32 = 12;

#[test]
fn delta_bomb_ends_at_the_memory_limit() {
    let fixture = Fixture::repository();
    let pack = bomb();
    assert!(pack.len() < 100_000, "{}", pack.len());
    fixture.git_with_input(&["index-pack", "--stdin"], &pack);
    let objects = text(fixture.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]));
    let listing: String =
        objects.lines().zip(0..).map(|(id, number)| format!("100644 blob {id}\tf{number}\n")).collect();
    let tree = text(fixture.git_with_input(&["mktree"], listing.as_bytes()));
    let commit = text(fixture.git(&["commit-tree", "-m", "bomb", &tree]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
    let mut settings = remote_settings(&fixture);
    settings.limits.max_git_memory_bytes = 96 << 20;
    let sources = GitSources::new(settings);
    let source = Source::Url { url: format!("file://{}", fixture.path()) };
    let started_at = Instant::now();
    let error = sources.open(&source, &ReadOptions::default()).err().expect("too large");
    assert_eq!(error.kind, ErrorKind::TooLarge, "{}", cause(&error));
    assert!(cause(&error).contains("`sources.max_git_memory_bytes`"), "{}", cause(&error));
    assert!(!sources.clone_directory(source.location()).exists());
    assert!(started_at.elapsed() < Duration::from_secs(60));
}

/// A pack with one full object, and a chain of deltas on it.
fn bomb() -> Vec<u8> {
    let mut pack = b"PACK".to_vec();
    pack.extend(2u32.to_be_bytes());
    pack.extend((1 + NUM_DOUBLINGS).to_be_bytes());
    let mut offset = pack.len();
    pack.extend(header(3, BASE_BYTES));
    pack.extend(stored(&vec![b'a'; BASE_BYTES]));
    let mut size = BASE_BYTES;
    for _ in 0..NUM_DOUBLINGS {
        let delta = doubling(size);
        let here = pack.len();
        pack.extend(header(6, delta.len()));
        pack.extend(distance(here - offset));
        pack.extend(stored(&delta));
        (offset, size) = (here, size * 2);
    }
    let digest = Sha1::digest(&pack);
    pack.extend(digest);
    pack
}

/// A delta that copies its base twice.
fn doubling(base_bytes: usize) -> Vec<u8> {
    const MAX_COPY_BYTES: usize = 0xff_ffff;
    let mut delta = [varint(base_bytes), varint(2 * base_bytes)].concat();
    for _ in 0..2 {
        for start in (0..base_bytes).step_by(MAX_COPY_BYTES) {
            let length = MAX_COPY_BYTES.min(base_bytes - start);
            delta.push(0xff);
            delta.extend((start as u32).to_le_bytes());
            delta.extend(&(length as u32).to_le_bytes()[..3]);
        }
    }
    delta
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Type and size of an object in a pack.
fn header(kind: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![(kind << 4) | (size & 0x0f) as u8];
    let rest = size >> 4;
    if rest > 0 {
        bytes[0] |= 0x80;
        bytes.extend(varint(rest));
    }
    bytes
}

/// The distance to the base of a delta.
fn distance(mut value: usize) -> Vec<u8> {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value >= 0x80 {
        value = (value >> 7) - 1;
        bytes.insert(0, (value & 0x7f) as u8 | 0x80);
    }
    bytes
}

/// A zlib stream without compression.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("one block");
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    let (mut low, mut high) = (1u32, 0u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend(((high << 16) | low).to_be_bytes());
    stream
}
