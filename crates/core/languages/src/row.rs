//! The fields of a row in the language table.

use std::fmt;

use cairn_domain::Visibility;
use tree_sitter::Language;

use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;

/// The class of a language. The class decides how files are chunked and ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LanguageClass {
    /// Source code.
    Code,
    /// Prose with headings. Files are divided into sections.
    Document,
    /// Settings and data. Files are divided into blocks.
    Config,
    /// Markup and style sheets.
    Markup,
    /// Any other text.
    Text,
}

/// A grammar crate. The name and version of the grammar crate are part of the facts key. A test compares the
/// name and version with the lock file.
#[derive(Clone, Copy)]
pub struct Grammar {
    pub crate_name: &'static str,
    pub version: &'static str,
    pub load: fn() -> Language,
}

impl fmt::Debug for Grammar {
    /// Does not print the function, because the address of the function differs in each process.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.crate_name, self.version)
    }
}

/// Decides which comments directly above a definition are its documentation.
#[derive(Clone, Copy, Debug)]
pub struct DocStyle {
    /// Texts with which a line of a doc comment begins, longest first, e.g. `///`.
    pub line_prefixes: &'static [&'static str],
    /// Texts with which a doc comment in block form begins, e.g. `/**`.
    pub block_prefixes: &'static [&'static str],
}

/// How the visibility of a symbol is read from its declaration.
#[derive(Clone, Copy, Debug)]
pub enum VisibilityRule {
    /// Every symbol is public.
    Public,
    /// The names on the file's export list are public. If a file has no export list, all names are public.
    Listed,
    /// `__name` is private; `_name` is protected in a class and internal elsewhere; `__name__` is public.
    Underscore,
    /// Public if the name starts with a capital letter, internal otherwise.
    Capital,
    /// The first of `words` that occurs in the text of the capture `@visibility` decides. If none occurs, the
    /// visibility is `default`, or `member_default` for members of interfaces, traits and enums.
    Keyword { words: &'static [(&'static str, Visibility)], default: Visibility, member_default: Visibility },
    /// A top-level symbol is public if it is exported, and internal otherwise. Members are public unless one
    /// of `words` decides otherwise. A name that starts with `#` is private.
    Export { words: &'static [(&'static str, Visibility)] },
}

/// How relative imports are written in the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelativeImports {
    None,
    /// The leading dots of the module are counted and removed.
    LeadingDots,
    /// The leading `super` parts of the module are counted and removed.
    SuperParts,
}

/// How test code is recognised.
#[derive(Clone, Copy, Debug)]
pub struct TestRules {
    /// Names of directories that contain tests. Such a directory may be at any depth of the path.
    pub directories: &'static [&'static str],
    /// Prefixes of the names of test files.
    pub file_prefixes: &'static [&'static str],
    /// Suffixes of the names of test files, compared with the file extension.
    pub file_suffixes: &'static [&'static str],
    /// Suffixes of the names of test files, compared without the file extension. A suffix in capital letters
    /// does not match directly after another capital letter: `OrderIT`, but not `AUDIT`.
    pub stem_suffixes: &'static [&'static str],
    /// Decorators of test code. Each decorator is listed without the marker, either without arguments or with
    /// all its arguments.
    pub decorators: &'static [&'static str],
    /// Prefixes of the names of test functions. The prefixes apply only in a file that imports one of
    /// `libraries`, or to a signature that contains one of `signature_marks`. Everything inside a test
    /// function is test code.
    pub function_prefixes: &'static [&'static str],
    pub libraries: &'static [&'static str],
    pub signature_marks: &'static [&'static str],
    /// Prefixes of the names of test classes. The prefixes apply only in a file that imports one of
    /// `libraries`.
    pub class_prefixes: &'static [&'static str],
    /// Words that mark the declaration of a test class, e.g. the name of its base class.
    pub class_marks: &'static [&'static str],
}

/// How the name of a module is derived from a path.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRules {
    /// False if the language has no module paths.
    pub enabled: bool,
    /// Leading folders that are not part of a module's name, longest first, e.g. `src/main/java`.
    pub drop_leading: &'static [&'static str],
    /// Folders that are removed at their first occurrence in the path, e.g. `src` of a workspace member.
    pub drop_inner: &'static [&'static str],
    /// Stems of files that represent their folder, e.g. `index`.
    pub index_stems: &'static [&'static str],
    /// If true, all files of a folder belong to one module, regardless of their names.
    pub folder_is_module: bool,
}

/// The place where a source file documents its module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModuleDoc {
    None,
    /// The documentation is the first statement, if it is a string.
    FirstString,
    /// The documentation consists of the first lines that begin with this mark, e.g. `//!`.
    Lines(&'static str),
    /// The documentation is the comment directly before the line that begins with this word, e.g. `package `.
    CommentBefore(&'static str),
    /// The documentation is the first block comment with one of these tags, e.g. `@module`.
    Tagged(&'static [&'static str]),
}

/// All data about a language, except its query file.
#[derive(Clone, Copy, Debug)]
pub struct LanguageRow {
    /// The name that users, stores and filters use.
    pub name: &'static str,
    /// Files of one family can refer to each other's definitions.
    pub family: Family,
    pub class: LanguageClass,
    pub grammar: Option<Grammar>,
    /// True for a text format that has a scanner in `documents` instead of a grammar. The scanner has the
    /// same name as the row.
    pub has_scanner: bool,
    /// The text of the query file. The text is empty for a language without a grammar.
    pub query: &'static str,

    /// File extensions in lower case, without the dot.
    pub extensions: &'static [&'static str],
    pub file_names: &'static [&'static str],
    /// Prefixes of file names, e.g. `Dockerfile.`.
    pub file_name_prefixes: &'static [&'static str],
    /// Names of interpreters in a `#!` line, without version digits.
    pub interpreters: &'static [&'static str],

    pub doc: DocStyle,
    pub visibility: VisibilityRule,
    pub tests: TestRules,
    pub modules: ModuleRules,
    pub module_doc: ModuleDoc,
    pub relative_imports: RelativeImports,
    /// Separators between the parts of a name, longest first.
    pub separators: &'static [&'static str],
    /// Prefixes that mark a name of the global namespace, e.g. `::`. The receiver of such a name becomes
    /// `<root>`.
    pub root_marks: &'static [&'static str],
    /// A type name is cut off at the first of these opening brackets: `<` for generics, `[` for Python and
    /// Go.
    pub generic_brackets: &'static [u8],
    /// Words for the current object, such as `self`. Such a word can be the first part of a receiver.
    pub self_words: &'static [&'static str],
    /// Words for the base class of the current object. If the word is called like a function, it is listed
    /// with parentheses: `super()`.
    pub super_words: &'static [&'static str],
    /// If true, an owner with several parts is a type nested in another type: `extension Outer.Inner`.
    pub dotted_owners: bool,
    /// Words that mean the enclosing type: `Self`, `static`.
    pub self_types: &'static [&'static str],
    /// Characters before a name that are not part of it: `$` in PHP, `@` in Ruby.
    pub sigils: &'static [char],
    /// The character before the name of a field of the current object: `@` in Ruby.
    pub field_sigil: Option<char>,
    /// If true, a call of a capitalised name is an instantiation: `Foo()` creates a `Foo`.
    pub call_instantiates: bool,
    /// Functions that return a new value of the type on which they are called: `new` in `Foo::new()`.
    pub constructor_functions: &'static [&'static str],
    /// The method name of constructors, if `super(…)` calls the constructor of the base class in this
    /// language. Empty for all other languages.
    pub constructor_method: &'static str,
    /// Types that are replaced by their type argument: `Option<Foo>` becomes `Foo`.
    pub transparent_types: &'static [&'static str],
    /// If true, a type may be written in quotes, as a forward reference.
    pub quoted_types: bool,
    /// Words before a type that are not part of it: `mut`, `dyn`, `const`.
    pub type_modifiers: &'static [&'static str],
    /// If true, a variable whose name is in upper case is a constant.
    pub upper_case_constants: bool,
    /// Kinds of syntax nodes that expand one value to several arguments. If a call contains such a node, its
    /// number of arguments is not known.
    pub spread_nodes: &'static [&'static str],
    /// The tag at the start of a file, without which the grammar parses code as text. Usually empty.
    pub opening_tag: &'static str,
    /// Whether source files of the language are processed by the C preprocessor. If true, macros at places
    /// where the grammar allows no name are replaced by spaces before the parse.
    pub preprocessed: bool,
    /// The names that the language defines itself.
    pub builtins: Builtins,
    /// The modules that are part of the language's standard library.
    pub standard_modules: StandardModules,
}
