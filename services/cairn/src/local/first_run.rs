//! The first index run of the working tree of an MCP server. Several questions may wait for this run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_domain::RepositoryName;
use cairn_gateway::WatchIndexing;
use cairn_ports::{RunRecord, plain};
use tokio::sync::watch;

use super::{Hundreds, Indexed, Local, Progress, UnindexedTree, failure_of};

/// A run that may still be in progress.
pub(super) struct FirstRun {
    /// A sentence for the agent, when the run has ended.
    ended: watch::Receiver<Option<String>>,
    watchers: Arc<Watchers>,
}

impl FirstRun {
    /// Begins the run. The run continues even if no question waits for it.
    pub(super) fn begin(local: Arc<Local>, indexing: Arc<tokio::sync::Mutex<()>>, tree: UnindexedTree) -> Self {
        let (sender, ended) = watch::channel(None);
        let watchers = Arc::new(Watchers::default());
        let of_run = Arc::clone(&watchers);
        tokio::spawn(async move {
            let _turn = indexing.lock().await;
            let indexed = local.index_first(&tree.request, of_run.as_ref()).await;
            // An error is ignored: it occurs only after the receiver was dropped, and the receiver exists
            // until the end of the run was reported.
            let _ = sender.send(Some(notice_of(indexed)));
        });
        Self { ended, watchers }
    }

    /// From now on, also reports the progress of the run to this watcher.
    pub(super) fn add(&self, watch: Arc<dyn WatchIndexing>) {
        self.watchers.add(watch);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// A future that waits for the end of the run, and returns a sentence for the agent. The future returns
    /// `None` if the run has not ended within the limit.
    pub(super) fn end(&self, limit: Duration) -> impl Future<Output = Option<String>> + use<> {
        let mut ended = self.ended.clone();
        async move {
            let waiting = ended.wait_for(Option::is_some);
            match tokio::time::timeout(limit, waiting).await {
                Ok(Ok(ended)) => ended.clone(),
                Ok(Err(_)) => Some(not_indexed("the run was stopped")),
                Err(_) => None,
            }
        }
    }
}

fn notice_of(indexed: anyhow::Result<Indexed>) -> String {
    let failure = match &indexed {
        Ok(indexed) => failure_of(indexed),
        Err(error) => Some(plain(error.as_ref())),
    };
    match (failure, indexed) {
        (None, Ok(indexed)) => {
            let num_files = indexed.result.files_indexed;
            format!("this working tree was not indexed; its {num_files} files are indexed now")
        }
        (why, _) => not_indexed(why.as_deref().unwrap_or_default()),
    }
}

fn not_indexed(why: &str) -> String {
    format!("this working tree cannot be indexed: {why}")
}

/// Reports the progress of one run to several calls.
#[derive(Default)]
pub(super) struct Watchers {
    watchers: Mutex<Vec<Arc<dyn WatchIndexing>>>,
    hundreds: Hundreds,
    num_ended: Mutex<u32>,
}

impl Watchers {
    pub(super) fn of(watch: Arc<dyn WatchIndexing>) -> Self {
        let watchers = Self::default();
        watchers.add(watch);
        watchers
    }

    fn add(&self, watch: Arc<dyn WatchIndexing>) {
        lock(&self.watchers).push(watch);
    }
}

impl Progress for Watchers {
    fn reading(&self, _name: &RepositoryName) {}

    fn files_read(&self, _name: &RepositoryName, num_files: u64) {
        for num_files in self.hundreds.passed(num_files) {
            lock(&self.watchers).iter().for_each(|watch| watch.files_read(num_files));
        }
    }

    fn parts(&self, run: &RunRecord) {
        let mut num_ended = lock(&self.num_ended);
        if *num_ended < run.num_ended {
            *num_ended = run.num_ended;
            lock(&self.watchers).iter().for_each(|watch| watch.parts_ended(run.num_ended, run.num_parts));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No method leaves the values inconsistent, so they can be used after another thread has panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
