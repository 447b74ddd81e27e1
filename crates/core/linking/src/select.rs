//! Selects the definitions that a reference can mean.

use cairn_domain::{Resolution, SymbolKind};

use crate::contribution::Definition;
use crate::lookup::Lookup;
use crate::names::{FileId, Name};
use crate::referents::{Ask, Finding, Referent, Referents, Want};
use crate::rules::Rules;

/// From definitions with the same scope and name, selects those that the reference can mean. The result is
/// `Exact` only if one definition is left.
pub(crate) fn select(
    lookup: &mut Lookup<'_>,
    candidates: impl ExactSizeIterator<Item = (FileId, u32)>,
    ask: Ask,
    rules: Rules,
) -> Finding {
    if !lookup.afford(candidates.len()) {
        return Finding::Nothing;
    }
    let lookup = &*lookup;
    let mut fitting: Vec<(FileId, u32)> =
        candidates.filter(|(file, index)| ask.want.accepts(lookup.definition(*file, *index).kind, rules)).collect();
    let definition = |candidate: &(FileId, u32)| lookup.definition(candidate.0, candidate.1);
    narrow_by_kind(&mut fitting, definition, ask.want);
    if rules.arity_is_name && ask.want == Want::Call {
        fitting.retain(|candidate| definition(candidate).arity.accepts(ask.num_arguments));
    }
    let mut num_choices = fitting.iter().filter(|candidate| !definition(candidate).secondary).count();
    let mut is_declared_elsewhere = false;
    if rules.overloads {
        let admitted = admitted(&fitting, definition, ask);
        is_declared_elsewhere = declares_more_than_it_defines(&admitted, definition);
        if !admitted.is_empty() || rules.arity_is_strict {
            fitting = admitted;
        }
    }
    if is_declared_elsewhere {
        num_choices = fitting.len();
    } else {
        narrow(&mut fitting, |candidate| !definition(candidate).secondary);
    }
    let is_overloaded = num_choices > 1 && fitting.len() == 1;
    Finding::of(referents(&fitting, definition), if is_overloaded { Resolution::Heuristic } else { Resolution::Exact })
}

/// Keeps only the candidates whose kind fits the reference best.
fn narrow_by_kind<'d>(
    candidates: &mut Vec<(FileId, u32)>,
    definition: impl Fn(&(FileId, u32)) -> &'d Definition,
    want: Want,
) {
    narrow(candidates, |candidate| want.prefers(definition(candidate).kind));
    // An interface cannot be instantiated. If a class and an interface have the same name, the reference
    // means the class.
    narrow(candidates, |candidate| want != Want::Instance || definition(candidate).kind != SymbolKind::Interface);
    narrow(candidates, |candidate| !definition(candidate).is_companion || !want.is_of_type());
    narrow(candidates, |candidate| definition(candidate).is_companion || want.is_of_type());
}

/// The items to which a reference with these candidates refers. If a definition is an alias of its container,
/// the reference refers to the container.
fn referents<'d>(candidates: &[(FileId, u32)], definition: impl Fn(&(FileId, u32)) -> &'d Definition) -> Referents {
    let mut referents = Referents::default();
    for candidate in candidates {
        let ((file, index), definition) = (*candidate, definition(candidate));
        referents.add(match definition.parent {
            Some(holder) if definition.names_holder => Referent::Definition { file, index: holder },
            None if definition.names_holder => Referent::File { file, container: Name::EMPTY },
            _ => Referent::Definition { file, index },
        });
    }
    referents
}

/// The candidates whose parameters accept the number of arguments. A definition also accepts the arguments
/// that its declaration accepts, because the declaration may contain default values that the definition does
/// not repeat.
fn admitted<'d>(
    candidates: &[(FileId, u32)],
    definition: impl Fn(&(FileId, u32)) -> &'d Definition,
    ask: Ask,
) -> Vec<(FileId, u32)> {
    let accepts = |candidate: &(FileId, u32)| definition(candidate).arity.accepts(ask.num_arguments);
    let mut is_declared = [false; 1 << u8::BITS];
    for candidate in candidates.iter().filter(|candidate| definition(candidate).secondary && accepts(candidate)) {
        is_declared[usize::from(definition(candidate).arity.max)] = true;
    }
    let fits =
        |candidate: &&(FileId, u32)| accepts(candidate) || is_declared[usize::from(definition(candidate).arity.max)];
    candidates.iter().filter(fits).copied().collect()
}

/// Whether a class declares more methods with this name than it defines. If so, the linker cannot know which
/// method the reference means.
fn declares_more_than_it_defines<'d>(
    candidates: &[(FileId, u32)],
    definition: impl Fn(&(FileId, u32)) -> &'d Definition,
) -> bool {
    if candidates.iter().any(|candidate| definition(candidate).kind != SymbolKind::Method) {
        return false;
    }
    let mut declared: Vec<FileId> =
        candidates.iter().filter(|candidate| definition(candidate).secondary).map(|(file, _)| *file).collect();
    declared.sort_unstable();
    // The class may be declared completely in each of several files.
    let most_in_a_file = declared.chunk_by(|a, b| a == b).map(<[FileId]>::len).max();
    let num_defined = candidates.len() - declared.len();
    num_defined > 0 && most_in_a_file > Some(num_defined)
}

/// Keeps only the candidates that satisfy the condition. If no candidate satisfies the condition, keeps all
/// candidates.
fn narrow(candidates: &mut Vec<(FileId, u32)>, keep: impl Fn(&(FileId, u32)) -> bool) {
    if candidates.len() > 1 && candidates.iter().any(&keep) {
        candidates.retain(keep);
    }
}
