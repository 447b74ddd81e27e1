//! The caller of a question, and the repositories of the tenant that the caller may see.
//!
//! A question gets its repositories from `Searcher::repositories`, which requests only allowed repositories
//! from the catalogue. Therefore every scope that is passed to a store contains only allowed repositories. A
//! forbidden repository is treated as if it did not exist.

use cairn_domain::{Digester, RepositoryName, Tenant};
use cairn_ports::RepositoryRecord;
use globset::GlobMatcher;

use crate::{QueryError, Searcher, bounds};

/// The repositories of the tenant that a caller may see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Allowed {
    All,
    /// Full names, or globs over full names (`*` also matches `/`). An entry does not match former names or
    /// parts of names.
    Only(Vec<String>),
}

impl Allowed {
    /// Error messages for the entries that are neither names nor valid globs. These entries allow no
    /// repository.
    pub fn faults(&self) -> Vec<String> {
        let Allowed::Only(names) = self else { return Vec::new() };
        names
            .iter()
            .filter_map(|name| bounds::glob("repositories", name).err())
            .map(|error| error.message.to_string())
            .collect()
    }

    /// Whether the caller may see a repository with this name. The repository need not exist.
    pub fn allows(&self, repository: &RepositoryName) -> bool {
        self.compiled().allows(repository)
    }

    /// Compiles the globs once for all names of a question.
    fn compiled(&self) -> Compiled<'_> {
        let Allowed::Only(names) = self else { return Compiled { names: None, globs: Vec::new() } };
        let globs = names.iter().filter_map(|name| bounds::glob("repositories", name).ok());
        Compiled { names: Some(names), globs: globs.map(|glob| glob.compile_matcher()).collect() }
    }
}

/// The compiled form of [`Allowed`]. If `names` is `None`, every name is allowed.
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

/// The caller of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub tenant: Tenant,
    pub allowed: Allowed,
    /// The text that distinguishes the callers of a tenant. A cursor is valid only for the caller who
    /// received it.
    pub name: String,
}

impl Caller {
    /// The user of this machine.
    pub fn local() -> Self {
        Self { tenant: Tenant::local(), allowed: Allowed::All, name: "local".to_owned() }
    }

    /// A digest of the caller and the allowed repositories. A cursor contains this digest, so the cursor is
    /// valid only for this caller with these permissions.
    pub(crate) fn identity(&self) -> Digester {
        let digester = Digester::new("caller").text(self.tenant.as_str()).text(&self.name);
        match &self.allowed {
            Allowed::All => digester.flag(true),
            Allowed::Only(names) => digester.flag(false).list(names, |digester, name| digester.text(name)),
        }
    }
}

impl Searcher {
    /// A searcher for the same index and a different caller.
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
    fn only_names_and_globs_allow() {
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
    fn callers_with_different_rights_have_different_identities() {
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
