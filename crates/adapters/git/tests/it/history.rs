//! Last changes equal what `git log` says of each path.

use cairn_ports::SnapshotTree;

use crate::support::Fixture;

fn by_git(fixture: &Fixture, path: &str) -> (i64, String) {
    let output = fixture.git(&["log", "-1", "--format=%ct %an", "--", path]);
    let text = String::from_utf8(output).expect("text");
    let (seconds, author) = text.trim().split_once(' ').expect("two fields");
    (seconds.parse().expect("seconds"), author.to_owned())
}

/// Commits everything at a given minute, so that no two commits share a time.
fn commit(fixture: &Fixture, minute: i64) {
    fixture.git(&["add", "--all"]);
    fixture.commit_at(1_700_000_000 + minute * 60, &format!("author {minute}"));
}

fn check(fixture: &Fixture, tree: &dyn SnapshotTree) {
    let changes = tree.last_changes(1_000).expect("history");
    assert!(changes.is_sorted_by(|left, right| left.path < right.path));
    for entry in tree.entries() {
        let change = changes.iter().find(|change| change.path == entry.path).expect("a change");
        assert_eq!((change.changed_at, change.author.clone()), by_git(fixture, entry.path.as_str()), "{}", entry.path);
    }
}

#[test]
fn the_last_change_is_that_of_git_log() {
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
    check(&fixture, fixture.open(&fixture.bare()).expect("open").as_ref());
    check(&fixture, fixture.open(&fixture.work_tree()).expect("open").as_ref());
    let newest = fixture.open(&fixture.bare()).expect("open").last_changes(2).expect("history");
    let paths: Vec<&str> = newest.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["a"], "a merge changes nothing itself, and older changes are out of reach");
}

#[test]
fn without_history_there_are_no_changes() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    commit(&fixture, 0);
    fixture.write("a", "2");
    commit(&fixture, 1);
    assert!(fixture.open(&fixture.plain()).expect("open").last_changes(10).expect("none").is_empty());
    let url = format!("file://{}", fixture.path());
    fixture.git(&["clone", "--quiet", "--bare", "--depth", "1", &url, "../shallow.git"]);
    let shallow = cairn_domain::Source::Bare { path: fixture.path().replace("/repo", "/shallow.git") };
    assert!(fixture.open(&shallow).expect("open").last_changes(10).expect("none").is_empty());
}
