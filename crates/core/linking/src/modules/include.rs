//! Resolves imports by path: C includes, Ruby's `require`, Lua's modules, sourced scripts, and Zig's imports.

use crate::bindings::BoundName;
use crate::lookup::Lookup;
use crate::names::FileId;
use crate::paths;
use crate::referents::{Ask, Finding};
use crate::{Family, Name};

pub(super) fn target(lookup: &mut Lookup<'_>, file: FileId, import: &BoundName<'_>, ask: Ask) -> Finding {
    if import.module.is_empty() {
        // `return { open = Account.new }` exports a name of the file itself.
        return import.name.map_or(Finding::Nothing, |name| lookup.dotted(file, Name::EMPTY, name, ask));
    }
    let Some(found) = included(lookup, file, import.module) else { return Finding::External };
    match import.name {
        None if import.wildcard || lookup.contribution(file).family != Family::Lua => Finding::file(found),
        None => returned(lookup, found, ask),
        Some(name) => match returned(lookup, found, Ask::ANY) {
            Finding::Found(referents, _) if lookup.contribution(file).family == Family::Lua => match referents.single()
            {
                Some(referent) => lookup.member_of(referent, name, ask),
                None => Finding::Nothing,
            },
            _ => lookup.exported(found, Name::EMPTY, name, ask),
        },
    }
}

/// The value that a Lua file returns. If no definition is that value, returns the file itself.
fn returned(lookup: &mut Lookup<'_>, found: FileId, ask: Ask) -> Finding {
    let default = lookup.exported(found, Name::EMPTY, "default", ask);
    if default.is_nothing() { Finding::file(found) } else { default }
}

fn included(lookup: &mut Lookup<'_>, file: FileId, module: &str) -> Option<FileId> {
    let contribution = lookup.contribution(file);
    let family = contribution.family;
    let path = module.trim_matches(['"', '\'', '<', '>']);
    let path = if family == Family::Bash { literal_end(path)? } else { path };
    let beside = paths::join(contribution.path.directory(), path);
    if let Some(found) = beside.and_then(|path| with_endings(lookup, family, &path)) {
        return Some(found);
    }
    let suffix = match family {
        Family::Lua => path.replace('.', "/"),
        Family::Ruby => path.trim_end_matches(".rb").to_owned(),
        // An include in `<…>` can be a file of the repository only if its path has more parts than the file
        // name.
        Family::C if module.starts_with('<') && !path.contains('/') => return None,
        Family::C | Family::Bash => path.trim_start_matches("./").trim_start_matches("../").to_owned(),
        _ => return None,
    };
    nearest(lookup, file, family, &suffix)
}

/// The literal end of a path in a script, after all shell expansions. An expansion usually gives the folder
/// of the script or a root of the repository: `$(dirname "$0")/lib/log.sh`. `None` if the path is absolute or
/// begins with `~`, or if it has no literal end.
fn literal_end(path: &str) -> Option<&str> {
    let rest = match path.rfind(['$', '`', ')', '}']) {
        Some(at) => path[at..].split_once('/').map_or("", |(_, rest)| rest),
        None if path.starts_with(['/', '~']) => "",
        None => path,
    };
    Some(rest).filter(|rest| !rest.is_empty())
}

fn with_endings(lookup: &mut Lookup<'_>, family: Family, path: &str) -> Option<FileId> {
    let endings: &[&str] = match family {
        Family::Ruby => &["", ".rb"],
        Family::Lua => &["", ".lua", "/init.lua"],
        Family::Bash => &["", ".sh", ".bash"],
        _ => &[""],
    };
    let name = Name::of(path);
    endings.iter().find_map(|ending| lookup.file(name.then(ending)))
}

/// The file with this path suffix that shares the most folders with the importing file. `None` if several
/// files share this number of folders.
fn nearest(lookup: &mut Lookup<'_>, file: FileId, family: Family, suffix: &str) -> Option<FileId> {
    let importing = lookup.contribution(file).path.as_str();
    let mut best: Option<(usize, FileId)> = None;
    let mut is_tie = false;
    for candidate in lookup.files_with_suffix(family, Name::of(suffix)) {
        let shared = paths::num_shared_parts(importing, lookup.contribution(candidate).path.as_str());
        is_tie = best.is_some_and(|(most, _)| most == shared) || is_tie && best.is_some_and(|(most, _)| most > shared);
        if best.is_none_or(|(most, _)| shared > most) {
            best = Some((shared, candidate));
        }
    }
    best.filter(|_| !is_tie).map(|(_, file)| file)
}
