//! `cairn index --organisation`: indexes all repositories of an organisation.
//!
//! The same rules apply as in a cluster: a renamed repository keeps its index, and a repository that was
//! indexed by its own address instead of through the organisation is not changed. No repository is deleted.

use std::sync::Arc;

use anyhow::{Context, bail};
use cairn_config::is_variable_name;
use cairn_domain::{Scope, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, FailureCode};
use cairn_stages::{Changes, Discovered};
use cairn_wiring::OrganisationConfig;
use serde_json::json;

use crate::cli::OrganisationArguments;
use crate::exit::wrong;
use crate::local::{IndexRequest, Local};
use crate::output;

/// Lists the organisation, registers new repositories, and returns the repositories to index.
pub(super) async fn requests(local: &Local, arguments: &OrganisationArguments) -> anyhow::Result<Vec<IndexRequest>> {
    let (organisations, sources) = ([config(arguments)?], &local.operator.sources);
    let (catalogue, clock) = (local.runs.clone(), Arc::clone(&local.clock));
    let discovered = cairn_wiring::discover(&organisations, sources, catalogue, clock).await?;
    let discovered = discovered.into_iter().next().context("no repositories were listed for the organisation")?;
    let Discovered { organisation, outcome, .. } = discovered;
    let changes = outcome.with_context(|| format!("listing {}/{}", organisation.host, organisation.name))?;
    print_changes(&changes);
    let known = local.runs.repositories(&Scope::all(Tenant::local())).await?;
    let is_listed = |record: &cairn_ports::RepositoryRecord| {
        let is_gone = changes.vanished.iter().any(|vanished| vanished.name == record.name);
        let hosted = record.hosted.as_ref();
        !is_gone && hosted.is_some_and(|of| of.host == organisation.host && of.organisation == organisation.name)
    };
    known.iter().filter(|record| is_listed(record)).map(|record| local.request_of(record, &known)).collect()
}

fn config(arguments: &OrganisationArguments) -> anyhow::Result<OrganisationConfig> {
    let text = arguments.organisation.as_deref().unwrap_or_default();
    let (kind, owner) = text
        .split_once(':')
        .filter(|(_, owner)| !owner.is_empty())
        .ok_or_else(|| wrong("`--organisation` takes KIND:OWNER, for example github:acme or gitlab:group/subgroup"))?;
    let mut hosting = json!({ "kind": kind, "owner": owner });
    if arguments.user {
        hosting["owner_is"] = json!("user");
    }
    if let Some(url) = &arguments.hosting_url {
        hosting["url"] = json!(url);
    }
    if let Some(variable) = &arguments.token_env {
        // The error does not show the value, because the value may be the token itself.
        if !is_variable_name(variable) {
            bail!(wrong(
                "`--token-env` takes the NAME of an environment variable (capitals, digits, `_`), never the token"
            ));
        }
        hosting["token"] = json!({ "env": variable });
    }
    let config: OrganisationConfig = serde_json::from_value(json!({
        "tenant": Tenant::local().as_str(),
        "hosting": hosting,
        "include": arguments.only,
        "exclude": arguments.without,
        "include_archived": arguments.archived,
        "include_forks": arguments.forks,
    }))
    .map_err(|_| wrong("`--organisation`: KIND must be github, gitlab, gitea or forgejo"))?;
    let faults = config.faults();
    if faults.is_empty() {
        Ok(config)
    } else {
        Err(StageError::permanent(FailureCode::InvalidSettings, faults.join("; ")).into())
    }
}

fn print_changes(changes: &Changes) {
    let Changes { num_listed, num_left_out, num_by_hand, .. } = changes;
    output::note(&format!(
        "{num_listed} repositories are listed; {num_left_out} are excluded or empty, {num_by_hand} had already been indexed by name"
    ));
    for (before, now) in &changes.renamed {
        output::note(&format!("{before} was renamed to {now}"));
    }
    for reason in &changes.refused {
        output::note(&format!("an entry of the list is ignored: {reason}"));
    }
    for vanished in &changes.vanished {
        let name = &vanished.name;
        output::note(&format!("{name} is no longer on the list; `cairn remove {name}` removes it"));
    }
}
