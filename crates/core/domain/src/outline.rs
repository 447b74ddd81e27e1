//! What the rest of a repository looks at of a file. Like facts it holds nothing that comes from the path.

use crate::{Import, LineSpan, SymbolKind};

/// The part of a file's facts that other files and patterns depend on: small enough that a run reads it of every file
/// of a snapshot, while it reads the facts of few.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    pub language: String,
    pub num_lines: u32,
    pub num_chunks: u32,
    /// The package or namespace that the file declares.
    pub package: Option<String>,
    /// One for each symbol of the facts, in the same order.
    pub symbols: Vec<OutlineSymbol>,
    /// In the order of their classes, those of a class as they are written.
    pub bases: Vec<OutlineBase>,
    /// Those outside of functions and classes.
    pub imports: Vec<Import>,
    /// Fields and variables whose type is evident, in order of position.
    pub fields: Vec<OutlineField>,
}

/// A symbol without its texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineSymbol {
    pub name: String,
    pub qualified_name: String,
    pub kind: SymbolKind,
    /// Number among the symbols of equal qualified name and kind, from 0.
    pub ordinal: u32,
    pub parent: Option<u32>,
    pub span: LineSpan,
    pub arity: Arity,
    /// Can be named from other files.
    pub exported: bool,
    pub private: bool,
    /// Declares again what another symbol is: an overload's signature, a property's setter, a prototype.
    pub secondary: bool,
    /// What the file exports by default.
    pub is_default: bool,
    /// An object beside the class of its name.
    pub is_companion: bool,
    /// Nothing can name it: a test that a macro declares.
    pub nameless: bool,
    /// Another name of what holds it.
    pub names_holder: bool,
    /// Of types: what they are decorated with, without arguments.
    pub decorators: Vec<String>,
}

/// A base of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineBase {
    /// Index of the class.
    pub class: u32,
    pub name: String,
    /// What stands before the name.
    pub receiver: Option<String>,
    pub implements: bool,
}

/// A field or variable whose type is evident.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineField {
    /// Index of the symbol in which it is bound; none at the top of the file.
    pub scope: Option<u32>,
    /// `self.name` where it is set on the object itself.
    pub name: String,
    pub type_name: String,
}

/// How many arguments a definition takes: inclusive bounds. `max` is 255 where there is no bound or none is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arity {
    pub min: u8,
    pub max: u8,
}

impl Arity {
    pub const UNKNOWN: Arity = Arity { min: 0, max: u8::MAX };

    /// Whether a call with so many arguments may mean this definition.
    pub fn accepts(self, num_arguments: Option<u8>) -> bool {
        num_arguments.is_none_or(|count| self.min <= count && count <= self.max)
    }
}
