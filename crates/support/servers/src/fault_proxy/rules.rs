//! Rules of the proxy.

use std::num::NonZeroU64;
use std::time::Duration;

/// Rules of one connection, or of all. By default everything passes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rules {
    /// New connections are refused; existing ones stay.
    pub refuse: bool,
    /// Existing and new connections end with a reset.
    pub reset: bool,
    /// From the client to the server.
    pub requests: Direction,
    /// From the server to the client.
    pub responses: Direction,
}

impl Rules {
    pub const REFUSE: Rules = Rules { refuse: true, ..Rules::PASS };
    pub const RESET: Rules = Rules { reset: true, ..Rules::PASS };
    /// Neither side receives anything from the other, not even the end of the connection.
    pub const HANG: Rules = Rules { requests: Direction::HANG, responses: Direction::HANG, ..Rules::PASS };
    /// The server executes requests, but the client receives no response.
    pub const DROP_RESPONSES: Rules = Rules { responses: Direction::DISCARD, ..Rules::PASS };
    pub const PASS: Rules =
        Rules { refuse: false, reset: false, requests: Direction::PASS, responses: Direction::PASS };
}

/// Treatment of the bytes in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Direction {
    pub flow: Flow,
    /// Delay of each piece of up to 16 KiB.
    pub latency: Duration,
    pub bytes_per_second: Option<NonZeroU64>,
}

impl Direction {
    pub const PASS: Direction = Direction { flow: Flow::Pass, latency: Duration::ZERO, bytes_per_second: None };
    pub const HANG: Direction = Direction { flow: Flow::Hang, ..Direction::PASS };
    pub const DISCARD: Direction = Direction { flow: Flow::Discard, ..Direction::PASS };

    pub fn cut_after(num_bytes: u64) -> Self {
        Self { flow: Flow::CutAfter(num_bytes), ..Self::PASS }
    }

    pub fn delayed_by(latency: Duration) -> Self {
        Self { latency, ..Self::PASS }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Flow {
    #[default]
    Pass,
    /// Bytes and the end of the stream wait until the rule is removed.
    Hang,
    /// Bytes are read and lost. When the rule is removed, the connection is reset, because a stream cannot
    /// continue with a hole.
    Discard,
    /// The connection is closed in both directions after this number of bytes in this direction, counted from
    /// its start.
    CutAfter(u64),
}
