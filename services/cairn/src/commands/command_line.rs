//! Writes a question as a command that can be executed without changes.

use cairn_gateway::questions::{
    CoverageQuestion, GraphQuestion, GrepMode, GrepQuestion, IndexQuestion, ModulesQuestion, Question, ReadQuestion,
    RunsQuestion, SampleQuestion, SearchQuestion, WantTests,
};

/// Options that select the index or the service. A suggested command must contain these options with the same
/// values as the original command.
const GLOBAL_OPTIONS: [&str; 6] = ["--home", "--config", "--server", "--api-key-file", "--cluster", "--tenant"];

/// The command that asks the question. The program name and the global options are taken from `given`, which
/// is the command line of this process. `None` if no command asks this question.
pub(crate) fn command_line(question: &Question, mut given: impl Iterator<Item = String>) -> Option<String> {
    let program = given.next().unwrap_or_else(|| "cairn".to_owned());
    let words = std::iter::once(program).chain(words_of(question)?).chain(global_options(given));
    Some(words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" "))
}

/// A word, quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn global_options(mut given: impl Iterator<Item = String>) -> Vec<String> {
    let mut options = Vec::new();
    while let Some(word) = given.next() {
        if GLOBAL_OPTIONS.contains(&word.as_str()) {
            options.push(word);
            options.extend(given.next());
        } else if GLOBAL_OPTIONS
            .iter()
            .any(|option| word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))
        {
            options.push(word);
        }
    }
    options
}

/// The words of a command line.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn of(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Adds a text that may begin with `-`, so that it is not read as an option.
    fn text(mut self, text: &str) -> Self {
        if text.starts_with('-') {
            self.0.push("--".to_owned());
        }
        self.0.push(text.to_owned());
        self
    }

    fn option(mut self, name: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            self.0.push(format!("{name}={}", value.to_string()));
        }
        self
    }

    fn options(self, name: &str, values: &[String]) -> Self {
        values.iter().fold(self, |words, value| words.option(name, Some(value)))
    }

    fn flag(mut self, name: &str, is_set: bool) -> Self {
        if is_set {
            self.0.push(name.to_owned());
        }
        self
    }
}

fn words_of(question: &Question) -> Option<Vec<String>> {
    let words = match question {
        Question::Search(question) => search(question),
        Question::Grep(question) => grep(question),
        Question::Read(question) => read(question)?,
        Question::Graph(question) => graph(question)?,
        Question::Sample(question) => sample(question),
        Question::Patterns(question) => {
            let words = Words::of(&["patterns"]).options("--repo", &question.repositories);
            question.name.iter().fold(words, |words, name| words.text(name))
        }
        Question::Repositories(question) => {
            question.name.iter().fold(Words::of(&["repos"]), |words, name| words.text(name))
        }
        Question::Status(_) => Words::of(&["status"]),
        Question::Stats(_) => Words::of(&["stats"]),
        Question::Runs(question) => runs(question),
        Question::Cancel(question) => {
            let words = Words::of(&["runs", "cancel"]).option("--run", question.run_id.as_ref());
            question.repository.iter().fold(words, |words, name| words.text(name))
        }
        Question::Coverage(question) => coverage(question),
        Question::Modules(question) => modules(question),
        Question::Secrets(question) => {
            question.repository.iter().fold(Words::of(&["secrets"]), |words, name| words.text(name))
        }
        Question::Fingerprint(question) => Words::of(&["fingerprint"]).options("--repo", &question.repositories),
        Question::Index(question) => index(question),
        Question::Progress(_) => return None,
        Question::Guide(question) => {
            question.topic.iter().fold(Words::of(&["guide"]), |words, topic| words.text(topic))
        }
    };
    Some(words.0)
}

fn tests(tests: WantTests) -> Option<&'static str> {
    match tests {
        WantTests::Include => None,
        WantTests::Exclude => Some("exclude"),
        WantTests::Only => Some("only"),
    }
}

/// The text of the question comes last, because this text may need `--` before it.
fn search(question: &SearchQuestion) -> Words {
    Words::of(&["search"])
        .options("--repo", &question.repositories)
        .options("--language", &question.languages)
        .options("--path", &question.paths)
        .options("--module", &question.modules)
        .options("--kind", &question.kinds)
        .option("--tests", tests(question.tests))
        .options("--tag", &question.tags)
        .option("--since", question.since.as_ref())
        .option("--query-type", question.query_type.as_ref())
        .option("--limit", question.limit)
        .option("--cursor", question.cursor.as_ref())
        .option("--target-type", question.target_type.as_ref())
        .option("--context-path", question.context_path.as_ref())
        .flag("--exact-filename", !question.fuzzy_filename)
        .flag("--filename-only", question.filename_only)
        .text(&question.query)
}

fn grep(question: &GrepQuestion) -> Words {
    let context = |lines: usize| (lines > 0).then_some(lines);
    Words::of(&["grep"])
        .flag("-F", question.mode == GrepMode::Text)
        .flag("-i", question.ignore_case)
        .flag("-w", question.whole_word)
        .flag("-U", question.multiline)
        .option("--before-context", context(question.before))
        .option("--after-context", context(question.after))
        .options("--repo", &question.repositories)
        .options("--language", &question.languages)
        .options("--path", &question.paths)
        .option("--tests", tests(question.tests))
        .option("--limit", other_limit(question.limit, GrepQuestion::DEFAULT_LIMIT))
        .option("--cursor", question.cursor.as_ref())
        .text(&question.query)
}

/// The limit, unless it is the default.
fn other_limit(limit: usize, default: usize) -> Option<usize> {
    Some(limit).filter(|limit| *limit != default)
}

/// `cairn show` cannot take both a path and a symbol, so a symbol in a file is written as `path#name`.
fn read(question: &ReadQuestion) -> Option<Words> {
    let target = match (&question.target, &question.path, &question.symbol) {
        (_, Some(path), Some(symbol)) => format!("{path}#{symbol}"),
        (Some(target), _, _) => target.clone(),
        (None, Some(path), None) => path.clone(),
        (None, None, Some(symbol)) => symbol.clone(),
        (None, None, None) => return None,
    };
    let lines = match (question.start_line, question.end_line) {
        (None, None) => String::new(),
        (start, end) => format!(":{}-{}", start.unwrap_or(1), end.unwrap_or(u32::MAX)),
    };
    let words = Words::of(&["show"]).option("--context-path", question.context_path.as_ref());
    let words = question.repository.iter().fold(words, |words, name| words.text(name));
    Some(words.text(&format!("{target}{lines}")))
}

fn graph(question: &GraphQuestion) -> Option<Words> {
    let command = match question.mode.as_str() {
        "callers" => "callers",
        "callees" => "callees",
        "dependencies" => "deps",
        "dependents" => "dependents",
        "inheritance" => "inherits",
        _ => return None,
    };
    let words = Words::of(&["graph", command]).options("--repo", &question.repositories);
    let words = words.option("--limit", other_limit(question.limit, GraphQuestion::DEFAULT_LIMIT));
    Some(words.option("--context-path", question.context_path.as_ref()).text(&question.target))
}

fn sample(question: &SampleQuestion) -> Words {
    let words = Words::of(&["graph", "sample"]).option("--class", Some(&question.class));
    let words = words.option("--seed", Some(question.seed)).option("-n", Some(question.count));
    words.options("--kind", &question.kinds).options("--repo", &question.repositories)
}

fn runs(question: &RunsQuestion) -> Words {
    match &question.run_id {
        Some(id) => Words::of(&["runs", "show"]).option("--repo", question.repository.as_ref()).text(id),
        None => Words::of(&["runs"])
            .option("--repo", question.repository.as_ref())
            .option("--limit", other_limit(question.limit, RunsQuestion::DEFAULT_LIMIT)),
    }
}

fn coverage(question: &CoverageQuestion) -> Words {
    let words = Words::of(&["coverage"])
        .option("--why", question.why.as_ref())
        .option("--outcome", question.outcome.as_ref())
        .flag("--summary", question.summary);
    question.repository.iter().fold(words, |words, name| words.text(name))
}

fn modules(question: &ModulesQuestion) -> Words {
    let words = Words::of(&["modules"]).option("--repo", question.repository.as_ref());
    let words = words.option("--depth", question.depth);
    question.module.iter().fold(words, |words, module| words.text(module))
}

fn index(question: &IndexQuestion) -> Words {
    Words::of(&["index"])
        .options("--include", question.include_patterns.as_deref().unwrap_or_default())
        .options("--exclude", question.exclude_patterns.as_deref().unwrap_or_default())
        .option("--max-size", question.max_file_size)
        .text(&question.target)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::{Arguments, Command};
    use crate::commands::question;

    fn question_of(path: &str, body: &Value) -> Question {
        Question::parse(path, body.to_string().as_bytes()).expect("a route").expect("valid")
    }

    /// The words of the command, as a shell splits them.
    fn split(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                '\'' => is_quoted = !is_quoted,
                '\\' if !is_quoted => words.last_mut().expect("a word").extend(characters.next()),
                ' ' if !is_quoted => words.push(String::new()),
                other => words.last_mut().expect("a word").push(other),
            }
        }
        words
    }

    /// Checks that the generated command line asks the original question.
    #[test]
    fn commands_ask_the_same_question() {
        let check = |path: &str, body: Value| {
            let expect = question_of(path, &body);
            let line = command_line(&expect, ["cairn".to_owned()].into_iter()).expect("a command");
            let arguments = Arguments::try_parse_from(split(&line)).unwrap_or_else(|error| panic!("{line}: {error}"));
            match &arguments.command {
                Command::Index(index) => assert_eq!(index.target.as_deref(), body["target"].as_str(), "{line}"),
                command => {
                    let asked = question::of(command, None).expect("valid").expect("a question");
                    assert_eq!(asked.short_body(), question_of(path, &body).short_body(), "{line}");
                }
            }
        };
        let text = "it's \"so\" $HOME `x` *";
        check("/v1/search", json!({"query": text, "repositories": ["a", "b/*"], "tests": "only", "limit": 3}));
        check("/v1/search", json!({"query": "-x", "target_type": "filename", "fuzzy_filename": false}));
        check("/v1/search", json!({"query": "x", "target_type": "symbol", "query_type": "symbol"}));
        check(
            "/v1/search",
            json!({"query": "x", "kinds": ["class"], "paths": ["*.rs"], "since": "7d", "tags": [".py"]}),
        );
        check("/v1/grep", json!({"query": "-a", "mode": "text", "ignore_case": true, "before": 2, "after": 2}));
        check("/v1/grep", json!({"query": "a.b", "mode": "regex", "multiline": true, "whole_word": true}));
        check("/v1/grep", json!({"query": "x", "mode": "regex", "limit": 100}));
        for mode in ["callers", "callees", "dependencies", "dependents", "inheritance"] {
            check("/v1/graph", json!({"target": "f", "mode": mode, "repositories": ["a"]}));
            check("/v1/graph", json!({"target": "f", "mode": mode, "limit": 500}));
        }
        check("/v1/patterns", json!({"name": "Importer", "repositories": ["a"]}));
        check("/v1/repositories", json!({"name": "a"}));
        check("/v1/status", json!({}));
        check("/v1/stats", json!({}));
        check("/v1/runs", json!({"repository": "a"}));
        check("/v1/runs", json!({"limit": 7}));
        check("/v1/runs/cancel", json!({"repository": "a"}));
        check("/v1/coverage", json!({"repository": "a", "why": "x y.py"}));
        check("/v1/coverage", json!({"repository": "a", "outcome": "skipped(binary)"}));
        check("/v1/modules", json!({"repository": "a", "module": "services", "depth": 3}));
        check("/v1/secrets", json!({"repository": "a"}));
        check("/v1/fingerprint", json!({"repositories": ["a"]}));
        check("/v1/guide", json!({"topic": "recovering"}));
        check("/v1/graph/sample", json!({"class": "exact", "count": 3}));
        check("/v1/index", json!({"target": "/x y", "include_patterns": ["*.go"], "max_file_size": 5}));
    }

    #[test]
    fn read_questions_become_show_commands() {
        let check = |body: Value, expect: &str| {
            let line = command_line(&question_of("/v1/read", &body), ["cairn".to_owned()].into_iter());
            assert_eq!(line.as_deref(), Some(expect));
        };
        check(json!({"path": "a.py", "repository": "r"}), "cairn show r a.py");
        check(json!({"path": "a.py", "repository": "r", "start_line": 3, "end_line": 9}), "cairn show r a.py:3-9");
        check(json!({"symbol": "save"}), "cairn show save");
        check(json!({"symbol": "Store.save", "path": "a.py"}), "cairn show 'a.py#Store.save'");
        check(json!({"target": "a b"}), "cairn show 'a b'");
    }

    #[test]
    fn program_and_global_options_are_kept() {
        let given = ["/bin/cairn", "--home", "/x y", "search", "z", "--server=u", "--json", "--repo", "q"];
        let line = command_line(&question_of("/v1/status", &json!({})), given.into_iter().map(str::to_owned));
        assert_eq!(line.as_deref(), Some("/bin/cairn status --home '/x y' --server=u"));
    }
}
