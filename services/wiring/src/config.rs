//! The settings of a cluster: one file. Environment variables can override the values in this file.
//!
//! For example, `CAIRN__RABBITMQ__PREFETCH=8` sets `prefetch` in the section `rabbitmq`. A value that is not
//! valid TOML is read as a string.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cairn_neo4j::Neo4jConfig;
use cairn_qdrant::QdrantConfig;
use cairn_rabbitmq::RabbitMqConfig;
use cairn_s3::S3Config;
use serde::Deserialize;
use toml::Table;

use crate::OrganisationConfig;
use crate::QueryConfig;
use crate::config_reading::{Read, not_toml, read_table};
use crate::embedding::EmbeddingConfig;
use crate::invalid_config::InvalidConfig;
use crate::pipeline_config::PipelineConfig;

/// The settings of all sections that a service may need.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterConfig {
    #[serde(default)]
    pub http: HttpConfig,
    pub rabbitmq: Option<RabbitMqConfig>,
    pub s3: Option<S3Config>,
    pub neo4j: Option<Neo4jConfig>,
    pub qdrant: Option<QdrantConfig>,
    #[serde(default)]
    pub embedding: EmbeddingConfig,
    #[serde(default)]
    pub pipeline: PipelineConfig,
    pub query: Option<QueryConfig>,
    /// The organisations whose repositories `scheduler tick` registers and updates.
    #[serde(default)]
    pub organisations: Vec<OrganisationConfig>,
    /// The file with the operator's rules for sources and sensitive names, like `config.toml` in local mode.
    pub operator: Option<PathBuf>,
    /// The folder for data that can be recreated: clones. The default is the system's folder for temporary
    /// files.
    pub cache_directory: Option<PathBuf>,
}

/// The address for health, readiness and metrics.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    pub listen: SocketAddr,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 9090)) }
    }
}

impl ClusterConfig {
    /// Reads the file, if a file is given, and the environment variables of this process.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Self> {
        let text = match file {
            Some(path) => std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the settings `{}`", path.display()))?,
            None => String::new(),
        };
        Ok(Self::read(&text, std::env::vars())?)
    }

    fn read(text: &str, variables: impl Iterator<Item = (String, String)>) -> Result<Self, InvalidConfig> {
        let table: Table = text.parse().map_err(|error| not_toml(text, &error))?;
        let Read { settings, mut faults, faulty } = read_table::<Self>(table, variables);
        match settings {
            Some(settings) if faults.is_empty() => Ok(settings),
            settings => {
                let settings = settings.map(|settings| settings.faults_except(&faulty));
                faults.extend(settings.unwrap_or_default());
                Err(InvalidConfig::new(faults))
            }
        }
    }

    /// Checks the settings. The error contains all faults in all sections. Call this function before any
    /// connection is opened.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        let faults = self.faults_except(&[]);
        if faults.is_empty() { Ok(()) } else { Err(InvalidConfig::new(faults)) }
    }

    /// The faults of all sections except these sections, which contain placeholders.
    fn faults_except(&self, sections: &[String]) -> Vec<String> {
        let is_checked = |section: &str| !sections.iter().any(|except| except == section);
        let rabbitmq = self.rabbitmq.as_ref().filter(|_| is_checked("rabbitmq"));
        let owned_keys = rabbitmq.map(|section| section.topology.owned_keys.as_slice());
        let found = [
            ("rabbitmq", rabbitmq.and_then(|section| section.validate().err()).map(|invalid| invalid.faults)),
            ("s3", self.s3.as_ref().and_then(|section| section.validate().err()).map(|invalid| invalid.faults)),
            ("neo4j", self.neo4j.as_ref().and_then(|section| section.validate().err()).map(|invalid| invalid.faults)),
            ("qdrant", self.qdrant.as_ref().and_then(|section| section.validate().err()).map(|invalid| invalid.faults)),
            ("query", self.query.as_ref().map(QueryConfig::faults)),
            ("pipeline", Some(self.pipeline.faults())),
            ("embedding", Some(self.embedding.faults(owned_keys))),
        ];
        let mut faults = Vec::new();
        for (section, found) in found.into_iter().filter(|(section, _)| is_checked(section)) {
            faults.extend(found.into_iter().flatten().map(|fault| format!("[{section}] {fault}")));
        }
        if is_checked("organisations") {
            faults.extend(self.organisation_faults());
        }
        faults
    }
}

impl ClusterConfig {
    fn organisation_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (position, organisation) in self.organisations.iter().enumerate() {
            let owner = &organisation.hosting.owner;
            let of = |fault: String| format!("[[organisations]] {}: {fault}", position + 1);
            faults.extend(organisation.faults().into_iter().map(of));
            let is_same = |other: &OrganisationConfig| {
                other.tenant == organisation.tenant
                    && other.hosting.kind == organisation.hosting.kind
                    && other.hosting.url == organisation.hosting.url
                    && other.hosting.owner.eq_ignore_ascii_case(owner)
            };
            if self.organisations[..position].iter().any(is_same) {
                faults.push(of("is listed twice".to_owned()));
            }
        }
        faults
    }
}

/// The settings of local mode that have the same format as in the settings of a cluster.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalConfig {
    #[serde(default)]
    embedding: EmbeddingConfig,
}

/// The embedding model of local mode: the section `embedding` of `config.toml`, and the variables that begin
/// with `CAIRN__EMBEDDING__`. The other sections of the file are read by `cairn_config`.
pub fn local_embedding(
    text: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<EmbeddingConfig, InvalidConfig> {
    let mut table: Table = text.parse().map_err(|error| not_toml(text, &error))?;
    table.retain(|section, _| section == "embedding");
    let variables = variables.filter(|(name, _)| name.starts_with("CAIRN__EMBEDDING__"));
    match read_table(table, variables) {
        Read { settings: Some(LocalConfig { embedding }), faults, .. } if faults.is_empty() => {
            let faults = embedding.local_faults();
            let faults: Vec<String> = faults.iter().map(|fault| format!("[embedding] {fault}")).collect();
            if faults.is_empty() { Ok(embedding) } else { Err(InvalidConfig::new(faults)) }
        }
        Read { faults, .. } => Err(InvalidConfig::new(faults)),
    }
}
