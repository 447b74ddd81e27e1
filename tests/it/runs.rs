//! Tests of cancelled runs, of two runs at the same time, and of copied or damaged index directories.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cairn_domain::{Lane, RepositoryName, Source, Tenant};
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, RepositoryRecord, Requests};
use serde_json::{Value, json};

use cairn_testkit::work_tree::{commit, repository, write};

use crate::harness::{Index, fresh_fingerprint};

const DEADLINE: Duration = Duration::from_secs(120);

fn write_many(root: &Path, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let mut text = format!("class Worker{number}:\n");
        for method in 0..12 {
            text.push_str(&format!(
                "    def step_{method}(self, value):\n        return self.step_0(value + {method})\n\n"
            ));
        }
        write(root, &format!("app/part_{}/worker_{number}.py", number % 20), text);
    }
}

fn start_index(index: &Index, root: &Path) -> Child {
    let mut command = index.command(&["index", &root.to_string_lossy(), "--name", "r", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits until a run is in progress. Returns false if the process ends before that.
fn is_in_mid_run(index: &Index, child: &mut Child) -> bool {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < DEADLINE, "no run began before the deadline");
        let status = index.json(&["status"]);
        if status["runs_in_progress"].as_array().is_some_and(|runs| !runs.is_empty()) {
            return true;
        }
        if child.try_wait().expect("a state").is_some() {
            return false;
        }
    }
}

/// Repeats an index call with an increasing number of files until the action is executed during the run.
fn in_mid_run(index: &Index, root: &Path, mut act: impl FnMut(&Index, &Child) -> bool) -> Output {
    let mut num_files = 100;
    loop {
        write_many(root, 0..num_files);
        write(root, "state.py", format!("state = {num_files}\n"));
        commit(root, &format!("{num_files} files"));
        let mut child = start_index(index, root);
        let acted = is_in_mid_run(index, &mut child) && act(index, &child);
        let output = child.wait_with_output().expect("the program ends");
        if acted {
            return output;
        }
        num_files *= 3;
        assert!(num_files < 10_000, "every run ended before the action");
    }
}

#[test]
fn cancelled_run_leaves_the_old_generation() {
    let directory = repository();
    let root = directory.path();
    write(root, "first.py", "def first():\n    return 1\n");
    commit(root, "first");
    for by_signal in [false, true] {
        let index = Index::new();
        index.index(root);
        let mut before = index.fingerprint();
        let output = in_mid_run(&index, root, |index, child| {
            if by_signal {
                let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
                kill.expect("kill starts").success()
            } else {
                let cancelled = index.json(&["runs", "cancel", "r"]);
                cancelled["cancelled"].as_array().is_some_and(|runs| !runs.is_empty())
            }
        });
        let newest = index.json(&["runs", "--limit", "2"])["runs"].clone();
        if newest[0]["state"] != "cancelled" {
            // The signal arrived after the run was published.
            assert!(by_signal, "{newest}");
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(index.json(&["status"])["runs_in_progress"], serde_json::json!([]));
        // If index calls ended before the action could be executed, their runs were published, and the last
        // of these runs is the published state.
        if newest[1]["state"] == "published" && index.fingerprint() != before {
            before = index.fingerprint();
        }
        assert_eq!(index.fingerprint(), before);
        index.index(root);
        assert_eq!(index.fingerprint(), fresh_fingerprint(root));
    }
}

#[test]
fn two_processes_may_index_at_once() {
    let directory = repository();
    let root = directory.path();
    write_many(root, 0..60);
    commit(root, "first");
    let other = repository();
    write_many(other.path(), 100..140);
    commit(other.path(), "other");
    let index = Index::new();
    let of_other = index
        .command(&["index", &other.path().to_string_lossy(), "--name", "other", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let children = [start_index(&index, root), start_index(&index, root), start_index(&index, root), of_other];
    for child in children {
        let output = child.wait_with_output().expect("the program ends");
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{reported} {}", String::from_utf8_lossy(&output.stdout));
    }
    let ours = index.json(&["fingerprint", "--repo", "r"])["fingerprints"][0]["kinds"].clone();
    assert_eq!(ours, fresh_fingerprint(root));
    assert_eq!(index.json(&["repos"])["repositories"].as_array().map(Vec::len), Some(2));
    assert!(index.run(&["doctor"]).status.success());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

#[test]
fn copied_index_can_be_opened() {
    let directory = repository();
    let root = directory.path();
    write_many(root, 0..20);
    commit(root, "first");
    let index = Index::new();
    index.index(root);
    let elsewhere = Index::new();
    copy(index.path(), elsewhere.path());
    let before = index.fingerprint();
    drop(index);
    assert_eq!(elsewhere.fingerprint(), before);
    let found = elsewhere.json(&["search", "Worker7", "--repo", "r"]);
    assert_eq!(found["results"][0]["path"], "app/part_7/worker_7.py");
    assert!(elsewhere.ok(&["show", "r", "app/part_7/worker_7.py:1"]).contains("class Worker7"));
    write(root, "app/part_7/worker_7.py", "class Replaced:\n    pass\n");
    let again = elsewhere.index(root);
    assert_eq!(again["result"]["files_parsed"], 1);
    assert_eq!(elsewhere.fingerprint(), fresh_fingerprint(root));
}

/// The files of the index, each with its kind. The kind is the folder of the file, or the file name.
fn stored(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let relative = path.strip_prefix(folder).expect("inside").to_path_buf();
            let parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let kind = if parts[0] == "artifacts" { parts[1].clone() } else { parts[0].clone() };
            files.push((kind, relative));
        }
    }
    files.sort();
    files
}

fn damage(path: &Path, how: &str) {
    let bytes = fs::read(path).expect("a file");
    match how {
        "gone" => fs::remove_file(path).expect("removed"),
        "torn" => fs::write(path, &bytes[..bytes.len() / 2]).expect("written"),
        _ => {
            let mut bytes = bytes;
            let middle = bytes.len() / 2;
            bytes[middle..].iter_mut().take(64).for_each(|byte| *byte ^= 0x5a);
            fs::write(path, bytes).expect("written");
        }
    }
}

/// Runs the commands that read the index, checks that none of them crashes, and returns their outputs.
fn ask_everything(index: &Index) -> Vec<Output> {
    let commands: [&[&str]; 7] = [
        &["search", "Worker7 step", "--repo", "r"],
        &["show", "r", "app/part_7/worker_7.py"],
        &["coverage", "r"],
        &["graph", "callers", "Worker7.step_0"],
        &["secrets", "r"],
        &["fingerprint"],
        &["doctor"],
    ];
    let outputs: Vec<Output> = commands.iter().map(|command| index.run(command)).collect();
    for (command, output) in commands.iter().zip(&outputs) {
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 100), "{command:?}: {:?} {reported}", output.status);
        assert!(!reported.contains("panicked"), "{command:?}: {reported}");
    }
    outputs
}

fn reported(output: &Output) -> String {
    [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat()
}

/// Damages every file of a kind in a copy of an undamaged index. After that, executes the remedy that the
/// program prints, and checks that the index is complete again.
fn check_damage(sound: &Index, before: &Value, root: &Path, kind: &str, files: &[PathBuf], how: &str) {
    let index = Index::new();
    copy(sound.path(), index.path());
    for file in files {
        damage(&index.path().join(file), how);
    }
    let outputs = ask_everything(&index);
    let doctor = outputs.last().expect("an answer");
    let printed: String = outputs.iter().filter(|output| !output.status.success()).map(reported).collect();
    let noticed = !doctor.status.success();
    let root = root.to_string_lossy();
    if printed.contains("index directory") {
        fs::remove_dir_all(index.path()).expect("removed");
        index.ok(&["index", &root, "--name", "r"]);
    } else if printed.contains("cairn index --rebuild") {
        index.ok(&["index", "--rebuild", "r"]);
    } else if printed.contains("delete it") {
        for file in files {
            fs::remove_file(index.path().join(file)).expect("removed");
        }
    } else {
        // If no command reports an error, no data may be missing, and the next run must succeed.
        assert!(!noticed, "{kind} {how}: no remedy in {printed}");
        assert_eq!(index.fingerprint(), *before, "{kind} {how}: records are missing without an error");
        index.ok(&["index", &root, "--name", "r"]);
    }
    assert_eq!(index.fingerprint(), *before, "{kind} {how}: the index is incomplete after the remedy");
    assert!(index.run(&["doctor"]).status.success(), "{kind} {how}: the index is incomplete after the remedy");
}

#[test]
fn every_kind_of_damage_has_a_remedy_that_works() {
    let directory = repository();
    let root = directory.path();
    write_many(root, 0..20);
    write(root, "config.yaml", "name: x\n");
    commit(root, "first");
    let index = Index::new();
    index.index(root);
    let before = index.fingerprint();
    // This command opens and closes the databases, which merges their log files. Without this step, the log
    // files could repair a damaged database.
    index.ok(&["doctor"]);
    let files = stored(index.path());
    let mut kinds: Vec<&String> = files.iter().map(|(kind, _)| kind).collect();
    kinds.dedup();
    assert!(kinds.len() > 9, "{kinds:?}");
    // The test does not damage `.gitignore`, `-shm` and `-wal` files. No answer depends on these files: only
    // git reads `.gitignore`, and only SQLite reads the other files, which it writes again.
    for kind in
        kinds.into_iter().filter(|kind| *kind != ".gitignore" && !kind.contains("-shm") && !kind.contains("-wal"))
    {
        let of_kind: Vec<PathBuf> =
            files.iter().filter(|(other, _)| other == kind).map(|(_, path)| path.clone()).collect();
        for how in ["torn", "flipped", "gone"] {
            // No command except `doctor` reads the whole cache of vectors.
            if kind == "vectors.db" && how == "torn" {
                let copy = Index::new();
                self::copy(index.path(), copy.path());
                damage(&copy.path().join(kind), how);
                let output = copy.run(&["doctor"]);
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(!output.status.success() && printed.contains("`vectors.db`"), "{printed}");
            }
            // Without its catalogue, the index is empty, so no missing data can be detected.
            if kind == "cairn.db" && how == "gone" {
                continue;
            }
            check_damage(&index, &before, root, kind, &of_kind, how);
        }
    }
}

/// Makes all manifests older than the age at which the sweep may delete them.
fn age_manifests(home: &Path) {
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    for (_, path) in stored(home).into_iter().filter(|(kind, _)| kind == "manifests") {
        let file = File::options().write(true).open(home.join(path)).expect("opened");
        file.set_modified(hour_ago).expect("changed");
    }
}

#[test]
fn many_changes_within_the_grace_period_are_swept() {
    let (index, root) = (Index::new(), tempfile::tempdir().expect("a directory"));
    for number in 0..5 {
        fs::write(root.path().join("changing.py"), format!("NUMBER = {number}\n")).expect("written");
        let _indexed = index.index(root.path());
        age_manifests(index.path());
    }
    // After this change, the next run also executes the sweep that normally runs once per grace period.
    fs::write(index.path().join("swept"), "0\n").expect("written");
    fs::write(root.path().join("changing.py"), "NUMBER = 5\n").expect("written");
    let indexed = index.index(root.path());
    assert_eq!(indexed["result"]["files_parsed"], 1, "{indexed}");
}

/// Registers two repositories whose syncs began no run: one sync is pending, and the other sync has failed.
fn with_syncs_that_began_no_run(home: &Path) {
    let runs = Metastore::new(Arc::new(LocalStore::open(home).expect("a store")));
    let record = |name: &str| {
        let source = Source::Url { url: format!("https://{name}.git") };
        RepositoryRecord::new(Tenant::local(), RepositoryName::new(name), source)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for name in ["host/team/waits", "host/team/gone"] {
            runs.register(record(name)).await.expect("registered");
            let request = runs.ask(record(name).id, Lane::Bulk, false, 1).await.expect("asked");
            if name.ends_with("gone") {
                let failure =
                    Some((cairn_domain::FailureCode::NotFound, "source: the host has no such repository".to_owned()));
                runs.answer(record(name).id, request, failure, 2).await.expect("answered");
            }
        }
    });
}

#[test]
fn failed_sync_without_a_run_is_listed_with_runs() {
    let index = Index::new();
    index.ok(&["status"]);
    with_syncs_that_began_no_run(index.path());
    let reported = |arguments: &[&str]| {
        let output = index.run(arguments);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let failed = "host/team/gone the last sync failed at 1970-01-01T00:00:00Z (not_found: source: the host has no such \
                  repository)";
    let gone = reported(&["runs", "--repo", "gone"]);
    assert!(gone.contains("no runs exist") && gone.contains(failed) && !gone.contains("requested"), "{gone}");
    let waits = reported(&["runs", "--repo", "waits"]);
    assert!(waits.contains("host/team/waits a sync was requested") && !waits.contains("failed"), "{waits}");
    let all = reported(&["runs"]);
    assert!(all.contains(failed) && all.contains("host/team/waits"), "{all}");
    let syncs = index.json(&["runs", "--repo", "gone"])["syncs"].clone();
    assert_eq!((&syncs[0]["repository"], &syncs[0]["pending_sync"]), (&json!("host/team/gone"), &json!(null)));
}
