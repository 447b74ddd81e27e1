//! Adds the suffix of the namespace to the names of labels and relationship types.

/// The suffix of all names of an installation. The suffix replaces each `~` in a statement, for example in
/// `(node:Node~ {key: $key})`.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    suffix: String,
}

impl Names {
    /// `namespace` must be validated, so that it is safe in the text of a statement.
    pub(crate) fn new(namespace: &str) -> Self {
        Self { suffix: if namespace.is_empty() { String::new() } else { format!("_{namespace}") } }
    }

    pub(crate) fn statement(&self, template: &str) -> String {
        template.replace('~', &self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_is_the_suffix_of_every_name() {
        let check = |namespace, expect| {
            assert_eq!(Names::new(namespace).statement("(a:Node~)-[:EDGE~]->()"), expect);
        };
        check("", "(a:Node)-[:EDGE]->()");
        check("t1", "(a:Node_t1)-[:EDGE_t1]->()");
    }
}
