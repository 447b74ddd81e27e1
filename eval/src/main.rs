//! `cairn eval`: asks the questions of `eval/questions` and prints how well the answers are ranked.
//!
//! The program fetches the sources from the public registries and indexes them with `cairn index`. It asks
//! all questions in the process of `cairn-eval`, so that it can switch off single parts of the ranking.

mod answer_check;
mod answer_source;
mod arguments;
mod ask;
mod choices;
mod compared;
mod comparison;
mod curve;
mod fetch;
mod grade;
mod graded;
mod groups;
mod index;
mod mean;
mod names;
mod questions;
mod report;
mod run;
mod settings;
mod shared_words;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(run::run(&arguments)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
