//! The names of a repository, from which wrong names are made.

/// A name of the index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    /// The name with the names of the enclosing definitions.
    pub(crate) qualified_name: String,
}

impl Symbol {
    /// The name of the innermost enclosing definition.
    pub(crate) fn owner(&self) -> Option<&str> {
        let before = self.qualified_name.strip_suffix(self.name.as_str())?;
        before.trim_end_matches(['.', ':', '#']).rsplit(['.', ':', '#']).next().filter(|owner| !owner.is_empty())
    }
}

/// The names of a repository, and the facts about them that the errors use.
pub(crate) struct NamePool<'a> {
    pub(crate) symbols: &'a [Symbol],
    /// Words that occur in names.
    pub(crate) vocabulary: Vec<String>,
}
