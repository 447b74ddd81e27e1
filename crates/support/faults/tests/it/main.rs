//! Tests the fail points in a process, and compares the list of points with the source files.

#[cfg(feature = "failpoints")]
mod process;
mod sources;
