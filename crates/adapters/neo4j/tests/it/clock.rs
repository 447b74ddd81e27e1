//! Tests the clock of the server.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use cairn_conformance::clock::{self, ClockUnderTest};
use cairn_conformance::suite;
use cairn_neo4j::Neo4jClock;
use cairn_ports::Clock;

use crate::server::Namespace;

struct Subject(Neo4jClock);

impl ClockUnderTest for Subject {
    fn clock(&self) -> &dyn Clock {
        &self.0
    }

    fn pass(&self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            std::thread::yield_now();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_clock_passes_the_suite() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let open = async || {
        let clock = Neo4jClock::start(namespace.neo4j.clone()).await?;
        Ok(Box::new(Subject(clock)) as Box<dyn ClockUnderTest>)
    };
    let checks = clock::checks();
    suite::catches(&checks, &clock::faults(), open).await?;
    suite::passes(&checks, open).await?;
    // The test server runs on this machine, so the test and the server have the same clock.
    let clock = Neo4jClock::start(namespace.neo4j.clone()).await?;
    let here_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
    ensure!(
        (clock.now_ms() - here_ms).abs() < 5000,
        "the clock shows {} ms, but the machine shows {here_ms} ms",
        clock.now_ms()
    );
    Ok(())
}
