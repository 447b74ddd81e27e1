//! The target of a call to index: a registered repository, or a repository to be registered.
//!
//! A caller can register only repositories that the caller may see. For a name outside the caller's
//! permissions, the answer is the same as for an unknown name, whether or not such a repository exists. A
//! caller can change the settings of a registered repository, but not its address. An address is refused if
//! the repository name that belongs to it is already registered with a different address. Without this rule,
//! a caller could replace the source of a registered repository.

use cairn_domain::{RepositoryName, Scope, Source};
use cairn_inventory::{FileSizeLimit, InvalidPattern, Patterns};
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_redaction::{Message, Own};
use cairn_search::{FieldFault, KnownRepository, QueryError, QueryErrorCode, Searcher};
use cairn_wire::{GivenSettings, RequestSettings, RunResult};

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
    /// A registered repository, and its settings after the call, as JSON.
    Changed(Box<KnownRepository>, String),
    New(Box<RepositoryRecord>),
}

fn wrong(message: impl Into<Message>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

impl Registry<'_> {
    /// Determines the target of the call. The permissions of the caller in `searcher` apply.
    pub(crate) async fn target(&self, searcher: &Searcher, call: &IndexCall) -> Result<IndexTarget, QueryError> {
        let given = call.settings();
        check_settings(&given)?;
        let located = (self.locate)(&call.target).map_err(|message| wrong(Own(message)))?;
        let view = searcher.catalogue.view().await?;
        let Some((source, name)) = located else {
            return with_settings(searcher.select_one(&view, &call.target).await.map_err(in_target)?, given);
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
            let message = Message::default().and(&other.record.name);
            let message = message.and(" is registered with another address; give its name to index it");
            return Err(wrong(message));
        }
        let record = RepositoryRecord::new(searcher.caller.tenant.clone(), name, source);
        let is_taken = !self.catalogue.repositories(&Scope::only(record.tenant.clone(), [record.id])).await?.is_empty();
        // The id is also in use if the repository with this id was renamed, and the caller may not see the
        // new name.
        if searcher.caller.allowed.allows(&record.name) && !is_taken {
            let settings = settings_after_call(given, RequestSettings::default()).to_json();
            return Ok(IndexTarget::New(Box::new(RepositoryRecord { settings, ..record })));
        }
        with_settings(searcher.select_one(&view, &call.target).await.map_err(in_target)?, given)
    }
}

/// The error of an ambiguous name. A call to index has its name in the field `target`.
fn in_target(error: QueryError) -> QueryError {
    let is_ambiguous = error.fault.is_some();
    if is_ambiguous { error.in_field(FieldFault::of("target")) } else { error }
}

/// The target for a registered repository: `Changed` if the call changes its settings, otherwise `Known`.
fn with_settings(known: KnownRepository, given: GivenSettings) -> Result<IndexTarget, QueryError> {
    let stored = stored_settings(&known.record)?;
    let settings = settings_after_call(given, stored.clone());
    Ok(match settings == stored {
        true => IndexTarget::Known(Box::new(known)),
        false => IndexTarget::Changed(Box::new(known), settings.to_json()),
    })
}

/// The settings of a repository after a call to index. Patterns that the call does not give are kept. The
/// maximum file size is not kept: in a call without it, the size in `.cairn.yaml`, the size of the operator
/// or the default applies.
pub fn settings_after_call(given: GivenSettings, stored: RequestSettings) -> RequestSettings {
    given.over(RequestSettings { max_file_size: None, ..stored })
}

pub(crate) fn stored_settings(record: &RepositoryRecord) -> Result<RequestSettings, QueryError> {
    RequestSettings::from_json(&record.settings).map_err(|error| {
        QueryError::new(QueryErrorCode::InternalError, Own(format!("the stored settings cannot be read: {error}")))
    })
}

/// The result of a request that waits for its run: the source of the repository and the settings that calls
/// have given. The settings in the repository are known only after the run has read them.
pub(crate) fn requested_result(record: &RepositoryRecord) -> RunResult {
    let RequestSettings { include, exclude, max_file_size, .. } = stored_settings(record).unwrap_or_default();
    let max_file_size = max_file_size.and_then(|size| FileSizeLimit::new(size).ok()).unwrap_or_default().bytes();
    let (repository, path) = (record.name.to_string(), record.source.location().to_owned());
    RunResult { repository, path, include, exclude, max_file_size, ..RunResult::default() }
}

/// Checks the patterns and the maximum file size of a call. Invalid values are refused before anything is
/// written.
pub fn check_settings(given: &GivenSettings) -> Result<(), QueryError> {
    let GivenSettings { include, exclude, include_override, max_file_size } = given;
    let lists = [
        ("include_patterns", "include", include),
        ("exclude_patterns", "exclude", exclude),
        ("include_override", "include_override", include_override),
    ];
    for (field, kind, patterns) in lists {
        let patterns = patterns.as_deref().unwrap_or_default();
        Patterns::compile(field, patterns).map_err(|faults| invalid_patterns(field, kind, &faults))?;
    }
    if let Some(provided) = *max_file_size {
        let is_too_large = FileSizeLimit::new(provided).is_err();
        if is_too_large {
            return Err(wrong_file_size("too large", i64::try_from(provided).ok(), &provided.to_string()));
        }
    }
    Ok(())
}

/// Converts the maximum file size, in bytes, from a call. A negative number is refused.
pub fn file_size(provided: i64) -> Result<u64, QueryError> {
    u64::try_from(provided).map_err(|_| wrong_file_size("negative", Some(provided), &provided.to_string()))
}

fn wrong_file_size(fault: &str, provided: Option<i64>, shown: &str) -> QueryError {
    let max_allowed = FileSizeLimit::HARD_CAP_BYTES;
    let message = Own(format!("max_file_size {fault} (max_allowed {max_allowed}, provided {shown})"));
    let field = FieldFault { max_allowed: Some(max_allowed), provided, ..FieldFault::of("max_file_size") };
    wrong(message).in_field(field)
}

/// The error for invalid patterns. The message names all these patterns; the details contain only the first.
fn invalid_patterns(field: &str, kind: &str, faults: &[InvalidPattern]) -> QueryError {
    let each =
        |fault: &InvalidPattern| format!("invalid {kind} pattern {} in `{field}`: {}", fault.pattern, fault.message);
    let messages: Vec<String> = faults.iter().map(each).collect();
    let pattern = faults.first().map(|fault| fault.pattern.as_str().to_owned());
    wrong(Own(messages.join("; "))).in_field(FieldFault { pattern, ..FieldFault::of(field) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(given: &GivenSettings) -> (String, FieldFault) {
        let error = check_settings(given).expect_err("refused");
        assert_eq!(error.code, QueryErrorCode::ValidationError);
        (error.message.to_string(), *error.fault.expect("a field"))
    }

    /// Checks the errors that the description of `index_repository` lists.
    #[test]
    fn details_contain_field_pattern_and_sizes() {
        let include = Some(vec!["*.md".to_owned(), "[invalid".to_owned()]);
        let (message, fault) = fault_of(&GivenSettings { include, ..GivenSettings::default() });
        assert!(message.starts_with("invalid include pattern"), "{message}");
        let pattern = Some("[invalid".to_owned());
        assert_eq!(fault, FieldFault { pattern, ..FieldFault::of("include_patterns") });
        let (message, fault) = fault_of(&GivenSettings { max_file_size: Some(20_971_520), ..GivenSettings::default() });
        assert!(message.starts_with("max_file_size too large"), "{message}");
        let sizes = FieldFault { max_allowed: Some(10_485_760), provided: Some(20_971_520), ..Default::default() };
        assert_eq!(fault, FieldFault { field: "max_file_size".to_owned(), ..sizes });
    }

    #[test]
    fn call_keeps_patterns_but_not_the_file_size() {
        let list = |pattern: &str| vec![pattern.to_owned()];
        let check = |include: Option<Vec<String>>, max_file_size, expect: (&[String], Option<u64>)| {
            let stored =
                RequestSettings { include: list("*.go"), max_file_size: Some(524_288), ..RequestSettings::default() };
            let given = GivenSettings { include, max_file_size, ..GivenSettings::default() };
            let after = settings_after_call(given, stored);
            assert_eq!((after.include.as_slice(), after.max_file_size), expect);
        };
        check(None, None, (&list("*.go"), None));
        check(None, Some(4096), (&list("*.go"), Some(4096)));
        check(Some(list("*.py")), None, (&list("*.py"), None));
        check(Some(Vec::new()), Some(0), (&[], Some(0)));
    }

    #[test]
    fn valid_settings_are_accepted() {
        for max_file_size in [None, Some(0), Some(1), Some(524_288), Some(10_485_760)] {
            let (include, exclude) = (Some(vec!["*.go".to_owned()]), Some(vec!["**/vendor/**".to_owned()]));
            let given = GivenSettings { include, exclude, max_file_size, ..GivenSettings::default() };
            assert_eq!(check_settings(&given), Ok(()));
        }
    }
}
