//! Integration tests: the limiter under any order of events, and the client with the strict fake provider,
//! over sockets and in virtual time.

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
