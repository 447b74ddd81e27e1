//! Defines the command line.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;

use crate::choices::{Half, NonsenseSet, Way};

/// Ask questions about real repositories and measure how well the answers are ranked.
#[derive(Parser, Debug)]
#[command(name = "cairn eval", version)]
pub(crate) struct Arguments {
    /// The half of the repositories to ask about. The half `kept` is held out: its results must not influence
    /// the ranking.
    #[arg(long, value_enum, default_value_t = Half::Tuning)]
    pub(crate) half: Half,
    /// Index only this repository and ask only about it, for example `go-asynq`. Repeatable.
    #[arg(long, value_name = "REPOSITORY")]
    pub(crate) only: Vec<String>,
    /// Also measure the ranking with one part switched off at a time, with only terms (BM25), and with only
    /// vectors.
    #[arg(long)]
    pub(crate) ablations: bool,
    /// Also ask another build of `cairn`, and measure the ranking with only terms (BM25) and with only
    /// vectors. Also print the share of the gap that the shipped ranking closes. The gap is the difference
    /// between the NDCG@10 of that build and of the best order.
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Only fetch the sources of both halves and check that they contain the answers.
    #[arg(long)]
    pub(crate) check: bool,
    /// Also print the NDCG@10 of each question, and the questions that are wrongly refused or wrongly
    /// answered.
    #[arg(long)]
    pub(crate) questions: bool,
    /// Instead of asking the questions, ask for misspelled names. COUNT is the number of names of each kind
    /// in each repository.
    #[arg(long, value_name = "COUNT")]
    pub(crate) names: Option<usize>,
    /// With `--names`, the way in which the names are requested.
    #[arg(long, value_enum, default_value_t = Way::Resolver)]
    pub(crate) way: Way,
    /// With `--names`, also ask for this number of names that do not exist.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) absent: usize,
    /// With `--names`, the seed of the random misspellings.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// With `--names`, index these folders, and use the names in their code instead of the names in the
    /// repositories of the question files.
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// Also ask the nonsense questions of this file in the folder `nonsense`, and print how many are refused.
    #[arg(long, value_enum, value_name = "SET")]
    pub(crate) nonsense: Option<NonsenseSet>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder with the question files.
    #[arg(long, value_name = "DIR", default_value = "eval")]
    pub(crate) set: PathBuf,
    /// Folder for sources and index. Default: `cairn/eval` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// The program `cairn`, which indexes the sources. Default: `cairn` in the folder of this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn cache(&self) -> anyhow::Result<PathBuf> {
        if let Some(cache) = &self.cache {
            return Ok(cache.clone());
        }
        let of_cairn = std::env::var_os("CAIRN_CACHE").map(PathBuf::from);
        let of_user = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/cairn"));
        let cache = of_cairn.or_else(of_user).context("set --cache, because HOME is not set")?;
        Ok(cache.join("eval"))
    }

    pub(crate) fn program(&self) -> anyhow::Result<PathBuf> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let own = std::env::current_exe().context("cannot find the path of this program")?;
        let program = own.with_file_name("cairn");
        anyhow::ensure!(program.is_file(), "{} does not exist; set --program", program.display());
        Ok(program)
    }
}
