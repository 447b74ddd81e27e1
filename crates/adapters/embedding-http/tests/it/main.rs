//! The adapter from outside: its limiter under any interleaving.

mod limiter;
