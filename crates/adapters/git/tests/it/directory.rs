//! Checks that listings of plain directories equal the output of `find`, and that only links to targets
//! inside the root are followed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::{Fixture, cause, find, kinds, odd_tree};
use cairn_domain::{EntryKind, Revision};
use cairn_git::{GitSettings, GitSources, blob_id};
use cairn_ports::{ErrorKind, ReadOptions, SourceReader};

fn plain() -> Fixture {
    let fixture = Fixture::repository();
    fs::remove_dir_all(fixture.repo.join(".git")).expect("removed");
    fixture
}

#[test]
fn entries_equal_find() {
    let fixture = plain();
    odd_tree(&fixture);
    fixture.write("node_modules/x/index.js", "listed; the rules apply later");
    fixture.write(".hidden/file", "1");
    fixture.write(".gitignore", "*\n");
    let tree = fixture.open(&fixture.plain()).expect("open");
    let output = Command::new("find").args([".", "!", "-type", "d", "-print0"]).current_dir(&fixture.repo).output();
    let output = output.expect("find").stdout;
    let by_find: BTreeSet<Vec<u8>> =
        output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(|path| path[2..].to_vec()).collect();
    let ours: BTreeSet<Vec<u8>> = tree.entries().iter().map(|entry| entry.path.to_bytes().expect("path")).collect();
    assert_eq!(ours, by_find);
    assert_eq!(find(tree.as_ref(), "run.sh").kind, EntryKind::Executable);
    assert!(matches!(tree.revision(), Revision::Directory { .. }));
}

#[test]
fn links_are_followed_only_inside_the_directory() {
    let fixture = plain();
    let outside = fixture.directory.path().join("outside");
    fs::create_dir(&outside).expect("directory");
    fs::write(outside.join("secret"), "outside").expect("written");
    fixture.write("real/a", "1");
    fixture.write("real/deep/b", "2");
    fixture.link("to-dir", "real");
    fixture.link("to-file", "real/a");
    fixture.link("real/deep/up", "..");
    fixture.link("self", "self");
    fixture.link("root", ".");
    fixture.link("out-dir", "../outside");
    fixture.link("out-file", "../outside/secret");
    fixture.link("absolute", "/etc/passwd");
    fixture.link("dangling", "nowhere");
    fixture.link("hop", "out-file");
    let tree = fixture.open(&fixture.plain()).expect("open");
    let expected = [
        ("absolute", EntryKind::Symlink),
        ("dangling", EntryKind::Symlink),
        ("hop", EntryKind::Symlink),
        ("out-dir", EntryKind::Symlink),
        ("out-file", EntryKind::Symlink),
        ("real/a", EntryKind::File),
        ("real/deep/b", EntryKind::File),
        ("real/deep/up", EntryKind::Symlink),
        ("root", EntryKind::Symlink),
        ("self", EntryKind::Symlink),
        ("to-dir/a", EntryKind::File),
        ("to-dir/deep/b", EntryKind::File),
        ("to-dir/deep/up", EntryKind::Symlink),
        ("to-file", EntryKind::File),
    ];
    assert_eq!(kinds(tree.as_ref()), expected);
    let mut reader = tree.reader().expect("reader");
    assert_eq!(reader.read(find(tree.as_ref(), "to-dir/deep/b")).expect("content"), b"2");
    assert_eq!(reader.read(find(tree.as_ref(), "to-file")).expect("content"), b"1");
    assert_eq!(reader.read(find(tree.as_ref(), "out-file")).expect_err("a link").kind, ErrorKind::Forbidden);
}

/// Each directory has links to all other directories. So the number of paths without a cycle grows with the
/// factorial of the number of directories.
#[test]
fn multiplying_links_are_limited() {
    let fixture = plain();
    for from in 0..12 {
        fixture.write(format!("d{from}/file"), "x");
        for to in (0..12).filter(|to| *to != from) {
            fixture.link(&format!("d{from}/l{to}"), &format!("../d{to}"));
        }
    }
    let tree = fixture.open(&fixture.plain()).expect("open");
    assert!(tree.entries().len() > 12 && tree.entries().len() < 100_000);
    let again = fixture.open(&fixture.plain()).expect("open");
    assert_eq!(tree.revision(), again.revision());
}

/// All links are found before the first of them is followed.
#[test]
fn many_links_to_one_directory_are_limited() {
    let fixture = plain();
    for number in 0..200 {
        fixture.write(format!("big/f{number}"), "x");
    }
    fixture.write("big/deep/f", "x");
    for number in 0..3_000 {
        fixture.link(&format!("l{number}"), "big");
    }
    let tree = fixture.open(&fixture.plain()).expect("open");
    assert!((20_000..25_000).contains(&tree.entries().len()), "{} entries", tree.entries().len());
    assert_eq!(find(tree.as_ref(), "l0").kind, EntryKind::Symlink, "a link that is not followed");
    assert_eq!(find(tree.as_ref(), "l999/f7").kind, EntryKind::File);
    let again = fixture.open(&fixture.plain()).expect("open");
    assert_eq!(tree.revision(), again.revision());
}

#[test]
fn pipes_and_sockets_are_listed_but_not_opened() {
    let fixture = plain();
    fixture.write("file", "1");
    let pipe = fixture.repo.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let _socket = std::os::unix::net::UnixListener::bind(fixture.repo.join("socket")).expect("socket");
    let tree = fixture.open(&fixture.plain()).expect("open");
    let why = |path: &str| find(tree.as_ref(), path).unreadable.clone();
    assert_eq!(why("pipe").as_deref(), Some("not a file but a pipe"));
    assert_eq!(why("socket").as_deref(), Some("not a file but a socket"));
    assert_eq!(why("file"), None);
    // After the listing, a file is replaced with a pipe.
    fs::remove_file(fixture.repo.join("file")).expect("removed");
    fs::rename(&pipe, fixture.repo.join("file")).expect("moved");
    let error = tree.reader().expect("reader").read(find(tree.as_ref(), "file")).expect_err("changed");
    assert_eq!(error.kind, ErrorKind::Conflict);
}

#[test]
fn revision_depends_on_contents_and_paths_only() {
    let fixture = plain();
    fixture.write("a", "1");
    fixture.write("b", "2");
    let label = || fixture.open(&fixture.plain()).expect("open").revision().label();
    let before = label();
    assert!(before.starts_with("content-"));
    fixture.write("a", "1");
    assert_eq!(label(), before);
    fs::rename(fixture.repo.join("b"), fixture.repo.join("c")).expect("renamed");
    let renamed = label();
    assert_ne!(renamed, before);
    fixture.write("a", "3");
    assert_ne!(label(), renamed);
}

#[test]
fn entries_are_limited_and_large_files_not_read() {
    let fixture = plain();
    for number in 0..20 {
        fixture.write(format!("f{number}"), "x");
    }
    fixture.write("large", vec![b'x'; 1_000]);
    let open = |max_entries: usize| {
        let mut settings = GitSettings::new(fixture.clones());
        settings.limits.max_entries = max_entries;
        settings.limits.max_hashed_bytes = 999;
        GitSources::new(settings).open(&fixture.plain(), &ReadOptions::default())
    };
    let error = open(20).err().expect("too many entries");
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert_eq!(cause(&error), "the source has at least 21 paths; the limit is 20 (`sources.max_entries`)");
    let tree = open(21).expect("open");
    let large = find(tree.as_ref(), "large");
    assert_eq!((large.blob.0, large.size_bytes), ([0; 20], 1_000));
    assert_eq!(find(tree.as_ref(), "f1").blob, blob_id(b"x"));
}
