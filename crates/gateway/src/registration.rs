//! The target of a call to index: a registered repository, or a repository to be registered.
//!
//! A caller can register only repositories that the caller may see. A name outside the caller's permissions
//! gets the same answer as an unknown name, whether such a repository exists or not. A caller can change the
//! settings of a registered repository, but not its address. An address is refused if its repository name is
//! registered with another address. Without this rule, a caller could replace the source of a registered
//! repository.

use cairn_domain::{RepositoryName, Scope, Source};
use cairn_inventory::{FileSizeLimit, Patterns};
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_search::{KnownRepository, QueryError, QueryErrorCode, Searcher};
use cairn_wire::{GivenSettings, RequestSettings};

use crate::index_call::IndexCall;

/// Finds the source and the name for an address. Returns `None` for a text that is not an address, and an
/// error if the rules of the operator refuse the address.
pub type Locate = dyn Fn(&str) -> Result<Option<(Source, RepositoryName)>, String> + Send + Sync;

/// The registered repositories and the operator's rules for addresses.
pub(crate) struct Registry<'a> {
    pub catalogue: &'a dyn Catalogue,
    pub locate: &'a Locate,
}

pub(crate) enum IndexTarget {
    Known(Box<KnownRepository>),
    /// A registered repository, and its settings after the call as JSON.
    Changed(Box<KnownRepository>, String),
    New(Box<RepositoryRecord>),
}

fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

impl Registry<'_> {
    /// The target of the call, with the permissions of the searcher's caller.
    pub(crate) async fn target(&self, searcher: &Searcher, call: &IndexCall) -> Result<IndexTarget, QueryError> {
        let given = call.settings();
        check_settings(&given)?;
        let located = (self.locate)(&call.target).map_err(wrong)?;
        let view = searcher.catalogue.view().await?;
        let Some((source, name)) = located else {
            return with_settings(searcher.select_one(&view, &call.target).await?, given);
        };
        let known = searcher.repositories(&view).await?;
        let is_named = |known: &&KnownRepository| known.record.name == name;
        let has_source = |known: &&KnownRepository| known.record.source == source;
        if let Some(found) =
            known.iter().find(|known| is_named(known) && has_source(known)).or(known.iter().find(has_source))
        {
            return with_settings(found.clone(), given);
        }
        if let Some(other) = known.iter().find(is_named) {
            let message =
                format!("`{}` is registered with another address; give its name to index it", other.record.name);
            return Err(wrong(message));
        }
        let record = RepositoryRecord::new(searcher.caller.tenant.clone(), name, source);
        let is_taken = !self.catalogue.repositories(&Scope::only(record.tenant.clone(), [record.id])).await?.is_empty();
        // An id also counts as used if its repository was later renamed to a name that the caller may not
        // see.
        if searcher.caller.allowed.allows(&record.name) && !is_taken {
            let settings = given.over(RequestSettings::default()).to_json();
            return Ok(IndexTarget::New(Box::new(RepositoryRecord { settings, ..record })));
        }
        with_settings(searcher.select_one(&view, &call.target).await?, given)
    }
}

/// A registered repository with its settings after the call.
fn with_settings(known: KnownRepository, given: GivenSettings) -> Result<IndexTarget, QueryError> {
    if given == GivenSettings::default() {
        return Ok(IndexTarget::Known(Box::new(known)));
    }
    let stored = stored_settings(&known.record)?;
    let settings = given.over(stored.clone());
    Ok(match settings == stored {
        true => IndexTarget::Known(Box::new(known)),
        false => IndexTarget::Changed(Box::new(known), settings.to_json()),
    })
}

pub(crate) fn stored_settings(record: &RepositoryRecord) -> Result<RequestSettings, QueryError> {
    RequestSettings::from_json(&record.settings).map_err(|error| {
        QueryError::new(QueryErrorCode::InternalError, format!("the stored settings cannot be read: {error}"))
    })
}

/// Checks the patterns and the maximum file size of a call. Invalid values are refused before anything is
/// written.
pub(crate) fn check_settings(given: &GivenSettings) -> Result<(), QueryError> {
    let GivenSettings { include, exclude, include_override, max_file_size } = given;
    let lists = [("include_patterns", include), ("exclude_patterns", exclude), ("include_override", include_override)];
    for (field, patterns) in lists {
        let patterns = patterns.as_deref().unwrap_or_default();
        Patterns::compile(field, patterns).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            wrong(faults.join("; "))
        })?;
    }
    if let Some(provided) = *max_file_size {
        FileSizeLimit::new(provided).map_err(|invalid| {
            wrong(format!("{invalid} (max_allowed {}, provided {provided})", invalid.max_allowed))
        })?;
    }
    Ok(())
}
