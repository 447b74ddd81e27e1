//! Prints a sample of the edges or unresolved references of a checkout, each with its source line. With this
//! sample, a person can compare edges with the code. Usage:
//! `cargo run --release -p cairn-linking --example read_edges -- DIR CLASS SEED COUNT [KIND,…]`.
//!
//! CLASS is a resolution class, or the reason why a reference is unresolved. If CLASS is `all`, the example
//! prints the count of each class and reason instead. The files are linked in the same way as in the
//! pipeline, except that settings, inventory rules and the modules of files are not used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cairn_domain::{
    Digester, FactsKey, FileFacts, Key128, NodeRecord, PackageManifest, RepoPath, RepositoryId, RepositoryName, Tenant,
};
use cairn_linking::{FilePlace, LinkFile, Linked, SnapshotFacts, link, parse_package_manifest};
use cairn_syntax::{ParseLimits, is_test_path, language_of, module_path, parse_file};

struct Source {
    path: RepoPath,
    text: String,
    module_path: String,
    is_test: bool,
    facts: FileFacts,
    package: Option<PackageManifest>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, class, rest @ ..] = arguments.as_slice() else {
        eprintln!("the folder or the class is missing; usage: read_edges DIR CLASS [SEED [COUNT [KIND,…]]]");
        std::process::exit(2);
    };
    let number = |index: usize, default: u64| rest.get(index).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (seed, count) = (number(0, 1), number(1, 20) as usize);
    let kinds: Vec<&str> = rest.get(2).map(|kinds| kinds.split(',').collect()).unwrap_or_default();
    let sources = read(Path::new(root));
    let linked = link_all(&sources);
    match class.as_str() {
        "all" => print_counts(&linked),
        class => {
            let mut rows = rows(&sources, &linked, class, &kinds);
            rows.sort_by_key(|row| Digester::new("sample").number(seed).text(row).key());
            rows.truncate(count);
            rows.iter().for_each(|row| println!("{row}"));
        }
    }
}

fn read(root: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    add_paths(root, &mut paths);
    paths.sort();
    let sources = paths.iter().filter_map(|path| {
        let relative = path.strip_prefix(root).ok()?.to_str()?;
        let (path, text) = (RepoPath::parse(relative).ok()?, std::fs::read_to_string(path).ok()?);
        let language = language_of(&path, text.as_bytes()).map_or("text", |row| row.name);
        let facts_key = FactsKey(Digester::new("read").text(&text).key());
        Some(Source {
            facts: parse_file(language, facts_key, &text, &ParseLimits::default()),
            module_path: module_path(language, &path),
            is_test: is_test_path(language, &path),
            package: parse_package_manifest(&path, &text),
            path,
            text,
        })
    });
    sources.collect()
}

fn add_paths(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link || matches!(name.to_str(), None | Some(".git" | "node_modules" | "vendor" | "dist")) {
            continue;
        }
        if path.is_dir() { add_paths(&path, paths) } else { paths.push(path) }
    }
}

fn link_all(sources: &[Source]) -> Linked {
    let files = sources.iter().map(|source| LinkFile {
        place: FilePlace {
            path: &source.path,
            module_path: &source.module_path,
            is_test: source.is_test,
            module: None,
        },
        facts: &source.facts,
    });
    link(&SnapshotFacts {
        repository: RepositoryId::derive(&Tenant::local(), &RepositoryName::new("read")),
        name: "read",
        files: files.collect(),
        packages: sources.iter().filter_map(|source| source.package.clone()).collect(),
        modules: Vec::new(),
    })
}

fn print_counts(linked: &Linked) {
    let mut edges: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for edge in &linked.edges {
        *edges.entry((edge.resolution.as_str(), edge.kind.as_str())).or_default() += 1;
    }
    edges.iter().for_each(|((class, kind), count)| println!("{class:<10} {kind:<12} {count:>8}"));
    linked.counts.unresolved.iter().for_each(|(reason, count)| println!("{:<23} {count:>8}", reason.as_str()));
}

fn rows(sources: &[Source], linked: &Linked, class: &str, kinds: &[&str]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let line_of = |path: &str, line: u32| {
        let text = texts.get(path).and_then(|text| text.lines().nth((line as usize).saturating_sub(1)));
        text.unwrap_or_default().trim().chars().take(150).collect::<String>()
    };
    let nodes: BTreeMap<Key128, &NodeRecord> = linked.nodes.iter().map(|node| (node.key.0, node)).collect();
    let path_of = |node: &NodeRecord| node.path.as_ref().map_or("", |path| path.as_str()).to_owned();
    let mut rows = Vec::new();
    for edge in linked.edges.iter().filter(|edge| edge.line > 0 && edge.resolution.as_str() == class) {
        let (source, target) = (nodes.get(&edge.source.0), nodes.get(&edge.target.0));
        let (Some(source), Some(target)) = (source, target) else { continue };
        if !kinds.is_empty() && !kinds.contains(&edge.kind.as_str()) {
            continue;
        }
        let (from, to) = (path_of(source), path_of(target));
        let start = target.span.map_or(0, |span| span.start);
        rows.push(format!(
            "{from}:{}  {} {} {}\n    {}\n    -> {to}:{start} {}",
            edge.line,
            source.qualified_name,
            edge.kind.as_str(),
            target.qualified_name,
            line_of(&from, edge.line),
            if target.signature.is_empty() { line_of(&to, start) } else { target.signature.clone() },
        ));
    }
    for (path, reference) in linked.unresolved.iter().filter(|(_, reference)| reference.reason.as_str() == class) {
        let receiver = reference.receiver.as_deref().map(|receiver| format!("{receiver} . ")).unwrap_or_default();
        let text = line_of(path.as_str(), reference.line);
        rows.push(format!("{}:{}  {receiver}{}\n    {text}", path.as_str(), reference.line, reference.name));
    }
    rows
}
