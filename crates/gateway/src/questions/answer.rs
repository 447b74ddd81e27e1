//! Computes the answer to a question.

use std::path::Path;
use std::sync::Arc;

use cairn_domain::{EdgeKind, Resolution, Source};
use cairn_exact::PatternRequest;
use cairn_languages::language_name;
use cairn_question::QueryType;
use cairn_search::{
    CodeRequest, EdgeDraw, ExactRequest, FieldFault, GraphRequest, NameMatching, QueryError, QueryErrorCode, Relation,
    RepositorySelection, Restriction, SAME_NAME, SearchAnswer, SearchRequest, Searcher, Target, TargetType,
    UnknownModule, check_patterns,
};

use super::filter::{filter, include_tests, path_globs, without_dot};
use super::inventory;
use super::page::{Page, bounded, unknown_word, wrong};
use super::routes::{Answer, Question};
use super::types::{
    GraphQuestion, GrepMode, GrepQuestion, IndexQuestion, PatternsQuestion, ProgressQuestion, ReadQuestion,
    SampleQuestion, SearchQuestion,
};
use crate::agent::Agent;
use crate::answers::{
    CodeText, EdgeSample, GrepResults, IndexProgress, PatternList, Relationships, SampledEdgeReport, SearchResults,
};
use crate::guide;
use crate::index_call::{IndexCall, IndexTicket, WatchIndexing};
use crate::registration::file_size;

pub async fn answer(agent: &dyn Agent, question: &Question) -> Result<Answer, QueryError> {
    answer_of(agent, question).await.map_err(|error| agent.with_way_to_index(error))
}

async fn answer_of(agent: &dyn Agent, question: &Question) -> Result<Answer, QueryError> {
    Ok(match question {
        Question::Search(question) => Answer::Search(search(agent, question).await?),
        Question::Grep(question) => Answer::Grep(grep(agent, question).await?),
        Question::Read(question) => Answer::Read(read(agent, question).await?),
        Question::Graph(question) => Answer::Graph(graph(agent, question).await?),
        Question::Sample(question) => Answer::Sample(sample(agent, question).await?),
        Question::Patterns(question) => Answer::Patterns(patterns(agent, question).await?),
        Question::Modules(question) => Answer::Modules(inventory::modules(agent, question).await?),
        Question::Repositories(question) => Answer::Repositories(inventory::repositories(agent, question).await?),
        Question::Status(_) => Answer::Status(inventory::status(agent).await?),
        Question::Stats(_) => Answer::Stats(inventory::stats(agent).await?),
        Question::Runs(question) => Answer::Runs(inventory::runs(agent, question).await?),
        Question::Cancel(question) => Answer::Cancel(inventory::cancel(agent, question).await?),
        Question::Coverage(question) => Answer::Coverage(inventory::coverage(agent, question).await?),
        Question::Secrets(question) => Answer::Secrets(inventory::secrets(agent, question).await?),
        Question::Fingerprint(question) => Answer::Fingerprint(inventory::fingerprint(agent, question).await?),
        Question::Index(question) => Answer::Index(index(agent, question).await?),
        Question::Progress(question) => Answer::Progress(progress(agent, question).await?),
        Question::Guide(question) => Answer::Guide(guide::answer(question.topic.as_deref())?),
    })
}

fn selection(names: &[String]) -> RepositorySelection {
    RepositorySelection(names.to_vec())
}

fn target(question: &SearchQuestion) -> Result<Target, QueryError> {
    let word = question.target_type.as_deref().unwrap_or(TargetType::Auto.as_str());
    let unknown = || unknown_word("target_type", word, &TargetType::ALL.map(TargetType::as_str));
    let target_type = TargetType::parse(word).ok_or_else(unknown)?;
    Ok(Target {
        target_type,
        context_path: question.context_path.clone(),
        fuzzy_filename: question.fuzzy_filename,
        filename_only: question.filename_only,
    })
}

pub(crate) async fn search(agent: &dyn Agent, question: &SearchQuestion) -> Result<SearchResults, QueryError> {
    let searcher = agent.searcher();
    let request = SearchRequest {
        query: question.query.clone(),
        repositories: selection(&question.repositories),
        filter: filter(question, searcher.clock.now_ms())?,
        query_type: question.query_type.as_deref().map(query_type).transpose()?,
        limit: question.limit,
        max_tokens: bounded("max_tokens", question.max_tokens, agent.caps().tokens)?,
        cursor: question.cursor.clone(),
        target: target(question)?,
    };
    Ok(SearchResults::of(search_in_meant_modules(searcher, request).await?, question.explain))
}

/// The answer to the request. If no module has a name of the filter, the module that has this name in another
/// style is searched. The notes of the answer state which module was searched.
async fn search_in_meant_modules(searcher: &Searcher, mut request: SearchRequest) -> Result<SearchAnswer, QueryError> {
    let answer = searcher.search(&request).await;
    let may_be_unknown = match &answer {
        Ok(answer) => answer
            .nothing_found
            .as_ref()
            .is_some_and(|nothing| nothing.without.iter().any(|(restriction, _)| *restriction == Restriction::Modules)),
        // The cursor of an answer from another module than the requested one.
        Err(error) => error.code == QueryErrorCode::InvalidCursor && !request.filter.module_prefixes.is_empty(),
    };
    if !may_be_unknown {
        return answer;
    }
    let unknown = searcher.unknown_modules(&request.repositories, &request.filter.module_prefixes).await?;
    let mut is_changed = false;
    for UnknownModule { requested, meant, .. } in &unknown {
        let Some(meant) = meant else { continue };
        let names = request.filter.module_prefixes.iter_mut().filter(|name| *name == requested);
        names.for_each(|name| name.clone_from(meant));
        is_changed = true;
    }
    let mut answer = if is_changed { searcher.search(&request).await? } else { answer? };
    answer.notes.extend(unknown.iter().map(UnknownModule::note));
    Ok(answer)
}

pub(crate) async fn grep(agent: &dyn Agent, question: &GrepQuestion) -> Result<GrepResults, QueryError> {
    check_patterns("paths", &question.paths)?;
    let request = ExactRequest {
        pattern: PatternRequest {
            text: question.query.clone(),
            is_regex: question.mode == GrepMode::Regex,
            ignores_case: question.ignore_case,
            whole_words: question.whole_word,
            across_lines: question.multiline,
        },
        repositories: selection(&question.repositories),
        languages: question.languages.iter().map(|language| language_name(language)).collect(),
        paths: question.paths.iter().flat_map(|path| path_globs(path)).collect(),
        include_tests: include_tests(question.tests),
        before: question.before,
        after: question.after,
        limit: question.limit,
        max_tokens: bounded("max_tokens", question.max_tokens, agent.caps().tokens)?,
        cursor: question.cursor.clone(),
    };
    Ok(GrepResults::of(agent.searcher().exact(&request).await?))
}

fn query_type(word: &str) -> Result<QueryType, QueryError> {
    let unknown = || unknown_word("query_type", word, &QueryType::ALL.map(QueryType::as_str));
    QueryType::from_name(word).ok_or_else(unknown)
}

pub(crate) async fn read(agent: &dyn Agent, question: &ReadQuestion) -> Result<CodeText, QueryError> {
    let question = &with_relative_path(agent, question, question.repository.as_slice()).await?;
    let Some(target) = question.target.clone() else { return read_named(agent, question).await };
    if question.path.is_some() || question.symbol.is_some() {
        return Err(wrong(
            "`target` cannot be combined with `path` or `symbol`, because it is itself a path or a symbol",
        )
        .in_field(FieldFault::of("target")));
    }
    let request = code_request(agent, question)?;
    Ok(CodeText::of(agent.searcher().read_target(&target, &request).await?))
}

/// Answers a question about the repository that the caller works in. The caller did not name this repository,
/// so the answer may come from another repository.
pub async fn answer_here(agent: &dyn Agent, question: &Question) -> Result<Answer, QueryError> {
    let Question::Read(read) = question else { return answer(agent, question).await };
    let code = read_here(agent, read).await.map_err(|error| agent.with_way_to_index(error))?;
    Ok(Answer::Read(code))
}

/// Reads code in an inferred repository. If only another repository contains exactly the requested name,
/// reads the code there and adds a note about this. If the inferred repository contains no similar name,
/// reads similar code in another repository.
pub(crate) async fn read_here(agent: &dyn Agent, question: &ReadQuestion) -> Result<CodeText, QueryError> {
    let question = &with_relative_path(agent, question, &[]).await?;
    let Some(here) = &question.repository else { return read(agent, question).await };
    let everywhere = ReadQuestion { repository: None, ..question.clone() };
    let mut elsewhere = match read(agent, question).await {
        Ok(code) if is_uncertain(&code) => match read(agent, &everywhere).await {
            Ok(elsewhere) if !is_uncertain(&elsewhere) => elsewhere,
            _ => return Ok(code),
        },
        Err(absent) if absent.code == QueryErrorCode::NotFound => match read(agent, &everywhere).await {
            Ok(elsewhere) => elsewhere,
            Err(_) => return Err(absent),
        },
        other => return other,
    };
    if elsewhere.repository != *here {
        elsewhere.notes.insert(0, format!("not in {here}; found in {}", elsewhere.repository));
    }
    Ok(elsewhere)
}

/// The question with an absolute path replaced by the repository that contains it and the path in this
/// repository. `repositories` are the repositories that the caller named.
async fn with_relative_path(
    agent: &dyn Agent,
    question: &ReadQuestion,
    repositories: &[String],
) -> Result<ReadQuestion, QueryError> {
    let mut relative = question.clone();
    for field in [&mut relative.target, &mut relative.path] {
        let Some(text) = field.as_deref() else { continue };
        if let Some((repository, path)) = in_local_tree(agent, text, repositories).await? {
            *field = Some(path);
            relative.repository = Some(repository);
        }
    }
    Ok(relative)
}

/// The repository whose registered directory contains the absolute path, and the path in this repository. If
/// directories are nested, the innermost is used. `None` for any other text.
async fn in_local_tree(
    agent: &dyn Agent,
    text: &str,
    repositories: &[String],
) -> Result<Option<(String, String)>, QueryError> {
    if !Path::new(text).is_absolute() {
        return Ok(None);
    }
    let searcher = agent.searcher();
    let known = searcher.select(&searcher.catalogue.view().await?, &selection(repositories)).await?;
    let below = known.iter().filter_map(|known| {
        let (Source::WorkTree { path } | Source::Directory { path }) = &known.record.source else { return None };
        let below = text.strip_prefix(path.trim_end_matches('/'))?.strip_prefix('/')?;
        (!below.is_empty()).then_some((known, below))
    });
    let innermost = below.min_by_key(|(known, below)| (below.len(), known.published.is_none()));
    Ok(innermost.map(|(known, below)| (known.record.name.to_string(), below.to_owned())))
}

/// Whether the returned code may differ from the requested code.
fn is_uncertain(code: &CodeText) -> bool {
    let Some(resolution) = &code.resolution else { return false };
    let is = |matching: NameMatching| resolution.r#match == matching.as_str();
    is(NameMatching::Fuzzy)
        || is(NameMatching::Heuristic)
        || is(NameMatching::Changed) && resolution.score < f64::from(SAME_NAME) / 1_000.0
}

async fn read_named(agent: &dyn Agent, question: &ReadQuestion) -> Result<CodeText, QueryError> {
    let request = code_request(agent, question)?;
    Ok(CodeText::of(agent.searcher().read_code(&request).await?))
}

/// The request without its target.
fn code_request(agent: &dyn Agent, question: &ReadQuestion) -> Result<CodeRequest, QueryError> {
    let lines = match (question.start_line, question.end_line) {
        (None, None) => None,
        (start, end) => Some((start.unwrap_or(1), end.unwrap_or(u32::MAX))),
    };
    Ok(CodeRequest {
        repository: question.repository.clone(),
        path: question.path.as_deref().map(|path| without_dot(path).to_owned()),
        symbol: question.symbol.clone(),
        context_path: question.context_path.clone(),
        lines,
        max_tokens: bounded("max_tokens", question.max_tokens, agent.caps().tokens)?,
    })
}

pub(crate) async fn graph(agent: &dyn Agent, question: &GraphQuestion) -> Result<Relationships, QueryError> {
    let unknown = || unknown_word("mode", &question.mode, &Relation::ALL.map(Relation::as_str));
    let relation = Relation::parse(&question.mode).ok_or_else(unknown)?;
    let (repositories, name) = match in_local_tree(agent, &question.target, &[]).await? {
        Some((repository, path)) => (vec![repository], path),
        None => (question.repositories.clone(), without_dot(&question.target).to_owned()),
    };
    let request = GraphRequest {
        name,
        relation,
        context_path: question.context_path.clone(),
        repositories: selection(&repositories),
        limit: bounded("limit", question.limit, agent.caps().edges)?,
    };
    Ok(Relationships::of(&agent.searcher().relationship(&request).await?))
}

async fn sample(agent: &dyn Agent, question: &SampleQuestion) -> Result<EdgeSample, QueryError> {
    let class = &question.class;
    let classes = ["exact", "import", "heuristic", "ambiguous"];
    let unknown = || unknown_word("class", class, &classes);
    let resolution = Resolution::parse(class).ok_or_else(unknown)?;
    let kind = |word: &String| {
        EdgeKind::parse(&word.to_uppercase()).ok_or_else(|| {
            let known: Vec<String> = EdgeKind::ALL.iter().map(|kind| kind.as_str().to_lowercase()).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            unknown_word("kinds", word, &known)
        })
    };
    let draw = EdgeDraw {
        resolution,
        kinds: question.kinds.iter().map(kind).collect::<Result<_, _>>()?,
        seed: question.seed,
        count: bounded("count", question.count, agent.caps().edges)?,
    };
    let edges = agent.searcher().sample_edges(&selection(&question.repositories), &draw).await?;
    Ok(EdgeSample { edges: edges.iter().map(SampledEdgeReport::of).collect() })
}

async fn patterns(agent: &dyn Agent, question: &PatternsQuestion) -> Result<PatternList, QueryError> {
    let repositories = selection(&question.repositories);
    let mut answer = agent.searcher().patterns(&repositories, question.name.as_deref()).await?;
    let page = Page { offset: question.offset, limit: question.limit, most: agent.caps().entries };
    let (range, page) = page.of(answer.patterns.len())?;
    answer.patterns = answer.patterns.drain(range).collect();
    Ok(PatternList::of(&answer, page))
}

pub(crate) async fn index(agent: &dyn Agent, question: &IndexQuestion) -> Result<IndexProgress, QueryError> {
    Ok(IndexProgress::of(agent.index(index_call(question)?).await?))
}

/// Does the same as `index`, and also reports the progress to `watch`.
pub(crate) async fn index_watched(
    agent: &dyn Agent,
    question: &IndexQuestion,
    watch: Arc<dyn WatchIndexing>,
) -> Result<IndexProgress, QueryError> {
    Ok(IndexProgress::of(agent.index_watched(index_call(question)?, watch).await?))
}

fn index_call(question: &IndexQuestion) -> Result<IndexCall, QueryError> {
    let IndexQuestion { target, include_patterns, exclude_patterns, max_file_size, changed_files } = question.clone();
    let max_file_size = max_file_size.map(file_size).transpose()?;
    Ok(IndexCall { target, include_patterns, exclude_patterns, max_file_size, changed_files })
}

async fn progress(agent: &dyn Agent, question: &ProgressQuestion) -> Result<IndexProgress, QueryError> {
    let ProgressQuestion { repository, request, previous_run_id } = question.clone();
    let ticket = IndexTicket { repository, request, previous_run: previous_run_id };
    Ok(IndexProgress::of(agent.progress(ticket).await?))
}
