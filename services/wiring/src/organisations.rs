//! Registers the repositories of organisations automatically.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_config::Sources;
use cairn_domain::Tenant;
use cairn_git::RemotePolicy;
use cairn_hosting::{HostingConfig, HostingService, InvalidConfig};
use cairn_ports::{Catalogue, Clock, ErrorKind, Hosting, HostingError, Listing, Organisation};
use cairn_stages::{Changes, Discover, Discovered, OrganisationRules, Watched};
use serde::Deserialize;

use crate::remote;

/// The maximum number of changes of each kind (registered, renamed and others) that are logged in one tick.
/// Further changes are only counted.
const LOGGED: usize = 20;

/// One entry of `[[organisations]]` in the settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrganisationConfig {
    /// The tenant that owns the repositories.
    pub tenant: String,
    pub hosting: HostingConfig,
    /// The repositories to register: names, or paths below the organisation, with wildcards. If the list is
    /// empty, all repositories are registered.
    #[serde(default)]
    pub include: Vec<String>,
    /// The repositories that are not registered. This list takes precedence over `include`.
    #[serde(default)]
    pub exclude: Vec<String>,
    #[serde(default)]
    pub include_archived: bool,
    #[serde(default)]
    pub include_forks: bool,
    /// Whether repositories are deleted if they no longer exist, or if these settings no longer select them.
    #[serde(default)]
    pub delete_vanished: bool,
    /// If more than this number of repositories are missing at the same time, none of them is deleted.
    #[serde(default = "max_deletions")]
    pub max_deletions: usize,
}

fn max_deletions() -> usize {
    10
}

impl OrganisationConfig {
    /// All faults in these settings, not only the first fault.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.hosting.validate().err().map_or(Vec::new(), |invalid| invalid.faults);
        if self.tenant.is_empty() || self.tenant.chars().any(|sign| sign.is_control() || sign.is_whitespace()) {
            faults.push("`tenant` must be a name without blanks and control characters".to_owned());
        }
        faults.extend(self.rules().err().unwrap_or_default());
        faults
    }

    fn rules(&self) -> Result<OrganisationRules, Vec<String>> {
        let tenant = Tenant::new(self.tenant.clone());
        let rules = OrganisationRules::new(tenant, &self.include, &self.exclude).map_err(|invalid| invalid.0)?;
        Ok(OrganisationRules {
            include_archived: self.include_archived,
            include_forks: self.include_forks,
            delete_vanished: self.delete_vanished,
            max_deletions: self.max_deletions,
            ..rules
        })
    }

    fn watched(&self, sources: &Sources) -> anyhow::Result<Watched> {
        let rules = self.rules().map_err(|faults| anyhow::anyhow!(faults.join("; ")))?;
        let hosting: Arc<dyn Hosting> = match HostingService::new(self.hosting.clone(), sources) {
            Ok(service) => Arc::new(service),
            Err(InvalidConfig { faults }) => Arc::new(Unusable { organisation: self.hosting.organisation(), faults }),
        };
        Ok(Watched { rules: Arc::new(rules), hosting })
    }
}

/// An organisation that cannot be queried, because its token cannot be read or its address is refused. The
/// error is reported as a failure of only this organisation, and the other organisations are still listed.
struct Unusable {
    organisation: Organisation,
    faults: Vec<String>,
}

impl Unusable {
    fn error(&self, operation: &'static str) -> HostingError {
        let key = format!("{}/{}", self.organisation.host, self.organisation.name);
        HostingError::new(ErrorKind::Invalid, operation, key).because(anyhow::anyhow!(self.faults.join("; ")))
    }
}

#[async_trait]
impl Hosting for Unusable {
    fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    async fn list(&self) -> Result<Listing, HostingError> {
        Err(self.error("list"))
    }

    async fn whereabouts(&self, _id: &str) -> Result<Option<String>, HostingError> {
        Err(self.error("whereabouts"))
    }
}

/// Updates the catalogue from all organisations. Local mode and clusters use the same rules.
pub async fn discover(
    organisations: &[OrganisationConfig],
    sources: &Sources,
    catalogue: Arc<dyn Catalogue>,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Vec<Discovered>> {
    let watched: anyhow::Result<Vec<Watched>> =
        organisations.iter().map(|organisation| organisation.watched(sources)).collect();
    let policy = RemotePolicy::from(sources);
    let discover = Discover { catalogue, clock, locate: Box::new(move |url| remote(url, &policy)) };
    Ok(discover.run(&watched?).await?)
}

pub(crate) fn log_discovered(discovered: &Discovered) {
    let (tenant, organisation) = (discovered.tenant.as_str(), &discovered.organisation);
    let organisation = format!("{}/{}", organisation.host, organisation.name);
    match &discovered.outcome {
        Ok(changes) => log_changes(tenant, &organisation, changes),
        Err(error) => tracing::error!(tenant, organisation, code = %error.code, "not listed: {}", error.chain()),
    }
}

fn log_changes(tenant: &str, organisation: &str, changes: &Changes) {
    for name in changes.added.iter().take(LOGGED) {
        tracing::info!(tenant, organisation, repository = name.as_str(), "registered");
    }
    for (before, now) in changes.renamed.iter().take(LOGGED) {
        tracing::info!(tenant, organisation, repository = now.as_str(), before = before.as_str(), "renamed");
    }
    for reason in changes.refused.iter().take(LOGGED) {
        tracing::warn!(tenant, organisation, reason, "an entry of the list is ignored");
    }
    for vanished in changes.vanished.iter().take(LOGGED) {
        let (repository, deleted) = (vanished.name.as_str(), vanished.is_deleted);
        tracing::warn!(
            tenant,
            organisation,
            repository,
            deleted,
            "a repository is no longer on the list: {}",
            vanished.absence
        );
    }
    tracing::info!(
        tenant,
        organisation,
        num_listed = changes.num_listed,
        num_added = changes.added.len(),
        num_renamed = changes.renamed.len(),
        num_updated = changes.num_updated,
        num_left_out = changes.num_left_out,
        num_by_hand = changes.num_by_hand,
        num_refused = changes.refused.len(),
        num_vanished = changes.vanished.len(),
        num_deleted = changes.vanished.iter().filter(|vanished| vanished.is_deleted).count(),
        "listed"
    );
}
