//! Builds the shapes of classes and of files without classes.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{LineSpan, NodeKey, Outline, OutlineSymbol, RepoPath, RepositoryId, SymbolKind};

use crate::words;

/// The properties of a file that are used to build its shapes.
#[derive(Clone, Copy, Debug)]
pub struct PatternFile<'a> {
    pub path: &'a RepoPath,
    pub module_path: &'a str,
    pub outline: &'a Outline,
}

/// The structure of a class, or of a file that contains functions only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Shape {
    pub path: RepoPath,
    pub span: LineSpan,
    /// Node of the class or file.
    pub node: NodeKey,
    /// Name of the class, or the file name without extension.
    pub name: String,
    pub language: String,
    /// Kind of the class. `None` for a file.
    pub kind: Option<SymbolKind>,
    pub module_path: String,
    pub methods: BTreeSet<String>,
    pub bases: BTreeSet<String>,
    pub decorators: BTreeSet<String>,
}

/// Methods that construct an object. Such methods do not describe the behaviour of a class.
const CONSTRUCTORS: &[&str] = &["new", "default", "constructor", "init", "initialize", "main"];

/// Set-up and tear-down methods of test classes.
const FIXTURES: &[&str] =
    &["setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "teardown_method", "setup", "teardown"];

/// The element that replaces the names of the tests of a test class. Each test has its own name, so the names
/// do not describe the structure.
pub(crate) const TESTS: &str = "test_*";

/// A test class without a base needs at least this number of fixtures to have a structure.
const MIN_FIXTURES: usize = 2;

/// The shapes of the classes in a file, or of the file itself if it contains only functions. Trivial shapes
/// are omitted: shapes without methods, shapes whose only method is a constructor or a special method, and
/// test classes with neither a base nor fixtures.
pub fn shapes(repository: RepositoryId, file: &PatternFile<'_>) -> Vec<Shape> {
    let classes = class_shapes(repository, file);
    let has_methods = file.outline.symbols.iter().any(|symbol| symbol.kind == SymbolKind::Method);
    let mut shapes: Vec<Shape> = classes.into_iter().filter_map(structured).collect();
    if shapes.is_empty() && !has_methods {
        shapes.extend(file_shape(repository, file));
    }
    shapes
}

fn class_shapes(repository: RepositoryId, file: &PatternFile<'_>) -> Vec<Shape> {
    let symbols = &file.outline.symbols;
    let mut classes: BTreeMap<usize, Shape> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, symbol) in
        symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.is_type() && symbol.kind != SymbolKind::Type)
    {
        let node = NodeKey::symbol(repository, file.path, &symbol.qualified_name, symbol.kind, symbol.ordinal);
        let shape = Shape {
            span: symbol.span,
            name: symbol.name.clone(),
            kind: Some(symbol.kind),
            decorators: symbol.decorators.iter().cloned().collect(),
            ..empty(file, node)
        };
        classes.insert(index, shape);
        by_name.entry(&symbol.qualified_name).or_insert(index);
    }
    if classes.is_empty() {
        return Vec::new();
    }
    for symbol in symbols.iter().filter(|symbol| symbol.kind.is_callable()) {
        let holder = class_of(symbol, &classes, &by_name);
        if let Some(class) = holder.and_then(|index| classes.get_mut(&index)) {
            class.methods.insert(symbol.name.clone());
        }
    }
    for base in &file.outline.bases {
        if let Some(class) = classes.get_mut(&(base.class as usize)) {
            class.bases.insert(base.name.clone());
        }
    }
    classes.into_values().collect()
}

/// The class to which a method belongs. The method may be defined outside the class, as in a Rust `impl`
/// block or as a Go method.
fn class_of(
    symbol: &OutlineSymbol,
    classes: &BTreeMap<usize, Shape>,
    by_name: &BTreeMap<&str, usize>,
) -> Option<usize> {
    match symbol.parent {
        Some(parent) if classes.contains_key(&(parent as usize)) => Some(parent as usize),
        _ => {
            let holder = symbol.qualified_name.strip_suffix(symbol.name.as_str())?.strip_suffix('.')?;
            by_name.get(holder).copied()
        }
    }
}

fn empty(file: &PatternFile<'_>, node: NodeKey) -> Shape {
    Shape {
        path: file.path.clone(),
        span: LineSpan::new(1, file.outline.num_lines.max(1)),
        node,
        name: file.path.stem().to_owned(),
        language: file.outline.language.clone(),
        kind: None,
        module_path: file.module_path.to_owned(),
        methods: BTreeSet::new(),
        bases: BTreeSet::new(),
        decorators: BTreeSet::new(),
    }
}

/// The shape of a file, built from the functions of the file. In a function name, the name of the file is
/// replaced by `*`: the function `import_aws` in the file `aws` becomes `import_*`.
fn file_shape(repository: RepositoryId, file: &PatternFile<'_>) -> Option<Shape> {
    let mut shape = empty(file, NodeKey::file(repository, file.path));
    let functions =
        file.outline.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function && symbol.parent.is_none());
    shape.methods = functions.map(|function| words::blank_out(&function.name, &shape.name)).collect();
    (shape.methods.len() > 1 && !is_trivial(&shape.methods)).then_some(shape)
}

/// The shape of a class that is not trivial. In a test class, one element replaces the names of all tests.
fn structured(mut shape: Shape) -> Option<Shape> {
    if !is_of_tests(&shape.methods) {
        return (!is_trivial(&shape.methods)).then_some(shape);
    }
    shape.methods.retain(|name| is_fixture(name));
    let has_structure = !shape.bases.is_empty() || shape.methods.len() >= MIN_FIXTURES;
    shape.methods.insert(TESTS.to_owned());
    has_structure.then_some(shape)
}

/// Whether every method is a test or a fixture, and at least one method is a test.
fn is_of_tests(methods: &BTreeSet<String>) -> bool {
    methods.iter().all(|name| is_test(name) || is_fixture(name)) && methods.iter().any(|name| is_test(name))
}

fn is_test(name: &str) -> bool {
    let is_camel = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|first: char| !first.is_lowercase()))
    };
    name.starts_with("test_") || is_camel("test") || is_camel("Test")
}

fn is_fixture(name: &str) -> bool {
    FIXTURES.contains(&name)
}

fn is_trivial(methods: &BTreeSet<String>) -> bool {
    let is_special = |name: &str| name.starts_with("__") || CONSTRUCTORS.contains(&name);
    match methods.len() {
        0 => true,
        1 => methods.iter().all(|name| is_special(name) || is_test(name) || is_fixture(name)),
        _ => methods.iter().all(|name| is_test(name) || is_fixture(name)),
    }
}

impl Shape {
    /// The elements of the set that is compared: methods, bases and decorators. Kind and language are not
    /// elements, because shapes of different kinds or languages are never compared.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (u8, &str)> {
        let methods = self.methods.iter().map(|name| (0, name.as_str()));
        let bases = self.bases.iter().map(|name| (1, name.as_str()));
        methods.chain(bases).chain(self.decorators.iter().map(|name| (2, name.as_str())))
    }
}
