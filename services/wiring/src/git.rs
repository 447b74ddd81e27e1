//! How the cloner reaches sources: the operator's rules, and nothing on its own disk but its clones.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_config::Operator;
use cairn_git::{GitSettings, GitSources, Limits, ReadingPlan, RemotePolicy, SshSettings};
use cairn_wire::RequestSettings;

/// Sources, with clones below a folder.
pub fn sources(operator: &Arc<Operator>, clones: PathBuf) -> GitSources {
    let allowed = &operator.sources;
    let ssh = allowed.ssh_known_hosts.clone();
    let remotes = RemotePolicy {
        allow_http: allowed.allow_http,
        allow_file: allowed.allow_file,
        allow_private_addresses: allowed.allow_private_addresses,
        ssh: ssh.map(|known_hosts| SshSettings { known_hosts, key: allowed.ssh_key.clone() }),
        token_variables: allowed.tokens.iter().cloned().collect(),
    };
    GitSources::new(GitSettings { clones, remotes, limits: Limits::default(), reading_plan: Some(plan(operator)) })
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
