//! The relations that a question can ask for.

use std::fmt;

use serde::Serialize;

/// The relation of the requested code to the code that a relationship question names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Callers,
    Callees,
    /// Callers and callees.
    CallHierarchy,
    /// Code that refers to the named code in any way.
    Users,
    /// Code to which the named code refers.
    Uses,
    Importers,
    Imports,
    Dependents,
    Dependencies,
    /// Types that extend or implement the named type.
    Subtypes,
    /// Types that the named type extends or implements.
    Supertypes,
    /// Subtypes and supertypes.
    Hierarchy,
    /// Definitions that override the named method.
    Overrides,
    /// Definitions that the named method overrides.
    Overridden,
    /// Code that creates instances of the named type.
    Creators,
    /// Any relation between two names.
    Related,
}

/// The kind of thing that a name denotes, as stated in a relationship question: "the auth module".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedKind {
    File,
    Directory,
    Module,
    Package,
    /// A definition, such as a class or a function.
    Symbol,
}

impl NamedKind {
    /// The kind that a word such as "module" states.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "file" | "files" | "script" => Self::File,
            "directory" | "folder" | "dir" => Self::Directory,
            "module" | "modules" | "namespace" | "subsystem" => Self::Module,
            "package" | "packages" | "crate" | "library" | "dependency" => Self::Package,
            "function" | "functions" | "func" | "fn" | "method" | "methods" | "class" | "classes" | "interface"
            | "interfaces" | "trait" | "traits" | "struct" | "structs" | "enum" | "enums" | "type" | "types"
            | "constant" | "constants" | "const" | "variable" | "variables" | "macro" | "macros" | "field"
            | "fields" | "symbol" | "object" | "component" | "hook" | "decorator" | "protocol" | "constructor"
            | "property" => Self::Symbol,
            _ => return None,
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Module => "module",
            Self::Package => "package",
            Self::Symbol => "symbol",
        }
    }
}

/// The direction of the edges that answer a relationship question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Edges that end at the named code.
    In,
    /// Edges that start at the named code.
    Out,
    Both,
}

impl Relation {
    pub fn direction(self) -> Direction {
        match self {
            Self::Callers
            | Self::Users
            | Self::Importers
            | Self::Dependents
            | Self::Subtypes
            | Self::Overrides
            | Self::Creators => Direction::In,
            Self::Callees | Self::Uses | Self::Imports | Self::Dependencies | Self::Supertypes | Self::Overridden => {
                Direction::Out
            }
            Self::CallHierarchy | Self::Hierarchy | Self::Related => Direction::Both,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Callers => "callers",
            Self::Callees => "callees",
            Self::CallHierarchy => "call_hierarchy",
            Self::Users => "users",
            Self::Uses => "uses",
            Self::Importers => "importers",
            Self::Imports => "imports",
            Self::Dependents => "dependents",
            Self::Dependencies => "dependencies",
            Self::Subtypes => "subtypes",
            Self::Supertypes => "supertypes",
            Self::Hierarchy => "hierarchy",
            Self::Overrides => "overrides",
            Self::Overridden => "overridden",
            Self::Creators => "creators",
            Self::Related => "related",
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Direction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Both => "both",
        }
    }
}
