//! Decides which repositories must be registered. This module does no I/O.
//!
//! The catalogue identifies a repository by tenant and name. A hosting service identifies a repository by an
//! id, and the name of the repository may change. Therefore a listed repository is first looked up by host
//! and id, and by name only if no registered repository has this host and id. A renamed or transferred
//! repository keeps its identity and its index, and its old name becomes an alias. A new repository with the
//! old name of an existing repository gets a new identity. A new repository with the name of a removed
//! repository gets the identity and the index of the removed repository.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{Hosted, RepositoryId, RepositoryName, Tenant};
use cairn_ports::{HostedRepository, Listing, Organisation, RepositoryRecord};
use cairn_redaction::{Redactor, SecretsIgnore, quoted};

use super::changes::{Changes, Locate};
use super::rules::{LeftOut, OrganisationRules};

/// The host, and the id of the repository at this host.
pub(super) type RemoteId = (String, String);

/// The repositories of a tenant: the registered repositories, the repositories that must be registered, and
/// the contents of the lists.
pub(super) struct Book {
    records: BTreeMap<RepositoryId, RepositoryRecord>,
    redactor: Option<Redactor>,
    by_place: BTreeMap<RemoteId, RepositoryId>,
    /// All watched organisations of the tenant. A repository that still belongs to one of these organisations
    /// is not treated as vanished.
    watched: Vec<Organisation>,
    /// Repositories that are on a list and not excluded.
    pub present: BTreeSet<RemoteId>,
    /// Repositories that are on a list but excluded, each with the reason.
    pub unwanted: BTreeMap<RemoteId, &'static str>,
    /// Organisations whose list contains an entry without a readable id. Such an entry may refer to any
    /// repository, so no repository of the organisation is deleted.
    pub unclear: BTreeSet<Organisation>,
    /// Organisations whose list contains no usable entry. Such a list may be wrong, so no repository of the
    /// organisation is deleted.
    pub silent: BTreeSet<Organisation>,
}

impl Book {
    pub(super) fn new(known: Vec<RepositoryRecord>, watched: Vec<Organisation>) -> Self {
        let mut book = Self {
            records: BTreeMap::new(),
            redactor: Redactor::new(&SecretsIgnore::default()).ok(),
            by_place: BTreeMap::new(),
            watched,
            present: BTreeSet::new(),
            unwanted: BTreeMap::new(),
            unclear: BTreeSet::new(),
            silent: BTreeSet::new(),
        };
        known.into_iter().for_each(|record| book.enter(record));
        book
    }

    fn enter(&mut self, record: RepositoryRecord) {
        if let Some(hosted) = self.records.get(&record.id).and_then(|before| before.hosted.as_ref()) {
            self.by_place.remove(&(hosted.host.clone(), hosted.id.clone()));
        }
        if let Some(hosted) = &record.hosted {
            self.by_place.insert((hosted.host.clone(), hosted.id.clone()), record.id);
        }
        self.records.insert(record.id, record);
    }

    /// Returns the repositories that were registered from this organisation's list.
    pub(super) fn of<'a>(
        &'a self,
        organisation: &'a Organisation,
    ) -> impl Iterator<Item = (&'a RepositoryRecord, RemoteId)> {
        let of = move |record: &'a RepositoryRecord| {
            let hosted = record.hosted.as_ref()?;
            let is_of = hosted.host == organisation.host && hosted.organisation == organisation.name;
            is_of.then(|| (record, (hosted.host.clone(), hosted.id.clone())))
        };
        self.records.values().filter_map(of)
    }

    /// Whether a full name belongs to a watched organisation. Services ignore upper and lower case in an
    /// owner's name.
    pub(super) fn is_watched(&self, host: &str, path: &str) -> bool {
        let has = |organisation: &Organisation| {
            let owner = &organisation.name;
            let is_owner = path.get(..owner.len()).is_some_and(|start| start.eq_ignore_ascii_case(owner));
            organisation.host == host && is_owner && path[owner.len()..].starts_with('/')
        };
        self.watched.iter().any(has)
    }

    /// Processes a list, and returns the changes and the records that must be registered.
    pub(super) fn decide(
        &mut self,
        organisation: &Organisation,
        rules: &OrganisationRules,
        listing: &Listing,
        locate: &Locate,
    ) -> (Changes, Vec<RepositoryRecord>) {
        let mut changes = Changes { num_listed: listing.repositories.len() as u64, ..Changes::default() };
        let mut records = Vec::new();
        self.note_refused(organisation, listing);
        let listed_ids: BTreeSet<&str> = listing.repositories.iter().map(|listed| listed.id.as_str()).collect();
        for listed in &listing.repositories {
            let place = (organisation.host.clone(), listed.id.clone());
            match rules.leave_out(listed) {
                Some(LeftOut::Unwanted(reason)) => {
                    changes.num_left_out += 1;
                    self.unwanted.insert(place, reason);
                    continue;
                }
                Some(LeftOut::Unusable) => {
                    changes.num_left_out += 1;
                    self.present.insert(place);
                    continue;
                }
                None if !self.present.insert(place) => continue,
                None => {}
            }
            match self.record(organisation, &rules.tenant, listed, &listed_ids, locate) {
                Ok(Some(record)) => {
                    if let Some(record) = self.changed(record, &mut changes) {
                        records.push(record);
                    }
                }
                Ok(None) => changes.num_by_hand += 1,
                Err(reason) => changes.refused.push(format!("{}: {reason}", quoted(&listed.name))),
            }
        }
        changes.refused.extend(listing.refused.iter().map(|refused| refused.reason.clone()));
        (changes, records)
    }

    fn note_refused(&mut self, organisation: &Organisation, listing: &Listing) {
        for refused in &listing.refused {
            match &refused.id {
                Some(id) => drop(self.present.insert((organisation.host.clone(), id.clone()))),
                None => drop(self.unclear.insert(organisation.clone())),
            }
        }
        if listing.repositories.is_empty() {
            self.silent.insert(organisation.clone());
        }
    }

    /// Returns the record for a listed repository. `None` if a person registered the repository.
    fn record(
        &self,
        organisation: &Organisation,
        tenant: &Tenant,
        listed: &HostedRepository,
        listed_ids: &BTreeSet<&str>,
        locate: &Locate,
    ) -> Result<Option<RepositoryRecord>, String> {
        let (source, name) = locate(&listed.clone_url)?;
        let hosted = self.hosted(organisation, listed);
        let (id, before) = match self.identity(tenant, &name, &hosted, listed_ids) {
            Identity::ByHand => return Ok(None),
            Identity::Registered(before) => (before.id, Some(before)),
            Identity::New(id) => (id, None),
        };
        let mut aliases = before.map(|before| before.aliases.clone()).unwrap_or_default();
        aliases.extend(before.filter(|before| before.name != name).map(|before| before.name.clone()));
        aliases.sort();
        aliases.dedup();
        Ok(Some(RepositoryRecord {
            id,
            tenant: tenant.clone(),
            name,
            source,
            branch: before.and_then(|before| before.branch.clone()),
            settings: before.map(|before| before.settings.clone()).unwrap_or_default(),
            aliases,
            hosted: Some(hosted),
            last_sync: before.and_then(|before| before.last_sync.clone()),
            pending_sync: before.and_then(|before| before.pending_sync),
            next_attempt_at_ms: before.and_then(|before| before.next_attempt_at_ms),
        }))
    }

    /// Decides whether a listed repository is already registered.
    fn identity(
        &self,
        tenant: &Tenant,
        name: &RepositoryName,
        hosted: &Hosted,
        listed_ids: &BTreeSet<&str>,
    ) -> Identity<'_> {
        let id = RepositoryId::derive(tenant, name);
        let known = self.by_place.get(&(hosted.host.clone(), hosted.id.clone())).unwrap_or(&id);
        let Some(before) = self.records.get(known) else { return Identity::New(id) };
        match &before.hosted {
            None => Identity::ByHand,
            Some(other) if is_same(other, hosted) => Identity::Registered(before),
            // The listed repository has the name of a removed repository.
            Some(other)
                if before.name == *name && other.host == hosted.host && !listed_ids.contains(other.id.as_str()) =>
            {
                Identity::Registered(before)
            }
            // The name belongs to a registered repository that may still exist under a different name,
            // perhaps in another organisation.
            Some(_) => Identity::New(RepositoryId::derive(tenant, &with_id(name, hosted))),
        }
    }

    /// Returns the service's data about the repository. The description and the topics are redacted in the
    /// same way as the contents of the repository.
    fn hosted(&self, organisation: &Organisation, listed: &HostedRepository) -> Hosted {
        let redacted = |text: &String| match &self.redactor {
            Some(redactor) => redactor.redact(text).text.into_owned(),
            None => String::new(),
        };
        Hosted {
            host: organisation.host.clone(),
            id: listed.id.clone(),
            organisation: organisation.name.clone(),
            default_branch: listed.default_branch.clone(),
            description: listed.description.as_ref().map(redacted),
            topics: listed.topics.iter().map(redacted).collect(),
        }
    }

    /// If the record is new or differs from the registered record, adds it to the repositories of the tenant
    /// and returns it.
    fn changed(&mut self, record: RepositoryRecord, changes: &mut Changes) -> Option<RepositoryRecord> {
        match self.records.get(&record.id) {
            Some(before) if *before == record => return None,
            Some(before) if before.name != record.name => {
                changes.renamed.push((before.name.clone(), record.name.clone()));
            }
            Some(_) => changes.num_updated += 1,
            None => changes.added.push(record.name.clone()),
        }
        self.enter(record.clone());
        Some(record)
    }
}

/// The identity of a listed repository.
enum Identity<'a> {
    /// A person registered the repository.
    ByHand,
    Registered(&'a RepositoryRecord),
    New(RepositoryId),
}

fn is_same(left: &Hosted, right: &Hosted) -> bool {
    left.host == right.host && left.id == right.id
}

/// Adds `#` and the id to the name. No other repository has this name, because ordinary names contain no `#`.
fn with_id(name: &RepositoryName, hosted: &Hosted) -> RepositoryName {
    RepositoryName::new(format!("{name}#{}", hosted.id))
}
