//! Checks that listings of git trees equal the output of `git ls-tree -r`.

use std::path::Path;

use crate::support::{Fixture, cause, find, odd_tree, paths, remote_settings, text, url};
use cairn_domain::{EntryKind, Revision, Source};
use cairn_git::{GitSettings, GitSources, blob_id};
use cairn_ports::{ErrorKind, ListedSoFar, ListingLimit, ReadOptions, SnapshotTree, SourceError, SourceReader};

/// `(path bytes, kind, object id, size)` as git itself reports them.
fn listed_by_git(fixture: &Fixture, revision: &str) -> Vec<(Vec<u8>, EntryKind, String, u64)> {
    let output = fixture.git(&["ls-tree", "-r", "-z", "-l", "--full-tree", revision]);
    let mut listed = Vec::new();
    for record in output.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let tab = record.iter().position(|byte| *byte == b'\t').expect("tab");
        let head = String::from_utf8(record[..tab].to_vec()).expect("head");
        let fields: Vec<&str> = head.split_whitespace().collect();
        let kind = match fields[0] {
            "100644" => EntryKind::File,
            "100755" => EntryKind::Executable,
            "120000" => EntryKind::Symlink,
            "160000" => EntryKind::Submodule,
            other => panic!("mode {other}"),
        };
        listed.push((record[tab + 1..].to_vec(), kind, fields[2].to_owned(), fields[3].parse().unwrap_or(0)));
    }
    listed.sort();
    listed
}

fn listed_by_us(tree: &dyn SnapshotTree) -> Vec<(Vec<u8>, EntryKind, String, u64)> {
    let mut listed: Vec<_> = tree
        .entries()
        .iter()
        .map(|entry| {
            let path = entry.path.to_bytes().expect("path");
            (path, entry.kind, entry.blob.to_string(), entry.size_bytes)
        })
        .collect();
    listed.sort();
    listed
}

fn add_submodule(fixture: &Fixture) {
    let head = fixture.head();
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},libs/module")]);
    fixture.git(&["commit", "--quiet", "-m", "submodule"]);
}

#[test]
fn entries_and_contents_equal_those_of_git() {
    let fixture = Fixture::repository();
    odd_tree(&fixture);
    fixture.commit_all();
    add_submodule(&fixture);
    let tree = fixture.open(&fixture.bare()).expect("open");
    let listed = listed_by_us(tree.as_ref());
    assert_eq!(listed, listed_by_git(&fixture, "HEAD"));
    assert!(listed.len() > 1_200 && listed.iter().any(|entry| entry.1 == EntryKind::Submodule));
    assert!(tree.entries().is_sorted_by(|left, right| left.path < right.path));
    assert_eq!(tree.revision().label(), fixture.head());
    assert_eq!(tree.branch(), Some("main"));
    let mut reader = tree.reader().expect("reader");
    for entry in tree.entries().iter().filter(|entry| entry.kind != EntryKind::Submodule) {
        let bytes = reader.read(entry).expect("content");
        assert_eq!((blob_id(&bytes), bytes.len() as u64), (entry.blob, entry.size_bytes), "{}", entry.path);
    }
    let error = reader.read(find(tree.as_ref(), "libs/module")).expect_err("no content");
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[test]
fn branches_are_found_by_name_or_reported_missing() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    fixture.git(&["checkout", "--quiet", "-b", "feature/x"]);
    fixture.write("b", "2");
    fixture.commit_all();
    let feature = fixture.head();
    fixture.git(&["checkout", "--quiet", "main"]);
    let sources = GitSources::new(GitSettings::new(fixture.clones()));
    let options = |branch: &str| ReadOptions { branch: Some(branch.to_owned()), ..ReadOptions::default() };
    let tree = sources.open(&fixture.bare(), &options("feature/x")).expect("open");
    assert_eq!((tree.revision().label(), tree.branch(), tree.entries().len()), (feature, Some("feature/x"), 2));
    let head = sources.head(&fixture.bare(), &ReadOptions::default()).expect("head").expect("commit");
    assert_eq!(head.to_string(), fixture.head());
    let error = sources.open(&fixture.bare(), &options("nope")).err().expect("missing");
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(std::error::Error::source(&error).expect("cause").to_string().contains("`nope`"));
}

#[test]
fn tags_and_commits_are_read() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let first = fixture.head();
    fixture.git(&["tag", "light"]);
    fixture.git(&["tag", "-a", "-m", "a tag", "v1.0"]);
    fixture.write("b", "2");
    fixture.commit_all();
    let sources = GitSources::new(GitSettings::new(fixture.clones()));
    let check = |revision: &str, expect: Option<Option<&str>>| {
        let options = ReadOptions { branch: Some(revision.to_owned()), ..ReadOptions::default() };
        let tree = sources.open(&fixture.bare(), &options);
        let found = tree.as_ref().ok().map(|tree| (tree.revision().label(), tree.branch(), tree.entries().len()));
        assert_eq!(found, expect.map(|name| (first.clone(), name, 1)), "{revision}");
    };
    check("light", Some(Some("light")));
    check("v1.0", Some(Some("v1.0")));
    check(&first, Some(None));
    check(&"0".repeat(40), None);
    check(&first[..10], None);
}

#[test]
fn repository_without_commits_is_not_found() {
    let fixture = Fixture::repository();
    let error = fixture.open(&fixture.bare()).err().expect("no commit");
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(std::error::Error::source(&error).expect("cause").to_string().contains("no commit yet"));
}

/// The tree of a commit has ten billion paths, but consists of only twelve objects. The test ends only if a
/// limit stops the listing.
#[test]
fn tree_bomb_ends_soon_with_too_large() {
    let fixture = Fixture::repository();
    let mut id = text(fixture.git_with_input(&["hash-object", "-w", "--stdin"], b"boom"));
    let mut kind = "100644 blob";
    for _level in 0..10 {
        let listing: String = (0..10).map(|number| format!("{kind} {id}\tf{number}\n")).collect();
        id = text(fixture.git_with_input(&["mktree"], listing.as_bytes()));
        kind = "040000 tree";
    }
    let commit = text(fixture.git(&["commit-tree", "-m", "bomb", &id]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
    let error = fixture.open(&fixture.bare()).err().expect("bounded");
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert_figure_and_limit(&error);
}

/// Checks that the message of a refused source contains the actual number, the limit and the name of the
/// setting.
fn assert_figure_and_limit(error: &SourceError) {
    let message = cause(error);
    let numbers = message.split(|sign: char| !sign.is_ascii_digit()).filter_map(|text| text.parse::<u64>().ok());
    let numbers: Vec<u64> = numbers.collect();
    assert!(message.contains("(`sources.") && numbers.len() == 2 && numbers[0] > numbers[1], "{message}");
}

/// In every kind of source, a directory that is too deep becomes one unreadable entry, and so does a path
/// that is too long.
#[test]
fn deep_and_long_paths_are_unreadable_entries() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", "hidden\n");
    fixture.write("good", "x");
    fixture.write(format!("{}x", "d/".repeat(30)), "x");
    fixture.write(format!("{}hidden", "d/".repeat(30)), "x");
    fixture.write(format!("{}/b", "a".repeat(70)), "x");
    fixture.write("c".repeat(70), "x");
    fixture.git(&["add", "--force", "--all"]);
    fixture.commit_all();
    let check = |max_depth: usize, max_path_bytes: usize, expect: usize, unreadable: &[&str]| {
        for source in [fixture.bare(), fixture.work_tree(), fixture.plain(), url(&fixture)] {
            let mut settings = remote_settings(&fixture);
            (settings.limits.max_depth, settings.limits.max_path_bytes) = (max_depth, max_path_bytes);
            let tree = GitSources::new(settings).open(&source, &ReadOptions::default()).expect("open");
            // The listing of a plain directory also contains the files of git.
            let paths = tree.entries().iter().filter(|entry| !entry.path.as_str().starts_with(".git/"));
            let (unread, read): (Vec<_>, Vec<_>) = paths.partition(|entry| entry.unreadable.is_some());
            let unread: Vec<&str> = unread.iter().map(|entry| entry.path.as_str()).collect();
            assert_eq!(unread.len(), unreadable.len(), "{source:?}: {unread:?}");
            assert!(unread.iter().zip(unreadable).all(|(path, begin)| path.starts_with(begin)), "{unread:?}");
            assert!(unread.iter().all(|path| path.len() <= max_path_bytes), "{unread:?}");
            assert_eq!(read.len(), expect, "{source:?}");
        }
    };
    let deep = "d/".repeat(29) + "d";
    check(30, 80, 6, &[]);
    check(29, 80, 4, &[deep.as_str()]);
    check(30, 69, 4, &["aaaa", "cccc"]);
}

/// In git, a name may have any length, and a tree may have any depth.
#[test]
fn forged_names_and_depths_do_not_stop_a_listing() {
    let fixture = Fixture::repository();
    let blob = text(fixture.git_with_input(&["hash-object", "-w", "--stdin"], b"x"));
    let (one, two) = ("n".repeat(5_000), format!("{}m", "n".repeat(4_999)));
    let files = format!("100644 blob {blob}\t{one}\n100644 blob {blob}\t{two}\n100644 blob {blob}\tgood\n");
    let mut tree = text(fixture.git_with_input(&["mktree"], files.as_bytes()));
    for _ in 0..1_200 {
        let listing = format!("100644 blob {blob}\tgood\n040000 tree {tree}\td\n");
        tree = text(fixture.git_with_input(&["mktree"], listing.as_bytes()));
    }
    let root = format!("040000 tree {tree}\tdeep\n{files}");
    let root = text(fixture.git_with_input(&["mktree"], root.as_bytes()));
    let commit = text(fixture.git(&["commit-tree", &root, "-m", "m"]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
    for source in [fixture.bare(), url(&fixture)] {
        let sources = GitSources::new(remote_settings(&fixture));
        let tree = sources.open(&source, &ReadOptions::default()).expect("open");
        let unreadable = tree.entries().iter().filter(|entry| entry.unreadable.is_some()).count();
        assert_eq!((unreadable, tree.entries().len()), (3, 1_000 + 1 + 3), "{source:?}");
        assert!(find(tree.as_ref(), "good").unreadable.is_none());
    }
}

#[test]
fn missing_object_makes_one_entry_unreadable() {
    let fixture = Fixture::repository();
    fixture.write("good", "good");
    fixture.write("lost", "lost");
    fixture.commit_all();
    let lost = blob_id(b"lost").to_string();
    std::fs::remove_file(fixture.repo.join(".git/objects").join(&lost[..2]).join(&lost[2..])).expect("removed");
    let tree = fixture.open(&fixture.bare()).expect("open");
    assert!(find(tree.as_ref(), "lost").unreadable.is_some());
    assert!(find(tree.as_ref(), "good").unreadable.is_none());
    assert!(matches!(tree.revision(), Revision::Commit(_)));
}

#[test]
fn missing_tree_makes_one_entry_unreadable() {
    let fixture = Fixture::repository();
    fixture.write("good/a", "1");
    fixture.write("lost/deep/b", "2");
    fixture.commit_all();
    let lost = text(fixture.git(&["rev-parse", "HEAD:lost"]));
    std::fs::remove_file(fixture.repo.join(".git/objects").join(&lost[..2]).join(&lost[2..])).expect("removed");
    let tree = fixture.open(&fixture.bare()).expect("open");
    assert_eq!(paths(tree.as_ref()), ["good/a", "lost"]);
    assert!(find(tree.as_ref(), "lost").unreadable.as_deref().is_some_and(|why| why.contains("missing or damaged")));
}

#[test]
fn caller_limit_stops_every_kind_of_listing() {
    let fixture = Fixture::repository();
    for number in 0..50 {
        fixture.write(format!("d{}/f{number}", number % 7), "12345");
    }
    fixture.commit_all();
    let check = |is_over: fn(ListedSoFar) -> bool| {
        for source in [fixture.bare(), fixture.work_tree(), fixture.plain()] {
            let limit = ListingLimit::new(move |listed| match is_over(listed) {
                true => Err(SourceError::new(ErrorKind::TooLarge, "list", "limit").because(format!("{listed:?}"))),
                false => Ok(()),
            });
            let options = ReadOptions { listing: limit, ..ReadOptions::default() };
            let opened = GitSources::new(GitSettings::new(fixture.clones())).open(&source, &options);
            let error = opened.err().expect("over the limit");
            assert_eq!((error.kind, error.key.as_str()), (ErrorKind::TooLarge, "limit"), "{}", cause(&error));
        }
    };
    check(|listed| listed.num_paths > 49);
    check(|listed| listed.size_bytes > 249);
    // 7 directories, 10 paths with one-digit numbers, and 40 paths with two-digit numbers.
    check(|listed| listed.path_bytes > 7 * 2 + 10 * 5 + 40 * 6 - 1);
    check(|listed| listed.num_repeated > 48);
}

/// The tree of the commit has 9,600 paths of 3,800 bytes each, which share 17 objects. The working tree has
/// one file.
#[test]
fn long_paths_of_a_commit_are_not_kept_in_memory() {
    let fixture = Fixture::repository();
    let blob = text(fixture.git_with_input(&["hash-object", "-w", "--stdin"], b"x = 1\n"));
    let mktree = |entries: String| text(fixture.git_with_input(&["mktree"], entries.as_bytes()));
    let mut tree = mktree((0..24).map(|number| format!("100644 blob {blob}\tf{number}.py\n")).collect());
    tree = mktree((0..400).map(|number| format!("040000 tree {tree}\td{number}\n")).collect());
    for _ in 0..15 {
        tree = mktree(format!("040000 tree {tree}\t{}\n", "p".repeat(250)));
    }
    let commit = text(fixture.git(&["commit-tree", &tree, "-m", "m"]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
    fixture.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    fixture.write("a.py", "x = 1\n");
    let open = |max_entries| {
        let mut settings = GitSettings::new(fixture.clones());
        settings.limits.max_entries = max_entries;
        GitSources::new(settings).open(&fixture.work_tree(), &ReadOptions::default()).expect("open")
    };
    assert_eq!(paths(open(1_000_000).as_ref()), ["a.py"]);
    assert!(!open(1_000_000).cache().history.is_empty());
    assert!(open(10_000).cache().history.is_empty(), "the paths have more than 1,600,000 bytes and 16 MiB");
}

/// Without the adapter's check, libgit2 would hang when it reads a truncated object.
#[test]
fn truncated_loose_objects_are_errors() {
    let fixture = Fixture::repository();
    let text: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
    fixture.write("torn", &text);
    fixture.write("good", "good");
    fixture.commit_all();
    truncate_object(&fixture.repo.join(".git/objects"), &blob_id(text.as_bytes()).to_string());
    let tree = fixture.open(&fixture.bare()).expect("open");
    let mut reader = tree.reader().expect("reader");
    assert!(reader.read(find(tree.as_ref(), "torn")).is_err());
    assert_eq!(reader.read(find(tree.as_ref(), "good")).expect("content"), b"good");
}

/// Cuts off the second half of a loose object's file.
fn truncate_object(objects: &Path, id: &str) {
    let file = objects.join(&id[..2]).join(&id[2..]);
    let bytes = std::fs::read(&file).expect("an object");
    std::fs::remove_file(&file).expect("removed");
    std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("truncated");
}

#[test]
fn truncated_commits_and_tags_are_errors() {
    let check = |revision: &str, can_open: bool| {
        let fixture = Fixture::repository();
        fixture.write("a.py", "x = 1\n");
        fixture.commit_all();
        fixture.write("a.py", "x = 2\n");
        fixture.commit_all();
        fixture.git(&["tag", "--annotate", "v1", "-m", "a tag"]);
        let tag = text(fixture.git(&["rev-parse", "refs/tags/v1"]));
        std::fs::write(fixture.repo.join(".git/refs/heads/tagged"), format!("{tag}\n")).expect("a branch");
        fixture.git(&["symbolic-ref", "HEAD", "refs/heads/tagged"]);
        let id = text(fixture.git(&["rev-parse", revision]));
        truncate_object(&fixture.repo.join(".git/objects"), &id);
        assert_eq!(fixture.open(&fixture.bare()).is_ok(), can_open, "{revision}");
    };
    check("refs/tags/v1", false);
    check("refs/heads/main", false);
    check("refs/heads/main^{tree}", false);
    // The listing needs an earlier commit only for the times of changes.
    check("refs/heads/main~1", true);
}

#[test]
fn truncated_objects_of_an_alternate_are_errors() {
    let fixture = Fixture::repository();
    let content: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
    fixture.write("torn", &content);
    fixture.commit_all();
    let shared = fixture.repo.with_file_name("shared.git");
    fixture.git(&["clone", "--quiet", "--bare", "--shared", ".", shared.to_str().expect("UTF-8")]);
    truncate_object(&fixture.repo.join(".git/objects"), &blob_id(content.as_bytes()).to_string());
    let tree = fixture.open(&Source::Bare { path: shared.display().to_string() }).expect("open");
    let mut reader = tree.reader().expect("reader");
    assert!(reader.read(find(tree.as_ref(), "torn")).is_err());
}

/// Commits a tree that contains 2^40 empty directories.
fn add_empty_directories(fixture: &Fixture) {
    let mut tree = text(fixture.git_with_input(&["mktree"], b""));
    for _ in 0..40 {
        let entries = format!("040000 tree {tree}\tl\n040000 tree {tree}\tr\n");
        tree = text(fixture.git_with_input(&["mktree"], entries.as_bytes()));
    }
    let blob = text(fixture.git_with_input(&["hash-object", "-w", "--stdin"], b"x = 1\n"));
    let root = format!("100644 blob {blob}\ta.py\n040000 tree {tree}\te\n");
    let root = text(fixture.git_with_input(&["mktree"], root.as_bytes()));
    let commit = text(fixture.git(&["commit-tree", &root, "-m", "m"]));
    fixture.git(&["update-ref", "refs/heads/main", &commit]);
}

/// The test ends only if the directories are not entered.
#[test]
fn directories_without_files_are_not_entered() {
    let fixture = Fixture::repository();
    add_empty_directories(&fixture);
    fixture.git(&["read-tree", "--empty"]);
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},a.py", blob_id(b"x = 1\n"))]);
    fixture.write("a.py", "x = 1\n");
    for source in [fixture.bare(), fixture.work_tree()] {
        let tree = fixture.open(&source).expect("open");
        assert_eq!(paths(tree.as_ref()), ["a.py"]);
    }
}

/// The branch `v1/fixes` creates a directory `v1` among the branches, with the same name as the tag.
#[test]
fn tag_is_read_if_a_branch_has_its_name_as_a_prefix() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    fixture.git(&["tag", "v1"]);
    fixture.git(&["branch", "v1/fixes"]);
    fixture.git(&["branch", "v2/fixes"]);
    let source = Source::Bare { path: format!("{}/.git", fixture.path()) };
    let sources = GitSources::new(GitSettings::new(fixture.clones()));
    let open = |branch: &str| {
        let options = ReadOptions { branch: Some(branch.to_owned()), ..ReadOptions::default() };
        sources.open(&source, &options).map(|tree| tree.entries().len())
    };
    assert_eq!(open("v1").expect("the tag"), 1);
    assert_eq!(open("v1/fixes").expect("the branch"), 1);
    for absent in ["v2", &"n".repeat(300)] {
        assert_eq!(open(absent).expect_err("absent").kind, ErrorKind::NotFound, "{absent}");
    }
}
