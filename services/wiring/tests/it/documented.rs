//! Checks that `docs/cluster.toml` contains every setting with its default value, and no other settings, and
//! that the settings of the trial are valid.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use cairn_wiring::ClusterConfig;
use toml::{Table, Value};

const FILE: &str = include_str!("../../../../docs/cluster.toml");
/// The settings of the cluster in `compose.yaml`.
const TRIAL: &str = include_str!("../../../../docker/trial/cluster.toml");
const VARIANT: &str = "# Variant: ";
/// A name that is not a setting.
const STRANGER: &str = "stranger";
/// The keys that a reference to a secret may contain. Each reference contains exactly one of these keys.
const REFERENCES: [&str; 3] = ["env", "file", "value"];
/// Settings whose values in the file are examples instead of defaults, because the default is empty or
/// depends on other settings.
const EXAMPLES: &[&str] = &[
    "operator",
    "cache_directory",
    "organisations",
    "rabbitmq.urls",
    "rabbitmq.management_url",
    "rabbitmq.stage_prefetch",
    "rabbitmq.stage_prefetch.parse",
    "rabbitmq.stage_prefetch.sync",
    "rabbitmq.topology.owned_keys",
    "s3.endpoint",
    "s3.force_path_style",
    "s3.session_token",
    "query.gateway.allowed_hosts",
    "query.gateway.allowed_origins",
    "embedding.key_name",
    "embedding.provider.api_key",
    "embedding.provider.url",
    "embedding.provider.scale",
    "embedding.provider.encoding",
    "embedding.provider.max_texts",
    "embedding.provider.max_tokens",
    "embedding.provider.max_text_tokens",
    "embedding.provider.concurrency",
    "embedding.provider.quota.requests_per_minute",
    "embedding.provider.quota.tokens_per_minute",
    "embedding.provider.quota.takeover_wait_ms",
    "organisations.tenant",
    "organisations.include",
    "organisations.exclude",
    "organisations.hosting.owner",
    "organisations.hosting.url",
    "organisations.hosting.token",
    "organisations.hosting.clone_host",
];

/// Uncomments the settings: the lines that start with `#` and have no blank after it.
fn uncommented(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// The file without the variants, and each variant with its name.
fn parts() -> (String, Vec<(String, String)>) {
    let (mut base, mut variants) = (String::new(), Vec::<(String, String)>::new());
    for paragraph in FILE.split("\n\n") {
        match paragraph.strip_prefix(VARIANT) {
            Some(variant) => {
                variants.push((variant.lines().next().unwrap_or_default().to_owned(), paragraph.to_owned()));
            }
            None => base += &format!("{paragraph}\n\n"),
        }
    }
    (base, variants)
}

fn table(text: &str) -> Result<Table> {
    text.parse().with_context(|| text.to_owned())
}

/// The complete settings: with the local model, and with each variant.
fn complete() -> Result<Vec<(String, Table)>> {
    let (base, variants) = parts();
    let base = table(&uncommented(&base))?;
    let mut complete = vec![("local".to_owned(), base.clone())];
    for (name, variant) in variants {
        let mut whole = base.clone();
        whole.extend(table(&uncommented(&variant))?);
        complete.push((name, whole));
    }
    Ok(complete)
}

fn read(settings: &Table) -> Result<ClusterConfig> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), settings.to_string())?;
    ClusterConfig::load(Some(file.path()))
}

#[test]
fn file_is_valid_in_every_variant() -> Result<()> {
    read(&table(FILE)?)?.validate()?;
    let complete = complete()?;
    ensure!(complete.len() == 4, "{} variants", complete.len());
    for (name, settings) in complete {
        let config = read(&settings).with_context(|| name.clone())?;
        config.validate().with_context(|| name)?;
    }
    Ok(())
}

#[test]
fn file_contains_every_setting() -> Result<()> {
    // The first variant contains all settings of a provider. The other variants differ only in their values,
    // and the local model has no settings.
    let mut num_settings = 0;
    for (name, settings) in complete()?.into_iter().skip(1).take(1) {
        let mut sections = Vec::new();
        sections_of(&settings, &mut Vec::new(), &mut sections);
        for section in sections {
            let Some(fields) = fields_of(&settings, &section)? else { continue };
            let keys: BTreeSet<String> = at(&settings, &section).keys().cloned().collect();
            ensure!(
                keys == fields,
                "in {name}, the section [{}] documents {keys:?}, but the known settings are {fields:?}",
                section.join(".")
            );
            num_settings += fields.len();
        }
    }
    ensure!(num_settings > 100, "only {num_settings} settings were compared");
    Ok(())
}

#[test]
fn values_are_defaults_or_examples() -> Result<()> {
    let (_, settings) = complete()?.into_iter().nth(1).context("a variant")?;
    let whole = format!("{:?}", read(&settings)?);
    let mut sections = Vec::new();
    sections_of(&settings, &mut Vec::new(), &mut sections);
    for section in sections {
        for key in at(&settings, &section).keys() {
            let path = [section.clone(), vec![key.clone()]].concat();
            let name = path.join(".");
            let mut without = settings.clone();
            at_mut(&mut without, &section).remove(key);
            // A required setting has no default, so the settings cannot be read without it.
            let Ok(config) = read(&without) else { continue };
            let is_example = EXAMPLES.contains(&name.as_str()) || at(&settings, &section)[key].is_table();
            ensure!(is_example || format!("{config:?}") == whole, "`{name}` differs from its default");
        }
    }
    Ok(())
}

/// The paths of all sections. If a section is a list, only its first element is included.
fn sections_of(table: &Table, path: &mut Vec<String>, sections: &mut Vec<Vec<String>>) {
    sections.push(path.clone());
    for (key, value) in table {
        let inner = match value {
            Value::Table(inner) => Some(inner),
            Value::Array(values) => values.first().and_then(Value::as_table),
            _ => None,
        };
        let is_reference =
            |inner: &&Table| inner.len() == 1 && inner.keys().all(|key| REFERENCES.contains(&key.as_str()));
        if let Some(inner) = inner.filter(|inner| !is_reference(inner)) {
            path.push(key.clone());
            sections_of(inner, path, sections);
            path.pop();
        }
    }
}

fn at<'a>(settings: &'a Table, section: &[String]) -> &'a Table {
    section.iter().fold(settings, |table, key| match &table[key] {
        Value::Array(values) => values[0].as_table().expect("a section"),
        value => value.as_table().expect("a section"),
    })
}

fn at_mut<'a>(settings: &'a mut Table, section: &[String]) -> &'a mut Table {
    section.iter().fold(settings, |table, key| match &mut table[key] {
        Value::Array(values) => values[0].as_table_mut().expect("a section"),
        value => value.as_table_mut().expect("a section"),
    })
}

/// The fields of a section, read from the error of the TOML library about an unknown field. `None` if the
/// section accepts any key or no key.
fn fields_of(settings: &Table, section: &[String]) -> Result<Option<BTreeSet<String>>> {
    let mut with_stranger = settings.clone();
    at_mut(&mut with_stranger, section).insert(STRANGER.to_owned(), Value::from(0));
    let Err(error) = with_stranger.try_into::<ClusterConfig>() else { return Ok(None) };
    let refusal = error.to_string();
    let Some((_, expected)) = refusal.split_once(&format!("unknown field `{STRANGER}`, expected ")) else {
        ensure!(refusal.contains(STRANGER) || refusal.contains("stage"), "[{}]: {refusal}", section.join("."));
        return Ok(None);
    };
    let expected = expected.lines().next().unwrap_or_default();
    Ok(Some(expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()))
}

#[test]
fn settings_of_the_trial_are_valid() -> Result<()> {
    toml::from_str::<ClusterConfig>(TRIAL)?.validate()?;
    Ok(())
}
