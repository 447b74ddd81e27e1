//! Pages of a search whose results are files.

use cairn_domain::Scope;
use cairn_ports::ChunkFilter;
use cairn_ranking::{Cut, Fit, RankedHit, estimate_tokens, fit};

use crate::found_files::{FileRole, FoundFile, FoundFiles};
use crate::prepared_query::PreparedQuery;
use crate::target::result;
use crate::{QueryError, Searcher};

/// Maximum number of files for which a page shows the first lines.
const MAX_BEGINNINGS: usize = 10;
/// Number of tokens that a file in a list of files needs in addition to its path and repository.
const FILE_OVERHEAD_TOKENS: usize = 10;

/// A page of files.
pub(crate) struct FilePage {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) cut: Cut,
    /// Number of tokens of the list of files.
    pub(crate) num_tokens: usize,
}

impl FilePage {
    /// The files from position `offset`: at most `limit` files, and only as many files as fit into
    /// `max_tokens`.
    pub(crate) fn of(all: &FoundFiles, offset: usize, limit: usize, max_tokens: usize) -> Self {
        let mut files: Vec<FoundFile> = all.files.iter().skip(offset).take(limit).cloned().collect();
        let fitting = fit_files(&mut files, max_tokens);
        let num_left = all.files.len().saturating_sub(offset + files.len());
        let cut = match fitting.cut {
            _ if num_left == 0 => Cut::Nothing,
            Cut::Tokens { .. } => Cut::Tokens { num_left },
            Cut::Nothing | Cut::Limit { .. } => Cut::Limit { num_left },
        };
        Self { files, cut, num_tokens: fitting.num_tokens }
    }
}

/// Truncates a list of files to the number of tokens.
pub(crate) fn fit_files(files: &mut Vec<FoundFile>, max_tokens: usize) -> Fit {
    let cost =
        |file: &FoundFile| estimate_tokens(&file.path) + estimate_tokens(&file.repository) + FILE_OVERHEAD_TOKENS;
    let costs: Vec<usize> = files.iter().map(cost).collect();
    let fitting = fit(&costs, files.len(), max_tokens);
    files.truncate(fitting.num_taken);
    fitting
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
