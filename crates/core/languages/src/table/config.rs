//! Settings, data and build files.

use super::shared::BASE;
use crate::row::{LanguageClass, LanguageRow};

pub(super) const ROWS: &[LanguageRow] = &[
    LanguageRow {
        name: "yaml",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["yaml", "yml"],
        file_names: &[".clang-format", ".clang-tidy"],
        ..BASE
    },
    LanguageRow {
        name: "toml",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["toml"],
        file_names: &["Cargo.lock", "poetry.lock", "Pipfile", "uv.lock"],
        ..BASE
    },
    LanguageRow {
        name: "json",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["json", "jsonc", "json5", "jsonl", "ndjson", "geojson", "webmanifest"],
        file_names: &[".babelrc", ".eslintrc", ".prettierrc", ".jshintrc", "composer.lock", "Pipfile.lock"],
        ..BASE
    },
    LanguageRow {
        name: "ini",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["ini", "cfg", "conf", "properties", "editorconfig", "service", "desktop"],
        file_names: &[
            ".editorconfig",
            ".gitconfig",
            ".gitattributes",
            ".gitmodules",
            ".flake8",
            ".pylintrc",
            ".coveragerc",
        ],
        ..BASE
    },
    LanguageRow {
        name: "go-module",
        class: LanguageClass::Config,
        file_names: &["go.mod", "go.work", "go.sum"],
        ..BASE
    },
    LanguageRow {
        name: "dockerfile",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["dockerfile", "containerfile"],
        file_names: &["Dockerfile", "Containerfile"],
        file_name_prefixes: &["Dockerfile.", "Dockerfile-", "Containerfile."],
        ..BASE
    },
    LanguageRow {
        name: "makefile",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["mk", "mak"],
        file_names: &["Makefile", "makefile", "GNUmakefile"],
        file_name_prefixes: &["Makefile."],
        interpreters: &["make"],
        ..BASE
    },
    LanguageRow {
        name: "cmake",
        class: LanguageClass::Config,
        extensions: &["cmake"],
        file_names: &["CMakeLists.txt"],
        ..BASE
    },
    LanguageRow {
        name: "terraform",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["tf", "tfvars", "hcl"],
        ..BASE
    },
    LanguageRow { name: "nix", class: LanguageClass::Config, extensions: &["nix"], ..BASE },
    LanguageRow { name: "protobuf", has_scanner: true, class: LanguageClass::Config, extensions: &["proto"], ..BASE },
    LanguageRow {
        name: "graphql",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["graphql", "gql"],
        ..BASE
    },
    LanguageRow {
        name: "sql",
        has_scanner: true,
        class: LanguageClass::Config,
        extensions: &["sql", "ddl", "psql"],
        ..BASE
    },
];
