//! C++.

use cairn_domain::Visibility::{Private, Protected, Public};

use super::c;
use super::shared::{BASE, C_DOC, C_TEST_LIBRARIES, NO_TESTS};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "cpp",
    family: Family::C,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-cpp", "0.23.4", tree_sitter_cpp::LANGUAGE),
    query: include_str!("cpp.scm"),
    extensions: &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cu", "cuh"],
    doc: C_DOC,
    visibility: VisibilityRule::Keyword {
        words: &[
            ("private", Private),
            ("protected", Protected),
            ("public", Public),
            ("static", Private),
            ("namespace", Private),
        ],
        default: Public,
        member_default: Public,
    },
    tests: TestRules {
        file_prefixes: &["test_"],
        stem_suffixes: &["_test", "_tests", "_unittest", "Test", "Tests"],
        function_prefixes: &["test_"],
        libraries: C_TEST_LIBRARIES,
        class_marks: &["testing::Test"],
        ..NO_TESTS
    },
    separators: &["::", "->", "."],
    root_marks: &["::"],
    super_words: &[],
    transparent_types: &["unique_ptr", "shared_ptr", "weak_ptr", "optional", "reference_wrapper"],
    type_modifiers: &["const", "struct", "class", "enum", "volatile", "static", "typename"],
    upper_case_constants: true,
    preprocessed: true,
    builtins: BUILTINS,
    ..BASE
}];

const BUILTINS: Builtins = Builtins { parser: &[c::PARSER_NAMES, PARSER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    const_cast decltype dynamic_cast nullptr_t reinterpret_cast static_cast string
";
