//! Reads the items of a source file: their names, attributes and imports.

use syn::{Attribute, Expr, ExprLit, Item, Lit, UseTree};

/// Returns the names that an item may define in its module.
pub(crate) fn names(item: &Item) -> Vec<String> {
    match item {
        Item::Const(item) => vec![item.ident.to_string()],
        Item::Enum(item) => vec![item.ident.to_string()],
        Item::Fn(item) => vec![item.sig.ident.to_string()],
        Item::Macro(item) if item.ident.is_none() => {
            // Every second piece is a text between quotes, for example the documentation of an item. These
            // pieces are skipped.
            let tokens = item.mac.tokens.to_string();
            let code = tokens.split('"').step_by(2);
            let words = code.flat_map(|code| code.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        Item::Static(item) => vec![item.ident.to_string()],
        Item::Struct(item) => vec![item.ident.to_string()],
        Item::Trait(item) => vec![item.ident.to_string()],
        Item::Type(item) => vec![item.ident.to_string()],
        Item::Union(item) => vec![item.ident.to_string()],
        _ => Vec::new(),
    }
}

/// Returns the file that the attribute `path` of a module names.
pub(crate) fn named_file(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Some(name.value()),
        _ => None,
    }
}

/// Returns the attributes that may mark an item as test code.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether an item is compiled only for tests.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    let is_cfg_test = |attribute: &Attribute| {
        let Ok(list) = attribute.meta.require_list() else { return false };
        let tokens = list.tokens.to_string();
        // Every second piece is a text between quotes, for example the name of a feature.
        let code: String = tokens.split('"').step_by(2).collect();
        let words: Vec<&str> = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        attribute.path().is_ident("cfg") && words.contains(&"test") && !words.contains(&"not")
    };
    attributes.iter().any(is_cfg_test)
}

/// Calls `found` with the path and the name of each import of a `use` declaration.
pub(crate) fn flatten(tree: &UseTree, path: &mut Vec<String>, found: &mut impl FnMut(Vec<String>, String)) {
    let with = |path: &[String], name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => found(path.clone(), path.last().cloned().unwrap_or_default()),
        UseTree::Name(name) => found(with(path, &name.ident.to_string()), name.ident.to_string()),
        UseTree::Rename(name) => found(with(path, &name.ident.to_string()), name.rename.to_string()),
        UseTree::Glob(_) => found(path.clone(), "*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, found)),
    }
}
