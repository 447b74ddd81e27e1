//! Ruby.

use cairn_domain::Visibility::{Private, Protected, Public};

use super::shared::{BASE, HASH_DOC, NO_TESTS, PATH_MODULES};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "ruby",
    family: Family::Ruby,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-ruby", "0.23.1", tree_sitter_ruby::LANGUAGE),
    query: include_str!("ruby.scm"),
    extensions: &["rb", "rake", "gemspec", "ru", "podspec", "jbuilder"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Brewfile", "Fastfile"],
    interpreters: &["ruby", "jruby", "rake"],
    doc: HASH_DOC,
    visibility: VisibilityRule::Keyword {
        words: &[
            ("private", Private),
            ("protected", Protected),
            ("public", Public),
            // `module_function` makes the methods private and adds public copies to the module. Callers use
            // the copies.
            ("module_function", Public),
        ],
        default: Public,
        member_default: Public,
    },
    tests: TestRules {
        stem_suffixes: &["_test", "_spec"],
        function_prefixes: &["test_"],
        libraries: &["minitest", "test/unit", "test_helper", "rspec", "spec_helper", "rails_helper"],
        class_marks: &["Minitest::Test", "Test::Unit", "TestCase", "Minitest::Spec"],
        ..NO_TESTS
    },
    modules: ModuleRules { drop_leading: &["lib", "app"], ..PATH_MODULES },
    separators: &["&.", "::", "."],
    root_marks: &["::"],
    generic_brackets: b"",
    self_words: &["self"],
    sigils: &['@', '$', ':'],
    field_sigil: Some('@'),
    constructor_functions: &["new", "instance"],
    spread_nodes: &["splat_argument", "hash_splat_argument", "block_argument"],
    builtins: BUILTINS,
    ..BASE
}];

const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    Array Class ENV Float Hash Integer Module Object StandardError String Struct Symbol attr_accessor
    attr_reader attr_writer block_given? lambda loop p private proc protected public puts raise require
    require_relative
";

const PARSER_NAMES: &str = "
    ArgumentError Data RuntimeError freeze module_function print private_class_method private_constant
";

const LINKER_NAMES: &str = "
    BasicObject Comparable Dir Enumerable Exception File IO Kernel NilClass Numeric Proc Range Regexp Set
    Thread Time extend include prepend
";
