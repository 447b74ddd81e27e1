//! Converts the bytes of a reply to checked vectors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_domain::DenseVector;
use serde::Deserialize;

use super::vector::quantize;
use crate::config::ProviderKind;

/// An invalid reply. The error contains only numbers from the reply, no text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidReply {
    #[error("the content type is not JSON")]
    ContentType,
    #[error("the body is not the expected JSON, at line {line}, column {column}")]
    Json { line: usize, column: usize },
    #[error("the reply contains {found} vectors for {expected} texts")]
    Count { expected: usize, found: usize },
    #[error("the index {0} is out of range, or two vectors have this index")]
    Index(usize),
    #[error("a vector has {found} dimensions instead of {expected}")]
    Dimensions { expected: usize, found: usize },
    #[error("a vector is neither a list of numbers nor base64")]
    Encoding,
    #[error("a vector contains a number that is not finite")]
    NotFinite,
    #[error("all numbers of a vector are zero")]
    Zero,
}

#[derive(Debug)]
pub(super) struct Vectors {
    pub vectors: Vec<DenseVector>,
    pub tokens: Option<u64>,
}

/// The contents that a valid reply must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub num_texts: usize,
    pub dimensions: usize,
    pub scale: u32,
}

#[derive(Deserialize)]
struct ListReply {
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

pub(super) fn read_reply(kind: ProviderKind, body: &[u8], expected: Expected) -> Result<Vectors, InvalidReply> {
    let (mut entries, tokens) = match kind {
        ProviderKind::Voyage | ProviderKind::Openai => {
            let reply: ListReply = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
            let entries: Vec<(usize, Embedding)> =
                reply.data.into_iter().map(|entry| (entry.index, entry.embedding)).collect();
            (entries, reply.usage.and_then(|usage| usage.total_tokens))
        }
        ProviderKind::Tei => {
            let vectors: Vec<Vec<f32>> = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
            (vectors.into_iter().map(Embedding::Numbers).enumerate().collect(), None)
        }
    };
    if entries.len() != expected.num_texts {
        return Err(InvalidReply::Count { expected: expected.num_texts, found: entries.len() });
    }
    entries.sort_by_key(|(index, _)| *index);
    let mut vectors = Vec::with_capacity(entries.len());
    for (position, (index, embedding)) in entries.into_iter().enumerate() {
        if index != position {
            return Err(InvalidReply::Index(index));
        }
        vectors.push(checked(embedding, expected)?);
    }
    Ok(Vectors { vectors, tokens })
}

fn checked(embedding: Embedding, expected: Expected) -> Result<DenseVector, InvalidReply> {
    let vector = match embedding {
        Embedding::Numbers(vector) => vector,
        Embedding::Base64(text) => from_base64(&text).ok_or(InvalidReply::Encoding)?,
    };
    if vector.len() != expected.dimensions {
        return Err(InvalidReply::Dimensions { expected: expected.dimensions, found: vector.len() });
    }
    if !vector.iter().all(|value| value.is_finite()) {
        return Err(InvalidReply::NotFinite);
    }
    quantize(&vector, expected.scale).ok_or(InvalidReply::Zero)
}

/// Decodes 32-bit numbers, with the low byte first.
fn from_base64(text: &str) -> Option<Vec<f32>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

fn not_json(error: &serde_json::Error) -> InvalidReply {
    InvalidReply::Json { line: error.line(), column: error.column() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected = Expected { num_texts: 2, dimensions: 2, scale: 100 };

    #[test]
    fn replies_are_checked_before_use() {
        let check = |data: &str, expect: Result<[[i8; 2]; 2], InvalidReply>| {
            let body = format!("{{\"object\":\"list\",\"data\":[{data}],\"usage\":{{\"total_tokens\":7}}}}");
            let found = read_reply(ProviderKind::Voyage, body.as_bytes(), EXPECTED);
            let expect = expect.map(|vectors| vectors.map(|vector| DenseVector(vector.to_vec())).to_vec());
            assert_eq!(found.map(|found| found.vectors), expect, "{data}");
        };
        let entry = |index: usize, vector: &str| format!("{{\"embedding\":{vector},\"index\":{index}}}");
        let right = entry(0, "[0.6,0.8]");
        let second = |vector: &str| format!("{right},{}", entry(1, vector));
        check(&second("[-2,0]"), Ok([[60, 80], [-100, 0]]));
        check(&format!("{},{right}", entry(1, "[0,1]")), Ok([[60, 80], [0, 100]]));
        check(&second("\"AACAPwAAAAA=\""), Ok([[60, 80], [100, 0]]));
        check(&right, Err(InvalidReply::Count { expected: 2, found: 1 }));
        check(&format!("{right},{right}"), Err(InvalidReply::Index(0)));
        check(&format!("{right},{}", entry(2, "[0,1]")), Err(InvalidReply::Index(2)));
        check(&second("[1]"), Err(InvalidReply::Dimensions { expected: 2, found: 1 }));
        check(&second("[1,2,3]"), Err(InvalidReply::Dimensions { expected: 2, found: 3 }));
        check(&second("[0,0]"), Err(InvalidReply::Zero));
        check(&second("[1e39,0]"), Err(InvalidReply::NotFinite));
        check(&second("\"AADAfwAAAAA=\""), Err(InvalidReply::NotFinite));
        check(&second("\"AACAPwAAAA==\""), Err(InvalidReply::Encoding));
        check(&second("\"!\""), Err(InvalidReply::Encoding));
        for not_numbers in ["[NaN,0]", "[\"1\",0]", "null", "{}"] {
            let body = format!("{{\"data\":[{}]}}", second(not_numbers));
            let found = read_reply(ProviderKind::Openai, body.as_bytes(), EXPECTED);
            assert!(matches!(found, Err(InvalidReply::Json { .. })), "{not_numbers}: {found:?}");
        }
    }

    #[test]
    fn plain_lists_are_read_in_order() {
        let check = |body: &str| read_reply(ProviderKind::Tei, body.as_bytes(), EXPECTED);
        assert_eq!(check("[[1,0],[0,1]]").expect("valid").vectors[1].0, [0, 100]);
        assert_eq!(check("[[1,0]]").expect_err("one"), InvalidReply::Count { expected: 2, found: 1 });
        assert_eq!(check("[[1,0],[0,1").expect_err("cut"), InvalidReply::Json { line: 1, column: 11 });
    }
}
