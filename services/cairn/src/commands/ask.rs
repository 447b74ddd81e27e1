//! Commands that ask.

use std::process::ExitCode;

use cairn_domain::{ChunkKind, EdgeKind, Resolution};
use cairn_gateway::json as as_json;
use cairn_gateway::time::{rfc3339, seconds_of_moment};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_ranking::Cut;
use cairn_search::{
    CodeRequest, EdgeDraw, Found, GraphAnswer, GraphRequest, Relation, RepositorySelection, SearchAnswer, SearchError,
    SearchErrorCode, SearchRequest, Stamp,
};

use super::{NOTHING_FOUND, Outcome};
use crate::cli::{GraphCommand, RelationArguments, SearchArguments, Tests};
use crate::local::Local;
use crate::output::{self, FAINT, NAME, PATH, styled};

/// What a file shows, at most.
const SHOW_TOKENS: usize = 200_000;

pub(super) async fn search(local: &Local, arguments: SearchArguments, json: bool) -> Outcome {
    let request = SearchRequest {
        query: arguments.query.clone(),
        repositories: selection(local, &arguments.repositories).await?,
        filter: filter(local, &arguments)?,
        limit: arguments.limit,
        max_tokens: arguments.max_tokens,
        cursor: arguments.cursor.clone(),
    };
    let answer = local.searcher.search(&request).await?;
    if json {
        output::json(&as_json::search(&answer, arguments.explain));
    } else {
        show_answer(&answer, arguments.explain);
    }
    Ok(if answer.found.is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS })
}

/// The repositories named; else the one that this directory belongs to; else all.
async fn selection(local: &Local, named: &[String]) -> anyhow::Result<RepositorySelection> {
    if !named.is_empty() {
        return Ok(RepositorySelection(named.to_vec()));
    }
    let here = local.repository_of_directory(&std::env::current_dir()?).await?;
    Ok(RepositorySelection(here.into_iter().collect()))
}

fn filter(local: &Local, arguments: &SearchArguments) -> anyhow::Result<ChunkFilter> {
    let mut kinds = Vec::new();
    for word in &arguments.kind {
        let Some(kind) = ChunkKind::parse(word) else {
            let known: Vec<&str> = ChunkKind::ALL.iter().map(|kind| kind.as_str()).collect();
            return Err(wrong(format!("`{word}` is no kind of chunk; there are {}", known.join(", "))));
        };
        kinds.push(kind);
    }
    Ok(ChunkFilter {
        languages: arguments.language.iter().map(|language| language.to_lowercase()).collect(),
        kinds,
        paths: arguments.path.clone(),
        module_prefixes: arguments.module.clone(),
        include_tests: match arguments.tests {
            Tests::Include => IncludeTests::Include,
            Tests::Exclude => IncludeTests::Exclude,
            Tests::Only => IncludeTests::Only,
        },
        tags: arguments.tag.clone(),
        since: arguments.since.as_deref().map(|text| since(local, text)).transpose()?,
    })
}

/// An argument that cannot be used.
fn wrong(message: String) -> anyhow::Error {
    SearchError::new(SearchErrorCode::ValidationError, message).into()
}

fn since(local: &Local, text: &str) -> anyhow::Result<i64> {
    let wrong = || wrong(format!("`{text}` is no moment; write a day (2026-01-31) or how long ago (36h, 7d, 2w)"));
    seconds_of_moment(text, local.clock.now_ms()).ok_or_else(wrong)
}

fn show_answer(answer: &SearchAnswer, explain: bool) {
    if answer.found.is_empty() {
        output::note("nothing found");
        if let Some(message) = &answer.hidden_by_scope {
            output::note(message);
        }
    }
    for (number, found) in answer.found.iter().enumerate() {
        show_found(answer.offset + number + 1, found, explain);
    }
    let left = match answer.cut {
        Cut::Nothing => None,
        Cut::Limit { num_left } => Some(format!("{num_left} more results")),
        Cut::Tokens { num_left } => Some(format!("{num_left} more results did not fit into --max-tokens")),
    };
    if let (Some(left), Some(cursor)) = (left, &answer.next_cursor) {
        output::note(&format!("{left}; the next page:"));
        output::note(&styled(FAINT, format!("  {}", next_page(std::env::args(), cursor))));
    }
    show_stamps(&answer.stamps);
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
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn show_found(number: usize, found: &Found, explain: bool) {
    let chunk = &found.hit.chunk;
    let place = format!("{}:{}-{}", chunk.path, chunk.span.start, chunk.span.end);
    let what = chunk.symbol.as_deref().or(chunk.heading.as_deref()).unwrap_or_default();
    let head = format!("{number}. {} {}", styled(PATH, place), styled(NAME, what));
    let day = |at: i64| format!(" changed {}", &rfc3339(at * 1000)[..10]);
    let changed = chunk.changed_at.map(day).unwrap_or_default();
    let kind = format!("{} {}{changed}", found.repository, chunk.kind.as_str());
    output::line(&format!("{head} {}", styled(FAINT, kind)));
    for (place, repository) in found.hit.also_at.iter().zip(&found.also_at_repositories) {
        let text = format!("   also {repository} {}:{}-{}", place.path, place.span.start, place.span.end);
        output::line(&styled(FAINT, text));
    }
    if explain {
        for part in &found.hit.contributions {
            output::line(&styled(FAINT, format!("   {} rank {} gives {} points", part.list, part.rank, part.points)));
        }
        for signal in &found.hit.signals {
            let of = match (&found.hit.definition, signal.name) {
                (Some(found), "definition") => {
                    format!(" of {} at lines {}-{}", found.symbol, found.span.start, found.span.end)
                }
                _ => String::new(),
            };
            output::line(&styled(FAINT, format!("   {}{of} x {}%", signal.name, signal.percent)));
        }
        output::line(&styled(FAINT, format!("   score {}", found.hit.score)));
    }
    for (line, text) in (chunk.span.start..).zip(chunk.text.lines()) {
        output::line(&format!("{} {text}", styled(FAINT, format!("{line:>6}"))));
    }
    if found.num_lines_cut > 0 {
        output::line(&styled(FAINT, format!("       … {} more lines", found.num_lines_cut)));
    }
    output::line("");
}

fn show_stamps(stamps: &[Stamp]) {
    for stamp in stamps {
        let partial = if stamp.partial { ", partial" } else { "" };
        let newer = if stamp.run_in_progress { ", a newer state is being indexed" } else { "" };
        let at = rfc3339(stamp.indexed_at_ms);
        let text = format!("{} at {} (indexed {at}{partial}{newer})", stamp.repository, stamp.commit);
        output::note(&styled(FAINT, text));
    }
}

pub(super) async fn show(local: &Local, repository: &str, path: &str, json: bool) -> Outcome {
    let (path, lines) = path_and_lines(path)?;
    let request = CodeRequest {
        repository: Some(repository.to_owned()),
        path: Some(path.to_owned()),
        symbol: None,
        lines,
        max_tokens: SHOW_TOKENS,
    };
    let code = local.searcher.read_code(&request).await?;
    if json {
        output::json(&as_json::code(&code));
        return Ok(ExitCode::SUCCESS);
    }
    let first = code.span.map_or(1, |span| span.start);
    for (line, text) in (first..).zip(code.text.lines()) {
        output::line(&format!("{} {text}", styled(FAINT, format!("{line:>6}"))));
    }
    show_stamps(&code.stamps);
    Ok(ExitCode::SUCCESS)
}

/// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST`. A colon that no number follows belongs to the path.
pub(crate) fn path_and_lines(text: &str) -> anyhow::Result<(&str, Option<(u32, u32)>)> {
    let Some((path, lines)) = text.rsplit_once(':') else { return Ok((text, None)) };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first > 0 && first <= last => Ok((path, Some((first, last)))),
        (Ok(_), Ok(_)) => Err(wrong(format!("`{lines}` are no lines; write FIRST-LAST, counted from 1"))),
        _ => Ok((text, None)),
    }
}

pub(super) async fn graph(local: &Local, command: GraphCommand, json: bool) -> Outcome {
    match command {
        GraphCommand::Callers(arguments) => relation(local, arguments, Relation::Callers, json).await,
        GraphCommand::Callees(arguments) => relation(local, arguments, Relation::Callees, json).await,
        GraphCommand::Deps(arguments) => relation(local, arguments, Relation::Dependencies, json).await,
        GraphCommand::Dependents(arguments) => relation(local, arguments, Relation::Dependents, json).await,
        GraphCommand::Inherits(arguments) => relation(local, arguments, Relation::Inheritance, json).await,
        GraphCommand::Sample { class, seed, count, kinds, repositories } => {
            let draw = EdgeDraw { resolution: class_of(&class)?, kinds: kinds_of(&kinds)?, seed, count };
            sample(local, &draw, repositories, json).await
        }
    }
}

async fn relation(local: &Local, arguments: RelationArguments, relation: Relation, json: bool) -> Outcome {
    let request = GraphRequest {
        name: arguments.name,
        relation,
        repositories: selection(local, &arguments.repositories).await?,
        limit: arguments.limit,
    };
    let answer = local.searcher.relationship(&request).await?;
    if json {
        output::json(&as_json::graph(&answer));
    } else {
        show_graph(&answer, relation);
    }
    Ok(if answer.edges.is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS })
}

fn show_graph(answer: &GraphAnswer, relation: Relation) {
    if let Some(asked) = &answer.resolved_from {
        output::note(&format!("`{asked}` is not there as written; this is about what comes nearest"));
    }
    for (repository, node) in &answer.about {
        let place = node.path.as_ref().map(ToString::to_string).unwrap_or_default();
        let line = node.span.map_or(0, |span| span.start);
        let about = format!("{}:{line} {}", styled(PATH, place), styled(NAME, &node.qualified_name));
        output::line(&format!("{} of {about} {}", relation.as_str(), styled(FAINT, repository)));
    }
    for edge in &answer.edges {
        let site = edge.site.as_ref().map(|(path, line)| format!("{path}:{line}"));
        let site = site.or_else(|| edge.other.path.as_ref().map(ToString::to_string)).unwrap_or_default();
        let arrow = if edge.outgoing { "→" } else { "←" };
        let sure = format!("{} {}%", edge.resolution.as_str(), edge.confidence_percent);
        output::line(&format!(
            "  {arrow} {} {} {}",
            styled(NAME, &edge.other.qualified_name),
            styled(PATH, site),
            styled(FAINT, format!("{} {sure}", edge.kind.as_str()))
        ));
    }
    let num_left = answer.num_edges.saturating_sub(answer.edges.len() as u64);
    if num_left > 0 {
        output::note(&styled(FAINT, format!("{num_left} more: raise --limit")));
    }
    show_stamps(&answer.stamps);
}

fn class_of(class: &str) -> anyhow::Result<Resolution> {
    let Some(class) = Resolution::parse(class) else {
        return Err(wrong(format!("`{class}` is no resolution class; there are exact, import, heuristic, ambiguous")));
    };
    Ok(class)
}

fn kinds_of(kinds: &[String]) -> anyhow::Result<Vec<EdgeKind>> {
    let mut parsed = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let Some(kind) = EdgeKind::parse(&kind.to_uppercase()) else {
            let known: Vec<String> = EdgeKind::ALL.iter().map(|kind| kind.as_str().to_lowercase()).collect();
            return Err(wrong(format!("`{kind}` is no kind of edge; there are {}", known.join(", "))));
        };
        parsed.push(kind);
    }
    Ok(parsed)
}

async fn sample(local: &Local, draw: &EdgeDraw, repositories: Vec<String>, json: bool) -> Outcome {
    let edges = local.searcher.sample_edges(&RepositorySelection(repositories), draw).await?;
    for edge in &edges {
        if json {
            output::json(&as_json::sampled(edge));
            continue;
        }
        let path = |node: &cairn_domain::NodeRecord| node.path.as_ref().map(ToString::to_string).unwrap_or_default();
        let target_line = edge.target.span.map_or(0, |span| span.start);
        output::line(&format!(
            "{}:{} {} {} {} {}:{target_line}",
            path(&edge.source),
            edge.edge.line,
            edge.source.qualified_name,
            edge.edge.kind.as_str(),
            edge.target.qualified_name,
            path(&edge.target),
        ));
    }
    Ok(if edges.is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS })
}

pub(super) async fn patterns(local: &Local, name: Option<&str>, repositories: Vec<String>, json: bool) -> Outcome {
    let answer = local.searcher.patterns(&RepositorySelection(repositories), name).await?;
    if json {
        output::json(&as_json::patterns(&answer));
    } else {
        for (repository, pattern) in &answer.patterns {
            let size = format!("{} members, {repository} {}", pattern.members.len(), pattern.module_path);
            output::line(&format!("{} {}", styled(NAME, &pattern.name), styled(FAINT, size)));
            output::line(&format!("  {}", pattern.description));
            for member in &pattern.members {
                let mut deviations: Vec<String> =
                    member.extra_methods.iter().map(|method| format!("+{method}")).collect();
                deviations.extend(member.missing_methods.iter().map(|method| format!("-{method}")));
                let place = format!("{}:{}", member.path, member.span.start);
                output::line(&format!("  {} {} {}", styled(PATH, place), member.name, deviations.join(" ")));
            }
        }
        show_stamps(&answer.stamps);
    }
    Ok(if answer.patterns.is_empty() { ExitCode::from(NOTHING_FOUND) } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_next_page_is_a_command_line() {
        let check = |given: &[&str], expect: &str| {
            assert_eq!(next_page(given.iter().map(ToString::to_string), "c0"), expect);
        };
        check(&["cairn", "search", "save"], "cairn search save --cursor c0");
        check(&["cairn", "search", "it's so", "--cursor", "b9"], "cairn search 'it'\\''s so' --cursor c0");
        check(&["cairn", "search", "x", "--cursor=b9", "--path", "*.py"], "cairn search x --path '*.py' --cursor c0");
    }
}
