//! discover: updates the catalogue from the lists of organisations. Later jobs sync the discovered
//! repositories.
//!
//! A discovery may be run twice and may be stopped at any point: each registration is independent, and an
//! unchanged record is not written. If the list of an organisation cannot be read, the records of its
//! repositories are not changed. A vanished repository is deleted only if three conditions are true: the
//! operator allows it, all lists of the tenant's organisations could be read, and the reason for the absence
//! is known (`Absence`).

mod changes;
mod decide;
mod rules;
#[cfg(test)]
mod tests;
mod vanished;

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_domain::{Scope, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, Clock, Hosting, Listing, Organisation};
use tokio::task::JoinSet;

pub use changes::{Absence, Changes, Locate, Vanished};
use decide::Book;
pub use rules::{InvalidRules, OrganisationRules};

/// An organisation whose repositories are registered automatically.
#[derive(Clone)]
pub struct Watched {
    pub rules: Arc<OrganisationRules>,
    pub hosting: Arc<dyn Hosting>,
}

pub struct Discover {
    pub catalogue: Arc<dyn Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub locate: Box<Locate>,
}

/// The outcome for one organisation.
#[derive(Debug)]
pub struct Discovered {
    pub tenant: Tenant,
    pub organisation: Organisation,
    pub outcome: Result<Changes, StageError>,
}

impl Discover {
    /// Lists all organisations concurrently, and then processes the tenants one at a time.
    pub async fn run(&self, watched: &[Watched]) -> Result<Vec<Discovered>, StageError> {
        let mut listed = list_all(watched).await?;
        let tenants: BTreeSet<&Tenant> = watched.iter().map(|watched| &watched.rules.tenant).collect();
        let mut discovered = Vec::new();
        for tenant in tenants {
            let (own, rest) = listed.into_iter().partition(|listed| listed.watched.rules.tenant == *tenant);
            listed = rest;
            discovered.extend(self.tenant(tenant, own).await?);
        }
        Ok(discovered)
    }

    async fn tenant(&self, tenant: &Tenant, listed: Vec<Listed>) -> Result<Vec<Discovered>, StageError> {
        let known = self.catalogue.repositories(&Scope::all(tenant.clone())).await?;
        let organisations = listed.iter().map(|listed| listed.watched.hosting.organisation().clone()).collect();
        let mut book = Book::new(known, organisations);
        let mut found = Vec::new();
        for Listed { watched, listing } in listed {
            let organisation = watched.hosting.organisation().clone();
            let outcome = match listing {
                Ok(listing) => Ok(self.register(&mut book, &watched, &listing).await?),
                Err(error) => Err(error),
            };
            found.push((watched, Discovered { tenant: tenant.clone(), organisation, outcome }));
        }
        let is_whole = found.iter().all(|(_, discovered)| discovered.outcome.is_ok());
        for (watched, discovered) in &mut found {
            if let Ok(changes) = &mut discovered.outcome {
                changes.vanished = self.vanished(&book, watched, is_whole).await?;
            }
        }
        Ok(found.into_iter().map(|(_, discovered)| discovered).collect())
    }

    /// Registers new and changed repositories.
    async fn register(&self, book: &mut Book, watched: &Watched, listing: &Listing) -> Result<Changes, StageError> {
        let (changes, records) =
            book.decide(watched.hosting.organisation(), &watched.rules, listing, self.locate.as_ref());
        for record in records {
            self.catalogue.register_listed(record).await?;
        }
        Ok(changes)
    }
}

struct Listed {
    watched: Watched,
    listing: Result<Listing, StageError>,
}

/// Returns the lists in the order of the organisations. The lists are read concurrently.
async fn list_all(watched: &[Watched]) -> Result<Vec<Listed>, StageError> {
    let mut listing = JoinSet::new();
    for (position, watched) in watched.iter().cloned().enumerate() {
        listing.spawn(async move {
            let listing = watched.hosting.list().await.map_err(StageError::from);
            (position, Listed { watched, listing })
        });
    }
    let mut listed = Vec::new();
    while let Some(joined) = listing.join_next().await {
        listed.push(joined.map_err(|error| StageError::panicked(error.to_string()))?);
    }
    listed.sort_by_key(|(position, _)| *position);
    Ok(listed.into_iter().map(|(_, listed)| listed).collect())
}
