//! What a call to index is about: a repository that is there, or one that is to be registered.
//!
//! A caller registers only what they could see afterwards. So nothing is told of a name that is not theirs: whether there is
//! such a repository or not, the answer is that of a name which nothing has. And a caller changes nothing of what is
//! registered: an address whose name another address has already is refused, or a key to a repository could lead it elsewhere.

use cairn_domain::Scope;
use cairn_inventory::{FileSizeLimit, Patterns};
use cairn_ports::RepositoryRecord;
use cairn_search::{KnownRepository, QueryError, QueryErrorCode, Searcher, check_patterns};
use cairn_wire::RequestSettings;

use crate::{IndexCall, LedgerIndexing};

pub(crate) enum Target {
    Known(Box<KnownRepository>),
    New(Box<RepositoryRecord>),
}

fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

/// What the call means, in the name of the searcher's caller.
pub(crate) async fn target(
    indexing: &LedgerIndexing,
    searcher: &Searcher,
    call: &IndexCall,
) -> Result<Target, QueryError> {
    let settings = settings(call)?;
    let located = (indexing.locate)(&call.target).map_err(wrong)?;
    let view = searcher.catalogue.view().await?;
    let Some((source, name)) = located else {
        return unchanged(searcher.select_one(&view, &call.target).await?, &settings);
    };
    let known = searcher.repositories(&view).await?;
    let is_named = |known: &&KnownRepository| known.record.name == name;
    let has_source = |known: &&KnownRepository| known.record.source == source;
    if let Some(found) =
        known.iter().find(|known| is_named(known) && has_source(known)).or(known.iter().find(has_source))
    {
        return unchanged(found.clone(), &settings);
    }
    if let Some(other) = known.iter().find(is_named) {
        let message = format!("`{}` is registered with another address; name it to index it", other.record.name);
        return Err(wrong(message));
    }
    let record = RepositoryRecord::new(searcher.caller.tenant.clone(), name, source);
    let is_taken = !indexing.catalogue.repositories(&Scope::only(record.tenant.clone(), [record.id])).await?.is_empty();
    // Taken is also what a repository was registered as that has another name since, which the caller may not see.
    if searcher.caller.allowed.allows(&record.name) && !is_taken {
        return Ok(Target::New(Box::new(RepositoryRecord { settings: settings.to_json(), ..record })));
    }
    unchanged(searcher.select_one(&view, &call.target).await?, &settings)
}

/// A repository that is there, if the call does not mean to change it.
fn unchanged(known: KnownRepository, settings: &RequestSettings) -> Result<Target, QueryError> {
    if *settings == RequestSettings::default() || same_settings(&known.record.settings, settings) {
        return Ok(Target::Known(Box::new(known)));
    }
    Err(wrong("settings of a repository are changed by whoever runs this service, or in its `.cairn.yaml`"))
}

pub(crate) fn same_settings(text: &str, settings: &RequestSettings) -> bool {
    RequestSettings::from_json(text).is_ok_and(|known| known == *settings)
}

/// Patterns and size of the call, refused before anything is asked for.
fn settings(call: &IndexCall) -> Result<RequestSettings, QueryError> {
    for (field, patterns) in
        [("include_patterns", &call.include_patterns), ("exclude_patterns", &call.exclude_patterns)]
    {
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
    Ok(RequestSettings {
        include: call.include_patterns.clone(),
        exclude: call.exclude_patterns.clone(),
        include_override: Vec::new(),
        max_file_size: call.max_file_size,
    })
}
