//! Linking of small repositories in source form, language by language.

mod bash;
mod documents;
mod elixir;
mod go;
mod java;
mod lua;
mod properties;
mod python;
mod rust;
mod script;
mod support;
mod zig;
