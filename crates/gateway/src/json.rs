//! Answers as JSON: the same fields on the command line, over MCP and over HTTP.

use std::ops::Range;

use cairn_domain::{NodeRecord, PatternRecord, SymbolEntry};
use cairn_ports::PublishedGeneration;
use cairn_ranking::Cut;
use cairn_search::{
    Code, Coverage, Fingerprint, Found, GraphAnswer, GraphEdge, KnownRepository, KnownRun, NextCall, NothingFound,
    PatternAnswer, QueryError, SampledEdge, SearchAnswer, Stamp, Why,
};
use serde_json::{Map, Value, json};

use crate::time::rfc3339;
use crate::{IndexStatus, syncs};

pub fn stamps(stamps: &[Stamp]) -> Value {
    let stamp = |stamp: &Stamp| {
        json!({
            "repository": stamp.repository,
            "commit": stamp.commit,
            "indexed_at": rfc3339(stamp.indexed_at_ms),
            "partial": stamp.partial,
            "run_in_progress": stamp.run_in_progress,
        })
    };
    stamps.iter().map(stamp).collect()
}

pub fn error(error: &QueryError) -> Value {
    let call = |call: &NextCall| json!({ "tool": call.tool, "reason": call.reason, "arguments": arguments(call) });
    json!({
        "code": error.code.as_str(),
        "message": error.message,
        "details": {
            "similar_symbols": error.similar_symbols,
            "similar_files": error.similar_files,
            "similar_repositories": error.similar_repositories,
            "next_action_hint": error.hint,
            "tool_suggestions": error.next_calls.iter().map(call).collect::<Vec<_>>(),
        },
    })
}

/// A name that stands several times has a list of values.
fn arguments(call: &NextCall) -> Map<String, Value> {
    let mut arguments: Map<String, Value> = Map::new();
    for (name, value) in &call.arguments {
        let value = Value::from(value.as_str());
        let value = match arguments.remove(*name) {
            None => value,
            Some(Value::Array(mut values)) => {
                values.push(value);
                Value::Array(values)
            }
            Some(first) => json!([first, value]),
        };
        arguments.insert((*name).to_owned(), value);
    }
    arguments
}

/// What is known about why there are no results.
pub fn nothing_found(nothing: &NothingFound) -> Value {
    let without = nothing.without.iter();
    let without = without
        .map(|(restriction, num_chunks)| json!({ "restriction": restriction.as_str(), "num_chunks": num_chunks }));
    let modules = nothing.modules.iter().map(
        |module| json!({ "repository": module.repository, "module": module.module, "num_results": module.num_results }),
    );
    json!({
        "not_indexed": nothing.not_indexed,
        "num_chunks": nothing.num_chunks,
        "without": without.collect::<Vec<_>>(),
        "related_modules": modules.collect::<Vec<_>>(),
    })
}

pub fn search(answer: &SearchAnswer, explain: bool) -> Value {
    json!({
        "results": answer.found.iter().map(|found| found_json(found, explain)).collect::<Vec<_>>(),
        "offset": answer.offset,
        "num_results": answer.num_results,
        "cut": cut(answer.cut),
        "next_cursor": answer.next_cursor,
        "message": answer.hidden_by_scope,
        "nothing_found": answer.nothing_found.as_ref().map(nothing_found),
        "index_version": answer.index_version,
        "sources": stamps(&answer.stamps),
    })
}

fn cut(cut: Cut) -> Value {
    match cut {
        Cut::Nothing => Value::Null,
        Cut::Limit { num_left } => json!({ "by": "limit", "num_left": num_left }),
        Cut::Tokens { num_left } => json!({ "by": "max_tokens", "num_left": num_left }),
    }
}

fn found_json(found: &Found, explain: bool) -> Value {
    let chunk = &found.hit.chunk;
    let places = found.hit.also_at.iter().zip(&found.also_at_repositories);
    let places: Vec<Value> = places
        .map(|(place, repository)| {
            json!({
                "repository": repository,
                "path": place.path.as_str(),
                "start_line": place.span.start,
                "end_line": place.span.end,
            })
        })
        .collect();
    let mut value = json!({
        "repository": found.repository,
        "path": chunk.path.as_str(),
        "start_line": chunk.span.start,
        "end_line": chunk.span.end,
        "language": chunk.language,
        "kind": chunk.kind.as_str(),
        "symbol": chunk.symbol,
        "symbol_kind": chunk.symbol_kind.map(|kind| kind.as_str()),
        "heading": chunk.heading,
        "module": chunk.module_path,
        "is_test": chunk.is_test,
        "has_secrets": chunk.has_secrets,
        "tags": chunk.tags,
        "changed_at": changed_at(chunk.changed_at),
        "score": found.hit.score,
        "text": chunk.text,
        "num_lines_cut": found.num_lines_cut,
        "also_at": places,
    });
    if explain {
        let lists = found.hit.contributions.iter();
        let lists = lists.map(|part| json!({ "list": part.list, "rank": part.rank, "points": part.points }));
        let signals = found.hit.signals.iter();
        let signals = signals.map(|signal| {
            let mut value = json!({ "signal": signal.name, "percent": signal.percent });
            if let (Some(definition), "definition") = (&found.hit.definition, signal.name) {
                value["symbol"] = json!(definition.symbol);
                value["start_line"] = json!(definition.span.start);
                value["end_line"] = json!(definition.span.end);
            }
            value
        });
        value["explain"] = json!({ "lists": lists.collect::<Vec<_>>(), "signals": signals.collect::<Vec<_>>() });
    }
    value
}

/// The last change by history; null where no history is at hand.
fn changed_at(seconds: Option<i64>) -> Option<String> {
    seconds.map(|seconds| rfc3339(seconds * 1000))
}

pub fn code(code: &Code) -> Value {
    json!({
        "repository": code.repository,
        "path": code.path.as_str(),
        "language": code.language,
        "start_line": code.span.map(|span| span.start),
        "end_line": code.span.map(|span| span.end),
        "num_lines": code.num_lines,
        "text": code.text,
        "num_lines_cut": code.num_lines_cut,
        "symbol": code.symbol.as_ref().map(symbol),
        "resolved_from": code.resolved_from,
        "other_definitions": code.others.iter().map(symbol).collect::<Vec<_>>(),
        "sources": stamps(&code.stamps),
    })
}

fn symbol(symbol: &SymbolEntry) -> Value {
    json!({
        "name": symbol.qualified_name,
        "kind": symbol.kind.as_str(),
        "path": symbol.path.as_str(),
        "line": symbol.line,
    })
}

fn node(repository: &str, node: &NodeRecord) -> Value {
    json!({
        "repository": repository,
        "kind": node.symbol_kind.map_or(node.kind.as_str(), |kind| kind.as_str()),
        "name": node.qualified_name,
        "path": node.path.as_ref().map(|path| path.as_str()),
        "start_line": node.span.map(|span| span.start),
        "end_line": node.span.map(|span| span.end),
        "signature": node.signature,
    })
}

pub fn graph(answer: &GraphAnswer) -> Value {
    let edge = |edge: &GraphEdge| {
        json!({
            "edge": edge.kind.as_str(),
            "direction": if edge.outgoing { "out" } else { "in" },
            "node": node(&edge.other_repository, &edge.other),
            "site": edge.site.as_ref().map(|(path, line)| json!({ "path": path, "line": line })),
            "resolution": edge.resolution.as_str(),
            "confidence": f64::from(edge.confidence_percent) / 100.0,
        })
    };
    json!({
        "about": answer.about.iter().map(|(repository, about)| node(repository, about)).collect::<Vec<_>>(),
        "resolved_from": answer.resolved_from,
        "edges": answer.edges.iter().map(edge).collect::<Vec<_>>(),
        "num_edges": answer.num_edges,
        "sources": stamps(&answer.stamps),
    })
}

pub fn sampled(edge: &SampledEdge) -> Value {
    json!({
        "edge": edge.edge.kind.as_str(),
        "resolution": edge.edge.resolution.as_str(),
        "confidence": f64::from(edge.edge.confidence_percent) / 100.0,
        "site": { "path": edge.source.path.as_ref().map(|path| path.as_str()), "line": edge.edge.line },
        "source": node("", &edge.source),
        "target": node("", &edge.target),
    })
}

pub fn patterns(answer: &PatternAnswer) -> Value {
    let pattern = |(repository, pattern): &(String, PatternRecord)| {
        let member = |member: &cairn_domain::PatternMember| {
            json!({
                "name": member.name,
                "path": member.path.as_str(),
                "start_line": member.span.start,
                "end_line": member.span.end,
                "extra_methods": member.extra_methods,
                "missing_methods": member.missing_methods,
            })
        };
        json!({
            "repository": repository,
            "name": pattern.name,
            "description": pattern.description,
            "language": pattern.language,
            "module": pattern.module_path,
            "shared_methods": pattern.shared_methods,
            "shared_bases": pattern.shared_bases,
            "shared_decorators": pattern.shared_decorators,
            "canonical": pattern.members.get(pattern.canonical as usize).map(member),
            "members": pattern.members.iter().map(member).collect::<Vec<_>>(),
        })
    };
    json!({
        "patterns": answer.patterns.iter().map(pattern).collect::<Vec<_>>(),
        "sources": stamps(&answer.stamps),
    })
}

pub fn repository(known: &KnownRepository) -> Value {
    json!({
        "name": known.record.name.as_str(),
        "source": known.record.source.location(),
        "branch": known.published.as_ref().and_then(|published| published.branch.clone()),
        "description": known.record.hosted.as_ref().and_then(|hosted| hosted.description.clone()),
        "topics": known.record.hosted.as_ref().map_or(&[][..], |hosted| &hosted.topics),
        "last_sync": syncs::last(&known.record),
        "pending_sync": syncs::pending(&known.record),
        "published": published(known),
    })
}

/// What lists say of a repository: no more than what tells it from others.
pub fn repository_summary(known: &KnownRepository) -> Value {
    let published = known.published.as_ref().map(|published| {
        json!({
            "commit": published.revision,
            "indexed_at": rfc3339(published.indexed_at_ms),
            "state": published.state.as_str(),
            "files_indexed": published.result.files_indexed,
            "chunks": published.result.chunks,
        })
    });
    json!({
        "name": known.record.name.as_str(),
        "source": known.record.source.location(),
        "description": known.record.hosted.as_ref().and_then(|hosted| hosted.description.clone()),
        "topics": known.record.hosted.as_ref().map_or(&[][..], |hosted| &hosted.topics),
        "last_sync": syncs::last(&known.record),
        "pending_sync": syncs::pending(&known.record),
        "published": published,
    })
}

/// What is published of a repository; null if nothing is.
pub fn published(known: &KnownRepository) -> Value {
    let published = |published: &PublishedGeneration| {
        json!({
            "commit": published.revision,
            "indexed_at": rfc3339(published.indexed_at_ms),
            "state": published.state.as_str(),
            "run_id": known.run_id,
            "model": published.model,
            "result": published.result,
        })
    };
    known.published.as_ref().map_or(Value::Null, published)
}

pub fn run(known: &KnownRun) -> Value {
    let run = &known.record;
    json!({
        "run_id": known.id,
        "repository": known.repository,
        "state": run.state.as_str(),
        "commit": run.revision,
        "num_parts": run.num_parts,
        "num_ended": run.num_ended,
        "num_failed": run.num_failed,
        "started_at": rfc3339(run.started_at_ms),
        "ended_at": run.ended_at_ms.map(rfc3339),
        "message": run.message,
    })
}

/// `entries` of it are told one by one.
pub fn coverage(coverage: &Coverage, entries: Option<Range<usize>>) -> Value {
    let entry = |entry: &cairn_domain::ManifestEntry| json!({ "path": entry.path.as_str(), "outcome": entry.outcome.label(), "language": entry.language });
    let entries = entries.map(|part| coverage.entries[part].iter().map(entry).collect::<Vec<_>>());
    json!({
        "repository": coverage.repository,
        "num_paths": coverage.entries.len(),
        "counts": coverage.counts,
        "entries": entries,
        "sources": stamps(&coverage.stamps),
    })
}

pub fn why(why: &Why) -> Value {
    json!({
        "repository": why.repository,
        "path": why.path,
        "outcome": why.outcome,
        "explanation": why.explanation,
        "changed_at": changed_at(why.changed_at),
        "sources": stamps(&why.stamps),
    })
}

pub fn fingerprint(fingerprint: &Fingerprint) -> Value {
    let kinds: Map<String, Value> = fingerprint
        .kinds
        .iter()
        .map(|kind| (kind.kind.to_owned(), json!({ "count": kind.count, "digest": kind.digest.to_string() })))
        .collect();
    json!({
        "repository": fingerprint.repository,
        "commit": fingerprint.commit,
        "digest": fingerprint.digest.to_string(),
        "kinds": kinds,
    })
}

pub fn index_status(status: &IndexStatus) -> Value {
    json!({
        "repository": status.repository,
        "run_id": status.run,
        "request": status.request,
        "previous_run_id": status.previous_run,
        "state": if status.request.is_some() { "requested" } else { status.state.as_str() },
        "message": status.message,
        "num_parts": status.num_parts,
        "num_ended": status.num_ended,
        "sync": status.sync,
        "result": status.result,
    })
}
