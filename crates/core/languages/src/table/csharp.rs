//! C#.

use cairn_domain::Visibility::{Internal, Public};

use super::shared::{ACCESS_WORDS, BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "csharp",
    family: Family::CSharp,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-c-sharp", "0.23.5", tree_sitter_c_sharp::LANGUAGE),
    query: include_str!("csharp.scm"),
    extensions: &["cs", "csx"],
    doc: DocStyle { line_prefixes: &["///"], block_prefixes: &["/**"] },
    visibility: VisibilityRule::Keyword { words: ACCESS_WORDS, default: Internal, member_default: Public },
    tests: TestRules {
        stem_suffixes: &["Test", "Tests", "Spec", "Suite"],
        decorators: &[
            "Test",
            "Fact",
            "Theory",
            "TestMethod",
            "TestCase",
            "TestClass",
            "TestFixture",
            "SetUp",
            "TearDown",
            "OneTimeSetUp",
            "TestInitialize",
            "TestCleanup",
        ],
        ..NO_TESTS
    },
    modules: PATH_MODULES,
    separators: &["?.", "::", "."],
    root_marks: &["global::"],
    super_words: &["base"],
    // `: this(…)` calls a constructor of the same class.
    self_types: &["this"],
    constructor_method: "constructor",
    builtins: BUILTINS,
    dotted_owners: true,
    standard_modules: StandardModules::FirstPart("System"),
    ..BASE
}];

/// Operators that look like calls, and types of `System` that most files use.
const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    Action ArgumentException ArgumentNullException ArgumentOutOfRangeException Array Attribute Boolean
    Byte CancellationToken Char Console Convert DateTime DateTimeOffset Decimal Dictionary Double Enum
    Environment EventArgs EventHandler Exception Func Guid HashSet ICollection IDictionary IDisposable
    IEnumerable IEnumerator IEquatable IList IReadOnlyCollection IReadOnlyDictionary IReadOnlyList Int16
    Int32 Int64 InvalidOperationException KeyValuePair List Math NotImplementedException
    NotSupportedException Nullable Object ObjectDisposedException Obsolete Predicate Serializable Single
    Span String StringBuilder StringComparison Task TimeSpan Tuple Type Uri ValueTask Version dynamic
    nameof nint notnull nuint unmanaged var
";
