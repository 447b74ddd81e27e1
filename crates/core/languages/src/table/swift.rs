//! Swift.

use cairn_domain::Visibility::{Internal, Private, Public};

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "swift",
    family: Family::Swift,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-swift", "0.7.4", tree_sitter_swift::LANGUAGE),
    query: include_str!("swift.scm"),
    extensions: &["swift", "swiftinterface"],
    interpreters: &["swift"],
    doc: DocStyle { line_prefixes: &["///"], block_prefixes: &["/**"] },
    visibility: VisibilityRule::Keyword {
        words: &[
            ("fileprivate", Private),
            ("private", Private),
            ("internal", Internal),
            ("package", Internal),
            ("open", Public),
            ("public", Public),
        ],
        default: Internal,
        member_default: Internal,
    },
    tests: TestRules {
        directories: &["Tests", "tests", "UITests", "UnitTests"],
        stem_suffixes: &["Tests", "Test", "Spec", "Suite"],
        decorators: &["Test", "Suite"],
        function_prefixes: &["test"],
        libraries: &["XCTest"],
        class_marks: &["XCTestCase", "QuickSpec"],
        ..NO_TESTS
    },
    modules: ModuleRules { drop_leading: &["Sources", "Source", "Tests"], ..PATH_MODULES },
    separators: &["?.", "!.", "."],
    self_words: &["self", "Self"],
    dotted_owners: true,
    self_types: &["Self"],
    call_instantiates: true,
    constructor_method: "init",
    transparent_types: &["Optional"],
    type_modifiers: &["any", "some", "inout"],
    builtins: BUILTINS,
    ..BASE
}];

/// The names that the standard library and the compiler make visible in every file.
const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], parser: &[PARSER_NAMES], linker: &[LINKER_NAMES] };

const SHARED_NAMES: &str = "
    Array Bool Character Dictionary Double Float Int Optional Result Set String Task UInt
";

const PARSER_NAMES: &str = "
    Any AnyClass AnyHashable AnyObject ArraySlice AsyncSequence AsyncStream AsyncThrowingStream
    BidirectionalCollection BinaryInteger CaseIterable ClosedRange Codable CodingKey Collection Comparable
    ContiguousArray CustomDebugStringConvertible CustomStringConvertible Decodable Decoder Encodable
    Encoder Equatable Error ExpressibleByArrayLiteral ExpressibleByDictionaryLiteral
    ExpressibleByIntegerLiteral ExpressibleByStringLiteral Float16 Float80 GKInspectable Hashable Hasher
    IBAction IBDesignable IBInspectable IBOutlet Identifiable Int16 Int32 Int64 Int8 IteratorProtocol
    KeyPath LosslessStringConvertible MainActor Mirror NSApplicationMain NSLocalizedString NSManaged Never
    ObjectIdentifier OpaquePointer OptionSet PartialKeyPath Preview Range RangeReplaceableCollection
    RawRepresentable ReferenceWritableKeyPath Sendable Sequence SetAlgebra StaticString Substring
    TaskGroup TimeInterval UIApplicationMain UInt16 UInt32 UInt64 UInt8 UnsafeBufferPointer
    UnsafeMutableBufferPointer UnsafeMutablePointer UnsafeMutableRawPointer UnsafePointer UnsafeRawPointer
    Void WritableKeyPath XCTAssert XCTAssertEqual XCTAssertFalse XCTAssertGreaterThan
    XCTAssertGreaterThanOrEqual XCTAssertIdentical XCTAssertLessThan XCTAssertLessThanOrEqual XCTAssertNil
    XCTAssertNoThrow XCTAssertNotEqual XCTAssertNotNil XCTAssertThrowsError XCTAssertTrue XCTExpectFailure
    XCTFail XCTSkip XCTSkipIf XCTSkipUnless XCTUnwrap _exported _spi abs assert assertionFailure
    autoclosure available convention debugPrint defer discardableResult dump dynamicCallable
    dynamicMemberLookup escaping expect fatalError frozen inlinable inline isKnownUniquelyReferenced main
    max min nonisolated numericCast objc objcMembers preconcurrency precondition preconditionFailure print
    propertyWrapper readLine repeatElement require resultBuilder sequence stride swap testable type
    unchecked unknown unsafeBitCast usableFromInline warn_unqualified_access withCheckedContinuation
    withCheckedThrowingContinuation withTaskGroup withThrowingTaskGroup withUnsafePointer zip
";

const LINKER_NAMES: &str = "
    Bundle Calendar Data Date DateFormatter DispatchQueue FileManager JSONDecoder JSONEncoder Locale
    NSError NotificationCenter ProcessInfo RunLoop Thread Timer URL URLRequest URLSession UUID
    UserDefaults
";
