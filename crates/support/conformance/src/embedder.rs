//! The conformance suite of the port `Embedder`.

use anyhow::{Result, ensure};
use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};
use cairn_ports::{Embedder, EmbedderError};

use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq};

pub fn checks() -> Vec<Check<dyn Embedder>> {
    checks![
        every_text_has_a_vector,
        vector_depends_on_its_text_alone,
        different_texts_differ,
        near_texts_are_nearer_than_far_ones,
    ]
}

/// Ordinary texts, and texts that embedders often handle incorrectly.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " \n\t",
        "x",
        "????",
        "def connect(host, port):\n    return socket.connect((host, port))",
        "größe 数 \u{1F980}",
        "\0\u{1}\u{7f}",
        "0x00 1e9 42",
        "a_b__c--d",
        "[REDACTED:aws_key]",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("let value = compute(value);\n".repeat(3000));
    texts.push("a".repeat(100_000));
    texts
}

const INPUT_TYPES: [InputType; 2] = [InputType::Query, InputType::Passage];

async fn every_text_has_a_vector(embedder: &dyn Embedder) -> Result<()> {
    ensure!(!embedder.model().name.is_empty(), "the model has no name");
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for input_type in INPUT_TYPES {
        let vectors = embedder.embed(input_type, &texts).await?;
        expect_eq!(vectors.len(), texts.len());
        for (text, vector) in texts.iter().zip(&vectors) {
            let start: String = text.chars().take(20).collect();
            let dimensions = usize::from(embedder.model().dimensions);
            ensure!(
                vector.0.len() == dimensions,
                "the vector of {start:?} has the wrong number of dimensions: {}",
                vector.0.len()
            );
            ensure!(vector.0.iter().any(|value| *value != 0), "the vector of {start:?} is zero");
            ensure!(vector.0.iter().all(|value| *value != i8::MIN), "the vector of {start:?} contains the value -128");
        }
        expect_eq!(embedder.embed(input_type, &[]).await?, []);
    }
    Ok(())
}

async fn vector_depends_on_its_text_alone(embedder: &dyn Embedder) -> Result<()> {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for input_type in INPUT_TYPES {
        let together = embedder.embed(input_type, &texts).await?;
        for (text, vector) in texts.iter().zip(&together) {
            let alone = embedder.embed(input_type, &[text]).await?;
            ensure!(
                alone[..] == [vector.clone()],
                "the text that begins with {:?} has a different vector if it is embedded alone",
                text.chars().next()
            );
        }
        let reversed: Vec<&str> = texts.iter().rev().copied().collect();
        let mut backwards = embedder.embed(input_type, &reversed).await?;
        backwards.reverse();
        ensure!(backwards == together, "vectors depend on the order of the texts");
    }
    Ok(())
}

async fn different_texts_differ(embedder: &dyn Embedder) -> Result<()> {
    let texts = ["def open_socket(host)", "class InvoicePrinter", "SELECT name FROM users", "rotate the log files"];
    let vectors = embedder.embed(InputType::Passage, &texts).await?;
    for (index, left) in vectors.iter().enumerate() {
        for right in &vectors[index + 1..] {
            ensure!(left != right, "two different texts have the same vector");
        }
    }
    Ok(())
}

async fn near_texts_are_nearer_than_far_ones(embedder: &dyn Embedder) -> Result<()> {
    let passages = [
        "def read_config_file(path):\n    with open(path) as file:\n        return parse_config(file.read())",
        "fn multiply_matrices(left: &Matrix, right: &Matrix) -> Matrix",
        "func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request)",
    ];
    let questions = ["read the config file", "multiply two matrices", "handle login request on the server"];
    let passages = embedder.embed(InputType::Passage, &passages).await?;
    let questions = embedder.embed(InputType::Query, &questions).await?;
    for (number, question) in questions.iter().enumerate() {
        let scores: Vec<f64> = passages.iter().map(|passage| cosine(question, passage)).collect();
        let best = (0..scores.len()).max_by(|left, right| scores[*left].total_cmp(&scores[*right]));
        ensure!(best == Some(number), "question {number} is nearest to passage {best:?}; the scores are {scores:?}");
    }
    Ok(())
}

fn cosine(left: &DenseVector, right: &DenseVector) -> f64 {
    let dot = |left: &DenseVector, right: &DenseVector| {
        let products = left.0.iter().zip(&right.0).map(|(left, right)| f64::from(*left) * f64::from(*right));
        products.sum::<f64>()
    };
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesVectors,
    ReversesOrder,
    GivesZeroVectors,
    GivesOtherDimensions,
    DependsOnTheBatch,
    GivesOneVector,
}

const ALL: [(&str, Fault, &str); 6] = [
    ("loses a vector", Fault::LosesVectors, "every_text_has_a_vector"),
    ("answers backwards", Fault::ReversesOrder, "vector_depends_on_its_text_alone"),
    ("gives a zero vector", Fault::GivesZeroVectors, "every_text_has_a_vector"),
    ("gives other dimensions", Fault::GivesOtherDimensions, "every_text_has_a_vector"),
    ("depends on the batch", Fault::DependsOnTheBatch, "vector_depends_on_its_text_alone"),
    ("gives the same vector for all texts", Fault::GivesOneVector, "vector_depends_on_its_text_alone"),
];

pub fn faults() -> Vec<PlantedFault<dyn Embedder>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl Embedder for Faulty<dyn Embedder, Fault> {
    fn model(&self) -> &ModelId {
        self.inner.model()
    }

    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        let mut vectors = self.inner.embed(input_type, texts).await?;
        match self.fault {
            Fault::LosesVectors => drop(vectors.pop()),
            Fault::ReversesOrder => vectors.reverse(),
            Fault::GivesZeroVectors => vectors.iter_mut().take(1).for_each(|vector| vector.0.fill(0)),
            Fault::GivesOtherDimensions => vectors.iter_mut().for_each(|vector| vector.0.push(1)),
            Fault::DependsOnTheBatch => {
                if let Some(vector) = vectors.get_mut(1) {
                    vector.0[0] ^= 1;
                }
            }
            Fault::GivesOneVector => {
                let first = vectors.first().cloned();
                vectors
                    .iter_mut()
                    .for_each(|vector| vector.clone_from(first.as_ref().unwrap_or(&DenseVector(Vec::new()))));
            }
        }
        Ok(vectors)
    }
}
