//! Checks that the last change of each path equals the output of `git log`, with and without a saved history.

use std::collections::BTreeMap;

use cairn_domain::Source;
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ReadOptions, SnapshotTree, SourceCache, SourceReader};

use crate::support::Fixture;

fn by_git(fixture: &Fixture, path: &str) -> Option<i64> {
    let output = fixture.git(&["log", "-1", "--format=%ct", "--", path]);
    Some(String::from_utf8(output).expect("text").trim().parse().expect("seconds"))
}

/// Commits all changes. The time of the commit is `minute` minutes after a fixed time, so that each commit of
/// a test can have a different time.
fn commit(fixture: &Fixture, minute: i64) {
    fixture.git(&["add", "--all"]);
    fixture.commit_at(1_700_000_000 + minute * 60, "author");
}

fn open(fixture: &Fixture, source: &Source, cache: &SourceCache) -> Box<dyn SnapshotTree> {
    let options = ReadOptions { cache: cache.clone(), ..ReadOptions::default() };
    GitSources::new(GitSettings::new(fixture.clones())).open(source, &options).expect("open")
}

fn dates(tree: &dyn SnapshotTree) -> BTreeMap<String, Option<i64>> {
    tree.entries().iter().map(|entry| (entry.path.to_string(), entry.changed_at)).collect()
}

/// Reads with and without the cache, compares both results with `git log`, and returns the new cache.
fn check(fixture: &Fixture, source: &Source, cache: &SourceCache) -> SourceCache {
    let tree = open(fixture, source, cache);
    let found = dates(tree.as_ref());
    assert_eq!(
        found,
        dates(open(fixture, source, &SourceCache::default()).as_ref()),
        "the results with and without the cache differ"
    );
    for (path, changed_at) in found {
        assert_eq!(changed_at, by_git(fixture, &path), "{path}");
    }
    tree.cache().clone()
}

#[test]
fn last_change_equals_git_log() {
    let fixture = Fixture::repository();
    for (minute, (path, content)) in
        [("a", "1"), ("dir/sub/b", "1"), ("dir/c", "1"), ("a", "2"), ("dir/sub/b", "2"), ("d", "1")].iter().enumerate()
    {
        fixture.write(path, content);
        commit(&fixture, i64::try_from(minute).expect("small"));
    }
    fixture.git(&["checkout", "--quiet", "-b", "side", "HEAD~2"]);
    fixture.write("dir/c", "side");
    fixture.write("e", "side");
    commit(&fixture, 10);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.write("a", "main");
    commit(&fixture, 11);
    fixture.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    check(&fixture, &fixture.bare(), &SourceCache::default());
    check(&fixture, &fixture.work_tree(), &SourceCache::default());
}

/// Builds an unusual history step by step. Each step uses the cache of the previous step. The cache must not
/// change the result.
#[test]
fn cache_never_changes_the_result() {
    let fixture = Fixture::repository();
    let mut cache = SourceCache::default();
    let mut step = |minute: i64, work: &dyn Fn(&Fixture)| {
        work(&fixture);
        if !fixture.git(&["status", "--porcelain"]).is_empty() {
            commit(&fixture, minute);
        }
        cache = check(&fixture, &fixture.bare(), &cache);
        assert!(!cache.history.is_empty());
    };
    let write_many = |fixture: &Fixture, content: &str| {
        for number in 0..30 {
            fixture.write(format!("many/d{}/f{number}", number % 4), format!("{number} {content}"));
        }
    };
    step(0, &|fixture| write_many(fixture, "first"));
    step(1, &|fixture| fixture.write("a", "1"));
    step(2, &|fixture| fixture.write("many/d0/f0", "edited"));
    // A file is replaced with a folder, and then the same file is restored.
    step(3, &|fixture| {
        fixture.git(&["rm", "--quiet", "a"]);
        fixture.write("a/b", "below");
    });
    step(4, &|fixture| {
        fixture.git(&["rm", "--quiet", "-r", "a"]);
        fixture.write("a", "1");
    });
    // A file is renamed without a change of its content, and then its mode changes.
    step(5, &|fixture| {
        fixture.git(&["mv", "many/d1/f1", "moved"]);
    });
    step(6, &|fixture| {
        fixture.git(&["update-index", "--chmod=+x", "moved"]);
        fixture.commit_at(1_700_000_000 + 6 * 60, "author");
        fixture.git(&["checkout", "--quiet", "--", "."]);
    });
    // A branch that starts before the cached head is merged, with and without a conflict.
    step(7, &|fixture| {
        fixture.git(&["checkout", "--quiet", "-b", "side", "HEAD~3"]);
        fixture.write("side", "1");
        write_many(fixture, "side");
    });
    step(8, &|fixture| fixture.write("many/d2/f2", "side again"));
    step(9, &|fixture| {
        fixture.git(&["checkout", "--quiet", "main"]);
    });
    step(10, &|fixture| fixture.write("main", "1"));
    step(11, &|fixture| {
        fixture.git(&["merge", "--quiet", "-X", "ours", "-m", "merge", "side"]);
    });
    step(12, &|fixture| fixture.write("after", "1"));
    // Checks out the other side of the merge and then `main` again. After that, the test rewrites the
    // history.
    step(13, &|fixture| {
        fixture.git(&["checkout", "--quiet", "side"]);
    });
    step(14, &|fixture| {
        fixture.git(&["checkout", "--quiet", "main"]);
        fixture.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    });
    step(15, &|fixture| {
        fixture.git(&["checkout", "--quiet", "--orphan", "anew"]);
        fixture.write("many/d3/f3", "anew");
    });
    // A wrong clock makes a commit older than its parents.
    step(-500, &|fixture| fixture.write("many/d3/f7", "early"));
    step(16, &|fixture| fixture.write("many/d2/f6", "late"));
}

#[test]
fn uncommitted_files_have_no_time() {
    let fixture = Fixture::repository();
    for (minute, path) in ["edited", "same", "deleted"].iter().enumerate() {
        fixture.write(path, "1");
        commit(&fixture, i64::try_from(minute).expect("small"));
    }
    fixture.write("edited", "2");
    fixture.write("untracked", "1");
    std::fs::remove_file(fixture.repo.join("deleted")).expect("removed");
    let tree = open(&fixture, &fixture.work_tree(), &SourceCache::default());
    let expect = [("edited", None), ("same", by_git(&fixture, "same")), ("untracked", None)];
    assert_eq!(dates(tree.as_ref()), expect.map(|(path, at)| (path.to_owned(), at)).into());
    // After the deleted and edited files are restored, they have the same times as before.
    fixture.git(&["checkout", "--quiet", "--", "."]);
    let tree = open(&fixture, &fixture.work_tree(), tree.cache());
    assert_eq!(dates(tree.as_ref())["deleted"], by_git(&fixture, "deleted"));
    assert_eq!(dates(tree.as_ref())["edited"], by_git(&fixture, "edited"));
}

#[test]
fn without_history_there_are_no_times() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.write("b", "1");
    commit(&fixture, 0);
    fixture.write("a", "2");
    commit(&fixture, 1);
    let none = |tree: &dyn SnapshotTree| dates(tree).values().all(Option::is_none);
    let plain = open(&fixture, &fixture.plain(), &SourceCache::default());
    assert!(none(plain.as_ref()) && plain.cache().history.is_empty());
    let url = format!("file://{}", fixture.path());
    fixture.git(&["clone", "--quiet", "--bare", "--depth", "1", &url, "../shallow.git"]);
    let shallow = Source::Bare { path: fixture.path().replace("/repo", "/shallow.git") };
    let tree = open(&fixture, &shallow, &SourceCache::default());
    assert!(none(tree.as_ref()));
    // A deeper clone contains more history of the same commit.
    fixture.git(&["-C", "../shallow.git", "fetch", "--quiet", "--unshallow"]);
    let deeper = open(&fixture, &shallow, tree.cache());
    let expect = ["a", "b"].map(|path| (path.to_owned(), by_git(&fixture, path)));
    assert_eq!(dates(deeper.as_ref()), expect.into());
}

#[test]
fn too_long_history_is_not_walked() {
    let fixture = Fixture::repository();
    for minute in 0..5 {
        fixture.write("a", minute.to_string());
        commit(&fixture, minute);
    }
    let mut settings = GitSettings::new(fixture.clones());
    settings.limits.max_commits = 5;
    let read = |settings: &GitSettings, cache: &SourceCache| {
        let options = ReadOptions { cache: cache.clone(), ..ReadOptions::default() };
        GitSources::new(settings.clone()).open(&fixture.bare(), &options).expect("open")
    };
    let five = read(&settings, &SourceCache::default());
    assert!(dates(five.as_ref())["a"].is_some());
    fixture.write("a", "six");
    commit(&fixture, 6);
    // The result is the same with and without the cache.
    let six = read(&settings, five.cache());
    assert_eq!(dates(six.as_ref())["a"], None);
    assert_eq!(dates(read(&settings, &SourceCache::default()).as_ref())["a"], None);
    // The number of commits is saved, so that they are not counted again.
    assert!(!six.cache().history.is_empty());
    assert_eq!(dates(read(&settings, six.cache()).as_ref())["a"], None);
    settings.limits.max_commits = 6;
    assert!(dates(read(&settings, six.cache()).as_ref())["a"].is_some());
}
