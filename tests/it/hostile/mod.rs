//! Tests with hostile files, which attack a parser or a later stage. A run with such a file must end within
//! its limits and list the outcome of the file. The other files of the repository must be found.

mod names;
pub(crate) mod processes;
mod shapes;

use std::collections::BTreeMap;
use std::path::Path;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde_json::Value;

use self::names::names;
use self::processes::Watched;
use self::shapes::{ATTACKED, SIZE, Shape, shapes};
use cairn_testkit::work_tree::{commit, repository, write};

use crate::harness::{Index, is_soak, seed};

/// Memory limit of the program and of each of its children.
const MOST_MIB: f64 = 512.0;
/// Limit for the processor time of the program and its children. The limit applies to one file of up to a
/// megabyte in an optimised build.
const MOST_SECONDS: f64 = 5.0;

/// Number of hostile files of each language in a short run.
const SHORT: usize = 3;
/// Number of texts from `names` that a short run indexes, and their size. This size is large enough to reveal
/// quadratic time.
const SHORT_NAMES: usize = 5;
const SHORT_SIZE: usize = 300_000;

const GOOD: [(&str, &str); 2] = [
    ("good.py", "def sound_neighbour():\n    return 1\n"),
    ("src/good.rs", "pub fn second_neighbour() -> u32 {\n    7\n}\n"),
];

/// The permitted outcomes of a hostile file. Such a file is indexed as facts or as text, or it is skipped for
/// a reason.
const OUTCOMES: [&str; 7] = [
    "indexed",
    "indexed(no_parser)",
    "indexed(parse_timeout)",
    "indexed(parse_crash)",
    "skipped(binary)",
    "skipped(not_utf8)",
    "skipped(generated)",
];

fn outcomes(index: &Index) -> BTreeMap<String, String> {
    let coverage = index.json(&["coverage", "r"]);
    let text = |entry: &Value, key: &str| entry[key].as_str().expect("a text").to_owned();
    let entries = coverage["entries"].as_array().expect("entries");
    entries.iter().map(|entry| (text(entry, "path"), text(entry, "outcome"))).collect()
}

fn good_files_are_found(index: &Index) {
    for (name, path) in [("sound_neighbour", "good.py"), ("second_neighbour", "src/good.rs")] {
        let found = index.json(&["search", name, "--repo", "r"]);
        assert_eq!(found["results"][0]["path"], path, "{found}");
    }
}

fn check_listed(index: &Index, indexed: &Value, paths: &[String]) -> BTreeMap<String, String> {
    assert_eq!(indexed["state"], "published", "{indexed}");
    assert_eq!(indexed["result"]["num_errors"], 0, "{indexed}");
    let outcomes = outcomes(index);
    assert_eq!(outcomes.len(), paths.len() + GOOD.len());
    for path in paths {
        let outcome = outcomes.get(path).map(String::as_str);
        assert!(outcome.is_some_and(|outcome| OUTCOMES.contains(&outcome)), "{path}: {outcome:?}");
        let why = index.json(&["coverage", "r", "--why", path]);
        assert_eq!(why["outcome"].as_str(), outcome);
        assert!(why["explanation"].as_str().is_some_and(|text| !text.is_empty()), "{why}");
    }
    assert!(GOOD.iter().all(|(path, _)| outcomes[*path] == "indexed"), "{outcomes:?}");
    outcomes
}

#[test]
fn hostile_files_are_bounded_and_listed() {
    let mut random = StdRng::seed_from_u64(seed());
    let directory = repository();
    let mut paths = Vec::new();
    for language in &ATTACKED {
        let all = shapes(language);
        assert!(all.len() >= 30, "{}: {} shapes", language.extension, all.len());
        for shape in all.sample(&mut random, SHORT) {
            let path = format!("{}.{}", shape.name, language.extension);
            write(directory.path(), &path, &shape.text);
            paths.push(path);
        }
    }
    let (index, watched) = run(directory.path());
    let outcomes = check_listed(&index, &watched.answer(), &paths);
    println!("{outcomes:#?}");
    assert!(watched.num_children > 0 && watched.child_mib <= MOST_MIB, "{} MiB in a child", watched.child_mib);
    good_files_are_found(&index);
}

/// Indexes a few of the texts from `names`. Each text is the only hostile file in a repository with the files
/// in `GOOD`.
#[test]
fn run_with_a_hostile_file_is_bounded() {
    let mut random = StdRng::seed_from_u64(seed());
    let mut all = names(SHORT_SIZE);
    all.shuffle(&mut random);
    let faults: Vec<String> =
        all.iter().take(SHORT_NAMES).filter_map(|(path, text)| measure(path, text.as_bytes())).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Indexes each hostile file alone in a repository with good files, and prints its outcome, seconds and MiB.
/// After that, indexes all files in one repository.
#[test]
fn cost_of_each_hostile_file_is_printed() {
    if !is_soak() {
        return;
    }
    println!("{:<34} {:<24} {:>8} {:>8} {:>10} {:>8}", "file", "outcome", "parse s", "run s", "parse MiB", "run MiB");
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for language in &ATTACKED {
        let named = |shape: Shape| (format!("{}.{}", shape.name, language.extension), shape.text);
        files.extend(shapes(language).into_iter().map(named));
    }
    files.extend(names(SIZE).into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())));
    let mut faults: Vec<String> = files.iter().filter_map(|(path, text)| measure(path, text)).collect();
    let directory = repository();
    for (path, text) in &files {
        write(directory.path(), path, text);
    }
    let (index, watched) = run(directory.path());
    let paths: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
    check_listed(&index, &watched.answer(), &paths);
    println!("all {} files: {:.2} s, {:.0} MiB", paths.len(), watched.seconds(), watched.program_mib);
    if watched.seconds() > MOST_SECONDS * paths.len() as f64 {
        faults.push(format!("all files: {:.2} s", watched.seconds()));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Adds the files in `GOOD` to a repository and indexes the repository.
fn run(repository: &Path) -> (Index, Watched) {
    for (path, text) in GOOD {
        write(repository, path, text);
    }
    commit(repository, "hostile");
    let index = Index::new();
    let watched = Watched::run(index.command(&["index", &repository.to_string_lossy(), "--name", "r", "--json"]));
    (index, watched)
}

/// Measures a run with one hostile file. Returns the measurements if the run exceeds a limit.
fn measure(path: &str, text: &[u8]) -> Option<String> {
    let directory = repository();
    write(directory.path(), path, text);
    let (index, watched) = run(directory.path());
    let outcomes = check_listed(&index, &watched.answer(), &[path.to_owned()]);
    good_files_are_found(&index);
    let measured = format!(
        "{path:<34} {:<24} {:>8.2} {:>8.2} {:>10.0} {:>8.0}",
        outcomes[path],
        watched.child_seconds,
        watched.seconds(),
        watched.child_mib,
        watched.program_mib
    );
    println!("{measured}");
    let too_slow = watched.seconds() > MOST_SECONDS * SLOWER;
    let too_large = watched.child_mib > MOST_MIB || watched.program_mib > MOST_MIB;
    (too_slow || too_large).then_some(measured)
}

/// Factor for the time limit of an unoptimised build on the slowest and busiest machine. Quadratic time
/// exceeds even this limit.
const SLOWER: f64 = if cfg!(debug_assertions) { 10.0 } else { 1.0 };
