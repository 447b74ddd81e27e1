//! Checks that git's own files cannot stop or block a listing, even if they are pipes, sockets, directories,
//! links to devices or huge files.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use cairn_domain::Source;
use cairn_git::{GitSources, RemotePolicy, locate, repository_name};
use cairn_ports::{ReadOptions, SourceReader};

use crate::support::{Fixture, make_pipe, remote_settings, url};

/// The longest time that a listing of a small tree may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files of git, each with a flag: whether a bare repository can be read without the file.
const FILES: &[(&str, bool)] = &[
    ("HEAD", false),
    ("commondir", false),
    ("config", true),
    ("config.worktree", true),
    ("description", true),
    ("gitdir", true),
    ("included", true),
    ("index", true),
    ("info/attributes", true),
    ("info/exclude", true),
    ("info/grafts", true),
    ("logs/HEAD", true),
    ("objects/info/alternates", true),
    ("objects/info/commit-graph", true),
    ("objects/info/commit-graphs/commit-graph-chain", true),
    ("objects/info/packs", true),
    ("objects/pack/multi-pack-index", true),
    ("objects/pack/pack-0000000000000000000000000000000000000000.idx", true),
    ("objects/pack/pack-0000000000000000000000000000000000000000.pack", true),
    ("packed-refs", true),
    ("refs/heads/main", false),
    ("refs/heads/other", true),
    ("refs/stash", true),
    ("shallow", true),
];

type Special = (&'static str, fn(&Path));

const KINDS: &[Special] = &[
    ("pipe", make_pipe),
    ("socket", |path| {
        let _gone = fs::remove_file(path);
        // The path of a socket must be short, so the socket is created under a short path and then moved.
        let short =
            std::env::temp_dir().join(format!("cairn-{}-{:?}", std::process::id(), std::thread::current().id()));
        drop(std::os::unix::net::UnixListener::bind(&short).expect("socket"));
        fs::rename(short, path).expect("moved");
    }),
    ("directory", |path| {
        let _gone = fs::remove_file(path);
        fs::create_dir_all(path.join("inside")).expect("created");
    }),
    ("link to a device", |path| {
        let _gone = fs::remove_file(path);
        std::os::unix::fs::symlink("/dev/zero", path).expect("linked");
    }),
    ("huge file", |path| {
        let _gone = fs::remove_file(path);
        fs::File::create(path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    }),
];

/// Runs the work on another thread, and fails if the work does not end.
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    receive.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}: does not end"))
}

/// A repository whose objects are in a pack, and whose configuration includes another file.
fn packed() -> Fixture {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    fixture.commit_all();
    fixture.git(&["gc", "--quiet"]);
    fixture.write("b.py", "y = 1\n");
    fixture.commit_all();
    let config = fixture.repo.join(".git/config");
    let text = fs::read_to_string(&config).expect("read");
    fs::write(&config, format!("{text}[include]\n\tpath = included\n")).expect("written");
    fixture
}

/// Replaces the repository with a new copy of `original`.
fn copy(original: &Fixture, fixture: &Fixture) {
    fs::remove_dir_all(&fixture.repo).expect("removed");
    let copied = Command::new("cp").arg("-a").args([&original.repo, &fixture.repo]).status();
    assert!(copied.expect("cp").success());
}

/// The error of the listing, or the number of `.py` files that can be read.
fn readable(fixture: &Fixture, source: &Source, what: &str) -> Result<usize, String> {
    let sources = GitSources::new(cairn_git::GitSettings::new(fixture.clones()));
    let source = source.clone();
    within(what, move || {
        let tree = sources.open(&source, &ReadOptions::default()).map_err(|error| format!("{error:?}"))?;
        let mut reader = tree.reader().map_err(|error| format!("{error:?}"))?;
        let code = tree.entries().iter().filter(|entry| entry.path.as_str().ends_with(".py"));
        Ok(code.filter(|entry| reader.read(entry).is_ok()).count())
    })
}

#[test]
fn special_files_of_git_do_not_stop_a_listing() {
    let (original, fixture) = (packed(), Fixture::repository());
    for (kind, make) in KINDS {
        for (file, is_optional) in FILES {
            copy(&original, &fixture);
            let path = fixture.repo.join(".git").join(file);
            fs::create_dir_all(path.parent().expect("parent")).expect("created");
            make(&path);
            let what = format!("{file} is a {kind}");
            let located = {
                let path = fixture.path();
                within(&what, move || {
                    locate(&path, &RemotePolicy::default()).inspect(|source| drop(repository_name(source)))
                })
            };
            assert_eq!(located.expect(&what), fixture.work_tree(), "{what}");
            assert_eq!(readable(&fixture, &fixture.work_tree(), &what), Ok(2), "{what}");
            let bare = readable(&fixture, &fixture.bare(), &what);
            assert_eq!(bare.is_ok_and(|count| count == 2), *is_optional, "{what}");
        }
    }
}

/// If the file of an object is a special file, only this object is unreadable.
#[test]
fn special_object_files_are_unreadable_objects() {
    let (original, fixture) = (packed(), Fixture::repository());
    for (kind, make) in KINDS {
        copy(&original, &fixture);
        let id = cairn_git::blob_id(b"y = 1\n").to_string();
        make(&fixture.repo.join(".git/objects").join(&id[..2]).join(&id[2..]));
        assert_eq!(readable(&fixture, &fixture.bare(), kind), Ok(1), "{kind}");
        assert_eq!(readable(&fixture, &fixture.work_tree(), kind), Ok(2), "{kind}");
        let head = fixture.head_in_file();
        make(&fixture.repo.join(".git/objects").join(&head[..2]).join(&head[2..]));
        assert!(readable(&fixture, &fixture.bare(), kind).is_err(), "{kind}");
        assert_eq!(readable(&fixture, &fixture.work_tree(), kind), Ok(2), "{kind}");
    }
}

/// If the index of a pack is a special file, only the objects of this pack are unreadable.
#[test]
fn pack_index_that_is_a_special_file_hides_only_its_objects() {
    let (original, fixture) = (packed(), Fixture::repository());
    for (kind, make) in KINDS {
        copy(&original, &fixture);
        let packs = fs::read_dir(fixture.repo.join(".git/objects/pack")).expect("packs");
        let paths = packs.map(|pack| pack.expect("an entry").path());
        for index in paths.filter(|path| path.extension().is_some_and(|extension| extension == "idx")) {
            make(&index);
        }
        assert_eq!(readable(&fixture, &fixture.bare(), kind), Ok(1), "{kind}");
        assert_eq!(readable(&fixture, &fixture.work_tree(), kind), Ok(2), "{kind}");
    }
}

/// The program `git` reads the files of the remote. If one of these files is a pipe, `git` waits until its
/// time limit ends.
#[test]
fn remote_with_a_pipe_ends_within_its_time_limit() {
    for file in ["refs/heads/main", "objects/pack/pack-0000000000000000000000000000000000000000.idx"] {
        let fixture = packed();
        make_pipe(&fixture.repo.join(".git").join(file));
        let mut settings = remote_settings(&fixture);
        settings.limits.fetch_timeout = Duration::from_secs(2);
        let (sources, source) = (GitSources::new(settings), url(&fixture));
        let _ended = within(file, move || sources.open(&source, &ReadOptions::default()).is_ok());
    }
}

/// No directory of references or of objects is walked, so the number of references does not affect the time.
#[test]
fn many_references_do_not_slow_a_listing() {
    let fixture = packed();
    let head = fixture.head();
    let folder = fixture.repo.join(".git/refs/heads/many");
    fs::create_dir_all(&folder).expect("created");
    fs::write(folder.join("0"), format!("{head}\n")).expect("written");
    for number in 1..20_000 {
        fs::hard_link(folder.join("0"), folder.join(number.to_string())).expect("linked");
    }
    let started_at = std::time::Instant::now();
    assert_eq!(readable(&fixture, &fixture.bare(), "many"), Ok(2));
    assert!(started_at.elapsed() < Duration::from_secs(2), "{:?}", started_at.elapsed());
}
