//! `cairn enqueue`: registers repositories and requests their syncs. The services index the repositories.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use cairn_config::{ListedRepository, Location, parse_repository_list};
use cairn_domain::{Lane, RepositoryName, Scope, Source, Tenant};
use cairn_gateway::answers::IndexProgress;
use cairn_gateway::{IndexStatus, LedgerIndexing};
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_search::named;
use cairn_wire::GivenSettings;

use super::arguments::EnqueueArguments;
use super::installation::Installation;
use crate::commands::{index, print_inventory};
use crate::exit::{CommandReply, RUN_INCOMPLETE, wrong};
use crate::output;

/// A repository to enqueue, and the place in the command line or list that names it.
struct Entry {
    place: String,
    listed: ListedRepository,
}

pub(super) async fn enqueue(installation: &Installation, arguments: EnqueueArguments, json: bool) -> CommandReply {
    let entries = entries(&arguments)?;
    let (runs, clock) = installation.ledger().await?;
    let indexing = installation.indexing(&runs, &clock);
    let (tenant, lane, rebuild) = (&installation.tenant, arguments.lane.into(), arguments.rebuild);
    let known = runs.repositories(&Scope::all(tenant.clone())).await?;
    let mut asking = Asking { indexing, tenant, known, lane, rebuild };
    let (several, mut worst) = (entries.len() > 1, ExitCode::SUCCESS);
    for Entry { place, listed } in entries {
        let asked = asking.ask(listed).await;
        match asked {
            Ok(status) => show(status, json),
            // If the request for one repository fails, the syncs of the other repositories are still
            // requested.
            Err(error) if several => {
                index::show_error(&place, &error, json);
                worst = ExitCode::from(RUN_INCOMPLETE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(worst)
}

fn entries(arguments: &EnqueueArguments) -> anyhow::Result<Vec<Entry>> {
    let Some(file) = &arguments.file else {
        // Errors contain the number of the URL on the command line, not the URL itself, because the URL may
        // contain a credential.
        let of_url =
            |(number, url): (usize, &String)| Entry { place: format!("URL {}", number + 1), listed: plain(url) };
        return Ok(arguments.targets.iter().enumerate().map(of_url).collect());
    };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {name}"))?;
    let listed = parse_repository_list(&text, &name, Path::new("."))?;
    let of_list = |listed: ListedRepository| Entry {
        place: listed.line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")),
        listed,
    };
    Ok(listed.into_iter().map(of_list).collect())
}

fn plain(url: &str) -> ListedRepository {
    let (include, exclude, include_override) = (None, None, None);
    let location = Location::Url(url.to_owned());
    ListedRepository { line: None, location, name: None, branch: None, include, exclude, include_override }
}

/// The settings that all repositories of a command share.
struct Asking<'a> {
    indexing: LedgerIndexing,
    tenant: &'a Tenant,
    /// The repositories of the tenant.
    known: Vec<RepositoryRecord>,
    lane: Lane,
    rebuild: bool,
}

impl Asking<'_> {
    async fn ask(&mut self, listed: ListedRepository) -> anyhow::Result<IndexStatus> {
        let Location::Url(text) = &listed.location else {
            anyhow::bail!(wrong(
                "the services of a cluster fetch by URL and cannot read folders of this machine: give the URL of the repository"
            ));
        };
        // This check applies the rules of the cloner, with one exception: only the cloner checks for host
        // names that resolve to private addresses.
        match (self.indexing.locate)(text).map_err(wrong)? {
            Some((source, name)) => {
                let (record, given) = record(self.tenant, source, name, listed);
                Ok(self.indexing.register(record, given, &mut self.known, self.lane, self.rebuild).await?)
            }
            None => Ok(self.indexing.ask(self.known(text)?, self.lane, self.rebuild).await?),
        }
    }

    /// The registered repository with this name. Errors do not repeat `name`, because it may be a mistyped
    /// address with a credential.
    fn known(&self, name: &str) -> anyhow::Result<&RepositoryRecord> {
        match named(&self.known, |record| record, name)[..] {
            [found] => Ok(found),
            [] => anyhow::bail!(wrong("neither a URL nor the name of a repository; `cairn repos` shows the names")),
            _ => anyhow::bail!(wrong("the name matches several repositories; give the full name of one of them")),
        }
    }
}

/// The record of an entry, and the settings that the entry contains.
fn record(
    tenant: &Tenant,
    source: Source,
    name: RepositoryName,
    listed: ListedRepository,
) -> (RepositoryRecord, GivenSettings) {
    let ListedRepository { include, exclude, include_override, .. } = listed;
    let settings = GivenSettings { include, exclude, include_override, max_file_size: None };
    let name = listed.name.map_or(name, RepositoryName::new);
    let record = RepositoryRecord::new(tenant.clone(), name, source);
    (RepositoryRecord { branch: listed.branch, ..record }, settings)
}

fn show(status: IndexStatus, json: bool) {
    output::answer(&IndexProgress::of(status), json, print_inventory::requested);
}
