//! The local embedding model: a table of word vectors, trained on code. The model needs no API key and no
//! network.
//!
//! The vector of a text is the weighted sum of the vectors of its words, so it is computed in microseconds.
//! The sum is computed with integers, and the normalisation uses only operations that IEEE 754 defines
//! exactly. So every machine computes the same bits, and an index can be copied, compared and rebuilt. The
//! programs in `training/` create the table. `docs/decisions/0002-embedding-model.md` describes its training,
//! its strengths and its limits.

mod format;
mod head;
mod provider;
mod sums;
mod text;
mod vector;
mod words;

use std::sync::LazyLock;

use cairn_domain::{DenseVector, ModelId};

pub use format::{InvalidModel, StaticModel};
pub use words::WordTable;

use text::{Side, WordCounter};

/// The bytes of the model are aligned, so that the rows of the table are aligned too.
#[repr(align(64))]
struct Aligned<Bytes: ?Sized>(Bytes);

static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("../model/cairn-static.bin"));

static SHIPPED: LazyLock<Result<StaticModel<'static>, InvalidModel>> = LazyLock::new(|| StaticModel::read(&BYTES.0));

/// The model that is part of the program.
fn shipped() -> Result<StaticModel<'static>, InvalidModel> {
    *SHIPPED
}

/// Embeds texts with a static model.
#[derive(Clone, Debug)]
pub struct LocalEmbedder {
    model: StaticModel<'static>,
    id: ModelId,
}

impl LocalEmbedder {
    /// The model that is part of the program. This function reads no file and checks only the header, so it
    /// takes microseconds.
    pub fn shipped() -> Result<Self, InvalidModel> {
        shipped().map(Self::new)
    }

    fn new(model: StaticModel<'static>) -> Self {
        let dimensions = model.dimensions() as u16;
        Self { id: ModelId { name: model.name(), dimensions }, model }
    }

    pub fn model_id(&self) -> &ModelId {
        &self.id
    }

    /// Returns one vector for each passage. A passage is the text of a chunk, with its signature and doc
    /// comment first. Words after the first 1,200 words are ignored.
    pub fn embed_passages(&self, texts: &[&str]) -> Vec<DenseVector> {
        let mut counter = WordCounter::new(&self.model);
        texts.iter().map(|text| counter.embed(text, Side::Passage)).collect()
    }

    /// Returns the vector of a query.
    pub fn embed_query(&self, text: &str) -> DenseVector {
        WordCounter::new(&self.model).embed(text, Side::Query)
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::InputType;
    use cairn_ports::Embedder;
    use cairn_ranking::WordKey;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn embedder() -> LocalEmbedder {
        LocalEmbedder::shipped().expect("the shipped model is valid")
    }

    /// The golden vectors come from the training pipeline, which computed them from the same model file with
    /// a separate implementation.
    #[test]
    fn vectors_equal_the_golden_values() {
        let golden = include_str!("../model/golden.jsonl");
        for line in golden.lines() {
            let value: Value = serde_json::from_str(line).expect("golden lines are objects");
            let (side, text) = (value["side"].as_str(), value["text"].as_str().expect("a text"));
            let expect: Vec<i64> = value["vector"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
            let found = match side {
                Some("query") => embedder().embed_query(text),
                _ => embedder().embed_passages(&["before", text])[1].clone(),
            };
            let found: Vec<i64> = found.0.into_iter().map(i64::from).collect();
            assert_eq!(found, expect, "{side:?} {text:?}");
        }
        assert!(golden.lines().count() > 10);
    }

    #[test]
    fn shipped_model_is_valid() {
        let model = embedder().model;
        assert_eq!(model.digest(), *blake3::hash(&BYTES.0[64..]).as_bytes());
        assert!(BYTES.0.len() <= 12_000_000, "{}", BYTES.0.len());
        let mut num_words = 0;
        for (row, word) in model.words().enumerate() {
            assert_eq!(model.row_of(WordKey::of(word)), row, "{word}");
            num_words += 1;
        }
        assert!(num_words > 30_000, "{num_words}");
        assert!(model.row_of(WordKey::of("zyzzyvaish")) >= num_words);
        let id = embedder().model_id().clone();
        assert_eq!((id.dimensions, id.name.len()), (256, "cairn-static-1-".len() + 12));
    }

    #[test]
    fn damaged_models_are_refused() {
        let bytes = &BYTES.0;
        let check = |bytes: &[u8], expect| assert_eq!(StaticModel::read(bytes).err(), Some(expect));
        check(&bytes[..10], InvalidModel::Length);
        check(&bytes[..bytes.len() / 2], InvalidModel::Length);
        check(&bytes[1..], InvalidModel::Version);
        let changed = |index: usize, to: u8| {
            let mut changed = bytes.to_vec();
            changed[index] = to;
            changed
        };
        check(&changed(8, 2), InvalidModel::Version);
        check(&changed(13, 2), InvalidModel::Dimensions(512));
        check(&changed(18, 200), InvalidModel::Length);
        check(&changed(24, 1), InvalidModel::Length);
    }

    fn similarity(question: &str, passage: &str) -> i32 {
        let (question, passage) = (embedder().embed_query(question), embedder().embed_passages(&[passage]).remove(0));
        question.0.iter().zip(&passage.0).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
    }

    #[test]
    fn question_is_most_similar_to_the_matching_code() {
        let download = "def fetch_url(address):\n    response = http.get(address)\n    return response.body\n";
        let matrix = "func Transpose(m [][]float64) [][]float64 {\n\trows, columns := len(m), len(m[0])\n}\n";
        for (question, near, far) in
            [("download a web page", download, matrix), ("swap rows and columns of a matrix", matrix, download)]
        {
            assert!(similarity(question, near) > similarity(question, far) + 20_000, "{question}");
        }
    }

    #[tokio::test]
    async fn port_returns_one_vector_per_text() {
        let embedder = embedder();
        let texts: Vec<String> = (0..200).map(|number| format!("fn parse_{number}() {{}}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (input_type, expect) in [
            (InputType::Passage, embedder.embed_passages(&texts)),
            (InputType::Query, texts.iter().map(|text| embedder.embed_query(text)).collect()),
        ] {
            assert_eq!(
                embedder.embed(input_type, &texts).await.expect("embedding with the local model succeeds"),
                expect
            );
        }
        assert!(embedder.embed(InputType::Passage, &[]).await.expect("embedding no texts succeeds").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_a_vector_that_is_not_zero(text in "\\PC{0,300}") {
            let embedder = embedder();
            let passage = embedder.embed_passages(&[&text]).remove(0);
            for vector in [passage, embedder.embed_query(&text)] {
                prop_assert_eq!(vector.0.len(), 256);
                prop_assert!(vector.0.iter().any(|element| *element != 0));
                prop_assert!(vector.0.iter().all(|element| *element > i8::MIN));
            }
        }
    }
}
