//! Checks the definitions of the images and of compose.yaml: the files, programs, targets and services that
//! they name exist. `make images-check` builds the images and starts their programs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::manifests::{read_all, root};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The instructions of docker/Dockerfile, each on one line, without comments.
fn instructions() -> Vec<String> {
    let text = read("docker/Dockerfile");
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// The stages of docker/Dockerfile.
fn stages() -> BTreeSet<String> {
    let instructions = instructions();
    let stages =
        instructions.iter().filter(|line| line.starts_with("FROM ")).filter_map(|line| line.split(" AS ").nth(1));
    stages.map(str::to_owned).collect()
}

/// Whether the build context contains a path. `.dockerignore` first leaves out everything. Later lines add
/// paths.
fn is_in_context(ignore: &str, path: &str) -> bool {
    let is_below = |folder: &str| path == folder || path.starts_with(&format!("{folder}/"));
    path == "." || ignore.lines().filter_map(|line| line.strip_prefix('!')).any(is_below)
}

/// The names of the programs of the services and of the command line.
fn programs() -> BTreeSet<String> {
    let has_program =
        |folder: &str| folder.starts_with("services/") && root().join(folder).join("src/main.rs").exists();
    read_all().into_iter().filter(|manifest| has_program(&manifest.folder)).map(|manifest| manifest.name).collect()
}

#[test]
fn copied_files_exist() {
    let (ignore, mut faults, mut num_copied) = (read(".dockerignore"), Vec::new(), 0);
    assert!(ignore.lines().any(|line| line == "*"), "the build context contains everything");
    for line in instructions().iter().filter(|line| line.starts_with("COPY ") && !line.contains("--from=")) {
        let words: Vec<&str> = line.split_whitespace().skip(1).filter(|word| !word.starts_with("--")).collect();
        let Some((_, sources)) = words.split_last() else { continue };
        for source in sources {
            num_copied += 1;
            if !root().join(source).exists() || !is_in_context(&ignore, source) {
                faults.push(format!("{line}: {source}"));
            }
        }
    }
    assert!(num_copied > 3, "only {num_copied} files are copied");
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn every_program_has_an_image() {
    let instructions = instructions();
    let copied: BTreeSet<String> = instructions
        .iter()
        .filter_map(|line| line.strip_prefix("COPY --from=programs /programs/")?.split(' ').next())
        .map(str::to_owned)
        .collect();
    assert_eq!(copied, programs());
    let stages = stages();
    let targets: BTreeSet<String> =
        programs().iter().map(|program| program.strip_prefix("cairn-").unwrap_or(program).to_owned()).collect();
    assert!(targets.is_subset(&stages), "{targets:?} {stages:?}");
    // The scripts name all images too.
    for path in ["docker/bake.hcl", "scripts/images"] {
        let text = read(path);
        let missing: Vec<&String> = targets.iter().filter(|target| !text.contains(target.as_str())).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{path}");
    }
}

#[test]
fn versions_equal_those_of_the_workspace() {
    let dockerfile = read("docker/Dockerfile");
    let toolchain: toml::Table = read("rust-toolchain.toml").parse().expect("TOML");
    let channel = toolchain["toolchain"]["channel"].as_str().expect("a channel");
    assert!(dockerfile.contains(&format!(" rust:{channel}-slim-")), "rust-toolchain.toml: {channel}");
    assert!(dockerfile.contains(&format!("RUSTUP_TOOLCHAIN={channel}\n")), "rust-toolchain.toml: {channel}");
    let workspace: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let version = workspace["workspace"]["package"]["version"].as_str().expect("a version");
    assert!(dockerfile.contains(&format!("ARG VERSION={version}\n")), "Cargo.toml: {version}");
    let compose = read("compose.yaml");
    let images = compose.lines().filter_map(|line| line.trim().strip_prefix("image: cairn")).collect::<Vec<_>>();
    assert!(images.len() > 7 && images.iter().all(|image| image.ends_with(&format!(":{version}"))), "{images:?}");
}

/// Calls `visit` for each value of this key, at any depth.
fn visit_all(value: &Value, key: &str, visit: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                if name == key {
                    visit(value);
                }
                visit_all(value, key, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit_all(item, key, visit)),
        _ => {}
    }
}

#[test]
fn compose_names_existing_files_and_targets() {
    let (compose, stages, mut faults) = (yaml("compose.yaml"), stages(), Vec::new());
    let (mut num_mounts, mut num_targets) = (0, 0);
    visit_all(&compose, "volumes", &mut |volumes| {
        let mounts = volumes.as_array().into_iter().flatten().filter_map(Value::as_str);
        for source in mounts.filter_map(|mount| mount.split(':').next()).filter(|source| source.starts_with("./")) {
            num_mounts += 1;
            if !root().join(source).exists() {
                faults.push(source.to_owned());
            }
        }
    });
    visit_all(&compose, "build", &mut |build| {
        num_targets += 1;
        let target = build["target"].as_str().unwrap_or_default();
        if !stages.contains(target) || build["dockerfile"] != "docker/Dockerfile" {
            faults.push(build.to_string());
        }
    });
    assert!(num_mounts > 5 && num_targets > 7, "{num_mounts} mounts, {num_targets} targets");
    assert_eq!(faults, Vec::<String>::new());
}

/// `docker compose up -d --wait` without a profile starts only the servers, for `make cluster`.
#[test]
fn only_servers_have_no_profile() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_object().expect("services");
    let is_server = |service: &Value| service.get("profiles").is_none() && service.get("build").is_none();
    let servers: Vec<&String> =
        services.iter().filter(|(_, service)| is_server(service)).map(|(name, _)| name).collect();
    assert_eq!(servers, ["minio", "neo4j", "qdrant", "rabbitmq"]);
    // A password that everyone knows must not be reachable from other machines.
    let mut ports = Vec::new();
    visit_all(&compose, "ports", &mut |list| {
        ports.extend(list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    });
    assert!(ports.len() > 7 && ports.iter().all(|port| port.starts_with("127.0.0.1:")), "{ports:?}");
}

#[test]
fn prometheus_scrapes_every_service() {
    let (compose, prometheus) = (yaml("compose.yaml"), yaml("docker/prometheus/prometheus.yml"));
    let mut scraped = BTreeSet::new();
    visit_all(&prometheus, "targets", &mut |targets| {
        let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
        scraped.extend(targets.filter_map(|target| target.split(':').next()).map(str::to_owned));
    });
    let services = compose["services"].as_object().expect("services");
    let unknown: Vec<&String> =
        scraped.iter().filter(|name| !services.contains_key(*name) && *name != "localhost").collect();
    assert_eq!(unknown, Vec::<&String>::new());
    let programs = programs();
    let services = programs.iter().filter_map(|program| program.strip_prefix("cairn-"));
    let missing: Vec<&str> = services.filter(|service| !scraped.contains(*service)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn paths_outside_of_the_context_are_found() {
    let ignore = "# Comment\n*\n!crates\n!docker/steps\n";
    let check = |path: &str, expect: bool| assert_eq!(is_in_context(ignore, path), expect, "{path}");
    check("crates", true);
    check("crates/wire/src", true);
    check("docker/steps/roots", true);
    check("docker/trial", false);
    check("crates-of-others", false);
}
