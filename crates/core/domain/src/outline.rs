//! The facts of a file that other files depend on. As in all facts, nothing comes from the path.

use crate::{Import, LineSpan, SymbolKind};

/// The part of a file's facts that other files and patterns depend on. It is small, because a run reads
/// the outline of every file of a snapshot. It reads the full facts of few files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    pub language: String,
    pub num_lines: u32,
    pub num_chunks: u32,
    /// The package or namespace that the file declares.
    pub package: Option<String>,
    /// One for each symbol of the facts, in the same order.
    pub symbols: Vec<OutlineSymbol>,
    /// In the order of their classes; within a class, in source order.
    pub bases: Vec<OutlineBase>,
    /// References outside of functions and classes.
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
    /// Ordinal among the symbols of equal qualified name and kind, from 0.
    pub ordinal: u32,
    pub parent: Option<u32>,
    pub span: LineSpan,
    pub arity: Arity,
    /// Other files can name the symbol.
    pub exported: bool,
    pub private: bool,
    /// Declares another symbol again: the signature of an overload, the setter of a property, a prototype.
    pub secondary: bool,
    /// The default export of the file.
    pub is_default: bool,
    /// An object that accompanies the class of the same name.
    pub is_companion: bool,
    /// Nothing can name the symbol, for example a test that a macro declares.
    pub nameless: bool,
    /// An alias of its parent symbol.
    pub names_holder: bool,
    /// For types: the names of their decorators, without arguments.
    pub decorators: Vec<String>,
}

/// A base of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineBase {
    /// Index of the class.
    pub class: u32,
    pub name: String,
    /// The qualifier before the name.
    pub receiver: Option<String>,
    pub implements: bool,
}

/// A field or variable whose type is evident.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineField {
    /// Index of the symbol that binds it; none for the top level of the file.
    pub scope: Option<u32>,
    /// `self.name` if it is set on the object itself.
    pub name: String,
    pub type_name: String,
}

/// Number of arguments that a definition takes, both bounds inclusive. `max` is 255 if no bound exists or is
/// known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arity {
    pub min: u8,
    pub max: u8,
}

impl Arity {
    pub const UNKNOWN: Arity = Arity { min: 0, max: u8::MAX };

    /// Whether a call with this number of arguments can refer to the definition.
    pub fn accepts(self, num_arguments: Option<u8>) -> bool {
        num_arguments.is_none_or(|count| self.min <= count && count <= self.max)
    }
}
