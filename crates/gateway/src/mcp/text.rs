//! Writes answers as compact text.

use std::collections::BTreeMap;

use serde_json::Value;

use super::suggestion::{call_text, object};
use super::untrusted::{UNTRUSTED, one_line, put_fenced};
use crate::answers::{
    CodeText, CutBy, EdgeDirection, EdgeReport, Explanation, FileReport, NodeReport, Relationships, SearchResult,
    SearchResults, SourceStamp, short_commit,
};

/// Maximum number of stamps, places or definitions that are listed. Further entries are only counted.
const MAX_LISTED: usize = 3;

/// Appends the sources of an answer: the indexed state of each repository.
pub(super) fn put_stamps(out: &mut String, stamps: &[SourceStamp]) {
    put_stamps_of(out, stamps, stamps.len());
}

/// Appends the indexed state of the first repositories, and the number of the other repositories. `num_used`
/// is the number of all repositories from which the answer was computed.
pub(super) fn put_stamps_of(out: &mut String, stamps: &[SourceStamp], num_used: usize) {
    let num_shown = stamps.len().min(MAX_LISTED);
    for stamp in &stamps[..num_shown] {
        let partial = if stamp.partial { ", partial: some files are missing (index_status)" } else { "" };
        let newer = stamp.newer(|commit| one_line(&short_commit(commit))).map(|newer| format!(", {newer}"));
        let retry = matches!(stamp.newer_state.as_deref(), Some("failed" | "cancelled" | "not_indexed"));
        let newer = newer.unwrap_or_default() + if retry { " (index_repository)" } else { "" };
        let reason = stamp.reason.as_ref().map(|reason| format!("; {}", one_line(reason))).unwrap_or_default();
        let (at, commit) = (&stamp.indexed_at, short_commit(&stamp.commit));
        out.push_str(&format!(
            "\nsource: {} @ {commit}, indexed {at}{partial}{newer}{reason}",
            one_line(&stamp.repository)
        ));
    }
    if num_used > num_shown {
        out.push_str(&format!("\n… and {} more repositories", num_used - num_shown));
    }
}

/// A page of search results. `next` is the call for the next page. The text always contains the type of the
/// question and the reason for this type. The text contains the other facts about the parsed question only
/// if an explanation was requested; the structured answer always contains these facts.
pub(super) fn search(answer: &SearchResults, explain: bool, next: Option<&str>) -> String {
    let several = answer.sources.len() > 1;
    let (what, num_shown) =
        if answer.files_are_results { ("files", answer.files.len()) } else { ("results", answer.results.len()) };
    let (last, num_results) = (answer.offset + num_shown, answer.num_results);
    let mut out = String::new();
    if num_results > 0 {
        out.push_str(&format!("{what} {}-{last} of {num_results}\n", answer.offset + 1));
    }
    out.push_str(&format!("{UNTRUSTED}\n"));
    for fact in reading(answer, explain) {
        out.push_str(&format!("{}\n", one_line(&fact)));
    }
    for note in &answer.notes {
        out.push_str(&format!("{note}\n"));
    }
    for name in &answer.names {
        out.push_str(&format!("{}\n", name.sentence(one_line)));
    }
    for file in &answer.files {
        put_file(&mut out, file, several);
    }
    let stamps = put_results(&mut out, answer, several);
    match (&answer.cut, next) {
        (Some(cut), Some(next)) => out.push_str(&format!("\n{} more: {next}", cut.num_left)),
        (Some(cut), None) if cut.by == CutBy::MaxTokens => {
            out.push_str(&format!("\n{} more results did not fit into max_tokens", cut.num_left));
        }
        _ => {}
    }
    put_stamps(&mut out, &stamps);
    out
}

/// Appends the results. The first result of each repository shows the reason for the repository. Returns the
/// stamps without these reasons.
fn put_results(out: &mut String, answer: &SearchResults, several: bool) -> Vec<SourceStamp> {
    let reason = |stamp: &SourceStamp| Some((stamp.repository.clone(), stamp.reason.clone()?));
    let mut reasons: BTreeMap<String, String> = answer.sources.iter().filter_map(reason).collect();
    let before = if answer.files_are_results { 0 } else { answer.offset };
    for (number, result) in (before + 1..).zip(&answer.results) {
        let reason = reasons.remove(&result.repository);
        put_result(out, number, result, (several, reason.as_deref()));
        if let Some(explanation) = &result.explain {
            put_score(out, result.score, explanation);
        }
    }
    let rest = |stamp: &SourceStamp| SourceStamp { reason: reasons.get(&stamp.repository).cloned(), ..stamp.clone() };
    answer.sources.iter().map(rest).collect()
}

/// The lines about the parsed question: its type and the reason for this type, or all facts if an explanation
/// was requested.
pub(super) fn reading(answer: &SearchResults, explain: bool) -> Vec<String> {
    if explain { answer.reading.clone() } else { vec![answer.type_line()] }
}

fn put_file(out: &mut String, file: &FileReport, with_repository: bool) {
    let repository = if with_repository { format!("{} ", one_line(&file.repository)) } else { String::new() };
    let (kind, end) = if file.is_directory { ("directory", "/") } else { ("file", "") };
    out.push_str(&format!("{kind} {repository}{}{end} (score {})\n", one_line(&file.path), file.score));
}

fn put_result(out: &mut String, number: usize, result: &SearchResult, (with_repository, reason): (bool, Option<&str>)) {
    let repository = if with_repository { format!("{} ", one_line(&result.repository)) } else { String::new() };
    let kind = result.symbol_kind.as_deref().unwrap_or(&result.kind);
    let name = result.symbol.as_deref().or(result.heading.as_deref());
    let symbol = name.map(|name| format!(" {}", one_line(name))).unwrap_or_default();
    let (path, start, end) = (one_line(&result.path), result.start_line, result.end_line);
    let step = result.step.map(|step| format!(" (step {step})")).unwrap_or_default();
    out.push_str(&format!("\n{number}. {repository}{path}:{start}-{end} {kind}{symbol}{step}\n"));
    if let Some(reason) = reason {
        out.push_str(&format!("reason: {}\n", one_line(reason)));
    }
    if let Some(via) = &result.via {
        out.push_str(&format!("via {}\n", one_line(via)));
    }
    if let Some(matched) = result.name_match.as_ref().and_then(|matched| matched.text(one_line)) {
        out.push_str(&format!("match {matched}\n"));
    }
    put_pattern(out, result.follows_pattern.as_deref());
    put_fenced(out, &result.language, &result.text);
    if result.num_lines_cut > 0 {
        let rest = object([
            ("repository", Value::from(result.repository.as_str())),
            ("path", Value::from(result.path.as_str())),
            ("start_line", Value::from(u64::from(end) + 1 - result.num_lines_cut as u64)),
            ("end_line", Value::from(end)),
        ]);
        out.push_str(&format!("{} more lines: {}\n", result.num_lines_cut, call_text("read_code", &rest)));
    }
    for place in result.also_at.iter().take(MAX_LISTED) {
        let (repository, path) = (one_line(&place.repository), one_line(&place.path));
        out.push_str(&format!("same text at {repository} {path}:{}\n", place.start_line));
    }
    if result.also_at.len() > MAX_LISTED {
        out.push_str(&format!("same text at {} more places\n", result.also_at.len() - MAX_LISTED));
    }
}

fn put_pattern(out: &mut String, follows_pattern: Option<&str>) {
    if let Some(pattern) = follows_pattern {
        out.push_str(&format!("follows pattern {}\n", one_line(pattern)));
    }
}

fn put_score(out: &mut String, score: u64, explanation: &Explanation) {
    let parts = explanation.parts.iter().map(|part| match part.rank {
        Some(rank) => format!("{} #{rank} {}", part.part, part.points),
        None => format!("{} {}", part.part, part.points),
    });
    let factors = explanation.factors.iter().map(|factor| format!("{} x{}%", factor.factor, factor.percent));
    let definition = explanation.definition.iter().map(|definition| {
        format!("shows {} at {}-{}", one_line(&definition.symbol), definition.start_line, definition.end_line)
    });
    let all: Vec<String> = parts.chain(factors).chain(definition).collect();
    out.push_str(&format!("score {score}: {}\n", all.join(", ")));
}

/// The code that was read. `rest` is the call that reads the omitted lines.
pub(super) fn code(code: &CodeText, rest: Option<&str>) -> String {
    let lines = match (code.start_line, code.end_line) {
        (Some(start), Some(end)) => format!("{start}-{end}"),
        _ => "no lines".to_owned(),
    };
    let mut out: String = code.notes.iter().map(|note| format!("{note}\n")).collect();
    out.push_str(&format!("{UNTRUSTED}\n{}:{lines} of {} lines", one_line(&code.path), code.num_lines));
    if let Some(symbol) = &code.symbol {
        out.push_str(&format!(", {} {}", symbol.kind, one_line(&symbol.name)));
    }
    if let Some(resolution) = &code.resolution {
        out.push_str(&format!("\n{}", resolution.sentence(one_line)));
    }
    out.push('\n');
    put_pattern(&mut out, code.follows_pattern.as_deref());
    put_fenced(&mut out, &code.language, &code.text);
    if let Some(rest) = rest {
        out.push_str(&format!("{} more lines: {rest}\n", code.num_lines_cut));
    }
    for line in code.other_definition_lines(one_line) {
        out.push_str(&format!("{line}\n"));
    }
    put_stamps(&mut out, &code.sources);
    out
}

/// The edges of one relation that start or end at a name. `more` is the call that shows more edges.
pub(super) fn graph(answer: &Relationships, relation: &str, more: Option<&str>) -> String {
    let mut out = format!("{UNTRUSTED}\n");
    let is_spread = answer.about.iter().any(|node| node.repository != answer.about[0].repository);
    let repository_of =
        |node: &NodeReport| if is_spread { format!("{} ", one_line(&node.repository)) } else { String::new() };
    put_about(&mut out, &answer.about, relation, repository_of);
    if let Some(resolution) = &answer.resolution {
        out.push_str(&format!("{}\n", resolution.sentence(one_line)));
    }
    for note in &answer.notes {
        out.push_str(&format!("{note}\n"));
    }
    if answer.edges.is_empty() {
        out.push_str("none are known");
    } else {
        let several = answer.sources.len() > 1;
        // The edges of each definition are listed separately.
        for of_one in answer.edges.chunk_by(|left, right| left.about == right.about) {
            if let (true, Some(node)) = (answer.about.len() > 1, answer.about.get(of_one[0].about)) {
                let (name, place) = (one_line(&node.name), place_of(node));
                out.push_str(&format!("{relation} of {}{name}{place}:\n", repository_of(node)));
            }
            let lines: Vec<String> = of_one.iter().map(|edge| edge_line(edge, several)).collect();
            put_fenced(&mut out, "", &lines.join("\n"));
        }
        match (answer.left(), more) {
            (Some(left), Some(more)) => out.push_str(&format!("{left}: {more}")),
            (Some(left), None) => out.push_str(&format!("{left}, not shown")),
            (None, _) => {}
        }
    }
    put_stamps(&mut out, &answer.sources);
    out
}

/// The first nodes with the requested name, and the number of the other nodes. `repository_of` returns the
/// text with the repository of a node.
fn put_about(out: &mut String, about: &[NodeReport], relation: &str, repository_of: impl Fn(&NodeReport) -> String) {
    for node in about.iter().take(MAX_LISTED) {
        let start = node.start_line.map(|line| format!(":{line}")).unwrap_or_default();
        let path = node.path.as_deref().map(one_line).unwrap_or_default();
        let name = if node.path.as_ref() == Some(&node.name) { "" } else { &node.name };
        let (kind, repository) = (&node.kind, repository_of(node));
        out.push_str(&format!("{relation} of {kind} {} {repository}{path}{start}\n", one_line(name)));
    }
    if about.len() > MAX_LISTED {
        out.push_str(&format!("… and of {} more definitions of the name\n", about.len() - MAX_LISTED));
    }
}

/// `kind name path:line, at site path:line`, and the confidence if it is below 100 %.
fn edge_line(edge: &EdgeReport, with_repository: bool) -> String {
    let node = &edge.node;
    let repository = if with_repository { format!("{}: ", one_line(&node.repository)) } else { String::new() };
    let arrow = if edge.direction == EdgeDirection::Out { "->" } else { "<-" };
    let (kind, name, place) = (&node.kind, one_line(&node.name), place_of(node));
    let mut line = format!("{repository}{arrow} {} {kind} {name}{place}", edge.edge);
    if let Some(site) = &edge.site {
        let path = site.path.as_deref().filter(|path| node.path.as_deref() != Some(path));
        line.push_str(&match path {
            Some(path) => format!(" at {}:{}", one_line(path), site.line),
            None => format!(" at line {}", site.line),
        });
    }
    let percent = edge.confidence_percent();
    if percent < 100 {
        line.push_str(&format!(" ({} {percent}%)", edge.resolution));
    }
    line
}

/// The path and line of a node. The result is empty for a file, because the name of a file is its path.
fn place_of(node: &NodeReport) -> String {
    match (&node.path, node.start_line) {
        (Some(path), Some(line)) => format!(" {}:{line}", one_line(path)),
        (Some(path), None) if *path != node.name => format!(" {}", one_line(path)),
        _ => String::new(),
    }
}
