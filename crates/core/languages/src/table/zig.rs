//! Zig.

use cairn_domain::Visibility::{Private, Public};

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "zig",
    family: Family::Zig,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-zig", "1.1.2", tree_sitter_zig::LANGUAGE),
    query: include_str!("zig.scm"),
    extensions: &["zig", "zon"],
    // `//!` documents the file, not the next definition.
    doc: DocStyle { line_prefixes: &["///"], block_prefixes: &[] },
    visibility: VisibilityRule::Keyword {
        words: &[("pub", Public), ("export", Public)],
        default: Private,
        member_default: Private,
    },
    tests: TestRules { stem_suffixes: &["_test", "_tests"], file_prefixes: &["test.", "tests."], ..NO_TESTS },
    modules: PATH_MODULES,
    generic_brackets: b"",
    // `Self` is not listed because it is an ordinary name that the type declares.
    self_words: &["self"],
    super_words: &[],
    constructor_functions: &["init", "initCapacity", "create"],
    type_modifiers: &["const", "volatile", "allowzero"],
    builtins: BUILTINS,
    standard_modules: StandardModules::Whole("std builtin root"),
    ..BASE
}];

const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    anyerror anyframe anyopaque anytype bool c_char c_int c_long c_longdouble c_longlong c_short c_uint
    c_ulong c_ulonglong c_ushort comptime_float comptime_int f128 f16 f32 f64 f80 i1 i128 i16 i2 i32 i4
    i64 i8 isize noreturn type u1 u128 u16 u2 u21 u24 u3 u32 u4 u48 u5 u6 u64 u7 u8 usize void
";
