//! Carries one direction of one connection under its rules.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use super::rules::{Direction, Flow, Rules};

const PIECE_BYTES: usize = 16 * 1024;
/// Pieces per second on a slow line, so that a change of its rules takes effect soon.
const PIECES_PER_SECOND: u64 = 20;

/// Selects the direction of the rules that a pump uses.
pub(crate) type Side = fn(&Rules) -> Direction;

/// How a direction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The sender has finished; the other direction may continue.
    Finished,
    /// The connection is closed.
    Cut,
    Reset,
}

pub(crate) struct Pump<'a> {
    pub from: ReadHalf<'a>,
    pub to: WriteHalf<'a>,
    pub rules: watch::Receiver<Rules>,
    pub side: Side,
    /// Bytes in this direction since the connection began.
    pub num_passed: u64,
    /// Bytes were lost: the stream has a hole.
    pub has_hole: bool,
}

impl Pump<'_> {
    /// An error of either end resets the connection, as a proxy without rules would pass it on.
    pub async fn run(mut self) -> End {
        self.carry().await.unwrap_or(End::Reset)
    }

    async fn carry(&mut self) -> io::Result<End> {
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            let direction = self.direction();
            if self.has_hole && direction.flow != Flow::Discard {
                return Ok(End::Reset);
            }
            if self.is_cut(direction.flow) {
                return Ok(End::Cut);
            }
            let num_wanted = piece_size(direction.bytes_per_second);
            let num_read = tokio::select! {
                // The rules are checked before each read, so that bytes that are read after a change follow
                // the new rules.
                biased;
                _ = self.rules.changed() => continue,
                num_read = self.from.read(&mut buffer[..num_wanted]), if direction.flow != Flow::Hang => num_read?,
            };
            if num_read == 0 {
                return self.finish().await;
            }
            if let Some(end) = self.deliver(&buffer[..num_read]).await? {
                return Ok(end);
            }
        }
    }

    /// Reads the rules; only a later change counts as a change.
    fn direction(&mut self) -> Direction {
        (self.side)(&self.rules.borrow_and_update())
    }

    fn is_cut(&self, flow: Flow) -> bool {
        matches!(flow, Flow::CutAfter(limit) if self.num_passed >= limit)
    }

    /// Waits, and then treats the piece by the rules of that time.
    async fn deliver(&mut self, piece: &[u8]) -> io::Result<Option<End>> {
        let before = self.direction();
        sleep(before.latency + time_of(piece.len(), before.bytes_per_second)).await;
        let mut direction = self.direction();
        while direction.flow == Flow::Hang {
            self.wait_for_change().await;
            direction = self.direction();
        }
        if direction.flow == Flow::Discard {
            self.has_hole = true;
            return Ok(None);
        }
        let piece = match direction.flow {
            Flow::CutAfter(limit) => {
                let num_left = usize::try_from(limit.saturating_sub(self.num_passed)).unwrap_or(usize::MAX);
                &piece[..num_left.min(piece.len())]
            }
            _ => piece,
        };
        self.to.write_all(piece).await?;
        self.num_passed += piece.len() as u64;
        Ok(self.is_cut(direction.flow).then_some(End::Cut))
    }

    /// The sender has closed its direction. Under `Hang` and `Discard` the receiver does not learn this.
    async fn finish(&mut self) -> io::Result<End> {
        while self.has_hole || matches!(self.direction().flow, Flow::Hang | Flow::Discard) {
            self.wait_for_change().await;
            if self.has_hole && self.direction().flow != Flow::Discard {
                return Ok(End::Reset);
            }
        }
        self.to.shutdown().await?;
        Ok(End::Finished)
    }

    /// Never returns after the proxy was dropped; its connections end with it.
    async fn wait_for_change(&mut self) {
        if self.rules.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn piece_size(bytes_per_second: Option<NonZeroU64>) -> usize {
    let share = bytes_per_second.map_or(u64::MAX, |rate| (rate.get() / PIECES_PER_SECOND).max(1));
    usize::try_from(share).unwrap_or(usize::MAX).min(PIECE_BYTES)
}

fn time_of(num_bytes: usize, bytes_per_second: Option<NonZeroU64>) -> Duration {
    bytes_per_second.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(num_bytes as f64 / rate.get() as f64))
}
