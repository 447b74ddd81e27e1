//! The names that a language defines itself, and its standard modules.

use std::fmt;

/// Names that a language defines itself. Each entry of a list is a text that contains words separated by
/// spaces. Each name is in only one of the three lists.
#[derive(Clone, Copy)]
pub struct Builtins {
    /// Names that both the parser and the linker read, with the effects of `parser` and of `linker`.
    pub shared: &'static [&'static str],
    /// Names that only the parser reads. If such a name is used without a qualifier, the parser records no
    /// reference, unless the file defines or imports the name.
    pub parser: &'static [&'static str],
    /// Names that only the linker reads. The parser records references to these names, but a reference is
    /// never linked to a definition in the repository if the file neither defines nor imports the name.
    pub linker: &'static [&'static str],
}

impl Builtins {
    pub const NONE: Builtins = Builtins { shared: &[], parser: &[], linker: &[] };

    /// Names for which the parser records no reference.
    pub fn parser_names(&self) -> impl Iterator<Item = &'static str> {
        words(self.shared).chain(words(self.parser))
    }

    /// Names that the linker treats as part of the language.
    pub fn linker_names(&self) -> impl Iterator<Item = &'static str> {
        words(self.shared).chain(words(self.linker))
    }
}

impl fmt::Debug for Builtins {
    /// Prints only the parser's names, because the version of the parser's facts depends on these names only.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.parser_names().collect();
        names.sort_unstable();
        formatter.debug_list().entries(names).finish()
    }
}

/// How to recognise a module of the standard library.
#[derive(Clone, Copy)]
pub enum StandardModules {
    /// The language has no known standard modules.
    None,
    /// Every module belongs to the standard library, except modules that the repository contains or declares
    /// as dependencies.
    Any,
    /// The first part of the module's name is one of these words.
    FirstPart(&'static str),
    /// The whole name of the module is one of these words.
    Whole(&'static str),
    /// The module's name starts with this text.
    Prefix(&'static str),
}

impl StandardModules {
    pub(crate) fn contains(self, module: &str) -> bool {
        let is_listed = |words: &str, name: &str| words.split_whitespace().any(|word| word == name);
        match self {
            StandardModules::None => false,
            StandardModules::Any => true,
            StandardModules::FirstPart(words) => is_listed(words, module.split(['.', '/']).next().unwrap_or(module)),
            StandardModules::Whole(words) => is_listed(words, module),
            StandardModules::Prefix(prefix) => module.starts_with(prefix),
        }
    }
}

impl fmt::Debug for StandardModules {
    /// Does not print the modules. Only the linker reads the modules, so the version of the parser's facts
    /// must not depend on them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StandardModules")
    }
}

fn words(texts: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    texts.iter().flat_map(|text| text.split_whitespace())
}
