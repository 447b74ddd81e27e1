//! Fetches and indexes the repositories, asks the questions, and prints the measurements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::answer_check::check_answers;
use crate::answer_source::AnswerSource;
use crate::arguments::Arguments;
use crate::ask::{Index, Ranked};
use crate::compared::ComparedProgram;
use crate::fetch;
use crate::grade::grade;
use crate::graded::{GradedQuestion, Measured, Reach};
use crate::index::{home, index};
use crate::names::{self, NameOptions};
use crate::questions::{QuestionFile, QuestionSet, SourcePackage, add_nonsense};
use crate::report;
use crate::settings::Setting;
use crate::shared_words::SharedWords;

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let (Some(count), false) = (arguments.names, arguments.folder.is_empty()) {
        return names_of_folders(arguments, count).await;
    }
    let (set, cache) = (QuestionSet::read(&arguments.set)?, arguments.cache()?);
    if arguments.check {
        return check(&set, &cache, &arguments.only);
    }
    let mut files = set.half(arguments.half, &arguments.only)?;
    if let Some(nonsense) = arguments.nonsense {
        add_nonsense(&arguments.set, nonsense, &mut files)?;
    }
    if let Some(count) = arguments.names {
        let folders = fetched(&cache, files.iter().map(|file| &file.source))?;
        let index = indexed(arguments, &cache, &folders).await?;
        return ask_for_names(&index, &folders, arguments, count).await;
    }
    let searched = set.searched(&arguments.only);
    let folders = fetched(&cache, searched.iter().copied())?;
    let folder_of: BTreeMap<&str, &PathBuf> =
        searched.iter().map(|package| package.id.as_str()).zip(&folders).collect();
    let files: Vec<(&QuestionFile, &PathBuf)> =
        files.iter().map(|file| (file, folder_of[file.source.id.as_str()])).collect();
    files.iter().try_for_each(|(file, folder)| check_answers(file, folder))?;
    let measured = measure(arguments, &cache, &folders, &files).await?;
    report::print(arguments, &measured);
    Ok(())
}

/// Fetches the sources, and checks that they contain the answers. Also checks that at least half of the
/// questions about behaviour and architecture share no word with their answers.
fn check(set: &QuestionSet, cache: &Path, only: &[String]) -> anyhow::Result<()> {
    let is_wanted = |file: &&QuestionFile| only.is_empty() || only.contains(&file.source.id);
    let (mut num_faulty, mut shared) = (0, SharedWords::default());
    for file in set.all().iter().filter(is_wanted) {
        let checked = fetched(cache, [&file.source]).and_then(|folders| {
            check_answers(file, &folders[0])?;
            Ok(SharedWords::count(&file.questions, &folders[0]))
        });
        match checked {
            Ok(of_file) => shared += of_file,
            Err(error) => {
                num_faulty += 1;
                eprintln!("{error:#}");
            }
        }
    }
    anyhow::ensure!(num_faulty == 0, "{num_faulty} question files have faults");
    println!("the sources contain all answers");
    let SharedWords { num_questions, num_sharing } = shared;
    println!(
        "{num_sharing} of {num_questions} questions about behaviour and architecture share a word with the path or \
         the symbol of an answer"
    );
    anyhow::ensure!(!only.is_empty() || shared.is_at_most_half(), "more than half of these questions share a word");
    Ok(())
}

/// The folders with the sources of the packages. Sources that the cache lacks are fetched.
fn fetched<'a>(cache: &Path, packages: impl IntoIterator<Item = &'a SourcePackage>) -> anyhow::Result<Vec<PathBuf>> {
    let folder = |package| Ok(fetch::sources(cache, package)?.canonicalize()?);
    packages.into_iter().map(folder).collect()
}

/// Indexes the sources with this build.
async fn indexed(arguments: &Arguments, cache: &Path, folders: &[PathBuf]) -> anyhow::Result<Index> {
    let (program, home) = (arguments.program()?, home(&cache.join("index"), folders));
    for folder in folders {
        index(&program, &home, folder)?;
    }
    Index::open(&home).await
}

/// Asks the questions about each repository with each setting, the shipped ranking first.
async fn measure(
    arguments: &Arguments,
    cache: &Path,
    folders: &[PathBuf],
    files: &[(&QuestionFile, &PathBuf)],
) -> anyhow::Result<Vec<Measured>> {
    let open = indexed(arguments, cache, folders).await?;
    let Setting { name, signals } = Setting::shipped();
    let mut sources = vec![(name, false, AnswerSource::InProcess(Box::new(open.with(signals))))];
    if let Some(program) = &arguments.compare {
        let compared = ComparedProgram::index(program, cache, folders)?;
        sources.push(("compared program".to_owned(), true, AnswerSource::Program(compared)));
    }
    for Setting { name, signals } in Setting::others(arguments.compare.is_some(), arguments.ablations) {
        sources.push((name, false, AnswerSource::InProcess(Box::new(open.with(signals)))));
    }
    let mut measured = Vec::new();
    for (setting, is_compared, source) in sources {
        measured.push(Measured { setting, is_compared, asked: ask_all(&source, files).await? });
    }
    Ok(measured)
}

/// Asks for wrong names in folders for which no question file exists.
async fn names_of_folders(arguments: &Arguments, count: usize) -> anyhow::Result<()> {
    let canonical = |folder: &PathBuf| folder.canonicalize();
    let folders: Vec<PathBuf> = arguments.folder.iter().map(canonical).collect::<Result<_, _>>()?;
    let index = indexed(arguments, &arguments.cache()?, &folders).await?;
    ask_for_names(&index, &folders, arguments, count).await
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

async fn ask_all(source: &AnswerSource, files: &[(&QuestionFile, &PathBuf)]) -> anyhow::Result<Vec<GradedQuestion>> {
    let mut asked = Vec::new();
    for (file, folder) in files {
        let name = source.name_of(folder)?;
        for reach in [Reach::Alone, Reach::Together] {
            let within = (reach == Reach::Alone).then_some(name.as_str());
            for question in &file.questions {
                let Ranked { results, score, took } = source.ask(&question.text, within, &name).await?;
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
