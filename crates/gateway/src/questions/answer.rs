//! From a question to the JSON of its answer.

use cairn_domain::{ChunkKind, EdgeKind, Resolution};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_search::{
    CodeRequest, EdgeDraw, GraphRequest, QueryError, QueryErrorCode, Relation, RepositorySelection, SearchRequest,
    Searcher,
};
use serde_json::{Value, json};

use super::inventory;
use super::page::{self, Page};
use super::types::{
    GraphQuestion, IndexQuestion, PatternsQuestion, ProgressQuestion, Question, ReadQuestion, SampleQuestion,
    SearchQuestion, WantTests,
};
use crate::json as as_json;
use crate::mcp::guide;
use crate::time::seconds_of_moment;
use crate::{Agent, AskedFor, Caps, IndexCall};

pub async fn answer(agent: &dyn Agent, question: &Question) -> Result<Value, QueryError> {
    answer_of(agent, question).await.map_err(|error| agent.with_way_to_index(error))
}

async fn answer_of(agent: &dyn Agent, question: &Question) -> Result<Value, QueryError> {
    let (searcher, caps) = (agent.searcher(), agent.caps());
    match question {
        Question::Search(question) => search(searcher, question, caps).await,
        Question::Read(question) => read(searcher, question, caps).await,
        Question::Graph(question) => graph(searcher, question, caps).await,
        Question::Sample(question) => sample(searcher, question, caps).await,
        Question::Patterns(question) => patterns(searcher, question, caps).await,
        Question::Repositories(question) => inventory::repositories(agent, question).await,
        Question::Status(_) => inventory::status(agent).await,
        Question::Stats(_) => inventory::stats(agent).await,
        Question::Runs(question) => inventory::runs(searcher, question, caps).await,
        Question::Cancel(question) => inventory::cancel(agent, question).await,
        Question::Coverage(question) => inventory::coverage(searcher, question, caps).await,
        Question::Secrets(question) => inventory::secrets(searcher, question, caps).await,
        Question::Fingerprint(question) => inventory::fingerprint(searcher, &question.repositories).await,
        Question::Index(question) => index(agent, question).await,
        Question::Progress(question) => progress(agent, question).await,
        Question::Guide(question) => guide::answer(question.topic.as_deref()),
    }
}

pub(super) fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

fn selection(names: &[String]) -> RepositorySelection {
    RepositorySelection(names.to_vec())
}

pub(super) fn bounded(name: &str, value: usize, most: usize) -> Result<usize, QueryError> {
    // What is too little is so under any cap: a service and one's own machine, which has none, say the same.
    if value == 0 {
        return Err(wrong(format!("`{name}` must be at least 1")));
    }
    let is_within = value <= most;
    is_within.then_some(value).ok_or_else(|| wrong(format!("`{name}` must lie between 1 and {most}, not {value}")))
}

async fn search(searcher: &Searcher, question: &SearchQuestion, caps: Caps) -> Result<Value, QueryError> {
    let request = SearchRequest {
        query: question.query.clone(),
        repositories: selection(&question.repositories),
        filter: filter(searcher, question)?,
        limit: question.limit,
        max_tokens: bounded("max_tokens", question.max_tokens, caps.tokens)?,
        cursor: question.cursor.clone(),
    };
    Ok(as_json::search(&searcher.search(&request).await?, question.explain))
}

fn filter(searcher: &Searcher, question: &SearchQuestion) -> Result<ChunkFilter, QueryError> {
    let kind = |word: &String| {
        ChunkKind::parse(word).ok_or_else(|| {
            let known: Vec<&str> = ChunkKind::ALL.iter().map(|kind| kind.as_str()).collect();
            wrong(format!("`{word}` is no kind of chunk; there are {}", known.join(", ")))
        })
    };
    let moment = |text: &String| {
        let wrong = || wrong(format!("`{text}` is no moment; write a day (2026-01-31) or how long ago (36h, 7d, 2w)"));
        seconds_of_moment(text, searcher.clock.now_ms()).ok_or_else(wrong)
    };
    Ok(ChunkFilter {
        languages: question.languages.iter().map(|language| language.to_lowercase()).collect(),
        kinds: question.kinds.iter().map(kind).collect::<Result<_, _>>()?,
        paths: question.paths.clone(),
        module_prefixes: question.modules.clone(),
        include_tests: match question.tests {
            WantTests::Include => IncludeTests::Include,
            WantTests::Exclude => IncludeTests::Exclude,
            WantTests::Only => IncludeTests::Only,
        },
        tags: question.tags.clone(),
        since: question.since.as_ref().map(moment).transpose()?,
    })
}

async fn read(searcher: &Searcher, question: &ReadQuestion, caps: Caps) -> Result<Value, QueryError> {
    let lines = match (question.start_line, question.end_line) {
        (None, None) => None,
        (start, end) => Some((start.unwrap_or(1), end.unwrap_or(u32::MAX))),
    };
    let request = CodeRequest {
        repository: question.repository.clone(),
        path: question.path.clone(),
        symbol: question.symbol.clone(),
        lines,
        max_tokens: bounded("max_tokens", question.max_tokens, caps.tokens)?,
    };
    Ok(as_json::code(&searcher.read_code(&request).await?))
}

async fn graph(searcher: &Searcher, question: &GraphQuestion, caps: Caps) -> Result<Value, QueryError> {
    let relation = Relation::parse(&question.relation).ok_or_else(|| {
        let known = Relation::ALL.map(Relation::as_str);
        wrong(format!("`{}` is no relation; there are {}", question.relation, known.join(", ")))
    })?;
    let request = GraphRequest {
        name: question.name.clone(),
        relation,
        repositories: selection(&question.repositories),
        limit: bounded("limit", question.limit, caps.edges)?,
    };
    Ok(as_json::graph(&searcher.relationship(&request).await?))
}

async fn sample(searcher: &Searcher, question: &SampleQuestion, caps: Caps) -> Result<Value, QueryError> {
    let class = &question.class;
    let resolution = Resolution::parse(class).ok_or_else(|| {
        wrong(format!("`{class}` is no resolution class; there are exact, import, heuristic, ambiguous"))
    })?;
    let kind = |word: &String| {
        EdgeKind::parse(&word.to_uppercase()).ok_or_else(|| {
            let known: Vec<String> = EdgeKind::ALL.iter().map(|kind| kind.as_str().to_lowercase()).collect();
            wrong(format!("`{word}` is no kind of edge; there are {}", known.join(", ")))
        })
    };
    let draw = EdgeDraw {
        resolution,
        kinds: question.kinds.iter().map(kind).collect::<Result<_, _>>()?,
        seed: question.seed,
        count: bounded("count", question.count, caps.edges)?,
    };
    let edges = searcher.sample_edges(&selection(&question.repositories), &draw).await?;
    Ok(json!({ "edges": edges.iter().map(as_json::sampled).collect::<Vec<_>>() }))
}

async fn patterns(searcher: &Searcher, question: &PatternsQuestion, caps: Caps) -> Result<Value, QueryError> {
    let mut answer = searcher.patterns(&selection(&question.repositories), question.name.as_deref()).await?;
    let num_total = answer.patterns.len();
    let part = Page { offset: question.offset, limit: question.limit, most: caps.entries }.of(num_total)?;
    answer.patterns = answer.patterns.drain(part.clone()).collect();
    let mut json = as_json::patterns(&answer);
    page::put(&mut json, &part, num_total);
    Ok(json)
}

async fn index(agent: &dyn Agent, question: &IndexQuestion) -> Result<Value, QueryError> {
    let IndexQuestion { target, include_patterns, exclude_patterns, max_file_size, changed_files } = question.clone();
    let call = IndexCall { target, include_patterns, exclude_patterns, max_file_size, changed_files };
    Ok(as_json::index_status(&agent.index(call).await?))
}

async fn progress(agent: &dyn Agent, question: &ProgressQuestion) -> Result<Value, QueryError> {
    let ProgressQuestion { repository, request, previous_run_id } = question.clone();
    let asked = AskedFor { repository, request, previous_run: previous_run_id };
    Ok(as_json::index_status(&agent.progress(asked).await?))
}
