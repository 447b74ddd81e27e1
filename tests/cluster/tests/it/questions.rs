//! Questions to local mode and to a query service: the same results in the same order.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use cairn_cluster::{LocalMode, program};
use rand::prelude::*;
use rand::rngs::StdRng;
use serde_json::Value;

/// Pages of one search that are compared.
const MAX_PAGES: usize = 3;

/// A query service and a key to it.
pub(crate) struct Service {
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Service {
    pub(crate) fn ask(&self, arguments: &[String]) -> Result<Output> {
        let mut command = Command::new(program("cairn")?);
        command.args(arguments).env("CAIRN_SERVER", &self.url).env("CAIRN_API_KEY", &self.key);
        command.output().context("cannot start cairn")
    }
}

/// What all questions together showed.
#[derive(Default, Debug)]
pub(crate) struct Compared {
    pub(crate) num_questions: usize,
    pub(crate) num_pages: usize,
    pub(crate) num_results: usize,
    /// Questions with results that rank the same: equal scores, or one text at several places.
    pub(crate) num_tied: usize,
}

pub(crate) fn compare(questions: &[Vec<String>], local: &LocalMode, service: &Service) -> Result<Compared> {
    let mut compared = Compared::default();
    for question in questions {
        compare_one(question, local, service, &mut compared)?;
    }
    Ok(compared)
}

fn compare_one(question: &[String], local: &LocalMode, service: &Service, compared: &mut Compared) -> Result<()> {
    compared.num_questions += 1;
    let (mut here, mut there): (Option<String>, Option<String>) = (None, None);
    let mut is_tied = false;
    for page in 0..MAX_PAGES {
        let mine = said(&local.command(&as_str(&with_cursor(question, here.as_deref())))?.output()?)?;
        let theirs = said(&service.ask(&with_cursor(question, there.as_deref()))?)?;
        let (comparable_mine, comparable_theirs) = (comparable(mine.clone()), comparable(theirs.clone()));
        ensure!(
            comparable_mine == comparable_theirs,
            "{question:?}, page {page}\nlocal {comparable_mine:#}\ncluster {comparable_theirs:#}"
        );
        compared.num_pages += 1;
        compared.num_results += mine["results"].as_array().map_or(0, Vec::len);
        is_tied |= has_ties(&mine);
        let next = |answer: &Value| answer["next_cursor"].as_str().map(str::to_owned);
        (here, there) = (next(&mine), next(&theirs));
        if here.is_none() {
            break;
        }
    }
    compared.num_tied += usize::from(is_tied);
    Ok(())
}

fn with_cursor(question: &[String], cursor: Option<&str>) -> Vec<String> {
    let mut arguments = question.to_vec();
    arguments.push("--json".to_owned());
    arguments.extend(cursor.into_iter().flat_map(|cursor| ["--cursor".to_owned(), cursor.to_owned()]));
    arguments
}

fn as_str(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Exit code and answer, or the error, which has a form as well.
fn said(output: &Output) -> Result<Value> {
    let text = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let mut answer: Value = match lines.as_slice() {
        [line] => serde_json::from_str(line).unwrap_or_else(|_| Value::String((*line).to_owned())),
        lines => Value::Array(
            lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::from(*line))).collect(),
        ),
    };
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("exit_code".to_owned(), output.status.code().into());
    }
    Ok(answer)
}

/// Without what has to differ: when each side indexed, the digest that stands for it, and whose cursor it is.
fn comparable(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                let is_own = matches!(name.as_str(), "indexed_at" | "indexed_at_ms" | "index_version");
                *field = match name.as_str() {
                    _ if is_own => Value::Null,
                    "next_cursor" => field.as_str().map_or(Value::Null, |cursor| cursor.len().into()),
                    _ => comparable(field.take()),
                };
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = comparable(value.take())),
        _ => {}
    }
    answer
}

fn has_ties(answer: &Value) -> bool {
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_other_places = |result: &Value| result["also_at"].as_array().is_some_and(|places| !places.is_empty());
    let is_same_score = |pair: &[Value]| pair[0]["score"].is_number() && pair[0]["score"] == pair[1]["score"];
    results.iter().any(has_other_places) || results.windows(2).any(is_same_score)
}

/// So many questions over all tools and filters, about what stands in these repositories.
pub(crate) fn questions(repositories: &[(String, &Path)], count: usize) -> Result<Vec<Vec<String>>> {
    let mut rng = StdRng::seed_from_u64(7);
    let found = found_in(repositories)?;
    let mut questions = Vec::with_capacity(count);
    for number in 0..count {
        let symbol = found.symbols.choose(&mut rng).context("no symbol")?.clone();
        let (repository, path) = found.files.choose(&mut rng).context("no file")?.clone();
        let words = symbol.replace('_', " ");
        let question: Vec<&str> = match number % 20 {
            0 => vec!["search", &words],
            1 => vec!["search", &words, "--language", ["python", "rust", "go", "typescript"][number % 4]],
            2 => vec!["search", &words, "--path", ["app/**", "lib/**", "*.py", "**/*.ts"][number % 4], "-n", "5"],
            3 => vec!["search", &words, "--kind", ["function", "class", "section", "method"][number % 4]],
            4 => vec!["search", &words, "--tests", ["only", "exclude", "include"][number % 3], "-n", "7"],
            5 => vec!["search", &words, "--repo", &repository, "--explain"],
            6 => vec!["search", &words, "--repo", "fork-*", "-n", "20"],
            7 => vec!["search", &words, "--max-tokens", "700"],
            8 | 9 => vec!["search", &symbol],
            10 => vec!["search", &symbol, "--repo", "f*", "-n", "3", "--explain"],
            11 => vec!["search", &symbol, "--module", ["app", "lib.net", "web"][number % 3]],
            12 => vec!["graph", "callers", &symbol],
            13 => vec!["graph", "callees", &symbol, "-n", "10"],
            14 => vec!["graph", "deps", &path, "--repo", &repository],
            15 => vec!["graph", "dependents", &symbol],
            16 => vec!["show", &repository, &path],
            17 => vec!["patterns", "--repo", &repository],
            18 => vec!["coverage", &repository, "--why", &path],
            _ => vec!["graph", "sample", "--class", ["exact", "import", "heuristic"][number % 3], "-n", "15"],
        };
        questions.push(question.into_iter().map(str::to_owned).collect());
    }
    Ok(questions)
}

struct Found {
    symbols: Vec<String>,
    files: Vec<(String, String)>,
}

fn found_in(repositories: &[(String, &Path)]) -> Result<Found> {
    let (mut symbols, mut files) = (BTreeSet::new(), Vec::new());
    for (name, root) in repositories {
        let listed = Command::new("git").arg("-C").arg(root).args(["ls-tree", "-r", "--name-only", "HEAD"]).output()?;
        for path in String::from_utf8_lossy(&listed.stdout).lines() {
            files.push((name.clone(), path.to_owned()));
            let shown = Command::new("git").arg("-C").arg(root).args(["show", &format!("HEAD:{path}")]).output()?;
            symbols.extend(String::from_utf8_lossy(&shown.stdout).lines().filter_map(defined));
        }
    }
    Ok(Found { symbols: symbols.into_iter().collect(), files })
}

/// The name that a line defines.
fn defined(line: &str) -> Option<String> {
    let words = ["def ", "fn ", "func ", "function ", "class "];
    let rest = words.iter().find_map(|word| line.split_once(word))?.1;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (name.len() > 3).then_some(name)
}
