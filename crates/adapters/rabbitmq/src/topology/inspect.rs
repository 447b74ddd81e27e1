//! Reports the parts of the topology that are missing or differ, including policies and bindings. The
//! inspection changes nothing.

use serde_json::Value;

use super::apply::{TopologyError, close};
use super::check::check;
use super::plan::{Policy, Topology};
use crate::config::RabbitMqConfig;
use crate::link;
use crate::management::{Management, ManagementError};

/// Result of the inspection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspected {
    /// Version of the broker. `None` if `management_url` is not set; in that case policies and bindings were
    /// not inspected.
    pub version: Option<String>,
    /// Missing parts, e.g. "queue `cairn.dead.v1`".
    pub missing: Vec<String>,
}

/// Checks exchanges and queues over AMQP, and policies and bindings over the management API.
pub async fn inspect(config: &RabbitMqConfig, topology: &Topology) -> Result<Inspected, TopologyError> {
    let connection = link::connect_once(config, "topology").await.map_err(TopologyError::Unreachable)?;
    let missing = check(&connection, topology).await;
    close(&connection).await;
    let mut missing =
        missing.map_err(|error| TopologyError::Failed("the inspection of the topology".to_owned(), error))?;
    let management = match Management::new(config) {
        Err(ManagementError::NotConfigured) => return Ok(Inspected { version: None, missing }),
        management => management?,
    };
    let version = management.get(&["overview"]).await?["rabbitmq_version"].as_str().unwrap_or("unknown").to_owned();
    let policies = management.get(&["policies", management.vhost()]).await?;
    missing.extend(missing_policies(topology, &policies));
    let bindings = management.get(&["bindings", management.vhost()]).await?;
    missing.extend(missing_bindings(topology, &bindings, &missing));
    Ok(Inspected { version: Some(version), missing })
}

fn items(response: &Value) -> &[Value] {
    response.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn missing_policies(topology: &Topology, response: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for policy in &topology.policies {
        match items(response).iter().find(|found| found["name"] == policy.name.as_str()) {
            None => missing.push(format!("policy `{}`", policy.name)),
            Some(found) if !is_same(policy, found) => {
                missing.push(format!("policy `{}` with the expected definition", policy.name));
            }
            Some(_) => {}
        }
    }
    missing
}

fn is_same(policy: &Policy, found: &Value) -> bool {
    found["pattern"] == policy.pattern.as_str()
        && found["priority"] == policy.priority
        && found["definition"] == policy.definition
}

/// A missing queue or exchange has no bindings. So for a missing queue or exchange, missing bindings are not
/// reported.
fn missing_bindings(topology: &Topology, response: &Value, missing: &[String]) -> Vec<String> {
    let exists = |what: &str, name: &str| !missing.contains(&format!("{what} `{name}`"));
    let mut unbound = Vec::new();
    for binding in &topology.bindings {
        let is_bound = items(response).iter().any(|found| {
            found["source"] == binding.exchange.as_str()
                && found["destination"] == binding.queue.as_str()
                && found["routing_key"] == binding.key.as_str()
        });
        if !is_bound && exists("queue", &binding.queue) && exists("exchange", &binding.exchange) {
            unbound.push(format!("binding of queue `{}` to exchange `{}`", binding.queue, binding.exchange));
        }
    }
    unbound
}
