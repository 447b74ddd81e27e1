//! Parsing of untrusted bytes, somewhere where it can be killed.

use async_trait::async_trait;
use cairn_domain::{FileFacts, SourceText};

use crate::error::port_error;

port_error!(
    /// An error of the parser as a whole (not of a file: those are in the facts' status).
    FileParserError,
    "parser"
);

#[async_trait]
pub trait FileParser: Send + Sync {
    /// Facts of each text, in order. A file that exceeds its bounds or kills the parser comes back as windows of text
    /// with its status; the others are not affected.
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError>;
}
