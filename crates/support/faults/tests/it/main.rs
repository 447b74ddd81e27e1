//! Tests of points in a process, and of the list of points against the sources.

#[cfg(feature = "failpoints")]
mod process;
mod sources;
