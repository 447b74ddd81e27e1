//! Implements the port. A listing returns all pages of a list, or an error.

use std::collections::HashSet;
use std::time::SystemTime;

use async_trait::async_trait;
use cairn_config::Sources;
use cairn_ports::{ErrorKind, Hosting, HostingError, Listing, Organisation};
use url::Url;

use crate::client::ServiceClient;
use crate::config::{HostingConfig, InvalidConfig, Owner, ServiceKind};
use crate::http_reply::{HttpReply, MAX_JSON_BYTES};
use crate::page::{MAX_ENTRIES, Page};
use crate::shape::Reading;
use crate::wait::wait_of;

/// The smallest expected page size. The maximum number of pages is derived from this size. So if a service
/// sends smaller pages, a long listing may exceed the maximum and fail.
const FEWEST_PER_PAGE: usize = 10;
/// Number of unusable entries whose reasons are stored. Further entries are reported with a general reason,
/// and with their id if they have one.
const MAX_REASONS: usize = 1_000;
const LIST: &str = "list";
const WHEREABOUTS: &str = "whereabouts";

/// One organisation of one service.
#[derive(Debug)]
pub struct HostingService {
    config: HostingConfig,
    organisation: Organisation,
    client: ServiceClient,
    reading: Reading,
}

impl HostingService {
    /// Checks the settings and reads the token. `sources` contains the operator's rules for cloning, which
    /// apply to the API too.
    pub fn new(config: HostingConfig, sources: &Sources) -> Result<Self, InvalidConfig> {
        let mut faults = config.validate().err().map_or(Vec::new(), |invalid| invalid.faults);
        faults.extend(config.policy_faults(sources));
        let token = config.token.as_ref().map(|token| token.read());
        if let Some(Err(unreadable)) = &token {
            faults.push(unreadable.to_string());
        }
        if !faults.is_empty() {
            return Err(InvalidConfig { faults });
        }
        let client = ServiceClient::new(&config, token.and_then(Result::ok), sources)
            .map_err(|error| InvalidConfig { faults: vec![format!("the HTTP client cannot be created: {error}")] })?;
        let reading = Reading {
            kind: config.kind,
            owner: config.owner.clone(),
            clone_over: config.clone_over,
            clone_host: config.clone_host(),
        };
        Ok(Self { organisation: config.organisation(), config, client, reading })
    }

    /// Returns the address of the first page. Entries are requested in the order of their creation, so that
    /// new entries are on the last page.
    fn first_page(&self) -> Option<Url> {
        let owner = self.config.owner.as_str();
        let of_organisation = self.config.owner_is == Owner::Organisation;
        let (path, query): (&[&str], &str) = match (self.config.kind, of_organisation) {
            (ServiceKind::Github, true) => {
                (&["orgs", owner, "repos"], "type=all&sort=created&direction=asc&per_page=100")
            }
            (ServiceKind::Github, false) => {
                (&["users", owner, "repos"], "type=owner&sort=created&direction=asc&per_page=100")
            }
            (ServiceKind::Gitlab, true) => (
                &["groups", owner, "projects"],
                "include_subgroups=true&with_shared=false&order_by=id&sort=asc&per_page=100",
            ),
            (ServiceKind::Gitlab, false) => (&["users", owner, "projects"], "order_by=id&sort=asc&per_page=100"),
            (ServiceKind::Gitea, true) => (&["orgs", owner, "repos"], "limit=50"),
            (ServiceKind::Gitea, false) => (&["users", owner, "repos"], "limit=50"),
        };
        let mut url = self.config.endpoint(path)?;
        url.set_query(Some(query));
        Some(url)
    }

    fn fault(&self, kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> HostingError {
        HostingError::new(kind, operation, self.organisation.name.clone()).because(message.into())
    }

    async fn all_pages(&self) -> Result<Listing, HostingError> {
        let mut url = self
            .first_page()
            .ok_or_else(|| self.fault(ErrorKind::Invalid, LIST, "`url` is not the address of an API"))?;
        let (mut listing, mut ids, mut queries) = (Listing::default(), HashSet::new(), HashSet::new());
        let max_pages = self.config.max_repositories.div_ceil(FEWEST_PER_PAGE) + 1;
        loop {
            let reply = self.client.get(&url, LIST, &self.organisation.name).await?;
            self.take_page(&reply, &mut listing, &mut ids)?;
            let next = reply.next_query(&url).map_err(|fault| self.fault(ErrorKind::Corrupt, LIST, fault))?;
            let Some(query) = next else { return Ok(listing) };
            queries.insert(url.query().unwrap_or_default().to_owned());
            if queries.contains(&query) {
                return Err(self.fault(ErrorKind::Corrupt, LIST, "a page of the list links to an earlier page"));
            }
            if queries.len() >= max_pages {
                return Err(self.fault(ErrorKind::TooLarge, LIST, format!("the list has more than {max_pages} pages")));
            }
            url.set_query(Some(&query));
            if let Some(wait) = wait_of(&reply, SystemTime::now()) {
                self.client.wait(wait, LIST, &self.organisation.name).await?;
            }
        }
    }

    /// Adds the new entries of a page. While repositories are created and deleted, entries move between
    /// pages, so the same entry may be on two pages.
    fn take_page(
        &self,
        reply: &HttpReply,
        listing: &mut Listing,
        ids: &mut HashSet<String>,
    ) -> Result<(), HostingError> {
        if reply.status != 200 {
            return Err(self.client.refused(reply, LIST, &self.organisation.name));
        }
        let corrupt = |error: serde_json::Error| {
            let position = format!("line {}, column {}", error.line(), error.column());
            self.fault(ErrorKind::Corrupt, LIST, format!("a page is not a JSON list ({position}); check `url`"))
        };
        let page: Page<'_> = serde_json::from_slice(&reply.body).map_err(corrupt)?;
        if page.has_more {
            let message = format!("a page of the list has more than {MAX_ENTRIES} entries");
            return Err(self.fault(ErrorKind::TooLarge, LIST, message));
        }
        let max = self.config.max_repositories;
        for entry in page.entries {
            match self.reading.read(entry, self.client.foreign()).map_err(corrupt)? {
                Ok(repository) if ids.insert(repository.id.clone()) => listing.repositories.push(repository),
                Ok(_) => {}
                Err(mut refused) => {
                    if listing.refused.len() >= MAX_REASONS {
                        refused.reason =
                            format!("cannot be used; only the first {MAX_REASONS} such entries have a stored reason");
                    }
                    listing.refused.push(refused);
                }
            }
            if listing.repositories.len() + listing.refused.len() > max {
                let message = format!("the list has more than {max} repositories (`max_repositories`)");
                return Err(self.fault(ErrorKind::TooLarge, LIST, message));
            }
        }
        Ok(())
    }
}

impl HostingService {
    async fn path_of(&self, id: &str) -> Result<Option<String>, HostingError> {
        let collection = if self.config.kind == ServiceKind::Gitlab { "projects" } else { "repositories" };
        // In all services, ids are numbers. Any other text from a catalogue must not become part of an
        // address.
        let url = id.parse::<u64>().ok().and_then(|id| self.config.endpoint(&[collection, &id.to_string()]));
        let url = url.ok_or_else(|| self.fault(ErrorKind::Invalid, WHEREABOUTS, "the id is not a number"))?;
        let key = format!("{id} of {}", self.organisation.name);
        let reply = self.client.get(&url, WHEREABOUTS, &key).await?;
        match reply.status {
            404 | 410 => Ok(None),
            200 if reply.body.len() > MAX_JSON_BYTES => {
                let message = format!("the reply is longer than {MAX_JSON_BYTES} bytes");
                Err(self.fault(ErrorKind::TooLarge, WHEREABOUTS, message))
            }
            200 => {
                let value = serde_json::from_slice(&reply.body).map_err(|error| error.to_string());
                let path = value.and_then(|value| self.reading.read_path(value));
                path.map(Some).map_err(|fault| {
                    let fault = self.client.foreign().quoted(&fault);
                    self.fault(
                        ErrorKind::Corrupt,
                        WHEREABOUTS,
                        format!("the reply is not what the API defines: {fault}"),
                    )
                })
            }
            _ => Err(self.client.refused(&reply, WHEREABOUTS, &key)),
        }
    }
}

#[async_trait]
impl Hosting for HostingService {
    fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    async fn list(&self) -> Result<Listing, HostingError> {
        let timeout = self.config.timeout();
        tokio::time::timeout(timeout, self.all_pages()).await.unwrap_or_else(|_| {
            let message = format!("the list is not complete after {} s (`timeout_seconds`)", timeout.as_secs());
            Err(self.fault(ErrorKind::Timeout, LIST, message))
        })
    }

    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError> {
        tokio::time::timeout(self.config.timeout(), self.path_of(id)).await.unwrap_or_else(|_| {
            Err(self.fault(ErrorKind::Timeout, WHEREABOUTS, "no reply in time (`timeout_seconds`)"))
        })
    }
}
