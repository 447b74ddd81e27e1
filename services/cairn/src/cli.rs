//! What can be typed.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::operate::arguments::{DeadLettersCommand, EnqueueArguments, KeysCommand, TopologyCommand};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 failure; 2 wrong usage; 3 nothing found, or no such repository, file or \
                          symbol; 4 invalid settings; 5 the run failed or is partial; 130 cancelled.";

/// Index repositories and ask them questions: where is the code that does X, what calls Y, how do things like Z look here.
#[derive(Parser, Debug)]
#[command(name = "cairn", version, after_help = EXIT_CODES, propagate_version = true, disable_help_subcommand = true)]
pub struct Arguments {
    /// Index directory. Default: the nearest `.cairn` at or above this directory, else `.cairn` here.
    #[arg(long, global = true, env = "CAIRN_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Configuration file. Default: `config.toml` in the index directory.
    #[arg(long, global = true, env = "CAIRN_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Ask this query service instead of an index of this machine. The key is read from `CAIRN_API_KEY` or a file.
    #[arg(long, global = true, env = "CAIRN_SERVER", value_name = "URL")]
    pub server: Option<String>,
    /// File that holds the key to the server.
    #[arg(long, global = true, env = "CAIRN_API_KEY_FILE", value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// File with the settings of a cluster: speak to its servers, as whoever runs it.
    #[arg(long, global = true, env = "CAIRN_CLUSTER_CONFIG", value_name = "FILE")]
    pub cluster: Option<PathBuf>,
    /// Tenant of the cluster whose repositories or keys are meant. Default: `local`; for a list of keys, all.
    #[arg(long, global = true, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Machine-readable output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Say more: once for progress of runs, twice for details.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// What was typed, and what the variables say besides.
    pub fn read() -> Self {
        let matches = Self::command().get_matches();
        let read = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        read.meant(|name| matches.value_source(name) == Some(ValueSource::CommandLine))
    }

    /// The one place that is asked. Variables may name a server and a cluster: a flag wins over them, and of the two the
    /// cluster is for what only its operator does. Two flags stay: that is a mistake to be told.
    fn meant(mut self, is_flag: impl Fn(&str) -> bool) -> Self {
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
    /// Index a repository (path or git URL), a YAML list of them, or an organisation.
    #[command(
        after_help = "Examples:\n  cairn index .\n  cairn index https://example.org/team/service.git --branch main\n  cairn index repositories.yaml\n  cairn index ../app --include '*.go' --exclude 'gen/**'\n  cairn index\n  cairn index --rebuild service\n  cairn index --organisation github:acme --token-env GITHUB_TOKEN --without '*-archive'"
    )]
    Index(IndexArguments),
    /// Search code by words, by meaning and by name.
    #[command(
        after_help = "Examples:\n  cairn search \"parse an http date\"\n  cairn search validateToken --language go --tests exclude\n  cairn search \"retry with backoff\" --repo service --limit 5 --explain\n  cairn search \"rate limit\" --since 7d"
    )]
    Search(SearchArguments),
    /// Show a file or lines of it, as they are in the index.
    #[command(after_help = "Examples:\n  cairn show service src/main.rs\n  cairn show service src/main.rs:10-40")]
    Show {
        /// Name of the repository.
        repository: String,
        /// `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`.
        path: String,
    },
    /// Ask the graph: callers, callees, dependencies, dependents, bases.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn graph callers validateToken\n  cairn graph inherits Importer --repo service\n  cairn graph sample --class exact --seed 7 -n 10"
    )]
    Graph(GraphCommand),
    /// Recurring shapes: what they are called, who follows them, who deviates.
    #[command(after_help = "Examples:\n  cairn patterns\n  cairn patterns Importer --repo service")]
    Patterns {
        /// Only patterns whose name contains this.
        name: Option<String>,
        #[arg(long = "repo", value_name = "NAME")]
        repositories: Vec<String>,
    },
    /// Indexed repositories.
    #[command(after_help = "Example:\n  cairn repos --json")]
    Repos,
    /// What is indexed, how fresh it is, and what is under way.
    #[command(after_help = "Example:\n  cairn status")]
    Status,
    /// Counts of what is stored.
    #[command(after_help = "Example:\n  cairn stats")]
    Stats,
    /// Index runs, newest first.
    #[command(
        after_help = "Examples:\n  cairn runs --repo service --limit 5\n  cairn runs show r1f0c22ab9e01\n  cairn runs cancel service"
    )]
    Runs {
        #[command(subcommand)]
        action: Option<RunsCommand>,
        /// Runs, at most so many; with `--server` 500 at most.
        #[arg(long, default_value_t = 20)]
        limit: usize,
        #[arg(long = "repo", value_name = "NAME")]
        repository: Option<String>,
    },
    /// Every path of a repository with what became of it.
    #[command(after_help = "Examples:\n  cairn coverage service\n  cairn coverage service --why vendor/lib.js")]
    Coverage {
        /// Name of the repository; not needed if there is only one.
        repository: Option<String>,
        /// Why this path is, or is not, in the index.
        #[arg(long, value_name = "PATH")]
        why: Option<String>,
        /// Only counts.
        #[arg(long)]
        summary: bool,
    },
    /// Secrets that were redacted: path, line and rule, never the value.
    #[command(after_help = "Example:\n  cairn secrets service")]
    Secrets { repository: Option<String> },
    /// Follow repositories and index what changes.
    #[command(
        after_help = "Working trees and directories are followed by their events, bare repositories and URLs are asked every 5 seconds. Ctrl-C or SIGTERM ends it with exit code 0.\n\nExamples:\n  cairn watch\n  cairn watch service ../app"
    )]
    Watch {
        /// Names or paths; all repositories if none is given.
        repositories: Vec<String>,
    },
    /// Mark a file as changed and index its repository.
    #[command(after_help = "Example:\n  cairn invalidate src/main.rs")]
    Invalidate {
        /// Path of the file on disk.
        path: PathBuf,
    },
    /// Forget a repository: hidden at once, then every trace removed.
    #[command(after_help = "Example:\n  cairn remove service")]
    Remove { repository: String },
    /// A digest of everything readers can see, by repository and kind of record.
    #[command(after_help = "Example:\n  cairn fingerprint --repo service")]
    Fingerprint {
        #[arg(long = "repo", value_name = "NAME")]
        repositories: Vec<String>,
    },
    /// Check the index and the machine; say what is wrong and what to do.
    #[command(after_help = "Examples:\n  cairn doctor\n  cairn doctor --repo service --cluster cluster.toml")]
    Doctor {
        /// Read all that is stored of this repository and verify it. On this machine every one is, if none is named.
        #[arg(long = "repo", value_name = "NAME")]
        repository: Option<String>,
    },
    /// What must be in the servers of a cluster before its services start.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn topology apply --cluster cluster.toml\n  cairn topology check --cluster cluster.toml"
    )]
    Topology(TopologyCommand),
    /// Jobs that were given up: look at them, hand them out again, forget them.
    #[command(
        subcommand,
        name = "dead-letters",
        after_help = "Examples:\n  cairn dead-letters list --cluster cluster.toml\n  cairn dead-letters replay --code timeout --stage embed --cluster cluster.toml"
    )]
    DeadLetters(DeadLettersCommand),
    /// Ask a cluster for syncs of repositories, and register new ones.
    #[command(
        after_help = "Examples:\n  cairn enqueue https://example.org/team/service.git --cluster cluster.toml\n  cairn enqueue service --rebuild --cluster cluster.toml\n  cairn enqueue --file repositories.yaml --lane interactive --tenant acme --cluster cluster.toml"
    )]
    Enqueue(EnqueueArguments),
    /// Keys to the query service of a cluster.
    #[command(
        subcommand,
        after_help = "Examples:\n  cairn keys create --tenant acme --repo 'github.com/acme/*' --label ci --cluster cluster.toml\n  cairn keys revoke cairn_1f0c22ab --cluster cluster.toml"
    )]
    Keys(KeysCommand),
    /// Speak the Model Context Protocol on standard input and output.
    #[command(
        after_help = "Example, in the configuration of an agent:\n  { \"command\": \"cairn\", \"args\": [\"mcp\"] }\nOr by hand: cairn mcp"
    )]
    Mcp,
    /// Print a completion script.
    #[command(
        after_help = "Examples:\n  cairn completions bash > ~/.local/share/bash-completion/completions/cairn\n  cairn completions zsh > ~/.zfunc/_cairn"
    )]
    Completions { shell: Shell },
    /// Parses what a parent process sends.
    #[command(name = "parse-worker", hide = true)]
    ParseWorker,
}

impl Command {
    /// Whether only whoever runs a cluster can do it: no query service does.
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
    /// Path, URL, list file (`.yaml`, `.yml`), or name of a known repository. Default: every known repository again.
    pub target: Option<String>,
    /// Only these files (glob on name or path). Repeatable.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub include: Vec<String>,
    /// Not these files. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub exclude: Vec<String>,
    /// Bring back what the default excludes hide. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "target")]
    pub include_override: Vec<String>,
    /// Largest file in bytes; 0 is the hard cap of 10 MiB.
    #[arg(long, value_name = "BYTES", requires = "target")]
    pub max_size: Option<u64>,
    /// Name of the repository. Default: from the remote or the folder.
    #[arg(long, requires = "target")]
    pub name: Option<String>,
    /// Branch of a bare repository or URL. Default: its default branch.
    #[arg(long, requires = "target")]
    pub branch: Option<String>,
    /// Make every record anew; what is damaged is removed first.
    #[arg(long)]
    pub rebuild: bool,
    #[command(flatten)]
    pub hosting: OrganisationArguments,
}

#[derive(Args, Debug)]
pub struct OrganisationArguments {
    /// All repositories that an organisation has: `github:acme`, `gitlab:group/subgroup`, `gitea:acme`, `forgejo:acme`.
    #[arg(long, value_name = "KIND:OWNER", conflicts_with = "target")]
    pub organisation: Option<String>,
    /// Where the service's API is. Default: that of github.com or gitlab.com.
    #[arg(long, value_name = "URL", requires = "organisation")]
    pub hosting_url: Option<String>,
    /// Variable that holds a token which may read the list. Without one only what is public is listed.
    #[arg(long, value_name = "NAME", requires = "organisation")]
    pub token_env: Option<String>,
    /// The owner is a user.
    #[arg(long, requires = "organisation")]
    pub user: bool,
    /// Only repositories of these names (glob). Repeatable.
    #[arg(long, value_name = "GLOB", requires = "organisation")]
    pub only: Vec<String>,
    /// Not these; wins over `--only`. Repeatable.
    #[arg(long, value_name = "GLOB", requires = "organisation")]
    pub without: Vec<String>,
    /// Archived ones as well.
    #[arg(long, requires = "organisation")]
    pub archived: bool,
    /// Forks as well.
    #[arg(long, requires = "organisation")]
    pub forks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Tests {
    #[default]
    Include,
    Exclude,
    Only,
}

#[derive(Args, Debug)]
pub struct SearchArguments {
    /// What to look for.
    pub query: String,
    /// Repository by name or glob; `all` for every one. Default: the one this directory belongs to, else all. Repeatable.
    #[arg(long = "repo", value_name = "NAME")]
    pub repositories: Vec<String>,
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Vec<String>,
    /// Glob on the path. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<String>,
    /// Module prefix, e.g. `fisio.imports`. Repeatable.
    #[arg(long, value_name = "PREFIX")]
    pub module: Vec<String>,
    /// Kind of chunk: function, method, class, section … Repeatable.
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    #[arg(long, value_enum, default_value_t)]
    pub tests: Tests,
    /// Tag of `.cairn.yaml`. Repeatable; all must be there.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only what changed since then: a day (2026-01-31), or how long ago (36h, 7d, 2w).
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Results, at most 100.
    #[arg(long, short = 'n', default_value_t = 10)]
    pub limit: usize,
    /// Tokens of the answer, at most; with `--server` 200000 at most.
    #[arg(long, default_value_t = 8000)]
    pub max_tokens: usize,
    /// The next page of an earlier answer.
    #[arg(long)]
    pub cursor: Option<String>,
    /// Say what each score is made of.
    #[arg(long)]
    pub explain: bool,
}

#[derive(Args, Debug)]
pub struct RelationArguments {
    /// Symbol (`name`, `Class.method`) or path of a file.
    pub name: String,
    #[arg(long = "repo", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// Edges, at most so many; with `--server` 500 at most.
    #[arg(long, short = 'n', default_value_t = 50)]
    pub limit: usize,
}

#[derive(Subcommand, Debug)]
pub enum GraphCommand {
    /// What calls it.
    Callers(RelationArguments),
    /// What it calls.
    Callees(RelationArguments),
    /// What it imports, refers to or depends on.
    Deps(RelationArguments),
    /// What imports, refers to or depends on it.
    Dependents(RelationArguments),
    /// Bases and derived classes.
    Inherits(RelationArguments),
    /// Draw edges of a class at random, for review.
    Sample {
        /// exact, import, heuristic or ambiguous.
        #[arg(long, value_name = "CLASS")]
        class: String,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Edges, at most so many; with `--server` 500 at most.
        #[arg(short = 'n', default_value_t = 20)]
        count: usize,
        /// Kinds of edges, e.g. calls, references, extends; all if none is given.
        #[arg(long = "kind", value_name = "KIND")]
        kinds: Vec<String>,
        #[arg(long = "repo", value_name = "NAME")]
        repositories: Vec<String>,
    },
}

#[derive(Subcommand, Debug)]
pub enum RunsCommand {
    /// One run, with what came of it and its errors.
    Show {
        /// As `runs` shows it.
        #[arg(value_name = "ID")]
        run: String,
        /// Its repository: older runs are found by it alone.
        #[arg(long = "repo", value_name = "NAME")]
        repository: Option<String>,
    },
    /// End unfinished runs (of one repository, or all), and take back what was asked for and has not begun; the old
    /// generation stays.
    Cancel {
        repository: Option<String>,
        /// This run alone, as `runs` shows it.
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use cairn_gateway::Caps;

    use super::*;

    /// Where a command goes to if the words are typed and the variables name both.
    fn place(words: &[&str], flags: &[&str]) -> (bool, bool) {
        let both = ["cairn", "--server", "http://a", "--cluster", "c.toml"];
        let typed = Arguments::try_parse_from(both.iter().chain(words)).expect("valid");
        let meant = typed.meant(|name| flags.contains(&name));
        (meant.server.is_some(), meant.cluster.is_some())
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_the_verb_decides_between_two() {
        let (server, cluster) = ((true, false), (false, true));
        for words in [&["search", "x"][..], &["runs"], &["index", "u"], &["runs", "cancel"], &["mcp"], &["status"]] {
            assert_eq!(place(words, &[]), server, "{words:?}");
            assert_eq!(place(words, &["cluster"]), cluster, "{words:?}");
        }
        for words in [&["topology", "check"][..], &["keys", "list"], &["enqueue", "u"], &["doctor"], &["remove", "r"]] {
            assert_eq!(place(words, &[]), cluster, "{words:?}");
            assert_eq!(place(words, &["server"]), server, "{words:?}");
        }
        assert_eq!(place(&["repos", "--tenant", "acme"], &[]), cluster);
        assert_eq!(place(&["search", "x"], &["server", "cluster"]), (true, true));
    }

    #[test]
    fn what_a_service_caps_is_in_the_help() {
        let help_of = |path: &[&str]| {
            let mut command = Arguments::command();
            command.build();
            let mut found = &mut command;
            for word in path {
                found = found.find_subcommand_mut(word).expect("a command");
            }
            found.render_long_help().to_string()
        };
        let Caps { edges, runs, tokens, .. } = Caps::OF_A_SERVICE;
        for (path, cap) in [
            (&["graph", "callers"][..], edges),
            (&["graph", "sample"], edges),
            (&["runs"], runs),
            (&["search"], tokens),
        ] {
            let (help, said) = (help_of(path), format!("with `--server` {cap} at most"));
            assert!(help.contains(&said), "{path:?} does not say `{said}`: {help}");
        }
    }
}
