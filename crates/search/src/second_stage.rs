//! Decides which questions have a second stage of the ranking, and reads the texts that the second stage
//! needs.

use std::collections::BTreeMap;

use cairn_domain::{ContentHash, Scope};
use cairn_question::QueryType;
use cairn_ranking::{
    RankedHit, SecondStage, Signal, Signals, Subjects, asks_for_file, hits_of_second_stage, is_comparable, rerank,
};

use crate::chunk_id::{ChunkId, id_of_chunk};
use crate::known_texts::ShownText;
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
    /// Orders the hits with the second stage of the ranking, if the question uses this stage. Most of the
    /// ordered hits then contain their texts.
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
        let ids = hits_of_second_stage(&hits).map(|hit| (id_of_chunk(&hit.chunk), hit.chunk.content_hash));
        let ids: BTreeMap<ChunkId, ContentHash> = ids.collect();
        let (mut facts, mut known) = self.known_texts.of(query.view.seq, &ids);
        let missing = ids.iter().filter(|(_, hash)| !facts.contains_key(hash)).map(|(id, _)| *id).collect();
        for (id, chunk) in self.fetch_texts(&query.view, scope, missing).await? {
            let (hash, shown) = (chunk.content_hash, ShownText { text: chunk.text, has_secrets: chunk.has_secrets });
            facts.insert(hash, self.known_texts.add(query.view.seq, (id, hash), &shown));
            known.insert(id, shown);
        }
        for hit in &mut hits {
            if let Some(shown) = known.remove(&id_of_chunk(&hit.chunk)) {
                hit.chunk.text = shown.text;
                hit.chunk.has_secrets = shown.has_secrets;
            }
        }
        let stage = SecondStage {
            question: &query.text,
            texts: &facts,
            similarity: &*self.similarity,
            frequencies: &query.frequencies,
            subjects,
            further_hits_count_less: query.weights(self.signals).reduces_further_hits(),
            signals: self.signals,
        };
        Ok(rerank(hits, stage))
    }
}
