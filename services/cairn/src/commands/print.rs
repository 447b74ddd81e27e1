//! Answers on the terminal, whoever gave them: the JSON as it is, or as text.

use std::process::ExitCode;

use cairn_gateway::questions::{Question, ReadQuestion};
use serde_json::Value;

use super::field::{flag, list, number, text};
use super::{NOTHING_FOUND, print_inventory};
use crate::output::{self, FAINT, NAME, PATH, styled};

/// Shows an answer; the exit code says whether there is anything in it.
pub(crate) fn answer(question: &Question, answer: &Value, json: bool) -> ExitCode {
    match question {
        // One edge on a line: reviews are made of them with line tools.
        Question::Sample(_) if json => list(answer, "edges").iter().for_each(output::json),
        _ if json => output::json(answer),
        Question::Search(question) => search(answer, question.explain),
        Question::Read(question) => code(question, answer),
        Question::Graph(question) => graph(answer, &question.relation),
        Question::Sample(_) => list(answer, "edges").iter().for_each(sampled),
        Question::Patterns(_) => patterns(answer),
        Question::Repositories(_) => print_inventory::repositories(answer),
        Question::Status(_) => print_inventory::status(answer),
        Question::Stats(_) => print_inventory::stats(answer),
        Question::Runs(question) if question.run_id.is_some() => print_inventory::run_with_result(answer),
        Question::Runs(_) => print_inventory::runs(answer),
        Question::Cancel(_) => cancelled(answer),
        Question::Coverage(question) if question.why.is_some() => print_inventory::why(answer),
        Question::Coverage(question) => print_inventory::coverage(answer, question.summary),
        Question::Secrets(_) => print_inventory::secrets(answer),
        Question::Fingerprint(_) => list(answer, "fingerprints").iter().for_each(print_inventory::fingerprint),
        Question::Guide(_) => output::line(text(answer, "text")),
        Question::Index(_) | Question::Progress(_) => print_inventory::asked(answer),
    }
    let results = match question {
        Question::Search(_) => "results",
        Question::Graph(_) | Question::Sample(_) => "edges",
        Question::Patterns(_) => "patterns",
        Question::Fingerprint(_) => "fingerprints",
        _ => return ExitCode::SUCCESS,
    };
    if list(answer, results).is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS }
}

fn cancelled(answer: &Value) {
    let requests: Vec<&str> = list(answer, "requests").iter().filter_map(Value::as_str).collect();
    let begun = format!("{} runs cancelled", list(answer, "cancelled").len());
    let more = format!(", and {} that had not begun: {}", requests.len(), requests.join(", "));
    output::line(&if requests.is_empty() { begun } else { begun + &more });
}

fn search(answer: &Value, explain: bool) {
    let results = list(answer, "results");
    if results.is_empty() {
        output::note("nothing found");
        if let Some(message) = answer["message"].as_str() {
            output::note(message);
        }
    }
    for (number_on_page, result) in (1..).zip(results) {
        found(number(answer, "offset") + number_on_page, result, explain);
    }
    let num_left = number(&answer["cut"], "num_left");
    let left = match text(&answer["cut"], "by") {
        "limit" => Some(format!("{num_left} more results")),
        "max_tokens" => Some(format!("{num_left} more results did not fit into --max-tokens")),
        _ => None,
    };
    if let (Some(left), Some(cursor)) = (left, answer["next_cursor"].as_str()) {
        output::note(&format!("{left}; the next page:"));
        output::note(&styled(FAINT, format!("  {}", next_page(std::env::args(), cursor))));
    }
    sources(answer);
}

/// The command line that gets the page behind a cursor: the one that was given, with that cursor.
fn next_page(given: impl Iterator<Item = String>, cursor: &str) -> String {
    let mut words = Vec::new();
    let mut is_cursor = false;
    for word in given {
        if !std::mem::replace(&mut is_cursor, word == "--cursor") && !is_cursor && !word.starts_with("--cursor=") {
            words.push(quoted(&word));
        }
    }
    words.push(format!("--cursor {cursor}"));
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn place(value: &Value) -> String {
    format!("{}:{}-{}", text(value, "path"), number(value, "start_line"), number(value, "end_line"))
}

fn found(number_in_all: u64, found: &Value, explain: bool) {
    let what = found["symbol"].as_str().or_else(|| found["heading"].as_str()).unwrap_or_default();
    let head = format!("{number_in_all}. {} {}", styled(PATH, place(found)), styled(NAME, what));
    let day = |at: &str| format!(" changed {}", at.get(..10).unwrap_or(at));
    let changed = found["changed_at"].as_str().map(day).unwrap_or_default();
    let kind = format!("{} {}{changed}", text(found, "repository"), text(found, "kind"));
    output::line(&format!("{head} {}", styled(FAINT, kind)));
    for also in list(found, "also_at") {
        output::line(&styled(FAINT, format!("   also {} {}", text(also, "repository"), place(also))));
    }
    if explain {
        explained(found);
    }
    numbered(found);
    let num_cut = number(found, "num_lines_cut");
    if num_cut > 0 {
        output::line(&styled(FAINT, format!("       … {num_cut} more lines")));
    }
    output::line("");
}

fn explained(found: &Value) {
    for part in list(&found["explain"], "lists") {
        let (rank, points) = (number(part, "rank"), number(part, "points"));
        output::line(&styled(FAINT, format!("   {} rank {rank} gives {points} points", text(part, "list"))));
    }
    for signal in list(&found["explain"], "signals") {
        let of = signal["symbol"].as_str().map(|symbol| {
            format!(" of {symbol} at lines {}-{}", number(signal, "start_line"), number(signal, "end_line"))
        });
        let of = of.unwrap_or_default();
        output::line(&styled(FAINT, format!("   {}{of} x {}%", text(signal, "signal"), number(signal, "percent"))));
    }
    output::line(&styled(FAINT, format!("   score {}", found["score"])));
}

/// A text with its lines' numbers.
fn numbered(value: &Value) {
    let first = value["start_line"].as_u64().unwrap_or(1);
    for (line, text) in (first..).zip(text(value, "text").lines()) {
        output::line(&format!("{} {text}", styled(FAINT, format!("{line:>6}"))));
    }
}

fn sources(answer: &Value) {
    for source in list(answer, "sources") {
        let partial = if flag(source, "partial") { ", partial" } else { "" };
        let newer = if flag(source, "run_in_progress") { ", a newer state is being indexed" } else { "" };
        let (name, commit, at) = (text(source, "repository"), text(source, "commit"), text(source, "indexed_at"));
        output::note(&styled(FAINT, format!("{name} at {commit} (indexed {at}{partial}{newer})")));
    }
}

fn code(question: &ReadQuestion, answer: &Value) {
    numbered(answer);
    let num_cut = number(answer, "num_lines_cut");
    if num_cut > 0 {
        left_out(question, answer, num_cut);
    }
    sources(answer);
}

/// Says what of a file did not fit, and the command line that shows it.
fn left_out(question: &ReadQuestion, answer: &Value, num_cut: u64) {
    let shown_to = answer["end_line"].as_u64();
    let mut first = shown_to.map_or(question.start_line.unwrap_or(1).into(), |line| line + 1);
    let last = first + num_cut - 1;
    if shown_to.is_none() {
        output::note(&format!("line {first} alone is too long to be shown"));
        first += 1;
    }
    if first > last {
        return;
    }
    output::note(&format!(
        "{} of {} lines were left out; they are shown by:",
        last - first + 1,
        number(answer, "num_lines")
    ));
    let path = question.path.as_deref().unwrap_or_default();
    output::note(&styled(FAINT, format!("  {}", with_lines(std::env::args(), path, first, last))));
}

/// The command line that was given, with other lines of that path.
fn with_lines(given: impl Iterator<Item = String>, path: &str, first: u64, last: u64) -> String {
    let mut words: Vec<String> = given.collect();
    let is_place = |word: &String| word.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    if let Some(place) = words.iter().rposition(is_place) {
        words[place] = format!("{path}:{first}-{last}");
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn graph(answer: &Value, relation: &str) {
    if let Some(asked) = answer["resolved_from"].as_str() {
        output::note(&format!("`{asked}` is not there as written; this is about what comes nearest"));
    }
    for node in list(answer, "about") {
        let (path, line) = (text(node, "path"), number(node, "start_line"));
        let about = format!("{}:{line} {}", styled(PATH, path), styled(NAME, text(node, "name")));
        output::line(&format!("{relation} of {about} {}", styled(FAINT, text(node, "repository"))));
    }
    for edge in list(answer, "edges") {
        let (node, site) = (&edge["node"], &edge["site"]);
        let site = match site["path"].as_str() {
            Some(path) => format!("{path}:{}", number(site, "line")),
            None => text(node, "path").to_owned(),
        };
        let arrow = if text(edge, "direction") == "out" { "→" } else { "←" };
        let percent = (edge["confidence"].as_f64().unwrap_or_default() * 100.0).round();
        let sure = format!("{} {} {percent}%", text(edge, "edge"), text(edge, "resolution"));
        let name = styled(NAME, text(node, "name"));
        output::line(&format!("  {arrow} {name} {} {}", styled(PATH, site), styled(FAINT, sure)));
    }
    let num_left = number(answer, "num_edges").saturating_sub(list(answer, "edges").len() as u64);
    if num_left > 0 {
        output::note(&styled(FAINT, format!("{num_left} more: raise --limit")));
    }
    sources(answer);
}

fn sampled(edge: &Value) {
    let (source, target) = (&edge["source"], &edge["target"]);
    output::line(&format!(
        "{}:{} {} {} {} {}:{}",
        text(source, "path"),
        number(&edge["site"], "line"),
        text(source, "name"),
        text(edge, "edge"),
        text(target, "name"),
        text(target, "path"),
        number(target, "start_line"),
    ));
}

fn patterns(answer: &Value) {
    for pattern in list(answer, "patterns") {
        let members = list(pattern, "members");
        let of = format!("{} members, {} {}", members.len(), text(pattern, "repository"), text(pattern, "module"));
        output::line(&format!("{} {}", styled(NAME, text(pattern, "name")), styled(FAINT, of)));
        output::line(&format!("  {}", text(pattern, "description")));
        for member in members {
            let methods = |name, sign| {
                let names = list(member, name).iter().filter_map(Value::as_str);
                names.map(move |name| format!("{sign}{name}"))
            };
            let deviations: Vec<String> =
                methods("extra_methods", '+').chain(methods("missing_methods", '-')).collect();
            let place = format!("{}:{}", text(member, "path"), number(member, "start_line"));
            output::line(&format!("  {} {} {}", styled(PATH, place), text(member, "name"), deviations.join(" ")));
        }
    }
    sources(answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_a_command_line() {
        let check = |given: &[&str], expect: &str| {
            assert_eq!(next_page(given.iter().map(ToString::to_string), "c0"), expect);
        };
        check(&["cairn", "search", "save"], "cairn search save --cursor c0");
        check(&["cairn", "search", "it's so", "--cursor", "b9"], "cairn search 'it'\\''s so' --cursor c0");
        check(&["cairn", "search", "x", "--cursor=b9", "--path", "*.py"], "cairn search x --path '*.py' --cursor c0");
    }

    #[test]
    fn the_rest_of_a_file_is_a_command_line() {
        let check = |given: &[&str], path: &str, expect: &str| {
            assert_eq!(with_lines(given.iter().map(ToString::to_string), path, 8, 9), expect);
        };
        check(&["cairn", "show", "r", "a.py"], "a.py", "cairn show r a.py:8-9");
        check(&["cairn", "show", "a", "a:1-9"], "a", "cairn show a a:8-9");
        check(&["cairn", "show", "r", "a b:3", "--server", "u"], "a b", "cairn show r 'a b:8-9' --server u");
    }
}
