//! Says what of the topology is missing or other than it should be, policies and bindings included; changes nothing.

use serde_json::Value;

use super::apply::{TopologyError, close};
use super::check::check;
use super::plan::{Policy, Topology};
use crate::config::RabbitMqConfig;
use crate::link;
use crate::management::{Management, ManagementError};

/// What a broker has of a topology.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspected {
    /// None if `management_url` is not set; then policies and bindings were not looked at.
    pub version: Option<String>,
    /// E.g. "queue `cairn.dead.v1`".
    pub missing: Vec<String>,
}

/// Asks over AMQP for exchanges and queues, and over the management API for what AMQP cannot tell.
pub async fn inspect(config: &RabbitMqConfig, topology: &Topology) -> Result<Inspected, TopologyError> {
    let connection = link::connect_once(config, "topology").await.map_err(TopologyError::Unreachable)?;
    let missing = check(&connection, topology).await;
    close(&connection).await;
    let mut missing = missing.map_err(|error| TopologyError::Failed("what is there".to_owned(), error))?;
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

fn items(answer: &Value) -> &[Value] {
    answer.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn missing_policies(topology: &Topology, answer: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for policy in &topology.policies {
        match items(answer).iter().find(|found| found["name"] == policy.name.as_str()) {
            None => missing.push(format!("policy `{}`", policy.name)),
            Some(found) if !is_same(policy, found) => missing.push(format!("policy `{}` as it should be", policy.name)),
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

/// A queue or an exchange that is missing takes its bindings with it: those are not named as well.
fn missing_bindings(topology: &Topology, answer: &Value, missing: &[String]) -> Vec<String> {
    let is_there = |what: &str, name: &str| !missing.contains(&format!("{what} `{name}`"));
    let mut unbound = Vec::new();
    for binding in &topology.bindings {
        let is_bound = items(answer).iter().any(|found| {
            found["source"] == binding.exchange.as_str()
                && found["destination"] == binding.queue.as_str()
                && found["routing_key"] == binding.key.as_str()
        });
        if !is_bound && is_there("queue", &binding.queue) && is_there("exchange", &binding.exchange) {
            unbound.push(format!("binding of queue `{}` to exchange `{}`", binding.queue, binding.exchange));
        }
    }
    unbound
}
