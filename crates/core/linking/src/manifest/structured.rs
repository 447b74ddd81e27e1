//! Reads manifests in TOML and JSON.

use serde_json::Value as Json;
use toml::{Table, Value};

use super::declared::{Declared, normal_python_name, requirement_name};

pub(super) fn pyproject(text: &str) -> Option<Declared> {
    let root: Table = text.parse().ok()?;
    let project = table(&root, "project");
    let poetry = table(&root, "tool").and_then(|tool| table(tool, "poetry"));
    let name = [project, poetry].into_iter().flatten().find_map(|section| section.get("name")?.as_str());
    let mut declared = Declared { name: name.map(normal_python_name), ..Declared::default() };
    let dependencies = &mut declared.dependencies;
    if let Some(project) = project {
        add_requirements(project.get("dependencies"), dependencies);
        add_requirement_groups(table(project, "optional-dependencies"), dependencies);
    }
    add_requirement_groups(table(&root, "dependency-groups"), dependencies);
    if let Some(poetry) = poetry {
        add_poetry(poetry, dependencies);
    }
    Some(declared)
}

fn table<'t>(parent: &'t Table, name: &str) -> Option<&'t Table> {
    parent.get(name)?.as_table()
}

fn add_requirements(list: Option<&Value>, dependencies: &mut Vec<String>) {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    dependencies.extend(list.filter_map(|requirement| requirement_name(requirement.as_str()?)));
}

fn add_requirement_groups(groups: Option<&Table>, dependencies: &mut Vec<String>) {
    for list in groups.into_iter().flat_map(Table::values) {
        add_requirements(Some(list), dependencies);
    }
}

fn add_poetry(poetry: &Table, dependencies: &mut Vec<String>) {
    let groups = table(poetry, "group").into_iter().flat_map(Table::values).filter_map(Value::as_table);
    for section in std::iter::once(poetry).chain(groups) {
        for key in ["dependencies", "dev-dependencies"] {
            let names = table(section, key).into_iter().flat_map(Table::keys).filter(|name| *name != "python");
            dependencies.extend(names.map(|name| normal_python_name(name)));
        }
    }
}

pub(super) fn cargo_toml(text: &str) -> Option<Declared> {
    let root: Table = text.parse().ok()?;
    let name = table(&root, "package").and_then(|package| package.get("name")?.as_str());
    let mut declared = Declared { name: name.map(str::to_owned), ..Declared::default() };
    let targets = table(&root, "target").into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let workspace = table(&root, "workspace");
    for section in std::iter::once(&root).chain(workspace).chain(targets) {
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            add_crates(table(section, key), &mut declared.dependencies);
        }
    }
    let library = table(&root, "lib").and_then(|library| library.get("path")?.as_str());
    declared.entries.extend(library.map(str::to_owned));
    Some(declared)
}

fn add_crates(crates: Option<&Table>, dependencies: &mut Vec<String>) {
    for (name, requirement) in crates.into_iter().flatten() {
        let renamed = requirement.as_table().and_then(|table| table.get("package")?.as_str());
        dependencies.push(renamed.unwrap_or(name).to_owned());
    }
}

pub(super) fn package_json(text: &str) -> Option<Declared> {
    let root: Json = serde_json::from_str(text).ok()?;
    let root = root.as_object()?;
    let name = root.get("name").and_then(Json::as_str).filter(|name| !name.is_empty());
    let mut declared = Declared { name: name.map(str::to_owned), ..Declared::default() };
    for key in ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"] {
        declared
            .dependencies
            .extend(root.get(key).and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name.clone()));
    }
    // The fields that usually name source files come first. The other fields usually name build output, which
    // a repository rarely contains.
    for key in ["source", "types", "typings", "module", "main"] {
        declared.entries.extend(root.get(key).and_then(Json::as_str).map(str::to_owned));
    }
    if let Some(exports) = root.get("exports") {
        add_exports(exports.get(".").unwrap_or(exports), &mut declared.entries, 0);
    }
    Some(declared)
}

/// Adds the files of one entry in `exports`. An entry may list a file for each condition, and conditions may
/// be nested a few levels deep.
fn add_exports(exports: &Json, entries: &mut Vec<String>, depth: usize) {
    match exports {
        Json::String(path) => entries.push(path.clone()),
        Json::Object(conditions) if depth < 4 => {
            for (_, target) in conditions.iter().filter(|(condition, _)| !condition.starts_with("./")) {
                add_exports(target, entries, depth + 1);
            }
        }
        _ => {}
    }
}

pub(super) fn composer_json(text: &str) -> Option<Declared> {
    let root: Json = serde_json::from_str(text).ok()?;
    let root = root.as_object()?;
    let name = root.get("name").and_then(Json::as_str).map(str::to_owned);
    let mut declared = Declared { name, ..Declared::default() };
    for key in ["require", "require-dev"] {
        let required = root.get(key).and_then(Json::as_object).into_iter().flatten();
        declared.dependencies.extend(required.map(|(name, _)| name.clone()).filter(|name| name.contains('/')));
    }
    Some(declared)
}
