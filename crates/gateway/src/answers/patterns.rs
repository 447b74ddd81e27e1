//! Answers about patterns, the recurring shapes of code.

use cairn_domain::{PatternMember, PatternRecord};
use cairn_search::PatternAnswer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{PageInfo, SourceStamp};

/// The patterns of the selected repositories.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PatternList {
    pub patterns: Vec<PatternReport>,
    pub sources: Vec<SourceStamp>,
    #[serde(flatten)]
    pub page: PageInfo,
}

/// A shape that several classes or files share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PatternReport {
    pub repository: String,
    pub name: String,
    pub description: String,
    pub language: String,
    pub module: String,
    pub shared_methods: Vec<String>,
    pub shared_bases: Vec<String>,
    pub shared_decorators: Vec<String>,
    /// The most typical member.
    pub canonical: Option<PatternMemberReport>,
    pub members: Vec<PatternMemberReport>,
}

/// A member of a pattern, with its deviations.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PatternMemberReport {
    pub name: String,
    pub path: String,
    pub start_line: u32,
    pub end_line: u32,
    pub extra_methods: Vec<String>,
    pub missing_methods: Vec<String>,
}

impl PatternList {
    pub fn of(answer: &PatternAnswer, page: PageInfo) -> Self {
        let patterns = answer.patterns.iter().map(|(repository, pattern)| PatternReport::of(repository, pattern));
        Self { patterns: patterns.collect(), sources: SourceStamp::all(&answer.stamps), page }
    }
}

impl PatternReport {
    fn of(repository: &str, pattern: &PatternRecord) -> Self {
        Self {
            repository: repository.to_owned(),
            name: pattern.name.clone(),
            description: pattern.description.clone(),
            language: pattern.language.clone(),
            module: pattern.module_path.clone(),
            shared_methods: pattern.shared_methods.clone(),
            shared_bases: pattern.shared_bases.clone(),
            shared_decorators: pattern.shared_decorators.clone(),
            canonical: pattern.members.get(pattern.canonical as usize).map(PatternMemberReport::of),
            members: pattern.members.iter().map(PatternMemberReport::of).collect(),
        }
    }
}

impl PatternMemberReport {
    fn of(member: &PatternMember) -> Self {
        Self {
            name: member.name.clone(),
            path: member.path.to_string(),
            start_line: member.span.start,
            end_line: member.span.end,
            extra_methods: member.extra_methods.clone(),
            missing_methods: member.missing_methods.clone(),
        }
    }
}
