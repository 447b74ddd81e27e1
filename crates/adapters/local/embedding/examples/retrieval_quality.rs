//! Measures the shipped model on the held-out packages. The measurement uses sentences of documentation as
//! queries, and checks how well they find the documented code.
//!
//! ```text
//! cargo run --release -p cairn-local-embedding --example retrieval_quality -- \
//!     EVALUATION.jsonl [MIN_ALONE MIN_FUSED]
//! ```
//!
//! Each line of the file is a definition (`language`, `name`, `code` without comments and docstrings). If the
//! field `question` is true, the field `doc` is used as a query. `training/eval` creates the file. The
//! program fails if a result is below its minimum.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;

use cairn_local_embedding::LocalEmbedder;
use cairn_ranking::{PassageFields, ScopeFrequencies, passage_terms, query_terms};
use serde_json::Value;

/// Number of ranked definitions for each question. Any other definition is treated as not found.
const DEPTH: usize = 100;

struct Definition {
    language: String,
    name: String,
    doc: String,
    code: String,
    is_question: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("usage: retrieval_quality EVALUATION.jsonl [MIN_ALONE MIN_FUSED]")?;
    let definitions = read(path)?;
    let questions: Vec<usize> = (0..definitions.len()).filter(|index| definitions[*index].is_question).collect();
    let embedder = LocalEmbedder::shipped()?;
    println!("{} over {} definitions, {} questions", embedder.model_id().name, definitions.len(), questions.len());

    let by_vectors = rank_by_vectors(&embedder, &definitions, &questions);
    let by_terms = rank_by_terms(&definitions, &questions);
    let fused: Vec<Vec<usize>> = by_vectors.iter().zip(&by_terms).map(|(left, right)| fuse_two(left, right)).collect();

    report("BM25", &definitions, &questions, &by_terms);
    let alone = report("model", &definitions, &questions, &by_vectors);
    let together = report("BM25 + model", &definitions, &questions, &fused);
    for (found, minimum) in [alone, together].into_iter().zip(&arguments[1..]) {
        let minimum: f64 = minimum.parse()?;
        if found < minimum {
            return Err(format!("MRR@10 is {found:.4}, less than {minimum}").into());
        }
    }
    Ok(())
}

fn read(path: &str) -> Result<Vec<Definition>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut definitions = Vec::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line)?;
        let field = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        definitions.push(Definition {
            language: field("language"),
            name: field("name"),
            doc: field("doc"),
            code: field("code"),
            is_question: value["question"].as_bool().unwrap_or_default(),
        });
    }
    Ok(definitions)
}

/// Ranks the best definitions for each question by the dot products of the vectors.
fn rank_by_vectors(embedder: &LocalEmbedder, definitions: &[Definition], questions: &[usize]) -> Vec<Vec<usize>> {
    let texts: Vec<&str> = definitions.iter().map(|definition| definition.code.as_str()).collect();
    let passages = embedder.embed_passages(&texts);
    let best_of = |question: &usize| {
        let asked = embedder.embed_query(&definitions[*question].doc);
        best(passages.iter().map(|passage| {
            let products = passage.0.iter().zip(&asked.0).map(|(left, right)| i32::from(*left) * i32::from(*right));
            i64::from(products.sum::<i32>())
        }))
    };
    questions.iter().map(best_of).collect()
}

/// Ranks the best definitions for each question by weighted terms. Definitions that share no term with the
/// question are not found.
fn rank_by_terms(definitions: &[Definition], questions: &[usize]) -> Vec<Vec<usize>> {
    let mut postings: BTreeMap<u32, Vec<(usize, u8)>> = BTreeMap::new();
    for (index, definition) in definitions.iter().enumerate() {
        let fields = PassageFields { name: &definition.name, text: &definition.code, ..PassageFields::default() };
        for (term, weight) in passage_terms(&fields).0 {
            postings.entry(term).or_default().push((index, weight));
        }
    }
    let best_of = |question: &usize| {
        let mut scores = vec![0_i64; definitions.len()];
        for (term, weight) in query_terms(&definitions[*question].doc, &ScopeFrequencies::default()) {
            for (index, in_passage) in postings.get(&term).map_or(&[][..], Vec::as_slice) {
                scores[*index] += i64::from(weight) * i64::from(*in_passage);
            }
        }
        best(scores.into_iter())
    };
    questions.iter().map(best_of).collect()
}

fn best(scores: impl Iterator<Item = i64>) -> Vec<usize> {
    let mut found: Vec<(i64, usize)> = scores.enumerate().map(|(index, score)| (-score, index)).collect();
    found.select_nth_unstable(DEPTH);
    found.truncate(DEPTH);
    found.sort_unstable();
    found.into_iter().map(|(_, index)| index).collect()
}

/// Fuses two lists by reciprocal ranks. Only the ranks in the lists are used here, not the scores.
fn fuse_two(vectors: &[usize], terms: &[usize]) -> Vec<usize> {
    let mut points: BTreeMap<usize, usize> = BTreeMap::new();
    for list in [vectors, terms] {
        for (rank, index) in (1..).zip(list) {
            *points.entry(*index).or_default() += 1_000_000 / (10 + rank);
        }
    }
    let mut fused: Vec<usize> = points.keys().copied().collect();
    fused.sort_by_key(|index| Reverse(points[index]));
    fused
}

/// Prints one line with the results, and returns MRR@10 over all questions.
fn report(what: &str, definitions: &[Definition], questions: &[usize], ranked: &[Vec<usize>]) -> f64 {
    let rank = |(question, found): (&usize, &Vec<usize>)| found.iter().take(DEPTH).position(|index| index == question);
    let ranks: Vec<Option<usize>> = questions.iter().zip(ranked).map(rank).collect();
    let within =
        |depth: usize| ranks.iter().flatten().filter(|rank| **rank < depth).count() as f64 / ranks.len() as f64;
    let mean = |ranks: &[Option<usize>]| {
        let reciprocal = |rank: &usize| if *rank < 10 { 1.0 / (rank + 1) as f64 } else { 0.0 };
        ranks.iter().flatten().map(reciprocal).sum::<f64>() / ranks.len() as f64
    };
    let mut by_language: BTreeMap<&str, Vec<Option<usize>>> = BTreeMap::new();
    for (question, rank) in questions.iter().zip(&ranks) {
        by_language.entry(&definitions[*question].language).or_default().push(*rank);
    }
    let languages: Vec<String> =
        by_language.iter().map(|(language, ranks)| format!("{language} {:.3}", mean(ranks))).collect();
    let total = mean(&ranks);
    println!(
        "{what:>14}: MRR@10 {total:.4}, R@1 {:.3}, R@10 {:.3}, R@100 {:.3}; {}",
        within(1),
        within(10),
        within(DEPTH),
        languages.join(", "),
    );
    total
}
