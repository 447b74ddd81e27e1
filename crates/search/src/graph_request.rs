//! The request for the edges of a name.

use cairn_domain::EdgeKind;
use cairn_ports::Direction;

use crate::RepositorySelection;

/// A kind of relation that a caller can request. A relation connects a name with other nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Callers,
    Callees,
    /// All code that the file or symbol imports, refers to or depends on.
    Dependencies,
    /// All code that imports the file or symbol, refers to it or depends on it.
    Dependents,
    /// Bases and derived classes, interfaces and implementations.
    Inheritance,
}

impl Relation {
    pub const ALL: [Relation; 5] =
        [Relation::Callers, Relation::Callees, Relation::Dependencies, Relation::Dependents, Relation::Inheritance];

    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Callers => "callers",
            Relation::Callees => "callees",
            Relation::Dependencies => "dependencies",
            Relation::Dependents => "dependents",
            Relation::Inheritance => "inheritance",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relation| relation.as_str() == word)
    }

    /// The kinds and directions of the edges that belong to the relation.
    pub(crate) fn edges(self) -> &'static [(Direction, &'static [EdgeKind])] {
        use EdgeKind::{Calls, DependsOn, Extends, Implements, Imports, References};
        match self {
            Relation::Callers => &[(Direction::In, &[Calls])],
            Relation::Callees => &[(Direction::Out, &[Calls])],
            Relation::Dependencies => {
                &[(Direction::Out, &[Imports, DependsOn, References, Extends, Implements, Calls])]
            }
            Relation::Dependents => &[(Direction::In, &[Imports, DependsOn, References, Extends, Implements, Calls])],
            Relation::Inheritance => {
                &[(Direction::Out, &[Extends, Implements]), (Direction::In, &[Extends, Implements])]
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphRequest {
    /// A symbol (`name`, `Class.method`, `path#name` or a phrase), or a file, directory, module or package.
    pub name: String,
    /// A file near the wanted definition, if several definitions have the name.
    pub context_path: Option<String>,
    pub relation: Relation,
    pub repositories: RepositorySelection,
    pub limit: usize,
}
