//! Lists the modules of a repository as a tree.
//!
//! A module is a folder with code, with a document that describes the folder, or with a package manifest.
//! Searches can filter by the name of a module. The description of a module is the first paragraph of its
//! document, or of the documentation in one of its code files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ManifestEntry, NodeKey, RepoPath, RepositoryId, View};
use cairn_languages::{LanguageClass, by_name, folder_module};
use cairn_ranking::similarity_percent;
use cairn_redaction::{Given, Message, quoted};

use crate::bounds;
use crate::repositories::{KnownRepository, RepositorySelection};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher, Stamp};

/// Names of documents that describe a module, best first, in lower case and without the extension.
const DOCUMENTS: [&str; 5] = ["agents", "readme", "claude", "overview", "architecture"];
/// Names of code files that document their module, best first, without the extension. A code file with the
/// name of its folder comes after the files with these names.
const CODE: [&str; 7] = ["__init__", "doc", "package-info", "lib", "mod", "index", "main"];

/// Maximum number of repositories whose modules are compared with an unknown name.
const MAX_COMPARED: usize = 20;

/// Names of source folders, which are not part of the names of modules.
const SOURCE_FOLDERS: [&str; 3] = ["lib", "source", "src"];

/// The modules to list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModulesRequest {
    pub repository: String,
    /// Only this module and the modules in it.
    pub within: Option<String>,
    /// Number of levels below the root, or below `within`.
    pub depth: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The name, for example `fisio.imports`; empty for the root.
    pub name: String,
    /// The folder. `None` if no folder has exactly this name.
    pub directory: Option<String>,
    /// The description. `None` before `describe` is called, or if no file describes the module.
    pub description: Option<String>,
    /// Number of indexed files in the module, including all modules in it.
    pub num_files: u64,
    /// Number of indexed files in the module for each language.
    pub languages: BTreeMap<String, u64>,
    /// The files that describe the module, each with its rank, best first.
    describing: BTreeSet<(usize, RepoPath)>,
    /// The folders whose module has this name.
    directories: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ModuleTree {
    pub repository: String,
    /// Sorted by name, so that each module comes before the modules in it.
    pub modules: Vec<Module>,
    pub stamps: Vec<Stamp>,
    view: View,
    id: RepositoryId,
}

impl Searcher {
    /// The modules of a repository, without descriptions.
    pub async fn modules(&self, request: &ModulesRequest) -> Result<ModuleTree, QueryError> {
        bounds::word("module", request.within.as_deref().unwrap_or_default())?;
        let view = self.catalogue.view().await?;
        let known = self.select_one(&view, &request.repository).await?;
        let manifest = self.manifest(&known).await?.unwrap_or_default();
        let all = tree(&manifest.entries);
        let within = request.within.as_deref().unwrap_or_default();
        if !within.is_empty() && !all.contains_key(within) {
            return Err(unknown_module(within, &known, &all));
        }
        let modules = all.into_values().filter(|module| is_shown(&module.name, within, request.depth)).collect();
        let id = known.record.id;
        let repository = known.record.name.to_string();
        Ok(ModuleTree { repository, modules, stamps: self.stamps(&[known], &[id]).await?, view, id })
    }

    /// Adds descriptions to modules of the tree, with one read. A description in `.cairn.yaml` is preferred
    /// to all others.
    pub async fn describe(&self, tree: &ModuleTree, modules: &mut [Module]) -> Result<(), QueryError> {
        let node = |path: &RepoPath| NodeKey::file(tree.id, path);
        let keys_of = |module: &Module| -> Vec<NodeKey> {
            let declared = module.directories.iter().map(|directory| NodeKey::module(tree.id, directory));
            declared.chain(module.describing.iter().map(|(_, path)| node(path))).collect()
        };
        let keys: BTreeSet<NodeKey> = modules.iter().flat_map(keys_of).collect();
        let keys: Vec<NodeKey> = keys.into_iter().collect();
        let scope = cairn_domain::Scope::only(self.caller.tenant.clone(), [tree.id]);
        let nodes = if keys.is_empty() { Vec::new() } else { self.graph.nodes(&tree.view, &scope, &keys).await? };
        let texts: BTreeMap<NodeKey, String> =
            nodes.into_iter().filter_map(|node| Some((node.key, node.doc.filter(|doc| !doc.is_empty())?))).collect();
        for module in modules {
            module.description = keys_of(module).iter().find_map(|key| texts.get(key).cloned());
        }
        Ok(())
    }
}

/// A name in a filter by module that is not the name of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownModule {
    pub requested: String,
    /// The module that has this name in another style.
    pub meant: Option<String>,
    /// The module with the most similar name, if no module is meant.
    near: Option<String>,
}

impl UnknownModule {
    /// The sentence that states which module was searched instead, or which module has a similar name.
    pub fn note(&self) -> Message {
        let message = Message::from("No module is called ").and(Given(&self.requested));
        match (&self.meant, &self.near) {
            (Some(meant), _) => message.and("; the module ").and(Given(meant)).and(" was searched."),
            (None, Some(near)) => message.and("; the module with the most similar name is ").and(Given(near)).and("."),
            (None, None) => message.and("."),
        }
    }
}

impl Searcher {
    /// The names that no module of these repositories has.
    pub async fn unknown_modules(
        &self,
        repositories: &RepositorySelection,
        names: &[String],
    ) -> Result<Vec<UnknownModule>, QueryError> {
        let view = self.catalogue.view().await?;
        let mut all = BTreeSet::new();
        for known in self.select(&view, repositories).await?.iter().take(MAX_COMPARED) {
            all.extend(self.module_names(known).await?);
        }
        let unknown = names.iter().filter(|name| !all.contains(*name)).map(|name| {
            let meant = in_other_style(name, &all).map(str::to_owned);
            let near = if meant.is_some() { None } else { near_module(name, all.iter()).map(str::to_owned) };
            UnknownModule { requested: name.clone(), meant, near }
        });
        Ok(unknown.collect())
    }

    /// The names of all modules of a repository.
    pub(crate) async fn module_names(&self, known: &KnownRepository) -> Result<BTreeSet<String>, QueryError> {
        let manifest = self.manifest(known).await?.unwrap_or_default();
        Ok(tree(&manifest.entries).into_keys().collect())
    }
}

/// The module that has this name in another style: in another case, as a path, with a repeated part
/// (`fisio/fisio`), or below a source folder (`src.api`).
fn in_other_style<'m>(name: &str, all: &'m BTreeSet<String>) -> Option<&'m str> {
    let folded = |text: &str| {
        let text = text.replace('/', ".").to_lowercase();
        let mut parts: Vec<&str> = text.split('.').filter(|part| !part.is_empty()).collect();
        parts.dedup();
        parts.join(".")
    };
    let name = folded(name);
    let below = name.split_once('.').filter(|(first, _)| SOURCE_FOLDERS.contains(first));
    let below = below.map(|(_, below)| below.to_owned());
    let names = std::iter::once(name).chain(below).filter(|name| !name.is_empty());
    names.into_iter().find_map(|name| all.iter().map(String::as_str).find(|module| folded(module) == name))
}

fn is_shown(name: &str, within: &str, depth: usize) -> bool {
    let below = match (name.strip_prefix(within), within.is_empty()) {
        (None, _) => return false,
        (Some(""), _) => return true,
        (Some(rest), true) => rest,
        (Some(rest), false) => match rest.strip_prefix('.') {
            Some(rest) => rest,
            None => return false,
        },
    };
    below.split('.').count() <= depth
}

/// All modules by name. The root has the empty name.
fn tree(entries: &[ManifestEntry]) -> BTreeMap<String, Module> {
    let indexed = || entries.iter().filter(|entry| entry.outcome.is_indexed());
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    for entry in indexed() {
        let is_code = language(entry).is_some_and(|row| row.class == LanguageClass::Code);
        let (directory, rank) = (entry.path.directory(), describing_rank(&entry.path, is_code));
        let is_declared = entry.module.as_deref() == Some(directory);
        if !is_code && !is_declared && rank.is_none() {
            continue;
        }
        let module = module_of(&mut modules, &module_name(entry));
        module.describing.extend(rank.map(|rank| (rank, entry.path.clone())));
        module.directories.insert(directory.to_owned());
    }
    for entry in indexed() {
        let name = module_name(entry);
        for ancestor in self_and_ancestors(&name) {
            if let Some(module) = modules.get_mut(ancestor) {
                module.num_files += 1;
                *module.languages.entry(entry.language.clone().unwrap_or_default()).or_default() += 1;
            }
        }
    }
    for module in modules.values_mut() {
        // The files of a source folder such as `src` may also belong to the root, but the root contains all
        // folders.
        module.directory = match module.name.is_empty() {
            true => Some(String::new()),
            false => module.directories.iter().min_by_key(|directory| directory.len()).cloned(),
        };
    }
    modules
}

fn language(entry: &ManifestEntry) -> Option<&'static cairn_languages::LanguageRow> {
    by_name(entry.language.as_deref()?)
}

fn module_name(entry: &ManifestEntry) -> String {
    folder_module(entry.language.as_deref().unwrap_or_default(), entry.path.directory())
}

/// The name of the module and of each module that contains it: `a.b.c`, `a.b`, `a` and the root for `a.b.c`.
pub(crate) fn self_and_ancestors(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| (!name.is_empty()).then(|| name.rsplit_once('.').map_or("", |(up, _)| up)))
}

/// Returns the module with this name. Adds the module and the modules that contain it, if they are missing.
fn module_of<'m>(modules: &'m mut BTreeMap<String, Module>, name: &str) -> &'m mut Module {
    for around in self_and_ancestors(name).skip(1) {
        modules.entry(around.to_owned()).or_insert_with(|| empty(around));
    }
    modules.entry(name.to_owned()).or_insert_with(|| empty(name))
}

fn empty(name: &str) -> Module {
    Module {
        name: name.to_owned(),
        directory: None,
        description: None,
        num_files: 0,
        languages: BTreeMap::new(),
        describing: BTreeSet::new(),
        directories: BTreeSet::new(),
    }
}

/// The zero-based rank of a file among the files that describe their module. `None` if the file describes no
/// module.
fn describing_rank(path: &RepoPath, is_code: bool) -> Option<usize> {
    let stem = path.stem().to_lowercase();
    let is_document = matches!(path.extension().as_str(), "" | "md" | "mdx" | "markdown" | "rst" | "adoc" | "txt");
    if !is_code {
        return DOCUMENTS.iter().position(|known| *known == stem).filter(|_| is_document);
    }
    let folder = path.directory().rsplit('/').next().unwrap_or_default().to_lowercase();
    let of_code = CODE.iter().position(|known| *known == stem);
    let of_code = of_code.or_else(|| (stem == folder).then_some(CODE.len()))?;
    Some(DOCUMENTS.len() + of_code)
}

fn unknown_module(name: &str, known: &KnownRepository, all: &BTreeMap<String, Module>) -> QueryError {
    let repository = known.record.name.to_string();
    let message = Message::default().and(Given(name)).and(" is not a module of ").and(&known.record.name);
    let error = QueryError::new(QueryErrorCode::NotFound, message);
    match near_module(name, all.keys()) {
        Some(near) => error.hint(Message::from("did you mean ").and(quoted(near)).and("?")),
        None => error.hint("search for the words of the name instead").next(NextCall {
            tool: "search_code",
            reason: "finds code by words".into(),
            arguments: vec![("query", name.replace(['.', '/'], " ")), ("repository", repository)],
        }),
    }
}

/// The module whose name, or whose last part of the name, is most similar to a name that no module has.
fn near_module<'m>(name: &str, all: impl Iterator<Item = &'m String>) -> Option<&'m str> {
    /// Less similar names are treated as different names.
    const LEAST_PERCENT: u32 = 60;
    let name = name.replace('/', ".");
    let last = |text: &str| text.rsplit('.').next().unwrap_or(text).to_owned();
    let likeness = |module: &str| {
        let whole = similarity_percent(&name, module);
        whole.max(similarity_percent(&last(&name), &last(module))).filter(|percent| *percent >= LEAST_PERCENT)
    };
    let near = all.filter(|module| !module.is_empty());
    let near = near.filter_map(|module| Some((likeness(module)?, Reverse(module.as_str()))));
    near.max().map(|(_, Reverse(module))| module)
}

#[cfg(test)]
mod tests {
    use cairn_domain::Outcome;
    use cairn_testkit::manifest_entry;

    use super::*;

    fn modules(files: &[(&str, &str)]) -> BTreeMap<String, Module> {
        let entry = |(path, language): &(&str, &str)| {
            let path = RepoPath::parse(path).expect("a path");
            let entry = manifest_entry(path, Outcome::Indexed(None));
            ManifestEntry { language: Some((*language).to_owned()), ..entry }
        };
        tree(&files.iter().map(entry).collect::<Vec<_>>())
    }

    const FILES: [(&str, &str); 9] = [
        ("README.md", "markdown"),
        (".github/workflows/main.yml", "yaml"),
        ("docs/guide.md", "markdown"),
        ("fisio/AGENTS.md", "markdown"),
        ("fisio/fisio/__init__.py", "python"),
        ("fisio/fisio/main.py", "python"),
        ("fisio/fisio/imports/aws.py", "python"),
        ("fisio/fisio/imports/schema.json", "json"),
        ("server/src/main/java/com/acme/App.java", "java"),
    ];

    #[test]
    fn a_misspelled_module_has_a_near_module() {
        let all = modules(&FILES);
        let near = |name: &str| near_module(name, all.keys());
        assert_eq!(near("fiso"), Some("fisio"));
        assert_eq!(near("src/imports"), Some("fisio.imports"));
        assert_eq!(near("fisio.improts"), Some("fisio.imports"));
        assert_eq!(near("billing"), None);
    }

    #[test]
    fn module_is_found_in_another_style() {
        let all: BTreeSet<String> = modules(&FILES).into_keys().collect();
        let check = |name: &str, expect: Option<&str>| assert_eq!(in_other_style(name, &all), expect, "{name}");
        check("fisio/fisio", Some("fisio"));
        check("fisio.fisio", Some("fisio"));
        check("Fisio", Some("fisio"));
        check("fisio/fisio/imports/", Some("fisio.imports"));
        check("src.fisio.imports", Some("fisio.imports"));
        check("COM/acme", Some("com.acme"));
        check("other.fisio", None);
        check("billing", None);
        check("/", None);
    }

    #[test]
    fn modules_form_a_tree() {
        let found = modules(&FILES);
        let shown: Vec<(&str, u64)> = found.values().map(|module| (module.name.as_str(), module.num_files)).collect();
        assert_eq!(shown, [("", 9), ("com", 1), ("com.acme", 1), ("fisio", 5), ("fisio.imports", 2)]);
        assert_eq!(found["fisio"].directory.as_deref(), Some("fisio"));
        assert_eq!(found["fisio.imports"].directory.as_deref(), Some("fisio/fisio/imports"));
        assert_eq!(found["com"].directory, None);
        assert_eq!(found["fisio"].languages.get("python"), Some(&3));
    }

    #[test]
    fn root_is_the_whole_tree() {
        let found = modules(&[("src/main.ts", "typescript"), ("src/api/routes.ts", "typescript")]);
        assert_eq!(found[""].directory.as_deref(), Some(""));
        assert_eq!(found["api"].directory.as_deref(), Some("src/api"));
    }

    #[test]
    fn document_describes_a_module_before_code() {
        let found = modules(&FILES);
        let files: Vec<&str> = found["fisio"].describing.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(files, ["fisio/AGENTS.md", "fisio/fisio/__init__.py", "fisio/fisio/main.py"]);
    }

    #[test]
    fn depth_and_module_restrict_the_tree() {
        let check = |name: &str, within: &str, depth, expect| {
            assert_eq!(is_shown(name, within, depth), expect, "{name} in {within:?}");
        };
        check("", "", 2, true);
        check("a.b", "", 2, true);
        check("a.b.c", "", 2, false);
        check("a.b.c", "a", 2, true);
        check("a.b", "a.b", 1, true);
        check("ab", "a", 2, false);
        check("", "a", 2, false);
    }
}
