//! Converts a command line to a question for local mode, a server or a cluster.

use anyhow::bail;
use cairn_gateway::questions::{
    CancelQuestion, CoverageQuestion, FingerprintQuestion, GraphQuestion, GrepMode, GrepQuestion, GuideQuestion,
    ModulesQuestion, Nothing, PatternsQuestion, Question, ReadQuestion, RepositoriesQuestion, RunsQuestion,
    SampleQuestion, SearchQuestion, SecretsQuestion, WantTests,
};
use cairn_redaction::{Given, Message};
use cairn_search::{QueryError, QueryErrorCode, Relation};

use crate::cli::{Command, GraphCommand, GrepArguments, RelationArguments, RunsCommand, SearchArguments, Tests};

/// Maximum number of tokens that `show` prints.
const SHOW_TOKENS: usize = 200_000;

/// Whether the command uses the repository of the working directory if no repository is named.
pub(crate) fn is_about_here(command: &Command) -> bool {
    let is_sample = matches!(command, Command::Graph(GraphCommand::Sample { .. }));
    !is_sample
        && matches!(
            command,
            Command::Search(_)
                | Command::Grep(_)
                | Command::Graph(_)
                | Command::Coverage { .. }
                | Command::Modules { .. }
                | Command::Patterns { .. }
                | Command::Secrets { .. }
                | Command::Show { .. }
        )
}

/// Whether the command is a question about code and names no repository. Before such a question is answered,
/// the working tree is indexed if it is not indexed. Commands that report on the index do not change the
/// index.
pub(crate) fn indexes_first(command: &Command) -> bool {
    match command {
        Command::Search(arguments) => arguments.repositories.is_empty(),
        Command::Grep(arguments) => arguments.repositories.is_empty(),
        Command::Show { targets, .. } => targets.len() == 1,
        Command::Patterns { repositories, .. } => repositories.is_empty(),
        Command::Modules { repository, .. } => repository.is_none(),
        Command::Graph(
            GraphCommand::Callers(arguments)
            | GraphCommand::Callees(arguments)
            | GraphCommand::Deps(arguments)
            | GraphCommand::Dependents(arguments)
            | GraphCommand::Inherits(arguments),
        ) => arguments.repositories.is_empty(),
        _ => false,
    }
}

/// Whether the command names the repository that it reads.
pub(crate) fn names_repository(command: &Command) -> bool {
    !matches!(command, Command::Show { targets, .. } if targets.len() == 1)
}

/// The question of a command. `None` for a command that is not a question. `here` is the repository of the
/// working directory.
pub(crate) fn of(command: &Command, here: Option<&str>) -> anyhow::Result<Option<Question>> {
    let named = |name: &Option<String>| name.clone().or_else(|| here.map(str::to_owned));
    Ok(Some(match command {
        Command::Search(arguments) => Question::Search(search(arguments, here)),
        Command::Grep(arguments) => Question::Grep(grep(arguments, here)),
        Command::Show { targets, context_path } => Question::Read(show(targets, context_path.clone(), here)?),
        Command::Graph(command) => graph(command, here),
        Command::Patterns { name, repositories } => {
            let (name, repositories) = (name.clone(), or_here(repositories, here));
            Question::Patterns(PatternsQuestion { name, repositories, ..PatternsQuestion::default() })
        }
        Command::Modules { module, repository, depth } => {
            let (repository, module, depth) = (named(repository), module.clone(), Some(*depth));
            Question::Modules(ModulesQuestion { repository, module, depth, ..ModulesQuestion::default() })
        }
        Command::Repos { name } => {
            let name = name.clone();
            Question::Repositories(RepositoriesQuestion { name, ..RepositoriesQuestion::default() })
        }
        Command::Guide { topic } => Question::Guide(GuideQuestion { topic: topic.clone() }),
        Command::Status => Question::Status(Nothing {}),
        Command::Stats => Question::Stats(Nothing {}),
        Command::Runs { action: Some(action), .. } => of_runs(action),
        Command::Runs { action: None, limit, repository } => {
            Question::Runs(RunsQuestion { repository: repository.clone(), run_id: None, limit: *limit })
        }
        Command::Coverage { repository, why, summary, outcome } => {
            let (repository, why, summary, outcome) = (named(repository), why.clone(), *summary, outcome.clone());
            Question::Coverage(CoverageQuestion { repository, why, summary, outcome, ..CoverageQuestion::default() })
        }
        Command::Secrets { repository } => {
            Question::Secrets(SecretsQuestion { repository: named(repository), ..SecretsQuestion::default() })
        }
        Command::Fingerprint { repositories } => {
            Question::Fingerprint(FingerprintQuestion { repositories: repositories.clone() })
        }
        _ => return Ok(None),
    }))
}

fn of_runs(command: &RunsCommand) -> Question {
    match command {
        RunsCommand::Cancel { repository, run } => {
            Question::Cancel(CancelQuestion { repository: repository.clone(), run_id: run.clone() })
        }
        RunsCommand::Show { run, repository } => {
            Question::Runs(RunsQuestion { repository: repository.clone(), run_id: Some(run.clone()), limit: 1 })
        }
    }
}

fn or_here(named: &[String], here: Option<&str>) -> Vec<String> {
    if named.is_empty() { here.map(str::to_owned).into_iter().collect() } else { named.to_vec() }
}

fn search(arguments: &SearchArguments, here: Option<&str>) -> SearchQuestion {
    SearchQuestion {
        query: arguments.query.clone(),
        repositories: or_here(&arguments.repositories, here),
        languages: arguments.language.clone(),
        paths: arguments.path.clone(),
        modules: arguments.module.clone(),
        kinds: arguments.kind.clone(),
        tests: tests(arguments.tests),
        tags: arguments.tag.clone(),
        since: arguments.since.clone(),
        query_type: arguments.query_type.clone(),
        limit: arguments.limit,
        max_tokens: arguments.max_tokens,
        cursor: arguments.cursor.clone(),
        explain: arguments.explain,
        target_type: arguments.target_type.clone(),
        context_path: arguments.context_path.clone(),
        fuzzy_filename: !arguments.exact_filename,
        filename_only: arguments.filename_only,
    }
}

fn tests(tests: Tests) -> WantTests {
    match tests {
        Tests::Include => WantTests::Include,
        Tests::Exclude => WantTests::Exclude,
        Tests::Only => WantTests::Only,
    }
}

fn grep(arguments: &GrepArguments, here: Option<&str>) -> GrepQuestion {
    GrepQuestion {
        query: arguments.pattern.clone(),
        mode: if arguments.fixed_strings { GrepMode::Text } else { GrepMode::Regex },
        ignore_case: arguments.ignore_case,
        whole_word: arguments.word_regexp,
        multiline: arguments.multiline,
        repositories: or_here(&arguments.repositories, here),
        languages: arguments.language.clone(),
        paths: arguments.path.clone(),
        tests: tests(arguments.tests),
        before: arguments.before_context.unwrap_or(arguments.context),
        after: arguments.after_context.unwrap_or(arguments.context),
        limit: arguments.limit,
        max_tokens: arguments.max_tokens,
        cursor: arguments.cursor.clone(),
    }
}

/// The question of `cairn show`. A target without line numbers may be a symbol. If no repository is named,
/// the target is looked up in the repository of the working directory.
fn show(targets: &[String], context_path: Option<String>, here: Option<&str>) -> anyhow::Result<ReadQuestion> {
    let (repository, text) = match targets {
        [repository, target] => (Some(repository.as_str()), target.as_str()),
        [target] => (here, target.as_str()),
        _ => bail!(QueryError::new(QueryErrorCode::ValidationError, "pass a path or a symbol")),
    };
    let (target, lines) = path_and_lines(text)?;
    let (target, path) = if lines.is_some() { (None, Some(target)) } else { (Some(target), None) };
    Ok(ReadQuestion {
        repository: repository.map(str::to_owned),
        target: target.map(str::to_owned),
        path: path.map(str::to_owned),
        symbol: None,
        context_path,
        start_line: lines.map(|(first, _)| first),
        end_line: lines.map(|(_, last)| last),
        max_tokens: SHOW_TOKENS,
    })
}

/// Splits `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`. A colon that is not followed by a number belongs to the
/// path.
fn path_and_lines(text: &str) -> anyhow::Result<(&str, Option<(u32, u32)>)> {
    let Some((path, lines)) = text.rsplit_once(':') else { return Ok((text, None)) };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first > 0 && first <= last => Ok((path, Some((first, last)))),
        (Ok(_), Ok(_)) => {
            let message = Message::default().and(Given(lines)).and(" is not a range of lines;");
            let message = message.and(" write FIRST-LAST, counted from 1");
            bail!(QueryError::new(QueryErrorCode::ValidationError, message))
        }
        _ => Ok((text, None)),
    }
}

fn graph(command: &GraphCommand, here: Option<&str>) -> Question {
    let relation = |arguments: &RelationArguments, relation: Relation| {
        Question::Graph(GraphQuestion {
            target: arguments.name.clone(),
            mode: relation.as_str().to_owned(),
            context_path: arguments.context_path.clone(),
            repositories: or_here(&arguments.repositories, here),
            limit: arguments.limit,
        })
    };
    match command {
        GraphCommand::Callers(arguments) => relation(arguments, Relation::Callers),
        GraphCommand::Callees(arguments) => relation(arguments, Relation::Callees),
        GraphCommand::Deps(arguments) => relation(arguments, Relation::Dependencies),
        GraphCommand::Dependents(arguments) => relation(arguments, Relation::Dependents),
        GraphCommand::Inherits(arguments) => relation(arguments, Relation::Inheritance),
        GraphCommand::Sample { class, seed, count, kinds, repositories } => Question::Sample(SampleQuestion {
            class: class.clone(),
            kinds: kinds.clone(),
            seed: *seed,
            count: *count,
            repositories: repositories.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_the_repository_here() {
        let check = |repositories: &[&str], here: Option<&str>, expect: &[&str]| {
            let repositories = repositories.iter().map(ToString::to_string).collect();
            let command = Command::Patterns { name: None, repositories };
            assert!(is_about_here(&command));
            let Ok(Some(Question::Patterns(question))) = of(&command, here) else { panic!("{command:?}") };
            assert_eq!(question.repositories, expect, "{here:?}");
        };
        check(&[], Some("shop"), &["shop"]);
        check(&[], None, &[]);
        check(&["all"], Some("shop"), &["all"]);
        check(&["other"], Some("shop"), &["other"]);
    }

    #[test]
    fn lines_follow_the_last_colon() {
        let check = |text: &str, expect: (&str, Option<(u32, u32)>)| {
            assert_eq!(path_and_lines(text).expect("valid"), expect, "{text}");
        };
        check("a.rs", ("a.rs", None));
        check("a.rs:3", ("a.rs", Some((3, 3))));
        check("a.rs:3-9", ("a.rs", Some((3, 9))));
        check("a:b", ("a:b", None));
        assert!(path_and_lines("a.rs:9-3").is_err());
        assert!(path_and_lines("a.rs:0").is_err());
    }
}
