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
        #[command(flatten)]
        filter: LetterFilter,
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
    #[arg(required_unless_present_any = ["all", "code", "stage", "repository"], value_name = "ID")]
    pub ids: Vec<String>,
    /// All that there are.
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    #[command(flatten)]
    pub filter: LetterFilter,
}

/// Which letters are meant: those that are all of it.
#[derive(Args, Debug, Default)]
pub struct LetterFilter {
    /// Given up with this code: `timeout`.
    #[arg(long)]
    pub code: Option<String>,
    /// Of this stage: `embed`.
    #[arg(long)]
    pub stage: Option<String>,
    /// Of this repository; its name, or the last part of it.
    #[arg(long = "repo", value_name = "NAME")]
    pub repository: Option<String>,
}

#[derive(Args, Debug)]
pub struct EnqueueArguments {
    /// URLs of git repositories, or names of registered ones.
    #[arg(required_unless_present = "file", value_name = "URL|NAME")]
    pub targets: Vec<String>,
    /// YAML list of repositories, as `cairn index` takes it. Entries with a `path` are refused: services clone by URL.
    #[arg(long, value_name = "LIST", conflicts_with = "targets")]
    pub file: Option<PathBuf>,
    /// Interactive ones pass bulk ones.
    #[arg(long, value_enum, default_value_t)]
    pub lane: LaneArgument,
    /// Make every record anew, also of what has not changed.
    #[arg(long)]
    pub rebuild: bool,
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
