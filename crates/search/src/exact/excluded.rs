//! Explains why the filter of an exact search excludes all files.

use std::collections::BTreeSet;

use cairn_exact::GramQuery;
use cairn_ranking::similarity_percent;
use cairn_redaction::{Given, Message, quoted};

use super::scan::Scan;
use crate::QueryError;
use crate::chunk_filter::CompiledFilter;
use crate::repositories::KnownRepository;

/// Maximum number of repositories whose files are compared with the filter.
const MAX_REPOSITORIES: usize = 20;

/// Which parts of the filter the searched files match, each part on its own.
#[derive(Default)]
struct Matched {
    languages: BTreeSet<String>,
    is_path_matched: bool,
}

impl Scan<'_> {
    /// The sentences that name the languages and paths of the filter that no searched file matches. Empty if
    /// some file matches the whole filter, or if more than `MAX_REPOSITORIES` repositories were searched.
    pub(super) async fn notes_about_excluded_files(
        &self,
        selected: &[KnownRepository],
    ) -> Result<Vec<Message>, QueryError> {
        let has_filter = !self.filter.languages.is_empty() || !self.filter.paths.is_empty();
        let published: Vec<&KnownRepository> = selected.iter().filter(|known| known.published.is_some()).collect();
        if !has_filter || published.is_empty() || published.len() > MAX_REPOSITORIES {
            return Ok(Vec::new());
        }
        let filter = CompiledFilter::new(self.filter)?;
        let mut matched = Matched::default();
        for known in published {
            for file in self.candidates(known, &GramQuery::All).await? {
                if self.lets_through(&filter, &file) {
                    return Ok(Vec::new());
                }
                matched.is_path_matched |= filter.lets_file_through(&file.path);
                matched.languages.insert(file.language.to_string());
            }
        }
        let absent = self.filter.languages.iter().filter(|language| !matched.languages.contains(*language));
        let mut notes: Vec<Message> = absent.map(|language| absent_language(language, &matched.languages)).collect();
        if !matched.is_path_matched {
            notes.extend(self.notes_about_paths(selected).await?);
        }
        if notes.is_empty() {
            notes.push("No searched file matches all filters together.".into());
        }
        Ok(notes)
    }

    async fn notes_about_paths(&self, selected: &[KnownRepository]) -> Result<Vec<Message>, QueryError> {
        let mut notes = Vec::new();
        for path in &self.filter.paths {
            let skipped = self.searcher.note_of_skipped_file(selected, path).await?;
            let absent = || Message::from("No searched file matches the path ").and(Given(path)).and(".");
            notes.push(skipped.unwrap_or_else(absent));
        }
        Ok(notes)
    }
}

fn absent_language(language: &str, present: &BTreeSet<String>) -> Message {
    let message = Message::from("No searched file has the language ").and(Given(language));
    let similarity = |present: &&String| similarity_percent(language, present);
    match present.iter().filter(|present| similarity(present).is_some()).max_by_key(similarity) {
        Some(near) => message.and("; did you mean ").and(quoted(near)).and("?"),
        None => message.and("."),
    }
}
