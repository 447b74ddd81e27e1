//! Linking of small repositories in source form, language by language.

mod c;
mod csharp;
mod documents;
mod go;
mod java;
mod php;
mod properties;
mod python;
mod rust;
mod script;
mod support;
