//! The rules for the repositories of an organisation.

use cairn_domain::Tenant;
use cairn_inventory::Patterns;
use cairn_ports::HostedRepository;

/// The operator's rules for one organisation.
pub struct OrganisationRules {
    /// The owner of the repositories.
    pub tenant: Tenant,
    pub include: Patterns,
    pub exclude: Patterns,
    pub include_archived: bool,
    pub include_forks: bool,
    /// Whether repositories that were removed or are now excluded are deleted from the catalogue.
    pub delete_vanished: bool,
    /// The maximum number of repositories that may be missing from the list. If more repositories are
    /// missing, the list or the settings are probably wrong, and no repository is deleted.
    pub max_deletions: usize,
}

/// One message for each invalid pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidRules(pub Vec<String>);

/// The reason why a listed repository is not registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeftOut {
    /// The rules exclude the repository.
    Unwanted(&'static str),
    /// The repository cannot be indexed now, because it is empty or disabled. The repository may leave this
    /// state at any time.
    Unusable,
}

impl OrganisationRules {
    /// Patterns match a name or its last part: `tools/*`, `*-archive`. An empty `include` matches every name.
    /// A repository that matches both `include` and `exclude` is excluded.
    pub fn new(tenant: Tenant, include: &[String], exclude: &[String]) -> Result<Self, InvalidRules> {
        let compiled = [Patterns::compile("include", include), Patterns::compile("exclude", exclude)];
        let faults: Vec<String> =
            compiled.iter().filter_map(|set| set.as_ref().err()).flatten().map(ToString::to_string).collect();
        match compiled {
            [Ok(include), Ok(exclude)] => Ok(Self {
                tenant,
                include,
                exclude,
                include_archived: false,
                include_forks: false,
                delete_vanished: false,
                max_deletions: 10,
            }),
            _ => Err(InvalidRules(faults)),
        }
    }

    /// Returns why the repository is not registered. `None` if the rules allow its registration.
    pub(super) fn leave_out(&self, listed: &HostedRepository) -> Option<LeftOut> {
        let included = self.include.is_empty() || self.include.find(&listed.name).is_some();
        let tests = [
            (!included, LeftOut::Unwanted("matches no pattern of `include`")),
            (self.exclude.find(&listed.name).is_some(), LeftOut::Unwanted("matches a pattern of `exclude`")),
            (listed.is_archived && !self.include_archived, LeftOut::Unwanted("is archived")),
            (listed.is_fork && !self.include_forks, LeftOut::Unwanted("is a fork")),
            (listed.is_empty || listed.is_disabled, LeftOut::Unusable),
        ];
        tests.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }
}
