//! Creates and checks constraints and indexes. Each constraint and each index is created in a separate
//! transaction, because the server does not allow changes of data and of the schema in one transaction.

use std::collections::BTreeSet;
use std::time::Duration;

use cairn_ports::{ErrorKind, MaintenanceError};
use neo4rs::Query;
use tokio::time::Instant;

use crate::connection::Neo4j;
use crate::fault::{self, Fault};

/// Maximum time for new indexes to cover the existing data, and the interval at which this is checked.
const ONLINE_WITHIN: Duration = Duration::from_secs(300);
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Name and statement of each constraint. Without the constraint, concurrent `MERGE` statements could create
/// several records with one key.
const CONSTRAINTS: [(&str, &str); 12] = [
    ("owner_key~", "FOR (owner:Owner~) REQUIRE owner.key IS UNIQUE"),
    ("node_key~", "FOR (node:Node~) REQUIRE node.key IS UNIQUE"),
    ("node_version_key~", "FOR (version:NodeVersion~) REQUIRE version.key IS UNIQUE"),
    ("edge_key~", "FOR ()-[edge:EDGE~]-() REQUIRE edge.key IS UNIQUE"),
    ("pattern_key~", "FOR (pattern:Pattern~) REQUIRE pattern.key IS UNIQUE"),
    ("registry_key~", "FOR (registry:Registry~) REQUIRE registry.key IS UNIQUE"),
    ("repository_key~", "FOR (repository:Repository~) REQUIRE repository.key IS UNIQUE"),
    ("run_generation~", "FOR (run:Run~) REQUIRE run.generation IS UNIQUE"),
    ("part_key~", "FOR (part:Part~) REQUIRE part.key IS UNIQUE"),
    ("publication_seq~", "FOR (made:Publication~) REQUIRE made.seq IS UNIQUE"),
    ("api_key_id~", "FOR (key:ApiKey~) REQUIRE key.id IS UNIQUE"),
    ("api_key_hash~", "FOR (key:ApiKey~) REQUIRE key.hash IS UNIQUE"),
];

/// Name and statement of each index. Scrolling uses positions, sweeping uses generations, and queries for
/// runs use their state.
const INDEXES: [(&str, &str); 15] = [
    ("node_version_position~", "FOR (version:NodeVersion~) ON (version.owner, version.position)"),
    ("node_version_from~", "FOR (version:NodeVersion~) ON (version.owner, version.gen_from)"),
    ("node_version_to~", "FOR (version:NodeVersion~) ON (version.owner, version.gen_to)"),
    ("edge_position~", "FOR ()-[edge:EDGE~]-() ON (edge.owner, edge.position)"),
    ("edge_from~", "FOR ()-[edge:EDGE~]-() ON (edge.owner, edge.gen_from)"),
    ("edge_to~", "FOR ()-[edge:EDGE~]-() ON (edge.owner, edge.gen_to)"),
    ("pattern_owner~", "FOR (pattern:Pattern~) ON (pattern.owner)"),
    ("pattern_tenant~", "FOR (pattern:Pattern~) ON (pattern.tenant)"),
    ("repository_tenant~", "FOR (repository:Repository~) ON (repository.tenant)"),
    ("repository_lane~", "FOR (repository:Repository~) ON (repository.lane)"),
    ("run_repository~", "FOR (run:Run~) ON (run.repository)"),
    ("run_state~", "FOR (run:Run~) ON (run.state)"),
    ("run_swept~", "FOR (run:Run~) ON (run.is_swept)"),
    ("run_superseded~", "FOR (run:Run~) ON (run.superseded_at_ms)"),
    ("part_generation~", "FOR (part:Part~) ON (part.generation)"),
];

impl Neo4j {
    /// Creates the missing constraints and indexes, and waits until they are online. This function may run at
    /// any time.
    pub async fn prepare(&self) -> Result<(), MaintenanceError> {
        prepare(self).await.map_err(fault::of("prepare", &"schema"))
    }

    /// Checks that the server replies and has every constraint and index. The error names the missing ones.
    pub async fn check(&self) -> Result<(), MaintenanceError> {
        check(self).await.map_err(fault::of("check", &"schema"))
    }

    /// Returns the names of the missing constraints and indexes.
    pub async fn missing(&self) -> Result<Vec<String>, MaintenanceError> {
        missing(self).await.map_err(fault::of("check", &"schema"))
    }

    /// Returns the version and edition of the server, such as `5.26.30 community`.
    pub async fn version(&self) -> Result<String, MaintenanceError> {
        version(self).await.map_err(fault::of("version", &"server"))
    }

    /// Returns advice for each timeout that is not set on the server.
    pub async fn unset_timeouts(&self) -> Result<Vec<&'static str>, MaintenanceError> {
        unset_timeouts(self).await.map_err(fault::of("unset_timeouts", &"server"))
    }
}

async fn prepare(neo4j: &Neo4j) -> Result<(), Fault> {
    let constraints = CONSTRAINTS.iter().map(|(name, what)| format!("CREATE CONSTRAINT {name} IF NOT EXISTS {what}"));
    let indexes = INDEXES.iter().map(|(name, what)| format!("CREATE INDEX {name} IF NOT EXISTS {what}"));
    for statement in constraints.chain(indexes) {
        neo4j.transact(&neo4j.query(&statement)).await?;
    }
    // The server's own procedure for waiting is not used, because this procedure would wait for the indexes
    // of all installations.
    let deadline = Instant::now() + ONLINE_WITHIN;
    loop {
        match check(neo4j).await {
            Err(fault) if fault.kind == ErrorKind::Conflict && Instant::now() < deadline => {
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
            outcome => return outcome,
        }
    }
}

async fn check(neo4j: &Neo4j) -> Result<(), Fault> {
    let missing = missing(neo4j).await?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::conflict(format!(
        "constraints or indexes are missing in neo4j: {}; run `cairn topology apply`",
        missing.join(", ")
    )))
}

/// Returns the names of constraints and indexes that are missing or not online yet.
async fn missing(neo4j: &Neo4j) -> Result<Vec<String>, Fault> {
    let constraints = names_of(neo4j, "SHOW CONSTRAINTS YIELD name RETURN name").await?;
    let online = names_of(neo4j, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name").await?;
    let wanted = |names: &[(&str, &str)]| names.iter().map(|(name, _)| neo4j.names.statement(name)).collect::<Vec<_>>();
    let mut missing = wanted(&CONSTRAINTS);
    missing.retain(|name| !constraints.contains(name) || !online.contains(name));
    missing.extend(wanted(&INDEXES).into_iter().filter(|name| !online.contains(name)));
    Ok(missing)
}

async fn version(neo4j: &Neo4j) -> Result<String, Fault> {
    let statement = "CALL dbms.components() YIELD versions, edition RETURN versions[0] AS version, edition";
    let rows = neo4j.transact(&Query::new(statement.to_owned())).await?;
    let row = rows.first().ok_or_else(|| Fault::damaged("the server lists no components"))?;
    Ok(format!("{} {}", row.get::<String>("version")?, row.get::<String>("edition")?))
}

/// Timeouts that the server does not set by default, with advice for each of them.
const TIMEOUTS: [(&str, &str); 2] = [
    ("db.transaction.timeout", "set `db.transaction.timeout` to 5m; otherwise the locks of a lost client remain"),
    (
        "db.lock.acquisition.timeout",
        "set `db.lock.acquisition.timeout` to 30s; otherwise writers wait for such locks without a limit",
    ),
];

/// Returns advice for each timeout that is zero.
async fn unset_timeouts(neo4j: &Neo4j) -> Result<Vec<&'static str>, Fault> {
    let mut unset = Vec::new();
    for (name, advice) in TIMEOUTS {
        let rows = neo4j.transact(&Query::new(format!("SHOW SETTINGS '{name}' YIELD value RETURN value"))).await?;
        // If the user lacks the permission, the server does not show the setting, and no advice is given.
        let Some(row) = rows.first() else { continue };
        if is_zero(&row.get::<String>("value")?) {
            unset.push(advice);
        }
    }
    Ok(unset)
}

/// Returns whether a duration in the format of the server (`0s`, `5m`, `1m30s`) is zero.
fn is_zero(duration: &str) -> bool {
    !duration.contains(|sign: char| sign.is_ascii_digit() && sign != '0')
}

async fn names_of(neo4j: &Neo4j, statement: &str) -> Result<BTreeSet<String>, Fault> {
    let rows = neo4j.transact(&Query::new(statement.to_owned())).await?;
    rows.iter().map(|row| Ok(row.get("name")?)).collect()
}

#[cfg(test)]
mod tests {
    use super::is_zero;

    #[test]
    fn zero_timeouts_are_recognised() {
        assert!(["0s", "0", "0ms"].into_iter().all(is_zero));
        assert!(!["5m", "1m30s", "10s", "500ms"].into_iter().any(is_zero));
    }
}
