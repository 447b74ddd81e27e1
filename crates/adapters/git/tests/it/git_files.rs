//! Checks that git's own files are read within limits, and that a file that cannot be used is reported.

use std::fs;
use std::io::Write;
use std::path::Path;

use cairn_domain::{Revision, Source};
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ErrorKind, ReadOptions, SourceReader};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::support::{Fixture, cause, find, make_pipe, paths, remote_settings, url};

fn committed() -> Fixture {
    let fixture = Fixture::repository();
    fixture.write("a.py", "x = 1\n");
    fixture.commit_all();
    fixture
}

/// The reason why a file of git cannot be used, in the listing of this source.
fn reason(fixture: &Fixture, source: &Source, file: &str) -> String {
    let tree = fixture.open(source).expect("open");
    assert!(paths(tree.as_ref()).contains(&"a.py"));
    find(tree.as_ref(), file).unreadable.clone().expect("a reason")
}

#[test]
fn unusable_lists_of_git_are_reported() {
    type Make = fn(&Path);
    let kinds: [(Make, &str); 4] = [
        (make_pipe, "is not a regular file"),
        (|path| fs::create_dir_all(path).expect("a directory"), "is not a regular file"),
        (|path| fs::File::create(path).and_then(|file| file.set_len(1 << 40)).expect("a file"), "has more than"),
        (|path| fs::write(path, "# comment\n/nonexistent/objects\n").expect("a file"), "line 2 is not the path"),
    ];
    for (file, effect, kinds) in [
        ("shallow", "the times at which files were changed are missing", &kinds[..3]),
        ("objects/info/alternates", "objects may be missing", &kinds[..]),
    ] {
        for (make, why) in kinds {
            let fixture = committed();
            let path = fixture.repo.join(".git").join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            make(&path);
            for source in [fixture.work_tree(), fixture.bare()] {
                let found = reason(&fixture, &source, &format!(".git/{file}"));
                assert!(found.contains(effect) && found.contains(why), "{source:?}: {found}");
            }
        }
    }
}

#[test]
fn usable_lists_of_git_are_not_reported() {
    let (fixture, other) = (committed(), committed());
    let alternates = fixture.repo.join(".git/objects/info/alternates");
    fs::write(alternates, format!("\n# comment\n{}/.git/objects\n", other.path())).expect("written");
    fs::write(fixture.repo.join(".git/shallow"), format!("{}\n", fixture.head())).expect("written");
    for source in [fixture.work_tree(), fixture.bare()] {
        assert_eq!(paths(fixture.open(&source).expect("open").as_ref()), ["a.py"]);
    }
}

/// Tracked files that an ignore rule hides are known only from the index.
#[test]
fn index_of_each_version_is_read() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", "*.log\n");
    for number in 0..300 {
        fixture.write(format!("d{}/{}/f{number}.log", number % 7, "long".repeat(number % 50)), format!("{number}\n"));
    }
    fixture.git(&["add", "--force", "--all"]);
    fixture.git(&["commit", "--quiet", "-m", "change"]);
    let first = fixture.open(&fixture.work_tree()).expect("open");
    assert_eq!(first.entries().len(), 301);
    let index = fixture.repo.join(".git/index");
    for version in [2, 3, 4] {
        // The extended flags of a file need version 3.
        let extended = if version == 2 { "--no-skip-worktree" } else { "--skip-worktree" };
        fixture.git(&["update-index", "--index-version", if version == 4 { "4" } else { "2" }]);
        fixture.git(&["update-index", extended, ".gitignore"]);
        assert_eq!(fs::read(&index).expect("an index")[7], version);
        let tree = fixture.open(&fixture.work_tree()).expect("open");
        assert_eq!(tree.entries(), first.entries(), "version {version}");
        assert!(matches!(tree.revision(), Revision::WorkTree { dirty: false, .. }), "version {version}");
    }
}

/// In version 4, each path is stored as its difference from the path before.
#[test]
fn index_that_expands_to_gigabytes_is_refused() {
    let fixture = committed();
    let mut index = b"DIRC\0\0\0\x04".to_vec();
    let num_paths: u32 = 500_000;
    index.extend(num_paths.to_be_bytes());
    for number in 0..num_paths {
        let mut entry = [0; 62];
        entry[24..28].copy_from_slice(&0o100_644_u32.to_be_bytes());
        entry[60..].copy_from_slice(&0xfff_u16.to_be_bytes());
        index.extend(entry);
        let prefix = if number == 0 { "d/".repeat(2_000) } else { String::new() };
        index.push(if number == 0 { 0 } else { 6 });
        index.extend(format!("{prefix}{number:06}\0").bytes());
    }
    // Git writes no checksum if `index.skipHash` is set.
    index.extend([0; 20]);
    assert!(index.len() < 40 << 20, "{}", index.len());
    fs::write(fixture.repo.join(".git/index"), &index).expect("written");
    drop(index);
    let why = reason(&fixture, &fixture.work_tree(), ".git/index");
    assert!(why.contains("bytes of paths; the limit is 128000000"), "{why}");
    let status = fs::read_to_string("/proc/self/status").expect("this process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak_kib < 400 << 10, "{peak_kib} KiB");
}

/// A loose object of a few megabytes can unpack to gigabytes, so its header is checked before it is unpacked.
#[test]
fn commit_with_a_huge_stated_size_is_not_unpacked() {
    let fixture = committed();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"commit 99999999999\0tree ").expect("compressed");
    let id = "1234567890123456789012345678901234567890";
    let object = fixture.repo.join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::create_dir_all(object.parent().expect("a parent")).expect("created");
    fs::write(object, encoder.finish().expect("compressed")).expect("written");
    fs::write(fixture.repo.join(".git/refs/heads/main"), format!("{id}\n")).expect("written");
    let error = fixture.open(&fixture.bare()).err().expect("unreadable");
    assert!(cause(&error).contains("is too large"), "{}", cause(&error));
    let why = reason(&fixture, &fixture.work_tree(), ".git/HEAD");
    assert!(why.contains("is too large"), "{why}");
}

#[test]
fn read_of_a_stopped_sync_ends() {
    let fixture = committed();
    let sources = GitSources::new(GitSettings { clones: fixture.clones(), ..remote_settings(&fixture) });
    for source in [fixture.work_tree(), fixture.bare(), fixture.plain(), url(&fixture)] {
        let options = ReadOptions::default();
        drop(sources.open(&source, &options).expect("open"));
        options.meter.stop();
        let error = sources.open(&source, &options).err().expect("stopped");
        assert_eq!(error.kind, ErrorKind::Cancelled, "{source:?}: {}", cause(&error));
    }
}
