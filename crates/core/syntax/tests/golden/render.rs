//! Prints facts as text. Each fact is one line, in the order of the file.

use std::fmt::Write;

use cairn_domain::{Binding, FileFacts, Import, Reference, Symbol};

pub(crate) fn facts(facts: &FileFacts) -> String {
    let mut out = format!("{} {} lines\n", facts.status.as_str(), facts.num_lines);
    if let Some(package) = &facts.package {
        _ = writeln!(out, "package {package}");
    }
    if let Some(names) = &facts.export_list {
        _ = writeln!(out, "exports {}", names.join(", "));
    }
    let enclosing = |index: Option<u32>| match index {
        Some(index) => format!(" in {}", facts.symbols[index as usize].qualified_name),
        None => String::new(),
    };
    section(&mut out, "symbols", &facts.symbols, |symbol| symbol_line(symbol, &facts.symbols));
    section(&mut out, "imports", &facts.imports, |import| import_line(import) + &enclosing(import.enclosing));
    section(&mut out, "references", &facts.references, |reference| {
        reference_line(reference) + &enclosing(reference.enclosing)
    });
    section(&mut out, "bindings", &facts.bindings, |binding| binding_line(binding) + &enclosing(binding.scope));
    out
}

fn section<T>(out: &mut String, title: &str, items: &[T], line: impl Fn(&T) -> String) {
    if !items.is_empty() {
        _ = writeln!(out, "\n{title}");
        items.iter().for_each(|item| _ = writeln!(out, "  {}", line(item)));
    }
}

fn symbol_line(symbol: &Symbol, symbols: &[Symbol]) -> String {
    let Symbol { kind, qualified_name, span, name_line, visibility, .. } = symbol;
    let mut line = format!("{}-{} @{name_line} {} {qualified_name}", span.start, span.end, kind.as_str());
    _ = write!(line, " {}{}{}", visibility.as_str(), flag(symbol.exported, " exported"), flag(symbol.is_test, " test"));
    if let Some(parent) = symbol.parent {
        _ = write!(line, " of {}", symbols[parent as usize].qualified_name);
    }
    _ = write!(line, " | {}", symbol.signature);
    if !symbol.decorators.is_empty() {
        _ = write!(line, " | @ {}", symbol.decorators.join(" ; "));
    }
    if let Some(doc) = &symbol.doc {
        _ = write!(line, " | doc {doc:?}");
    }
    line
}

fn flag(set: bool, word: &'static str) -> &'static str {
    if set { word } else { "" }
}

fn import_line(import: &Import) -> String {
    let Import { module, level, names, alias, wildcard, reexport, line, .. } = import;
    let mut out = format!("{line} {module:?}");
    if *level > 0 {
        _ = write!(out, " level {level}");
    }
    if let Some(alias) = alias {
        _ = write!(out, " as {alias}");
    }
    let name = |name: &cairn_domain::ImportedName| match &name.alias {
        Some(alias) => format!("{} as {alias}", name.name),
        None => name.name.clone(),
    };
    if !names.is_empty() {
        _ = write!(out, " {{{}}}", names.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    out + flag(*wildcard, " wildcard") + flag(*reexport, " reexport")
}

fn reference_line(reference: &Reference) -> String {
    let Reference { kind, name, receiver, line, num_arguments, .. } = reference;
    let mut out = format!("{line} {} ", kind.as_str());
    if let Some(receiver) = receiver {
        _ = write!(out, "[{receiver}] ");
    }
    out.push_str(name);
    if let Some(count) = num_arguments {
        _ = write!(out, "/{count}");
    }
    out
}

fn binding_line(binding: &Binding) -> String {
    let Binding { name, type_name, evidence, line, .. } = binding;
    format!("{line} {name}: {type_name} by {}", evidence.as_str())
}
