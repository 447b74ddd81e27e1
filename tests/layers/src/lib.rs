//! Checks the rules of the workspace: layers and lints of crates, cycles between files, plain English, words
//! that name only one type, the paths that ARCHITECTURE.md and other documents name, and the definitions of
//! the images.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod arrows;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod images;
#[cfg(test)]
mod items;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod plain_english;
#[cfg(test)]
mod prose;
#[cfg(test)]
mod type_names;
