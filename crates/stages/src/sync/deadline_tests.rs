//! Tests of sources that give no answer: their syncs end at the deadline, and so do the threads of these
//! syncs.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision, RunState, Source};
use cairn_ports::{
    Catalogue, ContentReader, ErrorKind, FailureCode, LedgerRead, ReadOptions, SnapshotTree, SourceCache, SourceError,
    SourceReader, SyncMeter, TreeEntry,
};
use tokio::sync::mpsc::UnboundedSender;

use super::tests::World;

/// The call of a source that gives no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Call {
    Head,
    Open,
    /// Reading the settings file.
    Settings,
    /// Reading a file.
    Content,
}

#[derive(Clone)]
struct Silent {
    call: Call,
    /// Receives a message when the call begins.
    begun: UnboundedSender<()>,
    /// Receives a message when the call ends.
    ended: mpsc::Sender<()>,
}

impl Silent {
    /// Waits until the sync is stopped.
    fn answer(&self, call: Call, meter: &SyncMeter) -> Result<(), SourceError> {
        if self.call != call {
            return Ok(());
        }
        self.begun.send(()).expect("the test waits");
        while !meter.is_stopped() {
            std::thread::yield_now();
        }
        self.ended.send(()).expect("the test waits");
        Err(SourceError::new(ErrorKind::Cancelled, "read", "silent"))
    }
}

impl SourceReader for Silent {
    fn head(&self, _: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError> {
        self.answer(Call::Head, &options.meter).map(|()| None)
    }

    fn open(&self, _: &Source, options: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError> {
        self.answer(Call::Open, &options.meter)?;
        let entry = |path: &str| TreeEntry {
            path: RepoPath::parse(path).expect("a path"),
            kind: EntryKind::File,
            blob: BlobId([path.len() as u8; 20]),
            size_bytes: 6,
            unreadable: None,
            changed_at: None,
        };
        let entries = vec![entry(".cairnignore"), entry("a.py")];
        Ok(Box::new(SilentTree { source: self.clone(), meter: Arc::clone(&options.meter), entries }))
    }
}

struct SilentTree {
    source: Silent,
    meter: Arc<SyncMeter>,
    entries: Vec<TreeEntry>,
}

impl SnapshotTree for SilentTree {
    fn revision(&self) -> &Revision {
        static REVISION: Revision = Revision::Commit(BlobId([9; 20]));
        &REVISION
    }

    fn branch(&self) -> Option<&str> {
        Some("main")
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError> {
        Ok(Box::new(SilentReader(self.source.clone(), Arc::clone(&self.meter))))
    }

    fn cache(&self) -> &SourceCache {
        static CACHE: SourceCache = SourceCache { stats: Vec::new(), history: Vec::new() };
        &CACHE
    }
}

struct SilentReader(Silent, Arc<SyncMeter>);

impl ContentReader for SilentReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let call = if entry.path.as_str() == "a.py" { Call::Content } else { Call::Settings };
        self.0.answer(call, &self.1).map(|()| b"x = 1\n".to_vec())
    }
}

/// A world with a published generation. After the publication, the source of the world does not answer one of
/// the calls.
async fn silent_world(call: Call) -> (World, tokio::sync::mpsc::UnboundedReceiver<()>, mpsc::Receiver<()>) {
    let mut world = World::new().await;
    world.publish(false, RunState::Published).await;
    let (begun, begins) = tokio::sync::mpsc::unbounded_channel();
    let (ended, ends) = mpsc::channel();
    world.sync.source = Arc::new(Silent { call, begun, ended });
    (world, begins, ends)
}

fn check_thread_ends(ends: &mpsc::Receiver<()>, call: Call) {
    ends.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{call:?}: the thread does not end"));
}

#[tokio::test(start_paused = true)]
async fn source_that_gives_no_answer_is_over_budget() {
    for call in [Call::Head, Call::Open, Call::Settings, Call::Content] {
        let (world, mut begins, ends) = silent_world(call).await;
        let published = async || {
            let view = world.runs.view().await.expect("a view");
            world.runs.published(&view, world.record.id).await.expect("the catalogue").expect("a generation").run
        };
        let before = published().await;
        let waiting = async {
            begins.recv().await.expect("the call begins");
            tokio::time::advance(Duration::from_secs(3_600)).await;
        };
        let (synced, ()) = tokio::join!(world.sync.run(world.request(false)), waiting);
        let error = synced.err().unwrap_or_else(|| panic!("{call:?}: the sync ends without an error"));
        assert_eq!(error.code, FailureCode::OverBudget, "{call:?}: {}", error.chain());
        let expected = "3600 seconds of wall time; the limit is 3600 (`ceilings.sync_timeout_seconds`)";
        assert!(error.chain().contains(expected), "{}", error.chain());
        check_thread_ends(&ends, call);
        let newest = world.runs.runs(Some(world.record.id), 1).await.expect("runs").remove(0);
        assert_eq!(newest.state, RunState::Failed, "{call:?}");
        assert!(newest.message.unwrap_or_default().contains("over_budget"), "{call:?}");
        assert_eq!(published().await, before, "{call:?}: the old generation is published");
    }
}

/// If a caller no longer waits for the sync, the threads of the sync end too.
#[tokio::test]
async fn threads_of_a_dropped_sync_end() {
    for call in [Call::Head, Call::Open, Call::Settings, Call::Content] {
        let (world, mut begins, ends) = silent_world(call).await;
        tokio::select! {
            _ = world.sync.run(world.request(false)) => panic!("{call:?}: the sync has ended"),
            begun = begins.recv() => begun.expect("the call begins"),
        }
        check_thread_ends(&ends, call);
    }
}

#[tokio::test(start_paused = true)]
async fn source_that_is_opened_before_the_sync_has_the_same_limit() {
    let (world, mut begins, ends) = silent_world(Call::Open).await;
    let request = world.request(false);
    let waiting = async {
        begins.recv().await.expect("the call begins");
        tokio::time::advance(Duration::from_secs(3_600)).await;
    };
    let (opened, ()) = tokio::join!(world.sync.check_source(&request), waiting);
    check_thread_ends(&ends, Call::Open);
    let synced = world.sync.run_opened(request, &mut Some(opened.expect("valid settings"))).await;
    assert_eq!(synced.err().map(|error| error.code), Some(FailureCode::OverBudget));
}
