//! Checks that each crate depends only on crates of the layers that its own layer may use.

use crate::manifests::{Manifest, parse, read_all};

/// Each row is a layer: the folder of its crates, and the folders of the crates that they may use. A crate
/// belongs to the first row that matches its folder.
const LAYERS: &[(&str, &[&str])] = &[
    ("crates/core/domain", &[]),
    ("crates/core", &["crates/core"]),
    ("crates/wire", &["crates/core"]),
    ("crates/ports", &["crates/core", "crates/wire"]),
    ("crates/support/addresses", &[]),
    ("crates/support/config", &["crates/core"]),
    ("crates/support/layered", &["crates/core", "crates/wire", "crates/ports", "crates/support/recent"]),
    ("crates/support/recent", &[]),
    ("crates/support/telemetry", &[]),
    ("crates/support/faults", &[]),
    ("crates/support/fake-provider", &[]),
    ("crates/support/conformance", &["crates/core", "crates/wire", "crates/ports"]),
    ("crates/support/servers", &[]),
    ("crates/support/testkit", &["crates/core", "crates/wire", "crates/ports"]),
    ("crates/metastore", &["crates/core", "crates/wire", "crates/ports", "crates/support"]),
    ("crates/pipeline", &["crates/core", "crates/wire", "crates/ports", "crates/support"]),
    ("crates/stages", &["crates/core", "crates/wire", "crates/ports", "crates/support", "crates/pipeline"]),
    ("crates/search", &["crates/core", "crates/wire", "crates/ports", "crates/support"]),
    ("crates/gateway", &["crates/core", "crates/wire", "crates/ports", "crates/support", "crates/search"]),
    ("crates/adapters", &["crates/core", "crates/wire", "crates/ports", "crates/support"]),
    ("services/wiring", &["crates"]),
    ("services", &["crates", "services/wiring"]),
    ("tests", &["crates", "services"]),
    ("bench", &["crates", "services", "tests/cluster"]),
    ("eval", &["crates"]),
];

/// Describes every dependency that violates the layers.
fn wrong_arrows(manifests: &[Manifest]) -> Vec<String> {
    let mut wrong = Vec::new();
    for manifest in manifests {
        let Some((_, allowed)) = LAYERS.iter().find(|(folder, _)| is_below(&manifest.folder, folder)) else {
            wrong.push(format!("{} is in no layer", manifest.folder));
            continue;
        };
        for need in &manifest.needs {
            let Some(used) = manifests.iter().find(|used| used.name == *need) else {
                wrong.push(format!("{} depends on {need}, which is not a crate of the workspace", manifest.name));
                continue;
            };
            if !allowed.iter().any(|folder| is_below(&used.folder, folder)) {
                wrong.push(format!("{} must not use {need}", manifest.name));
            }
        }
    }
    wrong
}

fn is_below(folder: &str, layer: &str) -> bool {
    folder.strip_prefix(layer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[test]
fn dependencies_point_down() {
    let manifests = read_all();
    assert!(manifests.len() > 20, "only {} manifests were found", manifests.len());
    assert_eq!(wrong_arrows(&manifests), Vec::<String>::new());
}

#[test]
fn every_crate_uses_the_workspace_lints() {
    let without: Vec<String> =
        read_all().into_iter().filter(|manifest| !manifest.takes_lints).map(|manifest| manifest.name).collect();
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn wrong_dependency_is_found() {
    let check = |folder: &str, needs: &str, expect: &[&str]| {
        let manifest = |folder: &str, name: &str, needs: &str| {
            parse(folder, &format!("[package]\nname = \"{name}\"\n[dependencies]\n{needs}"))
        };
        let manifests = [
            manifest("crates/core/domain", "cairn-domain", ""),
            manifest("crates/ports", "cairn-ports", ""),
            manifest("crates/adapters/git", "cairn-git", ""),
            manifest("crates/stages", "cairn-stages", ""),
            manifest(folder, "cairn-new", needs),
        ];
        assert_eq!(wrong_arrows(&manifests), expect, "{folder} with {needs}");
    };
    let need = |name: &str| format!("{name}.workspace = true");
    check("crates/adapters/new", &need("cairn-ports"), &[]);
    check("crates/adapters/new", &need("cairn-git"), &["cairn-new must not use cairn-git"]);
    check("crates/core/new", &need("cairn-ports"), &["cairn-new must not use cairn-ports"]);
    check("crates/search", &need("cairn-stages"), &["cairn-new must not use cairn-stages"]);
    check("services/new", &need("cairn-git"), &[]);
    check("crates/common", "", &["crates/common is in no layer"]);
}
