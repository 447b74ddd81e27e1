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
    /// Returns the facts of each text, in the same order. If a file exceeds the limits or makes the parser
    /// process die, its facts contain only windows of text, and the status names the reason. The other files
    /// are not affected.
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError>;
}
