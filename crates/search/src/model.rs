//! Excludes repositories whose vectors were made by a different embedding model. Vectors of two models are
//! never compared.

use cairn_redaction::{Given, Message};

use crate::repositories::KnownRepository;
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

impl Searcher {
    /// The repositories that a search by vectors can read, and notes about the repositories that are left
    /// out. Fails if the vectors of every published repository were made by a different model.
    pub(crate) fn with_this_model(
        &self,
        selected: Vec<KnownRepository>,
    ) -> Result<(Vec<KnownRepository>, Vec<Message>), QueryError> {
        let model = &self.embedder.model().name;
        let other = |known: &KnownRepository| {
            let published = known.published.as_ref().filter(|published| published.model != *model)?;
            let (name, other) = (&known.record.name, &published.model);
            let message = Message::from("repository ").and(name).and(" was indexed with embedding model ");
            Some(message.and(Given(other)).and(", but the model is now ").and(Given(model)))
        };
        let notes: Vec<Message> = selected.iter().filter_map(other).collect();
        let (others, same): (Vec<KnownRepository>, Vec<KnownRepository>) =
            selected.into_iter().partition(|known| other(known).is_some());
        let Some(first) = others.first().filter(|_| same.iter().all(|known| known.published.is_none())) else {
            let left_out =
                |why| Message::from("The search leaves a repository out: ").and(why).and(". Index it again.");
            let notes = notes.into_iter().map(left_out);
            return Ok((same, notes.collect()));
        };
        let message = notes.into_iter().next().unwrap_or_default();
        let error = QueryError::new(QueryErrorCode::ModelMismatch, message);
        let error = error.hint("index it again to build its vectors with this model; exact search needs no vectors");
        Err(error.next(NextCall {
            tool: "index_repository",
            reason: "builds the vectors with this model".into(),
            arguments: vec![("path", first.record.name.to_string())],
        }))
    }
}
