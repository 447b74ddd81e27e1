//! The error of a question, in the form that all front ends share.

use cairn_gateway::answers::ErrorReport;

/// An error with the details that help to make the next call.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ReportedError(pub ErrorReport);
