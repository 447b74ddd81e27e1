//! Links small repositories in source form.

mod fixtures;
mod many;
mod properties;
mod support;
