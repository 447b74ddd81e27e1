//! Who asks, and what of their tenant they may see.
//!
//! A question takes its repositories from `Searcher::repositories`, which asks the catalogue for those that are allowed and
//! for no others. So every scope that reaches a store is what was asked for within what is allowed, and a repository that
//! is forbidden is not known: it takes the path of a name that nothing has.

use cairn_domain::{Digester, RepositoryName, Tenant};
use cairn_ports::RepositoryRecord;
use globset::GlobMatcher;

use crate::{QueryError, Searcher, bounds};

/// Which repositories of the tenant a caller may see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Allowed {
    All,
    /// Full names, or globs over them (`*` also crosses `/`). Former names and parts of names allow nothing.
    Only(Vec<String>),
}

impl Allowed {
    /// Names that are no globs: they allow nothing, which nobody can mean.
    pub fn faults(&self) -> Vec<String> {
        let Allowed::Only(names) = self else { return Vec::new() };
        names.iter().filter_map(|name| bounds::glob("repositories", name).err()).map(|error| error.message).collect()
    }

    /// Whether a repository of that name may be seen, be there one or not.
    pub fn allows(&self, repository: &RepositoryName) -> bool {
        self.compiled().allows(repository)
    }

    /// Compiled once for all the names that a question looks at.
    fn compiled(&self) -> Compiled<'_> {
        let Allowed::Only(names) = self else { return Compiled { names: None, globs: Vec::new() } };
        let globs = names.iter().filter_map(|name| bounds::glob("repositories", name).ok());
        Compiled { names: Some(names), globs: globs.map(|glob| glob.compile_matcher()).collect() }
    }
}

/// None: every name.
struct Compiled<'a> {
    names: Option<&'a [String]>,
    globs: Vec<GlobMatcher>,
}

impl Compiled<'_> {
    fn allows(&self, repository: &RepositoryName) -> bool {
        let Some(names) = self.names else { return true };
        let name = repository.as_str();
        names.iter().any(|allowed| allowed == name) || self.globs.iter().any(|glob| glob.is_match(name))
    }
}

/// Who asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub tenant: Tenant,
    pub allowed: Allowed,
    /// Tells callers of one tenant apart: a cursor is good for the one whom it was given to.
    pub name: String,
}

impl Caller {
    /// Whoever works on this machine.
    pub fn local() -> Self {
        Self { tenant: Tenant::local(), allowed: Allowed::All, name: "local".to_owned() }
    }

    /// What ties a cursor to the caller and to what they were allowed when they got it.
    pub(crate) fn identity(&self) -> Digester {
        let digester = Digester::new("caller").text(self.tenant.as_str()).text(&self.name);
        match &self.allowed {
            Allowed::All => digester.flag(true),
            Allowed::Only(names) => digester.flag(false).list(names, |digester, name| digester.text(name)),
        }
    }
}

impl Searcher {
    /// The same index, asked by somebody else.
    #[must_use]
    pub fn asked_by(&self, caller: Caller) -> Self {
        Self { caller, ..self.clone() }
    }

    /// The repositories that the caller may see, sorted by name.
    pub(crate) async fn allowed(&self) -> Result<Vec<RepositoryRecord>, QueryError> {
        let allowed = self.caller.allowed.compiled();
        let may_see = move |name: &RepositoryName| allowed.allows(name);
        Ok(self.catalogue.visible(&self.caller.tenant, &may_see).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_globs_allow_and_nothing_else_does() {
        let check = |allowed: &[&str], expect: bool| {
            let only = Allowed::Only(allowed.iter().map(ToString::to_string).collect());
            assert_eq!(only.allows(&RepositoryName::new("host/team/app")), expect, "{allowed:?}");
        };
        check(&["host/team/app"], true);
        check(&["host/*"], true);
        check(&["*"], true);
        check(&["x", "host/team/*"], true);
        check(&[], false);
        check(&["app"], false);
        check(&["host/old"], false);
        check(&["host/team"], false);
        check(&["host/team/app2", "[", "host/other/*"], false);
        assert!(Allowed::All.allows(&RepositoryName::new("host/team/app")));
        let faults = Allowed::Only(vec!["host/*".to_owned(), "[".to_owned()]).faults();
        assert!(faults.len() == 1 && faults[0].contains('['), "{faults:?}");
    }

    #[test]
    fn a_caller_is_another_with_other_rights() {
        let of = |tenant: &str, name: &str, allowed| {
            let caller = Caller { tenant: Tenant::new(tenant), name: name.to_owned(), allowed };
            caller.identity().digest()
        };
        let all = [
            of("a", "k", Allowed::All),
            of("b", "k", Allowed::All),
            of("a", "l", Allowed::All),
            of("a", "k", Allowed::Only(Vec::new())),
            of("a", "k", Allowed::Only(vec!["x".to_owned()])),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
