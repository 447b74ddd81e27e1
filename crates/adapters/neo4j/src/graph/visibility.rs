//! Converts the view and scope of a query to conditions in a statement and their parameters.

use cairn_domain::{RepositoryScope, Scope, View};
use neo4rs::{BoltType, Query};

use crate::connection::Neo4j;
use crate::values::{generation_number, key_text, number};

/// Replaces `SEES(name)` in a statement. The condition is true if the record belongs to a visible repository
/// and its interval is visible.
const CONDITION: &str = "NAME.gen_from < $next_gen AND NOT NAME.gen_from IN $hidden \
     AND (NAME.gen_to >= $next_gen OR NAME.gen_to IN $hidden) \
     AND NAME.tenant = $tenant AND ($all OR NAME.owner IN $owners) AND NOT NAME.owner IN $hidden_owners";

/// Names that statements use for the records that `SEES` tests.
const NAMES: [&str; 6] = ["version", "start", "source", "target", "edge", "record"];

/// The view and the scope of one query.
pub(crate) struct Visibility<'a> {
    view: &'a View,
    scope: &'a Scope,
}

impl<'a> Visibility<'a> {
    pub(crate) fn new(view: &'a View, scope: &'a Scope) -> Self {
        Self { view, scope }
    }

    /// Returns the query of a template: expands each `SEES(name)`, and sets the parameters for the view and
    /// the scope.
    pub(crate) fn query(&self, neo4j: &Neo4j, template: &str) -> Query {
        let hidden: Vec<i64> = self.view.hidden.iter().copied().map(generation_number).collect();
        let hidden_owners: Vec<String> = self.view.hidden_repositories.iter().map(|id| key_text(id.0)).collect();
        let (all, owners) = match &self.scope.repositories {
            RepositoryScope::All => (true, Vec::new()),
            RepositoryScope::Only(ids) => (false, ids.iter().map(|id| key_text(id.0)).collect()),
        };
        neo4j
            .query(&expanded(template))
            .param("next_gen", number(self.view.next_gen))
            .param("hidden", BoltType::from(hidden))
            .param("tenant", self.scope.tenant.as_str())
            .param("all", all)
            .param("owners", owners)
            .param("hidden_owners", hidden_owners)
    }
}

fn expanded(template: &str) -> String {
    let mut text = template.to_owned();
    for name in NAMES {
        text = text.replace(&format!("SEES({name})"), &CONDITION.replace("NAME", name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_expanded_for_each_name() {
        let text = expanded("WHERE SEES(edge) AND EXISTS { WHERE SEES(source) }");
        assert!(!text.contains("SEES") && !text.contains("NAME"), "{text}");
        assert!(text.contains("edge.gen_from < $next_gen") && text.contains("source.owner IN $owners"), "{text}");
    }
}
