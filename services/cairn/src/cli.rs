//! Defines the command line and its help texts.

mod questions;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use cairn_gateway::questions::RunsQuestion;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

pub use self::questions::{GraphCommand, GrepArguments, RelationArguments, RunsCommand, SearchArguments, Tests};
use crate::operate::arguments::{DeadLettersCommand, EnqueueArguments, KeysCommand, TopologyCommand};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 failure; 2 wrong usage; 3 nothing found, or no such repository, file or \
                          symbol; 4 invalid settings; 5 the run failed or is partial; 130 cancelled.";

/// The heading of the options that every command has.
const GLOBAL: &str = "Options of every command";

/// Index repositories and ask questions about them, such as "which code does X", "what calls Y" or "how is
/// code like Z usually written here".
#[derive(Parser, Debug)]
#[command(name = "cairn", version, after_help = EXIT_CODES, propagate_version = true, disable_help_subcommand = true)]
pub struct Arguments {
    /// Index directory. Default: the nearest `.cairn` in this directory or a parent directory, otherwise a
    /// new `.cairn` in this directory.
    #[arg(long, global = true, help_heading = GLOBAL, env = "CAIRN_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Configuration file. Default: `config.toml` in the index directory.
    #[arg(long, global = true, help_heading = GLOBAL, env = "CAIRN_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// URL of the query service to use instead of a local index. The API key is read from `CAIRN_API_KEY` or
    /// a file.
    #[arg(long, global = true, help_heading = GLOBAL, env = "CAIRN_SERVER", hide_env_values = true, value_name = "URL")]
    pub server: Option<String>,
    /// File with the API key for the server.
    #[arg(long, global = true, help_heading = GLOBAL, env = "CAIRN_API_KEY_FILE", value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// File with the settings of a cluster. The command connects directly to the servers of the cluster, with
    /// the permissions of the operator.
    #[arg(long, global = true, help_heading = GLOBAL, env = "CAIRN_CLUSTER_CONFIG", value_name = "FILE")]
    pub cluster: Option<PathBuf>,
    /// Tenant of the cluster whose data the command uses. Default: `local`; `keys list` shows all tenants.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Print machine-readable output (JSON).
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Print more log lines. Use the flag once to log the progress of runs, and twice to log details.
    #[arg(short, long, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Parses a command line and reads the environment variables.
    pub fn read(given: &[OsString]) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(given)?;
        let read = Self::from_arg_matches(&matches)?;
        Ok(read.resolved(|name| matches.value_source(name) == Some(ValueSource::CommandLine)))
    }

    /// Selects server or cluster if both are set. A flag has priority over an environment variable. If both
    /// are set by variables, commands that only an operator can run use the cluster, and all other commands
    /// use the server. If both are set by flags, neither is removed, and the command reports the mistake.
    fn resolved(mut self, is_flag: impl Fn(&str) -> bool) -> Self {
        let (is_server, is_cluster) = (is_flag("server"), is_flag("cluster"));
        if self.server.is_none() || self.cluster.is_none() || (is_server && is_cluster) {
            return self;
        }
        let is_operators = self.command.is_operators() || self.tenant.is_some();
        if is_cluster || (!is_server && is_operators) {
            self.server = None;
        } else {
            self.cluster = None;
        }
        self
    }
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Index a repository (path or URL), a YAML list of repositories, or an organisation.
    #[command(
        after_help = "Examples:\n  cairn index .\n  cairn index https://example.org/team/service.git --branch main\n  cairn index . --revision v1.2.0\n  cairn index repositories.yaml\n  cairn index ../app --include '*.go' --exclude 'gen/**'\n  cairn index\n  cairn index --rebuild service\n  cairn index --organisation github:acme --token-env GITHUB_TOKEN --without '*-archive'"
    )]
    Index(IndexArguments),
    /// Search code by words, by meaning and by name.
    #[command(
        after_help = "Examples:\n  cairn search \"parse an http date\"\n  cairn search validateToken --language go --tests exclude\n  cairn search \"retry with backoff\" --repo service --limit 5 --explain\n  cairn search \"rate limit\" --since 7d\n  cairn search config.json --type filename"
    )]
    Search(SearchArguments),
    /// Find every line that contains a text or matches a regular expression.
    #[command(
        after_help = "The expression has the syntax of the Rust crate `regex`. Each line is searched separately, unless -U is used.\n\nExamples:\n  cairn grep 'fn\\s+parse_\\w+'\n  cairn grep -F 'items[0]' --language python -C 2\n  cairn grep -w TODO --repo all --path 'src/**' --tests exclude"
    )]
    Grep(GrepArguments),
    /// Show a file, some of its lines or the definition of a symbol, as stored in the index.
    #[command(
        alias = "read",
        after_help = "Examples:\n  cairn show service src/main.rs\n  cairn show service src/main.rs:10-40\n  cairn show validateToken\n  cairn show 'src/server.py#Server.run'"
    )]
    Show {
        /// Name of a repository, then the target: `PATH`, `PATH:LINE`, `PATH:FIRST-LAST`, a symbol or
        /// `PATH#SYMBOL`. Default for the name: the repository of this directory, otherwise all repositories.
        #[arg(value_names = ["REPOSITORY", "TARGET"], num_args = 1..=2, required = true)]
        targets: Vec<String>,
        /// If several definitions have the name, the definition nearest to this file is used.
        #[arg(long, value_name = "PATH")]
        context_path: Option<String>,
    },
    /// Query the graph: callers, callees, dependencies, dependents, base classes.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn graph callers validateToken\n  cairn graph inherits Importer --repo service\n  cairn graph sample --class exact --seed 7 -n 10"
    )]
    Graph(GraphCommand),
    /// List patterns (recurring shapes of code) with their members and deviations.
    #[command(after_help = "Examples:\n  cairn patterns\n  cairn patterns Importer --repo service")]
    Patterns {
        /// Only patterns whose name contains this text.
        name: Option<String>,
        /// Name or glob of a repository, or `all`. Default: the repository of this directory, otherwise all
        /// repositories. Repeatable.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repositories: Vec<String>,
    },
    /// List the modules of a repository with their descriptions.
    #[command(after_help = "Examples:\n  cairn modules\n  cairn modules fisio.imports --repo service --depth 3")]
    Modules {
        /// Only this module and the modules in it.
        module: Option<String>,
        /// Name of the repository. Default: the repository of the working directory.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repository: Option<String>,
        /// Number of levels, at most 20.
        #[arg(long, default_value_t = 2)]
        depth: usize,
    },
    /// List the indexed repositories.
    #[command(after_help = "Examples:\n  cairn repos --json\n  cairn repos service")]
    Repos {
        /// Only repositories whose name contains this text.
        name: Option<String>,
    },
    /// Show the contents of the index, their age, and the runs in progress.
    #[command(after_help = "Example:\n  cairn status")]
    Status,
    /// Show the number of stored records of each kind.
    #[command(after_help = "Example:\n  cairn stats")]
    Stats,
    /// List index runs, newest first.
    #[command(
        after_help = "Examples:\n  cairn runs --repo service --limit 5\n  cairn runs show r1f0c22ab9e01\n  cairn runs cancel service"
    )]
    Runs {
        #[command(subcommand)]
        action: Option<RunsCommand>,
        /// Maximum number of runs, at most 500 with `--server`.
        #[arg(long, default_value_t = RunsQuestion::DEFAULT_LIMIT)]
        limit: usize,
        /// Only runs of this repository.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repository: Option<String>,
    },
    /// List every path of a repository with its outcome.
    #[command(after_help = "Examples:\n  cairn coverage service\n  cairn coverage service --why vendor/lib.js")]
    Coverage {
        /// Name of the repository. It may be omitted if only one repository exists.
        repository: Option<String>,
        /// Explain why this path is, or is not, in the index.
        #[arg(long, value_name = "PATH")]
        why: Option<String>,
        /// Show only counts.
        #[arg(long)]
        summary: bool,
        /// Only paths with this outcome: `skipped(binary)`, `skipped` or `binary`.
        #[arg(long, value_name = "OUTCOME")]
        outcome: Option<String>,
    },
    /// List the redacted secrets by path, line and rule. Values are never shown.
    #[command(after_help = "Example:\n  cairn secrets service")]
    Secrets {
        /// Name of the repository. It may be omitted if only one repository exists.
        repository: Option<String>,
    },
    /// Watch repositories and index changes.
    #[command(
        after_help = "Working trees and directories are watched through file system events. Bare repositories and URLs are polled every 5 seconds. Ctrl-C or SIGTERM ends the command with exit code 0.\n\nExamples:\n  cairn watch\n  cairn watch service ../app"
    )]
    Watch {
        /// Names or paths. Default: all repositories.
        repositories: Vec<String>,
    },
    /// Mark a file as changed and index its repository.
    #[command(after_help = "Example:\n  cairn invalidate src/main.rs")]
    Invalidate {
        /// Path of the file on disk.
        path: PathBuf,
    },
    /// Remove a repository. It is hidden at once, and then all its data is removed.
    #[command(after_help = "Example:\n  cairn remove service")]
    Remove {
        /// Name of the repository.
        repository: String,
    },
    /// Print digests of the visible records of each repository and of each kind of record.
    #[command(after_help = "Example:\n  cairn fingerprint --repo service")]
    Fingerprint {
        /// Name or glob of a repository, or `all`. Default: all repositories. Repeatable.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repositories: Vec<String>,
    },
    /// Check the index and the machine. Report faults and how to correct them.
    #[command(after_help = "Examples:\n  cairn doctor\n  cairn doctor --repo service --cluster cluster.toml")]
    Doctor {
        /// Read and verify all stored data of this repository. Default: every repository of a local index; in
        /// a cluster, no repository.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repository: Option<String>,
    },
    /// Prepare the servers of a cluster before its services start.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn topology apply --cluster cluster.toml\n  cairn topology check --cluster cluster.toml"
    )]
    Topology(TopologyCommand),
    /// List abandoned jobs, publish them again, or drop them.
    #[command(
        subcommand,
        name = "dead-letters",
        after_help = "Examples:\n  cairn dead-letters list --cluster cluster.toml\n  cairn dead-letters replay --code timeout --stage embed --cluster cluster.toml"
    )]
    DeadLetters(DeadLettersCommand),
    /// Request syncs of repositories in a cluster, and register new repositories.
    #[command(
        after_help = "Examples:\n  cairn enqueue https://example.org/team/service.git --cluster cluster.toml\n  cairn enqueue service --rebuild --cluster cluster.toml\n  cairn enqueue --file repositories.yaml --lane interactive --tenant acme --cluster cluster.toml"
    )]
    Enqueue(EnqueueArguments),
    /// Create, list and revoke API keys for the query service of a cluster.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn keys create --tenant acme --repo 'github.com/acme/*' --label ci --cluster cluster.toml\n  cairn keys revoke cairn_1f0c22ab --cluster cluster.toml"
    )]
    Keys(KeysCommand),
    /// Explain how to work with the index: a topic, or the list of topics.
    #[command(after_help = "Examples:\n  cairn guide\n  cairn guide recovering")]
    Guide {
        /// Name of the topic. Default: the list of topics.
        topic: Option<String>,
    },
    /// Serve the Model Context Protocol on standard input and output.
    #[command(
        after_help = "Example, in the configuration of an agent:\n  { \"command\": \"cairn\", \"args\": [\"mcp\"] }\nOr by hand: cairn mcp"
    )]
    Mcp,
    /// Print a completion script.
    #[command(
        after_help = "Examples:\n  cairn completions bash > ~/.local/share/bash-completion/completions/cairn\n  cairn completions zsh > ~/.zfunc/_cairn"
    )]
    Completions {
        /// The shell that reads the script.
        shell: Shell,
    },
    /// Parses the files that a parent process sends.
    #[command(name = "parse-worker", hide = true)]
    ParseWorker,
    /// Measure the ranking with questions about real repositories (for developers of Cairn).
    #[command(hide = true, disable_help_flag = true)]
    Eval {
        /// The arguments of `cairn-eval`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

impl Command {
    /// Whether only the operator of a cluster can run the command. Query services do not support such
    /// commands.
    fn is_operators(&self) -> bool {
        matches!(
            self,
            Command::Topology(_)
                | Command::DeadLetters(_)
                | Command::Enqueue(_)
                | Command::Keys(_)
                | Command::Doctor { .. }
                | Command::Remove { .. }
        )
    }
}

#[derive(Args, Debug)]
pub struct IndexArguments {
    /// Path, URL, list file (`.yaml`, `.yml`), or name of a known repository. Default: every known
    /// repository.
    pub target: Option<String>,
    /// Only these files (glob for the name or path). Repeatable. Later calls without the option keep the
    /// stored patterns. `--include ''` removes the stored patterns. `--exclude` and `--include-override` work
    /// in the same way.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub include: Vec<String>,
    /// Exclude these files. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub exclude: Vec<String>,
    /// Include these files, even if the default patterns exclude them. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub include_override: Vec<String>,
    /// Maximum size of a file in bytes. 0 selects the hard cap of 10 MiB.
    #[arg(long, value_name = "BYTES", requires = "target", allow_negative_numbers = true)]
    pub max_size: Option<i64>,
    /// Name of the repository. Default: the name of the remote or of the folder.
    #[arg(long, requires = "target")]
    pub name: Option<String>,
    /// Branch of a bare repository or URL. Default: the default branch of the repository.
    #[arg(long, requires = "target")]
    pub branch: Option<String>,
    /// Commit id or tag to index instead of a branch. For a repository on this machine, an abbreviated commit
    /// id and `HEAD` are also accepted. The default name of the repository is then `NAME@REVISION`.
    #[arg(long, value_name = "COMMIT|TAG", requires = "target", conflicts_with = "branch")]
    pub revision: Option<String>,
    /// Write all records again. Damaged data is removed first.
    #[arg(long)]
    pub rebuild: bool,
    #[command(flatten)]
    pub hosting: OrganisationArguments,
}

#[derive(Args, Debug)]
pub struct OrganisationArguments {
    /// All repositories of an organisation: `github:acme`, `gitlab:group/subgroup`, `gitea:acme`,
    /// `forgejo:acme`.
    #[arg(long, value_name = "KIND:OWNER", conflicts_with = "target")]
    pub organisation: Option<String>,
    /// URL of the hosting service's API. Default: the API of github.com or gitlab.com.
    #[arg(long, value_name = "URL", requires = "organisation")]
    pub hosting_url: Option<String>,
    /// Environment variable that contains a token with permission to list the repositories. Without a token
    /// only public repositories are listed.
    #[arg(long, value_name = "NAME", requires = "organisation")]
    pub token_env: Option<String>,
    /// The owner is a user, not an organisation.
    #[arg(long, requires = "organisation")]
    pub user: bool,
    /// Only repositories whose names match this glob. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "organisation")]
    pub only: Vec<String>,
    /// Exclude repositories whose names match this glob, even if `--only` includes them. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "organisation")]
    pub without: Vec<String>,
    /// Include archived repositories.
    #[arg(long, requires = "organisation")]
    pub archived: bool,
    /// Include forks.
    #[arg(long, requires = "organisation")]
    pub forks: bool,
}
