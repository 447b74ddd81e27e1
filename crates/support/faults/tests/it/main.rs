//! Points as a process passes them, and the list of points against the sources.

#[cfg(feature = "failpoints")]
mod process;
mod sources;
