//! Tests the linking of small repositories that are written as source text.

mod fixtures;
mod many;
mod properties;
mod support;
