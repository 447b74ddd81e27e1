//! The adapter from outside: its limiter under any interleaving, the client against the strict fake provider, over
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
