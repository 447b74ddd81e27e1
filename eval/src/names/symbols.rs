//! The names of a repository, from which wrong names are generated.

/// A name in the index.
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

/// The names of a repository, and the data about them that is needed to generate errors.
pub(crate) struct NamePool<'a> {
    pub(crate) symbols: &'a [Symbol],
    /// The words that occur in the names.
    pub(crate) vocabulary: Vec<String>,
}
