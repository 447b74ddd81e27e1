//! Tests the limiter with any order of events. Tests the client with a strict simulated provider, over
//! sockets and in virtual time.

mod conformance;
mod faults;
mod limiter;
mod outage;
mod quota;
mod sharing;
mod sockets;
mod texts;
mod virtual_time;
mod waits;
