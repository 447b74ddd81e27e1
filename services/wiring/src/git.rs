//! How the cloner reaches sources: the operator's rules, and nothing on its own disk but its clones.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_config::Operator;
use cairn_git::{GitSettings, GitSources, Limits, ReadingPlan, RemotePolicy};
use cairn_wire::RequestSettings;

/// Sources, with clones below a folder.
pub fn sources(operator: &Arc<Operator>, clones: PathBuf) -> GitSources {
    let remotes = RemotePolicy::from(&operator.sources);
    let limits = Limits::from(&operator.sources);
    GitSources::new(GitSettings { clones, remotes, limits, reading_plan: Some(plan(operator)) })
}

/// Which files of a tree on disk may be opened: sync applies the same rules again to the whole tree.
fn plan(operator: &Arc<Operator>) -> Arc<ReadingPlan> {
    let operator = Arc::clone(operator);
    Arc::new(move |files| {
        let files = files.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect();
        match cairn_stages::path_rules(files, &operator, &RequestSettings::default()) {
            Ok(rules) => Box::new(move |path, kind, size_bytes| rules.decide_path(path, kind, size_bytes).is_none()),
            Err(_) => Box::new(|_, _, _| false),
        }
    })
}
