//! The target of a call to index: a registered repository, or one to be registered.
//!
//! A caller can register only repositories that the caller may see. A name outside the caller's permissions
//! gets the same answer as an unknown name, whether such a repository exists or not. A caller cannot change a
//! registered repository. An address whose name belongs to another address is refused, because a key for the
//! repository could otherwise point it to another source.

use cairn_domain::{RepositoryName, Scope, Source};
use cairn_inventory::{FileSizeLimit, Patterns};
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_search::{KnownRepository, QueryError, QueryErrorCode, Searcher, check_patterns};
use cairn_wire::RequestSettings;

use crate::index_call::IndexCall;

/// Source and name of an address. `None` for a text that is not an address; an error if the rules of the
/// operator refuse it.
pub type Locate = dyn Fn(&str) -> Result<Option<(Source, RepositoryName)>, String> + Send + Sync;

/// The registered repositories and the operator's rules for addresses.
pub(crate) struct Registry<'a> {
    pub catalogue: &'a dyn Catalogue,
    pub locate: &'a Locate,
}

pub(crate) enum IndexTarget {
    Known(Box<KnownRepository>),
    New(Box<RepositoryRecord>),
}

fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

impl Registry<'_> {
    /// The target of the call, with the permissions of the searcher's caller.
    pub(crate) async fn target(&self, searcher: &Searcher, call: &IndexCall) -> Result<IndexTarget, QueryError> {
        let settings = settings(call)?;
        let located = (self.locate)(&call.target).map_err(wrong)?;
        let view = searcher.catalogue.view().await?;
        let Some((source, name)) = located else {
            return unchanged(searcher.select_one(&view, &call.target).await?, call);
        };
        let known = searcher.repositories(&view).await?;
        let is_named = |known: &&KnownRepository| known.record.name == name;
        let has_source = |known: &&KnownRepository| known.record.source == source;
        if let Some(found) =
            known.iter().find(|known| is_named(known) && has_source(known)).or(known.iter().find(has_source))
        {
            return unchanged(found.clone(), call);
        }
        if let Some(other) = known.iter().find(is_named) {
            let message = format!("`{}` is registered with another address; name it to index it", other.record.name);
            return Err(wrong(message));
        }
        let record = RepositoryRecord::new(searcher.caller.tenant.clone(), name, source);
        let is_taken = !self.catalogue.repositories(&Scope::only(record.tenant.clone(), [record.id])).await?.is_empty();
        // An id is also taken if its repository was renamed since, to a name that the caller may not see.
        if searcher.caller.allowed.allows(&record.name) && !is_taken {
            return Ok(IndexTarget::New(Box::new(RepositoryRecord { settings: settings.to_json(), ..record })));
        }
        unchanged(searcher.select_one(&view, &call.target).await?, call)
    }
}

/// A registered repository, if the call does not change it.
fn unchanged(known: KnownRepository, call: &IndexCall) -> Result<IndexTarget, QueryError> {
    let stored = RequestSettings::from_json(&known.record.settings).unwrap_or_default();
    let is_same =
        |given: &Option<Vec<String>>, stored: &Vec<String>| given.as_ref().is_none_or(|given| given == stored);
    let is_unchanged = is_same(&call.include_patterns, &stored.include)
        && is_same(&call.exclude_patterns, &stored.exclude)
        && call.max_file_size.is_none_or(|given| stored.max_file_size == Some(given));
    if is_unchanged {
        return Ok(IndexTarget::Known(Box::new(known)));
    }
    Err(wrong("the settings of a repository are changed by the operator of this service, or in its `.cairn.yaml`"))
}

pub(crate) fn same_settings(text: &str, settings: &RequestSettings) -> bool {
    RequestSettings::from_json(text).is_ok_and(|known| known == *settings)
}

/// Patterns and size of the call. Invalid ones are refused before anything is requested.
fn settings(call: &IndexCall) -> Result<RequestSettings, QueryError> {
    let include = call.include_patterns.clone().unwrap_or_default();
    let exclude = call.exclude_patterns.clone().unwrap_or_default();
    for (field, patterns) in [("include_patterns", &include), ("exclude_patterns", &exclude)] {
        check_patterns(field, patterns)?;
        Patterns::compile(field, patterns).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            wrong(faults.join("; "))
        })?;
    }
    if let Some(provided) = call.max_file_size {
        FileSizeLimit::new(provided).map_err(|invalid| {
            wrong(format!("{invalid} (max_allowed {}, provided {provided})", invalid.max_allowed))
        })?;
    }
    Ok(RequestSettings { include, exclude, include_override: Vec::new(), max_file_size: call.max_file_size })
}
