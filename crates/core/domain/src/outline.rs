//! The facts of a file that other files depend on. Like all facts, these facts do not depend on the path.

use crate::{Import, LineSpan, SymbolKind};

/// The facts of a file that other files and patterns depend on. Outlines must be small, because a run reads
/// the outlines of all files of a snapshot, but the full facts of only a few files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    pub language: String,
    pub num_lines: u32,
    pub num_chunks: u32,
    /// The package or namespace that the file declares.
    pub package: Option<String>,
    /// One entry for each symbol of the facts, in the same order.
    pub symbols: Vec<OutlineSymbol>,
    /// The bases of all classes, in the order of the classes. The bases of one class are in source order.
    pub bases: Vec<OutlineBase>,
    /// The imports that are not inside a function or class.
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
    /// Zero-based position among the symbols with the same qualified name and kind.
    pub ordinal: u32,
    pub parent: Option<u32>,
    pub span: LineSpan,
    pub arity: Arity,
    /// Whether other files can refer to the symbol by name.
    pub exported: bool,
    pub private: bool,
    /// Whether another definition also declares this symbol. If so, this entry is the signature of an
    /// overload, the setter of a property, or a prototype.
    pub secondary: bool,
    /// Whether the symbol is the default export of the file.
    pub is_default: bool,
    /// Whether the symbol is a companion object of the class with the same name.
    pub is_companion: bool,
    /// Whether no code can refer to the symbol by name, for example a test that a macro declares.
    pub nameless: bool,
    /// Whether the symbol is an alias of its parent symbol.
    pub names_holder: bool,
    /// For types: the names of their decorators, without arguments.
    pub decorators: Vec<String>,
}

/// A base of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineBase {
    /// Index of the class in [`Outline::symbols`].
    pub class: u32,
    pub name: String,
    /// The qualifier before the name.
    pub receiver: Option<String>,
    pub implements: bool,
}

/// A field or variable whose type is evident.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineField {
    /// Index of the symbol that contains the binding; `None` at the top level of the file.
    pub scope: Option<u32>,
    /// The name. For a field that is set on the object itself, the name is `self.name`.
    pub name: String,
    pub type_name: String,
}

/// The range of the number of arguments that a definition accepts. Both bounds are inclusive. `max` is 255 if
/// the upper bound does not exist or is unknown.
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
