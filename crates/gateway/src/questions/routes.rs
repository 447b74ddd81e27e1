//! The routes: each question with its answer, its path and its time limit.

use schemars::Schema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::question_schema::completed;
use super::types::{
    CancelQuestion, CoverageQuestion, FingerprintQuestion, GraphQuestion, GrepQuestion, GuideQuestion, IndexQuestion,
    ModulesQuestion, Nothing, PatternsQuestion, ProgressQuestion, ReadQuestion, RepositoriesQuestion, RunsQuestion,
    SampleQuestion, SearchQuestion, SecretsQuestion,
};
use crate::answers::{
    Cancellation, CodeText, CoverageAnswer, EdgeSample, FingerprintList, GrepResults, GuideText, IndexProgress,
    ModuleList, PageInfo, PatternList, Relationships, RepositoryList, RunsAnswer, SearchResults, SecretList,
    Statistics, StatusReport, schema_of,
};

impl Question {
    /// The question without the fields that have their default values.
    pub fn short_body(&self) -> Map<String, Value> {
        let Value::Object(mut body) = self.body() else { return Map::new() };
        let is_same = |read: Result<Self, serde_json::Error>| read.is_ok_and(|read| read == *self);
        for name in body.keys().cloned().collect::<Vec<_>>() {
            let mut without = body.clone();
            without.remove(&name);
            let text = Value::Object(without.clone()).to_string();
            if Self::parse(self.path(), text.as_bytes()).is_some_and(is_same) {
                body = without;
            }
        }
        body
    }

    /// The offset of the requested page. `None` if the answer is not a page of a long list.
    pub fn offset_mut(&mut self) -> Option<&mut usize> {
        match self {
            Question::Repositories(question) => Some(&mut question.offset),
            Question::Patterns(question) => Some(&mut question.offset),
            Question::Modules(question) => Some(&mut question.offset),
            Question::Secrets(question) => Some(&mut question.offset),
            Question::Coverage(question) => Some(&mut question.offset),
            _ => None,
        }
    }
}

impl Answer {
    /// Whether the question has no results.
    pub fn is_empty(&self) -> bool {
        match self {
            Answer::Search(answer) => answer.results.is_empty() && answer.files.is_empty(),
            Answer::Grep(answer) => answer.matching_files.is_empty() && answer.next_cursor.is_none(),
            Answer::Graph(answer) => answer.edges.is_empty(),
            Answer::Sample(answer) => answer.edges.is_empty(),
            Answer::Patterns(answer) => answer.patterns.is_empty(),
            Answer::Repositories(answer) => answer.repositories.is_empty(),
            Answer::Fingerprint(answer) => answer.fingerprints.is_empty(),
            Answer::Modules(answer) => answer.modules.is_empty(),
            Answer::Secrets(answer) => answer.findings.is_empty(),
            Answer::Runs(RunsAnswer::List(answer)) => answer.runs.is_empty() && answer.syncs.is_empty(),
            // A summary contains counts instead of entries, so it is never empty.
            Answer::Coverage(CoverageAnswer::All(answer)) => answer.entries.as_ref().is_some_and(Vec::is_empty),
            _ => false,
        }
    }

    /// The position of the page. `None` if the answer is not a page of a long list.
    pub fn page_mut(&mut self) -> Option<&mut PageInfo> {
        match self {
            Answer::Repositories(answer) => Some(&mut answer.page),
            Answer::Patterns(answer) => Some(&mut answer.page),
            Answer::Modules(answer) => Some(&mut answer.page),
            Answer::Secrets(answer) => Some(&mut answer.page),
            Answer::Coverage(CoverageAnswer::All(answer)) => answer.page.as_mut(),
            _ => None,
        }
    }

    /// Appends the entries of the next page. Returns false if the other fields of the two answers differ,
    /// because the index changed between the two calls. If the result is false, `self` must not be used any
    /// more.
    #[must_use]
    pub fn append(&mut self, mut next: Answer) -> bool {
        if let (Some(page), Some(next_page)) = (self.page_mut(), next.page_mut()) {
            (next_page.offset, next_page.next_offset) = (page.offset, page.next_offset);
        }
        match (&mut *self, &mut next) {
            (Answer::Repositories(answer), Answer::Repositories(next)) => {
                append_list(answer, next, |answer| &mut answer.repositories)
            }
            (Answer::Patterns(answer), Answer::Patterns(next)) => {
                append_list(answer, next, |answer| &mut answer.patterns)
            }
            (Answer::Modules(answer), Answer::Modules(next)) => append_list(answer, next, |answer| &mut answer.modules),
            (Answer::Secrets(answer), Answer::Secrets(next)) => {
                append_list(answer, next, |answer| &mut answer.findings)
            }
            (Answer::Coverage(CoverageAnswer::All(answer)), Answer::Coverage(CoverageAnswer::All(next))) => {
                let (mut entries, mut more) = (answer.entries.take(), next.entries.take());
                let is_same = answer == next;
                if let (Some(entries), Some(more)) = (&mut entries, &mut more) {
                    entries.append(more);
                }
                answer.entries = entries;
                is_same
            }
            _ => false,
        }
    }
}

/// Appends a list of `next` to the same list of `first`. Returns whether all other fields are equal.
fn append_list<A: PartialEq, T>(first: &mut A, next: &mut A, list_of: impl Fn(&mut A) -> &mut Vec<T>) -> bool {
    let mut joined = std::mem::take(list_of(first));
    joined.append(list_of(next));
    let is_same = first == next;
    *list_of(first) = joined;
    is_same
}

/// Declares each question, its answer, its route, and whether the question may take a long time. The macro
/// generates all code in which the question, the answer and the route must agree.
macro_rules! questions {
    ($($variant:ident($question:ty) -> $answer:ty, $path:literal $pace:ident;)+) => {
        /// Any question.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Question { $($variant($question)),+ }

        /// The answer to the question variant with the same name.
        #[derive(Clone, PartialEq, Debug, Serialize)]
        #[serde(untagged)]
        pub enum Answer { $($variant($answer)),+ }

        impl Question {
            /// The paths of all routes. Each route accepts a question as JSON by POST.
            pub const PATHS: &'static [&'static str] = &[$($path),+];

            pub fn path(&self) -> &'static str {
                match self { $(Question::$variant(_) => $path),+ }
            }

            /// The question as the JSON that is sent to a server.
            pub fn body(&self) -> serde_json::Value {
                match self { $(Question::$variant(question) => serde_json::json!(question)),+ }
            }

            /// Reads a question from the body of a request. `None` if the route does not exist.
            pub fn parse(path: &str, body: &[u8]) -> Option<Result<Self, serde_json::Error>> {
                match path { $($path => Some(serde_json::from_slice(body).map(Question::$variant)),)+ _ => None }
            }

            /// Reads the answer of a service to this question.
            pub fn parse_answer(&self, body: &[u8]) -> Result<Answer, serde_json::Error> {
                match self { $(Question::$variant(_) => serde_json::from_slice(body).map(Answer::$variant)),+ }
            }

            /// Whether the question reads all stored records. Such a question has a longer time limit.
            pub fn is_long(&self) -> bool {
                match self { $(Question::$variant(_) => stringify!($pace) == "long"),+ }
            }

            /// The JSON schemas of the question and the answer of each route.
            pub fn schemas() -> Vec<RouteSchemas> {
                vec![$(RouteSchemas {
                    path: $path,
                    question: completed($path, schemars::schema_for!($question)),
                    answer: schema_of::<$answer>(),
                }),+]
            }
        }
    };
}

/// The JSON schemas of a route.
#[derive(Debug)]
pub struct RouteSchemas {
    pub path: &'static str,
    pub question: Schema,
    pub answer: Schema,
}

questions! {
    Search(SearchQuestion) -> SearchResults, "/v1/search" short;
    Grep(GrepQuestion) -> GrepResults, "/v1/grep" short;
    Read(ReadQuestion) -> CodeText, "/v1/read" short;
    Graph(GraphQuestion) -> Relationships, "/v1/graph" short;
    Sample(SampleQuestion) -> EdgeSample, "/v1/graph/sample" long;
    Patterns(PatternsQuestion) -> PatternList, "/v1/patterns" short;
    Modules(ModulesQuestion) -> ModuleList, "/v1/modules" short;
    Repositories(RepositoriesQuestion) -> RepositoryList, "/v1/repositories" short;
    Status(Nothing) -> StatusReport, "/v1/status" short;
    Stats(Nothing) -> Statistics, "/v1/stats" short;
    Runs(RunsQuestion) -> RunsAnswer, "/v1/runs" short;
    Cancel(CancelQuestion) -> Cancellation, "/v1/runs/cancel" short;
    Coverage(CoverageQuestion) -> CoverageAnswer, "/v1/coverage" short;
    Secrets(SecretsQuestion) -> SecretList, "/v1/secrets" long;
    Fingerprint(FingerprintQuestion) -> FingerprintList, "/v1/fingerprint" long;
    Index(IndexQuestion) -> IndexProgress, "/v1/index" short;
    Progress(ProgressQuestion) -> IndexProgress, "/v1/index/progress" short;
    Guide(GuideQuestion) -> GuideText, "/v1/guide" short;
}
