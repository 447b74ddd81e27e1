//! The shape of a row of the language table.

use std::fmt;

use cairn_domain::Visibility;
use tree_sitter::Language;

use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;

/// What a file of the language is, to those who chunk and rank it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LanguageClass {
    /// Source code.
    Code,
    /// Prose with headings: sections, navigation.
    Document,
    /// Settings and data: blocks.
    Config,
    /// Markup and styles.
    Markup,
    /// Anything else that is text.
    Text,
}

/// A grammar crate. Name and version are part of the facts key; a test compares them with the lock file.
#[derive(Clone, Copy)]
pub struct Grammar {
    pub crate_name: &'static str,
    pub version: &'static str,
    pub load: fn() -> Language,
}

impl fmt::Debug for Grammar {
    /// Without the function, whose address differs from run to run.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.crate_name, self.version)
    }
}

/// Which comments document the definition below them.
#[derive(Clone, Copy, Debug)]
pub struct DocStyle {
    /// What opens a line of a doc comment, longest first, e.g. `///`.
    pub line_prefixes: &'static [&'static str],
    /// What opens a doc comment in a block, e.g. `/**`.
    pub block_prefixes: &'static [&'static str],
}

/// How the visibility of a symbol follows from its declaration.
#[derive(Clone, Copy, Debug)]
pub enum VisibilityRule {
    /// Everything is public.
    Public,
    /// What the file lists as public, or everything if it lists nothing.
    Listed,
    /// `__name` is private; `_name` is protected in a class and internal elsewhere; `__name__` is public.
    Underscore,
    /// Public if the name starts with a capital letter, internal otherwise.
    Capital,
    /// The first of `words` found in the text captured as `@visibility` decides; `default` without one.
    /// Members of interfaces, traits and enums fall back to `member_default`.
    Keyword { words: &'static [(&'static str, Visibility)], default: Visibility, member_default: Visibility },
    /// What is at the top level is public if it is exported and internal otherwise. Members are public unless
    /// a word says otherwise; a name that starts with `#` is private.
    Export { words: &'static [(&'static str, Visibility)] },
}

/// How relative imports are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelativeImports {
    None,
    /// Leading dots of the module are counted and removed.
    LeadingDots,
    /// Leading `super` parts are counted and removed.
    SuperParts,
}

/// How test code is recognised.
#[derive(Clone, Copy, Debug)]
pub struct TestRules {
    /// Directories that hold tests, anywhere in the path.
    pub directories: &'static [&'static str],
    /// Beginnings of file names.
    pub file_prefixes: &'static [&'static str],
    /// Ends of file names without their extension.
    pub stem_suffixes: &'static [&'static str],
    /// Decorators, as written without marker and arguments, or with their arguments.
    pub decorators: &'static [&'static str],
    /// Beginnings of the names of test functions. They count in a file that imports one of `libraries`, and
    /// where the signature contains one of `signature_marks`. What stands inside a test is test code whatever
    /// its name is.
    pub function_prefixes: &'static [&'static str],
    pub libraries: &'static [&'static str],
    pub signature_marks: &'static [&'static str],
    /// Beginnings of the names of test classes; they count in a file that imports one of `libraries`.
    pub class_prefixes: &'static [&'static str],
    /// Words in the declaration of a class that make it a test class, e.g. the name of its base.
    pub class_marks: &'static [&'static str],
}

/// How a path becomes a module path.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRules {
    /// False where the language has no module paths.
    pub enabled: bool,
    /// Leading folders that no module is named after, longest first, e.g. `src/main/java`.
    pub drop_leading: &'static [&'static str],
    /// Folders dropped wherever they first stand, e.g. `src` of a workspace member.
    pub drop_inner: &'static [&'static str],
    /// Stems of files that stand for their folder.
    pub index_stems: &'static [&'static str],
    /// The folder is the module, whatever the file is called.
    pub folder_is_module: bool,
}

/// Everything that Cairn knows of a language, beside its query file.
#[derive(Clone, Copy, Debug)]
pub struct LanguageRow {
    /// What users, stores and filters see.
    pub name: &'static str,
    /// Languages of one family can name each other's definitions.
    pub family: Family,
    pub class: LanguageClass,
    pub grammar: Option<Grammar>,
    /// Text without a grammar that `documents` has a scanner for, under the name of the row.
    pub has_scanner: bool,
    /// Text of the query file; empty without grammar.
    pub query: &'static str,

    /// Without the dot, lower case.
    pub extensions: &'static [&'static str],
    pub file_names: &'static [&'static str],
    /// Beginnings of file names, e.g. `Dockerfile.`.
    pub file_name_prefixes: &'static [&'static str],
    /// Names of interpreters in a `#!` line, without version digits.
    pub interpreters: &'static [&'static str],

    pub doc: DocStyle,
    pub visibility: VisibilityRule,
    pub tests: TestRules,
    pub modules: ModuleRules,
    pub relative_imports: RelativeImports,
    /// What separates the parts of a name, longest first.
    pub separators: &'static [&'static str],
    /// What stands before a name of the global namespace, e.g. `::`. Its receiver becomes `<root>`.
    pub root_marks: &'static [&'static str],
    /// Brackets in names of types that are left out: `<` of generics, `[` of Python and Go.
    pub generic_brackets: &'static [u8],
    /// Words for the object itself, first parts of receivers.
    pub self_words: &'static [&'static str],
    /// Words for its base; `super()` where it is a call.
    pub super_words: &'static [&'static str],
    /// An owner of several parts names a member of what its first parts name: `extension Outer.Inner`.
    pub dotted_owners: bool,
    /// Words that stand for the enclosing type where a type is named: `Self`, `static`.
    pub self_types: &'static [&'static str],
    /// Characters in front of names that are not part of them: `$` in PHP, `@` in Ruby.
    pub sigils: &'static [char],
    /// Character in front of names of fields of the object itself: `@` in Ruby.
    pub field_sigil: Option<char>,
    /// `Foo()` makes a `Foo`: calls of names in capitalised words are instantiations.
    pub call_instantiates: bool,
    /// Functions that make a value of the type they are called on: `new` in `Foo::new()`.
    pub constructor_functions: &'static [&'static str],
    /// What constructors are called, where a call of a super word alone, `super(…)`, calls that of the base.
    /// Empty elsewhere.
    pub constructor_method: &'static str,
    /// Types that stand for what they hold: `Option<Foo>` is a `Foo`.
    pub transparent_types: &'static [&'static str],
    /// A type may stand in quotes (a forward reference).
    pub quoted_types: bool,
    /// Words in front of a type that are not part of it: `mut`, `dyn`, `const`.
    pub type_modifiers: &'static [&'static str],
    /// Names in upper case are constants, not variables.
    pub upper_case_constants: bool,
    /// Kinds of nodes that spread a value over several arguments, so that their number is not evident.
    pub spread_nodes: &'static [&'static str],
    /// The C preprocessor runs over it: macros that stand where no name can are blanked before the parse.
    pub preprocessed: bool,
    /// Names that the language defines itself.
    pub builtins: Builtins,
    /// Modules that come with the language.
    pub standard_modules: StandardModules,
}
