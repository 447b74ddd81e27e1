//! What the proxy does to connections.

use std::num::NonZeroU64;
use std::time::Duration;

/// Of one connection, or of all. The default lets everything pass.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rules {
    /// Nobody listens: new connections are refused. Those that stand are left alone.
    pub refuse: bool,
    /// Connections end with a reset, those that stand and new ones.
    pub reset: bool,
    /// From the client to the server.
    pub requests: Direction,
    /// From the server to the client.
    pub responses: Direction,
}

impl Rules {
    pub const REFUSE: Rules = Rules { refuse: true, ..Rules::PASS };
    pub const RESET: Rules = Rules { reset: true, ..Rules::PASS };
    /// Neither side hears anything of the other, not even that it is gone.
    pub const HANG: Rules = Rules { requests: Direction::HANG, responses: Direction::HANG, ..Rules::PASS };
    /// The server does what it is asked, and the client never learns of it.
    pub const DROP_RESPONSES: Rules = Rules { responses: Direction::DISCARD, ..Rules::PASS };
    pub const PASS: Rules =
        Rules { refuse: false, reset: false, requests: Direction::PASS, responses: Direction::PASS };
}

/// What becomes of the bytes in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Direction {
    pub flow: Flow,
    /// Each piece of up to 16 KiB waits that long.
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
    /// Bytes stay where they are and go on when the rule is gone; the end of the stream stays as well.
    Hang,
    /// Bytes are taken and lost. When the rule is gone, the connection is reset: a stream cannot go on with a hole.
    Discard,
    /// The connection is closed in both directions after so many bytes in this one, counted from its start.
    CutAfter(u64),
}
