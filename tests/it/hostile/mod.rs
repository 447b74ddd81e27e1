//! Files made to hurt a parser: each ends within its bounds and is listed with what became of it; the run goes on, and
//! the files beside them are found.

mod processes;
mod shapes;

use std::collections::BTreeMap;
use std::time::Instant;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::Value;

use self::processes::Watched;
use self::shapes::{ATTACKED, Attacked, Shape, shapes};
use crate::harness::{Index, commit, is_soak, repository, seed, write};

/// What a file's parser may take.
const MOST_MIB: f64 = 512.0;
/// What a file's parsers may take of a processor.
const MOST_SECONDS: f64 = 5.0;

/// Files of each language in a short run.
const SHORT: usize = 3;

const GOOD: [(&str, &str); 2] = [
    ("good.py", "def sound_neighbour():\n    return 1\n"),
    ("src/good.rs", "pub fn second_neighbour() -> u32 {\n    7\n}\n"),
];

/// The outcomes that a hostile file may have: it is in the index, as facts or as text, or was skipped for a reason.
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
    for (path, text) in GOOD {
        write(directory.path(), path, text);
    }
    commit(directory.path(), "hostile");
    let index = Index::new();
    let watched = Watched::run(index.command(&["index", &directory.path().to_string_lossy(), "--name", "r", "--json"]));
    let outcomes = check_listed(&index, &watched.answer(), &paths);
    println!("{outcomes:#?}");
    assert!(watched.num_children > 0 && watched.child_mib <= MOST_MIB, "{} MiB in a child", watched.child_mib);
    good_files_are_found(&index);
}

/// Each file alone in a repository with good ones: prints outcome, seconds and MiB of every file.
#[test]
fn each_hostile_file_is_measured() {
    if !is_soak() {
        return;
    }
    println!(
        "{:<34} {:<24} {:>8} {:>8} {:>8} {:>10} {:>8}",
        "file", "outcome", "cpu s", "parse s", "run s", "parse MiB", "run MiB"
    );
    let mut faults = Vec::new();
    for language in &ATTACKED {
        for shape in shapes(language) {
            faults.extend(measure(language, &shape));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// What exceeds the bounds, if anything does.
fn measure(language: &Attacked, shape: &Shape) -> Option<String> {
    let directory = repository();
    let path = format!("{}.{}", shape.name, language.extension);
    write(directory.path(), &path, &shape.text);
    for (path, text) in GOOD {
        write(directory.path(), path, text);
    }
    commit(directory.path(), "hostile");
    let index = Index::new();
    let started = Instant::now();
    let watched = Watched::run(index.command(&["index", &directory.path().to_string_lossy(), "--name", "r", "--json"]));
    let run_seconds = started.elapsed().as_secs_f64();
    let answer = watched.answer();
    let outcomes = check_listed(&index, &answer, std::slice::from_ref(&path));
    good_files_are_found(&index);
    let durations = answer["result"]["durations"].as_array().expect("durations");
    let parse = durations.iter().find(|duration| duration["stage"] == "parse").expect("parse");
    let parse_seconds = parse["duration_ms"].as_f64().expect("a number") / 1000.0;
    println!(
        "{path:<34} {:<24} {:>8.2} {parse_seconds:>8.2} {run_seconds:>8.2} {:>10.0} {:>8.0}",
        outcomes[&path], watched.child_seconds, watched.child_mib, watched.program_mib
    );
    let too_slow = watched.child_seconds > MOST_SECONDS;
    let too_large = watched.child_mib > MOST_MIB || watched.program_mib > MOST_MIB;
    (too_slow || too_large).then(|| format!("{path}: {} s, {} MiB", watched.child_seconds, watched.child_mib))
}
