//! Defines the command-line arguments of the operator commands.

use std::path::PathBuf;

use cairn_domain::Lane;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand, Debug)]
pub enum TopologyCommand {
    /// Create missing queues, exchanges, policies, constraints, collections and the bucket. It is safe to run
    /// this command at any time.
    Apply,
    /// Report missing objects. This command changes nothing.
    Check,
}

#[derive(Subcommand, Debug)]
pub enum DeadLettersCommand {
    /// List abandoned jobs, oldest first.
    List {
        /// Maximum number of dead letters.
        #[arg(long, short = 'n', default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        filter: LetterFilter,
    },
    /// Show all details of one dead letter, including its body.
    Show {
        /// The id that `list` shows.
        id: String,
    },
    /// Publish the job of a dead letter again. If the job is no longer needed, request a sync of its
    /// repository instead.
    Replay(ChosenLetters),
    /// Delete a dead letter permanently. The files of the job are treated as failed until the next run.
    Drop(ChosenLetters),
}

#[derive(Args, Debug)]
pub struct ChosenLetters {
    /// Ids of dead letters, as `list` shows them.
    #[arg(required_unless_present_any = ["all", "code", "stage", "repository"], value_name = "ID")]
    pub ids: Vec<String>,
    /// Select all dead letters.
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    #[command(flatten)]
    pub filter: LetterFilter,
}

/// Selects dead letters that match all given fields.
#[derive(Args, Debug, Default)]
pub struct LetterFilter {
    /// Only letters with this error code, for example `timeout`.
    #[arg(long)]
    pub code: Option<String>,
    /// Only letters of this stage, for example `embed`.
    #[arg(long)]
    pub stage: Option<String>,
    /// Only letters of the repository with this name. The last part of the name is sufficient.
    #[arg(long = "repo", value_name = "NAME")]
    pub repository: Option<String>,
}

#[derive(Args, Debug)]
pub struct EnqueueArguments {
    /// URLs of git repositories, or names of registered repositories.
    #[arg(required_unless_present = "file", value_name = "URL|NAME")]
    pub targets: Vec<String>,
    /// YAML list of repositories, in the form that `cairn index` reads. Entries with a `path` are refused,
    /// because services clone by URL.
    #[arg(long, value_name = "LIST", conflicts_with = "targets")]
    pub file: Option<PathBuf>,
    /// Interactive requests run before bulk requests.
    #[arg(long, value_enum, default_value_t)]
    pub lane: LaneArgument,
    /// Write every record again, including the records of unchanged files.
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
    /// Create a key for the tenant and show it once.
    Create(NewKeyArguments),
    /// List keys with their ids. Without a tenant, list the keys of all tenants.
    List,
    /// Revoke a key. The revocation takes effect within seconds.
    Revoke {
        /// The id that `list` shows: `cairn_1f0c22ab`.
        id: String,
    },
}

#[derive(Args, Debug)]
pub struct NewKeyArguments {
    /// Full name of a repository that the key may see, or a glob that matches full names. Repeatable.
    /// Default: all repositories of the tenant.
    #[arg(long = "repo", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// The key may also request and cancel index runs.
    #[arg(long)]
    pub may_index: bool,
    /// A note, for example the user of the key.
    #[arg(long, default_value = "")]
    pub label: String,
    /// The key expires after this many days.
    #[arg(long, value_name = "DAYS")]
    pub expires_in_days: Option<u32>,
    /// Keep the key in this file. If the file contains a valid key of the tenant, show that key and create
    /// none. Otherwise write the new key to the file, which only its owner can read.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}
