//! `cairn doctor` against a cluster.

use std::sync::Arc;

use cairn_names::NameIndex;
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{BlobStore, Catalogue, Generations};
use cairn_stages::Artifacts;

use super::installation::Installation;
use super::survey::{self, Finding, State};
use crate::commands::Outcome;
use crate::commands::doctor::{Check, report};
use crate::verify::verify;

/// Each dependency: whether it answers, which it is, whether it is prepared. And all that is stored of the repository that
/// is named: reading that of every one would take a cluster hours.
pub(super) async fn doctor(installation: &Installation, named: Option<&str>, json: bool) -> Outcome {
    let (mut findings, model) = tokio::join!(survey::of_servers(installation), survey::of_model(installation));
    findings.push(model);
    let mut checks: Vec<Check> = findings.iter().map(check).collect();
    // Servers that do not answer are told already, and the rest would say it again.
    if let Some(name) = named
        && checks.iter().all(|check| check.fault.is_none())
    {
        checks.push(stored(installation, name).await?);
    }
    Ok(report(&checks, json))
}

async fn stored(installation: &Installation, name: &str) -> anyhow::Result<Check> {
    let (runs, clock) = installation.ledger().await?;
    let searcher = installation.searcher(&runs, &clock).await?;
    let record = searcher.select_one(&runs.view().await?, name).await?.record;
    let blobs: Arc<dyn BlobStore> = Arc::new(installation.blobs()?);
    let graph: Arc<dyn Generations> = Arc::new(Neo4jGraph::new(installation.neo4j()?));
    let stores: [Arc<dyn Generations>; 3] =
        [graph, Arc::new(installation.vectors()?.0), Arc::new(NameIndex::new(Arc::clone(&blobs)))];
    let verified = verify(&searcher, &stores, &Artifacts::new(blobs), record.id).await;
    let remedy = format!("`cairn enqueue --rebuild {}` has it written anew", record.name);
    let fault = verified.err().map(|error| format!("{error:#}; {remedy}"));
    Ok(Check { what: format!("stored data of {}", record.name), fault })
}

fn check(finding: &Finding) -> Check {
    let name = finding.name.to_owned();
    match &finding.state {
        State::Fault(fault) => Check { what: name, fault: Some(fault.clone()) },
        State::Answers(answer) => {
            let known: Vec<&str> =
                answer.version.as_deref().into_iter().chain(answer.remarks.iter().copied()).collect();
            let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
            let missing = answer.missing.join(", ");
            let fault = format!("lacks {missing}; `cairn topology apply` makes what is missing");
            Check { what: format!("{name}{known}"), fault: (!missing.is_empty()).then_some(fault) }
        }
    }
}
