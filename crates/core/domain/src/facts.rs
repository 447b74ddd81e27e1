//! The result of parsing one file. The facts do not depend on the path, so equal blobs share their facts.

use crate::{ContentHash, FactsKey};

/// The lines from `start` to `end`, both included. Line numbers start at 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineSpan {
    pub start: u32,
    pub end: u32,
}

impl LineSpan {
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    pub fn contains(self, line: u32) -> bool {
        self.start <= line && line <= self.end
    }

    pub fn num_lines(self) -> u32 {
        self.end + 1 - self.start
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word for this value in answers and in stores.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    SymbolKind {
        Function = "function",
        Method = "method",
        Class = "class",
        Interface = "interface",
        Trait = "trait",
        Struct = "struct",
        Enum = "enum",
        Type = "type",
        Constant = "constant",
        Variable = "variable",
        Module = "module",
        Macro = "macro",
        Field = "field",
    }
}

impl SymbolKind {
    /// Whether symbols of this kind contain members. The parent of a method is always a symbol of such a
    /// kind.
    pub fn is_container(self) -> bool {
        use SymbolKind::{Class, Enum, Interface, Module, Struct, Trait};
        matches!(self, Class | Interface | Trait | Struct | Enum | Module)
    }

    pub fn is_callable(self) -> bool {
        matches!(self, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro)
    }

    /// Whether symbols of this kind can be a base, a type annotation or the result of a constructor.
    pub fn is_type(self) -> bool {
        use SymbolKind::{Class, Enum, Interface, Struct, Trait, Type};
        matches!(self, Class | Interface | Trait | Struct | Enum | Type)
    }
}

words! {
    Visibility {
        Public = "public",
        Protected = "protected",
        /// Visible within the package, crate or assembly.
        Internal = "internal",
        Private = "private",
    }
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    pub name: String,
    /// The name within the file: the names of the enclosing symbols and the symbol's own name, joined with
    /// `.` in every language.
    pub qualified_name: String,
    pub kind: SymbolKind,
    /// The whole definition, with its doc comment and decorators.
    pub span: LineSpan,
    /// Line of the name itself.
    pub name_line: u32,
    /// The declaration without its body, on one line of at most 300 characters. Runs of white space are
    /// replaced by one space.
    pub signature: String,
    /// Text of the doc comment without its markers.
    pub doc: Option<String>,
    /// Decorators, annotations and attributes as written, without the marker, e.g. `app.route("/x")`.
    pub decorators: Vec<String>,
    /// Index of the enclosing symbol in `FileFacts::symbols`. The index is always smaller than the index of
    /// this symbol.
    pub parent: Option<u32>,
    pub visibility: Visibility,
    /// Whether other files can refer to the symbol by name.
    pub exported: bool,
    /// Whether the content marks the symbol as test code (`#[cfg(test)]`, `@Test`, `def test_…` in a test
    /// class). A later step also recognises test code by the path of its file.
    pub is_test: bool,
}

words! {
    ReferenceKind {
        Call = "call",
        /// A constructor call: `new Foo()`, `Foo { … }`, and `Foo()` where the language has no `new`.
        Instantiate = "instantiate",
        Extend = "extend",
        Implement = "implement",
        TypeUse = "type_use",
        Decorate = "decorate",
        /// A name that is read or passed as a value, for example a function as an argument.
        Value = "value",
    }
}

/// A use of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    pub kind: ReferenceKind,
    /// The last part of the name: `baz` in `foo.bar.baz()`.
    pub name: String,
    /// The qualifier before the name as written, with its parts joined with `.`: `foo.bar`. In every
    /// language, `self` is the object itself, and `super` is its base. `<root>` is an explicit global
    /// namespace (`::open`). `<expr>` means that the qualifier is not a chain of names.
    pub receiver: Option<String>,
    /// Index of the innermost enclosing symbol.
    pub enclosing: Option<u32>,
    /// Number of the line, starting at 1.
    pub line: u32,
    /// The number of arguments of a call. `None` if the number is not evident, for example because of a
    /// spread argument.
    pub num_arguments: Option<u8>,
}

/// One name that an import binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedName {
    pub name: String,
    pub alias: Option<String>,
}

/// An import declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// The module, package, crate path or file as written: `fisio.imports.aws`, `./util`, `crate.net`,
    /// `<stdio.h>`. If names form a path, they are joined with `.`. File paths and URLs are unchanged.
    pub module: String,
    /// In Python, the number of leading dots of a relative import (2 for `from ..x`). In Rust, the number of
    /// leading `super` parts. In other languages, 0.
    pub level: u8,
    /// Names that are imported from the module. Empty if the module itself is bound.
    pub names: Vec<ImportedName>,
    /// The name to which the module itself is bound, if it is renamed.
    pub alias: Option<String>,
    /// Whether all names of the module become visible (`from x import *`, `use x::*`, `import x.*`,
    /// `#include`).
    pub wildcard: bool,
    /// Whether the names are also visible in files that import this file (`export … from`, `pub use`).
    pub reexport: bool,
    pub line: u32,
    /// Index of the symbol that contains the import; `None` at the top level.
    pub enclosing: Option<u32>,
}

words! {
    BindingEvidence {
        /// `x = Foo()`, `let x = Foo::new()`.
        Constructor = "constructor",
        /// `x: Foo`, `Foo x`, a typed parameter, field or receiver.
        Annotation = "annotation",
        /// A parameter or local variable without an evident type (`for x in …`, `x = f()`, `def f(x)`). Such
        /// a variable hides a variable with the same name in an outer scope. `type_name` is empty. The
        /// binding is recorded only if the file uses the name without a receiver, or as the first part of a
        /// receiver.
        Opaque = "opaque",
    }
}

/// A variable, parameter or field, with its type if the type is evident.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// The name. For a field that is set on the object itself, the name is `self.name`.
    pub name: String,
    /// The name of the type without type arguments, with its parts joined with `.`. The name is empty for
    /// `Opaque`.
    pub type_name: String,
    pub evidence: BindingEvidence,
    /// Index of the function that contains the binding, or index of the class if the binding is a field.
    /// `None` if the binding belongs to the whole file.
    pub scope: Option<u32>,
    pub line: u32,
}

words! {
    ChunkKind {
        Function = "function",
        Method = "method",
        /// A class (or struct, trait …) without its long methods.
        Class = "class",
        /// Small adjacent definitions that belong together, or a whole small file.
        Group = "group",
        /// A list of the members of a large class.
        Summary = "summary",
        /// A section of a document.
        Section = "section",
        /// A block of configuration or data.
        Config = "config",
        /// A window of text, if the structure of the file is not known.
        Text = "text",
        /// A section of a navigation document (AGENTS.md, README, docs).
        Navigation = "navigation",
        Pattern = "pattern",
    }
}

/// A semantic unit of a file. Every line of an indexed file belongs to at least one chunk, except for some
/// blank lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkFacts {
    pub kind: ChunkKind,
    pub span: LineSpan,
    /// Index of the symbol whose code the chunk contains; `None` if the chunk does not belong to one symbol.
    pub symbol: Option<u32>,
    /// Heading path of a document section, `Key Patterns > Import Pattern`.
    pub heading: Option<String>,
    /// Context of the chunk: the enclosing class, the signature, and the imports that the chunk uses, but not
    /// the path. The header is stored and contributes terms, but is not embedded.
    pub header: String,
    /// The text of a summary. `None` if the text of the chunk is the text of the lines in the span.
    pub synthetic_text: Option<String>,
    /// Hash of the embedded text.
    pub content_hash: ContentHash,
    /// If the chunk is a part of a larger unit: the one-based number of this part, and the number of parts.
    pub part: Option<(u16, u16)>,
    pub is_test: bool,
}

/// Structure of a document. For a code file with documentation of its module, only the description is set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentFacts {
    pub title: Option<String>,
    /// First paragraph.
    pub description: Option<String>,
    pub sections: Vec<DocumentSection>,
    /// File paths in code spans, if the heading of the section or the text next to the path contains the
    /// words "entry point".
    pub entry_points: Vec<Mention>,
    /// Files and symbols in code spans.
    pub mentions: Vec<Mention>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentSection {
    /// `Key Patterns > Import Pattern`.
    pub heading_path: String,
    pub span: LineSpan,
}

/// A name in a code span of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    pub text: String,
    pub line: u32,
}

words! {
    ParseStatus {
        Parsed = "parsed",
        /// The syntax tree contains errors. The facts come from the parts without errors.
        Partial = "partial",
        /// The facts are windows of text, because no grammar for the language exists.
        NoParser = "no_parser",
        /// The facts are windows of text, because most of the bytes are in error nodes and no item could be
        /// parsed alone.
        Unparsable = "unparsable",
        /// The facts are windows of text, because the file exceeds the limits for line length or nesting.
        Guarded = "guarded",
        /// The facts are windows of text, because parsing exceeded its deadline.
        Timeout = "parse_timeout",
        /// The facts are windows of text, because the parser process died.
        Crash = "parse_crash",
    }
}

/// The result of parsing one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFacts {
    pub facts_key: FactsKey,
    pub language: String,
    pub status: ParseStatus,
    pub num_lines: u32,
    /// In order of position. A parent comes before its members.
    pub symbols: Vec<Symbol>,
    /// In order of position.
    pub references: Vec<Reference>,
    pub imports: Vec<Import>,
    pub bindings: Vec<Binding>,
    /// In order of position.
    pub chunks: Vec<ChunkFacts>,
    pub document: Option<DocumentFacts>,
    /// The package or namespace that the file declares (Java, Go, C#, PHP, Scala, Kotlin …), with its parts
    /// joined with `.`.
    pub package: Option<String>,
    /// The names in the file's list of public names (`__all__`, `export { a }`), if it has such a list.
    pub export_list: Option<Vec<String>>,
}
