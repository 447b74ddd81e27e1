//! Answers: from bytes to vectors that can be trusted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_domain::DenseVector;
use serde::Deserialize;

use super::vector::quantize;
use crate::config::ProviderKind;

/// An answer that cannot be right. Holds nothing of it but numbers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidAnswer {
    #[error("the content type is not JSON")]
    ContentType,
    #[error("the body is not the JSON that was expected, at line {line}, column {column}")]
    Json { line: usize, column: usize },
    #[error("{found} vectors for {expected} texts")]
    Count { expected: usize, found: usize },
    #[error("the index {0} stands at no text, or at two vectors")]
    Index(usize),
    #[error("{found} dimensions in place of {expected}")]
    Dimensions { expected: usize, found: usize },
    #[error("a vector is not written as numbers or base64 of them")]
    Encoding,
    #[error("a vector holds something that is no finite number")]
    NotFinite,
    #[error("a vector is zero")]
    Zero,
}

#[derive(Debug)]
pub(super) struct Vectors {
    pub vectors: Vec<DenseVector>,
    pub tokens: Option<u64>,
}

/// What the answer should be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub num_texts: usize,
    pub dimensions: usize,
    pub scale: u32,
}

#[derive(Deserialize)]
struct ListAnswer {
    data: Vec<Entry>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Entry {
    embedding: Embedding,
    index: usize,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Embedding {
    Numbers(Vec<f32>),
    Base64(String),
}

pub(super) fn read_answer(kind: ProviderKind, body: &[u8], expected: Expected) -> Result<Vectors, InvalidAnswer> {
    let (mut entries, tokens) = match kind {
        ProviderKind::Voyage | ProviderKind::Openai => {
            let answer: ListAnswer = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
            let entries: Vec<(usize, Embedding)> =
                answer.data.into_iter().map(|entry| (entry.index, entry.embedding)).collect();
            (entries, answer.usage.and_then(|usage| usage.total_tokens))
        }
        ProviderKind::Tei => {
            let vectors: Vec<Vec<f32>> = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
            (vectors.into_iter().map(Embedding::Numbers).enumerate().collect(), None)
        }
    };
    if entries.len() != expected.num_texts {
        return Err(InvalidAnswer::Count { expected: expected.num_texts, found: entries.len() });
    }
    entries.sort_by_key(|(index, _)| *index);
    let mut vectors = Vec::with_capacity(entries.len());
    for (position, (index, embedding)) in entries.into_iter().enumerate() {
        if index != position {
            return Err(InvalidAnswer::Index(index));
        }
        vectors.push(checked(embedding, expected)?);
    }
    Ok(Vectors { vectors, tokens })
}

fn checked(embedding: Embedding, expected: Expected) -> Result<DenseVector, InvalidAnswer> {
    let vector = match embedding {
        Embedding::Numbers(vector) => vector,
        Embedding::Base64(text) => from_base64(&text).ok_or(InvalidAnswer::Encoding)?,
    };
    if vector.len() != expected.dimensions {
        return Err(InvalidAnswer::Dimensions { expected: expected.dimensions, found: vector.len() });
    }
    if !vector.iter().all(|value| value.is_finite()) {
        return Err(InvalidAnswer::NotFinite);
    }
    quantize(&vector, expected.scale).ok_or(InvalidAnswer::Zero)
}

/// Numbers of 32 bits, the low byte first.
fn from_base64(text: &str) -> Option<Vec<f32>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

fn not_json(error: &serde_json::Error) -> InvalidAnswer {
    InvalidAnswer::Json { line: error.line(), column: error.column() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected = Expected { num_texts: 2, dimensions: 2, scale: 100 };

    #[test]
    fn answers_are_checked_before_anything_of_them_is_used() {
        let check = |data: &str, expect: Result<[[i8; 2]; 2], InvalidAnswer>| {
            let body = format!("{{\"object\":\"list\",\"data\":[{data}],\"usage\":{{\"total_tokens\":7}}}}");
            let found = read_answer(ProviderKind::Voyage, body.as_bytes(), EXPECTED);
            let expect = expect.map(|vectors| vectors.map(|vector| DenseVector(vector.to_vec())).to_vec());
            assert_eq!(found.map(|found| found.vectors), expect, "{data}");
        };
        let entry = |index: usize, vector: &str| format!("{{\"embedding\":{vector},\"index\":{index}}}");
        let right = entry(0, "[0.6,0.8]");
        let second = |vector: &str| format!("{right},{}", entry(1, vector));
        check(&second("[-2,0]"), Ok([[60, 80], [-100, 0]]));
        check(&format!("{},{right}", entry(1, "[0,1]")), Ok([[60, 80], [0, 100]]));
        check(&second("\"AACAPwAAAAA=\""), Ok([[60, 80], [100, 0]]));
        check(&right, Err(InvalidAnswer::Count { expected: 2, found: 1 }));
        check(&format!("{right},{right}"), Err(InvalidAnswer::Index(0)));
        check(&format!("{right},{}", entry(2, "[0,1]")), Err(InvalidAnswer::Index(2)));
        check(&second("[1]"), Err(InvalidAnswer::Dimensions { expected: 2, found: 1 }));
        check(&second("[1,2,3]"), Err(InvalidAnswer::Dimensions { expected: 2, found: 3 }));
        check(&second("[0,0]"), Err(InvalidAnswer::Zero));
        check(&second("[1e39,0]"), Err(InvalidAnswer::NotFinite));
        check(&second("\"AADAfwAAAAA=\""), Err(InvalidAnswer::NotFinite));
        check(&second("\"AACAPwAAAA==\""), Err(InvalidAnswer::Encoding));
        check(&second("\"!\""), Err(InvalidAnswer::Encoding));
        for not_numbers in ["[NaN,0]", "[\"1\",0]", "null", "{}"] {
            let body = format!("{{\"data\":[{}]}}", second(not_numbers));
            let found = read_answer(ProviderKind::Openai, body.as_bytes(), EXPECTED);
            assert!(matches!(found, Err(InvalidAnswer::Json { .. })), "{not_numbers}: {found:?}");
        }
    }

    #[test]
    fn lists_of_vectors_are_read_in_their_order() {
        let check = |body: &str| read_answer(ProviderKind::Tei, body.as_bytes(), EXPECTED);
        assert_eq!(check("[[1,0],[0,1]]").expect("sound").vectors[1].0, [0, 100]);
        assert_eq!(check("[[1,0]]").expect_err("one"), InvalidAnswer::Count { expected: 2, found: 1 });
        assert_eq!(check("[[1,0],[0,1").expect_err("cut"), InvalidAnswer::Json { line: 1, column: 11 });
    }
}
