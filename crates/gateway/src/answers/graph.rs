//! Answers about the edges of the graph.

use cairn_domain::NodeRecord;
use cairn_search::{GraphAnswer, GraphEdge, SampledEdge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resolution::Resolution;
use super::source::SourceStamp;

/// The edges of one relation that start or end at the requested name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Relationships {
    /// The nodes with the requested name. The list has several entries if the name is not unique.
    pub about: Vec<NodeReport>,
    /// Set if the name of the nodes differs from the requested name.
    #[serde(flatten)]
    pub resolution: Option<Resolution>,
    pub edges: Vec<EdgeReport>,
    /// Total number of edges, including the edges beyond the limit.
    pub num_edges: u64,
    /// If false, there are at least `num_edges` edges.
    #[serde(default = "super::exact")]
    pub is_exact: bool,
    /// Facts about the answer, such as the number of definitions that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub sources: Vec<SourceStamp>,
}

/// A symbol, file, module or package.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeReport {
    pub repository: String,
    pub kind: String,
    pub name: String,
    pub path: Option<String>,
    pub start_line: Option<u32>,
    pub end_line: Option<u32>,
    pub signature: String,
}

/// An edge between the requested name and another node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EdgeReport {
    /// The position in `about` of the node to which the edge belongs.
    #[serde(default)]
    pub about: usize,
    pub edge: String,
    /// `out` if the edge starts at the requested name.
    pub direction: EdgeDirection,
    pub node: NodeReport,
    /// The place in the code that contains the reference.
    pub site: Option<EdgeSite>,
    pub resolution: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The direction of an edge relative to the requested name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeDirection {
    Out,
    In,
}

/// A path and line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EdgeSite {
    pub path: Option<String>,
    pub line: u32,
}

/// A random sample of edges.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EdgeSample {
    pub edges: Vec<SampledEdgeReport>,
}

/// An edge of the sample, with its source node and its target node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SampledEdgeReport {
    pub edge: String,
    pub resolution: String,
    /// From 0 to 1.
    pub confidence: f64,
    pub site: EdgeSite,
    pub source: NodeReport,
    pub target: NodeReport,
}

fn confidence(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

impl Relationships {
    pub fn of(answer: &GraphAnswer) -> Self {
        Self {
            about: answer.about.iter().map(|(repository, node)| NodeReport::of(repository, node)).collect(),
            resolution: answer.substitution.as_ref().map(Resolution::of),
            edges: answer.edges.iter().map(EdgeReport::of).collect(),
            num_edges: answer.num_edges,
            is_exact: answer.is_exact,
            notes: answer.notes.iter().map(ToString::to_string).collect(),
            sources: SourceStamp::all(&answer.stamps),
        }
    }
}

impl Relationships {
    /// The number of edges that are not shown, as text. `None` if all edges are shown.
    pub fn left(&self) -> Option<String> {
        match (self.num_edges.saturating_sub(self.edges.len() as u64), self.is_exact) {
            (0, true) => None,
            (0, false) => Some("more may exist".to_owned()),
            (left, true) => Some(format!("{left} more")),
            (left, false) => Some(format!("at least {left} more")),
        }
    }
}

impl NodeReport {
    fn of(repository: &str, node: &NodeRecord) -> Self {
        Self {
            repository: repository.to_owned(),
            kind: node.symbol_kind.map_or(node.kind.as_str(), |kind| kind.as_str()).to_owned(),
            name: node.qualified_name.clone(),
            path: node.path.as_ref().map(ToString::to_string),
            start_line: node.span.map(|span| span.start),
            end_line: node.span.map(|span| span.end),
            signature: node.signature.clone(),
        }
    }
}

impl EdgeReport {
    fn of(edge: &GraphEdge) -> Self {
        Self {
            about: edge.about,
            edge: edge.kind.as_str().to_owned(),
            direction: if edge.outgoing { EdgeDirection::Out } else { EdgeDirection::In },
            node: NodeReport::of(&edge.other_repository, &edge.other),
            site: edge.site.as_ref().map(|(path, line)| EdgeSite { path: Some(path.clone()), line: *line }),
            resolution: edge.resolution.as_str().to_owned(),
            confidence: confidence(edge.confidence_percent),
        }
    }

    /// The confidence in whole percent.
    pub fn confidence_percent(&self) -> u8 {
        (self.confidence * 100.0).round() as u8
    }
}

impl SampledEdgeReport {
    pub fn of(edge: &SampledEdge) -> Self {
        Self {
            edge: edge.edge.kind.as_str().to_owned(),
            resolution: edge.edge.resolution.as_str().to_owned(),
            confidence: confidence(edge.edge.confidence_percent),
            site: EdgeSite { path: edge.source.path.as_ref().map(ToString::to_string), line: edge.edge.line },
            source: NodeReport::of("", &edge.source),
            target: NodeReport::of("", &edge.target),
        }
    }
}
