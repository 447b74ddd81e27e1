//! Prints answers as JSON or as text. The output is the same for local mode, a server and a cluster.

use std::process::ExitCode;

use cairn_gateway::answers::{
    Cancellation, CodeText, CoverageAnswer, CutBy, EdgeDirection, EdgeReport, GrepResults, PatternList,
    PatternMemberReport, Relationships, RunsAnswer, SampledEdgeReport, SearchResult, SearchResults, ShownDefinition,
    SourceStamp, SuggestedCall,
};
use cairn_gateway::questions::{Answer, Question, ReadQuestion};
use serde::Serialize;

use super::command_line::{command_line, quoted};
use super::{guide_text, print_inventory};
use crate::exit::NOTHING_FOUND;
use crate::output::{self, FAINT, NAME, PATH, styled};

/// An answer and, if the answer is empty, the suggested calls.
#[derive(Serialize)]
struct WithSuggestions<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "<[SuggestedCall]>::is_empty")]
    tool_suggestions: &'a [SuggestedCall],
}

/// Prints the answer to the question, and suggested commands. The exit code shows whether the answer contains
/// results.
pub(crate) fn answer(question: &Question, answer: &Answer, suggestions: &[SuggestedCall], json: bool) -> ExitCode {
    match answer {
        // Each edge is printed on one line, so that reviewers can process the edges with line-based tools.
        Answer::Sample(sample) if json => sample.edges.iter().for_each(output::json),
        _ if json => output::json(&WithSuggestions { answer, tool_suggestions: suggestions }),
        Answer::Search(results) => search(question, results),
        Answer::Grep(results) => grep(results),
        Answer::Read(text) => code(question, text),
        Answer::Graph(answer) => graph(question, answer),
        Answer::Sample(sample) => sample.edges.iter().for_each(sampled),
        Answer::Patterns(list) => patterns(list),
        Answer::Modules(list) => print_inventory::modules(list),
        Answer::Repositories(list) => print_inventory::repositories(list),
        Answer::Status(status) => print_inventory::status(status),
        Answer::Stats(stats) => print_inventory::stats(stats),
        Answer::Runs(RunsAnswer::One(run)) => print_inventory::run_with_result(run),
        Answer::Runs(RunsAnswer::List(list)) => print_inventory::runs(list),
        Answer::Cancel(cancellation) => cancelled(cancellation),
        Answer::Coverage(CoverageAnswer::One(path)) => print_inventory::why(path),
        Answer::Coverage(CoverageAnswer::All(coverage)) => print_inventory::coverage(coverage),
        Answer::Secrets(list) => print_inventory::secrets(list),
        Answer::Fingerprint(list) => list.fingerprints.iter().for_each(print_inventory::fingerprint),
        Answer::Guide(guide) => {
            let given: Vec<String> = std::env::args().collect();
            output::line(&guide_text::with_commands(&guide.text, &given));
        }
        Answer::Index(progress) | Answer::Progress(progress) => print_inventory::requested(progress),
    }
    if !json {
        output::commands(suggestions);
    }
    // An empty list of repositories, runs or secrets is a complete answer, so it is not reported as "nothing
    // found".
    let is_list = matches!(answer, Answer::Repositories(_) | Answer::Runs(_) | Answer::Secrets(_));
    let is_empty = answer.is_empty() && !is_list;
    if is_empty { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS }
}

fn cancelled(answer: &Cancellation) {
    let runs = format!("{} runs cancelled", answer.cancelled.len());
    let requests = &answer.requests;
    let more = format!(", and {} that had not begun: {}", requests.len(), requests.join(", "));
    output::line(&if requests.is_empty() { runs } else { runs + &more });
}

fn search(question: &Question, answer: &SearchResults) {
    for name in &answer.names {
        output::note(&name.sentence(str::to_owned));
    }
    for file in &answer.files {
        let end = if file.is_directory { "/" } else { "" };
        let place = styled(PATH, format!("{}{end}", file.path));
        output::line(&format!("{place} {}", styled(FAINT, format!("{} score {}", file.repository, file.score))));
    }
    if answer.results.is_empty() && answer.files.is_empty() {
        nothing_found(answer);
    }
    if matches!(question, Question::Search(question) if question.explain) {
        answer.reading.iter().for_each(|fact| output::line(&styled(FAINT, fact.clone())));
    } else {
        output::note(&styled(FAINT, answer.type_line()));
    }
    for note in &answer.notes {
        output::note(note);
    }
    let before = if answer.files_are_results { 0 } else { answer.offset };
    for (number, result) in (before + 1..).zip(&answer.results) {
        found(number, result);
    }
    let what = if answer.files_are_results { "files" } else { "results" };
    if let (Some(cut), Some(cursor)) = (&answer.cut, &answer.next_cursor) {
        let left = match cut.by {
            CutBy::Limit => format!("{} more {what}", cut.num_left),
            CutBy::MaxTokens => format!("{} more {what} did not fit into --max-tokens", cut.num_left),
            CutBy::Time => format!("{} more {what} did not fit into the time limit", cut.num_left),
        };
        output::note(&format!("{left}; the next page:"));
        output::note(&styled(FAINT, format!("  {}", next_page(std::env::args(), cursor))));
    }
    sources(&answer.sources);
}

/// Prints why a search has no results, and suggested questions that have results.
fn nothing_found(answer: &SearchResults) {
    let Some(nothing) = &answer.nothing_found else {
        return output::note("nothing found");
    };
    output::note(if nothing.statement.is_empty() { "nothing found" } else { &nothing.statement });
    if let Some(line) = nothing.not_indexed_line(str::to_owned) {
        output::note(&line);
    }
    for without in &nothing.without {
        output::note(&format!("without the restriction on {}: {} chunks", without.restriction, without.num_chunks));
    }
    if let Some(message) = &answer.message {
        output::note(message);
    }
    for suggestion in &nothing.suggestions {
        output::note(&format!("instead: {} ({})", styled(NAME, &suggestion.query), suggestion.reason));
    }
    for module in &nothing.related_modules {
        let name = styled(NAME, &module.module);
        output::note(&format!("related module: {name} in {} ({})", module.repository, module.reason));
    }
    for weak in &nothing.weak_matches {
        let at = styled(PATH, place(&weak.path, weak.start_line, weak.end_line));
        let symbol = weak.symbol.as_ref().map(|symbol| format!(" {}", styled(NAME, symbol))).unwrap_or_default();
        output::note(&format!("weak match: {at}{symbol} {}", styled(FAINT, &weak.repository)));
    }
}

fn grep(answer: &GrepResults) {
    for file in &answer.matching_files {
        output::line(&format!("{} {}", styled(PATH, file.path.clone()), styled(FAINT, file.repository.clone())));
        let mut last = None;
        for line in &file.lines {
            if last.is_some_and(|last: u32| last + 1 < line.line) && file.lines.iter().any(|line| !line.is_hit) {
                output::line(&styled(FAINT, "--"));
            }
            output::line(&line.numbered());
            last = Some(line.line);
        }
        output::line("");
    }
    let found = format!("{} of {} hits", answer.num_shown(), answer.counted());
    if answer.is_shortened {
        output::note("the hit is shortened, because it has more tokens than --max-tokens allows");
    }
    match (&answer.cut, &answer.next_cursor) {
        (Some(cut), Some(cursor)) => {
            let cut = match cut.by {
                CutBy::Limit => "--limit",
                CutBy::MaxTokens => "--max-tokens",
                CutBy::Time => "the time limit",
            };
            output::note(&format!("{found}, cut by {cut}; the next page:"));
            output::note(&styled(FAINT, format!("  {}", next_page(std::env::args(), cursor))));
        }
        _ if answer.num_results == 0 && answer.sources.is_empty() => {
            output::note("no line matches: no repository that was searched is indexed");
        }
        _ if answer.num_results == 0 => output::note("no line matches"),
        _ if answer.is_too_small() => output::note(&format!("{found}: increase --max-tokens")),
        _ => output::note(&styled(FAINT, found)),
    }
    for note in &answer.notes {
        output::note(note);
    }
    sources(&answer.sources);
}

/// Returns the command line that shows the next page: the given command line with this cursor.
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

fn place(path: &str, start_line: u32, end_line: u32) -> String {
    format!("{path}:{start_line}-{end_line}")
}

fn found(number_in_all: usize, found: &SearchResult) {
    let what = found.symbol.as_deref().or(found.heading.as_deref()).unwrap_or_default();
    let at = place(&found.path, found.start_line, found.end_line);
    let head = format!("{number_in_all}. {} {}", styled(PATH, at), styled(NAME, what));
    let day = |at: &String| format!(" changed {}", at.get(..10).unwrap_or(at));
    let changed = found.changed_at.as_ref().map(day).unwrap_or_default();
    let kind = format!("{} {}{changed}", found.repository, found.kind);
    output::line(&format!("{head} {}", styled(FAINT, kind)));
    let step = found.step.map(|step| format!("step {step}"));
    let via = found.via.as_ref().map(|via| format!("via {via}"));
    let matched = found.name_match.as_ref().and_then(|matched| matched.text(str::to_owned));
    let matched = matched.map(|matched| format!("match {matched}"));
    let pattern = found.follows_pattern.as_ref().map(|pattern| format!("follows pattern {pattern}"));
    let origin: Vec<String> = step.into_iter().chain(via).chain(matched).chain(pattern).collect();
    if !origin.is_empty() {
        output::line(&styled(FAINT, format!("   {}", origin.join(", "))));
    }
    for also in &found.also_at {
        let at = place(&also.path, also.start_line, also.end_line);
        output::line(&styled(FAINT, format!("   also {} {at}", also.repository)));
    }
    explained(found);
    numbered(found.start_line, &found.text);
    if found.num_lines_cut > 0 {
        output::line(&styled(FAINT, format!("       … {} more lines", found.num_lines_cut)));
    }
    output::line("");
}

fn explained(found: &SearchResult) {
    let Some(explanation) = &found.explain else { return };
    for part in &explanation.parts {
        let rank = part.rank.map(|rank| format!(" rank {rank}")).unwrap_or_default();
        output::line(&styled(FAINT, format!("   {}{rank} gives {} points", part.part, part.points)));
    }
    for factor in &explanation.factors {
        output::line(&styled(FAINT, format!("   {} x {}%", factor.factor, factor.percent)));
    }
    if let Some(ShownDefinition { symbol, start_line, end_line }) = &explanation.definition {
        output::line(&styled(FAINT, format!("   shows {symbol} at lines {start_line}-{end_line}")));
    }
    output::line(&styled(FAINT, format!("   score {}", found.score)));
}

/// Prints a text with line numbers.
fn numbered(first: u32, text: &str) {
    for (line, text) in (first..).zip(text.lines()) {
        output::line(&format!("{} {text}", styled(FAINT, format!("{line:>6}"))));
    }
}

pub(super) fn sources(sources: &[SourceStamp]) {
    for source in sources {
        let partial = if source.partial { ", partial" } else { "" };
        let newer = source.newer(str::to_owned).map(|newer| format!(", {newer}")).unwrap_or_default();
        let reason = source.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let (name, commit, at) = (&source.repository, &source.commit, &source.indexed_at);
        output::note(&styled(FAINT, format!("{name} at {commit} (indexed {at}{partial}{newer}){reason}")));
    }
}

fn code(question: &Question, answer: &CodeText) {
    if let Some(resolution) = &answer.resolution {
        output::note(&resolution.sentence(str::to_owned));
    }
    numbered(answer.start_line.unwrap_or(1), &answer.text);
    if let (Question::Read(question), true) = (question, answer.num_lines_cut > 0) {
        left_out(question, answer);
    }
    for line in answer.other_definition_lines(str::to_owned).iter().chain(&answer.notes) {
        output::note(line);
    }
    sources(&answer.sources);
}

/// Prints the number of lines of a file that were omitted, and the command line that shows these lines.
fn left_out(question: &ReadQuestion, answer: &CodeText) {
    let mut first = answer.end_line.map_or(question.start_line.unwrap_or(1).into(), |line| u64::from(line) + 1);
    let last = first + answer.num_lines_cut as u64 - 1;
    if answer.end_line.is_none() {
        output::note(&format!("line {first} alone is too long to be shown"));
        first += 1;
    }
    if first > last {
        return;
    }
    output::note(&format!("{} of {} lines are not shown; to show them:", last - first + 1, answer.num_lines));
    let line = |line: u64| u32::try_from(line).ok();
    let rest = ReadQuestion {
        repository: Some(answer.repository.clone()),
        target: None,
        path: Some(answer.path.clone()),
        symbol: None,
        start_line: line(first),
        end_line: line(last),
        ..question.clone()
    };
    if let Some(command) = command_line(&Question::Read(rest), std::env::args()) {
        output::note(&styled(FAINT, format!("  {command}")));
    }
}

fn graph(question: &Question, answer: &Relationships) {
    if let Some(resolution) = &answer.resolution {
        output::note(&resolution.sentence(str::to_owned));
    }
    let relation = if let Question::Graph(question) = question { question.mode.as_str() } else { "edges" };
    // The edges of each definition are listed separately.
    for (number, node) in answer.about.iter().enumerate() {
        let (path, line) = (node.path.as_deref().unwrap_or_default(), node.start_line.unwrap_or_default());
        let about = format!("{}:{line} {}", styled(PATH, path), styled(NAME, &node.name));
        output::line(&format!("{relation} of {about} {}", styled(FAINT, &node.repository)));
        answer.edges.iter().filter(|edge| edge.about == number).for_each(edge);
    }
    answer.notes.iter().for_each(|note| output::note(note));
    if let Some(left) = answer.left() {
        let is_limited = answer.num_edges > answer.edges.len() as u64;
        let remedy = if is_limited { ": increase --limit" } else { "" };
        output::note(&styled(FAINT, format!("{left}{remedy}")));
    }
    sources(&answer.sources);
}

fn edge(edge: &EdgeReport) {
    let site = match &edge.site {
        Some(site) => format!("{}:{}", site.path.as_deref().unwrap_or_default(), site.line),
        None => edge.node.path.clone().unwrap_or_default(),
    };
    let arrow = if edge.direction == EdgeDirection::Out { "→" } else { "←" };
    let sure = format!("{} {} {}%", edge.edge, edge.resolution, edge.confidence_percent());
    let name = styled(NAME, &edge.node.name);
    output::line(&format!("  {arrow} {name} {} {}", styled(PATH, site), styled(FAINT, sure)));
}

fn sampled(edge: &SampledEdgeReport) {
    let (source, target) = (&edge.source, &edge.target);
    output::line(&format!(
        "{}:{} {} {} {} {}:{}",
        source.path.as_deref().unwrap_or_default(),
        edge.site.line,
        source.name,
        edge.edge,
        target.name,
        target.path.as_deref().unwrap_or_default(),
        target.start_line.unwrap_or_default(),
    ));
}

fn patterns(answer: &PatternList) {
    for pattern in &answer.patterns {
        let of = format!("{} members, {} {}", pattern.members.len(), pattern.repository, pattern.module);
        output::line(&format!("{} {}", styled(NAME, &pattern.name), styled(FAINT, of)));
        output::line(&format!("  {}", pattern.description));
        pattern.members.iter().for_each(member);
    }
    if answer.patterns.is_empty() {
        let is_indexed = !answer.sources.is_empty();
        output::note(if is_indexed {
            "no pattern of indexed code matches"
        } else {
            "no pattern matches: nothing is indexed"
        });
    }
    sources(&answer.sources);
}

fn member(member: &PatternMemberReport) {
    let extra = member.extra_methods.iter().map(|name| format!("+{name}"));
    let missing = member.missing_methods.iter().map(|name| format!("-{name}"));
    let deviations: Vec<String> = extra.chain(missing).collect();
    let place = format!("{}:{}", member.path, member.start_line);
    output::line(&format!("  {} {} {}", styled(PATH, place), member.name, deviations.join(" ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_page_is_a_command_line() {
        let check = |given: &[&str], expect: &str| {
            assert_eq!(next_page(given.iter().map(ToString::to_string), "c0"), expect);
        };
        check(&["cairn", "search", "save"], "cairn search save --cursor c0");
        check(&["cairn", "search", "it's so", "--cursor", "b9"], "cairn search 'it'\\''s so' --cursor c0");
        check(&["cairn", "search", "x", "--cursor=b9", "--path", "*.py"], "cairn search x --path '*.py' --cursor c0");
    }
}
