//! Prints answers about the contents of the index.

use cairn_gateway::answers::{
    CoverageReport, FingerprintReport, IndexProgress, KindReport, ModuleList, ModuleReport, PartRetry, PathExplanation,
    RepositoryList, RepositoryReport, RunDetails, RunList, RunReport, RunStateName, SecretList, Statistics,
    StatusReport, sync_note,
};

use crate::output::{self, FAINT, NAME, PATH, styled};

/// Maximum number of parts of a run that are shown as waiting for a retry.
const RETRIES_SHOWN: usize = 3;

pub(super) fn repositories(answer: &RepositoryList) {
    answer.repositories.iter().for_each(repository);
    if answer.repositories.is_empty() {
        match answer.next_action_hint.as_deref() {
            Some(hint) => output::note(&format!("nothing is indexed yet: {hint}")),
            None => output::note("no indexed repository matches"),
        }
    }
}

fn repository(repository: &RepositoryReport) {
    let note = note(repository);
    let state = match &repository.published {
        None => note.map_or("not indexed yet".to_owned(), |note| format!("not indexed yet: {note}")),
        Some(published) => {
            let (commit, files, at) = (&published.commit, published.result.files_indexed, &published.indexed_at);
            let note = note.map(|note| format!("; {note}")).unwrap_or_default();
            format!("{commit} {files} files, indexed {at}{note}")
        }
    };
    let (name, source) = (styled(NAME, &repository.name), styled(PATH, &repository.source));
    output::line(&format!("{name} {source} {}", styled(FAINT, state)));
    let topics = &repository.topics;
    let topics = if topics.is_empty() { String::new() } else { format!(" [{}]", topics.join(", ")) };
    let about = format!("{}{topics}", repository.description.as_deref().unwrap_or_default());
    if !about.is_empty() {
        output::line(&styled(FAINT, format!("  {}", about.trim_start())));
    }
    for (label, patterns) in [("include", &repository.include), ("exclude", &repository.exclude)] {
        if !patterns.is_empty() {
            output::line(&styled(FAINT, format!("  {label}: {}", patterns.join(", "))));
        }
    }
}

fn note(repository: &RepositoryReport) -> Option<String> {
    sync_note(repository.last_sync.as_ref(), repository.pending_sync.as_ref())
}

/// Each module is printed below the module that contains it, and is indented.
pub(super) fn modules(answer: &ModuleList) {
    answer.modules.iter().for_each(module);
    if let Some(next) = answer.page.next_offset {
        let left = answer.page.num_total - next;
        output::note(&format!("{left} more modules; name a module, or use a smaller --depth"));
    }
    super::print::sources(&answer.sources);
}

fn module(module: &ModuleReport) {
    let level = if module.module.is_empty() { 0 } else { 1 + module.module.matches('.').count() };
    let indent = "  ".repeat(level);
    let name = if module.module.is_empty() { "(root)" } else { &module.module };
    let languages: Vec<String> = module.files.iter().map(|(language, count)| format!("{count} {language}")).collect();
    let files = format!("{} files: {}", module.num_files, languages.join(", "));
    let directory = module.directory.as_deref().filter(|directory| *directory != module.module).unwrap_or_default();
    output::line(&format!("{indent}{} {} {}", styled(NAME, name), styled(PATH, directory), styled(FAINT, files)));
    if let Some(description) = &module.description {
        output::line(&format!("{indent}  {description}"));
    }
}

pub(super) fn status(answer: &StatusReport) {
    if let Some(home) = &answer.home {
        output::line(&format!("index   {home}"));
    }
    output::line(&format!("model   {}", answer.model));
    output::line(&format!("holds   {} repositories, {} files", answer.num_repositories, answer.num_files));
    for run in &answer.runs_in_progress {
        let progress = format!("{} of {} parts", run.num_ended, run.num_parts);
        output::line(&format!("running {} run {}: {progress}", styled(NAME, &run.repository), run.run_id));
    }
    for repository in &answer.repositories {
        let state = repository.published.as_ref().map(|published| published.state);
        let state = match (state, note(repository)) {
            (_, Some(note)) => note,
            (None, None) => "not indexed yet".to_owned(),
            (Some(RunStateName::Partial), None) => "partial: some files could not be parsed".to_owned(),
            (Some(_), None) => continue,
        };
        output::line(&format!("{} {state}", styled(NAME, &repository.name)));
    }
}

pub(super) fn stats(answer: &Statistics) {
    for (label, count) in [
        ("repositories", Some(answer.repositories as u64)),
        ("files", Some(answer.files)),
        ("symbols", Some(answer.symbols)),
        ("chunks", Some(answer.chunks)),
        ("edges", Some(answer.edges)),
        ("patterns", Some(answer.patterns)),
        ("secrets redacted", Some(answer.secrets_redacted)),
        // A server does not report the size of its index.
        ("bytes on disk", answer.size_bytes),
    ] {
        if let Some(count) = count {
            output::line(&format!("{label:<18} {count:>12}"));
        }
    }
    for (class, count) in &answer.edges_by_resolution {
        output::line(&format!("edges {class:<12} {count:>12}"));
    }
    for (reason, count) in &answer.unresolved_references {
        output::line(&format!("unresolved {reason} {count}"));
    }
}

pub(super) fn runs(answer: &RunList) {
    answer.runs.iter().for_each(run);
    if answer.runs.is_empty() {
        output::note("no runs exist");
    }
    for sync in &answer.syncs {
        let note = sync_note(sync.last_sync.as_ref(), sync.pending_sync.as_ref()).unwrap_or_default();
        output::note(&format!("{} {note}", styled(NAME, &sync.repository)));
    }
}

fn run(run: &RunReport) {
    let parts = format!("{}/{} parts", run.num_ended, run.num_parts);
    let (id, state, message) = (&run.run_id, run.state.as_str(), run.message.as_deref().unwrap_or_default());
    let name = styled(NAME, &run.repository);
    let when = styled(FAINT, format!("{} {parts}", run.started_at));
    output::line(&format!("{id} {name} {state} {when} {message}"));
    for retry in run.retries.iter().take(RETRIES_SHOWN) {
        let PartRetry { part, code, next_attempt_at } = retry;
        let code = code.as_str();
        output::line(&styled(FAINT, format!("  {part} failed ({code}); its next attempt is at {next_attempt_at}")));
    }
    let num_more = run.retries.len().saturating_sub(RETRIES_SHOWN);
    if num_more > 0 {
        output::line(&styled(FAINT, format!("  {num_more} more parts wait for their next attempt")));
    }
}

/// One run with its result and errors.
pub(super) fn run_with_result(answer: &RunDetails) {
    run(&answer.run);
    let result = &answer.result;
    for (label, count) in [
        ("files", result.files_indexed),
        ("symbols", result.symbols),
        ("chunks", result.chunks),
        ("edges", result.edges),
        ("patterns", result.patterns),
        ("secrets redacted", result.secrets),
        ("parts failed", u64::from(answer.run.num_failed)),
        ("errors", result.num_errors),
    ] {
        output::line(&format!("{label:<18} {count:>12}"));
    }
    for error in &result.errors {
        output::line(&format!("{} {}", styled(PATH, &error.file), error.message));
    }
    let num_more = result.num_errors.saturating_sub(result.errors.len() as u64);
    if num_more > 0 {
        let repository = &answer.run.repository;
        output::note(&format!("{num_more} more errors; `cairn coverage {repository}` lists every path"));
    }
}

pub(super) fn why(answer: &PathExplanation) {
    let path = styled(PATH, &answer.path);
    output::line(&format!("{path} {}: {}", answer.outcome, answer.explanation));
    if let Some(changed_at) = &answer.changed_at {
        output::line(&styled(FAINT, format!("last changed {changed_at}")));
    }
}

pub(super) fn coverage(answer: &CoverageReport) {
    for entry in answer.entries.iter().flatten() {
        output::line(&format!("{}\t{}", entry.outcome, entry.path));
    }
    let print = if answer.entries.is_none() { output::line } else { output::note };
    for (outcome, count) in &answer.counts {
        print(&format!("{count:>8} {outcome}"));
    }
}

pub(super) fn secrets(answer: &SecretList) {
    for finding in &answer.findings {
        let place = format!("{}:{}", finding.path, finding.line);
        output::line(&format!("{} {}", styled(PATH, place), finding.rule));
    }
    output::note(&styled(FAINT, format!("{} secrets were redacted", answer.findings.len())));
}

pub(super) fn fingerprint(fingerprint: &FingerprintReport) {
    /// The kinds in the order in which indexing creates them.
    const KINDS: [&str; 8] = ["files", "chunks", "vectors", "nodes", "edges", "patterns", "names", "terms"];
    output::line(&format!("{} {}", styled(NAME, &fingerprint.repository), fingerprint.digest));
    for kind in KINDS {
        let Some(KindReport { count, digest }) = fingerprint.kinds.get(kind) else { continue };
        output::line(&format!("  {kind:<9} {count:>9} {digest}"));
    }
}

/// Prints the reply to a request to index.
pub(crate) fn requested(progress: &IndexProgress) {
    let (name, state) = (&progress.repository, progress.state.as_str());
    output::line(&format!("{}: {state}; `cairn runs --repo {name}` shows the progress", styled(NAME, name)));
}
