//! Pages of a search whose results are files.

use cairn_domain::Scope;
use cairn_ports::ChunkFilter;
use cairn_ranking::{Cut, RankedHit, estimate_tokens, fit, fit_at_least_one};
use cairn_redaction::Message;

use crate::found_files::{FileRole, FoundFile, FoundFiles};
use crate::prepared_query::PreparedQuery;
use crate::target::result;
use crate::{QueryError, Searcher};

/// Maximum number of files for which a page shows the first lines.
const MAX_BEGINNINGS: usize = 10;
/// Number of tokens that a file in a list of files needs in addition to its path and repository.
const FILE_OVERHEAD_TOKENS: usize = 10;
/// Number of tokens of a note about files that do not fit.
const NOTE_TOKENS: usize = 20;

/// A page of files.
pub(crate) struct FilePage {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) cut: Cut,
    /// Number of tokens of the list of files.
    pub(crate) num_tokens: usize,
}

impl FilePage {
    /// The files from position `offset` on: at most `limit` files, and only as many as fit into `max_tokens`,
    /// but at least one.
    pub(crate) fn of(all: &FoundFiles, offset: usize, limit: usize, max_tokens: usize) -> Self {
        let mut files: Vec<FoundFile> = all.files.iter().skip(offset).take(limit).cloned().collect();
        let fitting = fit_at_least_one(&costs(&files), files.len(), max_tokens);
        files.truncate(fitting.num_taken);
        let num_left = all.files.len().saturating_sub(offset + files.len());
        let cut = match fitting.cut {
            _ if num_left == 0 => Cut::Nothing,
            Cut::Tokens { .. } => Cut::Tokens { num_left },
            Cut::Nothing | Cut::Limit { .. } => Cut::Limit { num_left },
        };
        Self { files, cut, num_tokens: fitting.num_tokens }
    }
}

/// Truncates the list of files that is shown in addition to hits, so that it needs at most `max_tokens`.
/// Returns the number of tokens of the list, and a note if files are missing. The tokens of the note are
/// included.
pub(crate) fn fit_beside_hits(files: &mut Vec<FoundFile>, max_tokens: usize) -> (usize, Option<Message>) {
    let costs = costs(files);
    let all = fit(&costs, costs.len(), max_tokens);
    if all.num_taken == costs.len() {
        return (all.num_tokens, None);
    }
    let fitting = fit(&costs, costs.len(), max_tokens.saturating_sub(NOTE_TOKENS));
    files.truncate(fitting.num_taken);
    let num_left = costs.len() - fitting.num_taken;
    let note = Message::default().and(num_left).and(" more files match, but do not fit into `max_tokens`.");
    (fitting.num_tokens + NOTE_TOKENS, Some(note))
}

/// The note for files whose first lines do not fit.
pub(crate) fn beginnings_note(num_left: usize) -> Message {
    Message::from("The first lines of ").and(num_left).and(" files do not fit into `max_tokens`.")
}

/// Number of tokens that are reserved for this note.
pub(crate) fn beginnings_note_tokens(role: FileRole) -> usize {
    if role == FileRole::WithBeginnings { NOTE_TOKENS } else { 0 }
}

/// Number of tokens of each file in a list.
fn costs(files: &[FoundFile]) -> Vec<usize> {
    let cost =
        |file: &FoundFile| estimate_tokens(&file.path) + estimate_tokens(&file.repository) + FILE_OVERHEAD_TOKENS;
    files.iter().map(cost).collect()
}

impl Searcher {
    /// The first chunks of the first files of a page, in the order of the files. The result is empty if the
    /// role of the files is `Names`.
    pub(crate) async fn beginnings_of_page(
        &self,
        query: &PreparedQuery,
        filter: &ChunkFilter,
        page: &[FoundFile],
        role: FileRole,
    ) -> Result<Vec<RankedHit>, QueryError> {
        if role != FileRole::WithBeginnings {
            return Ok(Vec::new());
        }
        let filter = ChunkFilter { paths: Vec::new(), ..filter.clone() };
        let files = &page[..page.len().min(MAX_BEGINNINGS)];
        let hits: Vec<_> = files.iter().map(|file| file.hit.clone()).collect();
        let ids = self.beginnings_of(query, &filter, &hits).await?;
        let scope = Scope::only(self.caller.tenant.clone(), ids.iter().map(|(repository, _)| *repository));
        let chunks = self.fetch_texts(&query.view, &scope, ids.iter().copied().collect()).await?;
        let of_file = |(file, rank): (&FoundFile, u32)| {
            let id = ids.iter().find(|id| {
                chunks.get(id).is_some_and(|chunk| (id.0, &chunk.path) == (file.hit.repository, &file.hit.path))
            })?;
            Some(result(chunks.get(id)?.clone(), rank, u64::from(file.score), None))
        };
        Ok(files.iter().zip(1..).filter_map(of_file).collect())
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{Key128, RepoPath, RepositoryId};
    use cairn_ports::FileHit;

    use super::*;

    fn files(num_files: usize) -> Vec<FoundFile> {
        let file = |number: usize| {
            let path = RepoPath::parse(&format!("src/config_{number}.json")).expect("a path");
            let hit = FileHit { repository: RepositoryId(Key128([0; 16])), path, score: 100, rank: 0 };
            let (repository, path) = ("shop".to_owned(), hit.path.to_string());
            FoundFile { repository, path, is_directory: false, score: 100, hit }
        };
        (0..num_files).map(file).collect()
    }

    #[test]
    fn notes_are_part_of_the_limit() {
        for max_tokens in NOTE_TOKENS..400 {
            let mut shown = files(12);
            let (num_tokens, note) = fit_beside_hits(&mut shown, max_tokens);
            let of_note = note.as_deref().map_or(0, estimate_tokens);
            assert!(num_tokens <= max_tokens, "{num_tokens} of {max_tokens}");
            assert!(costs(&shown).iter().sum::<usize>() + of_note <= num_tokens, "{max_tokens}");
            assert_eq!(note.is_some(), shown.len() < 12);
        }
        assert!(estimate_tokens(&beginnings_note(MAX_BEGINNINGS)) <= NOTE_TOKENS);
    }

    #[test]
    fn page_contains_at_least_one_file() {
        let all = FoundFiles { files: files(3), role: FileRole::Names };
        let check = |offset, max_tokens, num_files, cut| {
            let page = FilePage::of(&all, offset, 10, max_tokens);
            assert_eq!((page.files.len(), page.cut), (num_files, cut), "{offset} {max_tokens}");
        };
        check(0, 1, 1, Cut::Tokens { num_left: 2 });
        check(2, 1, 1, Cut::Nothing);
        check(0, 1_000, 3, Cut::Nothing);
        check(3, 1_000, 0, Cut::Nothing);
    }
}
