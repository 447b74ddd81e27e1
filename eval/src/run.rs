//! Fetches and indexes the repositories, asks the questions, and prints the measurements.

use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::ask::{Index, Ranked};
use crate::fetch;
use crate::grade::grade;
use crate::graded::{GradedQuestion, Reach};
use crate::index::index;
use crate::names::{self, NameOptions};
use crate::questions::{QuestionFile, add_nonsense, read};
use crate::report::{self, Measured};
use crate::settings::Setting;

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let (Some(count), false) = (arguments.names, arguments.folder.is_empty()) {
        return names_of_folders(arguments, count).await;
    }
    let mut files = read(&arguments.set, arguments.half, &arguments.only)?;
    if let Some(half) = arguments.nonsense {
        add_nonsense(&arguments.set, half, &mut files)?;
    }
    let (cache, program) = (arguments.cache()?, arguments.program()?);
    let mut folders: Vec<PathBuf> = Vec::new();
    for file in &files {
        folders.push(fetch::sources(&cache, &file.source)?.canonicalize()?);
    }
    // The halves have separate indexes, so that answers about one half contain no results from the other
    // half.
    let home = cache.join("index").join(arguments.half.as_str());
    for folder in &folders {
        index(&program, &home, folder)?;
    }
    let open = Index::open(&home).await?;
    if let Some(count) = arguments.names {
        return ask_for_names(&open, &folders, arguments, count).await;
    }
    let mut measured = Vec::new();
    for setting in Setting::all(arguments.ablations) {
        let asked = ask_all(&open.with(setting.signals), &files, &folders).await?;
        measured.push(Measured { setting: setting.name, asked });
    }
    report::print(arguments, &measured);
    Ok(())
}

/// Asks for wrong names of repositories that have no question file.
async fn names_of_folders(arguments: &Arguments, count: usize) -> anyhow::Result<()> {
    let home = arguments.cache()?.join("index").join("folders");
    let mut folders = Vec::new();
    for folder in &arguments.folder {
        let folder = folder.canonicalize()?;
        index(&arguments.program()?, &home, &folder)?;
        folders.push(folder);
    }
    ask_for_names(&Index::open(&home).await?, &folders, arguments, count).await
}

async fn ask_for_names(index: &Index, folders: &[PathBuf], arguments: &Arguments, count: usize) -> anyhow::Result<()> {
    let repositories: Vec<String> =
        folders.iter().map(|folder| index.name_of(folder)).collect::<anyhow::Result<_>>()?;
    let options = NameOptions {
        count,
        way: arguments.way,
        num_absent: arguments.absent,
        seed: arguments.seed,
        misses: arguments.questions,
    };
    names::run(index, &repositories, options).await
}

async fn ask_all(index: &Index, files: &[QuestionFile], folders: &[PathBuf]) -> anyhow::Result<Vec<GradedQuestion>> {
    let mut asked = Vec::new();
    for (file, folder) in files.iter().zip(folders) {
        let name = index.name_of(folder)?;
        for reach in [Reach::Alone, Reach::Together] {
            let within = (reach == Reach::Alone).then_some(name.as_str());
            for question in &file.questions {
                let Ranked { results, score, took } = index.ask(&question.text, within, &name).await?;
                asked.push(GradedQuestion {
                    id: question.id.clone(),
                    kind: question.kind,
                    language: file.source.language.clone(),
                    checkout: file.source.checkout,
                    reach,
                    grades: grade(&results, &question.answers),
                    num_results: results.len(),
                    absent: question.absent.clone(),
                    score,
                    took,
                });
            }
        }
    }
    Ok(asked)
}
