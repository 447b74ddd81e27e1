//! Tests the listing of several organisations, some of which cannot be queried.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::{Result, ensure};
use cairn_config::Sources;
use cairn_metastore::Metastore;
use cairn_ports::Clock;
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wiring::OrganisationConfig;

/// A server that answers every request with an empty list.
fn empty_service() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let mut request = [0; 4096];
            let _asked = connection.read(&mut request);
            let headers = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close";
            let _answered = connection.write_all(format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n[]").as_bytes());
        }
    });
    Ok(address)
}

fn organisation(owner: &str, hosting: &str) -> Result<OrganisationConfig> {
    let text = format!("tenant = \"acme\"\n[hosting]\nkind = \"github\"\nowner = \"{owner}\"\n{hosting}");
    Ok(toml::from_str(&text)?)
}

#[tokio::test]
async fn unreachable_organisation_does_not_stop_others() -> Result<()> {
    let address = empty_service()?;
    let good = format!("url = \"http://{address}\"");
    let organisations = [
        organisation("unset", &format!("{good}\ntoken = {{ env = \"CAIRN_TEST_TOKEN_THAT_IS_NEVER_SET\" }}"))?,
        organisation("lost", &format!("{good}\ntoken = {{ file = \"/nowhere/token\" }}"))?,
        organisation("good", &good)?,
    ];
    let sources = Sources { allow_http: true, allow_private_addresses: true, ..Sources::default() };
    let (runs, clock) = (Arc::new(Metastore::new(Arc::new(MemoryRuns::new()))), Arc::new(ManualClock::new(1_000)));
    let clock: Arc<dyn Clock> = clock;
    let discovered = cairn_wiring::discover(&organisations, &sources, runs.clone(), Arc::clone(&clock)).await?;
    let names = |is_ok: bool| {
        let of_outcome = discovered.iter().filter(|found| found.outcome.is_ok() == is_ok);
        of_outcome.map(|found| found.organisation.name.as_str()).collect::<Vec<_>>()
    };
    ensure!(names(true) == ["good"] && names(false) == ["unset", "lost"], "{discovered:?}");
    let failure = format!("{:?}", discovered[0].outcome);
    ensure!(
        failure.contains("CAIRN_TEST_TOKEN_THAT_IS_NEVER_SET"),
        "the failure does not say what is missing: {failure}"
    );
    // The operator's rules refuse the address of this organisation.
    let discovered = cairn_wiring::discover(&organisations[2..], &Sources::default(), runs, clock).await?;
    ensure!(discovered.len() == 1 && discovered[0].outcome.is_err(), "{discovered:?}");
    Ok(())
}
