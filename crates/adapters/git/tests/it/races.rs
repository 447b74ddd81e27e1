//! Lists and reads trees while their files are replaced with links.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_domain::Source;
use cairn_ports::SnapshotTree;

use crate::support::Fixture;

const OUTSIDE: &str = "outside the root";

/// Exchanges `path` and `other` repeatedly until `done` is set. Each exchange is atomic, so that both paths
/// always exist.
fn exchange(path: &Path, other: &Path, done: &AtomicBool) -> u64 {
    let mut num_exchanges = 0;
    while !done.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(rustix::fs::CWD, path, rustix::fs::CWD, other, rustix::fs::RenameFlags::EXCHANGE)
            .expect("exchanged");
        num_exchanges += 1;
    }
    num_exchanges
}

/// Opens the source and reads every file many times, while `path` alternates between the original and a link.
fn check(fixture: &Fixture, source: &Source, path: &str, target: &Path) {
    // The link is in the parent directory of the repository, so that it is not listed.
    let other = fixture.directory.path().join("other");
    std::os::unix::fs::symlink(target, &other).expect("linked");
    let done = AtomicBool::new(false);
    let (num_exchanges, num_contents) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| exchange(&fixture.repo.join(path), &other, &done));
        let mut num_contents = 0;
        for _ in 0..80 {
            let Ok(tree) = fixture.open(source) else { continue };
            num_contents += read_all(tree.as_ref());
        }
        done.store(true, Ordering::Relaxed);
        (writer.join().expect("no panic"), num_contents)
    });
    assert!(num_exchanges > 100 && num_contents > 100, "{num_exchanges} exchanges, {num_contents} contents");
}

/// Checks that no entry and no content comes from outside the root. Returns the number of successful reads.
fn read_all(tree: &dyn SnapshotTree) -> usize {
    let outside = cairn_git::blob_id(OUTSIDE.as_bytes());
    let mut reader = tree.reader().expect("reader");
    let mut num_contents = 0;
    for entry in tree.entries() {
        assert_ne!(entry.blob, outside, "{} was hashed through a link", entry.path);
        assert!(!entry.path.as_str().ends_with("secret"), "a directory outside was listed");
        // Each listed file is read several times, so that the file is likely to be exchanged between the
        // listing and one of the reads.
        for _ in 0..5 {
            if let Ok(bytes) = reader.read(entry) {
                assert_ne!(bytes, OUTSIDE.as_bytes(), "{} was read through a link", entry.path);
                num_contents += 1;
            }
        }
    }
    num_contents
}

fn fixture() -> (Fixture, std::path::PathBuf) {
    let fixture = Fixture::repository();
    let outside = fs::canonicalize(fixture.directory.path()).expect("path").join("outside");
    fs::create_dir(&outside).expect("directory");
    for name in ["file", "secret"] {
        fs::write(outside.join(name), OUTSIDE).expect("written");
    }
    for number in 0..20 {
        fixture.write(format!("other/{number}"), "inside");
    }
    fixture.write("dir/file", "inside");
    (fixture, outside)
}

#[test]
fn no_outside_file_is_read_if_a_link_replaces_a_directory() {
    for is_work_tree in [true, false] {
        let (fixture, outside) = fixture();
        if is_work_tree {
            fixture.commit_all();
            check(&fixture, &fixture.work_tree(), "dir", &outside);
        } else {
            fs::remove_dir_all(fixture.repo.join(".git")).expect("removed");
            check(&fixture, &fixture.plain(), "dir", &outside);
        }
    }
}

#[test]
fn no_outside_file_is_read_if_a_link_replaces_a_file() {
    for is_work_tree in [true, false] {
        let (fixture, outside) = fixture();
        let target = outside.join("file");
        if is_work_tree {
            fixture.commit_all();
            check(&fixture, &fixture.work_tree(), "dir/file", &target);
        } else {
            fs::remove_dir_all(fixture.repo.join(".git")).expect("removed");
            check(&fixture, &fixture.plain(), "dir/file", &target);
        }
    }
}
