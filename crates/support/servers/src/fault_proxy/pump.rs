//! Transfers the bytes of one connection in one direction, as the rules require.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use super::rules::{Direction, Flow, Rules};

const PIECE_BYTES: usize = 16 * 1024;
/// The number of pieces per second on a slow connection. Pieces are small, so that a change of the rules soon
/// takes effect.
const PIECES_PER_SECOND: u64 = 20;

/// Selects the rules of the direction in which a pump transfers bytes.
pub(crate) type Side = fn(&Rules) -> Direction;

/// The way in which a direction ended.
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
    /// The number of bytes in this direction since the connection began.
    pub num_passed: u64,
    /// Whether bytes were lost, so that the stream has a gap.
    pub has_hole: bool,
}

impl Pump<'_> {
    /// If the client or the server breaks the connection, the other side gets a reset, as it would without a
    /// proxy.
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

    /// Returns the current rules of this direction, and marks them as seen.
    fn direction(&mut self) -> Direction {
        (self.side)(&self.rules.borrow_and_update())
    }

    fn is_cut(&self, flow: Flow) -> bool {
        matches!(flow, Flow::CutAfter(limit) if self.num_passed >= limit)
    }

    /// Waits as the rules require. After the wait, treats the piece according to the rules that are then in
    /// force.
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

    /// Handles the end of the sender's stream. While the flow is `Hang` or `Discard`, the end is not
    /// forwarded to the receiver.
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

    /// Waits until the rules change. Never returns after the proxy was dropped, because the connections end
    /// with the proxy.
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
