//! Holds the workspace to its layers: reads every manifest and fails on an arrow that points up or across.
//!
//! The rules are those of ARCHITECTURE.md, "Layers". Also checks that every crate takes the workspace's lints, and that
//! what ARCHITECTURE.md names exists.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod arrows;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod plain_english;
