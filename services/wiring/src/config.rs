//! The settings of a cluster: one file, whose values environment variables can override.
//!
//! For example, `CAIRN__RABBITMQ__PREFETCH=8` sets `prefetch` in the section `rabbitmq`. A value that is not
//! valid TOML is read as a string.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cairn_neo4j::Neo4jConfig;
use cairn_qdrant::QdrantConfig;
use cairn_rabbitmq::RabbitMqConfig;
use cairn_s3::S3Config;
use serde::Deserialize;
use toml::Table;

use crate::OrganisationConfig;
use crate::QueryConfig;
use crate::config_reading::{not_toml, read_table};
use crate::embedding::EmbeddingConfig;
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

/// All faults in the settings.
#[derive(Debug)]
pub struct InvalidConfig(Vec<String>);

impl std::fmt::Display for InvalidConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the settings cannot be used:\n  {}", self.0.join("\n  "))
    }
}

impl std::error::Error for InvalidConfig {}

impl ClusterConfig {
    /// Reads the file, if a file is given, and the environment variables of this process.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Self> {
        let text = match file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| anyhow::anyhow!("cannot read the settings `{}`: {error}", path.display()))?,
            None => String::new(),
        };
        Self::read(&text, std::env::vars())
    }

    fn read(text: &str, variables: impl Iterator<Item = (String, String)>) -> anyhow::Result<Self> {
        let table: Table = text.parse().map_err(|error| not_toml(text, &error))?;
        read_table(table, variables)
    }

    /// Checks the settings. The error contains all faults in all sections. Call this function before any
    /// connection is opened.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        let sections = [
            ("rabbitmq", self.rabbitmq.as_ref().map(|section| section.validate().map_err(|fault| fault.to_string()))),
            ("s3", self.s3.as_ref().map(|section| section.validate().map_err(|fault| fault.to_string()))),
            ("neo4j", self.neo4j.as_ref().map(|section| section.validate().map_err(|fault| fault.to_string()))),
            ("qdrant", self.qdrant.as_ref().map(|section| section.validate().map_err(|fault| fault.to_string()))),
        ];
        let mut faults: Vec<String> = sections
            .into_iter()
            .filter_map(|(name, checked)| checked.and_then(Result::err).map(|fault| format!("[{name}] {fault}")))
            .collect();
        let query = self.query.as_ref().map(QueryConfig::faults).unwrap_or_default();
        faults.extend(query.into_iter().map(|fault| format!("[query] {fault}")));
        faults.extend(self.pipeline.faults().into_iter().map(|fault| format!("[pipeline] {fault}")));
        faults.extend(self.organisation_faults());
        let owned_keys = self.rabbitmq.as_ref().map(|section| section.topology.owned_keys.as_slice());
        faults.extend(self.embedding.faults(owned_keys).into_iter().map(|fault| format!("[embedding] {fault}")));
        if faults.is_empty() { Ok(()) } else { Err(InvalidConfig(faults)) }
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
) -> anyhow::Result<EmbeddingConfig> {
    let mut table: Table = text.parse().map_err(|error| not_toml(text, &error))?;
    table.retain(|section, _| section == "embedding");
    let variables = variables.filter(|(name, _)| name.starts_with("CAIRN__EMBEDDING__"));
    let LocalConfig { embedding } = read_table(table, variables)?;
    let faults = embedding.local_faults();
    anyhow::ensure!(
        faults.is_empty(),
        InvalidConfig(faults.iter().map(|fault| format!("[embedding] {fault}")).collect())
    );
    Ok(embedding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<ClusterConfig> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ClusterConfig::read(text, variables)
    }

    #[test]
    fn environment_overrides_the_file() {
        let text = "[http]\nlisten = \"127.0.0.1:1\"\n[pipeline]\nwindow = 3\n";
        let config =
            read(text, &[("CAIRN__PIPELINE__WINDOW", "7"), ("CAIRN__HTTP__LISTEN", "127.0.0.1:2"), ("HOME", "x")]);
        let config = config.expect("sound");
        assert_eq!((config.pipeline.window, config.http.listen.port()), (7, 2));
        assert!(config.rabbitmq.is_none());
        config.validate().expect("sound");
    }

    fn local(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<EmbeddingConfig> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        local_embedding(text, variables)
    }

    const LOCAL: &str = "num_workers = 2\n[embedding]\nkind = \"http\"\n[embedding.provider]\nprovider = \"tei\"\n\
                         url = \"https://tei.example.org/embed\"\nmodel = \"a\"\ndimensions = 8\n";

    #[test]
    fn local_embedding_is_read_from_its_section_and_variables() {
        let model = |config: &EmbeddingConfig| config.model_id().expect("a model").name;
        let shipped = local("num_workers = 2\n", &[]).expect("sound");
        assert!(matches!(shipped, EmbeddingConfig::Local));
        let of_file = local(LOCAL, &[]).expect("sound");
        assert!(model(&of_file).starts_with("a-"), "{}", model(&of_file));
        let variables = [("CAIRN__EMBEDDING__PROVIDER__MODEL", "b"), ("CAIRN__QDRANT__URL", "ignored"), ("HOME", "x")];
        let changed = local(LOCAL, &variables).expect("sound");
        assert!(model(&changed).starts_with("b-"), "{}", model(&changed));
        let only_variable = local("", &[("CAIRN__EMBEDDING__KIND", "local")]).expect("sound");
        assert_eq!(model(&only_variable), model(&shipped));
    }

    #[test]
    fn wrong_embedding_of_local_mode_is_refused() {
        let check = |text: &str, expect: &str| {
            let error = format!("{:#}", local(text, &[]).expect_err(text));
            assert!(error.contains(expect), "{text}: {error}");
        };
        let with = |line: &str| LOCAL.replace("kind = \"http\"\n", &format!("kind = \"http\"\n{line}\n"));
        check(&with("key_name = \"k\""), "[embedding] `key_name` is allowed only in clusters");
        check(&with("colour = \"red\""), "colour");
        check(&LOCAL.replace("dimensions = 8", "dimensions = 0"), "`dimensions` must not be 0");
        check(&LOCAL.replace("https", "http"), "`url` has no TLS");
        check("[embedding\n", "the settings are not TOML: line 1");
    }

    #[test]
    fn password_of_digits_is_a_text() {
        let config = read("[neo4j]\nurl = \"bolt://h\"", &[("CAIRN__NEO4J__PASSWORD", "12345")]);
        config.expect("a text").validate().expect("sound");
    }

    #[test]
    fn broker_addresses_are_read_from_a_variable() {
        let addresses = |value: &str| {
            let config = read("", &[("CAIRN__RABBITMQ__URLS", value)]).expect("addresses");
            config.rabbitmq.expect("a section").urls.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(addresses("amqp://u:hunter2@a/v"), ["amqp://a/v"]);
        assert_eq!(addresses("amqp://u:hunter2@a/v, amqp://u:hunter2@b/v"), ["amqp://a/v", "amqp://b/v"]);
        assert_eq!(addresses("['amqp://u:hunter2@a/v']"), ["amqp://a/v"]);
    }

    #[test]
    fn no_form_of_a_secret_is_shown_in_an_error() {
        const SECRET: &str = "hunter2hunter2";
        let fields = [
            ("rabbitmq", "urls"),
            ("rabbitmq", "management_url"),
            ("rabbitmq", "prefetch"),
            ("rabbitmq", "stage_prefetch"),
            ("rabbitmq.topology", "prefix"),
            ("rabbitmq.topology", "owned_keys"),
            ("s3", "endpoint"),
            ("s3", "bucket"),
            ("s3", "checksums"),
            ("neo4j", "url"),
            ("neo4j", "namespace"),
            ("qdrant", "url"),
            ("qdrant", "collection_prefix"),
            ("embedding", "kind"),
            ("embedding", "key_name"),
            ("embedding.provider", "url"),
            ("http", "listen"),
            ("pipeline", "window"),
            ("query.gateway", "allowed_origins"),
            ("organisations.hosting", "owner"),
            ("organisations.hosting", "url"),
            ("s3", "access_key_id"),
            ("s3", "secret_access_key"),
            ("s3", "session_token"),
            ("neo4j", "password"),
            ("qdrant", "api_key"),
            ("embedding.provider", "api_key"),
            ("organisations.hosting", "token"),
        ];
        let forms = [
            "'SECRET'",
            "'amqp://u:SECRET@h/v'",
            "'u:SECRET@h:5672'",
            "'SECRET:u@h'",
            "'amqp:u:SECRET@h'",
            "'amqp:/u:SECRET@h/v'",
            "'amqp://u:a/SECRET@h'",
            "'http://h/?token=SECRET'",
            "['amqp:u:SECRET@h']",
            "['SECRET', 7]",
            "[['SECRET']]",
            "[{ SECRET = 'x' }]",
            "{ SECRET = 'SECRET' }",
            "{ value = ['SECRET'] }",
            "{ env = { SECRET = 1 } }",
            "{ env = 'A', file = 'SECRET' }",
            "'SECRET",
            "20242024202420",
            "2024.202420242",
        ];
        let is_shown = |error: &anyhow::Error| {
            let shown = format!("{error:#} {error:?}");
            [SECRET, "20242024202420", "2024.202420242"].iter().any(|secret| shown.contains(secret))
        };
        let mut num_errors = 0;
        for (section, field) in fields {
            for form in forms.map(|form| form.replace("SECRET", SECRET)) {
                let header = if section == "organisations.hosting" { "[[organisations]]\ntenant = 'a'\n" } else { "" };
                let kind = match (section, field) {
                    ("organisations.hosting", "owner") => "kind = 'github'\n",
                    ("organisations.hosting", "url") => "kind = 'gitea'\nowner = 'a'\n",
                    ("organisations.hosting", _) => "kind = 'github'\nowner = 'a'\n",
                    _ => "",
                };
                let in_file = read(&format!("{header}[{section}]\n{kind}{field} = {form}\n"), &[]);
                let in_place_of_section = read(&format!("{} = {form}\n", section.replace('.', "_")), &[]);
                let variable = format!("CAIRN__{}__{}", section.replace('.', "__"), field).to_uppercase();
                let in_variable = read("", &[(&variable, &form)]);
                for result in [in_file, in_place_of_section, in_variable] {
                    let checked = result.and_then(|config| Ok(config.validate()?));
                    let Err(error) = checked else { continue };
                    num_errors += 1;
                    assert!(!is_shown(&error), "[{section}] {field} = {form}: {error:#}");
                }
            }
        }
        assert!(num_errors > 200, "only {num_errors} forms are refused");
        for (section, text) in [("RABBITMQ", "amqp://u:hunter2hunter2@h/v"), ("NEO4J", SECRET), ("QDRANT", SECRET)] {
            let error = read("", &[(&format!("CAIRN__{section}"), text)]).expect_err("no section");
            assert!(!is_shown(&error), "{error:#}");
        }
    }

    #[test]
    fn provider_with_a_quota_needs_an_owned_key() {
        let faults = |provider: &str, key_name: &str| {
            let provider =
                format!("provider = \"{provider}\"\nmodel = \"m\"\ndimensions = 8\nurl = \"https://e.example/v1\"");
            let text = format!(
                "[embedding]\nkind = \"http\"\n{key_name}\n[embedding.provider]\n{provider}\n\
                 [rabbitmq]\nurls = [\"amqp://g:g@r/v\"]\n[rabbitmq.topology]\nowned_keys = [\"one\"]\n"
            );
            let config = read(&text, &[]).expect("valid settings");
            config.validate().err().map(|faults| faults.to_string()).unwrap_or_default()
        };
        assert_eq!(faults("tei", ""), "");
        assert_eq!(faults("openai", "key_name = \"one\""), "");
        assert!(faults("openai", "").contains("[embedding] `key_name` is missing"), "{}", faults("openai", ""));
        let unknown = faults("openai", "key_name = \"two\"");
        assert!(unknown.contains("`key_name` is not among `rabbitmq.topology.owned_keys`"), "{unknown}");
    }

    #[test]
    fn unknown_and_invalid_settings_are_refused() {
        assert!(read("[rabitmq]\n", &[]).is_err());
        let fault = read("[neo4j]\npassword = \"hunter2\n", &[]).expect_err("no TOML").to_string();
        assert!(fault.contains("line 2") && !fault.contains("hunter2"), "{fault}");
        assert!(read("", &[("CAIRN__PIPELINE__WINDOWS", "7")]).is_err());
        assert!(read("cache_directory = \"x\"", &[("CAIRN__CACHE_DIRECTORY__Y", "7")]).is_err());
        let config = read("[pipeline]\nwindow = 0\ngrace_ms = 5\n", &[]).expect("valid settings");
        let faults = config.validate().expect_err("two faults").to_string();
        assert!(faults.contains("`window`") && faults.contains("`grace_ms`"), "{faults}");
        for name in ["sweep_every_ms", "sync_again_after_ms", "stalled_after_ms", "reaped_after_ms"] {
            let config = read(&format!("[pipeline]\n{name} = 0\n"), &[]).expect("valid settings");
            let faults = config.validate().expect_err("a loop without a pause").to_string();
            assert!(faults.contains(&format!("`{name}` must be at least 1")), "{faults}");
        }
    }

    #[test]
    fn organisations_are_parsed_and_checked() {
        let acme = "[[organisations]]\ntenant = 'acme'\ninclude = ['shop*']\ninclude_forks = true\n\
                    hosting = { kind = 'github', owner = 'acme', token = { env = 'GITHUB_TOKEN' } }\n";
        let config = read(acme, &[]).expect("valid settings");
        config.validate().expect("sound");
        assert_eq!((config.organisations[0].max_deletions, config.organisations[0].delete_vanished), (10, false));
        let wrong = "[[organisations]]\ntenant = ''\nexclude = ['[']\nhosting = { kind = 'gitea', owner = 'a/b' }\n";
        let config = read(&format!("[pipeline]\nwindow = 0\n{acme}{acme}{wrong}"), &[]).expect("valid settings");
        let faults = config.validate().expect_err("faults").to_string();
        for part in ["`window`", "2: is listed twice", "3: `tenant`", "`exclude`", "`url`", "`owner`"] {
            assert!(faults.contains(part), "{part}: {faults}");
        }
        let secret = acme.replace("{ env = 'GITHUB_TOKEN' }", "'ghp_secret'");
        let error = format!("{:#}", read(&secret, &[]).expect_err("a token by value"));
        assert!(error.contains("never the secret") && !error.contains("ghp_secret"), "{error}");
        assert!(read(&acme.replace("include_forks", "include_fork"), &[]).is_err());
    }
}
