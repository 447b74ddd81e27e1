//! The result of reading a question.

use std::ops::Range;

use serde::Serialize;

use crate::classify::{Classified, Reading, classify};
use crate::cut::{Cut, cut, head};
use crate::definition_line::defined_name;
use crate::expansions::{Expansion, expansions};
use crate::file_name::{FileNameQuery, file_name};
use crate::filters::{Filters, Stated, filters};
use crate::intent::{Intent, intent};
use crate::keywords::keywords;
use crate::mentions::{Mention, mentions};
use crate::positions::tokens_of;
use crate::query_type::{QueryType, Strategy, TypeReason};
use crate::relation::{Direction, NamedKind, Relation};
use crate::relationship;
use crate::symbol::SymbolAsked;
use crate::synonyms::Synonyms;
use crate::tokens::Token;
use crate::vocabulary::{KIND_WORDS, list};

/// Facts, other than the question itself, that affect how the question is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions<'a> {
    /// The type that the caller chose; `None` if the rules decide the type.
    pub forced_type: Option<QueryType>,
    /// The names of the patterns in scope. If `None`, "how do X work" is always a pattern question.
    pub pattern_names: Option<&'a [String]>,
    pub synonyms: Synonyms<'a>,
}

impl ParseOptions<'_> {
    /// The type of a question, and the reason for the type.
    fn decide(&self, detected: &Classified) -> (QueryType, TypeReason) {
        match self.forced_type {
            Some(forced) => (forced, TypeReason::Forced { detected: detected.query_type }),
            None => (detected.query_type, detected.reason.clone()),
        }
    }
}

/// The result of reading a question. Answers contain this value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ParsedQuery {
    /// The question without white space around it. A long question is shortened.
    pub text: String,
    /// Set if the question was shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    pub query_type: QueryType,
    /// Whether the caller chose the type.
    pub forced: bool,
    pub reason: TypeReason,
    pub strategy: Strategy,
    /// Set if and only if the type is `symbol` and the question is not the name of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<SymbolAsked>,
    /// Set if and only if the type is `relationship`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relationship: Option<RelationshipAsked>,
    /// Set if and only if the type is `flow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowAsked>,
    /// Set if and only if the type is `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternAsked>,
    pub intent: Intent,
    pub keywords: Vec<String>,
    /// The keywords without the words that decide the type or state a filter. Synonyms are used only for
    /// these words.
    #[serde(skip)]
    pub subject_words: Vec<String>,
    pub mentions: Vec<Mention>,
    pub filters: Filters,
    /// The question without the words that state filters.
    pub text_without_filters: String,
    pub expansions: Vec<Expansion>,
    /// Set if the whole question looks like the name of a file or directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<FileNameQuery>,
}

/// The relation that a question asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RelationshipAsked {
    pub relation: Relation,
    pub direction: Direction,
    /// The code that the question names.
    pub name: String,
    /// The kind of thing that the name denotes, as stated in the question: "the auth module".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<NamedKind>,
    /// The second name in a question with two names: "does A call B", "functions that call both A and B".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// The two ends of the flow that a question asks for, or the subject of the flow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FlowAsked {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// The thing whose usual form a question asks for. `None` for a question without a subject, such as
/// "conventions".
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PatternAsked {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl ParsedQuery {
    pub fn new(question: &str, options: ParseOptions) -> Self {
        let (text, cut) = cut(question);
        // Only the name in the first line of a definition describes the wanted code.
        let definition = defined_name(head(&text));
        let head = definition.as_deref().unwrap_or_else(|| head(&text));
        let is_whole = head.len() == text.len();
        let all = tokens_of(definition.as_deref().unwrap_or(&text));
        let tokens = if is_whole { all.clone() } else { tokens_of(head) };
        let file_name = if cut.is_some() || definition.is_some() { None } else { file_name(&all) };
        let ParseOptions { pattern_names, synonyms, .. } = options;
        let is_definition_line = definition.is_some();
        let file = file_name.as_ref();
        let reading = Reading { question: head, tokens: &tokens, pattern_names, file_name: file, is_definition_line };
        let detected = classify(&reading);
        let words = if is_definition_line { &[] } else { tokens.as_slice() };
        let stated = filters(head, words, &detected.named_tokens(&tokens));
        let detected = classify_without(&reading, &stated.additions).unwrap_or(detected);
        let content = Content::of(&reading, &detected, &stated, (!is_whole).then_some(all.as_slice()), synonyms);
        let mentions = mentions(&all);
        let (query_type, reason) = options.decide(&detected);
        let parts =
            PartSource { query_type, reading: &reading, detected: &detected, mentions: &mentions, content: &content };
        Self {
            query_type,
            forced: options.forced_type.is_some(),
            symbol: parts.symbol().filter(|_| file_name.is_none()),
            relationship: parts.relationship(),
            flow: parts.flow(),
            pattern: parts.pattern(),
            reason,
            strategy: query_type.strategy(),
            intent: intent(words),
            text_without_filters: if is_whole { stated.rest } else { text.clone() },
            text,
            cut,
            keywords: content.keywords,
            subject_words: content.subject_words,
            mentions,
            filters: stated.filters,
            expansions: content.expansions,
            file_name,
        }
    }
}

impl ParsedQuery {
    /// The subject X of a question "how do X work", if the question was read without the names of the
    /// patterns in scope. The question is a pattern question only if X names a pattern.
    pub fn undecided_pattern(&self) -> Option<&str> {
        match &self.reason {
            TypeReason::HowDoTheyWork { subject, names_known: false } => Some(subject),
            _ => None,
        }
    }

    /// Whether the question asks which patterns exist, and not for the pattern of some kind of code.
    pub fn asks_for_every_pattern(&self) -> bool {
        let TypeReason::PatternWords { words } = &self.reason else { return false };
        let has_no_subject = self.pattern.as_ref().is_some_and(|asked| asked.subject.is_none());
        has_no_subject
            && words.split(' ').any(|word| list("every_pattern").contains(&word.to_lowercase().as_str()))
            && self.subject_words.iter().all(|word| crate::pattern::is_general_word(word))
    }

    /// Replaces the strategy and the limit with those of concept questions. The type does not change.
    pub fn use_concept_strategy(&mut self) {
        self.strategy = QueryType::Concept.strategy();
    }
}

/// The type of the question without the words that only state where to search: "in the lock_man module"
/// names no code. `None` if there are no such words, or if no keyword remains.
fn classify_without(reading: &Reading, additions: &[Range<usize>]) -> Option<Classified> {
    if additions.is_empty() || reading.file_name.is_some() {
        return None;
    }
    let is_kept = |index: &usize| !additions.iter().any(|range| range.contains(index));
    let kept: Vec<usize> = (0..reading.tokens.len()).filter(is_kept).collect();
    let mut tokens: Vec<Token> = kept.iter().map(|index| reading.tokens[*index].clone()).collect();
    for (token, pair) in tokens.iter_mut().zip(kept.windows(2)) {
        token.ends_clause |= reading.tokens[pair[0]..pair[1]].iter().any(|left_out| left_out.ends_clause);
    }
    let has_keyword = tokens.iter().any(Token::is_keyword);
    has_keyword.then(|| classify(&Reading { tokens: &tokens, ..*reading }).at(&kept))
}

impl Classified {
    /// The tokens that name code: the names in a relationship question, with the words for kinds of code next
    /// to them, and the ends of a flow.
    fn named_tokens(&self, tokens: &[Token]) -> Vec<Range<usize>> {
        let of_relation = self.relation.iter().flat_map(|found| [Some(found.name.clone()), found.other.clone()]);
        let of_relation = of_relation.flatten().map(|name| with_kinds(tokens, name));
        let of_flow = self.flow.iter().flat_map(|found| found.named_ends(tokens));
        of_relation.chain(of_flow).collect()
    }

    /// Replaces the positions of tokens with positions in another list. `kept` contains the position in the
    /// other list for each token.
    fn at(mut self, kept: &[usize]) -> Self {
        let range = |range: &mut Range<usize>| {
            if let Some(last) = range.clone().last() {
                *range = kept[range.start]..kept[last] + 1;
            }
        };
        let positions = |positions: &mut Vec<usize>| positions.iter_mut().for_each(|index| *index = kept[*index]);
        if let Some(found) = &mut self.relation {
            range(&mut found.name);
            range(&mut found.words);
            found.other.as_mut().map(range);
        }
        if let Some(found) = &mut self.flow {
            [&mut found.from, &mut found.to, &mut found.subject].into_iter().flatten().for_each(range);
            positions(&mut found.words);
        }
        if let Some(found) = &mut self.pattern {
            found.subject.as_mut().map(range);
            positions(&mut found.words);
        }
        self
    }

    /// Whether the token is one of the words that decided the type. Such a word does not describe content and
    /// has no synonyms: "calls" in "what calls X" does not mean "requests".
    fn is_decisive(&self, index: usize) -> bool {
        let is_in = |words: Option<&Vec<usize>>| words.is_some_and(|words| words.contains(&index));
        self.relation.as_ref().is_some_and(|found| found.words.contains(&index))
            || is_in(self.flow.as_ref().map(|found| &found.words))
            || is_in(self.pattern.as_ref().map(|found| &found.words))
    }
}

/// The tokens of a name and of the words for kinds of code next to it: "the LockManager class".
fn with_kinds(tokens: &[Token], name: Range<usize>) -> Range<usize> {
    let is_kind = |index: &usize| tokens[*index].is_any(&KIND_WORDS);
    let start = (0..name.start).rev().take_while(is_kind).last().unwrap_or(name.start);
    let end = (name.end..tokens.len()).take_while(is_kind).last().map_or(name.end, |last| last + 1);
    start..end
}

/// The words of a question that describe content, and the expansions that are made from them.
struct Content {
    keywords: Vec<String>,
    subject_words: Vec<String>,
    expansions: Vec<Expansion>,
}

impl Content {
    /// If `reading` contains only the head of the question, `all` contains the tokens of the whole question.
    fn of(
        reading: &Reading,
        detected: &Classified,
        stated: &Stated,
        all: Option<&[Token]>,
        synonyms: Synonyms,
    ) -> Self {
        let tokens = reading.tokens;
        let of_head = keywords(&without(tokens, &stated.conditions));
        let is_fixed =
            |index: usize| detected.is_decisive(index) || stated.ranges.iter().any(|range| range.contains(&index));
        // A question that is the name of a file has no other wording: the words beside the name are lead-ins.
        let expansions = match reading.file_name {
            Some(_) => Vec::new(),
            None => expansions(reading.question, tokens, &is_fixed, &of_head, synonyms),
        };
        let (keywords, subject_words) = match all.map(keywords) {
            None => (of_head, subject_words(tokens, &is_fixed)),
            Some(of_all) => (of_all.clone(), of_all),
        };
        Self { keywords, subject_words, expansions }
    }
}

/// The tokens that are in none of these ranges.
fn without(tokens: &[Token], ranges: &[Range<usize>]) -> Vec<Token> {
    let is_kept = |index: &usize| !ranges.iter().any(|range| range.contains(index));
    (0..tokens.len()).filter(is_kept).map(|index| tokens[index].clone()).collect()
}

/// The keywords among the tokens for which `is_fixed` is false. The result is empty if `is_fixed` is true for
/// all tokens.
fn subject_words(tokens: &[Token], is_fixed: &dyn Fn(usize) -> bool) -> Vec<String> {
    let free: Vec<Token> =
        (0..tokens.len()).filter(|index| !is_fixed(*index)).map(|index| tokens[index].clone()).collect();
    keywords(&free)
}

/// Whether a subject is only a pronoun, such as "I" in "how do I get from A to B".
fn is_pronoun(subject: &str) -> bool {
    crate::vocabulary::PRONOUNS.contains(&subject.to_lowercase().as_str())
}

/// Provides the parts of a question that the strategy for its type uses. If the caller chose the type and the
/// question does not state these parts, the names and keywords of the question are used.
struct PartSource<'a> {
    query_type: QueryType,
    reading: &'a Reading<'a>,
    detected: &'a Classified,
    mentions: &'a [Mention],
    content: &'a Content,
}

impl PartSource<'_> {
    fn symbol(&self) -> Option<SymbolAsked> {
        if self.query_type != QueryType::Symbol {
            return None;
        }
        let topic = || SymbolAsked { name: self.topic(), is_whole: true };
        self.detected.symbol.clone().or_else(|| Some(topic()))
    }

    fn relationship(&self) -> Option<RelationshipAsked> {
        if self.query_type != QueryType::Relationship {
            return None;
        }
        let found = self.detected.relation.clone().or_else(|| relationship::find(self.reading.tokens));
        Some(match found {
            Some(found) => RelationshipAsked {
                relation: found.relation,
                direction: found.relation.direction(),
                name: self.reading.text(&found.name),
                kind: relationship::kind_of_name(self.reading.tokens, &found.name),
                other: found.other.as_ref().map(|range| self.reading.text(range)),
            },
            None => RelationshipAsked {
                relation: Relation::Users,
                direction: Relation::Users.direction(),
                name: self.topic(),
                kind: None,
                other: None,
            },
        })
    }

    fn flow(&self) -> Option<FlowAsked> {
        if self.query_type != QueryType::Flow {
            return None;
        }
        let found = self.detected.flow.clone().or_else(|| crate::flow::find(self.reading.tokens));
        let text = |range: Option<Range<usize>>| range.map(|range| self.reading.name(&range));
        let asked =
            found.map(|found| FlowAsked { from: text(found.from), to: text(found.to), subject: text(found.subject) });
        let mut asked = asked.unwrap_or_default();
        asked.subject = asked.subject.filter(|subject| !is_pronoun(subject));
        let has_part = asked.from.is_some() || asked.to.is_some() || asked.subject.is_some();
        Some(if has_part { asked } else { FlowAsked { subject: Some(self.topic()), ..asked } })
    }

    fn pattern(&self) -> Option<PatternAsked> {
        if self.query_type != QueryType::Pattern {
            return None;
        }
        let Some(found) = self.detected.pattern.clone().or_else(|| crate::pattern::find(self.reading.tokens, None))
        else {
            return Some(PatternAsked { subject: Some(self.topic()) });
        };
        Some(PatternAsked { subject: found.subject.map(|range| self.reading.name(&range)) })
    }

    /// The mention with the highest confidence, or the keywords if there is no mention.
    fn topic(&self) -> String {
        let best = self.mentions.iter().max_by_key(|mention| mention.confidence);
        best.map_or_else(|| self.content.keywords.join(" "), |mention| mention.text.clone())
    }
}

impl Reading<'_> {
    /// The text of these tokens without a determiner at its start.
    fn name(&self, range: &Range<usize>) -> String {
        let is_determiner = |token: &Token| token.is_any(&["the", "a", "an", "our", "my", "its", "this"]);
        let start =
            if range.len() > 1 && is_determiner(&self.tokens[range.start]) { range.start + 1 } else { range.start };
        self.text(&(start..range.end))
    }
}
