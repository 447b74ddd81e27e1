//! A question that is prepared once for all its retrievals.

use cairn_domain::{DenseVector, InputType, View};
use cairn_question::{ParseOptions, ParsedQuery};
use cairn_ranking::{QueryWords, Subjects, query_terms};

use crate::{QueryError, QueryErrorCode, Searcher};

/// The words, the weighted terms and the vector of a question, and the view that the question reads.
pub(crate) struct PreparedQuery {
    pub(crate) view: View,
    /// The type of the question, and the names in it.
    pub(crate) parsed: ParsedQuery,
    pub(crate) words: QueryWords,
    /// The kinds of chunks that the question requests.
    pub(crate) subjects: Subjects,
    /// Sorted by term.
    pub(crate) terms: Vec<(u32, u32)>,
    pub(crate) vector: DenseVector,
}

impl Searcher {
    /// Embeds the text of the question once.
    pub(crate) async fn prepare(&self, view: View, text: &str) -> Result<PreparedQuery, QueryError> {
        let vector = self.embedder.embed(InputType::Query, &[text]).await?.pop();
        let no_vector = || QueryError::new(QueryErrorCode::InternalError, "the embedder returned no vector");
        Ok(PreparedQuery {
            view,
            parsed: ParsedQuery::new(text, ParseOptions::default()),
            words: QueryWords::of(text),
            subjects: Subjects::of(text),
            terms: query_terms(text),
            vector: vector.ok_or_else(no_vector)?,
        })
    }
}
