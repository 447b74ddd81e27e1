//! The part of a run's result that comes from the inventory.

use cairn_domain::Outcome;
use cairn_ports::RepositoryRecord;
use cairn_wire::{FileError, Manifest, RunResult};

use super::settings::Effective;

/// Maximum number of errors that a result lists. The count of errors includes the errors that are not listed.
pub(crate) const ERRORS_LISTED: usize = 100;

pub(super) fn of_snapshot(
    repository: &RepositoryRecord,
    revision: &str,
    manifest: &Manifest,
    settings: &Effective,
) -> RunResult {
    // The inventory already contains an error for a file that cannot be read.
    let has_failed = |error: &&FileError| {
        manifest.find(&error.file).is_some_and(|entry| matches!(entry.outcome, Outcome::Failed { .. }))
    };
    let mut settings_errors: Vec<FileError> =
        settings.errors.iter().filter(|error| !has_failed(error)).cloned().collect();
    let num_settings_errors = settings_errors.len() as u64;
    settings_errors.truncate(ERRORS_LISTED);
    RunResult {
        repository: repository.name.to_string(),
        path: repository.source.location().to_owned(),
        commit: revision.to_owned(),
        include: settings.rule_settings.include.clone(),
        exclude: settings.rule_settings.exclude.clone(),
        max_file_size: settings.rules.max_file_size().bytes(),
        ..inventory_result(manifest, settings_errors, num_settings_errors)
    }
}

/// Creates the part of a run's result that comes from the inventory: the number of files by outcome, the
/// errors, and the number of secrets.
pub(crate) fn inventory_result(
    manifest: &Manifest,
    settings_errors: Vec<FileError>,
    num_settings_errors: u64,
) -> RunResult {
    let mut result = RunResult {
        errors: settings_errors.clone(),
        num_errors: num_settings_errors,
        settings_errors,
        num_settings_errors,
        ..RunResult::default()
    };
    for entry in &manifest.entries {
        *result.files.entry(entry.outcome.label()).or_default() += 1;
        result.files_indexed += u64::from(entry.outcome.is_indexed());
        result.secrets += u64::from(entry.num_secrets);
        if let Outcome::Failed { message, .. } = &entry.outcome {
            result.num_errors += 1;
            if result.errors.len() < ERRORS_LISTED {
                result.errors.push(FileError { file: entry.path.to_string(), message: message.clone() });
            }
        }
    }
    result
}
