//! Asks another build of `cairn` the same questions, over its command line.
//!
//! The other build may be older, so only options and fields that all versions have are used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::Context;
use cairn_domain::Digester;
use serde::Deserialize;

use crate::ask::{CANDIDATES, Ranked};
use crate::grade::Shown;
use crate::index::{command, home, index, short};

/// The maximum number of tokens of an answer. It is large enough for all results.
const MAX_TOKENS: &str = "10000000";
/// The exit codes of an answer: results, an invalid question, and no results.
const ANSWERED: [i32; 3] = [0, 2, 3];

/// Another build of `cairn`, and its own index of the sources.
pub(crate) struct ComparedProgram {
    program: PathBuf,
    home: PathBuf,
    /// The name of each repository by the folder of its sources.
    names: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RepositoryNames {
    repositories: Vec<NamedSource>,
}

#[derive(Deserialize)]
struct NamedSource {
    name: String,
    source: String,
}

/// An answer to `search --json`. An error has no results.
#[derive(Deserialize)]
struct SearchOutput {
    #[serde(default)]
    results: Vec<ShownResult>,
    error: Option<ShownError>,
}

#[derive(Deserialize)]
struct ShownResult {
    #[serde(flatten)]
    place: ShownPlace,
    #[serde(default)]
    also_at: Vec<ShownPlace>,
}

#[derive(Deserialize)]
struct ShownPlace {
    repository: String,
    path: String,
    start_line: u32,
    end_line: u32,
}

#[derive(Deserialize)]
struct ShownError {
    code: String,
    message: String,
}

impl ComparedProgram {
    /// Indexes the sources with the program. Each build has its own folder in the cache, because one build
    /// may be unable to read the index of another build.
    pub(crate) fn index(program: &Path, cache: &Path, sources: &[PathBuf]) -> anyhow::Result<Self> {
        let program = program.canonicalize().with_context(|| format!("finding {}", program.display()))?;
        let build = std::fs::read(&program).with_context(|| format!("reading {}", program.display()))?;
        let build = short(&Digester::new("compared program").bytes(&build));
        let home = home(&cache.join("compared").join(&build), sources);
        std::fs::create_dir_all(&home).with_context(|| format!("creating {}", home.display()))?;
        eprintln!("comparing with {} ({build})", program.display());
        for source in sources {
            index(&program, &home, source)?;
        }
        let mut compared = Self { program, home, names: BTreeMap::new() };
        let listed = run(compared.command().arg("repos"))?;
        let listed: RepositoryNames = parsed(&listed)?;
        compared.names = listed.repositories.into_iter().map(|known| (known.source, known.name)).collect();
        Ok(compared)
    }

    /// The name of the repository that was indexed from the folder.
    pub(crate) fn name_of(&self, source: &Path) -> anyhow::Result<String> {
        let name = source.to_str().and_then(|source| self.names.get(source));
        name.cloned().with_context(|| format!("the compared program has not indexed {}", source.display()))
    }

    /// Asks one question over the command line (see `AnswerSource`). A question that the program refuses has
    /// no results.
    pub(crate) fn ask(&self, text: &str, within: Option<&str>, about: &str) -> anyhow::Result<Ranked> {
        let limit = CANDIDATES.to_string();
        let started = Instant::now();
        let mut search = self.command();
        search.args(["search", "--limit", &limit, "--max-tokens", MAX_TOKENS]);
        search.args(["--repo", within.unwrap_or("all"), "--", text]);
        let output = run(&mut search)?;
        let took = started.elapsed();
        let answer: SearchOutput = parsed(&output).with_context(|| format!("asking `{text}`"))?;
        if let Some(ShownError { code, message }) = answer.error {
            let is_answer = ["not_found", "validation_error"].contains(&code.as_str());
            anyhow::ensure!(is_answer, "asking `{text}` failed: {message}");
        }
        let results = answer.results.into_iter().map(|result| places(result, about)).collect();
        Ok(Ranked { results, score: None, took })
    }

    /// A command that runs the program in a folder that belongs to no repository.
    fn command(&self) -> Command {
        let mut command = command(&self.program, &self.home);
        command.arg("--json").current_dir(&self.home);
        command
    }
}

fn run(command: &mut Command) -> anyhow::Result<Output> {
    let output = command.output().with_context(|| format!("starting {}", command.get_program().display()))?;
    let is_answer = output.status.code().is_some_and(|code| ANSWERED.contains(&code));
    let message = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(is_answer, "the compared program failed ({}): {message}", output.status);
    Ok(output)
}

fn parsed<'a, T: Deserialize<'a>>(output: &'a Output) -> anyhow::Result<T> {
    let message = || format!("reading the output of the program: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(message)
}

/// The places of a result that are in the repository.
fn places(result: ShownResult, about: &str) -> Vec<Shown> {
    let all = [result.place].into_iter().chain(result.also_at);
    let is_wanted = |place: &ShownPlace| place.repository == about;
    let shown = |place: ShownPlace| Shown { path: place.path, first: place.start_line, last: place.end_line };
    all.filter(is_wanted).map(shown).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that lists one repository, and answers questions as all versions of `cairn` do.
    const PROGRAM: &str = r#"#!/bin/sh
shift 2
case "$*" in
"index "*) echo "$2" >> indexed ;;
"--json repos") printf '{"repositories":[{"name":"one","source":"%s","state":"ready"}]}' "$(pwd)/sources" ;;
"--json search --limit 100 --max-tokens 10000000 --repo one -- -x")
    echo '{"results":[{"repository":"one","path":"a","start_line":1,"end_line":2,"score":3,
        "also_at":[{"repository":"two","path":"b","start_line":1,"end_line":2},
            {"repository":"one","path":"c","start_line":4,"end_line":5}]},
        {"repository":"two","path":"d","start_line":1,"end_line":2,"also_at":[]}]}' ;;
"--json search "*"--repo all -- absent") echo '{"error":{"code":"not_found","message":"m"}}'; exit 3 ;;
"--json search "*"--repo all -- long") echo '{"error":{"code":"validation_error","message":"m"}}'; exit 2 ;;
"--json search "*"--repo all -- broken") echo '{"error":{"code":"internal_error","message":"m"}}'; exit 3 ;;
*) echo "$*" >&2; exit 1 ;;
esac
"#;

    #[test]
    fn questions_are_asked_over_the_command_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("cairn");
        fs::write(&program, PROGRAM).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        let compared = ComparedProgram::index(&program, &directory.path().join("cache"), &[]).expect("indexed");
        let sources = compared.home.join("sources");
        assert_eq!(compared.name_of(&sources).expect("a name"), "one");
        assert!(compared.name_of(directory.path()).is_err());
        let shown = |path: &str, first, last| Shown { path: path.to_owned(), first, last };
        let found = compared.ask("-x", Some("one"), "one").expect("an answer");
        assert_eq!(found.results, [vec![shown("a", 1, 2), shown("c", 4, 5)], Vec::new()]);
        for refused in ["absent", "long"] {
            assert!(compared.ask(refused, None, "one").expect("an answer").results.is_empty(), "{refused}");
        }
        for failed in ["broken", "other"] {
            assert!(compared.ask(failed, None, "one").is_err(), "{failed}");
        }
    }
}
