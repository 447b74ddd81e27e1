import UIKit
import SwiftUI
import Catalogues.Core

#if canImport(Combine)
import Combine
#endif

public extension Catalogue {
    struct Snapshot: Codable {
        public let titles: [String]
        var taken: Date?

        enum CodingKeys: String, CodingKey {
            case titles
        }
    }

    func snapshot() -> Snapshot {
        Snapshot(titles: items.map(\.title))
    }
}

// Equality goes by title.
extension Book: Equatable, Catalogue.Printing {
    static func == (left: Book, right: Book) -> Bool {
        left.title == right.title
    }
}

extension Catalogue.Snapshot {
    static let empty = Catalogue.Snapshot(titles: [])

    mutating func merge(_ other: Self) {
        self = Self(titles: titles + other.titles)
        self.validate()
        Self.register(other)
    }

    fileprivate func validate() {}
    private static func register(_ snapshot: Self) {}
}

private extension String {
    func trimmed() -> String { trimmingCharacters(in: .whitespaces) }
    var initials: String { split(separator: " ").compactMap(\.first).map(String.init).joined() }
}

infix operator <~>: ComparisonPrecedence

func <~> (left: Book, right: Book) -> Bool {
    left.title.trimmed() == right.title.trimmed()
}

@freestanding(expression)
public macro stringify<T>(_ value: T) -> (T, String) = #externalMacro(module: "Macros", type: "StringifyMacro")

@propertyWrapper
struct Clamped<Value: Comparable> {
    private var value: Value
    let range: ClosedRange<Value>

    var wrappedValue: Value {
        get { value }
        set { value = min(max(newValue, range.lowerBound), range.upperBound) }
    }

    init(wrappedValue: Value, _ range: ClosedRange<Value>) {
        self.range = range
        self.value = wrappedValue
    }
}

/// Counts loans without races.
public actor LoanCounter: Counting {
    private var loans: [UUID: Int] = [:]
    nonisolated let id = UUID()

    func record(_ book: Book) async -> Int {
        loans[book.id, default: 0] += 1
        return loans[book.id]!
    }
}

struct CatalogueView: View {
    @ObservedObject var catalogue: Catalogue<Book>
    @State private var query = ""
    @Clamped(0...100) var zoom = 10
    let onSelect: (Book) -> Void

    var body: some View {
        NavigationStack {
            List(catalogue.items) { book in
                BookRow(book: book)
                    .onTapGesture { onSelect(book) }
            }
            Button("Clear", action: clear)
        }
        .searchable(text: $query)
    }

    private func clear() {
        let counter: LoanCounter = LoanCounter()
        let legacy = LegacyBridge.current as LegacyBridge
        legacy.sync(counter)
        query = ""
    }
}

final class CatalogueController: UIViewController, UITableViewDataSource {
    private var catalogue: Catalogue<Book>!
    private let button = UIButton(type: .system)

    override func viewDidLoad() {
        super.viewDidLoad()
        catalogue = Catalogue<Book>(path: "books.json")
        button.addTarget(self, action: #selector(reload), for: .touchUpInside)
        let timer = Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(CatalogueController.reload(_:)), userInfo: nil, repeats: true)
        timer.fire()
        let box = Box<Book>(Book(title: "Emma"))
        box.open()
    }

    @objc func reload(_ sender: Any?) {
        if let cell = sender as? BookCell, cell.isVisible {
            cell.refresh()
        }
        while let next = catalogue.items.first { next.touch() }
        let handlers: [(Book) -> Void] = [show, hide]
        handlers.forEach { handler in handler(catalogue[0]!) }
        _ = #stringify(catalogue.count)
    }

    func show(_ book: Book) { present(BookController(book), animated: true) }
    func hide(_ book: Book) {}
}

#Preview {
    CatalogueView(catalogue: .shared) { _ in }
}
