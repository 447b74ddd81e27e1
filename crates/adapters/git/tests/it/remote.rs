//! Remotes: fetched in a cage, kept up to date, and never trusted.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Fixture, odd_tree, paths};
use cairn_domain::Source;
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ErrorKind, ReadOptions, SourceError, SourceReader, TreeEntry};

fn open_settings(fixture: &Fixture) -> GitSettings {
    let mut settings = GitSettings::new(fixture.clones());
    settings.remotes.allow_file = true;
    settings.remotes.allow_http = true;
    settings.remotes.allow_private_addresses = true;
    settings
}

fn url(fixture: &Fixture) -> Source {
    Source::Url { url: format!("file://{}", fixture.path()) }
}

fn cause(error: &SourceError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_remote_is_fetched_and_equals_its_tree() {
    let fixture = Fixture::repository();
    odd_tree(&fixture);
    fixture.commit_all();
    fixture.git(&["tag", "v1"]);
    let sources = GitSources::new(open_settings(&fixture));
    let tree = sources.open(&url(&fixture), &ReadOptions::default()).expect("fetched");
    // A clone one commit deep has everything but the history.
    let undated = |entry: &TreeEntry| TreeEntry { changed_at: None, ..entry.clone() };
    let expect: Vec<TreeEntry> = fixture.open(&fixture.bare()).expect("open").entries().iter().map(undated).collect();
    assert_eq!(tree.entries(), expect);
    assert_eq!((tree.revision().label(), tree.branch()), (fixture.head(), Some("main")));
    let clone = sources.clone_directory(url(&fixture).location());
    assert!(clone.join("shallow").exists() && !clone.join("refs/tags/v1").exists());
    assert!(!clone.join("hooks").exists(), "no templates");
}

#[test]
fn a_clone_follows_its_remote_through_anything() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let sources = GitSources::new(open_settings(&fixture));
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
    // History rewritten: a force-push, seen from the clone.
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
    // Whoever was killed in the middle of a fetch left git's locks.
    let clone = sources.clone_directory(source.location());
    for lock in ["shallow.lock", "HEAD.lock", "refs/heads/main.lock"] {
        fs::create_dir_all(clone.join(lock).parent().expect("a folder")).expect("folders");
        fs::write(clone.join(lock), "").expect("a lock");
    }
    fixture.write("e", "5");
    fixture.commit_all();
    check(&["a", "c", "d", "e"]);
    // A clone that was damaged is made anew.
    fs::remove_dir_all(clone.join("objects")).expect("removed");
    let healed =
        sources.open(&source, &ReadOptions::default()).or_else(|_| sources.open(&source, &ReadOptions::default()));
    assert_eq!(paths(healed.expect("healed").as_ref()), ["a", "c", "d", "e"]);
}

#[test]
fn clones_of_what_is_not_live_are_removed() {
    let (kept, gone) = (Fixture::repository(), Fixture::repository());
    for fixture in [&kept, &gone] {
        fixture.write("a", "1");
        fixture.commit_all();
    }
    let sources = GitSources::new(open_settings(&kept));
    let (kept, gone) = (url(&kept), url(&gone));
    let live = BTreeSet::from([kept.location().to_owned()]);
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("nothing yet"), 0);
    let open = |source: &Source| sources.open(source, &ReadOptions::default()).map(|tree| tree.entries().len());
    let clones = sources.clone_directory(kept.location()).parent().expect("a folder").to_owned();
    let files = || fs::read_dir(&clones).expect("clones").count();
    open(&kept).expect("fetched");
    let num_files = files();
    open(&gone).expect("fetched");
    assert_eq!(sources.sweep(&live, Duration::from_secs(3600)).expect("swept"), 0, "somebody may be reading it");
    // Nor is one that is being fetched.
    let lock = fs::File::open(sources.clone_directory(gone.location()).with_extension("lock")).expect("a lock");
    lock.lock().expect("locked");
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("swept"), 0);
    lock.unlock().expect("unlocked");
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("swept"), 1);
    assert_eq!(files(), num_files, "every trace of it");
    assert_eq!(open(&gone).expect("fetched again"), 1);
    // Who waited for the lock of a clone that went away makes it anew.
    let clone = sources.clone_directory(gone.location());
    let path = clone.with_extension("lock");
    let waited = std::thread::scope(|scope| {
        let lock = fs::File::options().write(true).open(&path).expect("a lock");
        lock.lock().expect("locked");
        lock.set_modified(SystemTime::UNIX_EPOCH).expect("dated");
        let waits = scope.spawn(|| open(&gone));
        let deadline = Instant::now() + Duration::from_secs(60);
        // Opening it changes its time.
        while lock.metadata().and_then(|now| now.modified()).expect("a time") == SystemTime::UNIX_EPOCH {
            assert!(Instant::now() < deadline, "nobody waits");
            std::thread::yield_now();
        }
        fs::remove_dir_all(&clone).expect("removed");
        fs::remove_file(&path).expect("removed");
        drop(lock);
        waits.join().expect("no panic")
    });
    assert_eq!(waited.expect("fetched"), 1);
    assert!(path.exists());
}

#[test]
fn what_is_fetched_is_counted() {
    let fixture = Fixture::repository();
    let source = url(&fixture);
    let sources = GitSources::new(open_settings(&fixture));
    let fetched = || {
        let options = ReadOptions::default();
        sources.open(&source, &options).expect("open");
        options.meter.progress().fetched_bytes
    };
    // Of the alphabet in no order, so that it cannot be packed much smaller.
    let noise = |number: u64| (0..20_000).map(|at| (b'a' + noise_at(number, at)) as char).collect::<String>();
    fixture.write("a", noise(1));
    fixture.commit_all();
    let first = fetched();
    assert!((5_000..100_000).contains(&first), "{first}");
    assert_eq!(fetched(), 0, "nothing is new");
    fixture.write("b", noise(2));
    fixture.commit_all();
    let second = fetched();
    assert!(second > 5_000 && second < first * 3 / 2, "what was there before counts again: {first}, {second}");
}

fn noise_at(number: u64, at: u64) -> u8 {
    (blake3::hash(&[number.to_le_bytes(), at.to_le_bytes()].concat()).as_bytes()[0]) % 26
}

#[test]
fn missing_things_are_named() {
    let fixture = Fixture::repository();
    let sources = GitSources::new(open_settings(&fixture));
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("no commit");
    assert_eq!(error.kind, ErrorKind::NotFound, "{error:?}");
    fixture.write("a", "1");
    fixture.commit_all();
    let options = ReadOptions { branch: Some("nope".to_owned()), ..ReadOptions::default() };
    let error = sources.open(&url(&fixture), &options).err().expect("no branch");
    assert_eq!((error.kind, cause(&error).as_str()), (ErrorKind::NotFound, "the remote has no branch `nope`"));
    let gone = Source::Url { url: format!("file://{}/gone", fixture.path()) };
    assert_eq!(sources.head(&gone, &ReadOptions::default()).expect_err("gone").kind, ErrorKind::NotFound);
}

#[test]
fn nothing_is_reached_without_the_setting() {
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
    assert!(!fixture.clones().exists(), "nothing was made");
}

#[test]
fn malformed_objects_are_refused_and_thrown_away() {
    let fixture = Fixture::repository();
    let blob = fixture.git_with_input(&["hash-object", "-w", "--stdin"], b"x");
    let blob = String::from_utf8(blob).expect("text");
    let mut tree = b"100644 .git\0".to_vec();
    let digits = blob.trim().as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("hex"));
    tree.extend(digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex")));
    let id = fixture.git_with_input(&["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &tree);
    let commit = fixture.git(&["commit-tree", "-m", "bad", String::from_utf8(id).expect("text").trim()]);
    fixture.git(&["update-ref", "refs/heads/main", String::from_utf8(commit).expect("text").trim()]);
    let sources = GitSources::new(open_settings(&fixture));
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error:?}");
    assert!(!sources.clone_directory(url(&fixture).location()).exists());
}

#[test]
fn a_remote_that_sends_too_much_is_stopped() {
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
    let mut settings = open_settings(&fixture);
    settings.limits.max_fetch_bytes = 1_000_000;
    let sources = GitSources::new(settings);
    let error = sources.open(&url(&fixture), &ReadOptions::default()).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error:?}");
    assert!(!sources.clone_directory(url(&fixture).location()).exists());
}

/// Answers every request with `response` and reports the lines of each.
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
fn redirects_are_not_followed_and_tokens_stay_at_home() {
    let fixture = Fixture::repository();
    let (inner, reached) = serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned());
    let location = format!("http://127.0.0.1:{inner}/a/b/info/refs?service=git-upload-pack");
    let redirect =
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let (outer, requests) = serve(redirect);
    let mut settings = open_settings(&fixture);
    // A variable that the test runner always sets stands for one that holds a token.
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
fn a_remote_that_hangs_is_given_up() {
    let fixture = Fixture::repository();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listener");
    let port = listener.local_addr().expect("address").port();
    let mut settings = open_settings(&fixture);
    settings.limits.fetch_timeout = Duration::from_millis(700);
    let started_at = Instant::now();
    let source = Source::Url { url: format!("http://127.0.0.1:{port}/a/b") };
    let error = GitSources::new(settings).head(&source, &ReadOptions::default()).expect_err("given up");
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    assert!(started_at.elapsed() < Duration::from_secs(20));
}
