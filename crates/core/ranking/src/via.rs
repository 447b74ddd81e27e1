//! Describes the edge over which a hit was found.

use std::fmt;

use cairn_domain::{EdgeKind, RepoPath};

/// An edge between a hit and a symbol or file that the question names or that another hit shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Via {
    pub edge: EdgeKind,
    /// Whether the edge leads from the symbol to the hit.
    pub is_outgoing: bool,
    pub symbol: String,
    /// `None` for a package outside the repository.
    pub path: Option<RepoPath>,
    /// The line of the reference in the file of the edge's source, or 0 if there is no reference.
    pub line: u32,
    pub confidence_percent: u8,
}

/// `login (src/api.py) CALLS this at line 3, 90 %` or `CALLS login (src/api.py) at line 3, 90 %`.
impl fmt::Display for Via {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (edge, symbol) = (self.edge.as_str(), &self.symbol);
        let path = self.path.as_ref().map(|path| format!(" ({path})")).unwrap_or_default();
        if self.is_outgoing {
            write!(out, "{symbol}{path} {edge} this")?;
        } else {
            write!(out, "{edge} {symbol}{path}")?;
        }
        if self.line > 0 {
            write!(out, " at line {}", self.line)?;
        }
        write!(out, ", {} %", self.confidence_percent)
    }
}
