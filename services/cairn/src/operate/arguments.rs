//! What can be typed about a cluster.

use std::path::PathBuf;

use cairn_domain::Lane;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand, Debug)]
pub enum TopologyCommand {
    /// Make what is missing: queues, exchanges, policies, constraints, the bucket, collections. May be run at any time.
    Apply,
    /// Say what is missing, and change nothing.
    Check,
}

#[derive(Subcommand, Debug)]
pub enum DeadLettersCommand {
    /// Jobs that were given up, oldest first.
    List {
        #[arg(long, short = 'n', default_value_t = 100)]
        limit: usize,
    },
    /// All that is known of one, its body included.
    Show { id: String },
    /// Hand it out again; if nobody waits for it any more, ask for a sync of its repository instead.
    Replay(ChosenLetters),
    /// Forget it for good. What it was about stays failed until the next run.
    Drop(ChosenLetters),
}

#[derive(Args, Debug)]
pub struct ChosenLetters {
    /// As `list` shows them.
    #[arg(required_unless_present = "all", value_name = "ID")]
    pub ids: Vec<String>,
    /// All that there are.
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
}

#[derive(Args, Debug)]
pub struct EnqueueArguments {
    /// URLs of git repositories.
    #[arg(required_unless_present = "file", value_name = "URL")]
    pub urls: Vec<String>,
    /// YAML list of repositories, as `cairn index` takes it. Entries with a `path` are refused: services clone by URL.
    #[arg(long, value_name = "LIST", conflicts_with = "urls")]
    pub file: Option<PathBuf>,
    /// Interactive ones pass bulk ones.
    #[arg(long, value_enum, default_value_t)]
    pub lane: LaneArgument,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum LaneArgument {
    Interactive,
    #[default]
    Bulk,
}

impl From<LaneArgument> for Lane {
    fn from(lane: LaneArgument) -> Self {
        match lane {
            LaneArgument::Interactive => Lane::Interactive,
            LaneArgument::Bulk => Lane::Bulk,
        }
    }
}

#[derive(Subcommand, Debug)]
pub enum KeysCommand {
    /// Make a key for the tenant and show it, this once.
    Create(NewKeyArguments),
    /// Keys by the part of them that is no secret; of all tenants, if none is named.
    List,
    /// The key opens nothing from now on.
    Revoke {
        /// Its beginning, as `list` shows it: `cairn_1f0c22ab`.
        id: String,
    },
}

#[derive(Args, Debug)]
pub struct NewKeyArguments {
    /// Full name of a repository that the key may see, or a glob over names. Repeatable. Default: every one of the tenant.
    #[arg(long = "repo", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// The key may also ask for index runs and cancel them.
    #[arg(long)]
    pub may_index: bool,
    /// Whom or what it is for.
    #[arg(long, default_value = "")]
    pub label: String,
    /// After so many days it opens nothing.
    #[arg(long, value_name = "DAYS")]
    pub expires_in_days: Option<u32>,
}
