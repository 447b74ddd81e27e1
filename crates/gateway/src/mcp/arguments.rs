//! Checks the arguments of a call against the parameter table of the tool.
//!
//! All faults are reported at once. If all faults can be corrected without guessing, the corrected call is
//! suggested.

use cairn_redaction::Own;
use cairn_search::{FieldFault, QueryError, QueryErrorCode};
use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::reply::Failure;
use super::suggestion::Suggestion;
use super::tools::{Kind, Parameter, ToolSpec};

/// Checked arguments. Every name is known, and every value has the kind that the table requires.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub tool: &'static ToolSpec,
    given: JsonObject,
}

impl Arguments {
    pub(crate) fn read(tool: &'static ToolSpec, given: JsonObject) -> Result<Self, Failure> {
        let mut check =
            Check { tool, corrected: Map::new(), faults: Vec::new(), first: None, choices: None, correctable: true };
        for (name, value) in given {
            // Some clients send null for every parameter that they do not use.
            if !value.is_null() {
                check.argument(&name, value);
            }
        }
        for parameter in tool.parameters.iter().filter(|parameter| parameter.required) {
            let is_chosen = check.choices.is_some_and(|(name, _)| name == parameter.name);
            if !check.corrected.contains_key(parameter.name) && !is_chosen {
                let message = format!("`{}` is missing{}", parameter.name, describe(parameter));
                match parameter.kind {
                    Kind::Choice(words) => check.choose(parameter.name, words, message),
                    _ => check.fault(parameter.name, message),
                }
            }
        }
        if check.faults.is_empty() {
            return Ok(Self { tool, given: check.corrected });
        }
        Err(check.failure())
    }

    pub(crate) fn given(&self) -> &JsonObject {
        &self.given
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str)
    }

    /// The values of a list. The result is empty if the caller did not pass the list.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let values = self.given.get(name).and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The values of a list. `None` if the caller did not pass the list. If the caller passed an empty list,
    /// the result is `Some`.
    pub(crate) fn given_list(&self, name: &str) -> Option<Vec<String>> {
        self.given.contains_key(name).then(|| self.list(name))
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.given.get(name).and_then(Value::as_u64)
    }

    /// A number as `usize`. The table limits such numbers to values that fit into `usize`.
    pub(crate) fn count(&self, name: &str, default: usize) -> usize {
        self.number(name).map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.given.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn flag_or(&self, name: &str, default: bool) -> bool {
        if self.given.contains_key(name) { self.flag(name) } else { default }
    }

    /// The arguments of this call, in which the argument `name` is set to `value`.
    pub(crate) fn with(&self, name: &str, value: impl Into<Value>) -> JsonObject {
        let mut given = self.given.clone();
        given.insert(name.to_owned(), value.into());
        given
    }

    /// The arguments of this call without the arguments in `names`.
    pub(crate) fn without(&self, names: &[&str]) -> JsonObject {
        self.given
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

struct Check {
    tool: &'static ToolSpec,
    corrected: JsonObject,
    faults: Vec<String>,
    /// The field of the first fault.
    first: Option<FieldFault>,
    /// A missing argument, and its allowed words.
    choices: Option<(&'static str, &'static [&'static str])>,
    /// True while every fault has an obvious correction, which is in `corrected`.
    correctable: bool,
}

impl Check {
    fn argument(&mut self, name: &str, value: Value) {
        if let Some(parameter) = self.tool.parameter(name) {
            return self.value(parameter, value);
        }
        if let Some(parameter) = self.tool.parameters.iter().find(|parameter| parameter.alias == Some(name)) {
            if self.corrected.contains_key(parameter.name) {
                return self.fault(name, format!("`{name}` and `{}` are the same argument", parameter.name));
            }
            return self.value(parameter, value);
        }
        let Some(near) = nearest(self.tool, name) else {
            let known: Vec<&str> = self.tool.parameters.iter().map(|parameter| parameter.name).collect();
            let message = format!("unknown argument `{name}`; `{}` takes {}", self.tool.name, known.join(", "));
            return self.dropped(FieldFault::of(name), message, false);
        };
        self.note(FieldFault::of(name), format!("unknown argument `{name}`; did you mean `{}`?", near.name));
        if self.corrected.contains_key(near.name) {
            self.correctable = false;
        } else {
            self.value(near, value);
        }
    }

    fn value(&mut self, parameter: &'static Parameter, value: Value) {
        match checked(&parameter.kind, value) {
            Ok(value) => {
                self.corrected.insert(parameter.name.to_owned(), value);
            }
            Err(Wrong { what, nearest, max_allowed, provided }) => {
                let fault = FieldFault { max_allowed, provided, ..FieldFault::of(parameter.name) };
                let message = format!("`{}` {what}", parameter.name);
                let Some(nearest) = nearest else {
                    return match parameter.kind {
                        Kind::Choice(words) if parameter.required => self.choose(parameter.name, words, message),
                        _ => self.dropped(fault, message, parameter.required),
                    };
                };
                self.note(fault, message);
                self.corrected.insert(parameter.name.to_owned(), nearest);
            }
        }
    }

    /// Records a fault of an argument that is omitted from the corrected call. If the call changes the index,
    /// no argument may be omitted.
    fn dropped(&mut self, fault: FieldFault, message: String, is_required: bool) {
        self.note(fault, message);
        self.correctable &= self.tool.read_only && !is_required;
    }

    /// Records that an argument with a fixed list of words is missing. One corrected call is suggested for
    /// each word.
    fn choose(&mut self, name: &'static str, words: &'static [&'static str], message: String) {
        self.note(FieldFault::of(name), message);
        self.choices = Some((name, words));
    }

    /// Records a fault that has no correction.
    fn fault(&mut self, field: &str, message: String) {
        self.note(FieldFault::of(field), message);
        self.correctable = false;
    }

    fn note(&mut self, fault: FieldFault, message: String) {
        self.faults.push(message);
        self.first.get_or_insert(fault);
    }

    fn failure(self) -> Failure {
        let error = QueryError::new(QueryErrorCode::ValidationError, Own(self.faults.join("; ")));
        let error = error.in_field(self.first.unwrap_or_default());
        let mut failure = Failure::from(error);
        match self.choices {
            _ if !self.correctable => {
                failure.suggestions.push(Suggestion::guide("recovering", "shows calls that work"));
            }
            Some((name, words)) => {
                for word in words {
                    let mut arguments = self.corrected.clone();
                    arguments.insert(name.to_owned(), Value::from(*word));
                    failure.suggestions.push(Suggestion::new(
                        self.tool.name,
                        format!("the call with `{name}`"),
                        arguments,
                    ));
                }
            }
            None => {
                let reason = "the call with corrected arguments";
                failure.suggestions.push(Suggestion::new(self.tool.name, reason, self.corrected));
            }
        }
        failure
    }
}

fn describe(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Choice(words) => format!("; it must be one of {}", words.join(", ")),
        _ => format!(" ({})", parameter.description),
    }
}

/// The parameter that the caller most likely meant by an unknown name.
fn nearest(tool: &ToolSpec, name: &str) -> Option<&'static Parameter> {
    let folded = cairn_ranking::fold_style(name);
    let is_other =
        |parameter: &&Parameter| parameter.also.iter().any(|other| cairn_ranking::fold_style(other) == folded);
    if let Some(parameter) = tool.parameters.iter().find(is_other) {
        return Some(parameter);
    }
    let names: Vec<&'static str> = tool.parameters.iter().map(|parameter| parameter.name).collect();
    tool.parameter(nearest_word(name, &names)?)
}

/// The word that the caller most likely meant, because its spelling is similar or its beginning is the same.
pub(crate) fn nearest_word(given: &str, words: &[&'static str]) -> Option<&'static str> {
    /// Minimum similarity. Less similar words are treated as different words.
    const LEAST_PERCENT: u32 = 50;
    /// Number of letters at the start that two forms of one word share (`inherits`, `inheritance`).
    const STEM_LETTERS: usize = 5;
    let given = cairn_ranking::fold_style(given);
    let likeness = |word: &&&'static str| {
        let word = cairn_ranking::fold_style(word);
        let alike = cairn_ranking::similarity_percent(&given, &word).filter(|percent| *percent >= LEAST_PERCENT);
        let shared = given.bytes().zip(word.bytes()).take_while(|(left, right)| left == right).count();
        alike.or((shared >= STEM_LETTERS).then_some(LEAST_PERCENT))
    };
    // If several words are equally similar, the first word in the table is returned.
    words.iter().rev().filter(|word| likeness(word).is_some()).max_by_key(likeness).copied()
}

/// The fault of a value, and the value that the caller probably meant.
#[derive(Default)]
struct Wrong {
    what: String,
    nearest: Option<Value>,
    max_allowed: Option<u64>,
    provided: Option<i64>,
}

/// Converts a value to the type in the table. A text may become a number or a flag, and a single word becomes
/// a list.
fn checked(kind: &Kind, value: Value) -> Result<Value, Wrong> {
    let wrong = |what: &str| Err(Wrong { what: what.to_owned(), ..Wrong::default() });
    match kind {
        Kind::Text => match value {
            Value::String(text) if !text.trim().is_empty() => Ok(Value::String(text)),
            Value::String(_) => wrong("is empty"),
            Value::Array(values) => match values.as_slice() {
                [Value::String(only)] => {
                    let nearest = Some(Value::from(only.as_str()));
                    Err(Wrong { what: "must be a string".to_owned(), nearest, ..Wrong::default() })
                }
                _ => wrong("must be a string"),
            },
            _ => wrong("must be a string"),
        },
        Kind::Flag => match &value {
            Value::Bool(_) => Ok(value),
            Value::String(text) if text == "true" || text == "false" => Ok(Value::Bool(text == "true")),
            _ => wrong("must be true or false"),
        },
        Kind::Number { min, max } => {
            let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
            bounded(number, &value, *min, *max)
        }
        Kind::List => list(value),
        Kind::Choice(words) => match value {
            Value::String(word) => choice(words, &word),
            _ => wrong(&format!("must be one of {}", words.join(", "))),
        },
        Kind::Choices(words) => {
            let Value::Array(values) = list(value)? else { return wrong("must be a list of strings") };
            let values = values.iter().filter_map(Value::as_str);
            values
                .map(|word| choice(words, word))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array)
                .map_err(|wrong| Wrong { nearest: wrong.nearest.map(|word| Value::Array(vec![word])), ..wrong })
        }
    }
}

fn bounded(number: Option<u64>, value: &Value, min: u64, max: u64) -> Result<Value, Wrong> {
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(Value::from(number)),
        Some(number) => Err(Wrong {
            what: format!("must be between {min} and {max} (min_allowed {min}, max_allowed {max}, provided {number})"),
            nearest: Some(Value::from(number.clamp(min, max))),
            max_allowed: Some(max),
            provided: i64::try_from(number).ok(),
        }),
        None if value.is_i64() => Err(Wrong {
            what: format!("must be between {min} and {max} (min_allowed {min}, max_allowed {max}, provided {value})"),
            nearest: None,
            max_allowed: Some(max),
            provided: value.as_i64(),
        }),
        None => Err(Wrong { what: format!("must be a whole number from {min}, not {value}"), ..Wrong::default() }),
    }
}

fn list(value: Value) -> Result<Value, Wrong> {
    match value {
        Value::String(text) => Ok(Value::Array(vec![Value::String(text)])),
        Value::Array(values) if values.iter().all(Value::is_string) => Ok(Value::Array(values)),
        _ => Err(Wrong { what: "must be a list of strings".to_owned(), ..Wrong::default() }),
    }
}

/// Words that other products use for a choice, each with the word of Cairn that has the same meaning.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["impact", "used_by", "usages", "references", "uses_of", "importers", "imported_by"], "dependents"),
    (&["called_by", "who_calls", "incoming_calls"], "callers"),
    (&["calls", "outgoing_calls"], "callees"),
    (&["uses", "imports"], "dependencies"),
    (&["extends", "implements", "subclasses", "subtypes", "hierarchy"], "inheritance"),
];

fn word_of_other_word(words: &[&'static str], given: &str) -> Option<&'static str> {
    let folded = cairn_ranking::fold_style(given);
    let is_other =
        |(others, _): &&(&[&str], &'static str)| others.iter().any(|other| cairn_ranking::fold_style(other) == folded);
    let (_, word) = OTHER_WORDS.iter().find(is_other)?;
    words.contains(word).then_some(*word)
}

fn choice(words: &[&'static str], given: &str) -> Result<Value, Wrong> {
    let folded = given.trim().to_lowercase();
    if let Some(word) = words.iter().find(|word| **word == folded) {
        return Ok(Value::from(*word));
    }
    let near = word_of_other_word(words, &folded).or_else(|| nearest_word(&folded, words));
    let mean = near.map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    let what = format!("must be one of {}, but it is `{given}`{mean}", words.join(", "));
    Err(Wrong { what, nearest: near.map(Value::from), ..Wrong::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(tool: &str, given: Value) -> Result<Value, (String, Option<Value>)> {
        let Value::Object(given) = given else { panic!("an object") };
        match Arguments::read(ToolSpec::find(tool).expect("a tool"), given) {
            Ok(arguments) => Ok(Value::Object(arguments.given)),
            Err(failure) => {
                assert_eq!(failure.error.code, QueryErrorCode::ValidationError);
                let corrected = failure.suggestions.into_iter().find(|suggestion| suggestion.tool == tool);
                Err((
                    failure.error.message.to_string(),
                    corrected.map(|suggestion| Value::Object(suggestion.arguments)),
                ))
            }
        }
    }

    #[test]
    fn argument_values_are_converted_to_their_type() {
        let check = |given: Value, expect: Value| assert_eq!(read("search_code", given), Ok(expect));
        check(json!({"query": "x", "limit": "5"}), json!({"query": "x", "limit": 5}));
        check(json!({"query": "x", "path": "src"}), json!({"query": "x", "path": ["src"]}));
        check(json!({"query": "x", "explain": "true"}), json!({"query": "x", "explain": true}));
        check(json!({"query": "x", "cursor": null}), json!({"query": "x"}));
        check(json!({"query": "x", "kind": "Function"}), json!({"query": "x", "kind": ["function"]}));
    }

    #[test]
    fn unknown_argument_suggests_the_nearest_name() {
        let check = |tool: &str, given: Value, message: &str, corrected: Value| {
            let (found, call) = read(tool, given).expect_err("refused");
            assert_eq!(found, message);
            assert_eq!(call, Some(corrected));
        };
        let query = json!({"query": "x"});
        let named = |given: Value| read("search_code", given);
        assert_eq!(named(json!({"target": "x", "type": "file"})), Ok(json!({"query": "x", "target_type": "file"})));
        check("search_code", json!({"qurey": "x"}), "unknown argument `qurey`; did you mean `query`?", query.clone());
        check("search_code", json!({"question": "x"}), "unknown argument `question`; did you mean `query`?", query);
        check(
            "read_code",
            json!({"filePath": "a.rs", "startLine": 3}),
            "unknown argument `filePath`; did you mean `path`?; unknown argument `startLine`; did you mean `start_line`?",
            json!({"path": "a.rs", "start_line": 3}),
        );
        check(
            "analyze_relationship",
            json!({"name": "f", "relation": "caller"}),
            "`mode` must be one of callers, callees, dependencies, dependents, inheritance, but it is `caller`; did you mean `callers`?",
            json!({"target": "f", "mode": "callers"}),
        );
        check(
            "analyze_relationship",
            json!({"name": "f", "relation": "callers", "wibble": 1}),
            "unknown argument `wibble`; `analyze_relationship` takes target, mode, context_path, repository, limit",
            json!({"target": "f", "mode": "callers"}),
        );
        check(
            "analyze_relationship",
            json!({"name": "f", "relation": "callers", "limit": -1}),
            "`limit` must be between 1 and 500 (min_allowed 1, max_allowed 500, provided -1)",
            json!({"target": "f", "mode": "callers"}),
        );
        check(
            "analyze_relationship",
            json!({"target": "src/auth.ts", "mode": "impact"}),
            "`mode` must be one of callers, callees, dependencies, dependents, inheritance, but it is `impact`; did you mean `dependents`?",
            json!({"target": "src/auth.ts", "mode": "dependents"}),
        );
        check(
            "analyze_relationship",
            json!({"target": "f"}),
            "`mode` is missing; it must be one of callers, callees, dependencies, dependents, inheritance",
            json!({"target": "f", "mode": "callers"}),
        );
        check(
            "index_repository",
            json!({"max_file_size": 99_999_999}),
            "`max_file_size` must be between 0 and 10485760 (min_allowed 0, max_allowed 10485760, provided 99999999)",
            json!({"max_file_size": 10_485_760}),
        );
    }

    #[test]
    fn details_name_the_wrong_field() {
        let check = |given: Value, expect: FieldFault| {
            let Value::Object(given) = given else { panic!("an object") };
            let failure = Arguments::read(ToolSpec::find("index_repository").expect("a tool"), given);
            assert_eq!(failure.expect_err("refused").error.fault.as_deref(), Some(&expect));
        };
        let size = FieldFault::of("max_file_size");
        let sizes = FieldFault { max_allowed: Some(10_485_760), provided: Some(20_971_520), ..size.clone() };
        check(json!({"path": ".", "max_file_size": 20_971_520}), sizes.clone());
        let negative = FieldFault { provided: Some(-1), ..sizes };
        check(json!({"path": ".", "max_file_size": -1}), negative);
        check(json!({"path": ".", "max_file_size": "many"}), size);
        check(json!({"path": ".", "wibble": 1}), FieldFault::of("wibble"));
    }

    /// Every tool accepts its subject in the argument `target`, and still accepts the old names of this
    /// argument.
    #[test]
    fn target_is_the_subject_of_every_call() {
        let check = |tool: &str, given: Value, expect: Value| assert_eq!(read(tool, given), Ok(expect));
        check("search_code", json!({"target": "x", "type": "file"}), json!({"query": "x", "target_type": "file"}));
        check("read_code", json!({"target": "src/a.rs"}), json!({"target": "src/a.rs"}));
        let relation = json!({"target": "f", "mode": "callers"});
        check("analyze_relationship", json!({"target": "f", "relation": "callers"}), relation.clone());
        check("analyze_relationship", json!({"name": "f", "mode": "callers"}), relation);
        check("index_repository", json!({"target": "/x"}), json!({"path": "/x"}));
        let of_question = json!({"query": "x", "query_type": "symbol"});
        check("search_code", of_question.clone(), of_question);
        // `type` selects what a search looks for, never the kind of chunk.
        let (message, _) = read("search_code", json!({"query": "x", "type": "function"})).expect_err("refused");
        assert!(message.starts_with("`target_type` must be one of auto, symbol, file"), "{message}");
    }

    #[test]
    fn fault_without_correction_suggests_no_call() {
        let check = |given: Value, message: &str| {
            let (found, call) = read("analyze_relationship", given).expect_err("refused");
            assert_eq!(found, message);
            assert_eq!(call, None);
        };
        check(
            json!({"relation": "callers"}),
            "`target` is missing (symbol (`name`, `Class.method`, `path#name`), file, directory, module or package)",
        );
        check(
            json!({"name": 3, "relation": "callers"}),
            "`target` must be a string; `target` is missing (symbol (`name`, `Class.method`, `path#name`), file, directory, module or package)",
        );
        check(
            json!({"name": "f", "symbol": "g", "relation": "callers"}),
            "unknown argument `symbol`; did you mean `target`?",
        );
    }
}
