//! Reads the manifests of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

/// A crate and its dependencies in the workspace, without the dependencies that only the tests of the crate
/// need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Manifest {
    /// The folder relative to the root of the workspace, e.g. `crates/core/domain`.
    pub folder: String,
    pub name: String,
    pub needs: Vec<String>,
    pub takes_lints: bool,
    /// The root files of the targets for which the manifest sets `path`, relative to the folder.
    pub target_files: Vec<String>,
}

/// The folders of the root that contain crates.
const TOPS: &[&str] = &["bench", "crates", "eval", "services", "tests"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the manifest of every crate of the workspace, sorted by folder.
pub(crate) fn read_all() -> Vec<Manifest> {
    let root = root();
    let mut found = Vec::new();
    for top in TOPS {
        collect(&root, &root.join(top), &mut found);
    }
    found.sort_by(|left, right| left.folder.cmp(&right.folder));
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Manifest>) {
    let manifest = folder.join("Cargo.toml");
    if manifest.is_file() {
        let text = fs::read_to_string(&manifest).expect("a readable manifest");
        let relative = folder.strip_prefix(root).expect("below the root");
        return found.push(parse(&relative.to_string_lossy(), &text));
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        collect(root, &entry.path(), found);
    }
}

pub(crate) fn parse(folder: &str, text: &str) -> Manifest {
    let manifest: toml::Table = text.parse().expect("a manifest of TOML");
    let table = |key: &str| manifest.get(key).and_then(toml::Value::as_table);
    let name = table("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let dependencies = table("dependencies").into_iter().chain(table("build-dependencies"));
    let needs = dependencies.flat_map(|table| table.keys()).filter(|name| name.starts_with("cairn-"));
    let targets = ["bin", "example", "test", "bench"].into_iter().filter_map(|kind| manifest.get(kind)?.as_array());
    let target_files = targets.flatten().filter_map(|target| target.get("path")?.as_str());
    Manifest {
        folder: folder.to_owned(),
        name: name.expect("a package's name").to_owned(),
        needs: needs.cloned().collect(),
        takes_lints: table("lints").and_then(|lints| lints.get("workspace")) == Some(&toml::Value::Boolean(true)),
        target_files: target_files.map(str::to_owned).collect(),
    }
}
