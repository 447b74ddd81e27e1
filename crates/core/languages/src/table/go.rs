//! Go.

use super::shared::{BASE, NO_MODULES, NO_TESTS};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, ModuleDoc, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "go",
    family: Family::Go,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-go", "0.25.0", tree_sitter_go::LANGUAGE),
    query: include_str!("go.scm"),
    extensions: &["go"],
    doc: DocStyle { line_prefixes: &["//"], block_prefixes: &["/*"] },
    visibility: VisibilityRule::Capital,
    tests: TestRules {
        directories: &["testdata", "test", "tests"],
        stem_suffixes: &["_test", "_spec"],
        function_prefixes: &["Test", "Benchmark", "Fuzz"],
        signature_marks: &["*testing."],
        ..NO_TESTS
    },
    module_doc: ModuleDoc::CommentBefore("package "),
    modules: ModuleRules { enabled: true, folder_is_module: true, ..NO_MODULES },
    generic_brackets: b"[",
    self_words: &[],
    super_words: &[],
    constructor_functions: &["new"],
    builtins: BUILTINS,
    standard_modules: StandardModules::Any,
    ..BASE
}];

const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], linker: &[LINKER_NAMES], ..Builtins::NONE };

const SHARED_NAMES: &str = "
    any append bool byte cap close comparable complex complex128 complex64 copy delete error false float32
    float64 imag int int16 int32 int64 int8 iota len make new nil panic print println real recover rune
    string true uint uint16 uint32 uint64 uint8 uintptr
";

const LINKER_NAMES: &str = "
    clear max min
";
