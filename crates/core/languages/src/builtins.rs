//! The names and modules that come with a language.

use std::fmt;

/// Names that a language defines itself. Each list is a text of words; a name is in one list only.
#[derive(Clone, Copy)]
pub struct Builtins {
    /// Names that the parser and the linker know.
    pub shared: &'static [&'static str],
    /// Names that only the parser knows. It records no reference to them where they are used alone, unless
    /// the file defines or imports them.
    pub parser: &'static [&'static str],
    /// Names that only the linker knows. They are references, but an unbound one never links to the
    /// repository.
    pub linker: &'static [&'static str],
}

impl Builtins {
    pub const NONE: Builtins = Builtins { shared: &[], parser: &[], linker: &[] };

    /// Names to which the parser records no reference.
    pub fn parser_names(&self) -> impl Iterator<Item = &'static str> {
        words(self.shared).chain(words(self.parser))
    }

    /// Names that the linker treats as part of the language.
    pub fn linker_names(&self) -> impl Iterator<Item = &'static str> {
        words(self.shared).chain(words(self.linker))
    }
}

impl fmt::Debug for Builtins {
    /// Prints the names of the parser only, since they are part of the version of its facts.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.parser_names().collect();
        names.sort_unstable();
        formatter.debug_list().entries(names).finish()
    }
}

/// How to recognise a module that comes with the language.
#[derive(Clone, Copy)]
pub enum StandardModules {
    /// No module is known to come with the language.
    None,
    /// Every module comes with the language, unless the repository contains it or declares it as a
    /// dependency.
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
    /// Prints no module: only the linker reads these, and the version of the parser's facts does not depend
    /// on them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StandardModules")
    }
}

fn words(texts: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    texts.iter().flat_map(|text| text.split_whitespace())
}
