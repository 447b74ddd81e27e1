//! The shape of a row of the language table.

use std::fmt;

use cairn_domain::Visibility;
use tree_sitter::Language;

use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;

/// The class of a language, which decides how its files are chunked and ranked.
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
    /// Prints no function, since its address differs from run to run.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.crate_name, self.version)
    }
}

/// Decides which comments document the definition below them.
#[derive(Clone, Copy, Debug)]
pub struct DocStyle {
    /// Beginnings of a line of a doc comment, longest first, e.g. `///`.
    pub line_prefixes: &'static [&'static str],
    /// Beginnings of a doc comment in a block, e.g. `/**`.
    pub block_prefixes: &'static [&'static str],
}

/// How the visibility of a symbol follows from its declaration.
#[derive(Clone, Copy, Debug)]
pub enum VisibilityRule {
    /// Everything is public.
    Public,
    /// Names on the file's export list are public. Without a list, all are.
    Listed,
    /// `__name` is private; `_name` is protected in a class and internal elsewhere; `__name__` is public.
    Underscore,
    /// Public if the name starts with a capital letter, internal otherwise.
    Capital,
    /// The first of `words` in the text captured as `@visibility` decides, `default` without one. Members of
    /// interfaces, traits and enums have `member_default` instead.
    Keyword { words: &'static [(&'static str, Visibility)], default: Visibility, member_default: Visibility },
    /// A top-level symbol is public if it is exported and internal otherwise. Members are public unless a
    /// word states otherwise; a name that starts with `#` is private.
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
    /// Directories that contain tests, anywhere in the path.
    pub directories: &'static [&'static str],
    /// Beginnings of file names.
    pub file_prefixes: &'static [&'static str],
    /// Ends of file names without their extension.
    pub stem_suffixes: &'static [&'static str],
    /// Decorators, as written without marker and arguments, or with their arguments.
    pub decorators: &'static [&'static str],
    /// Beginnings of the names of test functions. They count in a file that imports one of `libraries`, and
    /// in signatures that contain one of `signature_marks`. Everything inside a test is test code.
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
    /// Leading folders that are part of no module's name, longest first, e.g. `src/main/java`.
    pub drop_leading: &'static [&'static str],
    /// Folders dropped at their first occurrence, e.g. `src` of a workspace member.
    pub drop_inner: &'static [&'static str],
    /// Stems of files that represent their folder.
    pub index_stems: &'static [&'static str],
    /// The folder is the module, independent of the file's name.
    pub folder_is_module: bool,
}

/// All data about a language, except its query file.
#[derive(Clone, Copy, Debug)]
pub struct LanguageRow {
    /// The name that users, stores and filters see.
    pub name: &'static str,
    /// Languages of one family can name each other's definitions.
    pub family: Family,
    pub class: LanguageClass,
    pub grammar: Option<Grammar>,
    /// A text format without a grammar for which `documents` has a scanner, under the name of the row.
    pub has_scanner: bool,
    /// Text of the query file; empty without a grammar.
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
    /// Separators between the parts of a name, longest first.
    pub separators: &'static [&'static str],
    /// Marks before a name of the global namespace, e.g. `::`. Its receiver becomes `<root>`.
    pub root_marks: &'static [&'static str],
    /// Brackets that are left out of the names of types: `<` of generics, `[` of Python and Go.
    pub generic_brackets: &'static [u8],
    /// Words for the object itself, first parts of receivers.
    pub self_words: &'static [&'static str],
    /// Words for the base of the object; `super()` if it is a call.
    pub super_words: &'static [&'static str],
    /// An owner of several parts names a member of its first parts: `extension Outer.Inner`.
    pub dotted_owners: bool,
    /// Words that mean the enclosing type: `Self`, `static`.
    pub self_types: &'static [&'static str],
    /// Characters in front of names that are not part of them: `$` in PHP, `@` in Ruby.
    pub sigils: &'static [char],
    /// Character in front of names of fields of the object itself: `@` in Ruby.
    pub field_sigil: Option<char>,
    /// `Foo()` makes a `Foo`: calls of capitalised names are instantiations.
    pub call_instantiates: bool,
    /// Functions that make a value of the type they are called on: `new` in `Foo::new()`.
    pub constructor_functions: &'static [&'static str],
    /// The name of constructors, in languages where a call of a super word alone, `super(…)`, calls that of
    /// the base. Empty in other languages.
    pub constructor_method: &'static str,
    /// Types that are replaced by their content: `Option<Foo>` is a `Foo`.
    pub transparent_types: &'static [&'static str],
    /// A type may be in quotes (a forward reference).
    pub quoted_types: bool,
    /// Words in front of a type that are not part of it: `mut`, `dyn`, `const`.
    pub type_modifiers: &'static [&'static str],
    /// Names in upper case are constants, not variables.
    pub upper_case_constants: bool,
    /// Kinds of nodes that spread a value over several arguments, so that the number of arguments is not
    /// evident.
    pub spread_nodes: &'static [&'static str],
    /// The C preprocessor runs over the text: macros at places where no name can be are blanked before the
    /// parse.
    pub preprocessed: bool,
    /// Names that the language defines itself.
    pub builtins: Builtins,
    /// Modules that come with the language.
    pub standard_modules: StandardModules,
}
