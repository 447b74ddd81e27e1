//! Linking of small repositories in source form, language by language.

mod bash;
mod c;
mod csharp;
mod documents;
mod elixir;
mod go;
mod haskell;
mod hiding;
mod java;
mod lua;
mod many;
mod namespaces;
mod php;
mod properties;
mod python;
mod rust;
mod script;
mod support;
mod swift;
mod zig;
