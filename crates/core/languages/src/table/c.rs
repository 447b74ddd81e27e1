//! C.

use cairn_domain::Visibility::{Private, Public};

use super::shared::{BASE, C_DOC, C_TEST_LIBRARIES, NO_TESTS};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "c",
    family: Family::C,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-c", "0.24.2", tree_sitter_c::LANGUAGE),
    query: include_str!("c.scm"),
    extensions: &["c", "h"],
    doc: C_DOC,
    visibility: VisibilityRule::Keyword { words: &[("static", Private)], default: Public, member_default: Public },
    tests: TestRules {
        file_prefixes: &["test_"],
        stem_suffixes: &["_test", "_tests"],
        function_prefixes: &["test_"],
        libraries: C_TEST_LIBRARIES,
        ..NO_TESTS
    },
    separators: &["->", "."],
    generic_brackets: b"",
    self_words: &[],
    super_words: &[],
    type_modifiers: &["const", "struct", "enum", "union", "volatile", "static", "unsigned"],
    upper_case_constants: true,
    preprocessed: true,
    builtins: BUILTINS,
    standard_modules: StandardModules::Prefix("<"),
    ..BASE
}];

/// Keywords, and names of the freestanding headers. Library functions such as `malloc` are not listed, so
/// that their callers can be found.
const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], ..Builtins::NONE };

pub(super) const PARSER_NAMES: &str = "
    NULL _Static_assert __builtin_expect __typeof__ bool defined int16_t int32_t int64_t int8_t intmax_t
    intptr_t off_t offsetof ptrdiff_t size_t ssize_t static_assert typeof uint16_t uint32_t uint64_t
    uint8_t uintmax_t uintptr_t va_arg va_copy va_end va_list va_start wchar_t
";
