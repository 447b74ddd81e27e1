//! Indexes the working tree of the working directory before its first question is answered.

use std::path::Path;

use cairn_search::{FieldFault, NextCall, QueryError, QueryErrorCode};

use super::command_line::quoted;
use super::index::{Bars, cancel_unfinished};
use crate::local::{Local, Unindexed, too_large};
use crate::output;

/// The repository of the working directory. If it was not indexed, it is indexed first. `None` if the
/// directory is not in a working tree that a question may index.
pub(crate) async fn repository_here(local: &Local, here: &Path, json: bool) -> anyhow::Result<Option<String>> {
    if let Some(name) = local.repository_of_directory(here).await? {
        return Ok(Some(name));
    }
    let tree = match local.unindexed_tree(here).await? {
        None => return Ok(None),
        Some(Unindexed::TooLarge(tree)) => {
            output::note(&too_large(&tree));
            return Ok(None);
        }
        Some(Unindexed::Small(tree)) => tree,
    };
    let Some(request) = local.first_request(&tree).await? else { return Ok(None) };
    let root = tree.root.display().to_string();
    output::note(&format!("{root} is not indexed yet; indexing its {} files first", tree.num_files));
    let (progress, limit) = (Bars::new(json), local.first_use_timeout());
    let Ok(indexed) = tokio::time::timeout(limit, local.index(&request, &progress)).await else {
        cancel_unfinished(local, &[request.repository()]).await?;
        let seconds = limit.as_secs();
        let message = format!("the working tree was not indexed within {seconds} s, so the run was cancelled");
        let call = NextCall {
            tool: "index_repository",
            reason: "indexes the working tree without this limit".to_owned(),
            arguments: vec![("path", root.clone())],
        };
        let hint = format!("`cairn index {}` has no time limit", quoted(&root));
        let error = QueryError::new(QueryErrorCode::Timeout, message).in_field(FieldFault::of("path"));
        return Err(error.hint(hint).next(call).into());
    };
    progress.finish();
    let indexed = indexed?;
    output::note(&format!("indexed {} files of {}", indexed.result.files_indexed, request.name));
    local.repository_of_directory(here).await
}
