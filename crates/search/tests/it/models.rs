//! Checks questions about an index whose vectors were made by a different embedding model.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId, SymbolKind};
use cairn_ports::{ChunkFilter, Embedder, EmbedderError, ErrorKind};
use cairn_search::{QueryErrorCode, SearchRequest, Searcher, Target, TargetType};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

/// A model that did not make the vectors of the index. The tests check that this model is never called.
struct OtherModel(ModelId);

#[async_trait]
impl Embedder for OtherModel {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn embed(&self, _: InputType, _: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        Err(EmbedderError::new(ErrorKind::Unavailable, "embed", "the model must not be called"))
    }
}

async fn searcher() -> Searcher {
    let content = FakeContent::new("demo", "c1").file("src/dates.rs", "rust", "fn parse_date() {\n}\n").symbol(
        "src/dates.rs",
        "parse_date",
        SymbolKind::Function,
        (1, 2),
    );
    let (_, searcher) = searcher_over(vec![content]).await;
    let model = ModelId { name: "other-1".to_owned(), dimensions: 1 };
    Searcher { embedder: Arc::new(OtherModel(model)), ..searcher }
}

fn ask(query: &str, target_type: TargetType) -> SearchRequest {
    let target = Target { target_type, ..Target::default() };
    SearchRequest { target, ..request(query, &[], ChunkFilter::default()) }
}

#[tokio::test]
async fn names_and_files_are_found_without_vectors() {
    let searcher = searcher().await;
    let symbol = searcher.search(&ask("parse_date", TargetType::Symbol)).await.expect("an answer");
    assert_eq!(symbol.num_results, 1);
    for target_type in [TargetType::File, TargetType::Filename] {
        let files = searcher.search(&ask("dates.rs", target_type)).await.expect("an answer").files;
        assert_eq!(files.first().map(|file| file.path.as_str()), Some("src/dates.rs"), "{target_type:?}");
    }
    let directory = searcher.search(&ask("src", TargetType::Directory)).await.expect("an answer").files;
    assert_eq!(directory.first().map(|file| file.path.as_str()), Some("src"));
}

#[tokio::test]
async fn search_by_meaning_suggests_to_index_again() {
    let error = searcher().await.search(&ask("how are dates parsed", TargetType::Auto)).await.expect_err("refused");
    assert_eq!(error.code, QueryErrorCode::ModelMismatch);
    assert!(error.message.contains("`demo`") && error.message.contains("`other-1`"), "{error}");
    let call = error.next_calls.first().expect("a call");
    assert_eq!((call.tool, call.arguments.as_slice()), ("index_repository", &[("path", "demo".to_owned())][..]));
}
