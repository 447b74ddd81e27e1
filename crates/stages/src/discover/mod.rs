//! discover: brings the catalogue in step with what organisations have. Comes before sync: what it registers is asked for.
//!
//! May be run twice and stopped anywhere: each registration stands for itself, and what is the same already is not written. Nothing
//! follows from a listing that is an error. That a repository is missing from a list deletes it only if the operator wants that,
//! the lists of all the tenant's organisations could be had, and the service, asked for the repository itself, has none.

mod decide;
mod rules;
#[cfg(test)]
mod tests;
mod vanished;

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_domain::{RepositoryName, Scope, Source, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, Clock, Hosting, Listing, Organisation};
use tokio::task::JoinSet;

use decide::Book;
pub use rules::{InvalidRules, OrganisationRules};
pub use vanished::{Absence, Vanished};

/// An organisation that is kept in step.
#[derive(Clone)]
pub struct Watched {
    pub rules: Arc<OrganisationRules>,
    pub hosting: Arc<dyn Hosting>,
}

/// Source and name that an address stands for, or why it is refused: the same rules as for what a person indexes.
pub type Locate = dyn Fn(&str) -> Result<(Source, RepositoryName), String> + Send + Sync;

pub struct Discover {
    pub catalogue: Arc<dyn Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub locate: Box<Locate>,
}

/// What came of one organisation.
#[derive(Debug)]
pub struct Discovered {
    pub tenant: Tenant,
    pub organisation: Organisation,
    pub outcome: Result<Changes, StageError>,
}

/// What was found and done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    pub num_listed: u64,
    pub added: Vec<RepositoryName>,
    /// Old name and new.
    pub renamed: Vec<(RepositoryName, RepositoryName)>,
    /// With another address, description or topics than before.
    pub num_updated: u64,
    /// Listed, and not wanted by the rules, empty or switched off.
    pub num_left_out: u64,
    /// A person registered them: they are synced like the others, and nothing else is done to them.
    pub num_by_hand: u64,
    /// Listed and unusable: why.
    pub refused: Vec<String>,
    pub vanished: Vec<Vanished>,
}

impl Discover {
    /// Lists all organisations at once, then goes through the tenants.
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

    /// Registers what is new or not as it was.
    async fn register(&self, book: &mut Book, watched: &Watched, listing: &Listing) -> Result<Changes, StageError> {
        let (changes, records) =
            book.decide(watched.hosting.organisation(), &watched.rules, listing, self.locate.as_ref());
        for record in records {
            self.catalogue.register(record).await?;
        }
        Ok(changes)
    }
}

struct Listed {
    watched: Watched,
    listing: Result<Listing, StageError>,
}

/// The lists in the order of the organisations. One that is slow keeps no other waiting.
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
