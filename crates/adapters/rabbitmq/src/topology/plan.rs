//! The whole topology as data.

use cairn_domain::StageName;
use serde_json::{Value, json};

use super::names::{Names, Source, label};
use super::{COORDINATOR, TopologyConfig};

/// The limit is so high that no message reaches it, so the broker never dead-letters a message because of
/// this limit. The adapter isolates suspects instead. The default limit of RabbitMQ 4.x (20) would
/// dead-letter harmless messages while connections are unstable. The limit is set explicitly because RabbitMQ
/// 3.10 has no value for "never".
const NO_DELIVERY_LIMIT: u32 = 1_000_000;
/// The priority is higher than the usual priority of an operator's catch-all policy, because only one policy
/// applies to a queue.
const POLICY_PRIORITY: u32 = 50;

/// All objects that must exist.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    pub exchanges: Vec<Exchange>,
    pub queues: Vec<Queue>,
    pub bindings: Vec<Binding>,
    pub policies: Vec<Policy>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub name: String,
    pub kind: ExchangeKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExchangeKind {
    Direct,
    Topic,
    Fanout,
}

/// A durable quorum queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queue {
    pub name: String,
    /// If true, the broker delivers everything to one of the consumers until this consumer is disconnected.
    /// The property is an argument of the declaration, because a policy cannot set it.
    pub has_single_active_consumer: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    pub exchange: String,
    pub queue: String,
    pub key: String,
}

/// Settings for the queues whose names match `pattern`.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    pub name: String,
    pub pattern: String,
    pub priority: u32,
    pub definition: Value,
}

impl Topology {
    pub fn new(config: &TopologyConfig) -> Self {
        let names = Names::new(config);
        let mut topology = Self {
            exchanges: exchanges(&names, config),
            queues: Vec::new(),
            bindings: Vec::new(),
            policies: policies(&names, config),
        };
        for stage in StageName::ALL {
            topology.add_stage(&names, config, *stage);
        }
        topology.add_queue(names.dead_queue(), &names.dead_exchange(), "");
        for key in config.owned_keys.iter().map(String::as_str).chain([COORDINATOR]) {
            topology.queues.push(Queue { name: names.owner_queue(key), has_single_active_consumer: true });
        }
        topology
    }

    fn add_stage(&mut self, names: &Names, config: &TopologyConfig, stage: StageName) {
        for source in Source::ALL {
            let key = super::names::routing_key(stage, source);
            self.add_queue(names.queue(stage, source), &names.work_exchange(), &key);
        }
        for delay_ms in &config.retry_delays_ms {
            let key = format!("{}.*", stage.as_str());
            self.add_queue(names.retry_queue(stage, *delay_ms), &names.retry_exchange(*delay_ms), &key);
        }
    }

    fn add_queue(&mut self, queue: String, exchange: &str, key: &str) {
        let binding = Binding { exchange: exchange.to_owned(), queue: queue.clone(), key: key.to_owned() };
        self.bindings.push(binding);
        self.queues.push(Queue { name: queue, has_single_active_consumer: false });
    }
}

fn exchanges(names: &Names, config: &TopologyConfig) -> Vec<Exchange> {
    let exchange = |name, kind| Exchange { name, kind };
    let mut exchanges = vec![
        exchange(names.work_exchange(), ExchangeKind::Direct),
        exchange(names.dead_exchange(), ExchangeKind::Fanout),
    ];
    for delay_ms in &config.retry_delays_ms {
        // Each stage has one queue per delay. Only the message at the head of a queue expires, so messages
        // with different delays must not be in one queue. A stage whose work queue is full must not delay the
        // retries of other stages.
        exchanges.push(exchange(names.retry_exchange(*delay_ms), ExchangeKind::Topic));
    }
    exchanges
}

fn policies(names: &Names, config: &TopologyConfig) -> Vec<Policy> {
    let stages: Vec<&str> = StageName::ALL.iter().map(|stage| stage.as_str()).collect();
    let of_stages = |queue: &str| format!("({})\\.{queue}", stages.join("|"));
    let dead = Some(names.dead_exchange());
    // A queue accepts one message more than `max-length` before it refuses messages.
    let waits_when_full = json!({"max-length": config.capacity - 1});
    let newest_only = json!({"max-length": 1, "overflow": "drop-head"});
    let mut policies = vec![
        policy(names, "work", &of_stages("(interactive|bulk)"), waits_when_full, dead.clone()),
        policy(names, "suspect", &of_stages("suspect"), json!({}), dead),
        policy(names, "dead", "dead", json!({}), None),
        policy(names, "owner", "owner\\.[A-Za-z0-9_-]+", newest_only, None),
    ];
    for delay_ms in &config.retry_delays_ms {
        let name = format!("retry.{}", label(*delay_ms));
        let (definition, work) = (json!({"message-ttl": delay_ms}), Some(names.work_exchange()));
        policies.push(policy(names, &name, &of_stages(&name.replace('.', "\\.")), definition, work));
    }
    policies
}

/// If a dead-letter exchange is set, the broker dead-letters at least once. At-least-once dead-lettering
/// requires `reject-publish`. With the default overflow, the broker silently dead-letters at most once.
fn policy(names: &Names, name: &str, middle: &str, own: Value, dead_letters_to: Option<String>) -> Policy {
    let mut definition = json!({"delivery-limit": NO_DELIVERY_LIMIT, "overflow": "reject-publish"});
    if let Some(exchange) = dead_letters_to {
        definition["dead-letter-exchange"] = exchange.into();
        definition["dead-letter-strategy"] = "at-least-once".into();
    }
    if let (Some(definition), Value::Object(own)) = (definition.as_object_mut(), own) {
        definition.extend(own);
    }
    Policy { name: names.policy(name), pattern: names.pattern(middle), priority: POLICY_PRIORITY, definition }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology() -> Topology {
        Topology::new(&TopologyConfig {
            owned_keys: vec!["voyage-1".to_owned(), "bulk".to_owned()],
            ..TopologyConfig::default()
        })
    }

    #[test]
    fn every_queue_has_exactly_one_policy() {
        let topology = topology();
        assert_eq!(topology.queues.len(), 9 * 7 + 4);
        for queue in &topology.queues {
            let matching = topology
                .policies
                .iter()
                .filter(|policy| regex::Regex::new(&policy.pattern).expect("a pattern").is_match(&queue.name));
            assert_eq!(matching.count(), 1, "{}", queue.name);
        }
    }

    #[test]
    fn dead_lettering_is_at_least_once() {
        for policy in topology().policies {
            assert!(policy.definition.get("delivery-limit").is_some(), "{}", policy.name);
            if policy.definition.get("dead-letter-exchange").is_some() {
                assert_eq!(policy.definition["dead-letter-strategy"], "at-least-once", "{}", policy.name);
                assert_eq!(policy.definition["overflow"], "reject-publish", "{}", policy.name);
            }
        }
    }

    #[test]
    fn every_published_queue_is_bound() {
        let topology = topology();
        for queue in topology.queues.iter().filter(|queue| !queue.has_single_active_consumer) {
            let binding = topology.bindings.iter().find(|binding| binding.queue == queue.name).expect("a binding");
            assert!(topology.exchanges.iter().any(|exchange| exchange.name == binding.exchange), "{}", queue.name);
        }
    }
}
