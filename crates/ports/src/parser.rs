//! Parsing of untrusted bytes in a process that can be killed.

use async_trait::async_trait;
use cairn_domain::{FileFacts, SourceText};

use crate::error::port_error;

port_error!(
    /// An error of the parser as a whole. Errors of a single file are in the status of its facts.
    FileParserError,
    "parser"
);

#[async_trait]
pub trait FileParser: Send + Sync {
    /// The facts of each text, in the same order. A file that exceeds its limits or kills the parser is
    /// returned as windows of text with its status. The other files are not affected.
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError>;
}
