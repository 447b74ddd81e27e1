//! Indexes the working tree of the working directory. This happens before the first question about this tree
//! is answered.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use cairn_domain::RunId;
use cairn_gateway::report_of_command;
use cairn_redaction::Own;
use cairn_search::{FieldFault, NextCall, QueryError, QueryErrorCode};

use super::bars::Bars;
use crate::exit::CANCELLED;
use crate::local::{Local, TreeAround, UnindexedTree, failure_of, too_large};
use crate::output;
use crate::reported::with_commands_in;
use crate::stop::Stop;

/// The repository of the working directory, or the exit code if the user stopped the run.
type Here = ControlFlow<ExitCode, Option<String>>;

/// The repository of the working directory. If the repository is not indexed, this function indexes it before
/// it returns, unless the tree is too large. `None` if the directory is in no working tree.
pub(crate) async fn repository_here(local: &Local, here: &Path, json: bool) -> anyhow::Result<Here> {
    let tree = match local.tree_around(here).await? {
        TreeAround::Nowhere => return Ok(Here::Continue(None)),
        TreeAround::Repository(name) => return Ok(Here::Continue(Some(name))),
        TreeAround::Unindexed(tree) => tree,
    };
    if tree.is_too_large() {
        output::note(&too_large(&tree));
        let error = QueryError::new(QueryErrorCode::NotFound, "").next(call_of(&tree));
        output::commands(&with_commands_in(report_of_command(&error)).details.tool_suggestions);
        return Ok(Here::Continue(tree.registered));
    }
    index(local, &tree, json).await
}

async fn index(local: &Local, tree: &UnindexedTree, json: bool) -> anyhow::Result<Here> {
    let root = tree.root.display();
    output::note(&format!("{root} is not indexed yet; indexing its {} files first", tree.size.num_files));
    let (progress, limit) = (Bars::new(json), local.first_use_timeout());
    let earlier = local.unfinished_of(tree.request.repository()).await?;
    let mut stop = Stop::listen()?;
    let indexing = tokio::time::timeout(limit, local.index_first(&tree.request, &progress));
    let indexed = tokio::select! {
        indexed = indexing => Some(indexed),
        () = stop.asked() => None,
    };
    progress.finish();
    let Some(indexed) = indexed else { return stopped(local, tree, &earlier).await };
    let indexed = indexed.map_err(|_| too_slow(tree, limit.as_secs()))??;
    if let Some(why) = failure_of(&indexed) {
        let message = Own(format!("the working tree {root} is not indexed: {why}"));
        return Err(QueryError::new(QueryErrorCode::InternalError, message).next(call_of(tree)).into());
    }
    output::note(&format!("indexed {} files of {}", indexed.result.files_indexed, indexed.name));
    Ok(Here::Continue(Some(indexed.name.to_string())))
}

/// Cancels the runs that this call began. Runs of other processes continue.
async fn stopped(local: &Local, tree: &UnindexedTree, earlier: &[RunId]) -> anyhow::Result<Here> {
    for run in local.unfinished_of(tree.request.repository()).await? {
        if !earlier.contains(&run) {
            local.cancel(run).await?;
        }
    }
    output::note(&format!("cancelled; the working tree {} is not indexed", tree.root.display()));
    Ok(Here::Break(ExitCode::from(CANCELLED)))
}

/// The error for a run that did not end in time. The run is not cancelled, so that the next question or index
/// call finishes it.
fn too_slow(tree: &UnindexedTree, seconds: u64) -> QueryError {
    let root = tree.root.display();
    let message = Own(format!("the working tree {root} was not indexed within {seconds} s"));
    let error = QueryError::new(QueryErrorCode::Timeout, message).in_field(FieldFault::of("path"));
    error.hint("the next question continues the run").next(call_of(tree))
}

fn call_of(tree: &UnindexedTree) -> NextCall {
    NextCall {
        tool: "index_repository",
        reason: "indexes the working tree without these limits".into(),
        arguments: vec![("path", tree.root.display().to_string())],
    }
}
