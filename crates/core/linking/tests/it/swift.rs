use cairn_domain::EdgeKind::{Implements, Imports, References};

use crate::support::{check, check_kinds};

const MODEL: &str = "\
import Foundation

public protocol Storing { func save(_ book: Book) }
public protocol Caching: Storing {}
public class Base { func reset() {} }

public class Store: Base, Caching {
  let index: Index
  var cache = Cache()
  init(index: Index) { self.index = index; super.init() }
  func save(_ book: Book) {
    check(book)
    self.touch(book)
    index.insert(book)
    cache.put(book)
    reset()
    Store.shared()
    helper()
    book.title.trimmed()
  }
  func touch(_ book: Book) {}
  func check(_ book: Book, strict: Bool) {}
  func check(_ book: Book) {}
  static func shared() -> Store { Store(index: Index()) }
  func run(check: () -> Void) { check() }
}
private func helper() {}
";

const INDEX: &str = "\
struct Index { func insert(_ book: Book) { helper() } }
final class Cache { func put(_ book: Book) {} }
public struct Book { let title: String }
private func helper() {}
extension Store {
  func close() { touch(Book(title: \"\")); unheard() }
}
extension String { func trimmed() -> String { self } }
";

#[test]
fn targets_are_modules() {
    check(
        &[
            ("Sources/Library/Store.swift", MODEL),
            ("Sources/Library/Index.swift", INDEX),
            ("Sources/Other/Index.swift", "struct Index {}\n"),
            (
                "Tests/LibraryTests/StoreTests.swift",
                "@testable import Library\nimport XCTest\n\nfunc testSave() {\n  let store = Store(index: Index())\n  store.save(Book(title: \"\"))\n  store.close()\n  missing()\n}\n",
            ),
        ],
        &[
            "Sources/Library/Index.swift:1 Index.insert CALLS Sources/Library/Index.swift:helper exact",
            "Sources/Library/Index.swift:6 Store.close CALLS Sources/Library/Index.swift:Book exact",
            "Sources/Library/Index.swift:6 Store.close CALLS Sources/Library/Store.swift:Store.touch exact",
            "Sources/Library/Store.swift:12 Store.save CALLS Sources/Library/Store.swift:Store.check heuristic",
            "Sources/Library/Store.swift:13 Store.save CALLS Sources/Library/Store.swift:Store.touch exact",
            "Sources/Library/Store.swift:14 Store.save CALLS Sources/Library/Index.swift:Index.insert heuristic",
            "Sources/Library/Store.swift:15 Store.save CALLS Sources/Library/Index.swift:Cache.put heuristic",
            "Sources/Library/Store.swift:16 Store.save CALLS Sources/Library/Store.swift:Base.reset exact",
            "Sources/Library/Store.swift:17 Store.save CALLS Sources/Library/Store.swift:Store.shared exact",
            "Sources/Library/Store.swift:18 Store.save CALLS Sources/Library/Store.swift:helper exact",
            "Sources/Library/Store.swift:19 Store.save CALLS Sources/Library/Index.swift:String.trimmed heuristic",
            "Sources/Library/Store.swift:24 Store.shared CALLS Sources/Library/Index.swift:Index exact",
            "Sources/Library/Store.swift:24 Store.shared CALLS Sources/Library/Store.swift:Store exact",
            "Sources/Library/Store.swift:4 Caching EXTENDS Sources/Library/Store.swift:Storing exact",
            "Sources/Library/Store.swift:7 Store EXTENDS Sources/Library/Store.swift:Base exact",
            "Sources/Library/Store.swift:7 Store IMPLEMENTS Sources/Library/Store.swift:Caching exact",
            "Sources/Library/Store.swift:9 Store.cache CALLS Sources/Library/Index.swift:Cache exact",
            "Tests/LibraryTests/StoreTests.swift:5 testSave CALLS Sources/Library/Index.swift:Index import",
            "Tests/LibraryTests/StoreTests.swift:5 testSave CALLS Sources/Library/Store.swift:Store import",
            "Tests/LibraryTests/StoreTests.swift:6 testSave CALLS Sources/Library/Index.swift:Book import",
            "Tests/LibraryTests/StoreTests.swift:6 testSave CALLS Sources/Library/Store.swift:Store.save heuristic",
            "Tests/LibraryTests/StoreTests.swift:7 testSave CALLS Sources/Library/Index.swift:Store.close heuristic",
        ],
    );
}

#[test]
fn without_targets_names_are_of_the_whole_repository() {
    let files = [
        ("App/A.swift", "import UIKit\nfunc start() { Helper().run(); stop() }\n"),
        ("App/B.swift", "class Helper { func run() {} }\nprivate func stop() {}\n"),
    ];
    check(&files, &["App/A.swift:2 start CALLS App/B.swift:Helper heuristic"]);
}

#[test]
fn imports_reach_targets() {
    let files = [
        ("Sources/Core/Core.swift", "public struct Token {}\n"),
        (
            "Sources/App/main.swift",
            "import Core\nimport struct Core.Token\nimport Foundation\nlet token: Token? = nil\n",
        ),
    ];
    check_kinds(
        &files,
        &[Imports, References],
        &[
            "Sources/App/main.swift:1 - IMPORTS Sources/Core/Core.swift import",
            "Sources/App/main.swift:2 - IMPORTS Sources/Core/Core.swift import",
            "Sources/App/main.swift:2 - IMPORTS Sources/Core/Core.swift:Token import",
            "Sources/App/main.swift:4 token REFERENCES Sources/Core/Core.swift:Token import",
        ],
    );
}

#[test]
fn extensions_of_other_types_give_the_file_no_bases() {
    let text = "\
protocol Shown {}
struct Book {}
extension Book: Shown {}
extension String: Shown {}
";
    check_kinds(
        &[("App/A.swift", text)],
        &[Implements, References],
        &[
            "App/A.swift:3 Book IMPLEMENTS App/A.swift:Shown exact",
            "App/A.swift:4 - REFERENCES App/A.swift:Shown exact",
        ],
    );
}
