//! Checks the rules of the workspace: layers and lints of crates, cycles between files, plain English, and
//! the paths that ARCHITECTURE.md and other documents name.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod arrows;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod plain_english;
