//! Finds default exports by the names of their files.
//!
//! Files in JavaScript and TypeScript often export one function or class without a name. Other files import
//! it under the name of its file: `makeQuery` is the default export of `make_query.js`.

use cairn_domain::{RepoPath, RepositoryId, Scope, View};
use cairn_name_match::{Reason, Reasons};
use cairn_ports::{FileMatch, NameMatch, NameTier, ResolvedSymbol};
use cairn_ranking::fold_style;

use crate::file_names::is_stem;
use crate::{QueryError, Searcher};

/// The name of every default export.
const DEFAULT: &str = "default";
/// The extensions of languages with default exports.
const EXTENSIONS: [&str; 10] = ["cjs", "cts", "js", "jsx", "mjs", "mts", "svelte", "ts", "tsx", "vue"];
/// Maximum number of files with a similar name that are compared with the requested name.
const MAX_FILES: usize = 50;
/// In thousandths. The scores of near names are lower.
pub(crate) const SCORE: u32 = 950;

impl Searcher {
    /// The default exports of the files that have the requested name, apart from case, style and extension.
    pub(crate) async fn default_exports(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Vec<ResolvedSymbol>, QueryError> {
        if fold_style(name).is_empty() || !name.chars().all(is_of_name) {
            return Ok(Vec::new());
        }
        let similar = FileMatch::BaseName { similar: true };
        let files = self.names.files(view, scope, name, similar, MAX_FILES).await?;
        let files = files.into_iter().filter(|file| exports_by_name(&file.path, name));
        let files: Vec<(RepositoryId, RepoPath)> = files.map(|file| (file.repository, file.path)).collect();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let in_files = Scope::only(scope.tenant.clone(), files.iter().map(|(repository, _)| *repository));
        let exports = self.names.symbols(view, &in_files, DEFAULT, &[NameMatch::Exact], usize::MAX).await?;
        let in_files = exports.into_iter().filter(|hit| {
            files.iter().any(|(repository, path)| hit.repository == *repository && hit.symbol.path == *path)
        });
        let (tier, reasons) = (NameTier::Style, Reasons::from(Reason::DefaultExport));
        let resolved = in_files.map(|hit| {
            let (repository, symbol) = (hit.repository, hit.symbol);
            ResolvedSymbol { repository, symbol, tier, score: SCORE, rank: 0, reasons }
        });
        Ok(resolved.collect())
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '$')
}

/// Whether other files may import the default export of this file under the name.
fn exports_by_name(path: &RepoPath, name: &str) -> bool {
    let extension = path.as_str().rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) && is_stem(name, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_exports_have_the_names_of_their_files() {
        let check = |path: &str, name: &str, expect: bool| {
            let path = RepoPath::parse(path).expect("a path");
            assert_eq!(exports_by_name(&path, name), expect, "{path} {name}");
        };
        check("lib/make_query.js", "makeQuery", true);
        check("lib/make-query.mjs", "make_query", true);
        check("src/UserCard.vue", "UserCard", true);
        check("lib/make_query.py", "makeQuery", false);
        check("lib/make_queries.js", "makeQuery", false);
        check("js", "js", false);
    }
}
