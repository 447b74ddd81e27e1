//! Checks the rules of the workspace: layers and lints of crates, circles between files, plain English, and
//! the paths that ARCHITECTURE.md and other documents name.

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
