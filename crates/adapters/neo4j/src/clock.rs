//! The time that all services share: the server's. Leases are compared by it, so that machines whose clocks disagree
//! still agree on who holds one.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cairn_ports::{Clock, MaintenanceError};
use neo4rs::Query;

use crate::connection::Neo4j;
use crate::fault::{self, Fault};

/// How long a measured difference is good for. Quartz drifts a few milliseconds in that time.
const MEASURE_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// The server's clock, as far as a monotonic one and the difference to it tell.
pub struct Neo4jClock {
    shared: Arc<Shared>,
}

struct Shared {
    start: Instant,
    /// Milliseconds since 1970 at the server when `start` was.
    offset_ms: AtomicI64,
}

impl Neo4jClock {
    /// Asks the server for its time, now and again every minute until the clock is dropped.
    pub async fn start(neo4j: Neo4j) -> Result<Self, MaintenanceError> {
        let shared = Arc::new(Shared { start: Instant::now(), offset_ms: AtomicI64::new(0) });
        shared.measure(&neo4j).await.map_err(fault::of("start", &"clock"))?;
        tokio::spawn(follow(neo4j, Arc::downgrade(&shared)));
        Ok(Self { shared })
    }
}

async fn follow(neo4j: Neo4j, clock: Weak<Shared>) {
    loop {
        tokio::time::sleep(MEASURE_AGAIN_AFTER).await;
        let Some(shared) = clock.upgrade() else { return };
        // While the server is away the last difference goes on to hold.
        let _ = shared.measure(&neo4j).await;
    }
}

impl Shared {
    /// The server read its clock somewhere between question and answer: half way is off by no more than half of that.
    async fn measure(&self, neo4j: &Neo4j) -> Result<(), Fault> {
        let statement = Query::new("RETURN timestamp() AS now_ms".to_owned());
        let before = self.start.elapsed();
        let rows = neo4j.transact(&statement).await?;
        let after = self.start.elapsed();
        let row = rows.first().ok_or_else(|| Fault::damaged("a statement without a row"))?;
        let half_way_ms = ((before + after) / 2).as_millis() as i64;
        self.offset_ms.store(row.get::<i64>("now_ms")? - half_way_ms, Ordering::Relaxed);
        Ok(())
    }
}

impl Clock for Neo4jClock {
    fn now_ms(&self) -> i64 {
        self.shared.offset_ms.load(Ordering::Relaxed) + self.monotonic().as_millis() as i64
    }

    fn monotonic(&self) -> Duration {
        self.shared.start.elapsed()
    }
}
