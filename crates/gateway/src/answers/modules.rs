//! The modules of a repository.

use std::collections::BTreeMap;

use cairn_search::{Module, ModuleTree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{PageInfo, SourceStamp};

/// The modules of a repository, sorted by name, so that each module comes before the modules in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModuleList {
    pub repository: String,
    pub modules: Vec<ModuleReport>,
    pub sources: Vec<SourceStamp>,
    #[serde(flatten)]
    pub page: PageInfo,
}

/// A module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModuleReport {
    /// The name of the module in the form that search filters use, such as `fisio.imports`. Empty for the
    /// root.
    pub module: String,
    /// Null if no folder has exactly this name.
    pub directory: Option<String>,
    /// The first paragraph of the document or of the code file that describes the module.
    pub description: Option<String>,
    /// Number of indexed files in the module, including all modules in it.
    pub num_files: u64,
    /// Number of files by language.
    pub files: BTreeMap<String, u64>,
}

impl ModuleList {
    pub fn of(tree: &ModuleTree, modules: Vec<Module>, page: PageInfo) -> Self {
        let modules = modules.into_iter().map(ModuleReport::of).collect();
        Self { repository: tree.repository.clone(), modules, sources: SourceStamp::all(&tree.stamps), page }
    }
}

impl ModuleReport {
    fn of(module: Module) -> Self {
        let Module { name, directory, description, num_files, languages, .. } = module;
        Self { module: name, directory, description, num_files, files: languages }
    }
}
