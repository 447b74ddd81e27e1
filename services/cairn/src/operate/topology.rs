//! `cairn topology`: prepares the servers before services start.

use std::process::ExitCode;

use cairn_ports::plain;
use cairn_rabbitmq::topology::{self, Topology};
use serde::Serialize;
use serde_json::json;

use super::installation::Installation;
use super::survey::{self, Finding, State};
use crate::exit::CommandReply;
use crate::output::{self, BAD, styled};

/// Creates the missing objects on each server, even if another server fails.
pub(super) async fn apply(installation: &Installation, json: bool) -> CommandReply {
    let made = [
        ("RabbitMQ", rabbitmq(installation).await),
        ("S3", s3(installation).await),
        ("Neo4j", neo4j(installation).await),
        ("Qdrant", qdrant(installation).await),
    ];
    let is_well = made.iter().all(|(_, made)| made.is_ok());
    if json {
        let servers = made.iter().map(|(name, made)| match made {
            Ok(what) => json!({ "server": name, "ok": true, "has": what, "fault": null }),
            Err(error) => json!({ "server": name, "ok": false, "has": null, "fault": plain(error.as_ref()) }),
        });
        output::json(&json!({ "ok": is_well, "servers": servers.collect::<Vec<_>>() }));
        return Ok(code(is_well));
    }
    for (name, made) in &made {
        match made {
            Ok(what) => output::line(&format!("ok    {name}: {what}")),
            Err(error) => output::line(&format!("{} {name}: {}", styled(BAD, "fault"), plain(error.as_ref()))),
        }
    }
    Ok(code(is_well))
}

async fn rabbitmq(installation: &Installation) -> anyhow::Result<String> {
    let config = installation.rabbitmq()?;
    let applied = topology::apply(config, &Topology::new(&config.topology)).await?;
    let topology::Applied { num_policies, num_exchanges, num_queues, num_bindings } = applied;
    Ok(format!("{num_queues} queues, {num_exchanges} exchanges, {num_bindings} bindings, {num_policies} policies"))
}

async fn s3(installation: &Installation) -> anyhow::Result<String> {
    let blobs = installation.blobs()?;
    blobs.prepare().await?;
    blobs.self_test().await?;
    Ok("the bucket, and conditional writes (create only)".to_owned())
}

async fn neo4j(installation: &Installation) -> anyhow::Result<String> {
    installation.neo4j()?.prepare().await?;
    Ok("constraints and indexes".to_owned())
}

async fn qdrant(installation: &Installation) -> anyhow::Result<String> {
    let (store, cache) = installation.vectors()?;
    store.prepare().await?;
    cache.prepare().await?;
    Ok(format!("collections {} and {}", store.collection_name(), cache.collection_name()))
}

/// Lists everything that is missing on the servers, one item per line.
pub(super) async fn check(installation: &Installation, json: bool) -> CommandReply {
    let findings = survey::of_servers(installation).await;
    let is_well = findings.iter().all(is_whole);
    if json {
        let servers: Vec<ServerReport> = findings.iter().map(ServerReport::of).collect();
        output::json(&json!({ "ok": is_well, "servers": servers }));
        return Ok(code(is_well));
    }
    for finding in &findings {
        show(finding);
    }
    if findings.iter().any(|finding| matches!(&finding.state, State::Answers(answer) if !answer.missing.is_empty())) {
        output::note("run `cairn topology apply` to create the missing parts");
    }
    Ok(code(is_well))
}

fn is_whole(finding: &Finding) -> bool {
    matches!(&finding.state, State::Answers(answer) if answer.missing.is_empty())
}

/// The state of one server.
#[derive(Serialize)]
struct ServerReport<'a> {
    server: &'a str,
    ok: bool,
    missing: &'a [String],
    fault: Option<&'a String>,
}

impl<'a> ServerReport<'a> {
    fn of(finding: &'a Finding) -> Self {
        let (missing, fault) = match &finding.state {
            State::Fault(fault) => (&[][..], Some(fault)),
            State::Answers(answer) => (&answer.missing[..], None),
        };
        Self { server: finding.name, ok: is_whole(finding), missing, fault }
    }
}

fn show(finding: &Finding) {
    let name = finding.name;
    match &finding.state {
        State::Fault(fault) => output::line(&format!("{} {name}: {fault}", styled(BAD, "fault"))),
        State::Answers(answer) => {
            if answer.missing.is_empty() {
                output::line(&format!("ok    {name}"));
            }
            for missing in &answer.missing {
                output::line(&format!("{} {name}: {missing}", styled(BAD, "missing")));
            }
            for remark in &answer.remarks {
                output::note(&format!("      {name}: {remark}"));
            }
        }
    }
}

fn code(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
