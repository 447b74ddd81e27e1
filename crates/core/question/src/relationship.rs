//! Recognises questions about how code is related to other code.
//!
//! A word such as "call" states a relation in two cases only: as a verb with a question word and a name ("who
//! calls X"), and as a noun with a name ("calls to X"). "call stack" and "import parser" state no relation.

use std::ops::Range;
use std::sync::LazyLock;

use crate::names::is_strong;
use crate::phrase::{Found, Phrase};
use crate::relation::{NamedKind, Relation};
use crate::relation_words::{VERBS, Verb};
use crate::second_name::second_name;
use crate::tokens::Token;
use crate::vocabulary::{ADVERBS, DETERMINERS, KIND_WORDS, THINGS, list};

/// How a rule determines the relation that the question asks for.
#[derive(Clone, Copy, PartialEq)]
enum RelationSource {
    /// The subjects of the verb: "who calls X".
    Subjects,
    /// The objects of the verb: "what does X call".
    Objects,
    /// The relation of the noun: "callers of X".
    Noun,
    Fixed(Relation),
}

/// An additional condition that a match of a rule must satisfy.
#[derive(Clone, Copy, PartialEq)]
enum Guard {
    None,
    /// The name must look like an identifier.
    Strong,
    /// The passive form of the verb must relate code, and no purpose may follow: "used to parse dates" does
    /// not match.
    Passive,
    /// The verb must agree with the noun before it, or the name must look like an identifier.
    Agrees,
    /// The verb must not be "use": "which database does the server use" is not a question about the graph.
    NotUse,
    /// The noun must be in the plural, because in the singular it may be a verb: "how to use X". The name
    /// must also look like an identifier.
    Plural,
    /// The noun must have no meaning other than the relation.
    Exclusive,
    /// No purpose may follow the verb: "what does X use to parse dates" does not match.
    NoPurpose,
    /// The subject must be a kind of code or a plural, so that it names no definition: "how do handlers call
    /// X".
    GeneralSubject,
    /// The question must relate two names. A name in plain words must be a name without doubt.
    TwoNames,
}

use RelationSource::{Fixed, Noun, Objects, Subjects};

const RULES: &[(&str, RelationSource, Guard)] = &[
    // Rules for two names: "how does X call Y".
    ("@manner @adv* @does ~ @adv* VERB:base <n:id>", Subjects, Guard::GeneralSubject),
    (
        "in|at|on|under|for|from|to|by|with|through what|which ~ @does ~ VERB:base <n:id>",
        Subjects,
        Guard::GeneralSubject,
    ),
    ("^ @lead* @manner ~ @adv* VERB:any <n:id>", Subjects, Guard::GeneralSubject),
    ("@manner @adv* @does <n:name> not? @adv* VERB:base <other:name>", Objects, Guard::TwoNames),
    (
        "in|at|on|under|for|from|to|by|with|through what|which ~ @does <n:name> not? @adv* VERB:base <other:name>",
        Objects,
        Guard::TwoNames,
    ),
    ("what|which @does <n:name> not? @adv* VERB:base <other:id>", Objects, Guard::TwoNames),
    ("what|which ~ @does <n:name> not? @adv* VERB:base <other:id>", Objects, Guard::TwoNames),
    ("where in|inside|within <n:name> @does @pronoun @adv* VERB:base <other:id>", Objects, Guard::TwoNames),
    ("@manner @adv* @is <n:name> @adv* VERB:ing <other:name>", Objects, Guard::TwoNames),
    ("^ @lead* @manner <n:name> @adv* VERB:third <other:name>", Objects, Guard::TwoNames),
    ("^ @does <n:name> not? @adv* VERB:base <other:id>", Objects, Guard::TwoNames),
    ("where @adv* @is <n:name> and <other:name> @be? @adv* VERB:ed", Subjects, Guard::Passive),
    // Rules for code that acts on the named code: "who calls X".
    ("who @adv* @can? @adv* VERB:any <n:name>", Subjects, Guard::None),
    ("what|whatever @adv* @can? @adv* VERB:third <n:name>", Subjects, Guard::None),
    ("what|which VERB:any <n:id>", Subjects, Guard::Strong),
    ("what|which could|can|might|may|would VERB:base <n:name>", Subjects, Guard::None),
    ("who|what|which @adv* @is @adv* VERB:ing to? <n:name>", Subjects, Guard::None),
    ("what|which ~ @is @adv* VERB:ing to? <n:name>", Subjects, Guard::None),
    ("who @is @adv* VERB:any <n:name>", Subjects, Guard::None),
    ("what|which ~ @is @adv* VERB:any <n:id>", Subjects, Guard::Strong),
    ("what|which|many ~ @adv* @can? @adv* VERB:any <n:name>", Subjects, Guard::Agrees),
    ("what|which|many ~ VERB:ing <n:id>", Subjects, Guard::Strong),
    ("@any|what|which|who @rel? @can? VERB:any both <n:name> and <other:name>", Subjects, Guard::None),
    ("THING @rel? @can? @adv* VERB:any both <n:name> and <other:name>", Subjects, Guard::None),
    ("THING VERB:ing both <n:name> and <other:name>", Subjects, Guard::None),
    ("THING @rel? both VERB:any <n:name> and <other:name>", Subjects, Guard::None),
    ("THING in|of|from <x> @rel @adv* VERB:any <n:name>", Subjects, Guard::None),
    ("THING @rel @adv* @can? @adv* VERB:any <n:name>", Subjects, Guard::None),
    ("THING @rel @adv* @is @adv* VERB:ing <n:name>", Subjects, Guard::None),
    ("THING @rel @adv* do|does not|n't VERB:base <n:name>", Subjects, Guard::None),
    ("THING @rel|where does|do <n:id> VERB:base", Objects, Guard::None),
    ("^ @list* THING VERB:ing <n:name>", Subjects, Guard::None),
    ("^ @please* @list @list* ~ THING VERB:ing <n:name>", Subjects, Guard::None),
    ("^ @please* @list* @any VERB:ing <n:name>", Subjects, Guard::None),
    ("^ @please* @list @list* ~ VERB:ing <n:id>", Subjects, Guard::Strong),
    ("^ @list* THING VERB:base <n:id>", Subjects, Guard::Strong),
    ("@any @rel? @adv* VERB:any <n:id>", Subjects, Guard::Strong),
    ("responsible for VERB:ing <n:id>", Subjects, Guard::Strong),
    ("^ does|do @adv* @any THING? @adv* VERB:base <n:name>", Subjects, Guard::None),
    ("^ do @any? THING @adv* VERB:base <n:name>", Subjects, Guard::None),
    ("is|are @any THING? @adv* VERB:ing <n:name>", Subjects, Guard::None),
    ("is|are there @any* THING? VERB:ing <n:name>", Subjects, Guard::None),
    // Rules for the places where the named code is used: "where is X called".
    ("where @adv* @is @adv* <n:name> @be? @adv* VERB:ed", Subjects, Guard::Passive),
    ("where @adv* does|do <n:name> get|gets @adv* VERB:ed", Subjects, Guard::Passive),
    ("where|wherever <n:name> @be @adv* VERB:ed", Subjects, Guard::Passive),
    ("where|wherever <n:id> VERB:ed", Subjects, Guard::Passive),
    ("where @adv* do|does|did|can|could @pronoun @adv* VERB:base <n:name>", Subjects, Guard::None),
    ("where @adv* do|does|did the|our|this ~ VERB:base <n:name>", Subjects, Guard::None),
    ("where|wherever @pronoun @adv* VERB:any <n:name>", Subjects, Guard::None),
    ("where @is @pronoun VERB:ing <n:name>", Subjects, Guard::None),
    ("where .. @is <n:id> @be? @adv* VERB:ed", Subjects, Guard::Passive),
    ("from where|which @is <n:name> VERB:ed", Subjects, Guard::Passive),
    ("where it? @is @adv* VERB:ed <n:id>", Subjects, Guard::Strong),
    ("from|in|by what|which ~ @is @adv* VERB:ed <n:id>", Subjects, Guard::Strong),
    ("from|in what|which ~ @pronoun VERB:any <n:name>", Subjects, Guard::None),
    ("from|in what|which ~ do|does @pronoun VERB:base <n:name>", Subjects, Guard::None),
    ("^ <n:id> @be? @adv* VERB:ed from|in|by? $", Subjects, Guard::Passive),
    ("from|in|by|at|on what|which|whose ~ @is <n:name> @be? VERB:ed", Subjects, Guard::Passive),
    ("what|which ~ @is <n:id> VERB:ed in|by|from", Subjects, Guard::Passive),
    ("is|are|was <n:name> still|ever VERB:ed", Subjects, Guard::Passive),
    ("is|are|was <n:name> @be? @adv* VERB:ed @place", Subjects, Guard::Passive),
    ("^ is|are|was <n:id> @be? @adv* VERB:ed", Subjects, Guard::Passive),
    ("<n:name> @be? @adv* VERB:ed by|in|from|where|at who|whom|what|which|where", Subjects, Guard::Passive),
    ("<n:name> @be? @adv* VERB:ed where $", Subjects, Guard::Passive),
    ("^ who|what|which VERB:ed <n:id> $", Subjects, Guard::Strong),
    ("how|when @is|does|do <n:id> @be? @adv* VERB:ed", Subjects, Guard::Passive),
    ("how|when|why @adv* does|do <n:name> get @adv* VERB:ed $", Subjects, Guard::Passive),
    ("often @is|does|do <n:name> @be? VERB:ed", Subjects, Guard::Passive),
    ("THING in which <n:name> @be @adv* VERB:ed", Subjects, Guard::Passive),
    ("places|place|spots|spot|locations|files|lines that? <n:name> @be @adv* VERB:ed", Subjects, Guard::Passive),
    ("^ @list* VERB:ing <n:id> $", Subjects, Guard::Strong),
    // Rules for code that the named code acts on: "what does X call".
    ("what|which THING does|do|did|can|will <n:name> @adv* VERB:base", Objects, Guard::NoPurpose),
    ("what @adv* does|do|did|can|will <n:name> @adv* VERB:base", Objects, Guard::NoPurpose),
    ("what|which ~ does|do|did|can|will <n:name> @adv* VERB:base", Objects, Guard::NotUse),
    ("who|whom does|do|did <n:id> @adv* VERB:base", Objects, Guard::NoPurpose),
    ("what|everything|anything|all|stuff @rel? <n:id> @adv* VERB:third $", Objects, Guard::Strong),
    ("what|everything|anything|all|stuff <n:name> depends|relies on", Fixed(Relation::Dependencies), Guard::None),
    ("THING @rel? <n:id> @adv* VERB:third $", Objects, Guard::Strong),
    ("what @be|gets @adv* VERB:ed by|from|inside|within <n:name>", Objects, Guard::Passive),
    (
        "what|which|everything|anything THING? @rel? @be? @adv* VERB:ed by|from|in|inside|within <n:name>",
        Objects,
        Guard::Passive,
    ),
    ("^ @list* THING @rel? @be? @adv* VERB:ed by|from|in|inside|within <n:name>", Objects, Guard::Passive),
    ("^ @list* ~ THING @rel? @be? @adv* VERB:ed by|from <n:name>", Objects, Guard::Passive),
    ("<n:id> VERB:third who|what|which", Objects, Guard::Strong),
    ("^ does|do|did <n:id> @adv* VERB:base <other:name>", Objects, Guard::NoPurpose),
    ("^ does|do|did <n:name> @adv* VERB:base <other:id>", Objects, Guard::NoPurpose),
    ("<n:id> who|what|which|where VERB:any it|this", Subjects, Guard::Strong),
    // Nouns.
    ("NOUN does|do <n:name> have", Noun, Guard::None),
    (
        "NOUN of|to|for|from|by|in|on|into|around|inside @kind|this|changing|modifying|renaming|removing? <n:name>",
        Noun,
        Guard::None,
    ),
    ("NOUN @can? @be* @adv* made to|into <n:name>", Noun, Guard::None),
    ("calls|invocations @can? @be* @adv* sent|issued to|into <n:name>", Fixed(Relation::Callers), Guard::None),
    (
        "calls|invocations @can? @be* @adv* made|sent|issued by|from|in|inside <n:name>",
        Fixed(Relation::Callees),
        Guard::None,
    ),
    ("NOUN <n:id>", Noun, Guard::Plural),
    ("<n:id> NOUN", Noun, Guard::Plural),
    ("<n:id> NOUN $", Noun, Guard::Strong),
    ("<n:id> NOUN @after_relation", Noun, Guard::Strong),
    ("^ @list* <n:name> NOUN $", Noun, Guard::Exclusive),
    ("^ who|what @is @list* NOUN of|for <n:name>", Noun, Guard::None),
    (
        "relation|relations|relationship|relationships|connection|coupling between <n:name> and <other:name>",
        Fixed(Relation::Related),
        Guard::None,
    ),
    ("NOUN between <n:name> and <other:name>", Fixed(Relation::Related), Guard::None),
    ("THING derived|inherited|extended|subclassed from <n:name>", Fixed(Relation::Subtypes), Guard::None),
    ("how @is <n:name> and <other:name> related|connected|coupled|linked", Fixed(Relation::Related), Guard::None),
    ("how @is <n:name> related|connected|coupled|linked to|with <other:name>", Fixed(Relation::Related), Guard::None),
    // Rules for the effect of a change: "what breaks if I change X".
    (
        "what|who|which @adv* @can? ~? @be? @break if|when|by|after .. @change <n:name>",
        Fixed(Relation::Dependents),
        Guard::None,
    ),
    (
        "what|who|which @adv* @can? ~? @be? @break if|when|after <n:id> .. @change",
        Fixed(Relation::Dependents),
        Guard::None,
    ),
    ("what|who|which @adv* .. @affected @adv* by .. @change <n:name>", Fixed(Relation::Dependents), Guard::None),
    ("what|who|which|THING @adv* .. @affected @adv* by <n:name>", Fixed(Relation::Dependents), Guard::None),
    ("what if i|we @change <n:name>", Fixed(Relation::Dependents), Guard::None),
    ("safe to @change <n:id>", Fixed(Relation::Dependents), Guard::None),
    ("impact|effect|effects|consequences of @change <n:name>", Fixed(Relation::Dependents), Guard::None),
    ("if i|we @change <n:name> .. what|which .. @break", Fixed(Relation::Dependents), Guard::None),
    ("is|are <n:id> unused|dead|orphaned|referenced|needed", Fixed(Relation::Users), Guard::None),
];

static COMPILED: LazyLock<Vec<(Phrase, RelationSource, Guard)>> =
    LazyLock::new(|| RULES.iter().map(|(rule, asked, guard)| (Phrase::new(rule), *asked, *guard)).collect());

/// Words that form a term with a following "calls" or a similar word, which is then a noun: "which system
/// calls block".
static CALL_TERMS: LazyLock<&[&str]> = LazyLock::new(|| list("call_terms"));

/// Words for the whole program.
static GENERAL: LazyLock<&[&str]> = LazyLock::new(|| list("general"));

/// The relation that a question asks for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RelationFound {
    pub(crate) relation: Relation,
    pub(crate) name: Range<usize>,
    pub(crate) other: Option<Range<usize>>,
    /// The tokens that identified the question as a relationship question.
    pub(crate) words: Range<usize>,
}

pub(crate) fn find(tokens: &[Token]) -> Option<RelationFound> {
    COMPILED.iter().find_map(|(phrase, asked, guard)| {
        let is_object_question = *asked == Objects;
        let found = phrase
            .find(tokens, &|found| is_accepted(tokens, found, *guard) && !(is_object_question && is_weak_use(found)))?;
        let relation = match asked {
            Subjects => found.verb?.subjects,
            Objects => found.verb?.objects,
            Noun => found.noun?.relation,
            Fixed(relation) => *relation,
        };
        let name = found.capture("n")?;
        let words = decisive_words(&found, &name);
        let other = found.capture("other").or_else(|| second_name(tokens, &found, relation));
        Some(RelationFound { relation, other, words, name })
    })
}

/// The kind that a word next to a name states: "auth module", "the class Parser".
pub(crate) fn kind_of_name(tokens: &[Token], name: &Range<usize>) -> Option<NamedKind> {
    let kind = |index: usize| {
        let token = tokens.get(index).filter(|token| !token.is_span())?;
        NamedKind::of_word(&token.lower)
    };
    let is_apart = tokens[name.end - 1].ends_phrase;
    let before = name.start.checked_sub(1).filter(|before| !tokens[*before].ends_phrase);
    kind(name.end).filter(|_| !is_apart).or_else(|| before.and_then(kind))
}

/// The tokens of the verb or noun. If there is neither, the tokens that the rule matches before the name; if
/// there are none before the name, the tokens that the rule matches after the name.
fn decisive_words(found: &Found, name: &Range<usize>) -> Range<usize> {
    if !found.relation_tokens.is_empty() {
        return found.relation_tokens.clone();
    }
    if name.start > found.start { found.start..name.start } else { name.end..found.end }
}

fn is_accepted(tokens: &[Token], found: &Found, guard: Guard) -> bool {
    let is_weak = found.verb.is_some_and(|verb| verb.is_weak) || found.noun.is_some_and(|noun| noun.is_weak);
    let verb_word = found.verb.map(|verb| verb.base);
    (found.is_strong || !is_weak)
        && has_preposition(tokens, found)
        && !is_verb_of_name(tokens, found)
        && !found.captures.iter().any(|(_, name)| name.len() == 1 && tokens[name.start].is_any(list("literals")))
        && match guard {
            Guard::None => true,
            Guard::Strong => found.is_strong,
            Guard::Passive => {
                found.verb.is_none_or(|verb| verb.has_passive)
                    && (found.is_strong && is_where(tokens, found) || !has_purpose(tokens, found))
            }
            Guard::Plural => {
                let is_noun = found.noun.is_some_and(|noun| noun.is_exclusive);
                found.is_strong && (is_noun || is_plural(&tokens[found.relation_tokens.end - 1].lower))
            }
            Guard::Agrees => found.is_strong || agrees(tokens, found),
            Guard::NotUse => verb_word != Some("use") && !has_purpose(tokens, found),
            Guard::Exclusive => found.noun.is_some_and(|noun| noun.is_exclusive),
            Guard::NoPurpose => !has_purpose(tokens, found),
            Guard::GeneralSubject => found.is_strong && has_general_subject(tokens, found),
            Guard::TwoNames => has_two_names(tokens, found),
        }
}

/// Whether the word before the verb names no definition: "code", "the app", "handlers".
fn has_general_subject(tokens: &[Token], found: &Found) -> bool {
    let at = found.relation_tokens.start;
    let subject = (found.start..at).rev().find(|index| !tokens[*index].is_any(&ADVERBS));
    let is_plural = |index: usize| !is_strong(tokens, index) && is_plural(&tokens[index].lower);
    subject.is_some_and(|index| is_general(&tokens[index]) || is_plural(index))
}

/// Whether a word names a kind of code or the whole program.
fn is_general(token: &Token) -> bool {
    token.is_any(&THINGS) || token.is_any(&KIND_WORDS) || token.is_any(&GENERAL)
}

/// Whether both names of a match are names of code. If neither looks like an identifier, the second name must
/// be one word at the end: "why does the parser use two tokens of lookahead" relates no names.
fn has_two_names(tokens: &[Token], found: &Found) -> bool {
    let (Some(name), Some(other)) = (found.capture("n"), found.capture("other")) else { return false };
    let is_strong = |name: &Range<usize>| name.len() == 1 && is_strong(tokens, name.start);
    if is_strong(&name) {
        return true;
    }
    let is_name = name.len() > 1 || !is_general(&tokens[name.start]);
    if is_strong(&other) {
        return is_name;
    }
    let is_last = found.end == tokens.len() || tokens[found.end - 1].ends_clause;
    let has_determiner = is_where(tokens, found) && tokens[other.start - 1].is_any(&DETERMINERS);
    let is_use = found.verb.is_some_and(|verb| verb.subjects == Relation::Users);
    let is_plural_use = is_use && is_plural(&tokens[other.end - 1].lower);
    let is_after_kind = tokens[other.start - 1].is_any(&KIND_WORDS);
    is_name && is_last && (other.len() == 1 || has_determiner) && !is_plural_use && !is_after_kind
}

/// Whether the verb asks about the named code itself, such as "returns". "what does X return" asks about X,
/// not about the graph. "where does X return Y" asks about the graph.
fn is_weak_use(found: &Found) -> bool {
    found.verb.is_some_and(|verb| verb.is_weak && verb.objects == Relation::Uses) && found.capture("other").is_none()
}

fn is_where(tokens: &[Token], found: &Found) -> bool {
    tokens[found.start].is_any(&["where", "wherever"])
}

/// Whether the word for a noun is the verb of a name before it: "does X use Y", "when X calls Y".
fn is_verb_of_name(tokens: &[Token], found: &Found) -> bool {
    let Some(noun) = found.noun else { return false };
    let is_verb = |verb: &Verb| noun.words.contains(&verb.base) || noun.words.contains(&verb.third);
    let (at, after) = (found.relation_tokens.start, found.relation_tokens.end);
    let is_name = |index: usize| index < tokens.len() && is_strong(tokens, index);
    let is_between = at > 0 && is_name(at - 1) && is_name(after);
    let is_clause = at > 1
        && !tokens[at - 1].is_any(&DETERMINERS)
        && tokens[at - 2].is_any(&["when", "whenever", "if", "once", "after", "before", "while"]);
    let before = (0..found.start).rev().find(|index| !tokens[*index].is_any(&DETERMINERS));
    let is_question = at > found.start && before.is_some_and(|index| tokens[index].is_any(list("does")));
    VERBS.iter().any(is_verb) && (is_between || is_clause || is_question)
}

/// Whether the word between a noun and the name is a preposition that this noun may have.
fn has_preposition(tokens: &[Token], found: &Found) -> bool {
    let Some(noun) = found.noun else { return true };
    match tokens.get(found.relation_tokens.end) {
        Some(next) if next.is_any(&["of", "to", "for", "from", "by", "in", "on", "into", "around", "inside"]) => {
            let is_followed_by_name =
                found.captures.first().is_some_and(|(_, name)| name.start > found.relation_tokens.end);
            !is_followed_by_name || next.is_any(noun.prepositions)
        }
        _ => true,
    }
}

/// Whether the words after the match state a purpose: "used to parse dates".
fn has_purpose(tokens: &[Token], found: &Found) -> bool {
    let is_clause_open = found.end > 0 && !tokens[found.end - 1].ends_clause;
    is_clause_open && tokens.get(found.end).is_some_and(|next| next.is_any(&["to", "for", "as", "instead", "like"]))
}

/// Whether the verb agrees in number with the noun before it: "functions call", "a function calls".
fn agrees(tokens: &[Token], found: &Found) -> bool {
    let Some(verb) = found.verb else { return true };
    let at = found.relation_tokens.start;
    let written = &tokens[at].lower;
    let is_third = verb.third.split(' ').next() == Some(written.as_str());
    // In "parts of the system depend", the noun before "of" is the subject.
    let is_preposition = |index: &usize| tokens[*index].is_any(&["of", "in", "inside", "within"]);
    let head = (found.start + 2..at).find(is_preposition).unwrap_or(at);
    let is_adverb = |index: &usize| tokens[*index].is_any(&ADVERBS);
    let subject = (0..head).rev().find(|index| !is_adverb(index)).map(|index| &tokens[index].lower);
    let is_after_modal =
        at > 0 && tokens[at - 1].is_any(&["can", "could", "may", "might", "must", "should", "will", "would"]);
    let is_term = is_third && at > 0 && tokens[at - 1].is_any(&CALL_TERMS);
    !is_term && (is_after_modal || subject.is_some_and(|word| is_plural(word) != is_third))
}

pub(crate) fn is_plural(word: &str) -> bool {
    const WITHOUT_ENDING: [&str; 4] = ["people", "children", "code", "data"];
    let is_regular = word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is");
    is_regular || WITHOUT_ENDING[..2].contains(&word)
}

#[cfg(test)]
mod tests;
