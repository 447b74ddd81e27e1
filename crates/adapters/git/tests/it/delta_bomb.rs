//! Tests the limits with a small pack of large objects, in which each delta doubles the size of the previous
//! object.

use std::time::{Duration, Instant};

use cairn_domain::Source;
use cairn_git::GitSources;
use cairn_ports::{ErrorKind, ReadOptions, SourceReader};
use cairn_testkit::delta_bomb;

use crate::support::{Fixture, cause, remote_settings, text};

/// The last object has 65,535 * 2^12 bytes (268 MB).
const NUM_DOUBLINGS: u32 = 12;

#[test]
fn delta_bomb_ends_at_the_memory_limit() {
    let fixture = Fixture::repository();
    let pack = delta_bomb(NUM_DOUBLINGS, 0, 0);
    assert!(pack.len() < 100_000, "{}", pack.len());
    commit_bomb(&fixture, &pack);
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

/// A bare repository is read in this process, without the program `git`. The delta base of the small files is
/// too large.
#[test]
fn delta_bases_of_a_bare_repository_are_limited() {
    // The objects of the chain that have at most 64 MiB are read, unless the small files use up the allowed
    // work.
    let (num_read, num_small) = read_bomb(20);
    assert_eq!((num_read, num_small), (11, 20));
    let (num_read, num_small) = read_bomb(2_000);
    assert!(num_read >= 5 && num_small == 2_000, "{num_read} {num_small}");
}

/// Returns the number of files that are read, and the number of small files that are refused.
fn read_bomb(num_files: u32) -> (u32, u32) {
    let fixture = Fixture::repository();
    commit_bomb(&fixture, &delta_bomb(NUM_DOUBLINGS, num_files, 10));
    let started_at = Instant::now();
    let tree = fixture.open(&fixture.bare()).expect("listed");
    let mut reader = tree.reader().expect("reader");
    let (mut num_read, mut num_small) = (0, 0);
    for entry in tree.entries() {
        let is_small = entry.size_bytes < 65_535;
        match reader.read(entry) {
            Ok(bytes) => {
                assert!(bytes.len() as u64 == entry.size_bytes && !is_small, "{}", entry.path);
                num_read += 1;
            }
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::TooLarge, "{}", cause(&error));
                num_small += u32::from(is_small);
            }
        }
    }
    assert!(started_at.elapsed() < Duration::from_secs(30), "{:?}", started_at.elapsed());
    println!("{num_files} files: {:?}", started_at.elapsed());
    (num_read, num_small)
}

/// Commits every object of the pack as a file.
fn commit_bomb(fixture: &Fixture, pack: &[u8]) {
    fixture.git_with_input(&["index-pack", "--stdin"], pack);
    let objects = text(fixture.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]));
    let listing: String =
        objects.lines().zip(0..).map(|(id, number)| format!("100644 blob {id}\tf{number}\n")).collect();
    let tree = text(fixture.git_with_input(&["mktree"], listing.as_bytes()));
    let commit = text(fixture.git(&["commit-tree", "-m", "bomb", &tree]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
}
