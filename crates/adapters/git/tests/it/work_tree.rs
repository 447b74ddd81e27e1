//! Checks that listings of working trees equal the tracked and untracked files that `git ls-files` prints and
//! that exist on disk.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::support::{Fixture, find, kinds, make_pipe, odd_tree};
use cairn_domain::{EntryKind, Revision, Source};
use cairn_git::{GitSettings, GitSources, blob_id, locate, repository_name};
use cairn_ports::{ErrorKind, ReadOptions, SnapshotTree, SourceCache, SourceReader};

fn is_dirty(tree: &dyn SnapshotTree) -> bool {
    matches!(tree.revision(), Revision::WorkTree { dirty: true, .. })
}

fn listed_by_git(fixture: &Fixture) -> BTreeSet<Vec<u8>> {
    let output = fixture.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    // Git's index also contains files that were removed from the disk, and files that were replaced with a
    // directory.
    let exists = |path: &&[u8]| {
        let path = fixture.repo.join(std::ffi::OsStr::from_bytes(path));
        path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir() || path.join(".git").exists())
    };
    let records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty()).filter(exists);
    records.map(|record| record.strip_suffix(b"/").unwrap_or(record).to_vec()).collect()
}

fn check_listing(fixture: &Fixture) -> Box<dyn SnapshotTree> {
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    let ours: BTreeSet<Vec<u8>> = tree.entries().iter().map(|entry| entry.path.to_bytes().expect("path")).collect();
    assert_eq!(ours, listed_by_git(fixture));
    assert_eq!(ours.len(), tree.entries().len());
    tree
}

#[test]
fn entries_equal_ls_files_and_ids_those_of_git() {
    let fixture = Fixture::repository();
    odd_tree(&fixture);
    fixture.commit_all();
    let tree = check_listing(&fixture);
    let in_git = fixture.open(&fixture.bare()).expect("open");
    assert_eq!(tree.entries(), in_git.entries());
    assert!(!is_dirty(tree.as_ref()));
    assert_eq!(tree.revision().label(), fixture.head());
    assert_eq!(tree.branch(), Some("main"));
    let mut reader = tree.reader().expect("reader");
    for entry in tree.entries().iter().filter(|entry| entry.kind != EntryKind::Symlink) {
        assert_eq!(blob_id(&reader.read(entry).expect("content")), entry.blob);
    }
}

#[test]
fn untracked_pipes_are_not_listed() {
    let fixture = Fixture::repository();
    fixture.write("file", "1");
    fixture.commit_all();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(fixture.repo.join(name)).status();
        assert!(made.expect("mkfifo").success());
    };
    pipe("pipe");
    let _socket = std::os::unix::net::UnixListener::bind(fixture.repo.join("socket")).expect("socket");
    assert!(!is_dirty(check_listing(&fixture).as_ref()));
    // A pipe in place of a tracked file is listed with the reason why it cannot be read.
    fs::remove_file(fixture.repo.join("file")).expect("removed");
    pipe("file");
    let tree = check_listing(&fixture);
    assert_eq!(find(tree.as_ref(), "file").unreadable.as_deref(), Some("not a file but a pipe"));
    assert!(is_dirty(tree.as_ref()));
}

#[test]
fn ignored_files_are_hidden_unless_tracked() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", "*.log\n/out/\n!keep.log\n");
    fixture.write("sub/.gitignore", "local\n");
    fixture.write("tracked.log", "tracked before it was ignored");
    fixture.write("out/tracked.txt", "tracked in an ignored directory");
    fixture.git(&["add", "--force", "--all"]);
    fixture.git(&["commit", "--quiet", "-m", "first"]);
    for path in ["noise.log", "keep.log", "out/noise.txt", "sub/local", "sub/seen", ".hidden", "a/b/c"] {
        fixture.write(path, path);
    }
    fixture.write(".git/info/exclude", "a/b/\n");
    let tree = check_listing(&fixture);
    let paths = crate::support::paths(tree.as_ref());
    let expected =
        [".gitignore", ".hidden", "keep.log", "out/tracked.txt", "sub/.gitignore", "sub/seen", "tracked.log"];
    assert_eq!(paths, expected);
    assert!(is_dirty(tree.as_ref()));
}

#[test]
fn tree_is_dirty_when_it_differs_from_the_commit() {
    let fixture = Fixture::repository();
    let check = |expect: bool, what: &str| {
        let tree = check_listing(&fixture);
        assert_eq!(is_dirty(tree.as_ref()), expect, "{what}");
        tree.revision().clone()
    };
    assert!(matches!(check(false, "nothing at all"), Revision::WorkTree { commit: None, .. }));
    fixture.write("a", "1");
    fixture.write("b", "2");
    assert!(matches!(check(true, "before the first commit"), Revision::WorkTree { commit: None, .. }));
    fixture.commit_all();
    let clean = check(false, "committed");
    fixture.write("a", "3");
    let edited = check(true, "edited");
    assert_ne!(clean, edited);
    fixture.git(&["add", "a"]);
    assert_eq!(check(true, "staged"), edited);
    fixture.git(&["checkout", "--quiet", "HEAD", "--", "a"]);
    assert_eq!(check(false, "taken back"), clean);
    fixture.write("c", "untracked");
    check(true, "untracked");
    fs::remove_file(fixture.repo.join("c")).expect("removed");
    fs::remove_file(fixture.repo.join("b")).expect("removed");
    check(true, "deleted");
    fixture.git(&["checkout", "--quiet", "b"]);
    fs::remove_file(fixture.repo.join("a")).expect("removed");
    fixture.write("a/inside", "a file became a directory");
    check(true, "file to directory");
    fs::remove_dir_all(fixture.repo.join("a")).expect("removed");
    fixture.link("a", "b");
    check(true, "file to link");
}

#[test]
fn sparse_checkout_is_clean() {
    let fixture = Fixture::repository();
    fixture.write("kept/a", "1");
    fixture.write("left/b", "2");
    fixture.commit_all();
    fixture.git(&["sparse-checkout", "set", "--no-sparse-index", "kept"]);
    assert!(!fixture.repo.join("left").exists());
    assert!(!is_dirty(check_listing(&fixture).as_ref()), "a sparse checkout");
    fixture.write("left/c", "3");
    assert!(is_dirty(check_listing(&fixture).as_ref()), "an untracked file in a folder that was left out");
    fs::remove_file(fixture.repo.join("left/c")).expect("removed");
    fs::remove_file(fixture.repo.join("kept/a")).expect("removed");
    assert!(is_dirty(check_listing(&fixture).as_ref()), "a missing file in a folder that was kept");
}

#[test]
fn filtered_files_are_clean_if_git_reports_so() {
    let fixture = Fixture::repository();
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    fixture.write("a.txt", "one\r\ntwo\r\n");
    fixture.commit_all();
    // Git trusts its stored data about a file only if the file is older than the index. So the file gets an
    // old time before the index is refreshed.
    let old = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000));
    fs::File::options().append(true).open(fixture.repo.join("a.txt")).expect("file").set_times(old).expect("times");
    fixture.git(&["update-index", "--refresh"]);
    let tree = check_listing(&fixture);
    assert_eq!(find(tree.as_ref(), "a.txt").blob, blob_id(b"one\r\ntwo\r\n"));
    assert!(!is_dirty(tree.as_ref()));
}

#[test]
fn links_and_inner_repositories_are_not_entered() {
    let fixture = Fixture::repository();
    fixture.write("real/a", "1");
    fixture.link("link", "real");
    fixture.commit_all();
    let head = fixture.head();
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},libs/module")]);
    fixture.git(&["clone", "--quiet", ".git", "libs/module"]);
    fixture.git(&["clone", "--quiet", ".git", "other"]);
    fixture.write("fake/.git/readme", "not a repository, but git never lists it");
    fixture.write("fake/file", "1");
    let tree = check_listing(&fixture);
    let expected = [
        ("fake/file", EntryKind::File),
        ("libs/module", EntryKind::Submodule),
        ("link", EntryKind::Symlink),
        ("other", EntryKind::Submodule),
        ("real/a", EntryKind::File),
    ];
    assert_eq!(kinds(tree.as_ref()), expected);
    assert_eq!(find(tree.as_ref(), "libs/module").blob.to_string(), head);
}

#[test]
fn tracked_files_below_a_new_link_are_not_listed() {
    let fixture = Fixture::repository();
    fixture.write("dir/sub/a", "1");
    fixture.commit_all();
    let outside = fixture.directory.path().join("outside");
    fs::create_dir_all(outside.join("sub")).expect("directory");
    fs::write(outside.join("sub/a"), "another").expect("written");
    fs::remove_dir_all(fixture.repo.join("dir")).expect("removed");
    fixture.link("dir", outside.to_str().expect("UTF-8"));
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    assert_eq!(kinds(tree.as_ref()), [("dir", EntryKind::Symlink)]);
}

#[test]
fn change_after_the_listing_is_a_conflict() {
    let fixture = Fixture::repository();
    fixture.write("edited", "1");
    fixture.write("deleted", "2");
    fixture.write("same", "3");
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    fixture.write("edited", "4");
    fs::remove_file(fixture.repo.join("deleted")).expect("removed");
    let mut reader = tree.reader().expect("reader");
    let mut read = |path: &str| reader.read(find(tree.as_ref(), path)).map_err(|error| error.kind);
    assert_eq!(read("edited"), Err(ErrorKind::Conflict));
    assert_eq!(read("deleted"), Err(ErrorKind::Conflict));
    assert_eq!(read("same"), Ok(b"3".to_vec()));
}

/// A cache of stat data can miss a change that keeps the size and happens within one tick of the clock.
#[test]
fn stat_cache_never_hides_a_change() {
    let fixture = Fixture::repository();
    let sources = GitSources::new(GitSettings::new(fixture.clones()));
    let mut options = ReadOptions::default();
    for round in 0..150 {
        let content = format!("{round:04}");
        fixture.write("file", &content);
        let tree = sources.open(&fixture.work_tree(), &options).expect("open");
        assert_eq!(find(tree.as_ref(), "file").blob, blob_id(content.as_bytes()), "round {round}");
        options.cache = tree.cache().clone();
    }
    options.cache = SourceCache { stats: b"garbage".to_vec(), history: b"garbage".to_vec() };
    assert_eq!(sources.open(&fixture.work_tree(), &options).expect("open").entries().len(), 1);
}

#[test]
fn files_outside_the_reading_plan_are_not_read() {
    let fixture = Fixture::repository();
    fixture.write(".cairn.yaml", "sensitive: ['*.vault']\n");
    fixture.write("sub/.cairnignore", "x\n");
    fixture.write("open.txt", "open");
    fixture.write("vendor/.gitattributes", "*.c linguist-generated\n");
    fixture.write("closed.vault", "closed");
    let mut settings = GitSettings::new(fixture.clones());
    settings.reading_plan = Some(std::sync::Arc::new(|files: &[cairn_git::SettingsFile], _: &_| {
        let names: Vec<String> = files.iter().map(|file| file.path.as_str().to_owned()).collect();
        assert_eq!(names, [".cairn.yaml", "sub/.cairnignore"]);
        Box::new(|path: &cairn_domain::RepoPath, _, _| path.extension() == "txt")
    }));
    let tree = GitSources::new(settings).open(&fixture.work_tree(), &ReadOptions::default()).expect("open");
    let closed = find(tree.as_ref(), "closed.vault");
    assert_eq!((closed.blob.to_string(), closed.size_bytes), ("0".repeat(40), 6));
    let mut reader = tree.reader().expect("reader");
    assert_eq!(reader.read(closed).expect_err("closed").kind, ErrorKind::Forbidden);
    assert_eq!(reader.read(find(tree.as_ref(), "open.txt")).expect("open"), b"open");
    for rules in ["sub/.cairnignore", "vendor/.gitattributes"] {
        assert!(reader.read(find(tree.as_ref(), rules)).is_ok(), "{rules} cannot be read");
    }
}

#[test]
fn kind_and_name_of_a_source_are_recognised() {
    let fixture = Fixture::repository();
    fixture.write("sub/a", "1");
    fixture.commit_all();
    let policy = cairn_git::RemotePolicy::default();
    let here = fixture.path();
    fixture.git(&["clone", "--quiet", "--bare", ".git", "../bare.git"]);
    let bare = here.replace("/repo", "/bare.git");
    fixture.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = here.replace("/repo", "/linked");
    let check = |path: &str, expect: Source, name: &str| {
        let source = locate(path, &policy).expect(path);
        assert_eq!(source, expect);
        assert_eq!(repository_name(&source).as_str(), name);
    };
    check(&here, Source::WorkTree { path: here.clone() }, "repo");
    check(&format!("{here}/sub/.."), Source::WorkTree { path: here.clone() }, "repo");
    check(&format!("{here}/.git"), Source::Bare { path: format!("{here}/.git") }, "repo");
    check(&format!("{here}/sub"), Source::Directory { path: format!("{here}/sub") }, "sub");
    check(&linked, Source::WorkTree { path: linked.clone() }, "linked");
    check(&bare, Source::Bare { path: bare.clone() }, "bare");
    fixture.git(&["remote", "add", "origin", "https://user:pw@git.example.com/acme/shop.git"]);
    check(&here, Source::WorkTree { path: here.clone() }, "git.example.com/acme/shop");
    let error = locate(&format!("{here}/nothing"), &policy).expect_err("missing");
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(locate(&format!("{here}/sub/a"), &policy).expect_err("a file").kind, ErrorKind::Invalid);
    let opened = GitSources::new(GitSettings::new(fixture.clones()))
        .open(&Source::WorkTree { path: linked }, &ReadOptions::default());
    assert_eq!(opened.expect("a linked work tree").entries().len(), 1);
}

/// The working trees of a bare repository share its configuration, which says that the repository is bare.
#[test]
fn working_tree_of_a_bare_repository_has_a_root() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    fixture.git(&["clone", "--quiet", "--bare", ".git", "../bare.git"]);
    fixture.git(&["-C", "../bare.git", "worktree", "add", "--quiet", "-b", "other", "../tree"]);
    let tree = fixture.repo.with_file_name("tree");
    assert_eq!(cairn_git::work_tree_root(&tree), Some(tree.clone()));
    assert_eq!(cairn_git::work_tree_root(&fixture.repo.with_file_name("bare.git")), None);
}

/// An unusable ignore file or attribute file must not stop the listing, even if it is a link, a pipe or a
/// directory.
#[test]
fn unusable_ignore_files_do_not_stop_a_listing() {
    let fixture = Fixture::repository();
    for folder in ["pipe", "directory", "link", "large", "binary"] {
        fixture.write(format!("{folder}/file"), "1");
        fixture.write(format!("{folder}/tracked"), "1");
    }
    fixture.git(&["add", "--force", "*/tracked"]);
    for name in [".gitignore", ".gitattributes"] {
        let pipe = fixture.repo.join("pipe").join(name);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
        fixture.write(format!("directory/{name}/inside"), "1");
        fixture.link(&format!("link/{name}"), "/dev/zero");
        fixture.write(format!("large/{name}"), "x\n".repeat(700_000));
        fixture.write(format!("binary/{name}"), b"\xff\xfe\n[\n\\\n");
    }
    for source in [fixture.work_tree(), fixture.plain()] {
        let tree = fixture.open(&source).expect("open");
        for folder in ["pipe", "directory", "link", "binary"] {
            find(tree.as_ref(), &format!("{folder}/file"));
        }
    }
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    // Patterns that cannot be used may hide secrets, so only tracked files are listed.
    let below: Vec<&str> =
        crate::support::paths(tree.as_ref()).into_iter().filter(|path| path.starts_with("large/")).collect();
    assert_eq!(below, ["large/.gitignore", "large/tracked"]);
    let fault = find(tree.as_ref(), "large/.gitignore");
    assert!(fault.unreadable.as_deref().is_some_and(|why| why.contains("ignore file")), "{fault:?}");
}

#[test]
fn damaged_index_is_reported_and_the_files_are_listed() {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    fixture.commit_all();
    fs::write(fixture.repo.join(".git/index"), "junk").expect("written");
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    let unreadable = find(tree.as_ref(), ".git/index").unreadable.clone().expect("a reason");
    assert!(unreadable.contains("git reset"), "{unreadable}");
    assert!(find(tree.as_ref(), "a.py").unreadable.is_none() && is_dirty(tree.as_ref()));
}

/// A listing with an unusable configuration contains the files of the source, and one entry with the reason.
#[test]
fn unusable_configuration_is_reported_and_the_files_are_listed() {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    fixture.write(".gitignore", "*.log\n");
    fixture.write("b.log", "x");
    fixture.commit_all();
    let config = fixture.repo.join(".git/config");
    let usable = fs::read_to_string(&config).expect("the configuration");
    let unknown = usable.replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    let check = |source: &Source, what: &str| {
        let tree = fixture.open(source).expect(what);
        let why = find(tree.as_ref(), ".git/config").unreadable.clone().expect("a reason");
        assert!(why.contains("git status"), "{what}: {why}");
        assert_eq!(crate::support::paths(tree.as_ref()), [".git/config", ".gitignore", "a.py"], "{what}");
        tree
    };
    let check_commit = |what: &str| {
        let located = locate(&fixture.path(), &cairn_git::RemotePolicy::default()).expect("located");
        assert_eq!(located, fixture.work_tree(), "{what}");
        for source in [located, fixture.bare()] {
            assert_eq!(check(&source, what).revision().label(), fixture.head_in_file(), "{what}");
        }
    };
    fs::write(&config, "[core\n\tx = \"\n").expect("written");
    check_commit("a configuration with an invalid line");
    make_pipe(&config);
    check_commit("a pipe");
    fs::remove_file(&config).expect("removed");
    fs::create_dir(&config).expect("created");
    check_commit("a directory");
    fs::remove_dir(&config).expect("removed");
    fs::File::create(&config).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    check_commit("a huge file");
    fs::write(&config, format!("{unknown}[extensions]\n\tnewExtension = true\n")).expect("written");
    assert!(is_dirty(check(&fixture.work_tree(), "an unknown extension").as_ref()));
    fs::write(&config, format!("{unknown}[extensions]\n\tpartialClone = origin\n")).expect("written");
    for source in [fixture.work_tree(), fixture.bare()] {
        let tree = fixture.open(&source).expect("a partial clone");
        assert!(tree.entries().iter().all(|entry| entry.unreadable.is_none()));
        assert_eq!(tree.revision().label(), fixture.head());
    }
}

#[test]
fn unusable_exclude_file_is_reported() {
    let fixture = Fixture::repository();
    fixture.write("tracked", "1");
    fixture.commit_all();
    fixture.write("untracked", "1");
    let exclude = fixture.repo.join(".git/info/exclude");
    let paths = || {
        let tree = fixture.open(&fixture.work_tree()).expect("open");
        let why = tree.entries().iter().find(|entry| entry.path.as_str() == ".git/info/exclude");
        assert!(why.is_none_or(|entry| entry.unreadable.is_some()));
        crate::support::paths(tree.as_ref()).join(" ")
    };
    assert_eq!(paths(), "tracked untracked");
    // As in git, a file that cannot be read has no patterns.
    make_pipe(&exclude);
    assert_eq!(paths(), ".git/info/exclude tracked untracked");
    // Patterns that cannot be used may hide secrets, so only tracked files are listed.
    fs::remove_file(&exclude).expect("removed");
    fs::write(&exclude, "x\n".repeat(700_000)).expect("written");
    assert_eq!(paths(), ".git/info/exclude tracked");
    fs::remove_file(&exclude).expect("removed");
    assert_eq!(paths(), "tracked untracked");
    // The entry that reports the fault does not make the tree dirty.
    make_pipe(&exclude);
    fs::remove_file(fixture.repo.join("untracked")).expect("removed");
    assert_eq!(paths(), ".git/info/exclude tracked");
    assert!(!is_dirty(fixture.open(&fixture.work_tree()).expect("open").as_ref()));
}

#[test]
fn files_are_read_beneath_a_directory() {
    let fixture = Fixture::repository();
    fixture.write("file", "1234");
    fixture.write("outside/file", "1234");
    fixture.link("link", "file");
    fixture.link("repo/out", "../outside");
    make_pipe(&fixture.repo.join("pipe"));
    let read = |path: &str, max_bytes| cairn_git::read_beneath(&fixture.path(), path, max_bytes).ok();
    assert_eq!(read("file", 4), Some(b"1234".to_vec()));
    assert_eq!(read("file", 3), None);
    for path in ["link", "repo/out/file", "pipe", "../repo/file", "missing", ""] {
        assert_eq!(read(path, 4), None, "{path}");
    }
}

/// A settings file that is not a regular file is listed with the reason, because its rules are missing.
#[test]
fn settings_files_that_are_not_regular_are_reported() {
    let fixture = Fixture::repository();
    for name in [".cairn.yaml", ".cairnignore", "a/.gitattributes", "a/.gitignore", "a/.cairn.yaml", "pipe"] {
        fixture.write(format!("{name}.other"), "x");
        make_pipe(&fixture.repo.join(name));
    }
    fs::create_dir(fixture.repo.join("b")).expect("created");
    let _socket = std::os::unix::net::UnixListener::bind(fixture.repo.join("b/.cairnignore")).expect("socket");
    let tree = fixture.open(&fixture.work_tree()).expect("open");
    let unreadable = tree.entries().iter().filter(|entry| entry.unreadable.is_some());
    let unreadable: Vec<&str> = unreadable.map(|entry| entry.path.as_str()).collect();
    assert_eq!(unreadable, [".cairn.yaml", ".cairnignore", "a/.gitattributes", "a/.gitignore", "b/.cairnignore"]);
}

/// A directory with a `.git` is a working tree even if `.git` does not refer to a repository, so `.gitignore`
/// applies.
#[test]
fn dot_git_without_a_repository_is_reported() {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    fixture.write(".gitignore", "*.env\n");
    fixture.write("local.env", "x");
    let git = fixture.repo.join(".git");
    let check = |what: &str, file: &str| {
        let located = locate(&fixture.path(), &cairn_git::RemotePolicy::default()).expect("located");
        assert_eq!(located, fixture.work_tree(), "{what}");
        assert_eq!(cairn_git::work_tree_root(&fixture.repo), Some(fixture.repo.clone()), "{what}");
        let tree = fixture.open(&located).expect(what);
        let listed = crate::support::paths(tree.as_ref());
        assert_eq!(listed, [file, ".gitignore", "a.py"], "{what}");
        let why = find(tree.as_ref(), file).unreadable.clone().expect("a reason");
        assert!(why.contains("git status"), "{what}: {why}");
    };
    fs::remove_dir_all(&git).expect("removed");
    fs::write(&git, "gitdir: /nonexistent\n").expect("written");
    check("a link to nothing", ".git");
    fs::write(&git, "junk").expect("written");
    check("a file without a link", ".git");
    fs::remove_file(&git).expect("removed");
    fs::create_dir(&git).expect("created");
    check("an empty directory", ".git");
    fs::remove_dir(&git).expect("removed");
    make_pipe(&git);
    check("a pipe", ".git/config");
    fs::remove_file(&git).expect("removed");
    std::os::unix::fs::symlink("/nonexistent", &git).expect("linked");
    check("a dangling link", ".git/config");
}

#[test]
fn unusable_head_is_reported() {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    let faults = |what: &str| -> Vec<String> {
        let tree = fixture.open(&fixture.work_tree()).expect(what);
        let unreadable = tree.entries().iter().filter(|entry| entry.unreadable.is_some());
        unreadable.map(|entry| entry.path.as_str().to_owned()).collect()
    };
    assert!(faults("no commit yet").is_empty());
    fixture.commit_all();
    assert!(faults("a commit").is_empty());
    let (head, branch) = (fixture.repo.join(".git/HEAD"), fixture.repo.join(".git/refs/heads/main"));
    let usable = fs::read(&head).expect("read");
    for text in ["ref: refs/heads/ma\0in\n", "ref: ../../etc/passwd\n", "junk", "", "\u{ff}"] {
        fs::write(&head, text).expect("written");
        assert_eq!(faults(text), [".git/HEAD"], "{text:?}");
    }
    fs::write(&head, format!("{}\n", "1".repeat(40))).expect("written");
    assert_eq!(faults("a commit that does not exist"), [".git/HEAD"]);
    fs::write(&head, usable).expect("written");
    fixture.git(&["pack-refs", "--all"]);
    fs::create_dir(&branch).expect("created");
    assert!(faults("a directory with the name of a packed reference").is_empty());
    fs::remove_file(fixture.repo.join(".git/packed-refs")).expect("removed");
    assert_eq!(faults("a directory"), [".git/HEAD"]);
}
