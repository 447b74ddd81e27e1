//! Suggests the next calls after an error or an empty answer, for the command line and for HTTP.
//!
//! A question is suggested after another question only if the suggested question was tried for the same
//! caller and had an answer. Suggestions after an error of a command are not tried.

use cairn_search::{QueryError, QueryErrorCode};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::answers::{ErrorReport, Priority, SuggestedCall, SuggestedRequest};
use crate::mcp::{SuggestedQuestion, questions_in, suggested_questions};
use crate::questions::{
    self, CoverageQuestion, GuideQuestion, Nothing, PatternsQuestion, Question, RepositoriesQuestion, SecretsQuestion,
};

/// Maximum number of suggested calls.
const MAX_SUGGESTIONS: usize = 2;

/// The suggested calls after an empty answer to this question.
pub async fn after_empty(agent: &dyn Agent, question: &Question) -> Vec<SuggestedCall> {
    let suggestions = calls(suggested_questions(agent, question, None).await);
    if suggestions.is_empty() { that_answer(agent, wider(question)).await } else { suggestions }
}

/// Broader questions, for a question that has no results and for which no tool suggests a call.
fn wider(question: &Question) -> Vec<(&'static str, Question)> {
    let other = match question {
        // A command in a working tree asks only about the repository there, unless it names `all`.
        Question::Patterns(PatternsQuestion { name, repositories, .. })
            if name.is_some() || !repositories.is_empty() =>
        {
            let repositories = vec!["all".to_owned()];
            let all = PatternsQuestion { repositories, ..PatternsQuestion::default() };
            Some(("lists all patterns", Question::Patterns(all)))
        }
        Question::Secrets(SecretsQuestion { repository, .. })
        | Question::Coverage(CoverageQuestion { repository, .. }) => {
            let of = CoverageQuestion { repository: repository.clone(), summary: true, ..CoverageQuestion::default() };
            Some(("counts the files by outcome", Question::Coverage(of)))
        }
        Question::Runs(_) => Some(("shows the state of the index", Question::Status(Nothing {}))),
        _ => None,
    };
    other.into_iter().chain(general()).collect()
}

/// Questions that can be suggested after any other question.
fn general() -> [(&'static str, Question); 2] {
    [("shows the names of all repositories", Question::Repositories(RepositoriesQuestion::default())), guide()]
}

fn guide() -> (&'static str, Question) {
    let topic = Some("recovering".to_owned());
    ("explains what to do when calls fail", Question::Guide(GuideQuestion { topic }))
}

/// The report of an error that was not caused by a question, such as an error of indexing. The suggested
/// calls were not tried.
pub fn report_of_command(error: &QueryError) -> ErrorReport {
    let mut suggestions = calls(questions_in(error));
    if suggestions.is_empty() {
        let (reason, question) = guide();
        suggestions.push(suggested_call(reason, &question, 1));
    }
    report_of(error, suggestions)
}

/// The report of an error with suggested calls.
pub fn report_of(error: &QueryError, suggestions: Vec<SuggestedCall>) -> ErrorReport {
    let mut report = ErrorReport::of(error);
    report.details.tool_suggestions = suggestions;
    report
}

/// The calls that are suggested after the question failed with this error. The list is empty for internal
/// errors, and contains only the guide for other errors that the caller did not cause.
pub async fn after_error(agent: &dyn Agent, question: &Question, error: &QueryError) -> Vec<SuggestedCall> {
    use QueryErrorCode::{Corrupt, InternalError, RateLimited, Timeout};
    match error.code {
        InternalError => return Vec::new(),
        // The question is not asked again, because its repetition would probably fail in the same way.
        Corrupt | RateLimited { .. } | Timeout => return that_answer(agent, vec![guide()]).await,
        _ => {}
    }
    let mut suggestions = calls(suggested_questions(agent, question, Some(error)).await);
    if suggestions.is_empty() {
        suggestions = of_any_question(agent, question, error).await;
    }
    suggestions
}

/// Suggestions if no tool suggests a call: the same question about the repository with the most similar name,
/// and the list of repositories or the guide.
async fn of_any_question(agent: &dyn Agent, question: &Question, error: &QueryError) -> Vec<SuggestedCall> {
    let mut candidates = Vec::new();
    // A call that indexes or cancels must not be repeated for another repository, so it is not suggested.
    let changes = matches!(question, Question::Cancel(_) | Question::Index(_) | Question::Progress(_));
    let near = error.similar_repositories.first().filter(|_| !changes);
    if let Some(similar) = near.and_then(|near| about(question, near)) {
        candidates.push(("uses the repository with the most similar name", similar));
    }
    candidates.extend(general());
    that_answer(agent, candidates).await
}

/// Tries the candidate questions in the given order. Returns the first questions whose answers are not empty,
/// in the form of calls.
async fn that_answer(agent: &dyn Agent, candidates: Vec<(&'static str, Question)>) -> Vec<SuggestedCall> {
    let mut working = Vec::new();
    for (reason, candidate) in candidates {
        let is_answered = matches!(questions::answer(agent, &candidate).await, Ok(answer) if !answer.is_empty());
        if is_answered && working.len() < MAX_SUGGESTIONS {
            working.push(suggested_call(reason, &candidate, working.len() + 1));
        }
    }
    working
}

/// The given question, asked about the repository `repository` instead.
fn about(question: &Question, repository: &str) -> Option<Question> {
    let mut body = question.short_body();
    let (field, value) = match question.body().get("repositories") {
        Some(_) => ("repositories", json!([repository])),
        None => ("repository", json!(repository)),
    };
    body.insert(field.to_owned(), value);
    Question::parse(question.path(), Value::Object(body).to_string().as_bytes())?.ok()
}

fn request_of(question: &Question) -> SuggestedRequest {
    SuggestedRequest { method: "POST".to_owned(), path: question.path().to_owned(), body: question.short_body() }
}

/// The question of a suggested request. `None` if this version of Cairn does not support the question.
pub fn question_of_request(request: &SuggestedRequest) -> Option<Question> {
    Question::parse(&request.path, Value::Object(request.body.clone()).to_string().as_bytes())?.ok()
}

/// A suggested question as a call. `rank` counts the suggestions from 1.
pub fn suggested_call(reason: &str, question: &Question, rank: usize) -> SuggestedCall {
    let request = request_of(question);
    SuggestedCall {
        tool: request.path.trim_start_matches("/v1/").to_owned(),
        reason: reason.to_owned(),
        arguments: request.body.clone(),
        priority: Some(Priority::of(rank)),
        request: Some(request),
        command: None,
    }
}

fn calls(suggested: Vec<SuggestedQuestion>) -> Vec<SuggestedCall> {
    let call = |suggested: SuggestedQuestion| SuggestedCall {
        request: Some(request_of(&suggested.question)),
        ..suggested.call
    };
    suggested.into_iter().map(call).collect()
}
