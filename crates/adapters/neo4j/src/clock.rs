//! Provides the time that all services share: the clock of the server. Leases are compared with this time, so
//! that machines with different clocks agree on the owner of a lease.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cairn_ports::{Clock, MaintenanceError};
use neo4rs::Query;

use crate::connection::Neo4j;
use crate::fault::{self, Fault};

/// The clock is measured again after this time. A quartz clock drifts by a few milliseconds during this time.
const MEASURE_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Computes the time of the server from the local monotonic clock and the measured difference.
pub struct Neo4jClock {
    shared: Arc<Shared>,
}

struct Shared {
    start: Instant,
    /// Time of the server at `start`, in milliseconds since 1970.
    offset_ms: AtomicI64,
}

impl Neo4jClock {
    /// Reads the time of the server now, and then every minute until the clock is dropped.
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
        // While the server is unreachable, the last measured difference remains in use.
        let _ = shared.measure(&neo4j).await;
    }
}

impl Shared {
    /// The server read its clock at some time between the request and the response. The midpoint of this
    /// interval differs from that time by at most half of the interval.
    async fn measure(&self, neo4j: &Neo4j) -> Result<(), Fault> {
        let statement = Query::new("RETURN timestamp() AS now_ms".to_owned());
        let before = self.start.elapsed();
        let rows = neo4j.transact(&statement).await?;
        let after = self.start.elapsed();
        let row = rows.first().ok_or_else(|| Fault::damaged("a statement returned no row"))?;
        let middle_ms = ((before + after) / 2).as_millis() as i64;
        self.offset_ms.store(row.get::<i64>("now_ms")? - middle_ms, Ordering::Relaxed);
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
