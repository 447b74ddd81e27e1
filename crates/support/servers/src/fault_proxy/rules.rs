//! The rules of the proxy.

use std::num::NonZeroU64;
use std::time::Duration;

/// The rules for one connection or for all connections. By default, all bytes pass.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rules {
    /// New connections are refused; existing connections stay.
    pub refuse: bool,
    /// Existing and new connections end with a reset.
    pub reset: bool,
    /// The direction from the client to the server.
    pub requests: Direction,
    /// The direction from the server to the client.
    pub responses: Direction,
}

impl Rules {
    pub const REFUSE: Rules = Rules { refuse: true, ..Rules::PASS };
    pub const RESET: Rules = Rules { reset: true, ..Rules::PASS };
    /// Neither side receives anything from the other side, not even the end of the connection.
    pub const HANG: Rules = Rules { requests: Direction::HANG, responses: Direction::HANG, ..Rules::PASS };
    /// The server executes requests, but the client receives no response.
    pub const DROP_RESPONSES: Rules = Rules { responses: Direction::DISCARD, ..Rules::PASS };
    pub const PASS: Rules =
        Rules { refuse: false, reset: false, requests: Direction::PASS, responses: Direction::PASS };
}

/// How the bytes in one direction are treated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Direction {
    pub flow: Flow,
    /// The delay of each piece of up to 16 KiB.
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
    /// Bytes and the end of the stream wait until this rule is removed.
    Hang,
    /// Bytes are read and discarded. When this rule is removed, the connection is reset, because a stream
    /// cannot continue after a gap.
    Discard,
    /// The connection is closed in both directions after this number of bytes in this direction, counted from
    /// the start of the connection.
    CutAfter(u64),
}
