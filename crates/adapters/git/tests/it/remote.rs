//! Tests that remotes are fetched by a restricted child process, are kept up to date, and are never trusted.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::{Fixture, cause, odd_tree, paths, remote_settings, text, url};
use cairn_domain::Source;
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ErrorKind, ReadOptions, SourceReader, TreeEntry};

#[test]
fn fetched_tree_equals_the_remote_tree() {
    let fixture = Fixture::repository();
    odd_tree(&fixture);
    fixture.commit_all();
    fixture.git(&["tag", "v1"]);
    let sources = GitSources::new(remote_settings(&fixture));
    let tree = sources.open(&url(&fixture), &ReadOptions::default()).expect("fetched");
    // A clone with one commit has the same entries as a full clone, but the times of the last changes are
    // unknown.
    let undated = |entry: &TreeEntry| TreeEntry { changed_at: None, ..entry.clone() };
    let expect: Vec<TreeEntry> = fixture.open(&fixture.bare()).expect("open").entries().iter().map(undated).collect();
    assert_eq!(tree.entries(), expect);
    assert_eq!((tree.revision().label(), tree.branch()), (fixture.head(), Some("main")));
    let clone = sources.clone_directory(url(&fixture).location());
    assert!(clone.join("shallow").exists() && !clone.join("refs/tags/v1").exists());
    assert!(!clone.join("hooks").exists(), "no templates");
}

#[test]
fn clone_follows_every_change_of_its_remote() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let sources = GitSources::new(remote_settings(&fixture));
    let source = url(&fixture);
    let check = |expect: &[&str]| {
        let head = sources.head(&source, &ReadOptions::default()).expect("head").expect("commit");
        let tree = sources.open(&source, &ReadOptions::default()).expect("open");
        assert_eq!(paths(tree.as_ref()), expect);
        assert_eq!((tree.revision().label(), head.to_string()), (fixture.head(), fixture.head()));
    };
    check(&["a"]);
    check(&["a"]);
    fixture.write("b", "2");
    fixture.commit_all();
    check(&["a", "b"]);
    // A force-push has rewritten the history.
    fixture.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    fixture.write("c", "3");
    fixture.commit_all();
    check(&["a", "c"]);
    fixture.git(&["checkout", "--quiet", "--orphan", "other"]);
    fixture.write("d", "4");
    fixture.commit_all();
    check(&["a", "c", "d"]);
    let main = ReadOptions { branch: Some("main".to_owned()), ..ReadOptions::default() };
    assert_eq!(paths(sources.open(&source, &main).expect("open").as_ref()), ["a", "c"]);
    // A process that was killed during a fetch leaves git's lock files.
    let clone = sources.clone_directory(source.location());
    for lock in ["shallow.lock", "HEAD.lock", "refs/heads/main.lock"] {
        fs::create_dir_all(clone.join(lock).parent().expect("a folder")).expect("folders");
        fs::write(clone.join(lock), "").expect("a lock");
    }
    fixture.write("e", "5");
    fixture.commit_all();
    check(&["a", "c", "d", "e"]);
    // A damaged clone is created again.
    fs::remove_dir_all(clone.join("objects")).expect("removed");
    let healed =
        sources.open(&source, &ReadOptions::default()).or_else(|_| sources.open(&source, &ReadOptions::default()));
    assert_eq!(paths(healed.expect("healed").as_ref()), ["a", "c", "d", "e"]);
}

#[test]
fn tags_and_commits_are_fetched() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let first = fixture.head();
    fixture.git(&["tag", "-a", "-m", "a tag", "v1.0"]);
    fixture.write("b", "2");
    fixture.commit_all();
    // Without this setting, some servers send only commits to which a reference points.
    fixture.git(&["config", "uploadpack.allowReachableSHA1InWant", "true"]);
    let (source, sources) = (url(&fixture), GitSources::new(remote_settings(&fixture)));
    for (revision, name) in [("v1.0", Some("v1.0")), (first.as_str(), None)] {
        let options = ReadOptions { branch: Some(revision.to_owned()), ..ReadOptions::default() };
        let head = sources.head(&source, &options).expect("head").expect("commit");
        let tree = sources.open(&source, &options).expect("open");
        assert_eq!((head.to_string(), tree.revision().label()), (first.clone(), first.clone()), "{revision}");
        assert_eq!((paths(tree.as_ref()), tree.branch()), (vec!["a"], name), "{revision}");
        // The commit is known, so nothing is fetched again.
        let again = ReadOptions { branch: Some(revision.to_owned()), ..ReadOptions::default() };
        sources.open(&source, &again).expect("open");
        assert_eq!(again.meter.progress().fetched_bytes, 0, "{revision}");
    }
}

#[test]
fn fetched_bytes_are_counted() {
    let fixture = Fixture::repository();
    let source = url(&fixture);
    let sources = GitSources::new(remote_settings(&fixture));
    let fetched = || {
        let options = ReadOptions::default();
        sources.open(&source, &options).expect("open");
        options.meter.progress().fetched_bytes
    };
    // The contents are random letters, so that compression saves little.
    let noise = |number: u64| (0..20_000).map(|at| (b'a' + noise_at(number, at)) as char).collect::<String>();
    fixture.write("a", noise(1));
    fixture.commit_all();
    let first = fetched();
    assert!((5_000..100_000).contains(&first), "{first}");
    assert_eq!(fetched(), 0, "nothing is new");
    fixture.write("b", noise(2));
    fixture.commit_all();
    let second = fetched();
    assert!(second > 5_000 && second < first * 3 / 2, "old bytes were counted again: {first}, {second}");
}

fn noise_at(number: u64, at: u64) -> u8 {
    (blake3::hash(&[number.to_le_bytes(), at.to_le_bytes()].concat()).as_bytes()[0]) % 26
}

#[test]
fn missing_commit_branch_or_remote_is_not_found() {
    let fixture = Fixture::repository();
    let sources = GitSources::new(remote_settings(&fixture));
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("no commit");
    assert_eq!(error.kind, ErrorKind::NotFound, "{error:?}");
    fixture.write("a", "1");
    fixture.commit_all();
    let options = ReadOptions { branch: Some("nope".to_owned()), ..ReadOptions::default() };
    let error = sources.open(&url(&fixture), &options).err().expect("no branch");
    assert_eq!(
        (error.kind, cause(&error).as_str()),
        (ErrorKind::NotFound, "the remote has no branch, tag or commit `nope`")
    );
    let gone = Source::Url { url: format!("file://{}/gone", fixture.path()) };
    assert_eq!(sources.head(&gone, &ReadOptions::default()).expect_err("gone").kind, ErrorKind::NotFound);
}

#[test]
fn urls_are_refused_without_their_setting() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let closed = GitSources::new(GitSettings::new(fixture.clones()));
    let check = |url: &str, expect: &str| {
        let source = Source::Url { url: url.to_owned() };
        for error in
            [closed.head(&source, &ReadOptions::default()).err(), closed.open(&source, &ReadOptions::default()).err()]
        {
            let error = error.expect("refused");
            assert_eq!(error.kind, ErrorKind::Invalid);
            let shown = format!("{error} {error:?} {}", cause(&error));
            assert!(shown.contains(expect) && !shown.contains("hunter2"), "{shown}");
        }
    };
    check(&format!("file://{}", fixture.path()), "allow_file");
    check("http://git.example.com/a/b", "allow_http");
    check("https://127.0.0.1/a/b", "allow_private_addresses");
    check("https://user:hunter2@git.example.com/a/b", "credential");
    assert!(!fixture.clones().exists(), "no directory was created");
}

#[test]
fn clone_with_malformed_objects_is_discarded() {
    let fixture = Fixture::repository();
    let tree = text(fixture.git_with_input(&["mktree"], b""));
    let commit = format!("tree {tree}\nauthor a\0 <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nbad\n");
    let arguments = ["hash-object", "-w", "-t", "commit", "--literally", "--stdin"];
    let commit = text(fixture.git_with_input(&arguments, commit.as_bytes()));
    fixture.write(".git/refs/heads/main", commit);
    let sources = GitSources::new(remote_settings(&fixture));
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error:?}");
    assert!(!sources.clone_directory(url(&fixture).location()).exists());
}

/// The entries of tree objects. Each entry has a mode and a name.
const UNUSUAL_ENTRIES: &[&[(&str, &str)]] = &[
    &[("100644", ".git")],
    &[("40000", ".git")],
    &[("100644", "..")],
    &[("100644", "name/with/slash")],
    &[("100600", "mode")],
    &[("0100644", "padded")],
    &[("100644", "twice"), ("100644", "twice")],
    &[("100644", "unsorted-b"), ("100644", "unsorted-a")],
    &[("120000", ".gitmodules"), ("120000", "hooks")],
    &[("120000", ".gitattributes"), ("160000", ".gitmodules")],
    &[("40000", ".gitattributes"), ("40000", ".gitmodules")],
];

/// Adds a commit that has each unusual tree as a directory `0`, `1`, …
fn commit_unusual_trees(fixture: &Fixture) {
    let id = |kind: &str, bytes: &[u8]| {
        text(fixture.git_with_input(&["hash-object", "-w", "-t", kind, "--literally", "--stdin"], bytes))
    };
    let binary = |id: &str| -> Vec<u8> {
        let digits = (0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16));
        digits.collect::<Result<_, _>>().expect("hex")
    };
    let blob = binary(&id("blob", b"x"));
    let folder = binary(&id("tree", &[b"100644 inside\0", blob.as_slice()].concat()));
    let mut root = Vec::new();
    for (number, entries) in UNUSUAL_ENTRIES.iter().enumerate() {
        let object = |mode: &str| if mode == "40000" { &folder } else { &blob };
        let entry = |(mode, name): &(&str, &str)| [format!("{mode} {name}\0").as_bytes(), object(mode)].concat();
        let tree: Vec<u8> = entries.iter().flat_map(entry).collect();
        root.push((number.to_string(), binary(&id("tree", &tree))));
    }
    root.sort();
    let root: Vec<u8> =
        root.iter().flat_map(|(name, tree)| [format!("40000 {name}\0").as_bytes(), tree].concat()).collect();
    let commit = format!("tree {}\nauthor a <a@b>1 +051800\ncommitter a <a@b> 01 +0000\n\nm\0\n", id("tree", &root));
    fixture.write(".git/refs/heads/main", id("commit", commit.as_bytes()));
}

/// By default, git's object checks stop a fetch because of one file. Cairn ignores the checks that concern
/// files, because its walk of a tree records an unusable entry and continues.
#[test]
fn unusual_files_do_not_stop_a_fetch() {
    let fixture = Fixture::repository();
    commit_unusual_trees(&fixture);
    let same_entries = || {
        let sources = GitSources::new(remote_settings(&fixture));
        let fetched = sources.open(&url(&fixture), &ReadOptions::default()).expect("fetched");
        let undated = |entry: &TreeEntry| TreeEntry { changed_at: None, ..entry.clone() };
        let expect: Vec<TreeEntry> =
            fixture.open(&fixture.bare()).expect("open").entries().iter().map(undated).collect();
        assert_eq!(fetched.entries(), expect);
        expect.len()
    };
    assert!(same_entries() >= UNUSUAL_ENTRIES.len());
    fixture.git(&["symbolic-ref", "HEAD", "refs/heads/settings"]);
    fixture.write(".gitattributes/inside", "x");
    fixture.write("a/.gitattributes", format!("*.c {}\n", "a".repeat(3_000)));
    fixture.write("b/.gitmodules/inside", "x");
    fixture.write("c/.gitmodules", "[submodule\n");
    let hostile = "[submodule \"../x\"]\n\tpath = -p\n\turl = --upload-pack=x\n\tupdate = !sh\n";
    fixture.write(".gitmodules", hostile);
    fixture.commit_all();
    assert_eq!(same_entries(), 5);
}

#[test]
fn fetch_of_too_many_bytes_is_stopped() {
    let fixture = Fixture::repository();
    let mut state = 1u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    })
    .take(3_000_000)
    .collect();
    fixture.write("noise", noise);
    fixture.commit_all();
    let mut settings = remote_settings(&fixture);
    settings.limits.max_fetch_bytes = 1_000_000;
    let sources = GitSources::new(settings);
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error:?}");
    let message = cause(&error);
    assert!(message.contains("bytes to disk") && message.contains("1000000 (`sources.max_fetch_bytes`)"), "{message}");
    assert!(!sources.clone_directory(url(&fixture).location()).exists());
}

/// Answers each request with `response`, and sends the lines of the request to the receiver.
fn serve(response: String) -> (u16, mpsc::Receiver<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listener");
    let port = listener.local_addr().expect("address").port();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let _sent = stream.write_all(response.as_bytes());
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

#[test]
fn redirects_are_not_followed_and_get_no_token() {
    let fixture = Fixture::repository();
    let (inner, reached) = serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned());
    let location = format!("http://127.0.0.1:{inner}/a/b/info/refs?service=git-upload-pack");
    let redirect =
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let (outer, requests) = serve(redirect);
    let mut settings = remote_settings(&fixture);
    // The test runner always sets this variable. The test uses the value of the variable as the token.
    settings.remotes.token_variables.insert("127.0.0.1".to_owned(), "CARGO_PKG_NAME".to_owned());
    let source = Source::Url { url: format!("http://127.0.0.1:{outer}/a/b") };
    let error = GitSources::new(settings).head(&source, &ReadOptions::default()).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Invalid, "{error:?}");
    assert!(cause(&error).contains("redirect"), "{}", cause(&error));
    let request = requests.recv_timeout(Duration::from_secs(5)).expect("asked");
    assert!(!request.iter().any(|line| line.to_ascii_lowercase().starts_with("authorization")), "{request:?}");
    assert!(reached.try_recv().is_err(), "the redirect was followed");
}

#[test]
fn fetch_from_a_silent_remote_times_out() {
    let fixture = Fixture::repository();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listener");
    let port = listener.local_addr().expect("address").port();
    let mut settings = remote_settings(&fixture);
    settings.limits.fetch_timeout = Duration::from_millis(700);
    let started_at = Instant::now();
    let source = Source::Url { url: format!("http://127.0.0.1:{port}/a/b") };
    let error = GitSources::new(settings).head(&source, &ReadOptions::default()).expect_err("timed out");
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    assert!(started_at.elapsed() < Duration::from_secs(20));
}
