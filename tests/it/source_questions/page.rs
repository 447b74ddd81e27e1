//! The page with the questions and their answers.

use serde_json::Value;

/// Number of results that the page shows for each question.
const SHOWN: usize = 5;

pub(super) const HEAD: &str = "# Questions of the requirements, with their answers

The requirements of Cairn contain questions as examples. This page shows the answers: the type of the question
and the reason for this type, its intent, how the question was read, and the first results.
`scripts/source-questions` writes the page, and a test checks that it is current.

The indexed repository is `tests/it/source_questions/repository`. It contains the code and documents that the
questions are about. The test checks the expected answer of each question
(`tests/it/source_questions/questions.txt`): its type, a path, and for some questions the first place, the
edge, the steps in order, or a suggestion. Each question is listed once.
";

/// A question and its answer.
pub(super) fn entry(command: &[&str], question: &str, answer: &Value) -> String {
    let mut lines = read(answer);
    lines.extend(names(answer));
    lines.extend(texts(&answer["notes"]).into_iter().map(|note| format!("note: {note}")));
    lines.extend(found(answer));
    lines.extend(nothing(answer));
    lines.extend(error(answer));
    format!("\n### `cairn {} {}`\n\n```text\n{}\n```\n", command.join(" "), quoted(question), lines.join("\n"))
}

fn quoted(question: &str) -> String {
    let is_plain = question.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if is_plain { question.to_owned() } else { format!("'{question}'") }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(super) fn list(answer: &Value, name: &str) -> Vec<Value> {
    answer[name].as_array().cloned().unwrap_or_default()
}

/// The facts that describe how the question was read. The first fact repeats the question and is omitted.
fn read(answer: &Value) -> Vec<String> {
    texts(&answer["reading"]).into_iter().skip(1).map(str::to_owned).collect()
}

/// One line for each name that matches no symbol exactly.
fn names(answer: &Value) -> Vec<String> {
    let resolutions = list(answer, "names").into_iter().map(|name| match &name["resolution"] {
        Value::Null => format!("name: {} does not exist", name["name"].as_str().unwrap_or_default()),
        resolution => resolved(resolution),
    });
    let of_whole_answer = answer["resolved_from"].is_string().then(|| resolved(answer));
    resolutions.chain(of_whole_answer).collect()
}

fn resolved(resolution: &Value) -> String {
    let text = |name: &str| resolution[name].as_str().unwrap_or_default().to_owned();
    let (from, to, how) = (text("resolved_from"), text("resolved_to"), text("match"));
    format!("name: {from} is read as {to} ({how}, score {})", resolution["score"])
}

/// The locations in an answer, one line for each, best first.
fn found(answer: &Value) -> Vec<String> {
    let files = list(answer, "files").into_iter().map(|file| {
        let end = if file["is_directory"] == true { "/" } else { "" };
        format!("file {}{end} (score {})", text(&file, "path"), file["score"])
    });
    let results = (1..).zip(list(answer, "results")).map(|(number, result)| numbered(number, &result));
    let edges = list(answer, "edges").into_iter().map(|edge| {
        let node = &edge["node"];
        let line = &edge["site"]["line"];
        format!(
            "{} {} {} {}:{line}",
            text(&edge, "direction"),
            text(&edge, "edge"),
            text(node, "name"),
            text(node, "path")
        )
    });
    let patterns = list(answer, "patterns").into_iter().map(|pattern| {
        let members = list(&pattern, "members");
        let members = members
            .iter()
            .map(|member| format!("\n  {} {}:{}", text(member, "name"), text(member, "path"), member["start_line"]));
        format!("pattern {}: {}{}", text(&pattern, "name"), text(&pattern, "description"), members.collect::<String>())
    });
    let modules = list(answer, "modules")
        .into_iter()
        .map(|module| format!("module {}: {}", text(&module, "module"), text(&module, "description")));
    let read = answer["text"]
        .is_string()
        .then(|| format!("{}:{}-{}", text(answer, "path"), answer["start_line"], answer["end_line"]));
    let kinds: [Vec<String>; 6] = [
        files.collect(),
        results.collect(),
        edges.collect(),
        patterns.collect(),
        modules.collect(),
        read.into_iter().collect(),
    ];
    kinds.into_iter().flat_map(shortened).collect()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn shortened(mut places: Vec<String>) -> Vec<String> {
    let num_left = places.len().saturating_sub(SHOWN);
    places.truncate(SHOWN);
    if num_left > 0 {
        places.push(format!("… {num_left} more"));
    }
    places
}

fn numbered(number: usize, result: &Value) -> String {
    let place = format!("{}:{}-{}", text(result, "path"), result["start_line"], result["end_line"]);
    let name = result["symbol"].as_str().or(result["heading"].as_str()).unwrap_or_default();
    let via = result["via"].as_str().map(|via| format!(" via {via}")).unwrap_or_default();
    let step = result["step"].as_u64().map(|step| format!(" step {step}")).unwrap_or_default();
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    format!("{number}. {place} {}{name}{step}{via}", text(result, "kind"))
}

/// The reason why nothing was found, and the suggested questions and modules.
fn nothing(answer: &Value) -> Vec<String> {
    let nothing = &answer["nothing_found"];
    let statement = nothing["statement"].as_str().map(|statement| format!("nothing found: {statement}"));
    let instead = list(nothing, "suggestions").into_iter();
    let instead = instead.map(|other| format!("instead: {} ({})", text(&other, "query"), text(&other, "reason")));
    let modules = list(nothing, "related_modules").into_iter();
    let modules =
        modules.map(|module| format!("related module: {} ({})", text(&module, "module"), text(&module, "reason")));
    statement.into_iter().chain(instead).chain(modules).collect()
}

fn error(answer: &Value) -> Option<String> {
    let error = answer["error"].as_object()?;
    Some(format!("error {}: {}", text(&answer["error"], "code"), error["message"].as_str().unwrap_or_default()))
}

/// The paths in an answer, best first, without duplicates.
pub(super) fn paths(answer: &Value) -> Vec<String> {
    let of_edges = list(answer, "edges").into_iter().map(|edge| edge["node"].clone());
    let of_patterns = list(answer, "patterns").into_iter().flat_map(|pattern| list(&pattern, "members"));
    let own = answer["text"].is_string().then(|| answer.clone());
    let places = list(answer, "files").into_iter().chain(list(answer, "results")).chain(of_edges);
    let mut paths: Vec<String> = Vec::new();
    for place in places.chain(of_patterns).chain(own) {
        let path = text(&place, "path");
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}
