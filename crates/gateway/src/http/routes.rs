//! The paths of the service.

use crate::questions::Question;

/// The OpenAPI document. The only route that needs no key.
pub(super) const OPENAPI: &str = "/v1/openapi.json";
pub(super) const MCP: &str = "/mcp";

/// Every route, as requests are counted.
pub fn routes() -> impl Iterator<Item = &'static str> {
    Question::PATHS.iter().copied().chain([MCP, OPENAPI])
}

/// Questions that need no fields and change nothing can be asked by GET.
pub(super) fn is_read_by_get(path: &str) -> bool {
    let question = Question::parse(path, b"{}");
    question.is_some_and(|question| question.is_ok_and(|question| !matches!(question, Question::Cancel(_))))
}
