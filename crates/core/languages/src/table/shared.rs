//! Data that several languages share. A row sets only the fields that differ from [`BASE`].

use cairn_domain::Visibility;
use cairn_domain::Visibility::{Internal, Private, Protected, Public};

use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{
    DocStyle, LanguageClass, LanguageRow, ModuleDoc, ModuleRules, RelativeImports, TestRules, VisibilityRule,
};

/// The values that most languages use.
pub(super) const BASE: LanguageRow = LanguageRow {
    name: "",
    family: Family::Other,
    class: LanguageClass::Text,
    grammar: None,
    has_scanner: false,
    query: "",
    extensions: &[],
    file_names: &[],
    file_name_prefixes: &[],
    interpreters: &[],
    doc: DocStyle { line_prefixes: &[], block_prefixes: &["/**"] },
    visibility: VisibilityRule::Public,
    tests: NO_TESTS,
    modules: NO_MODULES,
    module_doc: ModuleDoc::None,
    relative_imports: RelativeImports::None,
    separators: &["."],
    root_marks: &[],
    generic_brackets: b"<",
    self_words: &["this"],
    super_words: &["super"],
    dotted_owners: false,
    self_types: &[],
    sigils: &[],
    field_sigil: None,
    call_instantiates: false,
    constructor_functions: &[],
    constructor_method: "",
    transparent_types: &[],
    quoted_types: false,
    type_modifiers: &[],
    upper_case_constants: false,
    spread_nodes: &[],
    opening_tag: "",
    preprocessed: false,
    builtins: Builtins::NONE,
    standard_modules: StandardModules::None,
};

pub(super) const NO_TESTS: TestRules = TestRules {
    directories: &["test", "tests", "spec", "testdata", "test_data"],
    file_prefixes: &[],
    file_suffixes: &[],
    stem_suffixes: &[],
    decorators: &[],
    function_prefixes: &[],
    libraries: &[],
    signature_marks: &[],
    class_prefixes: &[],
    class_marks: &[],
};

pub(super) const NO_MODULES: ModuleRules =
    ModuleRules { enabled: false, drop_leading: &[], drop_inner: &[], index_stems: &[], folder_is_module: false };

/// The name of the module is the path without the first folder `src`.
pub(super) const PATH_MODULES: ModuleRules = ModuleRules { enabled: true, drop_inner: &["src"], ..NO_MODULES };

/// The module of a document is the module of its folder. The language of the code in this folder is not
/// known, so the rules omit the source folders of all languages from the name.
pub(crate) const FOLDER_MODULES: ModuleRules =
    ModuleRules { drop_inner: &["src"], folder_is_module: true, ..JVM_MODULES };

/// The folders for source code in Maven and similar tools.
pub(super) const JVM_MODULES: ModuleRules = ModuleRules {
    enabled: true,
    drop_leading: &[
        "src/main/java",
        "src/test/java",
        "src/main/kotlin",
        "src/test/kotlin",
        "src/commonMain/kotlin",
        "src/main/scala",
        "src/test/scala",
        "src/main",
        "src/test",
        "src",
    ],
    ..NO_MODULES
};

pub(super) const JAVA_TESTS: TestRules = TestRules {
    directories: &["test", "tests", "androidTest", "testFixtures", "commonTest", "jvmTest"],
    stem_suffixes: &["Test", "Tests", "IT", "Spec", "Suite"],
    decorators: &[
        "Test",
        "ParameterizedTest",
        "RepeatedTest",
        "TestFactory",
        "TestTemplate",
        "BeforeEach",
        "AfterEach",
        "BeforeAll",
        "AfterAll",
        "BeforeTest",
        "AfterTest",
        "Nested",
        "ExtendWith",
        "RunWith",
        "SpringBootTest",
    ],
    class_marks: &["TestCase", "Spec(", "FunSuite", "AnyFlatSpec", "AnyWordSpec", "AnyFunSpec", "FreeSpec"],
    ..NO_TESTS
};

pub(super) const ACCESS_WORDS: &[(&str, Visibility)] =
    &[("private", Private), ("protected", Protected), ("internal", Internal), ("public", Public)];

pub(super) const C_DOC: DocStyle =
    DocStyle { line_prefixes: &["///", "//!", "//"], block_prefixes: &["/**", "/*!", "/*"] };

pub(super) const C_TEST_LIBRARIES: &[&str] =
    &["check.h", "unity.h", "cmocka.h", "criterion/", "greatest.h", "munit.h", "minunit.h", "ctest.h"];

pub(super) const HASH_DOC: DocStyle = DocStyle { line_prefixes: &["#"], block_prefixes: &[] };
