//! Parsing of untrusted bytes in a process that can be killed.

use async_trait::async_trait;
use cairn_domain::{FileFacts, SourceText};

use crate::error::port_error;

port_error!(
    /// An error of the parser as a whole. A fault of a single file is not an error: the status of the file's
    /// facts contains the fault.
    FileParserError,
    "parser"
);

#[async_trait]
pub trait FileParser: Send + Sync {
    /// Returns the facts of each text, in the same order. If a file exceeds the limits or crashes the parser
    /// process, its facts contain only windows of text, and its status contains the reason. The other files
    /// are not affected.
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError>;
}
