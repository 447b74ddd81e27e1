//! The table of the operator's settings.
//!
//! Each setting is one row of a table: its key in the file, its environment variable, and its reader.
//! Therefore every setting can be set both in the file and in the environment.

use crate::ceilings;
use crate::fault::Key;
use crate::operator::Operator;
use crate::operator_values::{generated, globs, path, synonyms, tokens, words};
use crate::reader::{At, Reader, Setting, set};
use crate::repository_reading::max_file_size;

/// The table of all settings except the ceilings, which have a separate table.
const SETTINGS: &[Setting<Operator>] = &[
    Setting { key: "home", variable: "CAIRN_HOME", apply: |reader, at, operator| operator.home = path(reader, at) },
    Setting {
        key: "max_file_size",
        variable: "CAIRN_MAX_FILE_SIZE",
        apply: |reader, at, operator| operator.max_file_size = max_file_size(reader, at),
    },
    Setting {
        key: "generated",
        variable: "CAIRN_GENERATED",
        apply: |reader, at, operator| set(&mut operator.generated, generated(reader, at)),
    },
    Setting {
        key: "workers",
        variable: "CAIRN_WORKERS",
        apply: |reader, at, operator| set(&mut operator.num_workers, reader.integer(at, 0..=1_024)),
    },
    Setting {
        key: "first_use.max_files",
        variable: "CAIRN_FIRST_USE_MAX_FILES",
        apply: |reader, at, operator| set(&mut operator.first_use.max_files, reader.integer(at, 0..=100_000_000)),
    },
    Setting {
        key: "first_use.max_bytes",
        variable: "CAIRN_FIRST_USE_MAX_BYTES",
        apply: |reader, at, operator| set(&mut operator.first_use.max_bytes, reader.bytes(at)),
    },
    Setting {
        key: "first_use.timeout_seconds",
        variable: "CAIRN_FIRST_USE_TIMEOUT_SECONDS",
        apply: |reader, at, operator| set(&mut operator.first_use.timeout_seconds, reader.integer(at, 1..=3_600)),
    },
    Setting {
        key: "sensitive.add",
        variable: "CAIRN_SENSITIVE_ADD",
        apply: |reader, at, operator| operator.sensitive_add = globs(reader, at),
    },
    Setting {
        key: "sensitive.allow",
        variable: "CAIRN_SENSITIVE_ALLOW",
        apply: |reader, at, operator| operator.sensitive_allow = globs(reader, at),
    },
    Setting {
        key: "search.synonyms",
        variable: "CAIRN_SYNONYMS",
        apply: |reader, at, operator| operator.synonyms = synonyms(reader, at),
    },
    Setting {
        key: "sources.allow_http",
        variable: "CAIRN_ALLOW_HTTP",
        apply: |reader, at, operator| set(&mut operator.sources.allow_http, reader.flag(at)),
    },
    Setting {
        key: "sources.allow_file",
        variable: "CAIRN_ALLOW_FILE",
        apply: |reader, at, operator| set(&mut operator.sources.allow_file, reader.flag(at)),
    },
    Setting {
        key: "sources.allow_private_addresses",
        variable: "CAIRN_ALLOW_PRIVATE_ADDRESSES",
        apply: |reader, at, operator| set(&mut operator.sources.allow_private_addresses, reader.flag(at)),
    },
    Setting {
        key: "sources.ssh_known_hosts",
        variable: "CAIRN_SSH_KNOWN_HOSTS",
        apply: |reader, at, operator| operator.sources.ssh_known_hosts = path(reader, at),
    },
    Setting {
        key: "sources.ssh_key",
        variable: "CAIRN_SSH_KEY",
        apply: |reader, at, operator| operator.sources.ssh_key = path(reader, at),
    },
    Setting {
        key: "sources.ssh_tenants",
        variable: "CAIRN_SSH_TENANTS",
        apply: |reader, at, operator| operator.sources.ssh_tenants = words(reader, at),
    },
    Setting {
        key: "sources.tokens",
        variable: "CAIRN_TOKENS",
        apply: |reader, at, operator| operator.sources.tokens = tokens(reader, at),
    },
    Setting {
        key: "sources.fetch_timeout_seconds",
        variable: "CAIRN_FETCH_TIMEOUT_SECONDS",
        apply: |reader, at, operator| {
            set(&mut operator.sources.fetch_timeout_seconds, reader.integer(at, 1..=86_400));
        },
    },
    Setting {
        key: "sources.max_fetch_bytes",
        variable: "CAIRN_MAX_FETCH_BYTES",
        apply: |reader, at, operator| set(&mut operator.sources.max_fetch_bytes, reader.bytes(at)),
    },
    Setting {
        key: "sources.max_git_memory_bytes",
        variable: "CAIRN_MAX_GIT_MEMORY_BYTES",
        apply: |reader, at, operator| set(&mut operator.sources.max_git_memory_bytes, reader.bytes(at)),
    },
    Setting {
        key: "sources.max_git_cpu_seconds",
        variable: "CAIRN_MAX_GIT_CPU_SECONDS",
        apply: |reader, at, operator| {
            set(&mut operator.sources.max_git_cpu_seconds, reader.integer(at, 1..=86_400));
        },
    },
    Setting {
        key: "sources.max_entries",
        variable: "CAIRN_MAX_ENTRIES",
        apply: |reader, at, operator| set(&mut operator.sources.max_entries, reader.integer(at, 1..=100_000_000)),
    },
];

/// The key and the environment variable of every setting.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = SETTINGS.iter().map(|setting| (setting.key, setting.variable));
    others.chain(ceilings::SETTINGS.iter().map(|setting| (setting.key, setting.variable)))
}

/// Selects the name of a setting: its key in the file, or its environment variable.
pub(crate) type Name = fn(&'static str, &'static str) -> &'static str;

/// Applies the setting with this name. Returns false if no setting has this name.
pub(crate) fn apply(reader: &mut Reader, at: &At<'_>, operator: &mut Operator, name: Name) -> bool {
    let is_meant = |key, variable| name(key, variable) == at.key.as_written();
    let known = |key, variable| At { key: Key::known(name(key, variable)), line: at.line, node: at.node };
    if let Some(setting) = SETTINGS.iter().find(|setting| is_meant(setting.key, setting.variable)) {
        (setting.apply)(reader, &known(setting.key, setting.variable), operator);
        return true;
    }
    let ceiling = ceilings::SETTINGS.iter().find(|setting| is_meant(setting.key, setting.variable));
    if let Some(setting) = ceiling {
        (setting.apply)(reader, &known(setting.key, setting.variable), &mut operator.ceilings);
    }
    ceiling.is_some()
}
