//! Lua.

use cairn_domain::Visibility::{Private, Public};

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "lua",
    family: Family::Lua,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-lua", "0.5.0", tree_sitter_lua::LANGUAGE),
    query: include_str!("lua.scm"),
    extensions: &["lua", "rockspec"],
    file_names: &[".luacheckrc", ".busted"],
    interpreters: &["lua", "luajit", "texlua"],
    doc: DocStyle { line_prefixes: &["---", "--"], block_prefixes: &["--[["] },
    visibility: VisibilityRule::Keyword { words: &[("local", Private)], default: Public, member_default: Public },
    tests: TestRules {
        stem_suffixes: &["_spec", "_test"],
        function_prefixes: &["test"],
        libraries: &["luaunit", "lunit", "busted"],
        class_prefixes: &["Test"],
        ..NO_TESTS
    },
    modules: ModuleRules { index_stems: &["init"], drop_leading: &["lua", "lib"], ..PATH_MODULES },
    separators: &[":", "."],
    generic_brackets: b"",
    self_words: &["self"],
    super_words: &[],
    dotted_owners: true,
    constructor_functions: &["new", "create"],
    upper_case_constants: true,
    spread_nodes: &["vararg_expression"],
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart("bit ffi jit string table"),
    ..BASE
}];

/// Functions of Lua that are called without a table, and `self`.
const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    _ENV _G _VERSION assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile
    loadstring module next pairs pcall print rawequal rawget rawlen rawset require select setfenv
    setmetatable tonumber tostring type unpack xpcall
";

const PARSER_NAMES: &str = "
    self
";

const LINKER_NAMES: &str = "
    bit bit32 coroutine debug io jit math os package string table utf8
";
