//! Describes the edges over which a hit was found.

use std::fmt;

use cairn_domain::{EdgeKind, RepoPath};

/// Maximum number of different edges that a text lists, and of lines that it lists for equal edges. Further
/// edges and lines are only counted.
const MAX_LISTED: usize = 20;

/// An edge between a hit and a symbol or file. The question names this symbol or file, or another hit shows
/// it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Via {
    pub edge: EdgeKind,
    /// Whether the edge leads from the symbol to the hit.
    pub is_outgoing: bool,
    pub symbol: String,
    /// The path of the symbol or file; `None` for a package outside the repository.
    pub path: Option<RepoPath>,
    /// The line of the reference in the file in which the edge starts; 0 if there is no reference.
    pub line: u32,
    pub confidence_percent: u8,
}

impl Via {
    /// The line of the reference, if the reference is in the hit.
    pub fn line_in_hit(&self) -> Option<u32> {
        (!self.is_outgoing && self.line > 0).then_some(self.line)
    }

    fn differs_only_in_line(&self, other: &Via) -> bool {
        let Via { edge, is_outgoing, symbol, path, line: _, confidence_percent } = self;
        (edge, is_outgoing, confidence_percent) == (&other.edge, &other.is_outgoing, &other.confidence_percent)
            && (symbol, path) == (&other.symbol, &other.path)
    }
}

/// The text of all edges of a hit. Edges that differ only in their line are joined:
/// `login (src/api.py) CALLS this at line 3, 90 %` or `CALLS login (src/api.py) at lines 3 and 8, 90 %`.
/// `None` if there are no edges.
pub fn via_text(edges: &[Via]) -> Option<String> {
    let mut groups: Vec<(&Via, Vec<u32>)> = Vec::new();
    for via in edges {
        match groups.iter_mut().find(|(first, _)| first.differs_only_in_line(via)) {
            Some((_, lines)) => lines.push(via.line),
            None => groups.push((via, vec![via.line])),
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for (via, lines) in groups.iter_mut().take(MAX_LISTED) {
        lines.sort_unstable();
        lines.dedup();
        texts.push(Edges { via, lines }.to_string());
    }
    if groups.len() > MAX_LISTED {
        texts.push(format!("{} more edges", groups.len() - MAX_LISTED));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Edges that differ only in their lines.
struct Edges<'a> {
    via: &'a Via,
    /// Sorted, without duplicates.
    lines: &'a [u32],
}

impl fmt::Display for Edges<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (edge, symbol) = (self.via.edge.as_str(), &self.via.symbol);
        let path = self.via.path.as_ref().map(|path| format!(" ({path})")).unwrap_or_default();
        if self.via.is_outgoing {
            write!(out, "{symbol}{path} {edge} this")?;
        } else {
            write!(out, "{edge} {symbol}{path}")?;
        }
        match self.lines {
            [] | [0] => {}
            [line] => write!(out, " at line {line}")?,
            lines => write!(out, " at lines {}", listed(lines))?,
        }
        write!(out, ", {} %", self.via.confidence_percent)
    }
}

/// `3, 5 and 8`, or `3, 5 and 90 more`.
fn listed(lines: &[u32]) -> String {
    let num_shown = if lines.len() > MAX_LISTED { MAX_LISTED } else { lines.len() - 1 };
    let shown: Vec<String> = lines[..num_shown].iter().map(ToString::to_string).collect();
    let last = match lines[num_shown..] {
        [last] => last.to_string(),
        ref rest => format!("{} more", rest.len()),
    };
    format!("{} and {last}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn via(line: u32) -> Via {
        let path = RepoPath::parse("a").expect("a path");
        let (edge, symbol) = (EdgeKind::Calls, "f".to_owned());
        Via { edge, is_outgoing: false, symbol, path: Some(path), line, confidence_percent: 90 }
    }

    #[test]
    fn edges_are_joined_if_only_their_lines_differ() {
        let check = |edges: &[Via], expect: &str| assert_eq!(via_text(edges).as_deref(), Some(expect));
        assert_eq!(via_text(&[]), None);
        check(&[via(3)], "CALLS f (a) at line 3, 90 %");
        check(&[via(8), via(3), via(5), via(3)], "CALLS f (a) at lines 3, 5 and 8, 90 %");
        check(&[Via { is_outgoing: true, ..via(3) }], "f (a) CALLS this at line 3, 90 %");
        check(&[Via { line: 0, path: None, ..via(3) }], "CALLS f, 90 %");
        check(
            &[via(3), Via { confidence_percent: 40, ..via(4) }, via(9)],
            "CALLS f (a) at lines 3 and 9, 90 %; CALLS f (a) at line 4, 40 %",
        );
        let many: Vec<Via> = (1..=22).map(via).collect();
        let text = via_text(&many).unwrap_or_default();
        assert!(text.ends_with("19, 20 and 2 more, 90 %"), "{text}");
        let different: Vec<Via> = (1..=23).map(|percent| Via { confidence_percent: percent, ..via(1) }).collect();
        let text = via_text(&different).unwrap_or_default();
        assert!(text.ends_with("; 3 more edges"), "{text}");
    }

    #[test]
    fn only_incoming_references_are_in_the_hit() {
        let check = |via: Via, expect: Option<u32>| assert_eq!(via.line_in_hit(), expect);
        check(via(3), Some(3));
        check(via(0), None);
        check(Via { is_outgoing: true, ..via(3) }, None);
    }
}
