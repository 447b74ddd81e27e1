//! The error of a query service.

use cairn_gateway::answers::ErrorReport;

/// An error answer, in the form that all front ends share.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct RemoteError(pub ErrorReport);
