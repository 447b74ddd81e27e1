//! Decides which questions have a second stage of the ranking, and reads the texts that the second stage
//! needs.

use std::collections::BTreeSet;

use cairn_domain::Scope;
use cairn_question::QueryType;
use cairn_ranking::{
    RankedHit, SecondStage, Signal, Signals, Subjects, asks_for_file, hits_of_second_stage, is_comparable, rerank,
};

use crate::chunk_id::{ChunkId, id_of_chunk};
use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

impl PreparedQuery {
    /// Whether the second stage orders the hits. The second stage compares the meaning of texts, so it is
    /// used only for questions about a topic, a pattern or a flow. Questions about modules are excluded,
    /// because documents answer such questions. For all other questions, names and paths decide the order.
    /// The names in the question must already be resolved.
    pub(crate) fn has_second_stage(&self, signals: Signals) -> bool {
        let types = [QueryType::Concept, QueryType::Pattern, QueryType::Flow];
        let is_about_meaning = types.contains(&self.parsed.query_type);
        let is_about_name = self.words.whole.is_some()
            || !self.names.leading.is_empty()
            || asks_for_file(&self.text, &self.words, self.subjects);
        let is_about_structure = is_about_name || self.subjects.navigation;
        signals.has(Signal::SecondStage) && is_about_meaning && !is_about_structure && is_comparable(&self.text)
    }
}

impl Searcher {
    /// Orders the hits with the second stage of the ranking, if the question uses this stage. The ordered
    /// hits contain their texts.
    pub(crate) async fn reranked(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        mut hits: Vec<RankedHit>,
        subjects: Subjects,
    ) -> Result<Vec<RankedHit>, QueryError> {
        if !query.has_second_stage(self.signals) {
            return Ok(hits);
        }
        let ids: BTreeSet<ChunkId> = hits_of_second_stage(&hits).map(|hit| id_of_chunk(&hit.chunk)).collect();
        let texts = self.fetch_texts(&query.view, scope, ids).await?;
        for hit in &mut hits {
            if let Some(chunk) = texts.get(&id_of_chunk(&hit.chunk)) {
                hit.chunk.text.clone_from(&chunk.text);
                hit.chunk.has_secrets = chunk.has_secrets;
            }
        }
        let stage = SecondStage {
            question: &query.text,
            similarity: &*self.similarity,
            frequencies: &query.frequencies,
            subjects,
            further_hits_count_less: query.weights(self.signals).reduces_further_hits(),
            signals: self.signals,
        };
        Ok(rerank(hits, stage))
    }
}
