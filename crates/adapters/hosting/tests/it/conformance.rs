//! Runs the conformance suite of the port with each kind of service.

use anyhow::Result;
use cairn_conformance::hosting::{HostingUnderTest, checks, faults};
use cairn_conformance::suite;
use cairn_hosting::{HostingService, ServiceKind};
use cairn_ports::{HostedRepository, Hosting};

use crate::server::TestServer;
use crate::support::{Held, KINDS, Shelf, service};

struct Subject {
    shelf: Shelf,
    service: HostingService,
    _server: TestServer,
}

impl HostingUnderTest for Subject {
    fn hosting(&self) -> &dyn Hosting {
        &self.service
    }

    fn clone_host(&self) -> String {
        "git.example".to_owned()
    }

    fn hold(&self, repositories: &[HostedRepository], per_page: usize) {
        *self.shelf.held() = Held { repositories: repositories.to_vec(), per_page, ..Held::default() };
    }

    fn transfer(&self, id: &str, owner: &str) {
        self.shelf.held().transferred.push((id.to_owned(), owner.to_owned()));
    }

    fn break_page(&self, page: usize) {
        self.shelf.held().broken_page = Some(page);
    }

    fn break_all(&self) {
        self.shelf.held().is_broken = true;
    }
}

async fn open(kind: ServiceKind) -> Result<Box<dyn HostingUnderTest>> {
    let shelf = Shelf::default();
    let server = shelf.serve(kind).await;
    Ok(Box::new(Subject { service: service(kind, &server, ""), shelf, _server: server }))
}

#[tokio::test]
async fn every_kind_of_service_passes() -> Result<()> {
    for kind in KINDS {
        suite::passes(&checks(), async || open(kind).await).await?;
    }
    Ok(())
}

#[tokio::test]
async fn planted_faults_are_caught() -> Result<()> {
    suite::catches(&checks(), &faults(), async || open(ServiceKind::Github).await).await
}
