//! Rust.

use cairn_domain::Visibility::{Internal, Private, Public};

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{
    DocStyle, LanguageClass, LanguageRow, ModuleDoc, ModuleRules, RelativeImports, TestRules, VisibilityRule,
};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "rust",
    family: Family::Rust,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-rust", "0.24.2", tree_sitter_rust::LANGUAGE),
    query: include_str!("rust.scm"),
    extensions: &["rs"],
    doc: DocStyle { line_prefixes: &["///", "//!"], block_prefixes: &["/**", "/*!"] },
    visibility: VisibilityRule::Keyword {
        words: &[("pub(self)", Private), ("pub(", Internal), ("crate", Internal), ("pub", Public)],
        default: Private,
        member_default: Public,
    },
    tests: TestRules {
        directories: &["tests", "test", "testdata", "test_data"],
        file_prefixes: &["tests."],
        stem_suffixes: &["_test", "_tests"],
        decorators: &[
            "test",
            "cfg(test)",
            "tokio::test",
            "async_std::test",
            "rstest",
            "test_case",
            "proptest",
            "bench",
            "wasm_bindgen_test",
            "quickcheck",
            "test_log::test",
            "sqlx::test",
            "actix_rt::test",
        ],
        ..NO_TESTS
    },
    module_doc: ModuleDoc::Lines("//!"),
    modules: ModuleRules { index_stems: &["lib", "main", "mod"], ..PATH_MODULES },
    relative_imports: RelativeImports::SuperParts,
    separators: &["::", "."],
    root_marks: &["::"],
    self_words: &["self", "Self"],
    self_types: &["Self"],
    call_instantiates: true,
    constructor_functions: &["new", "default", "with_capacity", "from", "builder"],
    transparent_types: &["Option", "Box", "Rc", "Arc", "RefCell", "Cell", "Pin", "Cow"],
    type_modifiers: &["mut", "dyn", "impl", "const"],
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart("std core alloc"),
    ..BASE
}];

const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    Box Clone Copy Debug Default Drop Eq Err Fn FnMut FnOnce From Into IntoIterator Iterator None Ok
    Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned ToString Vec assert
    assert_eq assert_ne bool cfg char concat debug_assert debug_assert_eq debug_assert_ne drop env eprint
    eprintln f32 f64 file format i128 i16 i32 i64 i8 include_bytes include_str isize line matches panic
    print println str stringify todo u128 u16 u32 u64 u8 unimplemented unreachable usize vec write writeln
";

const PARSER_NAMES: &str = "
    AsMut AsRef Hash allow automatically_derived cfg_attr cold default deny deprecated derive doc expect
    feature forbid ignore inline macro_export macro_use must_use no_mangle non_exhaustive path repr
    should_panic test track_caller warn
";

const LINKER_NAMES: &str = "
    DoubleEndedIterator ExactSizeIterator Extend FromIterator Self TryFrom TryInto column compile_error
    dbg format_args include module_path option_env thread_local
";
