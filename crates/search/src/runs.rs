//! Finds index runs, and converts them to the form that callers receive.
//!
//! Generation numbers are shared by all tenants, so callers do not receive them. Instead, callers receive a
//! run id, which is a digest of the repository and the generation, keyed with the key of the service. The id
//! reveals nothing about other tenants and does not change.

use std::collections::BTreeMap;

use cairn_domain::{Digester, RepositoryId, RunId};
use cairn_ports::RunRecord;
use cairn_redaction::{Given, Message};

use crate::bounds;
use crate::repositories::KnownRepository;
use crate::{NextCall, QueryError, QueryErrorCode, RepositorySelection, Searcher};

/// Number of newest runs of each repository that are searched for a run id.
const RUNS_SEARCHED: usize = 50;
/// Number of newest runs that are searched if exactly one repository is selected.
const RUNS_SEARCHED_OF_ONE: usize = 1_000;
/// The maximum number of runs that are searched in all repositories together. A limit is needed because each
/// run is read completely.
const RUNS_SEARCHED_IN_ALL: usize = 5_000;
const RUN_ID_DIGITS: usize = 12;

/// A run with its id for callers.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownRun {
    pub id: String,
    /// Name of the repository.
    pub repository: String,
    pub record: RunRecord,
}

impl Searcher {
    /// The id of a run for callers.
    pub fn run_id(&self, run: RunId) -> String {
        let of = Digester::new("run").key_of(run.repository.0).number(run.generation.0).digest();
        let digest = blake3::keyed_hash(&self.cursor_key.derive("run ids"), &of.0);
        format!("r{}", &digest.to_hex()[..RUN_ID_DIGITS])
    }

    fn known_run(&self, known: &KnownRepository, record: RunRecord) -> KnownRun {
        KnownRun { id: self.run_id(record.id), repository: known.record.name.to_string(), record }
    }

    /// The runs of the repositories, newest first.
    pub async fn runs(&self, selection: &RepositorySelection, limit: usize) -> Result<Vec<KnownRun>, QueryError> {
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, selection).await?;
        self.known_runs(&selected, limit, limit).await
    }

    /// The newest runs, newest first: at most `of_each` runs of each repository, and at most `in_all` runs in
    /// total.
    async fn known_runs(
        &self,
        selected: &[KnownRepository],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<KnownRun>, QueryError> {
        let by_id: BTreeMap<RepositoryId, &KnownRepository> =
            selected.iter().map(|known| (known.record.id, known)).collect();
        let ids: Vec<RepositoryId> = by_id.keys().copied().collect();
        let runs = self.ledger.runs_of(&ids, of_each, in_all).await?.into_iter();
        let known_run = |record: RunRecord| Some(self.known_run(by_id.get(&record.id.repository)?, record));
        Ok(runs.filter_map(known_run).collect())
    }

    /// The unfinished runs of the repositories, oldest first.
    pub async fn unfinished_runs(&self, selection: &RepositorySelection) -> Result<Vec<KnownRun>, QueryError> {
        // A repository has at most one unfinished run, and this run is the newest run.
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, selection).await?;
        let mut runs = self.known_runs(&selected, 1, usize::MAX).await?;
        runs.retain(|run| !run.record.state.is_finished());
        runs.reverse();
        Ok(runs)
    }

    /// The run with this id.
    pub async fn find_run(&self, selection: &RepositorySelection, id: &str) -> Result<KnownRun, QueryError> {
        bounds::word("run_id", id)?;
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, selection).await?;
        // A word that is a pattern may select several repositories.
        let is_named = selected.len() == 1;
        let of_each = if is_named { RUNS_SEARCHED_OF_ONE } else { RUNS_SEARCHED };
        let runs = self.known_runs(&selected, of_each, RUNS_SEARCHED_IN_ALL).await?;
        if let Some(found) = runs.into_iter().find(|run| run.id == id) {
            return Ok(found);
        }
        let message = Message::from("run ").and(Given(id)).and(" does not exist");
        let error = QueryError::new(QueryErrorCode::NotFound, message);
        let hint = if is_named {
            "call without `run_id` to list the newest runs".into()
        } else {
            let hint = Message::from("only the newest ").and(RUNS_SEARCHED).and(" runs of each repository and ");
            hint.and(RUNS_SEARCHED_IN_ALL).and(" of all are searched; name the repository to find an older run")
        };
        Err(error.hint(hint).next(NextCall {
            tool: "index_status",
            reason: "lists the newest runs".into(),
            arguments: Vec::new(),
        }))
    }
}
