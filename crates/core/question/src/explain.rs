//! Prints the result of reading a question, with one fact per line.

use crate::expansions::Expansion;
use crate::filters::{FilterName, Filters};
use crate::parsed::{FlowAsked, ParsedQuery, RelationshipAsked};
use crate::query_type::Strategy;

impl ParsedQuery {
    /// The facts about the question. Each line contains the name of the fact, a colon, and the value. Facts
    /// without a value are omitted.
    pub fn explain(&self) -> Vec<String> {
        let mut lines = vec![format!("question: {}", self.text.replace('\n', " ⏎ "))];
        if let Some(cut) = self.cut {
            lines.push(format!("cut: {} of {} bytes of the question are used", cut.used_bytes, cut.original_bytes));
        }
        lines.push(format!("type: {}{}", self.query_type, if self.forced { " (forced)" } else { "" }));
        lines.push(format!("reason: {}", self.reason));
        lines.push(format!("strategy: {}", strategy(self.strategy)));
        if let Some(asked) = &self.symbol {
            lines.push(format!("symbol: {}", asked.name.replace('\n', " ⏎ ")));
        }
        if let Some(asked) = &self.relationship {
            lines.push(format!("relationship: {}", relationship(asked)));
        }
        if let Some(asked) = &self.flow {
            lines.push(format!("flow: {}", flow(asked)));
        }
        if let Some(subject) = self.pattern.as_ref().and_then(|asked| asked.subject.as_ref()) {
            lines.push(format!("pattern: {subject}"));
        }
        lines.push(format!("intent: {}", self.intent.as_str()));
        if !self.keywords.is_empty() {
            lines.push(format!("keywords: {}", self.keywords.join(", ")));
        }
        for mention in &self.mentions {
            let place = mention.lines.map(|(first, last)| format!(", lines {first} to {last}")).unwrap_or_default();
            let (text, kind) = (&mention.text, mention.kind.as_str());
            lines.push(format!("mention: {text} ({kind}{place}, {} %)", mention.confidence));
        }
        self.explain_filters(&mut lines);
        lines.extend(self.expansions.iter().map(expansion));
        if let Some(name) = &self.file_name {
            lines.push(format!("file name: {} ({})", name.name, name.kind.as_str()));
        }
        lines
    }

    fn explain_filters(&self, lines: &mut Vec<String>) {
        for stated in &self.filters.stated {
            let value = filter_value(&self.filters, stated.filter);
            lines.push(format!("filter: {} {value} (from \"{}\")", stated.filter.as_str(), stated.words));
        }
        if !self.filters.is_empty() && self.text_without_filters != self.text {
            lines.push(format!("without filters: {}", self.text_without_filters.replace('\n', " ⏎ ")));
        }
    }
}

fn strategy(strategy: Strategy) -> String {
    let sources = [
        (strategy.symbols, "index of names"),
        (strategy.patterns, "index of patterns"),
        (strategy.semantic, "hybrid search"),
    ];
    let mut parts: Vec<String> =
        sources.iter().filter(|(is_used, _)| *is_used).map(|(_, name)| (*name).to_owned()).collect();
    if strategy.graph {
        parts.push(format!("graph to depth {}", strategy.graph_depth));
    }
    format!("{}; at most {} results", parts.join(", "), strategy.limit)
}

fn relationship(asked: &RelationshipAsked) -> String {
    let kind = asked.kind.map(|kind| format!(" {}", kind.as_str())).unwrap_or_default();
    let other = asked.other.as_ref().map(|other| format!(" and {other}")).unwrap_or_default();
    format!("{} of{kind} {}{other} (direction: {})", asked.relation, asked.name, asked.direction.as_str())
}

fn flow(asked: &FlowAsked) -> String {
    let parts = [("subject", &asked.subject), ("from", &asked.from), ("to", &asked.to)];
    let parts = parts.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")));
    parts.collect::<Vec<_>>().join(", ")
}

fn filter_value(filters: &Filters, name: FilterName) -> String {
    match name {
        FilterName::Kinds => filters.kinds.join(", "),
        FilterName::Files => filters.files.join(", "),
        FilterName::Directories => filters.directories.join(", "),
        FilterName::Modules => filters.modules.join(", "),
        FilterName::Languages => filters.languages.join(", "),
        FilterName::Since => filters.since.map(|since| since.to_string()).unwrap_or_default(),
        FilterName::Tests => filters.tests.map(|tests| tests.as_str().to_owned()).unwrap_or_default(),
    }
}

fn expansion(expansion: &Expansion) -> String {
    match &expansion.replaced {
        Some(replaced) => format!(
            "expansion: {} ({} for {}, {})",
            expansion.text,
            replaced.synonym,
            replaced.word,
            replaced.source.as_str()
        ),
        None => format!("expansion: {} (keywords alone)", expansion.text),
    }
}
