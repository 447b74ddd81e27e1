//! Reports a command line that cannot be parsed, and suggests a corrected command line if the correction is
//! obvious.

use std::ffi::OsString;
use std::process::ExitCode;

use cairn_gateway::answers::{ErrorDetails, ErrorReport, Priority, SuggestedCall};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use serde_json::Map;

use crate::cli::Arguments;
use crate::commands::command_line::quoted;
use crate::exit::WRONG_USAGE;
use crate::output;

/// Prints the error. If the user requested the help or the version, prints the requested text instead and
/// ends the program.
pub(crate) fn report(error: &Error, given: &[OsString]) -> ExitCode {
    if error.exit_code() == 0 {
        error.exit();
    }
    let given: Vec<String> = given.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let suggestions = suggestions(error, &given);
    if given.iter().any(|word| word == "--json") {
        let message = error.to_string().trim().trim_start_matches("error: ").to_owned();
        let field = field_of(error);
        let details = ErrorDetails { field, tool_suggestions: suggestions, ..ErrorDetails::default() };
        let report = ErrorReport { code: "validation_error".to_owned(), message, details };
        output::json(&serde_json::json!({ "error": report }));
    } else {
        // An error is ignored, because nothing can be reported if the terminal is closed.
        let _ = error.print();
        output::commands(&suggestions);
    }
    ExitCode::from(WRONG_USAGE)
}

/// The name of the wrong option in the form that the other interfaces use: `target_type` for `--target-type
/// <TYPE>`.
fn field_of(error: &Error) -> Option<String> {
    let ContextValue::String(option) = error.get(ContextKind::InvalidArg)? else { return None };
    let name = option.split([' ', '=']).next()?.trim_start_matches('-');
    Some(name.replace('-', "_"))
}

fn suggestions(error: &Error, given: &[String]) -> Vec<SuggestedCall> {
    let corrected = corrected(error, given).filter(|words| can_be_read(words));
    // If an unknown option has no obvious correction, the option is removed from the suggested command.
    let corrected = corrected.or_else(|| without_unknown(error, given)).filter(|words| can_be_read(words));
    let corrected = corrected.map(|words| (words, "the corrected command"));
    let help = help_of(given);
    corrected.into_iter().chain([(help, "explains the command")]).zip(1..).map(suggestion).collect()
}

fn suggestion(((words, reason), rank): ((Vec<String>, &str), usize)) -> SuggestedCall {
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    SuggestedCall {
        tool: "cairn".to_owned(),
        reason: reason.to_owned(),
        arguments: Map::new(),
        priority: Some(Priority::of(rank)),
        request: None,
        command: Some(command),
    }
}

fn without_unknown(error: &Error, given: &[String]) -> Option<Vec<String>> {
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::UnknownArgument, ContextValue::String(unknown)) if unknown.starts_with('-') => {
            without(given, unknown)
        }
        _ => None,
    }
}

fn can_be_read(words: &[String]) -> bool {
    Arguments::command().try_get_matches_from(words).is_ok()
}

/// The command that prints the help of the given command, or the help of the program.
fn help_of(given: &[String]) -> Vec<String> {
    let program = given.first().cloned().unwrap_or_else(|| "cairn".to_owned());
    let command = Arguments::command();
    let known = given.iter().skip(1).find(|word| command.find_subcommand(word).is_some());
    std::iter::once(program).chain(known.cloned()).chain(["--help".to_owned()]).collect()
}

/// Names of commands in other products, each with the command of Cairn that has the same effect.
const OTHER_COMMANDS: &[(&str, &str)] = &[
    ("impact", "dependents"),
    ("references", "dependents"),
    ("usages", "dependents"),
    ("find", "search"),
    ("query", "search"),
    ("ask", "search"),
    ("rg", "grep"),
    ("cat", "show"),
    ("list", "repos"),
    ("repositories", "repos"),
];

fn corrected(error: &Error, given: &[String]) -> Option<Vec<String>> {
    let text = |kind: ContextKind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    };
    let nearest = |kind: ContextKind, wrong: &str| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => {
            texts.iter().max_by_key(|text| cairn_ranking::similarity_percent(wrong, text)).cloned()
        }
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = text(ContextKind::InvalidSubcommand)?;
            let other = OTHER_COMMANDS.iter().find(|(other, _)| *other == wrong).map(|(_, known)| (*known).to_owned());
            replaced(given, &wrong, &other.or_else(|| nearest(ContextKind::SuggestedSubcommand, &wrong))?)
        }
        ErrorKind::UnknownArgument => {
            let unknown = text(ContextKind::InvalidArg)?;
            match nearest(ContextKind::SuggestedArg, &unknown) {
                Some(meant) => replaced(given, &unknown, meant.split([' ', '=']).next()?),
                None if unknown == "--repo" => with_repository_first(given).or_else(|| without(given, &unknown)),
                None if unknown.starts_with('-') => without(given, &unknown),
                None if given.get(1).is_some_and(|command| command == "grep") => below(given, &unknown),
                None => joined(given, &unknown),
            }
        }
        ErrorKind::InvalidValue => {
            let wrong = text(ContextKind::InvalidValue)?;
            let meant = nearest(ContextKind::SuggestedValue, &wrong);
            replaced(given, &wrong, &meant.or_else(|| nearest(ContextKind::ValidValue, &wrong))?)
        }
        // The value is not a valid number. The option is removed, so that its default applies.
        ErrorKind::ValueValidation => {
            let option = text(ContextKind::InvalidArg)?;
            without(given, option.split([' ', '=']).next()?)
        }
        _ => None,
    }
}

/// The command line with one word replaced. The replaced word may be the name or the value in `--name=value`.
fn replaced(given: &[String], wrong: &str, right: &str) -> Option<Vec<String>> {
    let position =
        given.iter().position(|word| word == wrong || parts(word).is_some_and(|(a, b)| a == wrong || b == wrong));
    let position = position?;
    let mut words = given.to_vec();
    words[position] = match parts(&given[position]) {
        Some((name, value)) if name == wrong => format!("{right}={value}"),
        Some((name, value)) if value == wrong => format!("{name}={right}"),
        _ => right.to_owned(),
    };
    Some(words)
}

fn parts(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| name.starts_with('-'))
}

/// The command line without the option `option`. The value of the option is also removed if the remaining
/// words cannot be parsed with this value.
fn without(given: &[String], option: &str) -> Option<Vec<String>> {
    let position =
        given.iter().position(|word| word == option || parts(word).is_some_and(|(name, _)| name == option))?;
    let mut words = given.to_vec();
    words.remove(position);
    if can_be_read(&words) || position >= words.len() {
        return Some(words);
    }
    words.remove(position);
    Some(words)
}

/// The command line with the value of `--repo` as the first argument, because some commands expect the
/// repository there.
fn with_repository_first(given: &[String]) -> Option<Vec<String>> {
    let option = given.iter().position(|word| word == "--repo").filter(|option| *option > 1)?;
    let mut words = given.to_vec();
    let repository = (option + 1 < words.len()).then(|| words.remove(option + 1))?;
    words.remove(option);
    words.insert(2, repository);
    can_be_read(&words).then_some(words)
}

/// The command line with the unexpected words as paths, as for `grep PATTERN src`.
fn below(given: &[String], unexpected: &str) -> Option<Vec<String>> {
    let position = given.iter().position(|word| word == unexpected).filter(|position| *position > 1)?;
    let is_path = |word: &String| !word.starts_with('-') && std::path::Path::new(word).exists();
    if !is_path(&given[position]) {
        return joined(given, unexpected);
    }
    let num_words = given[position..].iter().take_while(|word| is_path(word)).count();
    let mut words = given[..position].to_vec();
    words.extend(given[position..position + num_words].iter().flat_map(|path| ["--path".to_owned(), path.clone()]));
    words.extend_from_slice(&given[position + num_words..]);
    Some(words)
}

/// The command line with several words replaced by one quoted text, as for `search retry with backoff`.
fn joined(given: &[String], unexpected: &str) -> Option<Vec<String>> {
    let position = given.iter().position(|word| word == unexpected).filter(|position| *position > 1)?;
    let num_words = given[position..].iter().take_while(|word| !word.starts_with('-')).count();
    let text = given[position - 1..position + num_words].join(" ");
    let mut words = given[..position - 1].to_vec();
    words.push(text);
    words.extend_from_slice(&given[position + num_words..]);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the suggested commands for a command line that cannot be parsed.
    fn check(given: &[&str], expect: &[&str]) {
        let words: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
        let error = Arguments::command().try_get_matches_from(&words).expect_err("cannot be read");
        let commands = suggestions(&error, &words).into_iter().filter_map(|call| call.command);
        assert_eq!(commands.collect::<Vec<_>>(), expect, "{given:?}");
    }

    #[test]
    fn corrected_command_and_help_are_suggested() {
        check(&["cairn", "serch", "x"], &["cairn search x", "cairn --help"]);
        check(&["cairn", "search", "x", "--limt", "3"], &["cairn search x --limit 3", "cairn search --help"]);
        check(&["cairn", "search", "x", "--limt=3"], &["cairn search x --limit=3", "cairn search --help"]);
        check(
            &["cairn", "search", "x", "--tests", "exclud"],
            &["cairn search x --tests exclude", "cairn search --help"],
        );
        check(&["cairn", "search", "x", "--limit", "many"], &["cairn search x", "cairn search --help"]);
        check(&["cairn", "search", "x", "--top", "3"], &["cairn search x", "cairn search --help"]);
        check(&["cairn", "search", "x", "--wibble", "3"], &["cairn search x", "cairn search --help"]);
        let quoted = "cairn search 'retry with backoff' --limit 3";
        check(&["cairn", "search", "retry", "with", "backoff", "--limit", "3"], &[quoted, "cairn search --help"]);
        let by_type = "cairn search x --type filename";
        check(&["cairn", "search", "x", "--type", "filenam"], &[by_type, "cairn search --help"]);
        check(&["cairn", "graph", "impact", "x"], &["cairn graph dependents x", "cairn graph --help"]);
        check(&["cairn", "grep", "x", "src", "-i"], &["cairn grep x --path src -i", "cairn grep --help"]);
        check(&["cairn", "grep", "for", "each"], &["cairn grep 'for each'", "cairn grep --help"]);
        check(&["cairn", "show", "src/a.py", "--repo", "r"], &["cairn show r src/a.py", "cairn show --help"]);
        check(&["cairn", "find", "x"], &["cairn search x", "cairn --help"]);
        check(&["cairn", "search"], &["cairn search --help"]);
        check(&["cairn"], &["cairn --help"]);
    }
}
