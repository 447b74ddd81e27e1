//! One collection: the engine's shard, the journal of unflushed changes, and a thread that flushes and
//! optimises.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use qdrant_client::qdrant::{CreateCollection, UpdateCollection};
use qdrant_edge::{
    ConditionalInsertOperation, CountRequest, CreateIndex, DeletePayloadOp, EdgeShard, FieldIndexOperations, Filter,
    PayloadOps, PointInsertOperations, PointOperations, SetPayloadOp, UpdateMode, UpdateOperation,
};
use tonic::Status;

use crate::convert::{config, filter, points, status, wrong};
use crate::journal::{Change, Journal};
use crate::settings;

/// If no further write arrives within this time, the writes are flushed and indexed.
const QUIET: Duration = Duration::from_millis(300);
/// When the first unflushed write has waited for this time, the writes are flushed and indexed even if more
/// writes arrive.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Collection {
    pub directory: PathBuf,
    pub settings: RwLock<CreateCollection>,
    shard: EdgeShard,
    writer: Mutex<Journal>,
    num_operations: AtomicU64,
    background: Background,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The shared state of the collection and its background thread.
#[derive(Default)]
struct Background {
    state: Mutex<State>,
    changed: Condvar,
    is_optimizing: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The times of the first and the last unflushed write.
    unflushed: Option<(Instant, Instant)>,
    stops: bool,
}

/// Locks a mutex even if it is poisoned. The values that this program protects with locks are consistent
/// after any panic.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collection {
    pub fn create(directory: &Path, settings: CreateCollection) -> Result<Arc<Self>, Status> {
        let internal = |error: std::io::Error| Status::internal(error.to_string());
        let config = config::edge(&settings)?;
        let shard = directory.join("shard");
        std::fs::create_dir_all(&shard).map_err(internal)?;
        let shard = EdgeShard::new(&shard, config).map_err(status)?;
        // The settings are written last, because a folder without settings is not treated as a collection.
        settings::write(directory, &settings).map_err(internal)?;
        let (journal, _) = Journal::open(&directory.join("journal")).map_err(internal)?;
        Ok(Self::start(directory, settings, shard, journal))
    }

    /// Opens a collection and applies the changes of its journal.
    pub fn open(directory: &Path, settings: CreateCollection) -> Result<Arc<Self>> {
        let shard = EdgeShard::load(&directory.join("shard"), None).map_err(|error| anyhow!("{error}"))?;
        let (journal, changes) = Journal::open(&directory.join("journal")).context("journal")?;
        let has_changes = !changes.is_empty();
        for change in changes {
            apply(&shard, change).map_err(|status| anyhow!("journal: {}", status.message()))?;
        }
        let collection = Self::start(directory, settings, shard, journal);
        if has_changes {
            collection.note_write();
        }
        Ok(collection)
    }

    fn start(directory: &Path, settings: CreateCollection, shard: EdgeShard, journal: Journal) -> Arc<Self> {
        let collection = Arc::new(Self {
            directory: directory.to_owned(),
            settings: RwLock::new(settings),
            shard,
            writer: Mutex::new(journal),
            num_operations: AtomicU64::new(0),
            background: Background::default(),
            thread: Mutex::new(None),
        });
        let own = Arc::clone(&collection);
        *locked(&collection.thread) = Some(std::thread::spawn(move || own.maintain()));
        collection
    }

    pub fn shard(&self) -> &EdgeShard {
        &self.shard
    }

    pub fn settings(&self) -> CreateCollection {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether all changes are flushed and indexed.
    pub fn is_settled(&self) -> bool {
        locked(&self.background.state).unflushed.is_none() && !self.background.is_optimizing.load(Ordering::SeqCst)
    }

    pub fn num_points(&self) -> Result<u64, Status> {
        let count = self.shard.count(CountRequest { filter: None, exact: true });
        count.map(|count| count as u64).map_err(status)
    }

    /// Applies a change and writes it to the journal, so that it survives the end of the process. Returns the
    /// number of the change.
    pub fn change(&self, change: Change) -> Result<u64, Status> {
        let mut journal = locked(&self.writer);
        apply(&self.shard, change.clone())?;
        journal.append(&change).map_err(|error| Status::internal(error.to_string()))?;
        self.note_write();
        Ok(self.num_operations.fetch_add(1, Ordering::SeqCst))
    }

    pub fn update_settings(&self, update: &UpdateCollection) -> Result<(), Status> {
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = settings.clone();
        if let Some(diff) = &update.hnsw_config {
            let merged = config::merged_hnsw(&new.hnsw_config.unwrap_or_default(), diff);
            self.shard.set_hnsw_config(config::hnsw(&merged)?).map_err(status)?;
            new.hnsw_config = Some(merged);
        }
        if let Some(diff) = &update.optimizers_config {
            let merged = config::merged_optimizers(&new.optimizers_config.unwrap_or_default(), diff);
            self.shard.set_optimizers_config(config::optimizers(&merged)?).map_err(status)?;
            new.optimizers_config = Some(merged);
        }
        settings::write(&self.directory, &new).map_err(|error| Status::internal(error.to_string()))?;
        *settings = new;
        self.note_write();
        Ok(())
    }

    fn note_write(&self) {
        let now = Instant::now();
        let mut state = locked(&self.background.state);
        let first = state.unflushed.map_or(now, |(first, _)| first);
        state.unflushed = Some((first, now));
        self.background.changed.notify_all();
    }

    /// The main function of the collection's thread.
    fn maintain(&self) {
        while self.wait_for_work() {
            self.background.is_optimizing.store(true, Ordering::SeqCst);
            self.flush();
            if let Err(error) = self.shard.optimize() {
                eprintln!("optimising {}: {error}", self.directory.display());
            }
            self.background.is_optimizing.store(false, Ordering::SeqCst);
        }
        self.flush();
    }

    /// Waits until there is work. Returns false when the thread must end.
    fn wait_for_work(&self) -> bool {
        let mut state = locked(&self.background.state);
        loop {
            if state.stops {
                return false;
            }
            let Some((first, last)) = state.unflushed else {
                state = self.background.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let due = (last + QUIET).min(first + PATIENCE);
            let wait = due.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return true;
            }
            let waited = self.background.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes all changes into the engine's files. This function is never called while the engine optimises,
    /// because the engine would refuse the flush.
    fn flush(&self) {
        let mut journal = locked(&self.writer);
        self.shard.flush();
        if let Err(error) = journal.clear() {
            eprintln!("clearing the journal of {}: {error}", self.directory.display());
        }
        locked(&self.background.state).unflushed = None;
    }

    /// Flushes a last time and ends the collection's thread.
    pub fn stop(&self) {
        locked(&self.background.state).stops = true;
        self.background.changed.notify_all();
        if let Some(thread) = locked(&self.thread).take()
            && thread.join().is_err()
        {
            eprintln!("the thread of {} panicked", self.directory.display());
        }
    }
}

fn apply(shard: &EdgeShard, change: Change) -> Result<(), Status> {
    shard.update(operation(shard, change)?).map_err(status)
}

fn operation(shard: &EdgeShard, change: Change) -> Result<UpdateOperation, Status> {
    Ok(match change {
        Change::Upsert(request) => {
            let points = request.points.iter().map(points::point).collect::<Result<Vec<_>, _>>()?;
            points::check(&points, &shard.config())?;
            let points_op = PointInsertOperations::PointsList(points);
            let update_mode = match request.update_mode.unwrap_or_default() {
                0 => None,
                1 => Some(UpdateMode::InsertOnly),
                2 => Some(UpdateMode::UpdateOnly),
                other => return Err(wrong(format!("the update mode {other} is unknown"))),
            };
            let condition = filter::optional(request.update_filter.as_ref())?;
            UpdateOperation::PointOperation(if update_mode.is_none() && condition.is_none() {
                PointOperations::UpsertPoints(points_op)
            } else {
                let condition = condition.unwrap_or_else(Filter::default);
                PointOperations::UpsertPointsConditional(ConditionalInsertOperation {
                    points_op,
                    condition,
                    update_mode,
                })
            })
        }
        Change::Delete(request) => UpdateOperation::PointOperation(match points::selected(request.points.as_ref())? {
            (Some(ids), _) => PointOperations::DeletePoints { ids },
            (None, filter) => PointOperations::DeletePointsByFilter(filter.unwrap_or_default()),
        }),
        Change::SetPayload(request) => {
            let (points, filter) = points::selected(request.points_selector.as_ref())?;
            let key = request.key.as_deref().map(points::path).transpose()?;
            let operation = SetPayloadOp { payload: points::payload(&request.payload)?, points, filter, key };
            UpdateOperation::PayloadOperation(PayloadOps::SetPayload(operation))
        }
        Change::OverwritePayload(request) => {
            let (points, filter) = points::selected(request.points_selector.as_ref())?;
            let operation = SetPayloadOp { payload: points::payload(&request.payload)?, points, filter, key: None };
            UpdateOperation::PayloadOperation(PayloadOps::OverwritePayload(operation))
        }
        Change::DeletePayload(request) => {
            let (points, filter) = points::selected(request.points_selector.as_ref())?;
            let keys = request.keys.iter().map(|key| points::path(key)).collect::<Result<_, _>>()?;
            UpdateOperation::PayloadOperation(PayloadOps::DeletePayload(DeletePayloadOp { keys, points, filter }))
        }
        Change::ClearPayload(request) => {
            UpdateOperation::PayloadOperation(match points::selected(request.points.as_ref())? {
                (Some(points), _) => PayloadOps::ClearPayload { points },
                (None, filter) => PayloadOps::ClearPayloadByFilter(filter.unwrap_or_default()),
            })
        }
        Change::CreateIndex(request) => {
            let field_name = points::path(&request.field_name)?;
            let index = CreateIndex { field_name, field_schema: Some(config::index(&request)?) };
            UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(index))
        }
        Change::DeleteIndex(request) => {
            let field_name = points::path(&request.field_name)?;
            UpdateOperation::FieldIndexOperation(FieldIndexOperations::DeleteIndex(field_name))
        }
    })
}
