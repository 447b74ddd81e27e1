//! Tests that clones on disk are private, are swept, and cannot control git.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant, SystemTime};

use cairn_domain::Source;
use cairn_git::GitSources;
use cairn_ports::{ReadOptions, SourceReader};

use crate::support::{Fixture, paths, remote_settings, url};

#[test]
fn clones_of_unlisted_urls_are_removed() {
    let (kept, removed) = (Fixture::repository(), Fixture::repository());
    for fixture in [&kept, &removed] {
        fixture.write("a", "1");
        fixture.commit_all();
    }
    let sources = GitSources::new(remote_settings(&kept));
    let (kept, removed) = (url(&kept), url(&removed));
    let live = BTreeSet::from([kept.location().to_owned()]);
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("nothing yet"), 0);
    let open = |source: &Source| sources.open(source, &ReadOptions::default()).map(|tree| tree.entries().len());
    let clones = sources.clone_directory(kept.location()).parent().expect("a folder").to_owned();
    let files = || fs::read_dir(&clones).expect("clones").count();
    open(&kept).expect("fetched");
    let num_files = files();
    open(&removed).expect("fetched");
    assert_eq!(sources.sweep(&live, Duration::from_secs(3600)).expect("swept"), 0, "it was opened recently");
    // The sweep does not remove a clone into which a process fetches.
    let lock = fs::File::open(sources.clone_directory(removed.location()).with_extension("lock")).expect("a lock");
    lock.lock().expect("locked");
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("swept"), 0);
    lock.unlock().expect("unlocked");
    assert_eq!(sources.sweep(&live, Duration::ZERO).expect("swept"), 1);
    assert_eq!(files(), num_files, "all its files are removed");
    assert_eq!(open(&removed).expect("fetched again"), 1);
    // If the clone is removed while a thread waits for the lock of the clone, this thread creates the clone
    // again.
    let clone = sources.clone_directory(removed.location());
    let path = clone.with_extension("lock");
    let waited = std::thread::scope(|scope| {
        let lock = fs::File::options().write(true).open(&path).expect("a lock");
        lock.lock().expect("locked");
        lock.set_modified(SystemTime::UNIX_EPOCH).expect("dated");
        let waits = scope.spawn(|| open(&removed));
        let deadline = Instant::now() + Duration::from_secs(60);
        // The waiting thread opens the file, which changes its modification time.
        while lock.metadata().and_then(|now| now.modified()).expect("a time") == SystemTime::UNIX_EPOCH {
            assert!(Instant::now() < deadline, "no thread waits");
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
fn clones_are_private() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    fs::create_dir(fixture.clones()).expect("directory");
    fs::set_permissions(fixture.clones(), fs::Permissions::from_mode(0o777)).expect("opened");
    GitSources::new(remote_settings(&fixture)).open(&url(&fixture), &ReadOptions::default()).expect("fetched");
    assert_eq!(fs::metadata(fixture.clones()).expect("metadata").permissions().mode() & 0o777, 0o700);
}

#[test]
fn planted_clone_configuration_runs_no_command() {
    let fixture = Fixture::repository();
    fixture.write("a", "1");
    fixture.commit_all();
    let sources = GitSources::new(remote_settings(&fixture));
    let source = url(&fixture);
    sources.open(&source, &ReadOptions::default()).expect("fetched");
    let clone = sources.clone_directory(source.location());
    let mark = fixture.directory.path().join("mark");
    let other = Fixture::repository();
    let command = format!("touch {}; true", mark.display());
    let planted =
        format!("[core]\n\tbare = true\n\talternateRefsCommand = \"{command}\"\n\tsshCommand = \"{command}\"\n");
    fs::write(clone.join("config"), planted).expect("planted");
    fs::create_dir_all(clone.join("objects/info")).expect("folders");
    fs::write(clone.join("objects/info/alternates"), format!("{}/.git/objects\n", other.path())).expect("planted");
    fs::create_dir_all(clone.join("hooks")).expect("folders");
    fs::write(clone.join("hooks/reference-transaction"), format!("#!/bin/sh\n{command}\n")).expect("planted");
    let hook = clone.join("hooks/reference-transaction");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).expect("executable");
    fixture.write("b", "2");
    fixture.commit_all();
    let tree = sources.open(&source, &ReadOptions::default()).expect("fetched");
    assert_eq!(paths(tree.as_ref()), ["a", "b"]);
    assert!(!mark.exists(), "a planted command ran");
    assert!(!clone.join("objects/info/alternates").exists() && !clone.join("hooks").exists());
    let config = fs::read_to_string(clone.join("config")).expect("config");
    assert!(!config.contains("Command"), "{config}");
}
