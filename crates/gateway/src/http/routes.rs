//! The paths of the HTTP interface.

use crate::questions::Question;

/// The route of the OpenAPI document. Only this route needs no key.
pub(super) const OPENAPI: &str = "/v1/openapi.json";
pub(super) const MCP: &str = "/mcp";

/// All routes. Metrics count the requests of each route.
pub fn routes() -> impl Iterator<Item = &'static str> {
    Question::PATHS.iter().copied().chain([MCP, OPENAPI])
}

/// Whether the question of a route can be sent by GET. Such a question has no required fields and changes
/// nothing.
pub(super) fn is_read_by_get(path: &str) -> bool {
    let question = Question::parse(path, b"{}");
    question.is_some_and(|question| question.is_ok_and(|question| !matches!(question, Question::Cancel(_))))
}
